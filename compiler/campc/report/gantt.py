"""Gantt charts: one row a window while they are few, one lane a GPU, in strips of time, where they are many."""

from __future__ import annotations

from collections.abc import Sequence

from campc.report.drawing import Drawing
from campc.report.gantt_model import Clockwork, Group
from campc.report.gantt_rows import rows
from campc.report.gantt_strips import strips

ROWS_AT_MOST = 36
"""Beyond so many windows, one row each is a scroll, not a picture."""


def chart(
    name: str, groups: Sequence[Group], clock: Clockwork, title: str, legend: Sequence[tuple[str, str]]
) -> tuple[tuple[Drawing, ...], bool]:
    """The drawings of a Gantt, and whether they want a landscape page."""
    if sum(len(group.bars) for group in groups) <= ROWS_AT_MOST:
        return (rows(name, groups, clock, title, legend),), False
    return strips(name, groups, clock, title, legend), True
