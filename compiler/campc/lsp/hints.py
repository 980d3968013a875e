"""Inlay hints: what the compiler computed, beside what was written."""

from __future__ import annotations

from collections.abc import Iterator

from campc.checks.words import moment
from campc.lsp.words import account_line
from campc.pipeline import Compiled
from campc.source import Span


def hints(compiled: Compiled) -> Iterator[tuple[Span, str]]:
    """A text behind the name of each window and lot, and the cost behind the budget's limit."""
    plan = compiled.plan
    source = compiled.source
    for placement in plan.placements.values():
        if placement.window.at.source == source:
            text = f"{moment(plan, placement.start)} → {_until(moment(plan, placement.start), moment(plan, placement.end))}"
            yield placement.window.name_at, text
    for account in plan.accounts.values():
        lot = plan.spec.lots[account.lot]
        if lot.at.source == source:
            price = f", {account.price}" if account.price is not None else ""
            yield lot.name_at, account_line(account) + price
    budget = plan.spec.budget
    if budget is not None and budget.at.source == source and plan.costs.total:
        yield budget.value_place("limit"), f"{' and '.join(map(str, plan.costs.total))} committed"


def _until(start: str, end: str) -> str:
    """The end without the day where it is the start's."""
    return (
        end.split(" ", 1)[1]
        if " " in end and end.split(" ", 1)[0] == start.split(" ", 1)[0] and start[:1].isdigit()
        else end
    )
