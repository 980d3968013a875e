"""Gantt charts: one row a window while they are few, one lane a GPU, in strips of time, where they are many."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Iterable, Sequence

from attrs import frozen

from campc.report import axis as axes
from campc.report import words
from campc.report.drawing import Canvas, Drawing, fitted, width_of
from campc.values.instants import Instant

PORTRAIT, LANDSCAPE = 680.0, 1000.0
GUTTER = 128.0
ROW, HEAD, AXIS = 17.0, 23.0, 22.0
ROWS_AT_MOST = 36
"""Beyond so many windows, one row each is a scroll, not a picture."""


@frozen
class Bar:
    """A window on the chart, in seconds from the chart's origin."""

    label: str
    start: float
    end: float
    mark: str
    critical: bool = False
    planned: tuple[float, float] | None = None
    """Where it was planned, for the second row of a closeout."""
    stopped: bool = False
    note: str = ""
    """What stands beside it."""
    drawn: bool = True
    """False where only ``planned`` is known."""


@frozen
class Diamond:
    """A decision point behind a window."""

    label: str
    at: float
    note: str


@frozen
class Term:
    """A lot's own bar: what is reserved, kept free and uncommitted before the usable end."""

    start: float
    reserved: float
    usable_end: float | None
    keep_free: float = 0.0
    end_label: str = ""


@frozen
class Lane:
    """What stands on one GPU, or the time of people."""

    label: str
    bars: tuple[Bar, ...]


@frozen
class Group:
    """A lot with its GPUs, or people."""

    title: str
    rows: tuple[Bar | Diamond, ...]
    lanes: tuple[Lane, ...]
    term: Term | None = None

    @property
    def bars(self) -> tuple[Bar, ...]:
        return tuple(row for row in self.rows if isinstance(row, Bar))


@frozen
class Clockwork:
    """What the axis needs to say times of day."""

    start: Instant | None
    zone: dt.tzinfo


def chart(
    name: str, groups: Sequence[Group], clock: Clockwork, title: str, legend: Sequence[tuple[str, str]]
) -> tuple[tuple[Drawing, ...], bool]:
    """The drawings of a Gantt, and whether they want a landscape page."""
    many = sum(len(group.bars) for group in groups) > ROWS_AT_MOST
    if not many:
        return (_rows(name, groups, clock, title, legend),), False
    return _strips(name, groups, clock, title, legend), True


def extent(groups: Iterable[Group]) -> tuple[list[tuple[float, float]], float, float]:
    """When something happens, and the first and last moment to show."""
    busy: list[tuple[float, float]] = []
    edges: list[float] = []
    for group in groups:
        for bar in group.bars:
            busy += [(bar.start, bar.end)] if bar.drawn else []
            busy += [bar.planned] if bar.planned is not None else []
        if group.term is not None:
            edges += [group.term.start, *([group.term.usable_end] if group.term.usable_end is not None else [])]
    edges += [moment for pair in busy for moment in pair]
    return busy, min(edges, default=0.0), max(edges, default=1.0)


def _rows(
    name: str, groups: Sequence[Group], clock: Clockwork, title: str, legend: Sequence[tuple[str, str]]
) -> Drawing:
    canvas = Canvas(name, PORTRAIT)
    busy, start, end = extent(groups)
    scale = axes.axis(busy, start, end, GUTTER, canvas.width - 8)
    height = AXIS + sum(_head_height(group) + sum(_row_height(row) for row in group.rows) for group in groups)
    _grid(canvas, scale, clock, 0.0, height)
    for at in scale.breaks:
        _break(canvas, at, AXIS, height)
    y = AXIS
    for group in groups:
        _head(canvas, group, scale, y, sum(_row_height(row) for row in group.rows))
        y += _head_height(group)
        for row in group.rows:
            _row(canvas, row, scale, y)
            y += _row_height(row)
    canvas.height = height + 6
    _legend(canvas, legend, bool(scale.breaks))
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
        _bar(canvas, row, low, top, max(high - low, 2), thick)
        left, right = min(left, low), max(right, high, low + 2)
    _beside(canvas, "muted", left, right, middle + 3.5, row.note)


def _bar(canvas: Canvas, bar: Bar, x: float, y: float, width: float, height: float) -> None:
    canvas.rectangle(bar.mark, x, y, width, height, min(1.5, width / 3))
    if bar.critical:
        canvas.line("critical", x, y + height + 1.2, x + width, y + height + 1.2)
    if bar.stopped:
        edge = x + width
        canvas.line("cross", edge - 3, y, edge + 3, y + height)
        canvas.line("cross", edge - 3, y + height, edge + 3, y)


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


def _grid(canvas: Canvas, scale: axes.Axis, clock: Clockwork, top: float, bottom: float) -> None:
    ticks = scale.ticks(clock.start, clock.zone)
    for tick in ticks:
        canvas.line("grid", tick.x, top + AXIS - 4, tick.x, bottom)
        anchor = "start" if tick.x < scale.left + 12 else "end" if tick.x > scale.right - 20 else "middle"
        canvas.text("ink" if tick.strong else "muted", tick.x, top + 12, tick.label, 9.5, anchor, bold=tick.strong)
    canvas.line("axis", scale.left, top + AXIS - 4, scale.right, top + AXIS - 4)


def _break(canvas: Canvas, x: float, top: float, bottom: float) -> None:
    """The axis is cut here: two slanted strokes across everything."""
    for shift in (-2.5, 2.5):
        canvas.polyline("break", [(x + shift - 2, bottom), (x + shift + 2, top - 8)])


def _legend(canvas: Canvas, entries: Sequence[tuple[str, str]], broken: bool) -> None:
    x, y = 6.0, canvas.height + 14
    entries = [*entries, *([("break", "a long idle stretch, drawn short")] if broken else [])]
    for mark, label in entries:
        needed = 20 + width_of(label, 9.5) + 7
        if x + needed > canvas.width and x > 6:
            x, y = 6.0, y + 15
        _swatch(canvas, mark, x, y)
        canvas.text("muted", x + 22, y, label, 9.5)
        x += needed
    canvas.height = y + 6


def _swatch(canvas: Canvas, mark: str, x: float, y: float) -> None:
    if mark == "gate":
        canvas.diamond(mark, x + 8, y - 3.5, 5)
    elif mark == "end":
        canvas.line(mark, x + 8, y - 10, x + 8, y + 2)
    elif mark == "critical":
        canvas.line(mark, x, y - 2, x + 16, y - 2)
    elif mark == "break":
        _break(canvas, x + 8, y, y + 2)
    elif mark == "cross":
        canvas.line(mark, x + 5, y - 8, x + 11, y)
        canvas.line(mark, x + 5, y, x + 11, y - 8)
    else:
        canvas.rectangle(mark, x, y - 8, 16, 8, 1)


def _strips(
    name: str, groups: Sequence[Group], clock: Clockwork, title: str, legend: Sequence[tuple[str, str]]
) -> tuple[Drawing, ...]:
    busy, start, end = extent(groups)
    lengths = sorted(high - low for low, high in busy)
    work_start, work_end = min(low for low, _ in busy), max(high for _, high in busy)
    usual = lengths[len(lengths) // 4] or 1.0
    room = LANDSCAPE - GUTTER
    count = min(max(1, math.ceil((work_end - work_start) * 34 / (usual * room))), 14)
    step = (work_end - work_start) / count
    drawings = []
    for index in range(count):
        low = start if index == 0 else work_start + index * step
        high = end if index == count - 1 else work_start + (index + 1) * step
        part = f" Part {index + 1} of {count}." if count > 1 else ""
        last = index == count - 1
        drawings.append(_strip(f"{name}-{index + 1}", groups, clock, (low, high), title + part, legend if last else ()))
    return tuple(drawings)


def _strip(
    name: str,
    groups: Sequence[Group],
    clock: Clockwork,
    shown: tuple[float, float],
    title: str,
    legend: Sequence[tuple[str, str]],
) -> Drawing:
    low, high = shown
    canvas = Canvas(name, LANDSCAPE)
    inside = [
        (max(bar.start, low), min(bar.end, high))
        for group in groups
        for bar in group.bars
        if bar.drawn and bar.start < high and bar.end > low
    ]
    scale = axes.axis(inside, low, high, GUTTER, canvas.width - 8)
    lanes = [(group, lane) for group in groups for lane in group.lanes]
    height = AXIS + 20 * len(lanes)
    _grid(canvas, scale, clock, 0.0, height)
    y = AXIS
    for group, lane in lanes:
        canvas.text("ink", 6, y + 13.5, fitted(lane.label, GUTTER - 12))
        canvas.line("grid", 0, y + 20, canvas.width, y + 20)
        for bar in lane.bars:
            if bar.start < high and bar.end > low:
                _lane_bar(canvas, bar, scale, y + 3, low, high)
        end = group.term.usable_end if group.term is not None else None
        if end is not None and low < end <= high and group.lanes[0] is lane:
            canvas.line("end", scale.x(end), y, scale.x(end), y + 20 * len(group.lanes))
        y += 20
    for diamond in (row for group in groups for row in group.rows if isinstance(row, Diamond) and low <= row.at < high):
        canvas.diamond("gate", scale.x(diamond.at), AXIS - 4, 4)
    for at in scale.breaks:
        _break(canvas, at, AXIS, height)
    canvas.height = height + 6
    if legend:
        _legend(canvas, legend, bool(scale.breaks))
    return canvas.finish(title)


def _lane_bar(canvas: Canvas, bar: Bar, scale: axes.Axis, y: float, low: float, high: float) -> None:
    x1, x2 = scale.x(max(bar.start, low)), scale.x(min(bar.end, high))
    _bar(canvas, bar, x1, y, max(x2 - x1 - 0.6, 1.2), 13)
    label = fitted(bar.label, x2 - x1 - 5, 9)
    if label:
        canvas.text(
            "on-essential" if bar.mark in ("bar-essential", "bar-stopped") else "on-pale", x1 + 3, y + 9.8, label, 9
        )


def lanes_of(label: str, bars: Sequence[Bar]) -> tuple[Lane, ...]:
    """Bars side by side: those that overlap go to further lanes."""
    lanes: list[list[Bar]] = []
    for bar in sorted(bars, key=lambda b: (b.start, b.end)):
        free = next((lane for lane in lanes if lane[-1].end <= bar.start), None)
        if free is None:
            lanes.append([bar])
        else:
            free.append(bar)
    return tuple(Lane(label if index == 0 else "", tuple(lane)) for index, lane in enumerate(lanes))


def moment(clock: Clockwork, at: float) -> str:
    """A moment of the chart in words."""
    from fractions import Fraction

    exact = Fraction(at)
    return words.when(clock.start.after(exact), clock.zone) if clock.start is not None else words.relative(exact)
