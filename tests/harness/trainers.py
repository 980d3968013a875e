"""What the tests of the frameworks' trainers share."""

from __future__ import annotations

import signal

from tests.harness.attempts import Attempt, Bundle
from tests.harness.test_ranks import pair


def digest(bundle: Bundle) -> str:
    """What the run delivered, in one line."""
    return (bundle.outputs / "digest.txt").read_text()


def metrics(attempt: Attempt) -> list[str]:
    """Every metric as it was logged; reports are thinned."""
    return (attempt.folder / "metrics-0.jsonl").read_text().splitlines()


def begin_again_what_is_over(one: Bundle) -> None:
    """Eight steps, twice: the second attempt finds them taken, and takes no other."""
    for begun in (0, 8):
        attempt = one.complete(CAMPC_LIMIT_STEPS=8)
        assert attempt.events("resume")[0]["step"] == begun
        record = attempt.exit()
        assert record is not None and (record.outcome, record.step) == ("done", 8)
        assert one.committed()[-1] == 8
    assert [line for line in metrics(attempt) if '"loss"' in line] == []


def interrupt_on_two_ranks(twin: Bundle, one: Bundle, hold: int) -> None:
    """Two ranks, of which one is told to leave at step `hold`, and two more that go on; they end where the twin does."""
    attempts = pair(one, HOLD=hold)
    attempts[0].until_event("checkpoint", 1)
    attempts[1].signal(signal.SIGTERM)
    for attempt in attempts:
        assert attempt.wait() == 75, attempt.text()
    for attempt in [*pair(one), *pair(twin)]:
        assert attempt.wait() == 0, attempt.text()
    assert digest(one) == digest(twin)
