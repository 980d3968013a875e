"""Packages compared: the schedule placed again on one lot of each known package of the same GPU model."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from campc import records
from campc.records import define, field
from campc.schedule.account import price_of
from campc.schedule.place import Moment, Placed, place
from campc.schedule.plan import PackageRow
from campc.schedule.timeline import Term, billed_by_time
from campc.schema.market import Lot, Package
from campc.schema.spec import Spec
from campc.schema.work import GpuSet, Window
from campc.values.instants import Instant
from campc.values.quantities import Duration, Offset

_ZERO = Fraction(0)


def compare(
    spec: Spec, terms: dict[str, Term], start: Instant | None, as_planned: Mapping[str, Placed]
) -> tuple[PackageRow, ...]:
    """One row a package that could hold the work of the lots of its GPU model, in the file's order."""
    works: dict[str, _Work] = {}
    for lot in spec.lots.values():
        of = spec.package_of(lot)
        if of is not None and of.gpu is not None:
            model = same_model(of.gpu)
            if model not in works:
                works[model] = _Work(spec, terms, start)
            works[model].add(lot)
    rows = []
    for package in spec.packages.values():
        if ("package", package.name) in spec.faulty or package.gpu is None:
            continue
        work = works.get(same_model(package.gpu))
        if work is not None and work.fits(package):
            rows.append(_row(package, work, as_planned))
    return tuple(rows)


def same_model(model: str) -> str:
    """One spelling of a GPU's model: case and spaces don't tell models apart."""
    return "".join(model.lower().split()).replace("-", "")


@define
class _Work:
    """The lots of one GPU model, and what their windows ask for: found once, however many packages are compared."""

    spec: Spec
    terms: Mapping[str, Term]
    start: Instant | None
    lots: list[Lot] = field(factory=list)
    by_package: dict[str, list[Lot]] = field(factory=dict)
    begin: Fraction = _ZERO
    """The first start of a lot."""
    keep_free: Duration = Duration(_ZERO)
    """The longest that a lot keeps free."""
    _gpus: int = 1
    _memory: Fraction = _ZERO
    """Bytes of the run that needs most."""
    _tied: set[str] = field(factory=set)
    """The lots of which some window begins at an offset from the lot's start."""
    _ends: dict[str, Moment | None] = field(factory=dict)

    def add(self, lot: Lot) -> None:
        """One more lot of the model."""
        begin = self.terms[lot.name].start
        self.begin = min(self.begin, begin) if self.lots else begin
        if not self.lots or lot.keep_free.seconds > self.keep_free.seconds:
            self.keep_free = lot.keep_free
        self.lots.append(lot)
        if lot.package is not None:
            self.by_package.setdefault(lot.package, []).append(lot)
        for window in self.spec.windows_on(lot.name):
            if window.on is not None and window.on.high is not None:
                self._gpus = max(self._gpus, window.on.high + 1)
            if isinstance(window.starts, Offset):
                self._tied.add(lot.name)
            run = self.spec.run_of(window)
            if run is not None:
                self._gpus = max(self._gpus, run.gpus)
                if run.memory is not None:
                    self._memory = max(self._memory, run.memory.bytes)

    def fits(self, package: Package) -> bool:
        """Whether a package has as many GPUs, and of as much memory, as the windows and their runs need."""
        return package.gpus >= self._gpus and (package.memory is None or package.memory.bytes >= self._memory)

    def last_end(self, lot: Lot, term: Term) -> Moment | None:
        """When the last window ends where all are on one lot; None where none is placed.

        The package makes no difference to it: a GPU more is held only by what holds the others too. Nor does it matter which of the lots it is, but for
        offsets from its start, since those from the starts of the others are given up.
        """
        key = lot.name if lot.name in self._tied else ""
        if key not in self._ends:
            names = {each.name for each in self.lots}
            windows = {name: _moved(window, names, lot.name) for name, window in self.spec.windows.items()}
            spec = records.evolve(self.spec, windows=windows, lots={**self.spec.lots, lot.name: lot})
            self._ends[key] = _last_end(place(spec, {**self.terms, lot.name: term}, self.start), lot)
        return self._ends[key]


def _last_end(placed: Mapping[str, Placed], lot: Lot) -> Moment | None:
    ends = (p.end for p in placed.values() if p.window.on is not None and p.window.on.lot == lot.name)
    return max(ends, default=None)


def _row(package: Package, work: _Work, as_planned: Mapping[str, Placed]) -> PackageRow:
    lots, terms, begin = work.lots, work.terms, work.begin
    chosen = work.by_package.get(package.name, [])
    lot = records.evolve(
        (chosen or lots)[0],
        package=package.name,
        keep_free=work.keep_free,
        ends=chosen[0].ends if len(lots) == 1 and chosen else None,
    )
    end: Fraction | None = None
    if lot.ends is not None and terms[lot.name].end is not None:
        end = terms[lot.name].end
    elif not billed_by_time(package) and package.duration is not None:
        end = begin + package.duration.seconds
    usable = None if end is None else end - package.ends_early.seconds
    if len(lots) == 1 and chosen and begin == terms[lot.name].start:
        last = _last_end(as_planned, lot)
    else:
        last = work.last_end(lot, Term(begin, end, usable))
    last_end = begin if last is None else Fraction(last)
    reserved = max(last_end - begin, _ZERO)
    overrun = _ZERO if usable is None else max(last_end - usable, _ZERO)
    uncommitted = None if usable is None else max(usable - last_end, _ZERO)
    covers = overrun == 0 and (uncommitted is None or uncommitted >= lot.keep_free.seconds)
    return PackageRow(package.name, covers, reserved, uncommitted, overrun, price_of(package, reserved), bool(chosen))


def _moved(window: Window, from_: set[str], to: str) -> Window:
    """A window with its lot replaced. Where several lots become one, starts that were fixed on the others are given up: they could not all hold."""
    if window.on is None or window.on.lot not in from_ or window.on.lot == to:
        return window
    starts = None if isinstance(window.starts, Offset) else window.starts
    return records.evolve(window, on=GpuSet(to, window.on.low, window.on.high), starts=starts)
