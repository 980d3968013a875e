"""Sections 1 and 2 of the plan: the timeline, and the windows as a table."""

from __future__ import annotations

from fractions import Fraction

from campc.report import words
from campc.report.blocks import Block, Cell, Column, Figure, Paragraph, Row, Section, Table, code, number, quiet, row
from campc.report.gantt import ROWS_AT_MOST, chart
from campc.report.gantt_model import Bar, Diamond, Group, Lane, Term, lanes_of
from campc.report.plan_view import PlanView, gpu_words, package_words
from campc.schedule.plan import Account, Placement
from campc.schema.rules import Gate

LEGEND = (
    ("bar-essential", "essential"), ("bar-useful", "useful"), ("bar-exploratory", "exploratory"), ("bar-people", "people"),
    ("critical", "critical chain"), ("gate", "decision point"), ("reserved", "reserved"), ("keep-free", "to keep free"), ("tail", "uncommitted"),
    ("overrun", "overrun"), ("end", "usable end"), ("deadline", "the answer is needed"),
)  # fmt: skip


def timeline(view: PlanView) -> Section:
    """The Gantt, what each gate leads to, and the accounts of the lots."""
    groups = tuple(_groups(view))
    drawings, wide = chart("timeline", groups, view.clock, _alternative(view), _legend(view, groups))
    figure = Figure(
        "timeline-chart", f"Timeline by lot and GPU. Times: {view.zone_words}.", drawings, wide, table="windows-table"
    )
    blocks: list[Block] = [figure]
    if view.spec.gates:
        blocks.append(_gates(view))
    if view.accounts:
        blocks.append(_accounts(view))
    return Section("timeline", "Timeline", tuple(blocks), 1, wide)


def windows(view: PlanView) -> Section:
    """Every window with its estimates, its place, its slack and its latest safe start."""
    ranged = view.ranged
    headings = [
        Column("Window"), Column("Tier, kind"), Column("Where"), Column("Takes (low / likely / high)" if ranged else "Takes", True),
        Column("Starts", True), Column("Ends", True), Column("Slack", True), Column("Latest safe start", True), Column("Basis of the time", wide=True),
    ]  # fmt: skip
    rows = tuple(_window(view, placement) for placement in view.plan.placements.values())
    tail = f"Times: {view.zone_words}. Slack is how far a window's end could move, the order kept, before a usable end is passed; "
    tail += "what lies on the critical chain is set in bold. Where nothing bounds a window, slack is unlimited."
    table = Table("windows-table", "Windows in the planned order", tuple(headings), rows, tail, dense=True)
    unplaced = [name for name in view.spec.windows if name not in view.plan.placements]
    blocks: list[Block] = [table]
    if unplaced:
        blocks.append(Paragraph(f"Not placed, because they contain errors: {words.listing(unplaced)}."))
    return Section("windows", "Windows", tuple(blocks), 2, len(rows) > ROWS_AT_MOST)


def _window(view: PlanView, placement: Placement) -> Row:
    window = placement.window
    span = window.takes
    takes = words.takes(span.low.seconds, span.likely.seconds, span.high.seconds) if span is not None else words.UNKNOWN
    slack = placement.slack
    where = gpu_words(window, view.spec.package_of(view.spec.lot_of(window)))
    run = f"run {window.run}" if window.run is not None and window.run != window.name else ""
    limit = f"at most {window.limit}" if window.limit is not None else ""
    return Row(
        (
            code(window.name, ", ".join(part for part in (run, limit) if part)),
            Cell(window.tier, note=words.spelled(window.kind or words.UNKNOWN) + (", last" if window.last else "")),
            Cell(where),
            number(takes),
            number(view.when(placement.start), "fixed" if placement.fixed else ""),
            number(view.clock_only(placement.end, placement.start)),
            number(words.span(slack)) if slack is not None else quiet("unlimited"),
            number(view.when(placement.start + slack)) if slack is not None else quiet("any"),
            Cell(window.basis) if window.basis is not None else quiet("assumed"),
        ),
        emphasis=placement.critical,
    )


def _groups(view: PlanView) -> list[Group]:
    groups = []
    people = view.people()
    if people:
        bars = [_bar(view, placement) for placement in people]
        groups.append(Group("People", _with_gates(view, people, bars), lanes_of("People", bars)))
    for account in view.accounts:
        lot = view.spec.lots[account.lot]
        package = view.package(account.lot)
        on_lot = sorted(
            view.plan.on_lot(account.lot),
            key=lambda p: (p.gpus[:1], p.start) if _several(view, account.lot) else ((), p.start),
        )
        bars = [_bar(view, placement) for placement in on_lot]
        gpus = package.gpus if package is not None else 1
        lanes: list[Lane] = []
        for index in range(gpus):
            mine = [
                _bar(view, placement, which=False) for placement in on_lot if (account.lot, index) in placement.gpus
            ]
            label = account.lot if gpus == 1 else f"{account.lot} GPU {index}"
            lanes += lanes_of(label, mine) or (Lane(label, ()),)
        title = f"{account.lot}: {package_words(package)}"
        groups.append(
            Group(title, _with_gates(view, on_lot, bars), tuple(lanes), _term(view, account, lot.keep_free.seconds))
        )
    return groups


def _several(view: PlanView, lot: str) -> bool:
    package = view.package(lot)
    return package is not None and package.gpus > 1


def _bar(view: PlanView, placement: Placement, which: bool = True) -> Bar:
    """``which``: say on which GPUs of a lot with several."""
    window = placement.window
    mark = "bar-people" if window.on is None else f"bar-{window.tier}"
    label = window.name
    if which and window.on is not None and _several(view, window.on.lot) and window.on.low is not None:
        label += f" [{window.on.low}]" if window.on.low == window.on.high else f" [{window.on.low}–{window.on.high}]"
    return Bar(
        label,
        float(placement.start),
        float(placement.end),
        mark,
        placement.critical,
        note=words.span(placement.interval.length),
    )


def _with_gates(
    view: PlanView, placements: tuple[Placement, ...] | list[Placement], bars: list[Bar]
) -> tuple[Bar | Diamond, ...]:
    found: list[Bar | Diamond] = []
    for placement, bar in zip(placements, bars, strict=True):
        found.append(bar)
        found += [Diamond(gate.name, float(placement.end), _ways(gate)) for gate in view.gates_after(placement.name)]
    return tuple(found)


def _ways(gate: Gate) -> str:
    dropped = (*gate.drops.tiers, *gate.drops.windows)
    other = (
        f"drop {words.listing(dropped)}" if gate.otherwise == "reduce" and dropped else gate.otherwise or words.UNKNOWN
    )
    return f"go on, or {other}"


def _term(view: PlanView, account: Account, keep_free: Fraction) -> Term:
    end = account.usable_end
    label = f"usable until {view.when(end)}" if end is not None else ""
    return Term(
        float(account.start), float(account.last_end), float(end) if end is not None else None, float(keep_free), end_label=label
    )  # fmt: skip


def _gates(view: PlanView) -> Table:
    rows = []
    for gate in view.spec.gates.values():
        placed = view.plan.placements.get(gate.after or "")
        dropped = (*gate.drops.tiers, *gate.drops.windows)
        other = gate.otherwise or words.UNKNOWN
        silent = f"{gate.if_silent}, after {words.span(gate.wait.seconds)}"
        rows.append(
            row(
                code(gate.name, gate.question or ""),
                number(view.when(placed.end) if placed is not None else words.UNKNOWN, f"after {gate.after}"),
                code(gate.when.text) if gate.when is not None else quiet(words.NOT_STATED),
                Cell(other, note=f"drops {words.listing(dropped)}" if dropped else ""),
                Cell(silent),
                code(gate.enough.text) if gate.enough is not None else quiet(words.NOT_STATED),
            )
        )
    heads = (
        Column("Decision point"), Column("When", True), Column("Go on where", wide=True), Column("Otherwise"), Column("If nobody answers"),
        Column("Answered early where"),
    )  # fmt: skip
    return Table("gates-table", "Decision points, and what each way leads to", heads, tuple(rows))


def _accounts(view: PlanView) -> Table:
    rows = []
    for account in view.accounts:
        lot = view.spec.lots[account.lot]
        over = words.span(account.overrun) if account.overrun else "—"
        rows.append(
            row(
                code(account.lot, package_words(view.package(account.lot))),
                number(view.when(account.start)),
                number(view.when(account.usable_end)) if account.usable_end is not None else quiet("no end"),
                number(words.span(account.reserved)),
                number(words.span(account.uncommitted))
                if account.uncommitted is not None
                else quiet("none, billed by time"),
                number(words.span(lot.keep_free.seconds) if lot.wrote("keep_free") else words.NOT_STATED),
                Cell(over, "bad" if account.overrun else "quiet"),
                number(words.span(account.busy)),
            )
        )
    labels = (
        "Lot",
        "#From",
        "#Usable until",
        "#Reserved",
        "#Uncommitted",
        "#Of it to keep free",
        "#Overrun",
        "#GPU time occupied",
    )
    heads = tuple(Column(label.lstrip("#"), label.startswith("#")) for label in labels)
    return Table("accounts-table", "The account of each lot", heads, tuple(rows))


def _alternative(view: PlanView) -> str:
    plan = view.plan
    parts = [
        f"Timeline of {words.plural(len(plan.placements), 'window')} from {view.when(Fraction(0))} to {view.when(plan.end)}."
    ]
    for account in view.accounts:
        names = words.listing(placement.name for placement in plan.on_lot(account.lot)[:24])
        parts.append(f"On {account.lot}: {names}; {words.span(account.reserved)} reserved.")
        if account.usable_end is not None:
            parts.append(
                f"Its usable end is {view.when(account.usable_end)}, {words.span(account.uncommitted)} are uncommitted."
            )
    people = view.people()
    if people:
        parts.append(f"People: {words.listing(placement.name for placement in people[:24])}.")
    parts.append("The table of windows says the same.")
    return " ".join(parts)


def _legend(view: PlanView, groups: tuple[Group, ...]) -> list[tuple[str, str]]:
    used = {bar.mark for group in groups for bar in group.bars}
    terms = [group.term for group in groups if group.term is not None]
    if any(bar.critical for group in groups for bar in group.bars):
        used.add("critical")
    used |= {"gate"} if view.spec.gates else set()
    used |= {"deadline"} if view.clock.deadline is not None else set()
    used |= {"reserved"} if terms else set()
    for term in terms:
        if term.usable_end is not None:
            used |= (
                {"end"}
                | ({"overrun"} if term.reserved > term.usable_end else {"tail"})
                | ({"keep-free"} if term.keep_free else set())
            )
    return [(mark, label) for mark, label in LEGEND if mark in used]
