"""The first half page of the closeout: the answer, the cost, what was accepted, what to do better."""

from __future__ import annotations

from collections.abc import Iterable

from campc.closeout.model import Closeout
from campc.report import words
from campc.report.blocks import Cover, Inline, KeyFigure, Paragraph, Strong
from campc.report.close_results import ratio_words
from campc.report.close_view import CloseView


def cover(view: CloseView) -> Cover:
    closeout = view.closeout
    remarks = list(closeout.remarks)
    if not closeout.plan_intact:
        remarks.insert(0, "The plan in the bundle was changed after it was built.")
    return Cover(
        kind="Campaign closeout",
        title=closeout.verdict,
        lead=_lead(closeout),
        verdict=_state(closeout),
        verdict_look=_look(closeout),
        verdict_text=(_accepted(view),),
        figures=_figures(closeout),
        paragraphs=tuple(
            Paragraph(text) for text in (_cost(view), _time(view), _files(view), _next(view), _plan(closeout)) if text
        ),
        blanks=("Accepted by", "Signature", "Date"),
        remarks=tuple(remarks),
    )


def _lead(closeout: Closeout) -> tuple[Inline, ...]:
    parts = [words.sentence(closeout.question)] if closeout.question else []
    parts += [
        words.sentence(outcome.found) for outcome in closeout.outcomes if outcome.found and outcome.holds is not None
    ]
    parts += [
        f"{words.sentence('; '.join(outcome.missing))[:-1]}: undecided."
        for outcome in closeout.outcomes
        if outcome.missing
    ]
    return (" ".join(dict.fromkeys(_capital(part) for part in parts)),)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _state(closeout: Closeout) -> str:
    if closeout.undecided:
        return "Undecided"
    if closeout.deliverables and not closeout.accepted:
        return "Nothing accepted"
    return "Decided" if closeout.outcomes else "Closed"


def _look(closeout: Closeout) -> str:
    if closeout.deliverables and not closeout.accepted:
        return "bad"
    return "plain" if closeout.undecided or not closeout.essential_accepted else "good"


def _accepted(view: CloseView) -> str:
    closeout = view.closeout
    if not closeout.deliverables:
        return "No deliverable was declared."
    accepted = [item for item in closeout.deliverables if item.accepted]
    text = f"Accepted {len(accepted)} of {words.plural(len(closeout.deliverables), 'deliverable')}"
    reloaded = sum(item.reload == "passed" for item in accepted)
    tried = [item for item in accepted if item.reload != "not declared"]
    if tried and reloaded == len(tried):
        text += f", {'all' if len(tried) == len(accepted) else reloaded} of them reloaded"
    elif tried:
        text += f", {reloaded} of {len(tried)} that can be were reloaded"
    return f"{text}. {_rejected(view)}".strip()


def _rejected(view: CloseView) -> str:
    grouped: dict[str, list[str]] = {}
    for item in view.rejected:
        grouped.setdefault("; ".join(item.reasons) or "no reason recorded", []).append(view.of(item))
    parts = [f"{_few(names, 3)}: {reason}" for reason, names in grouped.items()]
    if not parts:
        return ""
    more = f"; and for {len(parts) - 3} more reasons (section 1)" if len(parts) > 3 else ""
    return f"Rejected: {'; '.join(parts[:3])}{more}."


def _few(names: Iterable[str], count: int) -> str:
    items = list(names)
    return (
        words.listing(items)
        if len(items) <= count
        else f"{', '.join(items[: count - 1])} and {len(items) - count + 1} more"
    )


def _figures(closeout: Closeout) -> tuple[KeyFigure, ...]:
    figures = [
        KeyFigure(
            words.amounts(closeout.costs.total, "nothing"),
            "rental" if not closeout.costs.expenses else "rental and expenses",
        )
    ]
    if closeout.deliverables:
        look = "" if closeout.accepted else "bad"
        figures.append(KeyFigure(f"{closeout.accepted} of {len(closeout.deliverables)}", "deliverables accepted", look))
    for ratio in closeout.ratios[:1]:
        value = (
            "undefined" if not ratio.defined else words.money(ratio.value) if ratio.value is not None else "not divided"
        )
        unit = "corpus" if ratio.distinct == "corpus" else "run"
        figures.append(KeyFigure(value, f"{ratio.cost_of} per accepted {unit}", "" if ratio.defined else "bad"))
    figures.append(
        KeyFigure(
            words.about(closeout.observed),
            f"observed, {words.about(closeout.planned)} planned" if closeout.windows else "observed, nothing planned",
        )
    )
    return tuple(figures)


def _cost(view: CloseView) -> tuple[Inline, ...]:
    costs = view.closeout.costs
    tax = {"included": "tax included", "excluded": "tax not included", "mixed": "tax stated in part"}.get(
        costs.tax, "tax not stated"
    )
    parts: list[Inline] = [
        Strong(f"Cost: {words.amounts(costs.rental)} rental" if costs.rental else "Cost: no rental"),
        f"; other expenses: {words.amounts(costs.expenses, 'none recorded')}; {tax}.",
    ]
    for ratio in view.closeout.ratios:
        only = {"rental": "rental only", "expenses": "expenses only", "total": "all costs"}[ratio.cost_of]
        if ratio.defined:
            parts.append(f" {_capital(ratio_words(ratio))}, {only}.")
        else:
            parts += [" ", Strong("Cost per result: undefined."), f" {words.sentence(ratio.if_none)}"]
            if ratio.reasons:
                parts.append(f" {_capital(_few(ratio.reasons, 3))}.")
    return tuple(parts)


def _time(view: CloseView) -> tuple[Inline, ...]:
    closeout = view.closeout
    if closeout.observed is None:
        parts = ["No time is recorded."]
    else:
        parts = [f"{words.about(closeout.observed)} observed, {words.about(closeout.planned)} planned"]
        largest = view.largest_deviation
        if largest is not None and largest.deviation:
            parts.append(f"; largest deviation {words.spelled(largest.name)}, {words.signed(largest.deviation)}")
        parts.append(".")
    losses = closeout.losses
    if losses.interruptions:
        parts.append(f" Lost to interruptions: {words.about(losses.lost)} in {losses.interruptions}.")
    else:
        parts.append(" Nothing was interrupted.")
    if view.unrecorded:
        parts.append(f" Not recorded: {words.listing(view.unrecorded)}.")
    return ("".join(parts),)


def _files(view: CloseView) -> tuple[Inline, ...]:
    closeout = view.closeout
    parts = []
    for lot in closeout.lots:
        of = f" {lot.name}" if len(closeout.lots) > 1 else ""
        if lot.released is not None:
            proof = "evidence attached" if lot.release_evidence else "without evidence"
            parts.append(f"Released{of} {view.when(lot.released)}, {proof}.")
        else:
            parts.append(f"Release{of}: not recorded.")
    kept = [copy.to for copy in closeout.copies if copy.ok]
    parts.append(
        f"Files: {_few(dict.fromkeys(kept), 2) if kept else 'no copy recorded'}; keeper: {closeout.keeper or words.NOT_STATED}."
    )
    return (" ".join(parts),)


def _next(view: CloseView) -> tuple[Inline, ...]:
    closeout = view.closeout
    wrong = [item for item in closeout.measured if item.held is False]
    open_ = [words.spelled(item.name) for item in closeout.unknowns if not item.settled]
    parts: list[Inline] = []
    if wrong:
        parts += [
            Strong("Next time: "),
            "; ".join(f"{item.what} {item.measured}, planned {item.assumed}" for item in wrong[:3]) + ". ",
        ]
    if open_:
        parts += [Strong("Still unknown: "), f"{words.listing(open_)}."]
    elif closeout.unknowns:
        parts.append("Every declared unknown is settled.")
    return tuple(parts)


def _plan(closeout: Closeout) -> tuple[Inline, ...]:
    if closeout.plan_intact:
        return (Strong("The plan is unchanged ✓"), f" ({closeout.plan_hash[:12]})")
    return (Strong("The plan was changed."), f" It was built as {closeout.plan_hash[:12]}.")
