"""Sections 6, 9 and 10 of the plan and its appendix: assumptions, the list before the launch, unknowns; what an auditor reads."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from campc import __version__
from campc.report import words
from campc.report.blocks import (
    Block,
    Cell,
    Column,
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
from campc.report.plan_view import PlanView
from campc.schedule.plan import Risk
from campc.values.money import MoneyRate

ASSUMED_AT_MOST = 20
"""Names in one line of the assumptions; the table of windows has them all."""
Allowed = tuple[str, str, str]
"""An accepted warning: code, message, reason."""


def risk(view: PlanView, computed: Risk | None) -> Section:
    """The probability of finishing, where it is computed, and every assumption by name."""
    blocks: list[Block] = []
    if computed is not None:
        rows = []
        for tier in computed.tiers:
            p50, p90 = (view.when(Fraction(round(moment))) for moment in (tier.p50, tier.p90))
            rows.append(row(tier.name, number(words.chance(tier.p_finish)), number(p50), number(p90)))
        heads = columns(
            "Tier", "#Ends before the usable end", "#Ends by, in half of all cases", "#Ends by, in nine of ten"
        )
        tail = f"{computed.samples:,} seeded samples, {computed.distribution} distribution over the low, likely and high estimates; the planned order kept."
        blocks.append(Table("risk-table", "How likely it is to end in time", heads, tuple(rows), tail))
    else:
        blocks.append(Paragraph(f"{chance_words(view)}"))
    assumed = [window.name for window in view.assumed]
    measured = [window for window in view.spec.windows.values() if window.basis is not None]
    items: list[tuple[Inline, ...]] = []
    if assumed:
        every = len(assumed) == len(view.spec.windows) > ASSUMED_AT_MOST
        which = f"those of all {len(assumed)} windows" if every else words.few(assumed, ASSUMED_AT_MOST, "window")
        items.append((Strong("Assumed times: "), f"{which}."))
    for basis in dict.fromkeys(window.basis for window in measured):
        names = words.few((window.name for window in measured if window.basis == basis), ASSUMED_AT_MOST, "window")
        items.append((Strong(f"{names}: "), words.sentence(basis)))
    for lot in view.spec.lots.values():
        package = view.spec.package_of(lot)
        if package is None:
            continue
        if package.interruptible:
            rate = (
                f"interrupted {package.interruptions}"
                if package.interruptions is not None
                else "how often is not stated"
            )
            notice = words.span(package.notice.seconds) if package.notice is not None else words.NOT_STATED
            items.append((Strong(f"{lot.name} may be taken away: "), f"{rate}, notice {notice}."))
        if package.ends_early.seconds:
            items.append(
                (
                    Strong(f"{lot.name}: "),
                    f"the machine is taken {words.span(package.ends_early.seconds)} before the end of the lot.",
                )
            )
    if items:
        blocks.append(Items(tuple(items)))
    return Section("risk", "Risk and assumptions", tuple(blocks), 6)


def chance_words(view: PlanView) -> str:
    """Why no probability of finishing is given."""
    interruptible = any(
        package.interruptible for lot in view.spec.lots.values() if (package := view.spec.package_of(lot)) is not None
    )  # fmt: skip
    if view.ranged or interruptible:
        return "Chance of finishing: not computed."
    if len(view.assumed) == len(view.spec.windows):
        return "Chance of finishing: not computed, all durations are assumed."
    return "Chance of finishing: not computed, every duration is a single value."


def preflight(view: PlanView) -> Section:
    """What is confirmed and what is still to do before the money is spent, with boxes to tick."""
    spec, given = view.spec, view.spec.preflight
    items: list[tuple[Inline, ...]] = []
    for label, text in (
        ("Quota for this accelerator in this region", given.quota if given else None),
        ("Capacity, a separate question from quota", given.capacity if given else None),
        ("Data staged near the machine", given.staged if given else None),
        ("Budget alert at the vendor", given.budget_alert if given else None),
    ):
        items.append((Strong(f"{label}: "), words.sentence(text) if text else "not confirmed."))
    rehearsal = (
        "required before the launch: launch.sh rehearse."
        if given is not None and given.dry_run
        else "not required by the plan."
    )
    items.append((Strong("Full dry run: "), rehearsal))
    for lot in spec.lots.values():
        items.append(
            (Strong(f"Order of {lot.name}: "), words.sentence(lot.order) if lot.order else "reference not stated.")
        )
    if spec.campaign.requirements:
        items.append((Strong("Requirements: "), f"{spec.campaign.requirements} installed on the machine."))
    if spec.campaign.secrets:
        items.append((Strong("Secrets set on the machine: "), f"{words.listing(spec.campaign.secrets)}."))
    if spec.shutdown is not None:
        away = f"; from outside by “{spec.shutdown.elsewhere}”" if spec.shutdown.elsewhere else "; not from outside"
        when = {"always": "at every end", "finished": "when finished", "deadline": "at the deadline"}[
            spec.shutdown.when
        ]
        items.append((Strong("Shut down: "), f"{when}, by “{spec.shutdown.command}”{away}."))
    else:
        items.append((Strong("Shut down: "), "not stated; somebody must release the machine."))
    return Section("preflight", "Before the launch", (Items(tuple(items), "checks"),), 9)


def unknowns(view: PlanView) -> Section:
    """What isn't known yet, and what settles it."""
    rows = []
    for unknown in view.spec.unknowns.values():
        placed = view.plan.placements.get(unknown.settled_by or "")
        settled = (
            code(unknown.settled_by, f"ends {view.when(placed.end)}" if placed is not None else "")
            if unknown.settled_by
            else quiet("nothing")
        )
        rows.append(row(code(unknown.name), Cell(unknown.question or words.NOT_STATED), settled))
    if not rows:
        return Section("unknowns", "Unknowns", (Paragraph("None is declared."),), 10)
    heads = columns("Unknown", "*Question", "Settled by")
    return Section(
        "unknowns",
        "Unknowns",
        (Table("unknowns-table", "What isn't known yet, and what settles it", heads, tuple(rows)),),
        10,
    )


def appendix(view: PlanView, allowed: tuple[Allowed, ...], hashes: Mapping[str, str]) -> Section:
    """Accepted warnings, frozen data, hashes, and every time in UTC."""
    blocks: list[Block] = []
    if allowed:
        rows = tuple(row(code(item[0]), Cell(item[1]), Cell(item[2])) for item in allowed)
        blocks.append(
            Table(
                "allowed-table",
                "Warnings that were accepted",
                columns("Code", "*Warning", "*Accepted because"),
                rows,
                dense=True,
            )
        )
    else:
        blocks.append(Paragraph("No warning was accepted."))
    if view.spec.corpora:
        blocks.append(_corpora(view))
    if view.spec.packages:
        blocks.append(_terms(view))
    if hashes:
        rows = (*(row(Cell(name), code(digest)) for name, digest in hashes.items()), row("campc", code(__version__)))
        blocks.append(Table("hashes-table", "Hashes (SHA-256) and versions", columns("Of", "*Value"), rows, dense=True))
    if view.plan.start is not None:
        blocks.append(_utc(view))
    return Section("appendix", "Appendix", tuple(blocks))


def _terms(view: PlanView) -> Table:
    """All that the spec says of the packages that are used or compared."""
    named = {line.package for line in view.plan.packages} | {lot.package for lot in view.spec.lots.values()}
    rows = []
    for package in view.spec.packages.values():
        if package.name not in named:
            continue
        taken = f"{package.interruptions or 'rate not stated'}" if package.interruptible else "no"
        notice = f"notice {words.span(package.notice.seconds)}" if package.notice is not None else ""
        billed = f"billed by {words.span(package.increment.seconds)}" if isinstance(package.price, MoneyRate) else ""
        early = f"taken {words.span(package.ends_early.seconds)} early" if package.ends_early.seconds else ""
        rows.append(
            row(
                code(package.name, ", ".join(part for part in (package.vendor or "", package.region or "") if part)),
                number(f"{package.gpus} in {package.nodes}"),
                number(words.size(package.memory)),
                number(words.size(package.disk)),
                number(words.money(package.price), billed),
                Cell(package.tax) if package.tax != "unknown" else quiet(words.NOT_STATED),
                Cell(taken, note=", ".join(part for part in (notice, early) if part)),
                Cell(package.source) if package.source else quiet(words.NOT_STATED),
            )
        )
    heads = columns(
        "Package", "#GPUs in machines", "#Memory of one", "#Disk", "#Price", "Tax", "Interruptible", "*Source"
    )
    return Table("terms-table", "Terms of the packages", heads, tuple(rows), dense=True)


def _corpora(view: PlanView) -> Table:
    rows = tuple(
        row(
            code(corpus.name),
            code(corpus.path or words.NOT_STATED),
            number(f"{int(corpus.rows):,}" if corpus.rows is not None else words.NOT_STATED),
            code(corpus.ids) if corpus.ids else quiet(words.NOT_STATED),
            Cell(str(corpus.frozen)) if corpus.frozen is not None else quiet(words.NOT_STATED),
            code(corpus.sha256) if corpus.sha256 else quiet("not frozen"),
        )
        for corpus in view.spec.corpora.values()
    )
    heads = columns("Corpus", "Path", "#Rows", "Identifier", "Frozen", "*SHA-256")
    return Table("corpora-table", "Frozen data", heads, rows, dense=True)


def _utc(view: PlanView) -> Table:
    rows = []
    for placement in view.plan.placements.values():
        start, end = view.plan.instant(placement.start), view.plan.instant(placement.end)
        if start is not None and end is not None:
            rows.append(
                row(
                    code(placement.name),
                    number(view.when(placement.start, year=True)),
                    number(view.when(placement.end, year=True)),
                    number(words.utc(start)),
                    number(words.utc(end)),
                )
            )
    heads = (
        Column("Window", wide=True),
        Column("Starts, local", True),
        Column("Ends, local", True),
        Column("Starts, UTC", True),
        Column("Ends, UTC", True),
    )
    return Table(
        "utc-table", f"The same times in UTC, beside local ones ({view.zone_words})", heads, tuple(rows), dense=True
    )
