"""Packages compared: the schedule placed again on one lot of each known package of the same GPU model."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from campc import records
from campc.schedule.account import price_of
from campc.schedule.place import Placed, place
from campc.schedule.plan import PackageRow
from campc.schedule.timeline import Term, billed_by_time
from campc.schema.market import Lot, Package
from campc.schema.spec import Spec
from campc.schema.work import GpuSet, Window
from campc.values.instants import Instant
from campc.values.quantities import Offset

_ZERO = Fraction(0)


def compare(
    spec: Spec, terms: dict[str, Term], start: Instant | None, as_planned: Mapping[str, Placed]
) -> tuple[PackageRow, ...]:
    """One row a package that could hold the work of the lots of its GPU model, in the file's order."""
    rows = []
    for package in spec.packages.values():
        if ("package", package.name) in spec.faulty or package.gpu is None:
            continue
        lots = [lot for lot in spec.lots.values() if _model(spec, lot) == same_model(package.gpu)]
        if not lots or not _large_enough(spec, package, lots):
            continue
        rows.append(_row(spec, package, lots, terms, start, as_planned))
    return tuple(rows)


def _model(spec: Spec, lot: Lot) -> str | None:
    package = spec.package_of(lot)
    return same_model(package.gpu) if package is not None and package.gpu is not None else None


def same_model(model: str) -> str:
    """One spelling of a GPU's model: case and spaces don't tell models apart."""
    return "".join(model.lower().split()).replace("-", "")


def _large_enough(spec: Spec, package: Package, lots: list[Lot]) -> bool:
    gpus = 1
    for lot in lots:
        for window in spec.windows_on(lot.name):
            if window.on is not None and window.on.high is not None and window.on.high >= gpus:
                gpus = window.on.high + 1
            run = spec.run_of(window)
            if run is None:
                continue
            if run.gpus > gpus:
                gpus = run.gpus
            if run.memory is not None and package.memory is not None and run.memory.bytes > package.memory.bytes:
                return False
    return package.gpus >= gpus


def _row(
    spec: Spec,
    package: Package,
    lots: list[Lot],
    terms: dict[str, Term],
    start: Instant | None,
    as_planned: Mapping[str, Placed],
) -> PackageRow:
    begin = min(terms[lot.name].start for lot in lots)
    chosen = [lot for lot in lots if lot.package == package.name]
    lot = records.evolve(
        (chosen or lots)[0],
        package=package.name,
        keep_free=max((each.keep_free for each in lots), key=lambda d: d.seconds),
        ends=chosen[0].ends if len(lots) == 1 and chosen else None,
    )
    end: Fraction | None = None
    if lot.ends is not None and terms[lot.name].end is not None:
        end = terms[lot.name].end
    elif not billed_by_time(package) and package.duration is not None:
        end = begin + package.duration.seconds
    usable = None if end is None else end - package.ends_early.seconds
    if len(lots) == 1 and chosen and begin == terms[lot.name].start:
        placed = as_planned
    else:
        names = {each.name for each in lots}
        windows = {name: _moved(window, names, lot.name) for name, window in spec.windows.items()}
        placed = place(
            records.evolve(spec, windows=windows, lots={**spec.lots, lot.name: lot}),
            {**terms, lot.name: Term(begin, end, usable)},
            start,
        )
    on_it = [p for p in placed.values() if p.window.on is not None and p.window.on.lot == lot.name]
    last_end = Fraction(max((p.end for p in on_it), default=begin))
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
