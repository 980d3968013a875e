"""Sections 1 and 5 of the closeout: deliverables and the answer; curves."""

from __future__ import annotations

from collections.abc import Sequence

from campc.closeout.model import DeliverableResult, OutcomeResult, RatioResult
from campc.report import words
from campc.report.blocks import (
    Block,
    Cell,
    Figure,
    Inline,
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
from campc.report.close_reruns import reruns
from campc.report.close_view import CloseView
from campc.report.curves import charts

SINGLY_AT_MOST = 12
"""Deliverables that get a row each in section 1; where there are more, those of one run's seeds that fared alike share one."""


def deliverables(view: CloseView) -> Section:
    """Accepted or rejected, why, how large, reloaded or not; the ratio; the outcomes."""
    closeout = view.closeout
    blocks: list[Block] = []
    if closeout.deliverables:
        groups = _alike(closeout.deliverables)
        tail = "Each by its own identifier: in the appendix." if len(groups) < len(closeout.deliverables) else ""
        rows = tuple(_deliverable(group) for group in groups)
        blocks.append(Table("deliverables-table", "Deliverables", HEADS, rows, tail))
    else:
        blocks.append(Paragraph("No deliverable is declared."))
    blocks += [_ratio(ratio) for ratio in closeout.ratios]
    if not closeout.ratios:
        blocks.append(Paragraph("No ratio of cost to result is declared, so none is given."))
    if closeout.outcomes:
        heads = columns("Outcome", "*Condition", "Result", "*Values", "Conclusion")
        rows = tuple(_outcome(outcome, outcome.name == closeout.answered_by) for outcome in closeout.outcomes)
        blocks.append(Table("outcomes-table", "Outcomes, in the order in which they are tested", heads, rows))
    else:
        blocks.append(Paragraph("No outcome was declared: the results have to be read against the decision in words."))
    blocks += reruns(view)
    return Section("deliverables", "Deliverables and answer", tuple(blocks), 1)


HEADS = columns("Deliverable", "Of", "Result", "*Why", "#Size", "#Rows", "Reload")


def every_deliverable(view: CloseView) -> Table | None:
    """One row each, where section 1 has fewer."""
    items = view.closeout.deliverables
    if len(_alike(items)) == len(items):
        return None
    rows = tuple(_deliverable((item,)) for item in items)
    return Table("every-deliverable-table", "Every deliverable by its identifier", HEADS, rows, dense=True)


def _alike(items: Sequence[DeliverableResult]) -> list[tuple[DeliverableResult, ...]]:
    if len(items) <= SINGLY_AT_MOST:
        return [(item,) for item in items]
    groups: dict[object, list[DeliverableResult]] = {}
    for item in items:
        groups.setdefault((item.name, item.run, item.accepted, item.reasons, item.reload), []).append(item)
    return [tuple(group) for group in groups.values()]


def _deliverable(group: tuple[DeliverableResult, ...]) -> Row:
    item = group[0]
    why = "; ".join(item.reasons) or ("every check passed" if item.condition else "it exists and is not empty")
    detail = item.reload_detail or ""
    reload = {
        "passed": Cell("reloads", "good"), "failed": Cell("does not reload", "bad", detail), "not run": Cell("not tried", note=detail),
    }.get(item.reload, quiet("not required"))  # fmt: skip
    files = sum(each.files for each in group if each.files is not None)
    sizes = [each.size for each in group if each.size is not None]
    rows = {each.rows for each in group}
    of = (
        code(item.run_id, item.tier or "")
        if len(group) == 1
        else code(item.run, f"{len(group)} seeds, {item.tier or 'no tier'}")
    )
    return row(
        code(item.name, f"{item.kind}, {item.path}"),
        of,
        Cell("accepted", "good") if item.accepted else Cell("rejected", "bad"),
        Cell(why, note=item.condition or ""),
        number(words.size(sum(sizes)) if sizes else "—", words.plural(files, "file") if files > 1 else ""),
        number(" / ".join(f"{count:,}" if count is not None else "—" for count in sorted(rows, key=lambda n: n or 0))),
        reload,
    )


def _outcome(outcome: OutcomeResult, answer: bool) -> Row:
    result = {True: Cell("holds", "good"), False: Cell("does not hold"), None: Cell("undecided", "bad")}[outcome.holds]
    values = ", ".join(f"{name} = {words.figure(value)}" for name, value in outcome.values)
    why = Cell("; ".join(outcome.missing) or outcome.found or "", note=values)
    return row(code(outcome.name), code(outcome.condition), result, why, Cell(outcome.conclude), emphasis=answer)


def ratio_words(ratio: RatioResult) -> str:
    """What a ratio came to: a price, or why there is none."""
    if not ratio.defined:
        return "undefined"
    if ratio.value is None:
        return f"{words.amounts(ratio.cost)} for {ratio.count}; not divided, because it has several currencies"
    return f"{words.money(ratio.value)} each"


def _ratio(ratio: RatioResult) -> Paragraph:
    cost = {"rental": "Rental", "expenses": "Other expenses", "total": "Total cost"}[ratio.cost_of]
    unit = "distinct corpus" if ratio.distinct == "corpus" else "run"
    head = f"{cost} per {unit} with an accepted {words.listing(ratio.per, 'or')}: "
    parts: list[Inline] = [head, Strong(ratio_words(ratio))]
    if ratio.defined:
        units = unit if ratio.count == 1 else "distinct corpora" if ratio.distinct == "corpus" else "runs"
        parts.append(f" ({words.amounts(ratio.cost)} ÷ {ratio.count} {units})")
        if ratio.expected_value is not None:
            parts.append(f"; planned {words.money(ratio.expected_value)} for {ratio.expected_count}")
        parts.append(".")
    else:
        parts.append(f". {words.sentence(ratio.if_none)} Cost incurred: {words.amounts(ratio.cost)}.")
        if ratio.reasons:
            parts.append(f" Why nothing counts: {'; '.join(ratio.reasons)}.")
    return Paragraph(parts)


def curves(view: CloseView) -> Section:
    """Each metric over its steps, and its first, best-known and last values as a table."""
    series = view.closeout.series
    if not series:
        return Section("curves", "Metrics", (Paragraph("No metric is recorded."),), 5)
    rows = []
    for item in series:
        values = [value for _, value in item.points]
        finite = [value for value in values if value == value and abs(value) != float("inf")]
        rows.append(
            row(
                code(item.metric),
                code(item.run_id),
                number(f"{len(values):,}"),
                number(words.figure(values[0]) if values else "none"),
                number(words.figure(min(finite)) if finite else "none"),
                number(words.figure(max(finite)) if finite else "none"),
                number(
                    words.figure(values[-1]) if values else "none", f"step {item.points[-1][0]:,}" if values else ""
                ),
            )
        )
    figure = Figure(
        "metrics-chart",
        "Metrics over training steps; a cross marks a value that isn't finite.",
        charts(series),
        table="metrics-table",
        small=True,
    )
    heads = columns("Metric", "Identifier", "#Observations", "#First", "#Lowest", "#Highest", "#Last")
    return Section(
        "curves", "Metrics", (figure, Table("metrics-table", "The same in figures", heads, tuple(rows), dense=True)), 5
    )
