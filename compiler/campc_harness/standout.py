"""What stands out in a record: what went wrong or was warned of, the newest of each kind."""

from __future__ import annotations

from datetime import datetime

from campc_harness.ledger import Record
from campc_harness.progress import Progress

_NOTES = {
    "quarantine": "a damaged checkpoint was set aside",
    "checkpoint_failed": "a checkpoint failed",
    "copy failed": "a copy failed",
    "mirror": "the record could not be copied beside the checkpoints",
    "clock jump": "the clock jumped",
    "ledger damaged": "the record was damaged",
    "survivors killed": "processes of a lost attempt were ended",
    "plan changed": "the plan changed",
}


def stands_out(progress: Progress) -> list[str]:
    """One line for each watch that held, each kind of trouble, and each run that died and goes on; the newest last."""
    found: list[tuple[float, str]] = []
    watches: dict[str, list[Record]] = {}
    for record in progress.warnings:
        watches.setdefault(str(record.more.get("name")), []).append(record)
    for name, records in watches.items():
        found.append((records[-1].time, f"watch {name}{_often(records)}: {said(records[-1])}"))
    notes: dict[str, list[Record]] = {}
    for record in progress.notes:
        if record.reason in _NOTES:
            notes.setdefault(record.reason, []).append(record)
    for reason, records in notes.items():
        found.append((records[-1].time, f"{_NOTES[reason]}{_often(records)}: {said(records[-1])}"))
    for run in progress.runs.values():
        died = [attempt for attempt in run.attempts if attempt.outcome in ("crash", "hang")]
        if run.outcome is None and died and died[-1].ended is not None:
            text = f"attempt {died[-1].number} of {run.window} died: {died[-1].reason}"
            found.append((died[-1].ended, text))
    return [f"{datetime.fromtimestamp(when):%Y-%m-%d %H:%M}  {text}" for when, text in sorted(found)]


def said(record: Record) -> str:
    """What a record of trouble says, with the checkpoint that it is about."""
    more = record.more
    folder = f"{more['folder']}: " if more.get("folder") else ""
    return f"{folder}{more.get('text') or record.reason}"


def _often(records: list[Record]) -> str:
    return f" ({len(records)} times)" if len(records) > 1 else ""
