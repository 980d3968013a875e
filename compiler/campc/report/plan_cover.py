"""The first half page of the plan: does it fit, what does it cost, when is it over, what if."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from campc.report import words
from campc.report.blocks import Cover, Inline, KeyFigure, Paragraph, Quiet, Strong
from campc.report.plan_launch import chance_words
from campc.report.plan_view import PlanView, tax_words
from campc.report.whatif import Drop
from campc.schedule.plan import Account, Risk

LOTS_AT_MOST = 3
"""Lots whose accounts the first page tells one by one."""
SPELLED_OUT_AT_MOST = 14
"""Windows that the first page names one by one."""


def cover(view: PlanView, drops: Sequence[Drop], risk: Risk | None) -> Cover:
    campaign = view.spec.campaign
    lead: list[Inline] = [words.sentence(campaign.decision) if campaign.decision else "The decision is not stated."]
    if campaign.if_negative:
        lead.append(f" Otherwise: {words.sentence(campaign.if_negative)}")
    paragraphs = [Paragraph(_schedule(view)), Paragraph(_room(view, drops)), Paragraph(_unknown(view))]
    tips = _tips(view)
    if tips:
        paragraphs.append(Paragraph((Strong("Tip: "), tips)))
    return Cover(
        kind="Campaign plan",
        title=campaign.question or words.spelled(campaign.name),
        lead=tuple(lead),
        verdict=_verdict(view),
        verdict_look="good" if view.fits and not view.short and not view.late else "bad",
        verdict_text=_verdict_text(view, risk),
        figures=_figures(view),
        paragraphs=tuple(paragraphs),
        blanks=(f"Owner: {campaign.owner}" if campaign.owner else "Owner", _approved(view), "Signature", "Date"),
    )


def _approved(view: PlanView) -> str:
    currencies = {money.currency for money in view.plan.costs.total}
    return f"Approved up to, in {currencies.pop()}" if len(currencies) == 1 else "Approved up to"


def _verdict(view: PlanView) -> str:
    if not view.fits:
        return "Does not fit"
    if view.late:
        return "Too late"
    if view.short:
        return "Too little kept free"
    if not view.accounts:
        return "No lot"
    return "Fits" if any(account.usable_end is not None for account in view.accounts) else "Billed by time"


def _account(account: Account, several: bool) -> str:
    where = f" on {account.lot}" if several else ""
    if account.usable_end is None:
        return f"{words.span(account.reserved)}{where}, billed by time"
    whole = account.usable_end - account.start
    rest = f"{words.span(account.overrun)} over" if account.overrun else f"{words.span(account.uncommitted)} free"
    return f"{_of(account.reserved, whole)}{where}, {rest}"


def _of(part: Fraction, whole: Fraction) -> str:
    """``48 of 72 h`` where both are whole hours, else each with its unit."""
    first, second = words.span(part), words.span(whole)
    unit = second.rpartition(words.NBSP)[2]
    if first.count(words.NBSP) == second.count(words.NBSP) == 1 and first.endswith(f"{words.NBSP}{unit}"):
        first = first.rpartition(words.NBSP)[0]
    return words.glued(f"{first} of {second}")


def _verdict_text(view: PlanView, risk: Risk | None) -> tuple[Inline, ...]:
    accounts = view.accounts
    if not accounts:
        return ("Only people's time is planned. No lot is rented.",)
    fit = "; ".join(_account(account, len(accounts) > 1) for account in accounts)
    if len(accounts) > LOTS_AT_MOST:
        over = [account.lot for account in accounts if account.overrun]
        which = f"over on {words.few(over, 3, 'lot')}" if over else "none over its usable end"
        fit = f"{len(accounts)} lots, {which}"
    total = words.amounts(view.plan.costs.total)
    how = "whatever the result" if view.all_prepaid else "as planned; lots billed by time cost what they take"
    taxes = {package.tax for lot in view.spec.lots.values() if (package := view.spec.package_of(lot)) is not None}
    parts: list[Inline] = [
        f"{fit}. ",
        Strong(f"Commits {total}"),
        f"{_apart(view)}{_within(view)}, {how}; {tax_words(taxes)}. ",
    ]
    if risk is not None and risk.tiers:
        parts.append(
            "Chance of ending in time: "
            + ", ".join(f"{tier.name} {words.chance(tier.p_finish)}" for tier in risk.tiers)
            + "."
        )
    else:
        parts.append(chance_words(view))
    return tuple(parts)


def _within(view: PlanView) -> str:
    limit = view.spec.budget.limit if view.spec.budget is not None else None
    return f" of a budget of {words.money(limit)}" if limit is not None else ""


def _apart(view: PlanView) -> str:
    """The expenses that are part of what is committed, named apart from the rental."""
    expenses = view.plan.costs.expenses
    if not expenses:
        return ""
    estimated = any(expense.estimate for expense in view.spec.expenses.values())
    return f" ({words.amounts(expenses)} of it other expenses{', estimated' if estimated else ''})"


def _figures(view: PlanView) -> tuple[KeyFigure, ...]:
    figures = []
    accounts = view.accounts
    if len(accounts) == 1:
        account = accounts[0]
        whole = account.usable_end - account.start if account.usable_end is not None else None
        reserved = _of(account.reserved, whole) if whole is not None else words.span(account.reserved)
        figures.append(KeyFigure(reserved, "reserved" if whole is not None else "reserved, billed by time"))
        keep = view.spec.lots[account.lot].keep_free.seconds
        if account.overrun:
            figures.append(KeyFigure(words.span(account.overrun), "over the usable end", "bad"))
        elif account.uncommitted is not None:
            kept = f", {words.span(keep)} to be kept free" if keep else ""
            figures.append(KeyFigure(words.span(account.uncommitted), f"uncommitted{kept}"))
    elif accounts:
        figures.append(
            KeyFigure(
                words.plural(len(accounts), "lot"),
                f"{words.span(sum((a.reserved for a in accounts), Fraction(0)))} reserved in all",
            )
        )
        over = sum((a.overrun for a in accounts), Fraction(0))
        free = [a.uncommitted for a in accounts if a.uncommitted is not None]
        if over:
            figures.append(KeyFigure(words.span(over), "over the usable ends", "bad"))
        elif free:
            figures.append(KeyFigure(words.span(min(free)), "uncommitted on the fullest lot"))
    figures.append(
        KeyFigure(
            words.amounts(view.plan.costs.total, "nothing"),
            "committed, " + ("once" if view.all_prepaid else "as planned"),
        )
    )
    end = view.plan.end
    ends = view.when(end) if view.plan.start is not None else words.span(end)
    figures.append(
        KeyFigure(ends, "the last window ends" if view.plan.start is not None else "after the first launch it ends")
    )
    return tuple(figures)


def _schedule(view: PlanView) -> tuple[Inline, ...]:
    placements = list(view.plan.placements.values())
    if not placements:
        return ("No window is planned.",)
    start, end = placements[0].start, view.plan.end
    taken = _taken(view)
    closing: list[Inline] = [Strong(f"ends {view.when(end)}"), f".{taken}{_deadline(view)}"]
    if len(placements) > SPELLED_OUT_AT_MOST:
        tiers = []
        for name in view.spec.tiers:
            ends = [
                placement.end for placement in placements if placement.window.tier == name and not placement.window.last
            ]
            if ends:
                tiers.append(f"{name} by {view.when(max(ends))}")
        placed = view.plan.placements
        gates = [
            f"{words.spelled(g.name)} at {view.when(placed[g.after].end)}"
            for g in view.spec.gates.values()
            if g.after is not None and g.after in placed
        ]
        text = f"{view.when(start)}: {words.plural(len(placements), 'window')}, {words.listing(tiers)}"
        if gates:
            text += f"; {words.plural(len(gates), 'decision point')}: {words.listing(gates[:4])}{' and more' if len(gates) > 4 else ''}"
        return (Strong(view.when(start)), text.removeprefix(view.when(start)) + "; ", *closing)
    parts: list[Inline] = [Strong(view.when(start)), " "]
    for index, placement in enumerate(placements):
        people = " (people)" if placement.window.on is None else ""
        parts.append(
            f"{', ' if index else ''}{words.spelled(placement.name)} {words.span(placement.interval.length)}{people}"
        )
        for _ in view.gates_after(placement.name):
            parts += [", ", Strong(f"decision point {view.clock_only(placement.end, start)}")]
    return (*parts, "; ", *closing)


def _deadline(view: PlanView) -> str:
    moment, left = view.spec.campaign.deadline, view.before_deadline
    if moment is None or left is None:
        return ""
    apart = (
        f"{words.span(left)} after the last window ends"
        if left >= 0
        else f"{words.span(-left)} before the last window ends"
    )
    return f" The answer is needed by {words.when(moment, view.zone)}, {apart}."


def _taken(view: PlanView) -> str:
    ends = [(account.lot, account.usable_end) for account in view.accounts if account.usable_end is not None]
    if not ends:
        return ""
    if len(ends) == 1:
        early = view.package(ends[0][0])
        verb = "is taken" if early is None or not early.ends_early.seconds else "is taken early,"
        return f" The machine {verb} {_at(view, ends[0][1])}."
    if len(ends) > LOTS_AT_MOST:
        return f" The first of {len(ends)} machines is taken {_at(view, min(end for _, end in ends))}."
    return " Taken: " + words.listing(f"{lot} {_at(view, end)}" for lot, end in ends) + "."


def _at(view: PlanView, seconds: Fraction) -> str:
    return f"on {view.when(seconds)}" if view.plan.start is not None else f"{words.span(seconds)} after the start"


def _room(view: PlanView, drops: Sequence[Drop]) -> tuple[Inline, ...]:
    parts: list[str] = []
    for drop in drops[:2]:
        gone = words.few((words.spelled(name) for name in drop.windows), 5, "window")
        text = f"If {words.spelled(drop.gate)} says reduce: drop {gone}"
        if drop.plan is not None:
            saved = _saving(view, drop)
            text += f", end {_ending(view, drop.plan.end)}, {saved}"
        parts.append(f"{text}.")
    if len(drops) > 2:
        parts.append(f"{words.plural(len(drops) - 2, 'further decision point')} may drop something, too (section 1).")
    for account in view.accounts:
        if account.uncommitted:
            where = f" on {account.lot}" if len(view.accounts) > 1 else ""
            parts.append(f"Anything beyond {words.span(account.uncommitted)} more{where} does not fit.")
        elif account.overrun:
            parts.append(f"{account.lot} is over by {words.span(account.overrun)}.")
    following = view.next_package()
    if following is not None:
        package = view.spec.packages.get(following.package)
        length = (
            words.days(package.duration.seconds)
            if package is not None and package.duration is not None
            else following.package
        )
        verb = "costs" if length.endswith("1 day") else "cost"
        parts.append(f"{length.capitalize()} {verb} {words.money(following.price)} ({following.package}).")
    return (" ".join(parts) or "No decision point gives anything up.",)


def _ending(view: PlanView, end: Fraction) -> str:
    return f"at {words.span(end)}" + (f" ({view.when(end)})" if view.plan.start is not None else "")


def _saving(view: PlanView, drop: Drop) -> str:
    if drop.plan is None:
        return ""
    before, after = view.plan.costs.rental, drop.plan.costs.rental
    if before == after:
        return "saves no money (prepaid)" if view.all_prepaid else "saves no money"
    if len(before) == len(after) == 1 and before[0].currency == after[0].currency:
        from campc.values.money import Money

        return f"saves {words.money(Money(before[0].amount - after[0].amount, before[0].currency))}"
    return f"rental then {words.amounts(after)}"


def _unknown(view: PlanView) -> tuple[Inline, ...]:
    questions = [words.spelled(unknown.name) for unknown in view.spec.unknowns.values()]
    if not questions:
        return (Strong("Unknown: "), Quiet("nothing is declared as unknown."))
    shown = questions if len(questions) <= 6 else [*questions[:5], f"{len(questions) - 5} more"]
    return (Strong("Unknown: "), f"{words.listing(shown)} (section 10).")


def _tips(view: PlanView) -> str:
    tips = []
    for lot, idle in view.idle_before_work():
        tips.append(f"prepare before the rental of {lot} begins and regain {words.span(idle)}")
    return f"{words.listing(tips)}." if tips else ""
