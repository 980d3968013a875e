"""What was spent, lot by lot and expense by expense, and what an accepted result cost.

Nothing is invented: no tax, no transfer, no rate of exchange that the spec doesn't declare. A sum over nothing accepted is not formed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import Any

from campc.closeout.bundle import Bundle
from campc.closeout.model import CostLine, CostResult, DeliverableResult, LotResult, RatioResult
from campc.closeout.record import Story, money_of
from campc.values.currencies import DECIMALS
from campc.values.money import Money, total

__all__ = ["costs_of", "money", "ratios_of"]


def money(value: Any) -> Money | None:
    """An amount as campaign.json or a ledger writes it; None where it is none."""
    parts = money_of(value)
    if parts is None or parts[1] not in DECIMALS:
        return None
    try:
        amount = Decimal(parts[0].replace("_", ""))
    except InvalidOperation:
        return None
    return Money(Fraction(amount), parts[1]) if amount.is_finite() and abs(amount) < 10**15 else None


def costs_of(bundle: Bundle, story: Story, lots: Sequence[LotResult]) -> CostResult:
    """Rental of the lots that began, declared expenses, and recorded ones; an expense recorded under a declared name stands in its place."""
    rental = tuple(_rental(bundle, lots))
    recorded = tuple(_recorded(story))
    names = {line.what for line in recorded}
    declared = (line for line in _declared(bundle) if line.what not in names)
    expenses = (*declared, *recorded)
    campaign = bundle.block("campaign")
    rates = _rates(campaign)
    return CostResult(
        rental=_together(bundle, (line.amount for line in rental)),
        expenses=_together(bundle, (line.amount for line in expenses)),
        total=_together(bundle, (line.amount for line in (*rental, *expenses))),
        lines=(*rental, *expenses),
        planned_total=_planned(bundle, ("lots", "expenses")),
        limit=money(bundle.block("budget").get("limit")),
        tax=_tax(bundle),
        rates=tuple(
            f"1 {name} = {rate}" + (f" ({campaign['rates_source']})" if campaign.get("rates_source") else "")
            for name, rate in rates.items()
        ),
    )


def ratios_of(bundle: Bundle, costs: CostResult, deliverables: Sequence[DeliverableResult]) -> tuple[RatioResult, ...]:
    """Each declared ratio, over the distinct corpora or runs that have an accepted deliverable."""
    return tuple(_ratio(bundle, costs, deliverables, block) for block in bundle.blocks("ratios"))


def _ratio(
    bundle: Bundle, costs: CostResult, deliverables: Sequence[DeliverableResult], block: Mapping[str, Any]
) -> RatioResult:
    per = tuple(str(name) for name in block["per"])
    counted = [deliverable for deliverable in deliverables if deliverable.name in per]
    corpus = {run.name: run.corpus for run in bundle.plan.runs}
    by_run = block.get("distinct") == "run"
    # Runs that declare no corpus may all have read the same one: together they count once.
    count = len(
        {deliverable.run if by_run else corpus.get(deliverable.run) for deliverable in counted if deliverable.accepted}
    )
    cost = {"rental": costs.rental, "expenses": costs.expenses}.get(str(block["cost"]), costs.total)
    expected = block.get("expect")
    return RatioResult(
        name=str(block["name"]),
        cost_of=block["cost"],
        cost=cost,
        per=per,
        distinct="run" if by_run else "corpus",
        count=count,
        value=Money(cost[0].amount / count, cost[0].currency) if count and len(cost) == 1 else None,
        expected_count=expected,
        expected_value=_expected(bundle, str(block["cost"]), expected),
        if_none=str(block["if_none"]),
        reasons=() if count else _reasons(counted),
    )


def _expected(bundle: Bundle, which: str, count: Any) -> Money | None:
    """The ratio that the plan expected."""
    if not isinstance(count, int) or count <= 0:
        return None
    kinds = {"rental": ("lots",), "expenses": ("expenses",)}.get(which, ("lots", "expenses"))
    planned = _planned(bundle, kinds)
    return Money(planned[0].amount / count, planned[0].currency) if len(planned) == 1 else None


def _planned(bundle: Bundle, kinds: Iterable[str]) -> tuple[Money, ...]:
    blocks = [block for kind in kinds for block in bundle.blocks(kind)]
    return _together(
        bundle, (amount for block in blocks if (amount := money(block.get("price") or block.get("amount"))))
    )


def _together(bundle: Bundle, amounts: Iterable[Money]) -> tuple[Money, ...]:
    """Their sum in the campaign's currency where the declared rates reach it, else one amount a currency."""
    campaign = bundle.block("campaign")
    currency = campaign.get("currency")
    return total(amounts, _rates(campaign), currency if isinstance(currency, str) else None)


def _reasons(deliverables: Sequence[DeliverableResult]) -> tuple[str, ...]:
    if not deliverables:
        return ("No deliverable that it counts was declared for any run.",)
    return tuple(
        f"{deliverable.name} of {deliverable.run_id}: {'; '.join(deliverable.reasons)}" for deliverable in deliverables
    )


def _rental(bundle: Bundle, lots: Sequence[LotResult]) -> Iterable[CostLine]:
    for lot, block in zip(lots, bundle.blocks("lots"), strict=False):
        package = block.get("package") or {}
        amount = billed(package, lot) if package.get("rate") else lot.price
        # A lot that hasn't begun, as far as the record goes, has cost nothing yet.
        if amount is not None and lot.start is not None:
            yield CostLine(
                what=lot.name, covers=lot.package, amount=amount, kind="rental", recorded=bool(package.get("rate"))
            )


def billed(package: Mapping[str, Any], lot: LotResult) -> Money | None:
    """What the observed reserved time of a lot billed by time costs, rounded up to its increment; None where no time is recorded."""
    rate = package.get("rate")
    if not isinstance(rate, dict) or lot.start is None:
        return None
    per = _number(rate.get("per_s")) or _number(rate.get("per")) or 3600
    price = money(rate) or money(rate.get("money")) or money(rate.get("price"))
    end = lot.released if lot.released is not None else lot.last_end
    if price is None or end is None:
        return None
    increment = _number(rate.get("increment_s")) or _number(package.get("increment_s")) or Fraction(1)
    minimum = _number(rate.get("minimum_s")) or _number(package.get("minimum_s")) or Fraction(0)
    held = max(Fraction(str(round(end - lot.start, 3))), minimum)
    return price * (-(-held // increment) * increment / per)


def _declared(bundle: Bundle) -> Iterable[CostLine]:
    for block in bundle.blocks("expenses"):
        amount = money(block.get("amount"))
        if amount is not None:
            yield CostLine(
                what=str(block.get("name")),
                covers=block.get("covers"),
                amount=amount,
                kind="expense",
                estimate=block.get("estimate", True) is not False,
            )


def _recorded(story: Story) -> Iterable[CostLine]:
    for record in story.of("expense"):
        amount = money(record.more.get("amount"))
        if amount is not None:
            covers = record.more.get("covers") or record.reason
            name = record.more.get("name") or covers or "expense"
            yield CostLine(
                what=str(name),
                covers=str(covers) if covers else None,
                amount=amount,
                kind="expense",
                estimate=record.more.get("estimate") is True,
                recorded=True,
            )


def _rates(campaign: Mapping[str, Any]) -> dict[str, Money]:
    found = campaign.get("rates") or {}
    return {name: rate for name, value in sorted(found.items()) if (rate := money(value)) is not None}


def _tax(bundle: Bundle) -> str:
    said = {str((block.get("package") or {}).get("tax") or "unknown") for block in bundle.blocks("lots")} or {"unknown"}
    return said.pop() if len(said) == 1 else "mixed"


def _number(value: Any) -> Fraction | None:
    return (
        Fraction(str(value)) if isinstance(value, (int, float)) and not isinstance(value, bool) and value > 0 else None
    )
