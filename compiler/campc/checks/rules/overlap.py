"""C301, C303, C304, C305: windows that can't stand where they do."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import islice

from campc.checks.facts import clock_unknown
from campc.checks.registry import rule
from campc.checks.words import gpu_names, head, listed, moment
from campc.diagnostic import Diagnostic, Note
from campc.schedule.conflicts import MOST_CONFLICTS
from campc.schedule.place import moment as as_moment
from campc.schedule.plan import Conflict, Gpu, Interval, Placement, Plan
from campc.values.quantities import compact_duration, format_duration

TYPE_CHECKING = False
if TYPE_CHECKING:
    from campc.schedule.place import Moment


@rule("C301")
def windows_overlap(plan: Plan) -> Iterator[Diagnostic]:
    """Two windows hold the same GPU at the same time.

    One GPU runs one step: two rows in a table do not make it parallel. Intervals are half-open, so one window may start at the very moment at which
    another ends. Windows without `starts` are never placed over each other; this is about starts that were fixed by hand.

    Bad:
        tier essential {
          window first  { kind = train; on = box; takes = 12h; starts = +0h; run = control }
          window second { kind = train; on = box; takes = 12h; starts = +6h; run = variant }
        }

    Good:
        tier essential {
          window first  { kind = train; on = box; takes = 12h; run = control }
          window second { kind = train; on = box; takes = 12h; after = first; run = variant }
        }
    """
    grouped: dict[str, list[Conflict]] = {}
    for conflict in plan.conflicts:
        if not _says_so_already(plan, conflict):
            grouped.setdefault(conflict.second.name, []).append(conflict)
    told = _Told(plan)
    for number, conflicts in enumerate(grouped.values()):
        second = conflicts[0].second
        many = number >= _MOST_FITTED or told.looked_through > _MOST_LOOKED_THROUGH
        shown = conflicts[: _FEW_NAMED if many else _MOST_NAMED]
        if len(conflicts) == 1:
            c = conflicts[0]
            start, end, length = told.interval(c.shared)
            message = f"{second.name} and {c.first.name} both hold {told.gpus(c.gpus)} from {start} to {end}: {length} in common"
        else:
            parts = []
            for c in shown:
                start, end, length = told.interval(c.shared)
                parts.append(f"{c.first.name} holds {told.gpus(c.gpus)} from {start} to {end}, {length}")
            if len(conflicts) >= MOST_CONFLICTS:  # there may be more than were recorded
                parts.append("and others")
            elif len(conflicts) > len(shown):
                parts.append(f"and {len(conflicts) - len(shown)} more")
            message = f"{second.name} needs GPUs that others hold: {'; '.join(parts)}"
        start, end, _ = told.interval(second.interval)
        yield Diagnostic(
            "C301",
            head(second.window.at),
            message,
            tuple(Note(head(c.first.window.at), "this one holds it already") for c in shown),
            help="leave `starts` out, and it is placed where it fits" if many else _where_it_fits(plan, second, told),
            label=f"{start} to {end}",
        )


_MOST_NAMED = 6
"""How many of the windows that one overlaps are named."""
_FEW_NAMED = 2
"""The same, of windows after the first :data:`_MOST_FITTED`."""
_MOST_FITTED = 40
"""For how many windows it is looked up where they would fit; where there are more, nobody reads them."""
_MOST_LOOKED_THROUGH = 100_000
"""The same for the windows that are looked through for that, all lookups together."""


class _Told:
    """What is said, and looked through, again and again where very many windows overlap."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self.looked_through = 0
        self._intervals: dict[tuple[Moment, Moment], tuple[str, str, str]] = {}
        self._moments: dict[Moment, str] = {}
        self._lengths: dict[Moment, str] = {}
        self._gpus: dict[tuple[Gpu, Gpu], str] = {}
        self._lots: dict[str, list[tuple[Moment, Moment, int, int, Placement]]] = {}

    def interval(self, interval: Interval) -> tuple[str, str, str]:
        """From when, to when, and how long."""
        key = as_moment(interval.start), as_moment(interval.end)
        found = self._intervals.get(key)
        if found is None:
            length = key[1] - key[0]
            lasts = self._lengths.get(length)
            if lasts is None:
                lasts = self._lengths[length] = format_duration(length)
            found = self._intervals[key] = (self.moment(interval.start), self.moment(interval.end), lasts)
        return found

    def moment(self, seconds: Fraction) -> str:
        key = as_moment(seconds)
        found = self._moments.get(key)
        if found is None:
            found = self._moments[key] = moment(self._plan, seconds)
        return found

    def gpus(self, gpus: tuple[Gpu, ...]) -> str:
        key = gpus[0], gpus[-1]
        found = self._gpus.get(key)
        if found is None:
            found = self._gpus[key] = gpu_names(gpus, self._plan)
        return found

    def on_lot(self, lot: str) -> list[tuple[Moment, Moment, int, int, Placement]]:
        """What is on a lot, in planned order, with its start and end and its first and last GPU."""
        found = self._lots.get(lot)
        if found is None:
            found = self._lots[lot] = [
                (as_moment(p.start), as_moment(p.end), p.gpus[0][1], p.gpus[-1][1], p)
                for p in self._plan.on_lot(lot)
                if p.gpus
            ]
        return found


def _says_so_already(plan: Plan, conflict: Conflict) -> bool:
    """Whether C304 reports the pair: one of them comes after the other, by its `after` or as the last on its lot."""
    first, second = conflict.first.window, conflict.second.window
    return first.name in second.after or second.name in first.after or first.last != second.last


def _where_it_fits(plan: Plan, window: Placement, told: _Told) -> str:
    assert window.window.on is not None
    lot = window.window.on.lot
    begin = max(
        [plan.accounts[lot].start, *(plan.placements[n].end for n in window.window.after if n in plan.placements)]
    )
    free, length = as_moment(max(begin, window.start)), as_moment(window.interval.length)
    needed = free + length
    first, last = window.gpus[0][1], window.gpus[-1][1]
    on_lot = told.on_lot(lot)
    told.looked_through += len(on_lot)
    for other_start, other_end, low, high, other in on_lot:
        if other_start >= needed:
            break
        if other_end > free and low <= last and high >= first and other is not window:
            free, needed = other_end, other_end + length
    begin, end = Fraction(free), Fraction(needed)
    usable = plan.accounts[lot].usable_end
    if usable is not None and end > usable:
        beyond = f"it would end {format_duration(end - usable)} after {lot} can be used"
        return f"no gap on {lot} holds {window.name}: from {moment(plan, begin)} {beyond}; shorten one of them, or drop one"
    return f"{window.name} fits from {moment(plan, begin)} (starts = {_offset(begin - plan.accounts[lot].start)}), or leave `starts` out and it is placed there"


def _offset(seconds: Fraction) -> str:
    return f"{'-' if seconds < 0 else '+'}{compact_duration(abs(seconds))}"


@rule("C303")
def before_lot(plan: Plan) -> Iterator[Diagnostic]:
    """A window starts before its lot does.

    Before a lot begins there is no machine: nothing can run on it.

    Bad:
        tier essential {
          window control { kind = train; on = box; takes = 10h; starts = -2h; run = control }
        }

    Good:
        tier essential {
          window control { kind = train; on = box; takes = 10h; starts = +0h; run = control }
        }
    """
    for placement in plan.placements.values():
        on = placement.window.on
        if on is None or not placement.fixed or on.lot not in plan.accounts:
            continue
        account = plan.accounts[on.lot]
        if placement.start < account.start and not clock_unknown(plan.spec, on.lot):
            early = account.start - placement.start
            yield Diagnostic(
                "C303",
                head(placement.window.place("starts")),
                f"{placement.name} starts at {moment(plan, placement.start)}, {format_duration(early)} before {on.lot} begins at {moment(plan, account.start)}",
                (Note(head(plan.spec.lots[on.lot].head), f"{on.lot} begins at {moment(plan, account.start)}"),),
                help="write starts = +0h, or leave `starts` out",
            )


@rule("C304")
def before_dependency(plan: Plan) -> Iterator[Diagnostic]:
    """A window starts before one that it comes after has ended.

    `after` says that a window needs another's result. A start that was fixed by hand before that result is there can't hold.

    Bad:
        tier essential {
          window control { kind = train; on = box; takes = 10h; run = control }
          window report  { kind = review; takes = 1h; starts = +9h; after = control }
        }

    Good:
        tier essential {
          window control { kind = train; on = box; takes = 10h; run = control }
          window report  { kind = review; takes = 1h; after = control }
        }
    """
    running = _Running(plan)
    told = 0
    for placement in plan.placements.values():
        late = _not_ended(plan, placement, running)
        if not late or clock_unknown(
            plan.spec, *(p.window.on.lot if p.window.on else None for p in (placement, *late))
        ):
            continue
        latest = max(late, key=lambda p: p.end)
        named = late[: _FEW_NAMED if told >= _MOST_FITTED else _MOST_NAMED]
        told += 1
        ends = "; ".join(f"{p.name} ends at {moment(plan, p.end)}" for p in named)
        after_it = [p.name for p in late if placement.name in p.window.after]
        yield Diagnostic(
            "C304",
            head(placement.window.at),
            f"{placement.name} starts at {moment(plan, placement.start)}, and comes after what has not ended: {ends}, "
            f"{format_duration(latest.end - placement.start)} later",
            tuple(Note(head(p.window.at), f"ends at {moment(plan, p.end)}") for p in named),
            help=f"start it at {moment(plan, latest.end)} or later, or leave `starts` out"
            if placement.fixed
            else f"take `last` away from {placement.name}, or `after` from {listed(after_it or [p.name for p in late])}",
        )


def _not_ended(plan: Plan, placement: Placement, running: _Running) -> list[Placement]:
    """What a window comes after and starts before the end of: its ``after`` where its start is fixed; where it is last, all else on its lot. Of that,
    where its start is fixed, as many as are named, and the one that ends latest."""
    window = placement.window
    names = [n for n in window.after if n in plan.placements] if placement.fixed else []
    late = [plan.placements[n] for n in names if plan.placements[n].end > placement.start]
    if window.last and window.on is not None:
        late = list({p.name: p for p in (*late, *running.at(placement, window.on.lot))}.values())
    return late


class _Running:
    """What of each lot is running, or is to come, when its last windows start, which are asked for in planned order."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._lots: dict[str, list[tuple[Moment, Placement]]] = {}
        self._latest: dict[str, tuple[Moment, Placement]] = {}
        self._over: dict[str, int] = {}
        """How many of the first ones have ended."""

    def at(self, last: Placement, lot: str) -> list[Placement]:
        """What is not over on a lot when a last window starts."""
        if lot not in self._lots:
            others = self._lots[lot] = [(as_moment(p.end), p) for p in self._plan.on_lot(lot) if not p.window.last]
            if others:
                self._latest[lot] = max(others, key=lambda other: other[0])
        others, start = self._lots[lot], as_moment(last.start)
        if not others or self._latest[lot][0] <= start:
            return []
        over = self._over.get(lot, 0)
        while others[over][0] <= start:
            over += 1
        self._over[lot] = over
        found = (other for end, other in islice(others, over, None) if end > start)
        return [*islice(found, _MOST_NAMED), self._latest[lot][1]] if last.fixed else list(found)


@rule("C305")
def gpu_index(plan: Plan) -> Iterator[Diagnostic]:
    """A GPU index outside the lot.

    GPUs of a lot are counted from 0: a lot of two has `box[0]` and `box[1]`.

    Bad:
        tier essential {
          window control { kind = train; on = box[1]; takes = 10h; run = control }
        }

    Good:
        tier essential {
          window control { kind = train; on = box[0]; takes = 10h; run = control }
        }
    """
    for window in plan.spec.windows.values():
        if window.on is None or window.on.high is None:
            continue
        lot = plan.spec.lot_of(window)
        package = plan.spec.package_of(lot)
        if lot is None or package is None or "gpus" in package.broken or window.on.high < package.gpus:
            continue
        if package.gpus == 1:
            has, choose = "one GPU", f"write {lot.name}, or {lot.name}[0]"
        else:
            has, choose = f"{package.gpus} GPUs", f"its GPUs are {lot.name}[0] to {lot.name}[{package.gpus - 1}]"
        yield Diagnostic(
            "C305",
            window.place("on"),
            f"{window.name} is on {window.on}, and {lot.name} has {has}",
            (Note(package.place("gpus"), f"{package.name} has {has}"),),
            help=choose,
        )
