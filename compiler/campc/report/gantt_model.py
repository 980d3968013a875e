"""What a Gantt chart shows: windows, decision points and lots, in seconds from the chart's origin."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Sequence

from attrs import frozen

from campc.values.instants import Instant


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
    deadline: float | None = None
    """When the answer is needed, where that is known."""


def extent(groups: Iterable[Group], deadline: float | None = None) -> tuple[list[tuple[float, float]], float, float]:
    """When something happens, and the first and last moment to show."""
    busy: list[tuple[float, float]] = []
    edges: list[float] = [deadline] if deadline is not None else []
    for group in groups:
        for bar in group.bars:
            busy += [(bar.start, bar.end)] if bar.drawn else []
            busy += [bar.planned] if bar.planned is not None else []
        if group.term is not None:
            edges += [group.term.start, *([group.term.usable_end] if group.term.usable_end is not None else [])]
    edges += [moment for pair in busy for moment in pair]
    return busy, min(edges, default=0.0), max(edges, default=1.0)


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
