"""Sections 6 and 7 of the closeout and its appendix: decisions and custody; for the next campaign; what an auditor reads."""

from __future__ import annotations

from campc.report import words
from campc.report.blocks import (
    Block,
    Cell,
    Code,
    Inline,
    Items,
    Paragraph,
    Section,
    Strong,
    Table,
    code,
    columns,
    number,
    quiet,
    row,
)
from campc.report.close_results import every_deliverable
from campc.report.close_view import CloseView

FILES_AT_MOST = 300
"""Files that are listed one by one, those that differ first."""


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
    every = every_deliverable(view)
    if every is not None:
        blocks.append(every)
    for index, environment in enumerate(closeout.environments, 1):
        parts: dict[str, list[str]] = {}
        for name, value in environment.items:
            parts.setdefault(name, []).append(value)
        rows = [row(Cell(name), code(values[0])) for name, values in parts.items() if len(values) == 1]
        where = f"{environment.lot}, {environment.machine}" if environment.machine else environment.lot
        if rows:
            table = f"environment-{index}"
            blocks.append(Table(table, f"Environment of {where}", columns("Part", "*Version"), tuple(rows), dense=True))
        for name, values in parts.items():
            if len(values) > 1:
                blocks.append(Paragraph((Strong(f"{name.capitalize()} of {where}: "), Code(", ".join(values)))))
    if closeout.manifest:
        manifest = sorted(closeout.manifest, key=lambda entry: (entry.verified, entry.path))
        rows = []
        for entry in manifest[:FILES_AT_MOST]:
            found = Cell("verified", "good") if entry.verified else Cell("differs", "bad")
            rows.append(row(code(entry.path), number(words.size(entry.size)), code(entry.sha256), found))
        heads = columns("File", "#Size", "*SHA-256", "Found")
        rest = manifest[FILES_AT_MOST:]
        tail = ""
        if rest:
            bad = sum(not entry.verified for entry in rest)
            found_words = f"{bad:,} of them not as listed" if bad else "all verified"
            tail = f"And {words.plural(len(rest), 'more file')}, {found_words}: in the package's own manifest."
        blocks.append(Table("manifest-table", "Manifest of the package", heads, tuple(rows), tail, dense=True))
    return Section("appendix", "Appendix", tuple(blocks))
