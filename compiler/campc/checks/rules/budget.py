"""C405, C408: a budget, and an alert that can tell something."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from campc.checks.facts import campaign_line, in_budget
from campc.checks.registry import rule
from campc.checks.words import head
from campc.diagnostic import Diagnostic, Note
from campc.schedule.plan import Plan
from campc.values.money import Money
from campc.values.quantities import Share


@rule("C405", absence=True)
def no_budget(plan: Plan) -> Iterator[Diagnostic]:
    """No budget, or no alert.

    A budget says how much the answer may cost before anybody wants to know it badly; an alert says when to look.

    Bad:
        tier essential { window control { kind = train; on = box; takes = 10h; run = control } }

    Good:
        budget { limit = 60 USD; alert = 48 USD }
        tier essential { window control { kind = train; on = box; takes = 10h; run = control } }
    """
    spec = plan.spec
    if not spec.declared or not (spec.lots or spec.expenses):
        return
    total = plan.costs.total[0] if len(plan.costs.total) == 1 else None
    if spec.budget is None:
        said = (
            f": {total} are committed, and nothing bounds what follows"
            if total is not None
            else ": nothing bounds what may be spent"
        )
        yield Diagnostic(
            "C405", campaign_line(spec), f"there is no budget{said}", help=f"add budget {{ {_suggestion(total)} }}"
        )
    elif spec.budget.alert is None and "alert" not in spec.budget.broken:
        limit = spec.budget.limit
        committed = in_budget(plan, spec.budget, from_the_start=True)
        example = "80%"
        if limit is not None and committed is not None and committed.amount > limit.amount * Fraction(4, 5):
            example = (
                f"{committed}".replace(",", "_") if committed.amount <= limit.amount else f"{limit}".replace(",", "_")
            )
        yield Diagnostic(
            "C405",
            spec.budget.head,
            "the budget has no alert: nothing tells when to look",
            help=f"add alert = {example}",
        )


def _suggestion(total: Money | None) -> str:
    if total is None or not total.amount:
        return "limit = 100 USD; alert = 80%"
    alert = -(-total.amount // 1)
    return f"limit = {-(-alert * 5 // 4)} {total.currency}; alert = {alert} {total.currency}"


@rule("C408")
def useless_alert(plan: Plan) -> Iterator[Diagnostic]:
    """The alert lies above the limit, or below what is committed from the start.

    Above the limit it comes too late; below what the lots cost when they begin it comes at once, and then nobody looks any more.

    Bad:
        budget { limit = 60 USD; alert = 40 USD }
        tier essential { window control { kind = train; on = box; takes = 10h; run = control } }

    Good:
        budget { limit = 60 USD; alert = 50 USD }
        tier essential { window control { kind = train; on = box; takes = 10h; run = control } }
    """
    budget = plan.spec.budget
    if budget is None or budget.limit is None or budget.alert is None:
        return
    limit = budget.limit
    match budget.alert:
        case Share(fraction=fraction):
            alert, said = limit * fraction, f"{budget.alert} of {limit}, {limit * fraction}"
        case Money() as alert if alert.currency == limit.currency:
            said = f"{alert}"
        case _:
            return
    committed = in_budget(plan, budget, from_the_start=True)
    at = head(budget.place("alert"))
    if alert.amount > limit.amount:
        yield Diagnostic(
            "C408",
            at,
            f"the alert is at {said}, and the limit is {limit}: {Money(alert.amount - limit.amount, limit.currency)} above it",
            (Note(head(budget.place("limit")), "the limit"),),
            help="write an alert below the limit, such as 80%",
        )
    elif committed is not None and alert.amount < committed.amount <= limit.amount:
        lots = [
            Note(plan.spec.lots[name].head, f"{a.price}") for name, a in plan.accounts.items() if a.price is not None
        ]
        yield Diagnostic(
            "C408",
            at,
            f"the alert is at {said}, and {committed} are committed from the start: it comes at once",
            tuple(lots[:3]),
            help=f"write an alert between {committed} and {limit}"
            if committed.amount < limit.amount
            else f"write alert = 100%: all of {limit} is committed",
        )
