"""Around the training loop: weights for others."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from campc_harness import export, state
from campc_harness.checkpoint import Checkpoints
from campc_harness.context import Policy, by_hand
from campc_harness.ranks import Ranks
from campc_harness.storage import LocalStorage
from campc_harness.weights import open_checkpoint
from tests.harness.attempts import COMPILER, Bundle

Make = Callable[..., Bundle]
pytestmark = pytest.mark.timeout(400)


def test_export(bundle: Make, tmp_path: Path) -> None:
    one = bundle(params={"steps": 10})
    one.complete()
    target = tmp_path / "out" / "model.safetensors"
    environment = {**os.environ, "PYTHONPATH": str(COMPILER)}
    command = [sys.executable, "-m", "campc_harness", "export", str(one.checkpoints), str(target)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"4 tensors in {target}\n"
    saved = open_checkpoint(str(one.checkpoints)).state["objects"]["model"]
    loaded = load_file(target)
    assert list(loaded) == list(saved) and all(torch.equal(loaded[name], saved[name]) for name in saved)
    command[-2] = str(tmp_path)
    refused = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)
    assert refused.returncode == 1 and refused.stderr == f"export: no checkpoint in {tmp_path}\n"


def test_every_type_that_the_format_knows_is_exported(tmp_path: Path) -> None:
    model, raw = torch.nn.Module(), torch.randint(0, 256, (64,), dtype=torch.uint8)
    for kind in export.TYPES:
        tensor = raw > 100 if kind is torch.bool else raw.view(kind)
        model.register_buffer(str(kind).replace(".", "_"), tensor)
    model.register_buffer("turned", torch.randn(3, 4).t())
    model.register_buffer("empty", torch.empty(0, 4))
    model.register_buffer("scalar", torch.tensor(2.5))
    context = by_hand({}, seed=0, folder=tmp_path, policy=Policy())
    one = Checkpoints(LocalStorage(tmp_path / "there"), context, Ranks(0, 1), lambda *_, **__: None)
    one.claim()
    whole = {"objects": {"model": model.state_dict()}}
    one.submit(state.stage(whole, 3, {"modules": ["model"]}, one.buffers))
    one.wait()
    names = export.export(str(tmp_path / "there"), tmp_path / "out.safetensors")
    loaded = load_file(tmp_path / "out.safetensors")
    assert set(names) == set(loaded) and len(names) == len(export.TYPES) + 3
    assert state.first_difference(dict(model.state_dict()), loaded, "model") is None


def test_a_run_starts_from_the_weights_of_another(bundle: Make) -> None:
    first, second = bundle(params={"steps": 10}), bundle(params={"steps": 3}, name="second")
    first.complete()
    attempt = second.complete(CAMPC_FROM=first.checkpoints)
    assert attempt.events("resume")[0]["step"] == 0
    assert any("starts from the weights of step-000000010" in event["text"] for event in attempt.events("note"))
    missing = bundle(params={"steps": 3}, name="third").start(CAMPC_FROM=first.root / "nothing")
    assert missing.wait() == 78 and "no checkpoint in" in missing.text()
