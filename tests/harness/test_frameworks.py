"""The worked examples of `specs/frameworks`, interrupted and resumed."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import torch

from tests.harness.attempts import Bundle
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
        one.script = EXAMPLES / script
        if name == "one":
            attempt = one.start()
            attempt.until_event("checkpoint", 1)
            attempt.signal(signal.SIGTERM)
            assert attempt.wait() == 75, attempt.text()
        one.complete()
        weights.append(torch.load(one.outputs / "model.pt", weights_only=True))
    assert all(torch.equal(weights[0][key], weights[1][key]) for key in weights[0])
