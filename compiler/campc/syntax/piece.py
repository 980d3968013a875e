"""One piece of a text: some whole lines, read by themselves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from campc.diagnostic import Diagnostic, Edit, Fix, Note
from campc.records import define, evolve
from campc.source import Source, Span, Stretch
from campc.syntax.automaton import BRACE_CLOSE, END
from campc.syntax.layout import Layout, Whole, Wider, ends_with_line, in_a_row, paired_within
from campc.syntax.level import is_level
from campc.syntax.lexer import Tokens, tokenize
from campc.syntax.mend import mend_between
from campc.syntax.parse import in_order
from campc.syntax.parser import Parser
from campc.syntax.tree import Block, BodyItem, Comment, Item


@define(eq=False)
class Piece:
    """Whole lines of a text, and what stands in them. ``begin`` and ``end`` are counted in the stretch."""

    stretch: Stretch
    begin: int
    end: int
    items: tuple[Item | BodyItem, ...] = ()
    comments: tuple[Comment, ...] = ()
    faults: tuple[Diagnostic, ...] = ()
    recoveries: int = 0
    lost: bool = False
    """An item in it could not be read at all."""
    head: Piece | None = None
    """The first lines of the tier that it is in, or ends."""
    tail: Piece | None = None
    """The last lines of the tier of which it is the first ones."""
    is_tail: bool = False
    unpaired: bool = False
    """Its brackets don't pair, and were mended."""
    _level: bool | None = None

    @property
    def start(self) -> int:
        """Where it begins in the text."""
        return self.begin + self.stretch.base

    @property
    def stop(self) -> int:
        """Where it ends in the text."""
        return self.end + self.stretch.base

    @property
    def clean(self) -> bool:
        """Whether nothing in it is at fault."""
        return not (self.faults or self.recoveries or self.lost or self.unpaired)

    @property
    def edges_tier(self) -> bool:
        """Whether it is the first or the last lines of a tier, whose items are pieces of their own."""
        return self.tail is not None or self.is_tail

    @property
    def level(self) -> bool:
        """Whether its lines stay as they are when brackets elsewhere are mended."""
        if self._level is None:
            source, head = self.stretch.source, self.head
            if "\n" not in source.text[self.start : self.stop].strip() and not self.edges_tier:
                line = source.line(source.line_of(self.start))
                deeper = len(line) - len(line.lstrip(" \t"))
                self._level = head is None or source.position(head.items[0].at.start)[1] - 1 < deeper
            else:
                rows = _rows(self)
                if head is not None and head.tail is not None:
                    rows = [head.tokens(), *(() if self.is_tail else rows), head.tail.tokens()]
                self._level = is_level(in_a_row(source, rows))
        return self._level

    def tokens(self) -> Tokens:
        """Its tokens once more."""
        return tokenize(self.stretch.source, self.start, self.stop)[0]

    def edges(self) -> tuple[Tokens, Tokens]:
        """Of a head its own tokens, and those of the tier's last lines."""
        assert self.tail is not None
        return self.tokens(), self.tail.tokens()


def read_piece(
    source: Source,
    head: Piece | None,
    begin: int,
    end: int,
    around: tuple[Sequence[Piece], Sequence[Piece]] | None = None,
    *,
    edges: tuple[Tokens, Tokens] | None = None,
    unpaired: bool = False,
) -> Piece:
    """Read some lines, in the tier of ``head``. Without ``around`` faults only say that there are some; with it, the pieces before and behind
    these lines, they are those of the whole text. ``edges`` are the tokens of the tier's first and last lines, where they are at hand. ``unpaired``: the
    brackets in these lines are mended first, as long as all others are level.

    Raises Wider where the faults depend on more lines, and Whole where brackets don't pair.
    """
    stretch = Stretch(source)
    own, faults = tokenize(source, begin, end, stretch)
    before, after = around or ((), ())
    rows = []
    if edges is None and head is not None:
        edges = head.edges()
    opening = edges[0] if edges is not None else None
    if opening is not None:
        rows.append(opening)
    elif begin > 0 and not before:
        rows.append(Tokens(source, source, [END, -1], [begin - 1, -1], [begin, -1]))
    rows += [row for piece in before for row in _rows(piece)]
    rows.append(own)
    rows += [row for piece in after for row in _rows(piece)]
    if edges is not None:
        rows.append(edges[1])
    row = in_a_row(source, rows)
    row.of = stretch
    if unpaired:
        if not ends_with_line(own, end):
            raise Wider
        at = rows.index(own)
        mended = mend_between(row, _size(rows[:at]), _size(rows[at + 1 :]) + 1)
        if mended is None:
            raise Whole
        row, faults = mended[0], [*faults, *mended[1]]
    paired, brace = paired_within(row, opening)
    parser = Parser(paired)
    items: Any = parser.run()
    if head is not None:
        block = items[0] if len(items) == 1 else None
        if not isinstance(block, Block) or block.kind_at.start != head.items[0].at.start:
            raise Whole
        items = block.body
    faults = [*faults, *parser.diagnostics, *parser.build.diagnostics]
    if around is not None:
        starts, size = paired.tokens.starts, len(source.text)
        for met, reached in parser.met:
            if starts[met] < begin or (end < size and not starts[met] <= starts[reached] < end):
                raise Wider
        faults = [_held(fault, stretch, begin, end, head) for fault in in_order(faults)]
    return Piece(
        stretch,
        begin,
        end,
        tuple(item for item in items if begin <= item.at.start < end),
        tuple(own.comments),
        tuple(faults),
        parser.recoveries,
        brace in parser.build.lost,
        head,
        unpaired=unpaired,
    )


def _size(rows: Sequence[Tokens]) -> int:
    return sum(len(row.kinds) - 1 for row in rows)


def _rows(piece: Piece) -> list[Tokens]:
    """A piece's tokens; of a tier those of its first and last lines."""
    return [piece.tokens()] if piece.tail is None else [piece.tokens(), piece.tail.tokens()]


def read_tier(source: Source, layout: Layout) -> tuple[Piece, Piece] | None:
    """The first and the last lines of a tier; None where something in them is at fault."""
    assert layout.head is not None and layout.tail is not None
    first, last = Stretch(source), Stretch(source)
    opening, faults = tokenize(source, *layout.head, first)
    closing, more = tokenize(source, *layout.tail, last)
    row = in_a_row(source, (opening, closing))
    row.of = first
    paired, brace = paired_within(row, opening)
    parser = Parser(paired)
    items = parser.run()
    if (
        faults
        or more
        or parser.diagnostics
        or parser.build.diagnostics
        or parser.recoveries
        or brace in parser.build.lost
    ):
        return None
    if len(items) != 1:
        return None
    head = Piece(first, *layout.head, items=items, comments=tuple(opening.comments))
    end = closing.ends[closing.kinds.index(BRACE_CLOSE)]
    items = (evolve(items[0], at=Span(last, closing.starts[closing.kinds.index(BRACE_CLOSE)], end)),)
    head.tail = Piece(last, *layout.tail, items=items, comments=tuple(closing.comments), head=head, is_tail=True)
    return head, head.tail


def closed(tail: Piece, body: Sequence[Any], lost: bool) -> Block:
    """The block of a tier that a piece ends."""
    block = tail.items[0]
    assert isinstance(block, Block)
    at = Span(tail.stretch.source, block.kind_at.start, block.at.end)
    return Block(block.kind, block.kind_at, block.label, tuple(body), block.head, at, lost)


def _held(fault: Diagnostic, stretch: Stretch, begin: int, end: int, head: Piece | None) -> Diagnostic:
    """A fault with its places in the stretch, or in that of the tier's head. Raises Wider for one with places elsewhere."""

    def held(at: Span) -> Span:
        start, stop = at.start, at.end
        if begin <= start <= stop <= end:
            return Span(stretch, start, stop)
        if head is not None and head.start <= start <= stop <= head.stop:
            base = head.stretch.base
            return Span(head.stretch, start - base, stop - base)
        raise Wider

    fix = fault.fix
    if fix is not None:
        fix = Fix(fix.message, tuple(Edit(held(edit.at), edit.text) for edit in fix.edits))
    related = tuple(Note(held(note.at), note.message) for note in fault.related)
    return evolve(fault, at=held(fault.at), related=related, fix=fix)
