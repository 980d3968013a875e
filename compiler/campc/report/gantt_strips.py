"""The Gantt chart of many windows: one lane a GPU, in strips of time below one another."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

from attrs import define

from campc.report import axis as axes
from campc.report.drawing import Canvas, Drawing, fitted, width_of
from campc.report.gantt_marks import AXIS, GUTTER, bar_, break_, grid, legend_
from campc.report.gantt_model import Bar, Clockwork, Diamond, Group, Lane, extent

WIDTH = 1000.0


LANE = 20.0
STRIPS_AT_MOST = 18
USUAL_BAR = 34.0
"""How wide the shorter windows should come out."""


def strips(
    name: str, groups: Sequence[Group], clock: Clockwork, title: str, legend: Sequence[tuple[str, str]]
) -> tuple[Drawing, ...]:
    """The chart as several drawings of equal time, of which the last has the tail and the legend."""
    busy, start, end = extent(groups, clock.deadline)
    lengths = sorted(high - low for low, high in busy)
    work_start, work_end = min(low for low, _ in busy), max(high for _, high in busy)
    usual = lengths[len(lengths) // 4] or 1.0
    wanted = math.ceil((work_end - work_start) * USUAL_BAR / (usual * (WIDTH - GUTTER)))
    count = min(max(1, wanted), STRIPS_AT_MOST)
    cuts = _cuts(work_start, work_end, count, [high for _, high in busy])
    shared = _shared([bar.label for group in groups if group.term is not None for bar in group.bars])
    drawings = []
    edges = list(pairwise((start, *cuts, end)))
    for index, (low, high) in enumerate(edges):
        strip = _Strip(Canvas(f"{name}-{index + 1}", WIDTH), groups, low, high, shared)
        part = f" Part {index + 1} of {len(edges)}." if cuts else ""
        strip.draw(clock, legend if index == len(edges) - 1 else ())
        drawings.append(strip.canvas.finish(title + part))
    return tuple(drawings)


def _cuts(start: float, end: float, count: int, ends: Sequence[float]) -> list[float]:
    """Where one strip ends and the next begins: about equal, but where some window ends, so that few windows are cut."""
    step = (end - start) / count
    wanted = (start + index * step for index in range(1, count))
    return sorted({min(ends, key=lambda moment: abs(moment - cut)) for cut in wanted} - {start, end})


def _shared(names: Sequence[str]) -> int:
    """How many letters all names begin with."""
    return next((i for i, letters in enumerate(zip(*names, strict=False)) if len(set(letters)) > 1), 0)


@define
class _Strip:
    canvas: Canvas
    groups: Sequence[Group]
    low: float
    high: float
    shared: int
    """How many letters all names begin with: a name that doesn't fit is shown without them."""

    def draw(self, clock: Clockwork, legend: Sequence[tuple[str, str]]) -> None:
        bars = [bar for group in self.groups for lane in group.lanes for bar in lane.bars if self._shows(bar)]
        inside = [(max(bar.start, self.low), min(bar.end, self.high)) for bar in bars]
        scale = axes.axis(inside, self.low, self.high, GUTTER, self.canvas.width - 8)
        lanes = [(group, self._lanes(group)) for group in self.groups]
        height = AXIS + LANE * sum(len(shown) for _, shown in lanes)
        grid(self.canvas, scale, clock, 0.0, height)
        for at in scale.breaks:
            break_(self.canvas, at, AXIS, height)
        if clock.deadline is not None and self.low < clock.deadline <= self.high:
            self.canvas.line("deadline", scale.x(clock.deadline), AXIS - 4, scale.x(clock.deadline), height)
        y = AXIS
        for group, shown in lanes:
            self._end(group, scale, y, LANE * len(shown))
            for lane in shown:
                self._lane(lane, scale, y)
                y += LANE
        for diamond in (row for group in self.groups for row in group.rows if isinstance(row, Diamond)):
            if self.low <= diamond.at < self.high:
                self.canvas.diamond("gate", scale.x(diamond.at), AXIS - 4, 4)
        self.canvas.height = height + 6
        if legend:
            legend_(self.canvas, legend, bool(scale.breaks))

    def _shows(self, bar: Bar) -> bool:
        return bar.start < self.high and bar.end > self.low

    def _lanes(self, group: Group) -> list[Lane]:
        """A lot's lanes always; people's where they have something to do."""
        return [lane for lane in group.lanes if group.term is not None or any(self._shows(bar) for bar in lane.bars)]

    def _end(self, group: Group, scale: axes.Axis, y: float, height: float) -> None:
        end = group.term.usable_end if group.term is not None else None
        if end is not None and self.low < end <= self.high:
            self.canvas.line("end", scale.x(end), y, scale.x(end), y + height)

    def _lane(self, lane: Lane, scale: axes.Axis, y: float) -> None:
        self.canvas.text("ink", 6, y + 13.5, fitted(lane.label, GUTTER - 12))
        self.canvas.line("grid", 0, y + LANE, self.canvas.width, y + LANE)
        for bar in lane.bars:
            if self._shows(bar):
                self._bar(bar, scale, y + 3)

    def _bar(self, bar: Bar, scale: axes.Axis, y: float) -> None:
        x1, x2 = scale.x(max(bar.start, self.low)), scale.x(min(bar.end, self.high))
        bar_(self.canvas, bar, x1, y, max(x2 - x1 - 0.6, 1.2), 13)
        room = x2 - x1 - 5
        short = bar.label if width_of(bar.label, 9) <= room else bar.label[self.shared :] or bar.label
        mark = {
            "bar-essential": "on-essential",
            "bar-stopped": "on-essential",
            "bar-people": "ink",
            "bar-planned": "ink",
        }.get(bar.mark, "on-pale")
        label = fitted(short, room, 9)
        if label:
            if mark == "on-pale":
                self.canvas.rectangle(bar.mark, x1 + 1.5, y + 2, width_of(label, 9) + 3, 9, 1, plain=True)
            self.canvas.text(mark, x1 + 3, y + 9.8, label, 9)
