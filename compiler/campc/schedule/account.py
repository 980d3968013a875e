"""A lot's account, and what everything costs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction

from campc.schedule.parts import Parts
from campc.schedule.place import Moment, Placed
from campc.schedule.plan import Account, Costs, Gpu
from campc.schedule.timeline import Term
from campc.schema.market import Package
from campc.schema.spec import Spec
from campc.values.money import Money, MoneyRate, total

_ZERO = Fraction(0)


def account(spec: Spec, lot_name: str, term: Term, on_it: Sequence[Placed]) -> Account:
    """reserved, uncommitted, overrun and busy of one lot, by the windows that stand on it."""
    lot = spec.lots[lot_name]
    package = spec.package_of(lot)
    last_end = Fraction(max((item.end for item in on_it), default=term.start))
    last_end = max(last_end, term.start)
    reserved = last_end - term.start
    usable = term.usable_end
    complete = (
        len(on_it) == sum(1 for _ in spec.windows_on(lot_name))
        and ("lot", lot_name) not in spec.faulty
        and not any(kind == "window" for kind, _ in spec.faulty)
        and package is not None
        and ("package", package.name) not in spec.faulty
        and not lot.broken & {"starts", "ends"}
        and (term.end is None or term.end > term.start)
        and not package.broken & {"ends_early", "duration", "gpus"}
    )
    return Account(
        lot=lot_name,
        package=package.name if package is not None else None,
        start=term.start,
        end=term.end,
        usable_end=usable,
        last_end=last_end,
        reserved=reserved,
        uncommitted=None if usable is None else max(usable - last_end, _ZERO),
        overrun=_ZERO if usable is None else max(last_end - usable, _ZERO),
        busy=_busy(on_it),
        price=None if package is None else price_of(package, reserved),
        complete=complete,
    )


def _busy(items: Iterable[Placed]) -> Fraction:
    """GPU-seconds in use; where two windows hold one GPU at once, once."""
    items = list(items)
    parts = Parts(item.gpus for item in items)
    by_part: dict[Gpu, list[Placed]] = {}
    for item in items:
        for part in parts.of(item.gpus):
            by_part.setdefault(part, []).append(item)
    seconds: Moment = 0
    for part, on_part in by_part.items():
        size = parts.size(part)
        reached: Moment | None = None
        for item in sorted(on_part, key=lambda i: i.begin):
            begin = item.begin if reached is None else max(item.begin, reached)
            if item.end > begin:
                seconds += (item.end - begin) * size
                reached = item.end
    return Fraction(seconds)


def price_of(package: Package, reserved: Fraction) -> Money | None:
    """What a lot costs: its price, once; billed by time, the reserved time rounded up to the increment, at least the minimum."""
    match package.price:
        case Money() as price:
            return price
        case MoneyRate() as rate:
            billed = reserved
            if package.minimum is not None:
                billed = max(billed, package.minimum.seconds)
            increments = -(-billed // package.increment.seconds)
            return rate.money * (increments * package.increment.seconds / rate.per.seconds)
    return None


def currency_of(spec: Spec) -> str | None:
    """The currency that totals are given in: the campaign's, or the packages' where they agree."""
    if spec.campaign.currency is not None:
        return spec.campaign.currency
    currencies = set()
    for package in spec.packages.values():
        match package.price:
            case Money(currency=currency) | MoneyRate(money=Money(currency=currency)):
                currencies.add(currency)
    return currencies.pop() if len(currencies) == 1 else None


def costs(spec: Spec, accounts: Iterable[Account]) -> Costs:
    """The rental, the expenses and both, one amount a currency."""
    rental = [a.price for a in accounts if a.price is not None]
    expenses = [e.amount for e in spec.expenses.values() if e.amount is not None]
    return Costs(summed(spec, rental), summed(spec, expenses), summed(spec, [*rental, *expenses]))


def summed(spec: Spec, amounts: Sequence[Money]) -> tuple[Money, ...]:
    """A sum in the campaign's currency where its rates reach it, else one amount a currency."""
    return total(amounts, spec.campaign.rates, currency_of(spec))
