"""Around the training loop: weights for others, sinks."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from campc_harness.sinks import Background
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


def test_a_run_starts_from_the_weights_of_another(bundle: Make) -> None:
    first, second = bundle(params={"steps": 10}), bundle(params={"steps": 3}, name="second")
    first.complete()
    attempt = second.complete(CAMPC_FROM=first.checkpoints)
    assert attempt.events("resume")[0]["step"] == 0
    assert any("starts from the weights of step-000000010" in event["text"] for event in attempt.events("note"))
    missing = bundle(params={"steps": 3}, name="third").start(CAMPC_FROM=first.root / "nothing")
    assert missing.wait() == 78 and "no checkpoint in" in missing.text()


def test_sinks(bundle: Make) -> None:
    one = bundle("sinks.py", params={"steps": 30})
    attempt = one.complete()
    assert (one.outputs / "good.txt").read_text().split()[-1] == "30"
    notes = [event["text"] for event in attempt.events("note")]
    assert notes == ["the sink bad failed and gets no more metrics: out of order"]
    assert attempt.events("metric")[-1]["step"] == 30


def test_a_slow_sink_holds_nothing_up() -> None:
    seen = []

    def slow(step: int, values: object) -> None:
        time.sleep(0.2)
        seen.append(step)

    sink = Background(slow, lambda text: None)
    begun = time.monotonic()
    for step in range(1000):
        sink.put(step, {"loss": 1.0})
    assert time.monotonic() - begun < 0.2
    assert len(seen) < 5
