"""Sections 2 to 4 of the closeout: planned against actual; attempts, stops and losses; the lots."""

from __future__ import annotations

from collections.abc import Sequence

from campc.closeout.model import LotResult, WindowResult
from campc.report import words
from campc.report.blocks import (
    Block,
    Cell,
    Column,
    Figure,
    Paragraph,
    Row,
    Section,
    Table,
    code,
    columns,
    number,
    quiet,
    row,
)
from campc.report.close_view import CloseView, seconds
from campc.report.gantt import chart
from campc.report.gantt_model import Bar, Group, Lane, Term, lanes_of

LEGEND = (
    ("bar-planned", "as planned"), ("bar-essential", "essential"), ("bar-useful", "useful"), ("bar-exploratory", "exploratory"),
    ("bar-people", "people"), ("cross", "stopped or failed"), ("end", "usable end"), ("deadline", "the answer was needed"),
)  # fmt: skip
NEVER_BEGUN = ("dropped", "skipped", "not started")
ENDED_BADLY = ("stopped", "failed", "unfinished")


def timeline(view: CloseView) -> Section:
    """Each window beside the original plan, as a chart in two rows and as a table."""
    blocks: list[Block] = []
    wide = False
    if view.closeout.windows:
        groups = _groups(view)
        drawings, wide = chart("actual", groups, view.clock, _alternative(view), _legend(view, groups))
        caption = f"Planned (outlined) and actual (filled), by lot. Times: {view.zone_words}."
        blocks.append(Figure("actual-chart", caption, drawings, wide, table="windows-table"))
        blocks.append(_table(view))
    else:
        blocks.append(Paragraph("No window is planned."))
    if view.unrecorded:
        blocks.append(
            Paragraph(f"Nobody recorded when {words.listing(view.unrecorded)} took place: people's time, unknown here.")
        )
    return Section("timeline", "Planned against actual", tuple(blocks), 2, wide)


def _groups(view: CloseView) -> tuple[Group, ...]:
    names = list(dict.fromkeys(window.lot for window in view.closeout.windows))
    lots = {lot.name: lot for lot in view.closeout.lots}
    ordered = [name for name in names if name is None] + [name for name in names if name is not None]
    return tuple(_group(view, name, lots.get(name or "")) for name in ordered)


def _group(view: CloseView, name: str | None, lot: LotResult | None) -> Group:
    windows = [window for window in view.closeout.windows if window.lot == name]
    bars = [_bar(view, window) for window in windows]
    lanes: list[Lane] = []
    gpus = lot.gpus if name is not None and lot is not None else 1
    for gpu in range(gpus):
        label = "People" if name is None else name if gpus == 1 else f"{name} GPU {gpu}"
        mine = [bar for bar, window in zip(bars, windows, strict=True) if gpus == 1 or gpu in window.gpus]
        lanes += lanes_of(f"{label}, planned", [_as_planned(bar) for bar in mine])
        lanes += lanes_of(f"{label}, actual", [bar for bar in mine if bar.drawn])
    title = "People" if name is None else f"{name}: {lot.gpu or words.UNKNOWN}" if lot is not None else name
    return Group(title, tuple(bars), tuple(lanes), _term(view, lot))


def _term(view: CloseView, lot: LotResult | None) -> Term | None:
    if lot is None or lot.start is None or lot.last_end is None:
        return None
    end = lot.usable_end - view.origin if lot.usable_end is not None else None
    label = f"usable until {view.when(lot.usable_end)}" if lot.usable_end is not None else ""
    return Term(lot.start - view.origin, lot.last_end - view.origin, end, end_label=label)


def _bar(view: CloseView, window: WindowResult) -> Bar:
    planned = (window.planned_start - view.origin, window.planned_end - view.origin)
    mark = "bar-people" if window.lot is None else f"bar-{window.tier}"
    note = _note(window)
    if window.actual_start is None or window.actual_end is None:
        return Bar(window.name, planned[0], planned[1], mark, planned=planned, note=note, drawn=False)
    start, end = window.actual_start - view.origin, window.actual_end - view.origin
    return Bar(window.name, start, end, mark, planned=planned, stopped=window.state in ENDED_BADLY, note=note)


def _as_planned(bar: Bar) -> Bar:
    start, end = bar.planned if bar.planned is not None else (bar.start, bar.end)
    return Bar(bar.label, start, end, "bar-planned")


def _note(window: WindowResult) -> str:
    if window.deviation is None:
        return window.state
    state = "" if window.state == "done" else f"{window.state}, "
    return f"{state}{words.signed(window.deviation)}"


def _legend(view: CloseView, groups: Sequence[Group]) -> list[tuple[str, str]]:
    bars = [bar for group in groups for bar in group.bars]
    used = {"bar-planned"} | {bar.mark for bar in bars if bar.drawn}
    used |= {"deadline"} if view.clock.deadline is not None else set()
    used |= {"cross"} if any(bar.stopped for bar in bars) else set()
    used |= {"end"} if any(group.term is not None and group.term.usable_end is not None for group in groups) else set()
    return [(mark, label) for mark, label in LEGEND if mark in used]


def _alternative(view: CloseView) -> str:
    parts = [f"Planned and actual times of {words.plural(len(view.closeout.windows), 'window')}."]
    parts += [
        f"{window.name}: planned {words.about(window.planned)}, {_actual_words(window)}."
        for window in view.closeout.windows[:30]
    ]
    return " ".join((*parts, "The table below says the same."))


def _actual_words(window: WindowResult) -> str:
    return window.state if window.actual is None else f"took {words.about(window.actual)}, {window.state}"


def _table(view: CloseView) -> Table:
    heads = (
        Column("Window"), Column("Tier, kind"), Column("State"), Column("Planned", True), Column("Actual", True), Column("Planned time", True),
        Column("Actual time", True), Column("Deviation", True), Column("Explanation", wide=True),
    )  # fmt: skip
    rows = tuple(_row(view, window) for window in view.closeout.windows)
    tail = "The plan is the original one, as it was built; a deviation is the actual length less the planned one."
    return Table("windows-table", "Window by window", heads, rows, tail, dense=True)


def _row(view: CloseView, window: WindowResult) -> Row:
    nothing = "—" if window.state in NEVER_BEGUN else words.UNKNOWN
    look = {"done": "good", "stopped": "bad", "failed": "bad", "unfinished": "bad"}.get(window.state, "quiet")
    explanation = (
        Cell(window.explanation)
        if window.explanation
        else quiet("none recorded" if window.deviation or window.state != "done" else "—")
    )
    return row(
        code(window.name, window.lot or "people"),
        Cell(window.tier, note=words.spelled(window.kind)),
        Cell(window.state, look),
        number(view.when(window.planned_start)),
        number(view.when(window.actual_start, unknown=nothing)),
        number(words.span(seconds(window.planned)), "assumed" if window.assumed else ""),
        number(words.about(window.actual) if window.actual is not None else nothing),
        number(words.signed(window.deviation) if window.deviation is not None else nothing),
        explanation,
    )


def attempts(view: CloseView) -> Section:
    """Every attempt, everything that ended or disturbed one, and what was lost."""
    closeout = view.closeout
    blocks: list[Block] = []
    if closeout.attempts:
        rows = []
        for item in closeout.attempts:
            bad = item.outcome not in ("done", "interrupted", "deadline")
            steps = (
                f"{item.from_step:,} → {item.to_step:,}"
                if item.from_step is not None and item.to_step is not None
                else words.UNKNOWN
            )
            rows.append(
                row(
                    code(item.run_id, item.window),
                    number(str(item.number)),
                    number(view.when(item.start)),
                    number(view.when(item.end)),
                    number(steps),
                    Cell(item.outcome, "bad" if bad else "good" if item.outcome == "done" else ""),
                    number(words.about(item.lost))
                    if item.lost is not None
                    else quiet("—" if item.outcome == "done" else words.UNKNOWN),
                    Cell(item.cause) if item.cause else quiet("—"),
                )
            )
        heads = columns("Identifier", "#Attempt", "#Start", "#End", "#Steps", "Outcome", "#Lost", "*Cause")
        blocks.append(Table("attempts-table", "Every attempt", heads, tuple(rows), dense=True))
    else:
        blocks.append(Paragraph("No attempt is recorded."))
    if closeout.stops:
        blocks.append(_stops(view))
    blocks.append(Paragraph(_losses(view)))
    return Section("attempts", "Attempts, stops and interruptions", tuple(blocks), 3)


def _stops(view: CloseView) -> Table:
    rows = []
    for stop in view.closeout.stops:
        rows.append(
            row(
                Cell(view.when(stop.time)),
                Cell(stop.event, "bad" if stop.event in ("stop", "crash", "hang") else ""),
                code(stop.run_id or "", stop.window or "") if stop.run_id or stop.window else quiet("—"),
                code(stop.rule) if stop.rule else quiet("—"),
                number(f"{stop.step:,}" if stop.step is not None else "—"),
                number(stop.value or "—"),
                Cell(stop.reason) if stop.reason else quiet("not recorded"),
            )
        )
    heads = columns("Time", "Event", "Identifier", "Rule", "#Step", "#Value", "*Reason")
    return Table("stops-table", "What ended or disturbed a run", heads, tuple(rows), dense=True)


def _losses(view: CloseView) -> str:
    losses = view.closeout.losses
    seen = f"Lost to {words.plural(losses.interruptions, 'interruption')}: {words.about(losses.lost)}."
    if not losses.interruptions:
        seen = "Nothing was interrupted."
    if losses.expected_lost is None and losses.expected_interruptions is None:
        return f"{seen} What was to be expected: not stated in the plan."
    count = (
        f"{words.decimal(losses.expected_interruptions, 1)} interruptions"
        if losses.expected_interruptions is not None
        else "each"
    )
    return f"{seen} Expected: {count}, {words.about(losses.expected_lost)}."


def lots(view: CloseView) -> Section:
    """What was bought, used and given back, and every expense in its own currency."""
    closeout = view.closeout
    blocks: list[Block] = []
    rows = []
    for lot in closeout.lots:
        rows.append(
            row(
                code(lot.name, lot.package or words.UNKNOWN),
                Cell(
                    f"{lot.gpus} × {lot.gpu}" if lot.gpus > 1 else lot.gpu or words.UNKNOWN,
                    note=f"order {lot.order}" if lot.order else "",
                ),
                number(words.money(lot.price)),
                number(view.when(lot.start)),
                number(view.when(lot.usable_end, unknown="no end")),
                number(words.about(lot.used)),
                number(words.about(lot.idle)),
                number(words.about(lot.uncommitted)),
                number(f"{words.decimal(lot.energy_kwh, 2)} kWh" if lot.energy_kwh is not None else "not measured"),
            )
        )
    if rows:
        heads = columns(
            "Lot",
            "GPU",
            "#Price",
            "#From",
            "#Usable until",
            "#GPU time used",
            "#GPU time idle",
            "#Uncommitted",
            "#Energy",
        )
        tail = "Used is GPU time that windows occupied; idle, what lay between the lot's start and its last work; uncommitted, what was left after it."
        blocks.append(Table("lots-table", "The lots", heads, tuple(rows), tail, dense=True))
    blocks.append(_costs(view))
    return Section("lot", "The lot and its cost", tuple(blocks), 4)


def _costs(view: CloseView) -> Table:
    costs = view.closeout.costs
    rows = []
    for line in costs.lines:
        source = (
            "recorded on the way"
            if line.recorded
            else "from the plan, an estimate"
            if line.estimate
            else "from the plan"
        )
        what = Cell(line.covers) if line.covers else quiet(words.NOT_STATED)
        rows.append(row(code(line.what), Cell(line.kind), what, Cell(source), number(words.money(line.amount))))
    for label, values, none in (
        ("Rental", costs.rental, "none"),
        ("Other expenses", costs.expenses, "none recorded"),
        ("In all", costs.total, "none"),
    ):
        rows.append(row(label, "", "", "", number(words.amounts(values, none)), emphasis=label == "In all"))
    tail = [f"Planned in all: {words.amounts(costs.planned_total)}."]
    if costs.limit is not None:
        tail.append(f"Budget limit: {words.money(costs.limit)}.")
    tail += [words.sentence(rate) for rate in costs.rates]
    tax = {
        "included": "Tax is included.",
        "excluded": "Tax is not included.",
        "mixed": "Tax is stated for some packages only.",
    }
    tail.append(tax.get(costs.tax, "Tax is not stated, and none is computed."))
    heads = columns("Item", "Kind", "*What for", "Source", "#Amount")
    return Table("costs-table", "Costs, currency by currency", heads, tuple(rows), " ".join(tail))
