"""C401 to C404: ratios, currencies, budget."""

from __future__ import annotations

from collections.abc import Iterator

from campc.checks.registry import rule
from campc.checks.words import head, listed
from campc.diagnostic import Diagnostic, Note
from campc.schedule.account import summed
from campc.schedule.make import can_be_accepted, cost_of
from campc.schedule.plan import Plan
from campc.values.money import Money


@rule("C401")
def undefined_ratio(plan: Plan) -> Iterator[Diagnostic]:
    """A cost ratio over nothing that could ever be accepted.

    A cost per accepted result needs results that can be accepted: a deliverable with an acceptance check, and more than none expected. Otherwise the
    ratio can only ever be undefined.

    Bad:
        deliverable scored { of = control; path = "scored.jsonl" }
        ratio per_corpus { cost = rental; per = scored; if_none = "State the rental and why it was rejected." }

    Good:
        deliverable scored { of = control; path = "scored.jsonl"; accept = rows > 0 }
        ratio per_corpus { cost = rental; per = scored; if_none = "State the rental and why it was rejected." }
    """
    for ratio in plan.spec.ratios.values():
        if ratio.broken & {"per", "expect"} or can_be_accepted(plan.spec, ratio):
            continue
        names = [f"deliverable {name}" for name in ratio.per]
        if ratio.expect == 0:
            message = f"ratio {ratio.name} expects 0 results, and nothing can be divided by none"
            help_ = "write how many are expected, or take the ratio away: the closeout states the cost in any case"
        else:
            message = f"ratio {ratio.name} counts {listed(names)}, and nothing says when one is accepted"
            help_ = f"give {listed(names)} an acceptance check, as in accept = rows > 0"
        notes = [Note(plan.spec.deliverables[name].head, "has no `accept`") for name in ratio.per if ratio.expect != 0]
        yield Diagnostic(
            "C401", ratio.place("expect") if ratio.expect == 0 else ratio.head, message, tuple(notes), help=help_
        )


@rule("C402")
def no_fallback(plan: Plan) -> Iterator[Diagnostic]:
    """A ratio that does not say what is reported when none is accepted.

    With zero accepted a ratio is undefined: not zero, not infinite. What is said then is decided before the money is spent.

    Bad:
        deliverable scored { of = control; path = "scored.jsonl"; accept = rows > 0 }
        ratio per_corpus { cost = rental; per = scored }

    Good:
        deliverable scored { of = control; path = "scored.jsonl"; accept = rows > 0 }
        ratio per_corpus { cost = rental; per = scored; if_none = "State the rental and why it was rejected." }
    """
    for ratio in plan.spec.ratios.values():
        if ratio.if_none is None and "if_none" not in ratio.broken:
            yield Diagnostic(
                "C402",
                ratio.head,
                f"ratio {ratio.name} doesn't say what is reported when none is accepted",
                help='add if_none = "State the cost incurred and why each was rejected."',
            )


@rule("C403")
def mixed_currencies(plan: Plan) -> Iterator[Diagnostic]:
    """Amounts of different currencies would have to be added.

    Dollars and euros are two totals until somebody says what one is worth in the other, and where that rate is from. A budget or a ratio in one
    currency can't hold both.

    Bad:
        expense storage { amount = 8 EUR; covers = "object storage, 30 days" }
        budget { limit = 100 USD; alert = 80% }

    Good:
        expense storage { amount = 8.64 USD; covers = "object storage, 30 days, 8 EUR at 1.08" }
        budget { limit = 100 USD; alert = 80% }
    """
    spec = plan.spec
    budget = spec.budget
    if not spec.declared or spec.campaign.broken & {"rates", "currency"}:
        return
    if budget is not None and budget.limit is not None:
        in_budget = summed(spec, [*plan.costs.total, Money(budget.limit.amount * 0, budget.limit.currency)])
        others = [m for m in in_budget if m.currency != budget.limit.currency and m.amount]
        if len(in_budget) > 1 and others:
            notes = tuple(
                Note(e.place("amount"), f"{e.amount}")
                for e in spec.expenses.values()
                if e.amount in others or _foreign(e.amount, budget.limit)
            )
            yield Diagnostic(
                "C403",
                budget.head,
                f"the budget is in {budget.limit.currency}, and {listed([str(m) for m in others])} {'is' if len(others) == 1 else 'are'} committed, too",
                notes,
                help=_rate_help(others[0].currency, budget.limit.currency),
            )
        elif isinstance(budget.alert, Money) and budget.alert.currency != budget.limit.currency:
            yield Diagnostic(
                "C403",
                budget.place("alert"),
                f"the alert is in {budget.alert.currency}, and the limit in {budget.limit.currency}",
                help="write both in one currency",
            )
    for ratio in spec.ratios.values():
        amounts = cost_of(plan.costs, ratio.cost)
        if len(amounts) > 1:
            yield Diagnostic(
                "C403",
                ratio.head,
                f"ratio {ratio.name} would have to add {listed([str(m) for m in amounts])}",
                help=_rate_help(amounts[0].currency, amounts[-1].currency),
            )


def _foreign(amount: Money | None, limit: Money) -> bool:
    return amount is not None and amount.currency != limit.currency


def _rate_help(foreign: str, home: str) -> str:
    return (
        f'say what one {foreign} is worth, in the campaign: rates = {{ {foreign} = … {home} }} and rates_source = "…"'
    )


@rule("C404")
def over_budget(plan: Plan) -> Iterator[Diagnostic]:
    """What is committed exceeds the budget.

    A lot with a price is spent when it begins, whatever comes out of it; estimates of expenses count as committed, too.

    Bad:
        expense storage { amount = 8 USD; covers = "object storage, 30 days" }
        budget { limit = 50 USD; alert = 80% }
        tier essential { window control { kind = train; on = box; takes = 10h; run = control } }

    Good:
        expense storage { amount = 8 USD; covers = "object storage, 30 days" }
        budget { limit = 60 USD; alert = 95% }
        tier essential { window control { kind = train; on = box; takes = 10h; run = control } }
    """
    spec = plan.spec
    budget = spec.budget
    if budget is None or budget.limit is None:
        return
    amounts = summed(spec, [*plan.costs.total, Money(budget.limit.amount * 0, budget.limit.currency)])
    if len(amounts) != 1 or amounts[0].currency != budget.limit.currency:
        return
    over = amounts[0].amount - budget.limit.amount
    if over <= 0:
        return
    lots = [f"{name} {account.price}" for name, account in plan.accounts.items() if account.price is not None]
    expenses = [f"{e.name} {e.amount}" for e in spec.expenses.values() if e.amount is not None]
    places = [
        Note(head(spec.lots[name].head), f"{account.price}")
        for name, account in plan.accounts.items()
        if account.price is not None
    ]
    yield Diagnostic(
        "C404",
        budget.place("limit"),
        f"{amounts[0]} are committed, and the budget is {budget.limit}: {Money(over, budget.limit.currency)} over",
        tuple(places[:4]),
        help=f"it adds up {listed([*lots, *expenses])}; drop some of it, or raise the limit",
    )
