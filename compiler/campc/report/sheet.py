"""The windows of a plan as CSV, for spreadsheets (RFC 4180)."""

from __future__ import annotations

import csv
import io
from fractions import Fraction
from typing import Any

from campc.schedule.plan import Placement, Plan
from campc.values.quantities import plain

COLUMNS = (
    "window", "tier", "kind", "lot", "gpus", "run", "takes_low_s", "takes_likely_s", "takes_high_s", "basis", "start_s", "end_s", "start", "end",
    "slack_s", "critical",
)  # fmt: skip


def plan_csv(plan: Plan) -> str:
    """One line a window, in the planned order. Seconds count from the campaign's start; ``start`` and ``end`` are ISO 8601 in its zone, empty for a
    relative plan; what is unknown is empty."""
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(COLUMNS)
    writer.writerows(_line(plan, placement) for placement in plan.placements.values())
    return out.getvalue()


def _line(plan: Plan, placement: Placement) -> list[Any]:
    window, takes = placement.window, placement.window.takes
    start, end = plan.instant(placement.start), plan.instant(placement.end)
    return [
        window.name,
        window.tier,
        window.kind,
        window.on.lot if window.on is not None else "",
        " ".join(str(index) for _, index in placement.gpus),
        window.run or "",
        *(
            (plain(takes.low.seconds), plain(takes.likely.seconds), plain(takes.high.seconds))
            if takes is not None
            else ("", "", "")
        ),
        _text(window.basis),
        plain(placement.start),
        plain(placement.end),
        start.iso(plan.spec.zone) if start is not None else "",
        end.iso(plan.spec.zone) if end is not None else "",
        _seconds(placement.slack),
        "yes" if placement.critical else "no",
    ]


def _seconds(value: Fraction | None) -> int | float | str:
    return "" if value is None else plain(value)


def _text(value: str | None) -> str:
    """Text that a spreadsheet would take for a formula is made plain with an apostrophe."""
    text = value or ""
    return f"'{text}" if text[:1] in ("=", "+", "-", "@", "\t", "\r") else text
