"""Killed or interrupted at any moment and resumed, a run ends with the weights of an uninterrupted one."""

from __future__ import annotations

import random
import signal
import time
from collections.abc import Callable

import pytest

from tests.harness.attempts import Bundle

Make = Callable[..., Bundle]
pytestmark = pytest.mark.timeout(400)
STEPS = {"steps": 40}


def digest(bundle: Bundle) -> str:
    return (bundle.outputs / "digest.txt").read_text()


def test_a_run_completes(bundle: Make) -> None:
    one = bundle(params=STEPS)
    attempt = one.complete()
    record = attempt.exit()
    assert record is not None and (record.outcome, record.step, record.code) == ("done", 40, 0)
    assert one.committed() == [35, 40]
    assert [event["step"] for event in attempt.events("checkpoint")] == [5, 10, 15, 20, 25, 30, 35, 40]
    assert attempt.events("hello")[0]["pid"] == attempt.process.pid
    assert attempt.events("metric")[-1]["step"] == 40
    resume = attempt.events("resume")[0]
    assert (resume["step"], resume["from"]) == (0, None)


def test_two_runs_are_equal(bundle: Make) -> None:
    one, other = bundle(params=STEPS), bundle(params=STEPS, name="other")
    one.complete()
    other.complete()
    assert digest(one) == digest(other)


@pytest.mark.parametrize("seed", range(3))
def test_kill_at_a_random_moment(bundle: Make, seed: int) -> None:
    twin, killed = bundle(params=STEPS, name="twin"), bundle(params=STEPS, name="killed")
    twin.complete()
    draw = random.Random(seed)
    for hold in (20, 38):
        attempt = killed.start(PAUSE="0.02", HOLD=hold)
        attempt.until_event("checkpoint", draw.randint(1, 3))
        time.sleep(draw.uniform(0, 0.15))
        attempt.kill()
        assert attempt.wait() == -signal.SIGKILL
        assert attempt.exit() is None
    last = killed.complete()
    assert last.events("resume")[0]["step"] > 0
    assert digest(killed) == digest(twin)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2])
def test_a_signal_flushes_and_exits_75(bundle: Make, number: int) -> None:
    one = bundle(params=STEPS, checkpoint={"every_steps": 1000})
    attempt = one.start(HOLD=6)
    attempt.until_event("metric")
    attempt.signal(number, release=False)
    attempt.until(lambda: not attempt.pending(number))
    attempt.signal(signal.SIGTERM)
    assert attempt.wait() == 75, attempt.text()
    record = attempt.exit()
    assert record is not None and record.outcome == "interrupted" and signal.Signals(number).name in record.reason
    assert one.committed() == [record.step]
    assert not (one.outputs / "digest.txt").exists()
    assert "Traceback" not in attempt.text()
    assert one.complete().events("resume")[0]["step"] == record.step


def test_interrupted_and_resumed_equals_the_twin(bundle: Make) -> None:
    twin, one = bundle(params=STEPS, name="twin"), bundle(params=STEPS)
    twin.complete()
    for hold in (8, 23):
        attempt = one.start(HOLD=hold)
        attempt.until_event("metric")
        attempt.signal(signal.SIGTERM)
        assert attempt.wait() == 75
    one.complete()
    assert digest(one) == digest(twin)


def test_a_signal_during_a_long_evaluation(bundle: Make) -> None:
    twin, one = bundle(params=STEPS, name="twin"), bundle(params=STEPS, checkpoint={"every_steps": 1000})
    twin.complete()
    attempt = one.start(EVALUATE="300")
    attempt.until(lambda: any(beat["phase"] == "evaluate" for beat in attempt.events("beat")))
    attempt.signal(signal.SIGTERM, release=False)
    assert attempt.wait() == 75, attempt.text()
    assert one.committed() == [9]
    last = one.complete()
    assert last.events("resume")[0]["step"] == 9
    evaluated = [event["step"] for event in last.events("metric") if "eval.loss" in event["values"]]
    assert evaluated[0] == 10, "the evaluation that was cut short is made again"
    assert digest(one) == digest(twin)


def test_a_signal_while_setting_up_and_after_the_loop(bundle: Make) -> None:
    one = bundle("slow.py", params=STEPS)
    attempt = one.start(BEFORE="30")
    attempt.until_event("hello")
    attempt.signal(signal.SIGTERM)
    assert attempt.wait() == 75, attempt.text()
    record = attempt.exit()
    assert record is not None and record.outcome == "interrupted"
    attempt = one.start(AFTER="30")
    attempt.until_event("timing")
    time.sleep(0.2)
    attempt.signal(signal.SIGTERM)
    assert attempt.wait() == 75, attempt.text()
    assert one.complete().events("resume")[0]["step"] == 5


def test_the_deadline_flushes_and_exits_77(bundle: Make) -> None:
    one = bundle(params=STEPS, checkpoint={"every_steps": 1000})
    attempt = one.start(PAUSE="0.2", CAMPC_DEADLINE=time.time() + 5.5)
    assert attempt.wait() == 77, attempt.text()
    record = attempt.exit()
    assert record is not None and record.outcome == "deadline"
    assert one.committed() == [record.step]


def test_four_workers_change_nothing(bundle: Make) -> None:
    twin = bundle(params={"epochs": 3}, name="twin")
    one = bundle(params={"epochs": 3, "workers": 4})
    twin.complete()
    attempt = one.start(HOLD=17)
    attempt.until_event("checkpoint", 3)
    attempt.signal(signal.SIGTERM)
    assert attempt.wait() == 75, attempt.text()
    one.complete()
    assert digest(one) == digest(twin)


def test_the_supervisors_death_ends_it(bundle: Make) -> None:
    one = bundle(params=STEPS)
    attempt = one.start(PAUSE="0.5")
    attempt.until_event("metric")
    attempt.close()
    assert attempt.wait(60) == -signal.SIGKILL


def test_without_memory_for_a_copy_the_state_is_written_in_pieces(bundle: Make) -> None:
    twin, short = bundle(params=STEPS, name="twin"), bundle("short_of_memory.py", params=STEPS, name="short")
    twin.complete()
    attempt = short.start(HOLD=12)
    attempt.until_event("checkpoint", 2)
    attempt.kill()
    assert attempt.wait() == -signal.SIGKILL
    # Cut short in an evaluation, it goes back to the checkpoint that was made before that.
    attempt = short.start(EVALUATE="300")
    attempt.until(lambda: any(beat["phase"] == "evaluate" for beat in attempt.events("beat")))
    attempt.signal(signal.SIGTERM, release=False)
    assert attempt.wait() == 75, attempt.text()
    last = short.complete()
    assert last.events("resume")[0]["step"] >= 9
    notes = [event["text"] for event in last.events("note")]
    assert len(notes) == 1 and "training waits for each checkpoint" in notes[0]
    assert digest(short) == digest(twin)
