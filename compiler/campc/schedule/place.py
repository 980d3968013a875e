"""Placing windows: fixed ones where they stand, then the others one by one, as early as they can be."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from fractions import Fraction
from heapq import heapify, heappop, heappush

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
        ready = [_turn(waiting[name]) for name, count in missing.items() if count == 0]
        heapify(ready)
        # A last window waits for what is still to come on its lot, even where that waits for a last window of another lot.
        to_come: dict[str, int] = {}
        for window in waiting.values():
            if not window.last and window.on is not None:
                to_come[window.on.lot] = to_come.get(window.on.lot, 0) + 1
        while ready:
            turn = ready[0]
            if turn[0]:  # only last ones are ready
                turn = next((t for t in sorted(ready) if not to_come.get(_lot_ended(waiting[t[3]]), 0)), turn)
            if turn == ready[0]:
                heappop(ready)
            else:
                ready.remove(turn)
                heapify(ready)
            name = turn[3]
            window = waiting[name]
            if not window.last and window.on is not None:
                to_come[window.on.lot] -= 1
            self._put(window, self._earliest(window), fixed=False)
            for follower in followers.get(name, ()):
                missing[follower] -= 1
                if missing[follower] == 0:
                    heappush(ready, _turn(waiting[follower]))

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


def _lot_ended(window: Window) -> str:
    """The lot that a ``last`` window ends; of others none."""
    return window.on.lot if window.last and window.on is not None else ""


def _turn(window: Window) -> tuple[bool, int, int, str]:
    """Whose turn it is among windows that are ready: ``last`` ones at the end, then tier, then the file."""
    return window.last, TIERS.index(window.tier), window.order, window.name


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


def order(placed: Mapping[str, Placed]) -> list[Placed]:
    """In planned order: by start, then by the file."""
    return sorted(placed.values(), key=lambda p: (p.begin, p.window.order))


def link(placed: Mapping[str, Placed], planned: Sequence[Placed]) -> None:
    """Fill in what each window cannot start before, the planned order kept: its ``after``, what is before it on its GPUs, all of its lot where it
    is last."""
    latest: dict[Gpu, Placed] = {}
    by_lot: dict[str, list[Placed]] = {}
    for item in placed.values():
        if item.window.on is not None:
            by_lot.setdefault(item.window.on.lot, []).append(item)
    for item in planned:
        names = [name for name in item.window.after if name in placed]
        for part in item.parts:
            before = latest.get(part)
            if before is not None:
                names.append(before.window.name)
            latest[part] = item
        if item.window.last and item.window.on is not None:
            on_lot = by_lot[item.window.on.lot]
            names.extend(other.window.name for other in on_lot if other.end <= item.begin)
        found = dict.fromkeys(names)
        found.pop(item.window.name, None)
        item.predecessors = list(found)


def slacks(
    placed: Mapping[str, Placed], terms: Mapping[str, Term], planned: Sequence[Placed]
) -> dict[str, Fraction | None]:
    """How far each window's end could move, the planned order kept, before a usable end is passed; None where nothing bounds it."""
    followers: dict[str, list[Placed]] = {}
    for item in planned:
        for name in item.predecessors:
            followers.setdefault(name, []).append(item)
    latest_end: dict[str, Moment | None] = {}
    usable_ends = {name: None if term.usable_end is None else moment(term.usable_end) for name, term in terms.items()}
    # Every follower starts at or after its predecessor's end, or (in a conflict) at least later in planned order.
    for item in reversed(planned):
        bounds: list[Moment] = []
        if item.window.on is not None:
            usable = usable_ends[item.window.on.lot]
            if usable is not None:
                bounds.append(usable)
        for follower in followers.get(item.window.name, ()):
            if follower.fixed:
                bounds.append(follower.begin)
            else:
                bound = latest_end.get(follower.window.name)
                if bound is not None:
                    bounds.append(bound + follower.begin - follower.end)
        latest_end[item.window.name] = min(bounds) if bounds else None
    return {name: None if bound is None else Fraction(bound - placed[name].end) for name, bound in latest_end.items()}


def critical(placed: Mapping[str, Placed]) -> set[str]:
    """The windows on the chains that set the latest end on each lot."""
    found: set[str] = set()
    lots: dict[str, list[Placed]] = {}
    for item in placed.values():
        if item.window.on is not None:
            lots.setdefault(item.window.on.lot, []).append(item)
    for items in lots.values():
        end = max(item.end for item in items)
        stack = [item for item in items if item.end == end]
        while stack:
            item = stack.pop()
            if item.window.name in found:
                continue
            found.add(item.window.name)
            if not item.fixed:
                stack.extend(placed[n] for n in item.predecessors if placed[n].end == item.begin)
    return found
