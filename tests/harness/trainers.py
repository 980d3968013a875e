"""What the tests of the frameworks' trainers share."""

from __future__ import annotations

from tests.harness.attempts import Attempt, Bundle


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
