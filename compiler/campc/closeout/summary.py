"""The closeout in a few lines for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from campc.closeout.model import Closeout, DeliverableResult, RatioResult
from campc.values.money import Money
from campc.values.quantities import format_duration

__all__ = ["printable", "summary"]

MOST_REJECTED = 12


def summary(closeout: Closeout) -> str:
    """Verdict, cost, what was accepted, each ratio or why it is undefined, and the largest deviation."""
    return "".join(f"{printable(line)}\n" for line in _lines(closeout))


def printable(text: str) -> str:
    """The text without control characters: another machine wrote it, and this may be a terminal."""
    return "".join(letter if letter.isprintable() else " " for letter in text)


def _lines(closeout: Closeout) -> Iterator[str]:
    yield f"{closeout.campaign}: {closeout.verdict}"
    for outcome in closeout.outcomes:
        said = "undecided" if outcome.holds is None else "holds" if outcome.holds else "does not hold"
        why = "; ".join(outcome.missing) if outcome.holds is None else outcome.found or ""
        yield f"  {outcome.name} {said}" + (f": {why}" if why else "")
    yield f"cost: {_amounts(closeout.costs.rental, 'none')} rental; expenses: {_expenses(closeout)}"
    yield from _accepted(closeout.deliverables)
    for ratio in closeout.ratios:
        yield from _ratio(ratio)
    yield from _time(closeout)
    yield from _reruns(closeout)
    for remark in closeout.remarks:
        yield f"note: {remark}"


def _amounts(amounts: Sequence[Money], nothing: str) -> str:
    return " + ".join(str(amount) for amount in amounts) or nothing


def _expenses(closeout: Closeout) -> str:
    lines = [line for line in closeout.costs.lines if line.kind == "expense"]
    if not lines:
        return "none recorded"
    open_ = sum(line.estimate and not line.recorded for line in lines)
    estimates = f" ({open_} of {len(lines)} estimated, not recorded)" if open_ else ""
    return _amounts(closeout.costs.expenses, "none") + estimates


def _accepted(deliverables: Sequence[DeliverableResult]) -> Iterator[str]:
    if not deliverables:
        yield "accepted: no deliverable was declared"
        return
    accepted = sum(deliverable.accepted for deliverable in deliverables)
    reloaded = sum(deliverable.reload == "passed" for deliverable in deliverables)
    yield f"accepted: {accepted:,} of {len(deliverables):,} deliverables" + (
        f", {reloaded:,} reloaded" if reloaded else ""
    )
    why: dict[str, list[DeliverableResult]] = {}
    for deliverable in deliverables:
        if not deliverable.accepted:
            why.setdefault("; ".join(deliverable.reasons), []).append(deliverable)
    for number, (reasons, rejected) in enumerate(why.items()):
        if number == MOST_REJECTED:
            yield f"  … and {sum(map(len, list(why.values())[number:])):,} more, in closeout.json"
            return
        word = "not verified" if reasons.startswith("not verified") else "rejected"
        names = ", ".join(f"{deliverable.name} of {deliverable.run_id}" for deliverable in rejected[:3])
        more = f" and {len(rejected) - 3:,} more" if len(rejected) > 3 else ""
        yield f"  {word}: {names}{more}: {reasons.removeprefix('not verified: ')}"


def _ratio(ratio: RatioResult) -> Iterator[str]:
    cost = _amounts(ratio.cost, "nothing")
    if not ratio.defined:
        yield f"{ratio.name}: undefined. {ratio.if_none} Cost incurred: {cost} ({ratio.cost_of})."
        for reason in ratio.reasons[:3]:
            yield f"  {reason}"
        if len(ratio.reasons) > 3:
            yield f"  … and {len(ratio.reasons) - 3:,} more, in closeout.json"
        return
    things = {"run": "run", "corpus": "corpus" if ratio.count == 1 else "corpora"}[ratio.distinct]
    things += "s" if ratio.distinct == "run" and ratio.count != 1 else ""
    value = f"{ratio.value} each" if ratio.value is not None else "not one amount: its currencies have no declared rate"
    yield f"{ratio.name}: {value} ({cost} {ratio.cost_of}, {ratio.count:,} {things})"


def _time(closeout: Closeout) -> Iterator[str]:
    observed = _length(closeout.observed) if closeout.observed is not None else "unknown"
    deviations = [window for window in closeout.windows if window.deviation is not None]
    largest = max(deviations, key=lambda window: abs(window.deviation or 0), default=None)
    line = f"time: {observed} observed, {_length(closeout.planned)} planned"
    if largest is not None and largest.deviation is not None:
        sign = "−" if largest.deviation < 0 else "+"
        line += f"; largest deviation: {largest.name} {sign}{_length(abs(largest.deviation))}"
    yield line
    if closeout.losses.interruptions:
        lost = _length(closeout.losses.lost) if closeout.losses.lost is not None else "an unknown time"
        yield f"interruptions: {closeout.losses.interruptions:,}, which lost {lost}"


def _reruns(closeout: Closeout) -> Iterator[str]:
    if not closeout.reruns:
        return
    differing = sum(rerun.holds is False for rerun in closeout.reruns)
    missing = sum(rerun.holds is None for rerun in closeout.reruns)
    compared = len(closeout.reruns) - missing
    if not compared:
        yield "rerun: not compared, its metrics are missing"
        return
    agree = "agrees with its run" if not differing else f"differs from its run in {differing:,} of {compared:,} values"
    yield f"rerun: {agree}" + (f"; {missing:,} values are missing" if missing else "")


def _length(seconds: float) -> str:
    return format_duration(Fraction(round(seconds)) if seconds >= 10 else Fraction(str(round(seconds, 1))))
