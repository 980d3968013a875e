"""What has been spent, and when the budget will be."""

from __future__ import annotations

import math
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from campc_harness.conditions import Money
from campc_harness.plan import Lot, Plan
from campc_harness.progress import Progress


def spent(plan: Plan, lot: Lot, progress: Progress, since_start_s: float) -> Money | None:
    """The lot's rental so far and the expenses that were recorded or are committed, in the budget's currency.

    Args:
        since_start_s: seconds since the lot began.

    Returns:
        None where nothing has a price, or one amount is in another currency.
    """
    amounts: list[Money] = []
    rental = rented(lot, since_start_s)
    if rental is not None:
        amounts.append(rental)
    recorded = {record.more.get("name") for record in progress.expenses}
    amounts += [Money(Decimal(e.amount.amount), e.amount.currency) for e in plan.expenses if e.name not in recorded]
    amounts += filter(None, (money(record.more.get("amount")) for record in progress.expenses))
    currencies = {amount.currency for amount in amounts}
    if len(currencies) != 1:
        return None
    total = sum((amount.amount for amount in amounts), Decimal(0))
    # Rent by time has endless digits; what was declared keeps its own.
    exponent = total.as_tuple().exponent
    if isinstance(exponent, int) and exponent < -2:
        total = total.quantize(Decimal("0.01"))
    return Money(total, currencies.pop())


def rented(lot: Lot, since_start_s: float) -> Money | None:
    """What the lot costs after `since_start_s`: its whole price from the start, or its rate rounded up."""
    if lot.package.rate:
        per_s, currency, increment, minimum = _rate(lot.package.rate)
        billed = max(minimum, math.ceil(max(0.0, since_start_s) / increment) * increment)
        return Money(per_s * Decimal(str(billed)), currency) if currency else None
    price = lot.package.price or lot.price
    return Money(Decimal(price.amount), price.currency) if price else None


def seconds_left(plan: Plan, lot: Lot, progress: Progress, since_start_s: float) -> float | None:
    """Seconds until the budget's limit is reached by a lot that is billed by time; None where it never is."""
    now = spent(plan, lot, progress, since_start_s)
    if not lot.package.rate or plan.budget is None or now is None or now.currency != plan.budget.limit.currency:
        return None
    per_s, currency, _, _ = _rate(lot.package.rate)
    if currency != now.currency or per_s <= 0:
        return None
    return max(0.0, float((Decimal(plan.budget.limit.amount) - now.amount) / per_s))


def money(tree: Any) -> Money | None:
    """`{"amount": "1.00", "currency": "USD"}` as money; None where it is something else."""
    if not isinstance(tree, Mapping) or "amount" not in tree or "currency" not in tree:
        return None
    return Money(Decimal(str(tree["amount"])), str(tree["currency"]))


def _rate(tree: Mapping[str, Any]) -> tuple[Decimal, str, float, float]:
    """Money a second, currency, increment and minimum in seconds."""
    inner = tree.get("money") if isinstance(tree.get("money"), Mapping) else tree
    assert isinstance(inner, Mapping)
    per = Decimal(str(tree.get("per_s") or 1))
    amount = Decimal(str(inner.get("amount", "0")))
    increment = float(tree.get("increment_s") or 1)
    return amount / per, str(inner.get("currency") or ""), increment, float(tree.get("minimum_s") or 0)
