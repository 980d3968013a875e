"""What a document is made of: sections of paragraphs, tables, lists and charts. Every text is finished; templates only set it."""

from __future__ import annotations

from collections.abc import Iterable

from attrs import field, frozen

from campc.report.drawing import Drawing


@frozen
class Code:
    """Words of the spec, set in the fixed-width face."""

    text: str
    kind: str = "code"


@frozen
class Strong:
    """Words that the sentence turns on."""

    text: str
    kind: str = "strong"


@frozen
class Quiet:
    """Words that say that something isn't known, or is only an aside."""

    text: str
    kind: str = "quiet"


Inline = str | Code | Strong | Quiet


def _inlines(value: Inline | Iterable[Inline]) -> tuple[Inline, ...]:
    return (value,) if isinstance(value, (str, Code, Strong, Quiet)) else tuple(value)


def _each_inlines(items: Iterable[Inline | Iterable[Inline]]) -> tuple[tuple[Inline, ...], ...]:
    return tuple(_inlines(item) for item in items)


@frozen
class Paragraph:
    text: tuple[Inline, ...] = field(converter=_inlines)
    kind: str = "paragraph"


@frozen
class Items:
    """A list; ``kind`` is ``items``, or ``checks`` for boxes to tick."""

    items: tuple[tuple[Inline, ...], ...] = field(converter=_each_inlines)
    kind: str = "items"


@frozen
class Cell:
    """A cell. ``look`` is one of "", number, code, good, bad, quiet; ``note`` is a smaller second line."""

    text: str
    look: str = ""
    note: str = ""


@frozen
class Column:
    label: str
    number: bool = False
    wide: bool = False
    """Whether it takes the room that others leave."""


@frozen
class Row:
    cells: tuple[Cell, ...]
    emphasis: bool = False
    """The row that was chosen, or a sum."""


@frozen
class Table:
    """A table with a caption; the first column names its rows."""

    name: str
    caption: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    tail: str = ""
    """A remark below it."""
    dense: bool = False
    """Smaller type, for tables with many columns or of the appendix."""
    kind: str = "table"


@frozen
class Figure:
    """One or several drawings with a caption; ``wide`` where they want a landscape page."""

    name: str
    caption: str
    drawings: tuple[Drawing, ...]
    wide: bool = False
    table: str = ""
    """The name of the table that says the same."""
    small: bool = False
    """Small multiples, side by side."""
    kind: str = "figure"


@frozen
class Subheading:
    text: str
    kind: str = "subheading"


Block = Paragraph | Items | Table | Figure | Subheading


@frozen
class Section:
    """A numbered section, or the appendix (no number)."""

    name: str
    title: str
    blocks: tuple[Block, ...]
    number: int | None = None
    wide: bool = False


@frozen
class KeyFigure:
    """A number of the first half page, with what it means."""

    value: str
    label: str
    look: str = ""


@frozen
class Cover:
    """The first half page."""

    kind: str
    """Plan or closeout."""
    title: str
    """The page's heading: the question, or the answer."""
    lead: tuple[Inline, ...]
    verdict: str
    verdict_look: str
    verdict_text: tuple[Inline, ...]
    figures: tuple[KeyFigure, ...]
    paragraphs: tuple[Paragraph, ...]
    blanks: tuple[str, ...]
    """What is filled in by hand."""
    remarks: tuple[str, ...] = ()
    """Warnings that must be read first."""


@frozen
class Document:
    """A whole document."""

    title: str
    """Of the file: campaign and kind."""
    running_head: str
    description: str
    stamp: str
    """The plan's hash, shortened: stands on every page."""
    cover: Cover
    sections: tuple[Section, ...]

    @property
    def drawings(self) -> tuple[Drawing, ...]:
        """Every chart."""
        return tuple(
            drawing
            for section in self.sections
            for block in section.blocks
            if isinstance(block, Figure)
            for drawing in block.drawings
        )


def row(*cells: str | Cell, emphasis: bool = False) -> Row:
    """A row of cells and plain texts."""
    return Row(tuple(Cell(cell) if isinstance(cell, str) else cell for cell in cells), emphasis)


def columns(*labels: str) -> tuple[Column, ...]:
    """Columns by label; ``#`` before a label makes it one of numbers, ``*`` the wide one."""
    return tuple(Column(label.lstrip("#*"), label.startswith("#"), label.startswith("*")) for label in labels)


def number(text: str, note: str = "") -> Cell:
    """A cell of figures; what is unknown is set quietly."""
    return Cell(text, "quiet" if text in ("unknown", "not stated", "none", "—") else "number", note)


def code(text: str, note: str = "") -> Cell:
    """A cell of words of the spec."""
    return Cell(text, "code", note)


def quiet(text: str) -> Cell:
    """A cell that says that something isn't known."""
    return Cell(text, "quiet")
