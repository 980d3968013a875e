"""The worked examples of `specs/frameworks`, interrupted and resumed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import torch

from campc.cli import main
from tests.harness.attempts import SCRIPTS, Bundle
from tests.harness.zygote import Zygote

pytest.importorskip("transformers")
pytest.importorskip("lightning")
Make = Callable[..., Bundle]
pytestmark = pytest.mark.timeout(400)
EXAMPLES = Path(__file__).resolve().parents[2] / "specs" / "frameworks"


@pytest.fixture(scope="module")
def zygote() -> Iterator[Zygote]:
    one = Zygote("transformers.trainer", "campc_harness.hf", "campc_harness.lightning", warnings=("ignore",))
    yield one
    one.close()


@pytest.mark.parametrize("script", ["transformers_train.py", "lightning_train.py"])
def test_an_example_resumes(bundle: Make, script: str) -> None:
    weights = []
    for name in ("twin", "one"):
        one = bundle(script, name=name, params={"steps": 20, "lr": 1e-2})
        if name == "one":
            one.script = SCRIPTS / "held.py"
            attempt = one.start(EXAMPLE=EXAMPLES / script, HOLD=8)
            attempt.until_event("checkpoint", 1)
            attempt.signal(signal.SIGTERM)
            assert attempt.wait() == 75, attempt.text()
        one.script = EXAMPLES / script
        one.complete()
        weights.append(torch.load(one.outputs / "model.pt", weights_only=True))
    assert all(torch.equal(weights[0][key], weights[1][key]) for key in weights[0])


def test_the_examples_are_rehearsed_run_and_closed_out(tmp_path: Path) -> None:
    bundle = tmp_path / "bundle"
    spec = EXAMPLES / "frameworks.campaign"
    assert main(["build", str(spec), "-o", str(bundle), "--no-pdf"]) == 0
    launch(bundle, "rehearse")
    for name in ("transformers", "lightning"):
        restored, *after = (
            json.loads(line)
            for line in (bundle / f"state/box/rehearsal/{name}/resume/digest-0.jsonl").read_text().splitlines()
        )
        assert (restored["point"], restored["step"]) == ("restored", 3)
        assert [(line["point"], line["step"]) for line in after] == [("step", 4), ("step", 5), ("step", 6), ("end", 6)]
        assert all(line["content"] for line in after[:-1]), "what it was trained on is compared, too"
    launch(bundle, "run", "--foreground")
    assert main(["closeout", str(bundle)]) == 0
    closeout = json.loads((bundle / "closeout.json").read_text())
    assert [one["accepted"] for one in closeout["deliverables"]] == [True] * 3


def launch(bundle: Path, *words: str) -> None:
    done = subprocess.run(
        ["./launch.sh", *words, "--cpu"],
        cwd=bundle,
        env={**os.environ, "CAMPC_PYTHON": sys.executable, "OMP_NUM_THREADS": "1"},
        text=True,
        timeout=350,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    assert done.returncode == 0, done.stdout
