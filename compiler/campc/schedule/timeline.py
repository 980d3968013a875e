"""The campaign's clock: where its zero is, and where lots begin and end on it."""

from __future__ import annotations

from fractions import Fraction

from campc.records import frozen
from campc.schema.market import Lot, Package
from campc.schema.spec import Spec
from campc.values.instants import Instant
from campc.values.money import Money
from campc.values.quantities import Offset


@frozen
class Term:
    """When a lot begins and ends, in seconds from the campaign's start; None where nothing bounds it, or its package is unknown."""

    start: Fraction
    end: Fraction | None
    usable_end: Fraction | None


def campaign_start(spec: Spec) -> Instant | None:
    """The campaign's zero: its ``starts``, else the earliest lot's, else the earliest window's with an absolute start; None: relative."""
    if spec.campaign.starts is not None:
        return spec.campaign.starts
    for group in (spec.lots.values(), spec.windows.values()):
        absolute = [node.starts for node in group if isinstance(node.starts, Instant)]
        if absolute:
            return min(absolute, key=lambda instant: instant.utc)
    return None


def seconds_from(start: Instant | None, instant: Instant) -> Fraction | None:
    """How long after the campaign's start an instant is; None in a relative plan."""
    return instant.timestamp - start.timestamp if start is not None else None


def lot_term(spec: Spec, lot: Lot, start: Instant | None) -> Term:
    """When a lot begins, ends and is last usable."""
    match lot.starts:
        case Instant() as instant:
            begin = seconds_from(start, instant) or Fraction(0)
        case Offset(by=by):
            begin = by.seconds
        case _:
            begin = Fraction(0)
    package = spec.package_of(lot)
    end: Fraction | None = None
    if lot.ends is not None:
        end = seconds_from(start, lot.ends)
    elif (
        package is not None
        and package.duration is not None
        and not billed_by_time(package)
        and "ends" not in lot.broken
    ):
        end = begin + package.duration.seconds
    early = package.ends_early.seconds if package is not None else Fraction(0)
    return Term(begin, end, None if end is None else end - early)


def billed_by_time(package: Package) -> bool:
    """Whether a package costs money per time."""
    return package.price is not None and not isinstance(package.price, Money)
