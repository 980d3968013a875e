"""What waits for what where windows stand: predecessors, slack, and the chains that are critical."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from fractions import Fraction
from heapq import heappop, heappush

from campc.schedule.place import Moment, Placed, moment
from campc.schedule.plan import Gpu
from campc.schedule.timeline import Term


def order(placed: Mapping[str, Placed]) -> list[Placed]:
    """In planned order: by start, then by the file."""
    return sorted(placed.values(), key=lambda p: (p.begin, p.window.order))


def link(placed: Mapping[str, Placed], planned: Sequence[Placed]) -> None:
    """Fill in what each window cannot start before, the planned order kept: its ``after``, what is before it on its GPUs, all of its lot where it
    is last (but for what another last window, which it waits for, waits for)."""
    latest: dict[Gpu, Placed] = {}
    by_lot: dict[str, list[Placed]] = {}
    for item in placed.values():
        if item.window.on is not None:
            by_lot.setdefault(item.window.on.lot, []).append(item)
    ended: dict[str, _Ended] = {}
    for item in planned:
        names = [name for name in item.window.after if name in placed]
        for part in item.parts:
            before = latest.get(part)
            if before is not None:
                names.append(before.window.name)
            latest[part] = item
        if item.window.last and item.window.on is not None:
            lot = item.window.on.lot
            if lot not in ended:
                ended[lot] = _Ended(by_lot[lot])
            names.extend(ended[lot].before(item))
        found = dict.fromkeys(names)
        found.pop(item.window.name, None)
        item.predecessors = list(found)


class _Ended:
    """What has ended on a lot when its last windows begin, which are asked for in planned order."""

    def __init__(self, items: Sequence[Placed]) -> None:
        self._turns = sorted(range(len(items)), key=lambda turn: items[turn].end)
        self._ends = [items[turn].end for turn in self._turns]
        self._names = [item.window.name for item in items]
        self._running: list[tuple[Moment, int]] = []
        self._covered = 0
        """How many a last window that has ended waited for."""

    def before(self, item: Placed) -> list[str]:
        """What ended before a last window begins, in the order in which it was placed."""
        while self._running and self._running[0][0] <= item.begin:
            self._covered = max(self._covered, heappop(self._running)[1])
        count = bisect_right(self._ends, item.begin)
        heappush(self._running, (item.end, count))
        return [self._names[turn] for turn in sorted(self._turns[self._covered : count])]


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
