"""Sections 4, 7 and 8 of the plan: packages compared; the budget; deliverables and what they cost."""

from __future__ import annotations

from collections.abc import Sequence

from campc.report import words
from campc.report.blocks import (
    Block,
    Cell,
    Items,
    Paragraph,
    Row,
    Section,
    Strong,
    Table,
    code,
    columns,
    number,
    quiet,
    row,
)
from campc.report.plan_view import PlanView, package_words, tax_words
from campc.schedule.plan import PackageRow
from campc.schema.results import Ratio
from campc.values.money import Money, MoneyRate
from campc.values.quantities import Share


def packages(view: PlanView) -> Section:
    """The schedule on every known package of the same GPU; no price per hour is made out of a price for a period."""
    blocks: list[Block] = []
    if view.plan.packages:
        rows = tuple(_package(view, line) for line in view.plan.packages)
        heads = columns(
            "Package",
            "What it is",
            "#Price",
            "#Reserved",
            "#Uncommitted",
            "#Over",
            "Covers the schedule",
            "Source of the price",
        )
        tail = "The schedule is placed again on one lot of each package of the same GPU, begun at the same time; covering includes what is to be kept free."
        blocks.append(Table("packages-table", "Packages compared; the chosen one in bold", heads, rows, tail))
    else:
        blocks.append(Paragraph("No package of the same GPU is known to compare with."))
    blocks.append(Paragraph(_two_lots(view)))
    return Section("packages", "Packages compared", tuple(blocks), 4)


def _package(view: PlanView, line: PackageRow) -> Row:
    package = view.spec.packages.get(line.package)
    fits = Cell("yes", "good") if line.covers else Cell("no", "bad")
    return row(
        code(line.package, "chosen" if line.chosen else ""),
        Cell(package_words(package), note=f"{package.vendor}" if package is not None and package.vendor else ""),
        number(words.money(line.price)),
        number(words.span(line.reserved)),
        number(words.span(line.uncommitted)) if line.uncommitted is not None else quiet("billed by time"),
        number(words.span(line.overrun)) if line.overrun else quiet("—"),
        fits,
        Cell(package.source) if package is not None and package.source else quiet(words.NOT_STATED),
        emphasis=line.chosen,
    )


def _two_lots(view: PlanView) -> str:
    lots = len(view.spec.lots)
    opening = "This plan uses one lot." if lots == 1 else f"This plan uses {lots} lots."
    further = "A further lot is a further machine: independent variants can run on it side by side"
    return f"{opening} {further}, but no single run gets shorter, and memories are not merged."


def budget(view: PlanView) -> Section:
    """Rental, expenses and total by currency, against the limit."""
    spec, costs = view.spec, view.plan.costs
    rows = []
    for account in view.accounts:
        package = view.package(account.lot)
        billed = package is not None and isinstance(package.price, MoneyRate)
        what = (
            f"{words.span(account.reserved)} at {words.money(package.price)}"
            if billed and package is not None
            else package_words(package)
        )
        tax = f"tax {package.tax}" if package is not None and package.tax != "unknown" else "tax not stated"
        rows.append(row(code(account.lot), Cell("rental"), Cell(what, note=tax), number(words.money(account.price))))
    for expense in spec.expenses.values():
        note = "estimate" if expense.estimate else "fixed"
        rows.append(
            row(
                code(expense.name),
                Cell("expense"),
                Cell(expense.covers or words.NOT_STATED, note=note),
                number(words.money(expense.amount)),
            )
        )
    sums: list[tuple[str, Sequence[Money]]] = [
        ("Rental", costs.rental),
        ("Other expenses", costs.expenses),
        ("Committed in all", costs.total),
    ]
    for label, values in sums:
        rows.append(row(label, "", "", number(words.amounts(values)), emphasis=label == "Committed in all"))
    blocks: list[Block] = [
        Table("costs-table", "What is committed", columns("Item", "Kind", "*What for", "#Amount"), tuple(rows))
    ]
    blocks.append(Items(tuple(_limits(view))))
    return Section("budget", "Budget", tuple(blocks), 7)


def _limits(view: PlanView) -> list[str]:
    budget, campaign = view.spec.budget, view.spec.campaign
    lines = []
    if budget is None:
        lines.append("Budget limit: not stated.")
    else:
        lines.append(f"Budget limit: {words.money(budget.limit)}.")
        if budget.alert is None:
            lines.append("Alert: not stated.")
        elif isinstance(budget.alert, Share) and budget.limit is not None:
            at = budget.limit * budget.alert.fraction
            lines.append(f"Alert at {words.money(at)}, {budget.alert} of the limit.")
        else:
            lines.append(f"Alert at {budget.alert}.")
    if view.spec.lots and view.all_prepaid:
        lines.append(
            "The rental has one price for its period: it is spent when the lot begins, however much of it is used."
        )
    if campaign.rates:
        rates = words.listing(f"1 {currency} = {money}" for currency, money in campaign.rates.items())
        lines.append(f"Rates declared: {rates}; source: {campaign.rates_source or words.NOT_STATED}.")
    taxes = {package.tax for lot in view.spec.lots.values() if (package := view.spec.package_of(lot)) is not None}
    lines.append(f"{tax_words(taxes).capitalize()}; no tax is computed.")
    return lines


def deliverables(view: PlanView) -> Section:
    """What must come out, how it is accepted, and the ratio of cost to it."""
    blocks: list[Block] = []
    rows = []
    for item in view.spec.deliverables.values():
        rows.append(
            row(
                code(item.name, item.kind),
                code(", ".join(item.of)),
                code(item.path or words.NOT_STATED),
                code(item.accept.text) if item.accept is not None else quiet("that it exists and isn't empty"),
                code(item.reload) if item.reload else quiet("not required"),
            )
        )
    if rows:
        heads = columns("Deliverable", "Of", "Path", "*Accepted where", "*Reloaded by")
        tail = "An existing file that isn't empty is always required. With a reload command, accepted means reloaded in a new process, from another folder."
        blocks.append(Table("deliverables-table", "Deliverables and their acceptance", heads, tuple(rows), tail))
    else:
        blocks.append(Paragraph("No deliverable is declared."))
    for ratio in view.spec.ratios.values():
        blocks.append(_ratio(view, ratio))
    if not view.spec.ratios:
        blocks.append(Paragraph("No ratio of cost to result is declared, so none is given."))
    return Section("deliverables", "Deliverables and ratio", tuple(blocks), 8)


def _ratio(view: PlanView, ratio: Ratio) -> Paragraph:
    planned = next((line for line in view.plan.ratios if line.name == ratio.name), None)
    what = {"rental": "Rental", "expenses": "Other expenses", "total": "Total cost"}.get(ratio.cost or "", "Cost")
    head = f"{what} per {'distinct corpus' if ratio.distinct == 'corpus' else 'run'} with an accepted {words.listing(ratio.per, 'or')}: "
    if planned is None or not planned.defined:
        value = "undefined as planned"
    elif planned.expected is None:
        value = (
            "not computed, because the cost has several currencies"
            if planned.count
            else "not computed, because no number is expected"
        )
    else:
        value = f"{words.money(planned.expected)} if {planned.count} are accepted"
    return Paragraph((head, Strong(value), f". If none is: undefined. {words.sentence(ratio.if_none)}"))
