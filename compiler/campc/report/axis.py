"""The time axis of a chart: where a moment stands, and which moments are marked.

Long stretches in which nothing is planned (people who prepare days ahead, a lot that stays idle after minutes of work) are drawn short, and marked
as broken: otherwise the work would be a hair's breadth.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import pairwise

from attrs import frozen

from campc.report import words
from campc.values.instants import Instant
from campc.values.quantities import DAY, HOUR, MINUTE

STEPS = (
    0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30,
    *(MINUTE * m for m in (1, 2, 5, 10, 15, 30)), *(HOUR * h for h in (1, 2, 3, 4, 6, 12)), *(DAY * d for d in (1, 2, 5, 7, 14, 28)),
)  # fmt: skip
LONG = 2
"""An idle stretch is drawn short where it is longer than so many times all that is busy."""
BREAK_SHARE = 0.14
"""The share of the width that a broken stretch gets."""


@frozen
class Piece:
    """A stretch of time and the stretch of the page that it is drawn on."""

    start: float
    end: float
    x1: float
    x2: float
    broken: bool = False


@frozen
class Tick:
    x: float
    label: str
    strong: bool = False
    """A midnight, or the first one."""


@frozen
class Axis:
    """Maps seconds to x."""

    pieces: tuple[Piece, ...]
    left: float
    right: float

    def x(self, at: Fraction | float) -> float:
        """Where a moment stands; moments outside stand at the edge."""
        moment = float(at)
        for piece in self.pieces:
            if moment <= piece.end:
                share = (moment - piece.start) / (piece.end - piece.start) if piece.end > piece.start else 0.0
                return piece.x1 + max(0.0, share) * (piece.x2 - piece.x1)
        return self.right

    @property
    def breaks(self) -> tuple[float, ...]:
        """The middle of each broken stretch."""
        return tuple((piece.x1 + piece.x2) / 2 for piece in self.pieces if piece.broken)

    def ticks(self, start: Instant | None, zone: dt.tzinfo, apart: float = 62.0) -> tuple[Tick, ...]:
        """Round moments, at least so far apart on the page. Hours and days are those of the zone's clock; of a relative plan, from its start."""
        found: list[Tick] = []
        for piece in self.pieces:
            width = piece.x2 - piece.x1
            if piece.broken or width < 20:
                continue
            length = piece.end - piece.start
            step = next((s for s in STEPS if s / length * width >= apart), STEPS[-1])
            for at in _round_moments(piece, step, start, zone):
                if not found or self.x(at) - found[-1].x >= apart * 0.7:
                    found.append(_tick(self.x(at), at, start, zone, not found))
        return tuple(found)


def axis(busy: Iterable[tuple[float, float]], start: float, end: float, left: float, right: float) -> Axis:
    """An axis from ``start`` to ``end`` over x from ``left`` to ``right``. ``busy`` are the stretches in which something happens: what lies between
    them, and before ``end``, is drawn short where it is long."""
    merged: list[list[float]] = []
    for low, high in sorted(busy):
        if merged and low <= merged[-1][1]:
            merged[-1][1] = max(merged[-1][1], high)
        else:
            merged.append([low, high])
    total = sum(high - low for low, high in merged) or (end - start)
    edges = [start, *(moment for pair in merged for moment in pair), end]
    stretches: list[tuple[float, float, bool]] = []
    for index, (low, high) in enumerate(pairwise(edges)):
        if high > low:
            idle = index % 2 == 0
            long = idle and high - low > LONG * total
            if stretches and not long and not stretches[-1][2]:
                stretches[-1] = (stretches[-1][0], high, False)
            else:
                stretches.append((low, high, long))
    if not stretches:
        return Axis((Piece(start, max(end, start + 1), left, right),), left, right)
    return Axis(_laid(stretches, left, right), left, right)


def _laid(stretches: Sequence[tuple[float, float, bool]], left: float, right: float) -> tuple[Piece, ...]:
    broken = sum(cut for _, _, cut in stretches)
    share = min(BREAK_SHARE, 0.5 / broken) if broken else 0.0
    whole = sum(high - low for low, high, cut in stretches if not cut)
    room = (right - left) * (1 - share * broken)
    pieces, x = [], left
    for low, high, cut in stretches:
        width = (right - left) * share if cut else room * (high - low) / whole if whole else 0.0
        pieces.append(Piece(low, high, x, x + width, cut))
        x += width
    return tuple(pieces)


def _round_moments(piece: Piece, step: float, start: Instant | None, zone: dt.tzinfo) -> Iterator[float]:
    """The moments of a stretch that are round: by the zone's clock, also across a change of it; of a relative plan, from its start."""
    if start is None or step < MINUTE:
        first = math.ceil(piece.start / step)
        yield from (k * step for k in range(first, math.floor(piece.end / step) + 1))
        return
    day = start.after(Fraction(piece.start)).utc.astimezone(zone).date()
    days = max(1, round(step / DAY))
    while True:
        for second in range(0, DAY, min(round(step), DAY)):
            local = dt.datetime.combine(day, dt.time(), zone) + dt.timedelta(seconds=second)
            at = float((Instant(local.astimezone(dt.UTC)).timestamp) - start.timestamp)
            if at > piece.end:
                return
            if at >= piece.start:
                yield at
        day += dt.timedelta(days=days)


def _tick(x: float, at: float, start: Instant | None, zone: dt.tzinfo, first: bool) -> Tick:
    if start is None:
        return Tick(x, words.relative(Fraction(at).limit_denominator(1000)), first)
    instant = start.after(Fraction(at))
    local = instant.utc.astimezone(zone)
    midnight = local.hour == local.minute == local.second == 0
    if midnight:
        return Tick(x, words.date(instant, zone), True)
    return Tick(x, words.when(instant, zone) if first else words.clock(instant, zone), first)
