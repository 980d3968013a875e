"""Sections 1 and 5 to 7 of the closeout and its appendix: deliverables; curves; decisions and custody; for the next campaign; what an auditor reads."""

from __future__ import annotations

from campc.closeout.model import DeliverableResult, RatioResult
from campc.report import words
from campc.report.blocks import (
    Block,
    Cell,
    Code,
    Figure,
    Inline,
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
)  # fmt: skip
from campc.report.close_view import CloseView
from campc.report.curves import charts


def deliverables(view: CloseView) -> Section:
    """Accepted or rejected, why, how large, reloaded or not; the outcomes; the ratio."""
    closeout = view.closeout
    blocks: list[Block] = []
    if closeout.deliverables:
        found = tuple(_deliverable(item) for item in closeout.deliverables)
        heads = columns("Deliverable", "Of", "Result", "*Why", "#Size", "#Rows", "Reload")
        blocks.append(Table("deliverables-table", "Deliverables", heads, found))
    else:
        blocks.append(Paragraph("No deliverable is declared."))
    blocks += [_ratio(ratio) for ratio in closeout.ratios] or [
        Paragraph("No ratio of cost to result is declared, so none is given.")
    ]
    if closeout.outcomes:
        rows = []
        for outcome in closeout.outcomes:
            result = {True: Cell("holds", "good"), False: Cell("does not hold"), None: Cell("undecided", "bad")}[
                outcome.holds
            ]
            answer = outcome.name == closeout.answered_by
            values = ", ".join(f"{name} = {words.figure(value)}" for name, value in outcome.values)
            why = Cell("; ".join(outcome.missing) or outcome.found or "", note=values)
            rows.append(
                row(code(outcome.name), code(outcome.condition), result, why, Cell(outcome.conclude), emphasis=answer)
            )
        heads = columns("Outcome", "*Condition", "Result", "*Values", "Conclusion")
        blocks.append(Table("outcomes-table", "Outcomes, in the order in which they are tested", heads, tuple(rows)))
    else:
        blocks.append(
            Paragraph("No outcome was declared: the results below have to be read against the decision in words.")
        )
    return Section("deliverables", "Deliverables and answer", tuple(blocks), 1)


def _deliverable(item: DeliverableResult) -> Row:
    why = (
        "; ".join(item.reasons)
        if item.reasons
        else "every check passed"
        if item.condition
        else "it exists and is not empty"
    )
    reload = {
        "passed": Cell("reloads", "good"),
        "failed": Cell("does not reload", "bad", item.reload_detail or ""),
        "not run": Cell("not tried", note=item.reload_detail or ""),
    }.get(item.reload, quiet("not required"))
    files = words.plural(item.files, "file") if item.files is not None and item.files > 1 else ""
    size = number(words.size(item.size) if item.size is not None else "—", files)
    return row(
        code(item.name, f"{item.kind}, {item.path}"),
        code(item.run_id, item.tier or ""),
        Cell("accepted", "good") if item.accepted else Cell("rejected", "bad"),
        Cell(why, note=item.condition or ""),
        size,
        number(f"{item.rows:,}" if item.rows is not None else "—"),
        reload,
    )


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


def custody(view: CloseView) -> Section:
    """Decisions and amendments, where the files are and who keeps them, the release, what still costs."""
    closeout = view.closeout
    blocks: list[Block] = []
    if closeout.decisions:
        rows = []
        for item in closeout.decisions:
            values = ", ".join(f"{name} = {words.figure(value)}" for name, value in item.values)
            dropped = f"dropped {words.listing(item.dropped)}" if item.dropped else ""
            choice = Cell(item.choice or "—", note=dropped)
            because = (
                Cell(item.because, note=values) if item.because else Cell(values) if values else quiet("not recorded")
            )
            rows.append(
                row(
                    Cell(view.when(item.time)),
                    Cell(item.kind),
                    code(item.name) if item.name else quiet("—"),
                    choice,
                    because,
                    item.by or "—",
                )
            )
        heads = columns("Time", "Kind", "About", "Decision", "*Because", "By")
        blocks.append(Table("decisions-table", "Decisions, amendments and notes", heads, tuple(rows)))
    else:
        blocks.append(Paragraph("No decision, amendment or note is recorded."))
    items: list[tuple[Inline, ...]] = []
    for copy in closeout.copies:
        state = "copied" if copy.ok else "not copied"
        detail = f"; {copy.detail}" if copy.detail else ""
        items.append(
            (
                Strong("Files: "),
                Code(copy.to),
                f", {state} {view.when(copy.time, unknown='at an unknown time')}{detail}.",
            )
        )
    if not closeout.copies:
        items.append((Strong("Files: "), "no copy away from the machine is recorded."))
    items.append((Strong("Keeper: "), f"{closeout.keeper or words.NOT_STATED}."))
    for lot in closeout.lots:
        if lot.released is not None:
            evidence = f"evidence: {lot.release_evidence}" if lot.release_evidence else "no evidence recorded"
            items.append((Strong(f"Release of {lot.name}: "), f"{view.when(lot.released)}; {evidence}."))
        else:
            items.append((Strong(f"Release of {lot.name}: "), "not recorded; make sure that the machine is gone."))
    for still in closeout.still_costs:
        items.append((Strong("Still costs: "), words.sentence(still)))
    if not closeout.still_costs:
        items.append((Strong("Still costs: "), "nothing is recorded."))
    blocks.append(Items(tuple(items)))
    return Section("custody", "Decisions and custody", tuple(blocks), 6)


def lessons(view: CloseView) -> Section:
    """Measured values as lines for the next spec, which estimates held, and which unknowns are settled."""
    closeout = view.closeout
    blocks: list[Block] = []
    if closeout.measured:
        rows = []
        for item in closeout.measured:
            held = {True: Cell("held", "good"), False: Cell("did not hold", "bad"), None: quiet("no estimate")}[
                item.held
            ]
            assumed = Cell(item.assumed) if item.assumed else quiet(words.NOT_STATED)
            rows.append(
                row(
                    Cell(item.what, note=item.basis or ""),
                    assumed,
                    Cell(item.measured),
                    held,
                    code(item.spec, item.place or ""),
                )
            )
        heads = columns("Quantity", "Planned", "Measured", "Estimate", "*Write in the next spec")
        blocks.append(Table("measured-table", "Measured values, as lines of a spec", heads, tuple(rows)))
    else:
        blocks.append(Paragraph("Nothing was measured that the next campaign could state."))
    if closeout.unknowns:
        rows = []
        for unknown in closeout.unknowns:
            state = Cell("settled", "good") if unknown.settled else Cell("still unknown", "bad")
            rows.append(
                row(code(unknown.name), Cell(unknown.question), state, Cell(unknown.how) if unknown.how else quiet("—"))
            )
        blocks.append(
            Table(
                "unknowns-table",
                "What the plan did not know",
                columns("Unknown", "*Question", "Now", "*How"),
                tuple(rows),
            )
        )
    return Section("lessons", "For the next campaign", tuple(blocks), 7)


def appendix(view: CloseView) -> Section:
    """Ledger check, environments, bases, manifest."""
    closeout = view.closeout
    plan = (
        "unchanged: its hash is still that of the plan that was built"
        if closeout.plan_intact
        else "changed since it was built"
    )
    items: list[tuple[Inline, ...]] = [(Strong("Plan: "), Code(closeout.plan_hash), f", {plan}.")]
    package = {
        True: "every file has the hash in its manifest",
        False: "damaged: some files do not have the hash in the manifest",
        None: "there is none",
    }
    items.append((Strong("Package: "), f"{package[closeout.package_intact]}."))
    items.append((Strong("Rehearsal: "), words.sentence(closeout.rehearsal or "none recorded")))
    items += [(Strong(f"Base of {run}: "), Code(base)) for run, base in closeout.bases]
    blocks: list[Block] = [Items(tuple(items))]
    if closeout.ledgers:
        rows = []
        for ledger in closeout.ledgers:
            state = Cell("intact", "good") if ledger.intact else Cell("damaged", "bad")
            notes = "; ".join((*ledger.damage, *(["torn last line, tolerated"] if ledger.torn_tail else [])))
            rows.append(
                row(
                    code(ledger.lot),
                    number(f"{ledger.lines:,}"),
                    state,
                    Cell(notes) if notes else quiet("—"),
                    code(ledger.head or ""),
                )
            )
        heads = columns("Lot", "#Lines", "Chain", "*Faults", "Last line's hash")
        blocks.append(Table("ledger-table", "The ledger's chain of hashes", heads, tuple(rows), dense=True))
    for environment in closeout.environments:
        rows = [row(Cell(name), code(value)) for name, value in environment.items]
        if rows:
            name = f"environment-{environment.lot}-{len(blocks)}"
            where = f"{environment.lot}, {environment.machine}" if environment.machine else environment.lot
            blocks.append(Table(name, f"Environment of {where}", columns("Part", "*Version"), tuple(rows), dense=True))
    if closeout.manifest:
        rows = []
        for entry in closeout.manifest:
            found = Cell("verified", "good") if entry.verified else Cell("differs", "bad")
            rows.append(row(code(entry.path), number(words.size(entry.size)), code(entry.sha256), found))
        heads = columns("File", "#Size", "*SHA-256", "Found")
        blocks.append(Table("manifest-table", "Manifest of the package", heads, tuple(rows), dense=True))
    return Section("appendix", "Appendix", tuple(blocks))
