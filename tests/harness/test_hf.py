"""A Hugging Face Trainer under the harness: killed, interrupted, stopped and rehearsed."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable, Iterator

import pytest

from campc_harness.digests import compare
from tests.harness.attempts import Bundle
from tests.harness.trainers import begin_again_what_is_over, digest, interrupt_on_two_ranks, metrics
from tests.harness.zygote import Zygote

pytest.importorskip("transformers")
Make = Callable[..., Bundle]
pytestmark = pytest.mark.timeout(400)
STEPS = {"steps": 20}
NOT_FINITE = {"text": "loss is not finite", "expr": ["not", ["finite", ["metric", "loss"]]]}


@pytest.fixture(scope="module")
def zygote() -> Iterator[Zygote]:
    one = Zygote("transformers", "transformers.trainer", "campc_harness.hf")
    yield one
    one.close()


def test_killed_and_interrupted_equals_the_twin(bundle: Make) -> None:
    twin, one = bundle("hf_trainer.py", params=STEPS, name="twin"), bundle("hf_trainer.py", params=STEPS)
    twin.complete()
    attempt = one.start(HOLD=6)
    attempt.until_event("checkpoint", 1)
    attempt.kill()
    attempt.wait()
    attempt = one.start(EVALUATE="300")
    attempt.until(lambda: any(beat["phase"] == "evaluate" for beat in attempt.events("beat")))
    attempt.signal(signal.SIGTERM)
    assert attempt.wait() == 75, attempt.text()
    assert one.committed()[-1] in (7, 14)
    attempt = one.start(HOLD=15)
    attempt.until_event("metric")
    attempt.signal(signal.SIGTERM)
    assert attempt.wait() == 75, attempt.text()
    last = one.complete()
    assert one.committed()[-1] == 20
    assert digest(one) == digest(twin)
    raw = [json.loads(line) for made in one.attempts for line in metrics(made)]
    assert {7, 14} <= {entry["step"] for entry in raw if "eval.loss" in entry["values"]}
    assert last.exit() is not None


def test_a_stop_rule_sees_the_raw_loss(bundle: Make) -> None:
    stops = [{"name": "finite", "when": NOT_FINITE, "runs": [], "because": ""}]
    attempt = bundle("hf_trainer.py", params=STEPS, stops=stops).start(POISON="9")
    assert attempt.wait() == 76, attempt.text()
    record = attempt.exit()
    assert record is not None and record.stop == "finite" and "step 9" in record.reason


def test_what_is_over_takes_no_step_when_it_is_begun_again(bundle: Make) -> None:
    begin_again_what_is_over(bundle("hf_trainer.py", params=STEPS))


def test_rehearsed(bundle: Make) -> None:
    one = bundle("hf_trainer.py", params=STEPS)
    verdict = compare(*one.rehearse())
    assert verdict.equal, verdict.differences


def test_two_ranks(bundle: Make) -> None:
    twin, one = (bundle("hf_trainer.py", params={"steps": 8}, name=name) for name in ("twin", "one"))
    interrupt_on_two_ranks(twin, one, hold=6)
