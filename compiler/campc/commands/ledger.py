"""``campc ledger``: the record of a campaign, of all its lots and machines, as a table or as JSON lines."""

from __future__ import annotations

import json
import sys
from argparse import Namespace
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, tzinfo
from typing import Any
from zoneinfo import ZoneInfo

from campc.closeout import Refused
from campc.closeout.bundle import open_bundle
from campc.closeout.record import Story, read_story
from campc.closeout.summary import printable
from campc_harness.ledger import Record

SOUND, DAMAGED, COULD_NOT_RUN = 0, 1, 2
MOST_WORDS = 100
_SAID = (
    "state",
    "outcome",
    "result",
    "gate",
    "stop",
    "value",
    "name",
    "values",
    "dropped",
    "to",
    "amount",
    "covers",
    "text",
    "bytes",
    "write_s",
    "from",
)


def command(options: Namespace) -> int:
    """Print a bundle's or a package's ledgers: 0 sound, 1 damaged (which is said), 2 it could not be read."""
    try:
        bundle = open_bundle(options.bundle)
        story = read_story(bundle, as_written=True)
    except Refused as refused:
        sys.stderr.write(f"campc: {printable(str(refused))}\n")
        return COULD_NOT_RUN
    records = list(_selected(story, options))
    if options.json:
        for record in records:
            sys.stdout.write(json.dumps(to_json(record), ensure_ascii=True) + "\n")
    else:
        sys.stdout.write(
            "".join(
                f"{line}\n"
                for line in table(records, _zone(bundle.plan.campaign.timezone), several=len(bundle.plan.lots) > 1)
            )
        )
    sys.stdout.flush()
    for check in story.checks:
        sys.stderr.write("".join(f"campc: the ledger of {check.lot}: {fault}\n" for fault in check.damage))
        if check.torn_tail:
            sys.stderr.write(f"campc: the ledger of {check.lot}: its last line is torn\n")
    return SOUND if all(check.intact for check in story.checks) else DAMAGED


def to_json(record: Record) -> dict[str, Any]:
    """A record as one JSON object, as it stood in its line but for the chain's own hash."""
    head = {
        "seq": record.seq, "time": record.time, "lot": record.lot, "machine": record.machine, "run_id": record.run_id, "window": record.window,
        "attempt": record.attempt, "event": record.event, "step": record.step, "reason": record.reason,
    }  # fmt: skip
    return {**head, **{key: value for key, value in record.more.items() if key not in head}}


def table(records: Sequence[Record], zone: tzinfo, *, several: bool = False) -> Iterator[str]:
    """Lines of a table, times in ``zone``; the column of lots only where there are ``several``."""
    rows = [_row(record, zone, several) for record in records]
    head = ["seq", "time", *(["lot"] if several else []), "event", "window", "run", "step", "what"]
    widths = [max(len(row[column]) for row in [head, *rows]) for column in range(len(head))]
    for row in [head, *rows]:
        cells = [
            cell.rjust(width) if name in ("seq", "step") else cell.ljust(width)
            for cell, width, name in zip(row, widths, head, strict=True)
        ]
        yield "  ".join(cells).rstrip()


def _row(record: Record, zone: tzinfo, several: bool) -> list[str]:
    when = datetime.fromtimestamp(record.time, zone).strftime("%Y-%m-%d %H:%M:%S")
    step = "" if record.step is None else f"{record.step:,}"
    lot = [printable(record.lot or "")] if several else []
    return [
        str(record.seq),
        when,
        *lot,
        printable(record.event),
        printable(record.window or ""),
        printable(record.run_id or ""),
        step,
        _what(record),
    ]


def _what(record: Record) -> str:
    said = [_brief(record.more[key]) for key in _SAID if record.more.get(key) not in (None, "", {}, [])]
    text = printable(", ".join([*said, *([record.reason] if record.reason else [])]))
    return text if len(text) <= MOST_WORDS else text[: MOST_WORDS - 1] + "…"


def _brief(value: Any) -> str:
    if isinstance(value, dict) and set(value) == {"amount", "currency"}:
        return f"{value['amount']} {value['currency']}"
    if isinstance(value, dict):
        return " ".join(f"{key}={_brief(item)}" for key, item in value.items())
    if isinstance(value, list):
        return " ".join(_brief(item) for item in value)
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _selected(story: Story, options: Namespace) -> Iterable[Record]:
    for record in story.records:
        if options.event and record.event not in options.event:
            continue
        if options.run_id and record.run_id != options.run_id:
            continue
        yield record


def _zone(name: str) -> tzinfo:
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        return ZoneInfo("UTC")
