"""Placing windows: fixed ones where they stand, then the others one by one, as early as they can be."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping
from fractions import Fraction
from heapq import heappop, heappush

from campc.records import define, field
from campc.schedule.parts import Parts
from campc.schedule.plan import Gpu, Interval
from campc.schedule.timeline import Term, seconds_from
from campc.schema.spec import Spec
from campc.schema.work import TIERS, GpuSet, Window
from campc.values.instants import Instant
from campc.values.quantities import Offset

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeAlias

Moment: TypeAlias = int | Fraction
"""A time on the campaign's clock: a whole number of seconds where it is one, since sums of these take a tenth of the time."""


def moment(seconds: Fraction) -> Moment:
    """A time as it is reckoned with here."""
    return seconds.numerator if seconds.denominator == 1 else seconds


@define
class Placed:
    """A window's place before slack is known."""

    window: Window
    begin: Moment
    end: Moment
    gpus: tuple[Gpu, ...]
    fixed: bool
    parts: tuple[Gpu, ...] = ()
    """Its GPUs in parts."""
    predecessors: list[str] = field(factory=list)

    @property
    def interval(self) -> Interval:
        """From its begin to its end."""
        return Interval(Fraction(self.begin), Fraction(self.end))


def place(spec: Spec, terms: Mapping[str, Term], start: Instant | None) -> dict[str, Placed]:
    """Where every window stands. Windows that can't be placed (in a cycle, of unknown length, behind such a one) are left out.

    Windows with ``starts`` are placed first. Of the others, repeatedly the first one that is ready (all its ``after`` placed), in order of tier and then
    of the file, goes to the earliest gap on every GPU that it occupies, after its ``after`` and not before its lot. ``last`` windows come at the end.
    """
    placer = _Placer(spec, terms, start)
    placer.run()
    return placer.placed


@define
class _Placer:
    spec: Spec
    terms: Mapping[str, Term]
    start: Instant | None
    placed: dict[str, Placed] = field(factory=dict)
    busy: dict[Gpu, Taken] = field(factory=dict)
    """What is held of each part of a lot."""
    lot_ends: dict[str, Moment] = field(factory=dict)
    """The end of what is placed on each lot so far."""
    lot_starts: dict[str, Moment] = field(init=False)
    _gpus_of: dict[GpuSet, tuple[Gpu, ...]] = field(factory=dict)
    parts: Parts = field(init=False)

    @lot_starts.default
    def _lot_starts(self) -> dict[str, Moment]:
        return {name: moment(term.start) for name, term in self.terms.items()}

    @parts.default
    def _parts(self) -> Parts:
        return Parts(self._gpus(window.on) for window in self.spec.windows.values() if self._can_be_placed(window))

    def run(self) -> None:
        waiting: dict[str, Window] = {}
        for window in self.spec.windows.values():
            if not self._can_be_placed(window):
                continue
            begin = self._fixed_start(window)
            if begin is None:
                waiting[window.name] = window
            else:
                self._put(window, begin, fixed=True)
        missing: dict[str, int] = {}
        followers: dict[str, list[str]] = {}
        for name, window in waiting.items():
            missing[name] = 0
            for before in window.after:
                followers.setdefault(before, []).append(name)
                missing[name] += before not in self.placed
        # A last window waits for what is still to come on its lot, even where that waits for a last window of another lot.
        to_come: dict[str, int] = {}
        for window in waiting.values():
            if not window.last and window.on is not None:
                to_come[window.on.lot] = to_come.get(window.on.lot, 0) + 1
        queue = _Queue(to_come)
        for name, count in missing.items():
            if count == 0:
                queue.add(waiting[name])
        while (next_ := queue.take()) is not None:
            self._put(next_, self._earliest(next_), fixed=False)
            for follower in followers.get(next_.name, ()):
                missing[follower] -= 1
                if missing[follower] == 0:
                    queue.add(waiting[follower])

    def _can_be_placed(self, window: Window) -> bool:
        unknown = (
            window.takes is None
            or (window.broken and not window.broken.isdisjoint(("on", "after", "starts")))
            or ("window", window.name) in self.spec.faulty
        )
        return not unknown and (window.on is None or window.on.lot in self.terms)

    def _fixed_start(self, window: Window) -> Moment | None:
        match window.starts:
            case None:
                return None
            case Instant() as instant:
                seconds = seconds_from(self.start, instant)
                return None if seconds is None else moment(seconds)
            case Offset(by=by):
                return (self.lot_starts[window.on.lot] if window.on is not None else 0) + moment(by.seconds)

    def _gpus(self, on: GpuSet | None) -> tuple[Gpu, ...]:
        if on is None:
            return ()
        found = self._gpus_of.get(on)
        if found is None:
            lot = self.spec.lots[on.lot]
            package = self.spec.package_of(lot)
            count = package.gpus if package is not None else 1
            if on.low is None or on.high is None:
                indexes = range(min(count, MOST_GPUS))
            else:
                indexes = range(on.low, min(on.high, on.low + MOST_GPUS) + 1)
            found = self._gpus_of[on] = tuple((lot.name, index) for index in indexes)
        return found

    def _put(self, window: Window, begin: Moment, *, fixed: bool) -> None:
        assert window.takes is not None
        end = begin + moment(window.takes.likely.seconds)
        gpus = self._gpus(window.on)
        parts = self.parts.of(gpus)
        self.placed[window.name] = Placed(window, begin, end, gpus, fixed, parts)
        for part in parts:
            self.busy.setdefault(part, Taken()).add(begin, end)
        if window.on is not None:
            self.lot_ends[window.on.lot] = max(end, self.lot_ends.get(window.on.lot, end))

    def _earliest(self, window: Window) -> Moment:
        assert window.takes is not None
        begin = self.lot_starts[window.on.lot] if window.on is not None else 0
        for name in window.after:
            begin = max(begin, self.placed[name].end)
        if window.last and window.on is not None:
            begin = max(begin, self.lot_ends.get(window.on.lot, begin))
        length = moment(window.takes.likely.seconds)
        taken = [self.busy[part] for part in self.parts.of(self._gpus(window.on)) if part in self.busy]
        moved = True
        while moved:
            moved = False
            for each in taken:
                free = each.free_from(begin, length)
                if free != begin:
                    begin, moved = free, True
        return begin


Turn: TypeAlias = "tuple[int, int, str, Window]"


@define
class _Queue:
    """Windows that are ready, in turn: by tier, then by the file; ``last`` ones when no others are, and of these first those whose lot has all else.

    ``to_come``: how many windows that aren't last each lot still has to get.
    """

    to_come: dict[str, int]
    _ready: list[Turn] = field(factory=list)
    _last: list[Turn] = field(factory=list)
    _held: dict[str, list[Turn]] = field(factory=dict)
    """Last ones of lots that still get others."""

    def add(self, window: Window) -> None:
        """This one is ready."""
        turn = TIERS.index(window.tier), window.order, window.name, window
        if not window.last:
            heappush(self._ready, turn)
        elif window.on is not None and self.to_come.get(window.on.lot):
            heappush(self._held.setdefault(window.on.lot, []), turn)
        else:
            heappush(self._last, turn)

    def take(self) -> Window | None:
        """Whose turn it is; None where nothing is ready."""
        if self._ready:
            window = heappop(self._ready)[3]
            if window.on is not None:
                lot = window.on.lot
                self.to_come[lot] -= 1
                if not self.to_come[lot]:
                    for turn in self._held.pop(lot, ()):
                        heappush(self._last, turn)
            return window
        if self._last:
            return heappop(self._last)[3]
        if not self._held:
            return None
        # What the lots still get waits for last windows of others: in a circle, and somebody has to begin.
        lot = min(self._held, key=lambda name: self._held[name][0][:3])
        turn = heappop(self._held[lot])
        if not self._held[lot]:
            del self._held[lot]
        return turn[3]


@define
class Taken:
    """The time at which one GPU is held, as disjoint intervals in order; what touches is one."""

    starts: list[Moment] = field(factory=list)
    ends: list[Moment] = field(factory=list)

    def add(self, start: Moment, end: Moment) -> None:
        """Hold an interval as well."""
        first = bisect_left(self.ends, start)
        last = bisect_right(self.starts, end)
        if first < last:
            start, end = min(start, self.starts[first]), max(end, self.ends[last - 1])
        self.starts[first:last] = [start]
        self.ends[first:last] = [end]

    def free_from(self, begin: Moment, length: Moment) -> Moment:
        """The earliest moment, not before ``begin``, from which so much time is free."""
        index = bisect_right(self.ends, begin)
        while index < len(self.starts) and self.starts[index] < begin + length:
            begin = self.ends[index]
            index += 1
        return begin


MOST_GPUS = 4096
"""Indexes beyond this are an error of their own; they are not worth a list each."""
