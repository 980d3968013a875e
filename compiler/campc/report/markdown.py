"""A document's essence as Markdown, for a pull request or a chat."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from campc.closeout.model import Closeout
from campc.report import words
from campc.report.blocks import Block, Cell, Document, Figure, Inline, Items, Paragraph, Section, Table
from campc.report.close_page import closeout_document
from campc.report.plan_page import plan_document
from campc.schedule.plan import Plan

ROWS_AT_MOST = 60
"""A comment holds no more; the rest is counted."""


def plan_markdown(plan: Plan) -> str:
    """The first half page of the plan, its windows, packages and budget."""
    document = plan_document(plan)
    return words.visible("\n".join(_lines(document, ("windows", "packages", "budget")))) + "\n"


def closeout_markdown(closeout: Closeout) -> str:
    """The first half page of the closeout, its deliverables, windows and lessons."""
    document = closeout_document(closeout)
    return words.visible("\n".join(_lines(document, ("deliverables", "timeline", "lessons")))) + "\n"


def _lines(document: Document, sections: Iterable[str]) -> Iterator[str]:
    cover = document.cover
    yield from (f"# {escaped(cover.title)}", "", _inline(cover.lead), "")
    for remark in cover.remarks:
        yield from (f"> **Read this first:** {escaped(remark)}", "")
    yield from (f"**{escaped(cover.verdict)}.** {_inline(cover.verdict_text)}", "")
    for paragraph in cover.paragraphs:
        yield from (_inline(paragraph.text), "")
    for section in document.sections:
        if section.name in sections:
            yield from _section(section)
    yield escaped(document.stamp)


def _section(section: Section) -> Iterator[str]:
    yield from (f"## {escaped(section.title)}", "")
    for block in section.blocks:
        yield from _block(block)


def _block(block: Block) -> Iterator[str]:
    if isinstance(block, Paragraph):
        yield from (_inline(block.text), "")
    elif isinstance(block, Items):
        box = "- [ ] " if block.kind == "checks" else "- "
        yield from (*(f"{box}{_inline(item)}" for item in block.items), "")
    elif isinstance(block, Table):
        yield from _table(block)
    elif not isinstance(block, Figure):
        yield from (f"### {escaped(block.text)}", "")


def _table(table: Table) -> Iterator[str]:
    yield from (f"**{escaped(table.caption)}**", "")
    yield f"| {' | '.join(escaped(column.label) for column in table.columns)} |"
    yield f"|{'|'.join('---:' if column.number else '---' for column in table.columns)}|"
    for row in table.rows[:ROWS_AT_MOST]:
        cells = [_cell(cell) for cell in row.cells]
        yield f"| {' | '.join(f'**{cell}**' if row.emphasis and cell and i == 0 else cell for i, cell in enumerate(cells))} |"
    if len(table.rows) > ROWS_AT_MOST:
        yield f"| … and {len(table.rows) - ROWS_AT_MOST:,} more |{' |' * (len(table.columns) - 1)}"
    yield ""


def _cell(cell: Cell) -> str:
    text = code(cell.text).replace("|", "\\|") if cell.look == "code" else escaped(cell.text)
    return f"{text} ({escaped(cell.note)})" if cell.note and cell.text else text


def _inline(parts: tuple[Inline, ...]) -> str:
    out = []
    for part in parts:
        if isinstance(part, str):
            out.append(escaped(part))
        elif part.kind == "code":
            out.append(code(part.text))
        else:
            mark = "**" if part.kind == "strong" else "*"
            text = part.text.strip()
            out.append(f"{mark}{escaped(text)}{mark}{' ' if part.text.endswith(' ') else ''}")
    return "".join(out)


def escaped(text: str) -> str:
    """Text that Markdown and HTML leave as it is, on one line."""
    flat = " ".join(text.replace("&", "&amp;").replace("<", "&lt;").split("\n"))
    return re.sub(r"([\\`*_\[\]|~#])", r"\\\1", flat)


def code(text: str) -> str:
    """Text as code, whatever backticks it holds, on one line."""
    flat = " ".join(text.split())
    if not flat:
        return ""
    longest = max((len(run) for run in re.findall(r"`+", flat)), default=0)
    fence = "`" * (longest + 1)
    pad = " " if "`" in flat else ""
    return f"{fence}{pad}{flat}{pad}{fence}"
