"""Exit codes of an attempt, and the record that each rank leaves when it ends on purpose."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path

DONE = 0
AWAY = 74
INTERRUPTED = 75
STOPPED = 76
DEADLINE = 77
MISCONFIGURED = 78

RESERVE = 8192

OUTCOMES = {
    DONE: "done",
    AWAY: "away",
    INTERRUPTED: "interrupted",
    STOPPED: "stopped",
    DEADLINE: "deadline",
    MISCONFIGURED: "misconfigured",
}


@dataclass(frozen=True)
class ExitRecord:
    """What one rank says about its own end.

    Attributes:
        attempt: number of the attempt, from 1.
        nonce: the random text that the supervisor gave this attempt; a record with another one is stale.
        rank: which process.
        code: the exit code, one of `OUTCOMES`.
        outcome: its word.
        reason: one sentence for people.
        stop: name of the stop rule that fired, or None.
        step: the last step boundary that was reached.
    """

    attempt: int
    nonce: str
    rank: int
    code: int
    outcome: str
    reason: str
    stop: str | None
    step: int


def exit_path(folder: str | os.PathLike[str], rank: int) -> Path:
    """Path of the record of `rank` in an attempt's folder."""
    return Path(folder) / f"exit-{rank}.json"


def reserve(folder: str | os.PathLike[str], rank: int) -> None:
    """Set room aside for the record of `rank`, so that a disk that fills up doesn't silence it."""
    with open(Path(folder) / f".reserve-{rank}", "wb") as stream:
        stream.write(b"\0" * RESERVE)
        stream.flush()
        os.fsync(stream.fileno())


def write_exit(folder: str | os.PathLike[str], record: ExitRecord) -> None:
    """Write `record` durably: a temporary file, fsync, rename, fsync of the folder."""
    path = exit_path(folder, record.rank)
    path.parent.mkdir(parents=True, exist_ok=True)
    (path.parent / f".reserve-{record.rank}").unlink(missing_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    with open(temporary, "w", encoding="utf-8") as stream:
        json.dump(asdict(record), stream, sort_keys=True)
        stream.write("\n")
        stream.flush()
        os.fsync(stream.fileno())
    os.replace(temporary, path)
    handle = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def read_exit(folder: str | os.PathLike[str], rank: int, *, attempt: int, nonce: str) -> ExitRecord | None:
    """The record of `rank`, or None where there is none, it is torn, or it belongs to another attempt."""
    try:
        raw = json.loads(exit_path(folder, rank).read_text(encoding="utf-8"))
        record = ExitRecord(**raw)
    except (OSError, ValueError, TypeError):
        return None
    if record.attempt != attempt or record.nonce != nonce or record.rank != rank:
        return None
    return record
