"""Section 1 of the closeout: whether a rerun agrees with its run."""

from __future__ import annotations

from campc.closeout.model import RerunResult
from campc.report import words
from campc.report.blocks import Block, Cell, Paragraph, Row, Table, code, columns, number, row
from campc.report.close_view import CloseView

SHOWN_AT_MOST = 24
"""Rows; where there are more, only those that do not agree are shown."""


def reruns(view: CloseView) -> list[Block]:
    """Each metric of a rerun beside the first run's; nothing where the plan has no rerun."""
    found = view.closeout.reruns
    if not found:
        return []
    differing = [rerun for rerun in found if rerun.holds is not True]
    shown = found if len(found) <= SHOWN_AT_MOST else differing[:SHOWN_AT_MOST]
    blocks: list[Block] = []
    if len(shown) < len(found):
        agreeing = len(found) - len(differing)
        blocks.append(Paragraph(f"{agreeing:,} of {len(found):,} values of the reruns agree with their runs."))
    if shown:
        heads = columns("Rerun of", "*Metric", "#First", "#Again", "#Tolerance", "Result")
        blocks.append(Table("reruns-table", "Reruns beside their runs", heads, tuple(map(_rerun, shown))))
    return blocks


def _rerun(rerun: RerunResult) -> Row:
    result = {True: Cell("agrees", "good"), False: Cell("differs", "bad"), None: Cell("not compared")}[rerun.holds]
    first, again = words.figure(rerun.first), words.figure(rerun.again)
    if rerun.holds is False and first == again:
        first, again = f"{rerun.first:.12g}", f"{rerun.again:.12g}"
    return row(
        code(rerun.run_id, rerun.window),
        code(rerun.metric),
        number(first),
        number(again),
        number(f"{rerun.tolerance * 100:.4g} %"),
        result,
    )
