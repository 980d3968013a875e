"""What a record says happened: the plain function that launcher, status and gates rest on."""

from __future__ import annotations

from typing import Any

from campc_harness.ledger import Record
from campc_harness.progress import Progress


def told(*events: tuple[str, dict[str, Any]]) -> Progress:
    """Progress of records about the run `r` in the window `w`."""
    progress = Progress()
    for seq, (event, fields) in enumerate(events, 1):
        head = {key: fields.pop(key) for key in ("step", "reason", "attempt") if key in fields}
        progress.take(Record(seq, float(seq), event, run_id="r", window="w", more=fields, **head))
    return progress


def start(attempt: int) -> tuple[str, dict[str, Any]]:
    return "start", {"attempt": attempt}


def crash(attempt: int) -> tuple[str, dict[str, Any]]:
    return "crash", {"attempt": attempt, "code": 3}


def commit(attempt: int, step: int) -> tuple[str, dict[str, Any]]:
    return "checkpoint", {"attempt": attempt, "step": step}


def test_only_attempts_since_the_last_new_step_count_against_a_run() -> None:
    progress = told(start(1), commit(1, 5), crash(1), start(2), crash(2), start(3), commit(3, 5), crash(3))
    assert [attempt.number for attempt in progress.run("r", "w").fruitless()] == [3, 2]
    progress = told(start(1), crash(1), start(2), commit(2, 10), crash(2))
    assert progress.run("r", "w").fruitless() == []


def test_an_interruption_that_was_asked_for_counts_against_nobody() -> None:
    asked = ("interrupted", {"attempt": 2, "code": 0})
    progress = told(start(1), crash(1), start(2), asked, start(3), crash(3))
    assert [attempt.number for attempt in progress.run("r", "w").fruitless()] == [3, 1]
    outside = ("interrupted", {"attempt": 2, "code": 75})
    progress = told(start(1), crash(1), start(2), outside, start(3), crash(3))
    assert len(progress.run("r", "w").fruitless()) == 3


def test_attempts_that_took_their_supervisor_with_them_are_counted_apart() -> None:
    lost = [item for n in range(1, 5) for item in (start(n), ("interrupted", {"attempt": n, "code": 0, "lost": True}))]
    progress = told(*lost)
    assert progress.run("r", "w").lost() == 4 and progress.run("r", "w").fruitless() == []
    progress = told(*lost, start(5), commit(5, 5), ("interrupted", {"attempt": 5, "code": 0, "lost": True}))
    assert progress.run("r", "w").lost() == 0


def test_a_place_that_is_away_counts_against_no_run_and_no_checkpoint() -> None:
    def away(attempt: int) -> tuple[str, dict[str, Any]]:
        return "crash", {"attempt": attempt, "code": 74, "away": True}

    def tries() -> list[tuple[str, dict[str, Any]]]:
        return [item for n in range(2, 6) for item in (start(n), ("resume", {"attempt": n, "step": 5}), away(n))]

    progress = told(start(1), commit(1, 5), crash(1), *tries())
    run = progress.run("r", "w")
    assert run.fruitless() == [] and run.poisoned() == []
    assert [attempt.number for attempt in run.away()] == [5, 4, 3, 2]
    progress = told(start(1), crash(1), *tries(), start(6), crash(6), start(7), crash(7))
    assert [attempt.number for attempt in progress.run("r", "w").fruitless()] == [7, 6, 1]
    progress.take(Record(90, 90.0, "launch"))
    assert progress.run("r", "w").away() == []
    progress = told(*tries(), start(6), commit(6, 10), away(6))
    assert progress.run("r", "w").away() == [] and progress.run("r", "w").fruitless() == []


def test_a_launch_forgives_what_failed_but_not_what_was_stopped() -> None:
    failed = ("window", {"state": "failed", "outcome": "failed"})
    progress = told(start(1), ("stop", {"attempt": 1, "code": 78}), failed)
    assert progress.run("r", "w").outcome == "misconfigured" and progress.window("w").state == "failed"
    progress.take(Record(9, 9.0, "launch", more={"restart": True}))
    assert progress.window("w").state == "failed", "a supervisor that was started again has mended nothing"
    progress.take(Record(10, 10.0, "launch"))
    assert progress.window("w").state == "waiting" and progress.run("r", "w").outcome is None
    stopped = told(start(1), ("stop", {"attempt": 1, "code": 76, "stop": "nan"}))
    stopped.take(Record(9, 9.0, "launch"))
    assert stopped.run("r", "w").outcome == "stop"


def test_poisoned_checkpoints() -> None:
    def resume(attempt: int, step: int) -> tuple[str, dict[str, Any]]:
        return "resume", {"attempt": attempt, "step": step}

    progress = told(
        start(1),
        resume(1, 0),
        commit(1, 10),
        crash(1),
        start(2),
        resume(2, 10),
        crash(2),
        start(3),
        resume(3, 10),
        crash(3),
    )
    assert progress.run("r", "w").poisoned() == [10]


def test_an_unknown_event_or_an_end_without_a_start_changes_nothing() -> None:
    progress = told(("copy", {"to": "x"}), ("done", {"attempt": 7}), ("metric", {"attempt": 9, "values": "nonsense"}))
    assert progress.run("r", "w").attempts == [] and progress.run("r", "w").outcome == "done"
