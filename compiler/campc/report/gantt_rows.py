"""The Gantt chart with one row a window."""

from __future__ import annotations

from collections.abc import Sequence

from campc.report import axis as axes
from campc.report.drawing import Canvas, Drawing, fitted, width_of
from campc.report.gantt_marks import AXIS, GUTTER, bar_, break_, grid, legend_
from campc.report.gantt_model import Bar, Clockwork, Diamond, Group, Term, extent

WIDTH = 680.0
ROW, HEAD = 17.0, 23.0


def rows(
    name: str, groups: Sequence[Group], clock: Clockwork, title: str, legend: Sequence[tuple[str, str]]
) -> Drawing:
    canvas = Canvas(name, WIDTH)
    busy, start, end = extent(groups, clock.deadline)
    scale = axes.axis(busy, start, end, GUTTER, canvas.width - 8)
    height = AXIS + sum(_head_height(group) + sum(_row_height(row) for row in group.rows) for group in groups)
    grid(canvas, scale, clock, 0.0, height)
    for at in scale.breaks:
        break_(canvas, at, AXIS, height)
    if clock.deadline is not None:
        canvas.line("deadline", scale.x(clock.deadline), AXIS - 4, scale.x(clock.deadline), height)
    y = AXIS
    for group in groups:
        _head(canvas, group, scale, y, sum(_row_height(row) for row in group.rows))
        y += _head_height(group)
        for row in group.rows:
            _row(canvas, row, scale, y)
            y += _row_height(row)
    canvas.height = height + 6
    legend_(canvas, legend, bool(scale.breaks))
    return canvas.finish(title)


def _row_height(row: Bar | Diamond) -> float:
    return ROW + 7 if isinstance(row, Bar) and row.planned is not None else ROW


def _row(canvas: Canvas, row: Bar | Diamond, scale: axes.Axis, y: float) -> None:
    middle = y + _row_height(row) / 2
    canvas.text("ink" if isinstance(row, Bar) else "muted", 10, middle + 3.5, fitted(row.label, GUTTER - 16))
    if isinstance(row, Diamond):
        x = scale.x(row.at)
        canvas.diamond("gate", x, middle, 5)
        _beside(canvas, "muted", x - 5, x + 5, middle + 3.5, row.note)
        return
    top, thick = y + 3, ROW - 6
    left = right = scale.x(row.start if row.drawn else row.planned[0] if row.planned else 0.0)
    if row.planned is not None:
        low, high = scale.x(row.planned[0]), scale.x(row.planned[1])
        canvas.rectangle("bar-planned", low, top, max(high - low, 2), 6, 1)
        left, right, top, thick = low, max(high, low + 2), top + 8, 9
    if row.drawn:
        low, high = scale.x(row.start), scale.x(row.end)
        bar_(canvas, row, low, top, max(high - low, 2), thick)
        left, right = min(left, low), max(right, high, low + 2)
    _beside(canvas, "muted", left, right, middle + 3.5, row.note)


def _beside(canvas: Canvas, mark: str, left: float, right: float, y: float, note: str) -> None:
    """A note right of what it belongs to; left of it where there is more room."""
    after, before = canvas.width - right - 10, left - GUTTER - 10
    if width_of(note, 9.5) <= after or after >= before:
        canvas.text(mark, right + 5, y, fitted(note, after, 9.5), 9.5)
    else:
        canvas.text(mark, left - 5, y, fitted(note, before, 9.5), 9.5, "end")


def _head_height(group: Group) -> float:
    return HEAD + (ROW if group.term is not None else 0)


def _head(canvas: Canvas, group: Group, scale: axes.Axis, y: float, below: float) -> None:
    canvas.rectangle("band", 0, y + 2, canvas.width, HEAD - 5)
    ending = group.term.end_label if group.term is not None else ""
    room = canvas.width - 24 - width_of(ending, 9.5)
    canvas.text("ink", 6, y + 14.5, fitted(group.title, room), 10.5, bold=True)
    if group.term is not None:
        if ending and group.term.usable_end is not None:
            canvas.text("end-text", scale.x(group.term.usable_end) - 4, y + 14, ending, 9.5, "end")
        canvas.text("muted", 10, y + HEAD + 10.5, "the lot")
        _term(canvas, group.term, scale, y + HEAD + 3, below + ROW - 4)


def _term(canvas: Canvas, term: Term, scale: axes.Axis, y: float, below: float) -> None:
    start, done = scale.x(term.start), scale.x(term.reserved)
    thick = 8.0
    if term.usable_end is None:
        canvas.rectangle("reserved", start, y, max(done - start, 2), thick)
        return
    end = scale.x(term.usable_end)
    canvas.rectangle("reserved", start, y, max(min(done, end) - start, 2), thick)
    if term.reserved > term.usable_end:
        canvas.rectangle("overrun", end, y, max(done - end, 2), thick)
    else:
        canvas.rectangle("tail", done, y, max(end - done, 0), thick)
        kept = scale.x(max(term.usable_end - term.keep_free, term.reserved))
        if term.keep_free and end > kept:
            canvas.rectangle("keep-free", kept, y, end - kept, thick)
    canvas.line("end", end, y - HEAD + 2, end, y + below)
