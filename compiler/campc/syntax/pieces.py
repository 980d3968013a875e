"""A text that is edited, in pieces: the lines of each item, so that after an edit only those around it are read again.

As long as every bracket is closed within its item, what stands in one says nothing of the others: a piece without faults reads the
same wherever it stands. A piece with faults is read between its neighbours, since a message may look beyond the item; where one
looks further the piece grows, and where brackets don't pair there are no pieces: the text is read as a whole.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable
from typing import Any

from campc.diagnostic import Diagnostic
from campc.records import define
from campc.source import Source
from campc.syntax.layout import Whole, Wider, lay_out, ranges
from campc.syntax.lexer import MOST_FAULTS
from campc.syntax.parse import in_order
from campc.syntax.piece import Piece, closed, read_piece, read_tier
from campc.syntax.tree import Comment, File

_FEW_FAULTS = MOST_FAULTS // 2
"""With more, what is told of one piece may depend on how many faults are told of the others."""
_FEW_RECOVERIES = 5 * MOST_FAULTS
_WIDEST = 32
"""How often the lines around a fault are taken in before the text is read as a whole."""


@define(eq=False)
class Pieces:
    """All pieces of a text, in order."""

    source: Source
    pieces: list[Piece]

    def file(self) -> tuple[File, tuple[Diagnostic, ...]]:
        """The tree of the text, and its faults in order."""
        items: list[Any] = []
        comments: list[Comment] = []
        faults: list[Diagnostic] = []
        body: list[Any] = []
        lost = False
        for piece in self.pieces:
            comments += piece.comments
            faults += piece.faults
            if piece.tail is not None:
                body, lost = [], False
            elif piece.is_tail:
                items.append(closed(piece, body, lost))
            elif piece.head is None:
                items += piece.items
            else:
                body += piece.items
                lost = lost or piece.lost
        return File(self.source, tuple(items), tuple(comments)), tuple(in_order(faults))

    def edit(self, source: Source) -> bool:
        """Read the text as it was edited; False where it can't be read in pieces, and then nothing here holds any more."""
        begin, end, grown = _difference(self.source.text, source.text)
        first, last = self._touched(begin, end)
        start = self.pieces[first].start
        self.source = source
        for piece in self.pieces:
            piece.stretch.source = source
        for piece in self.pieces[last:]:
            piece.stretch.base += grown
        if any(piece.edges_tier for piece in self.pieces[first:last]):
            return False
        try:
            self.read_again(first, last, start)
        except Whole:
            return False
        unpaired = sum(piece.unpaired for piece in self.pieces)
        if unpaired and (unpaired > 1 or not all(piece.level for piece in self.pieces if not piece.unpaired)):
            return False
        return bool(self.pieces) and self.few_faults()

    def around(self, source: Source, offset: int) -> tuple[int, int, tuple[int, int] | None]:
        """The lines of the piece that an offset is in, and those of its tier's head; ``source`` may be this text after an edit."""
        begin, end, grown = offset, offset, 0
        if source.text != self.source.text:
            begin, end, grown = _difference(self.source.text, source.text)
        first = bisect_right(self.pieces, min(offset, begin), key=_start) - 1
        last = bisect_left(self.pieces, max(offset - grown, end), key=_start)
        piece = self.pieces[first]
        head = piece.head
        stop = self.pieces[last].start + grown if last < len(self.pieces) else len(source.text)
        return piece.start, max(stop, offset), (head.start, head.stop) if head is not None else None

    def few_faults(self) -> bool:
        """Whether there are so few faults that each is told whatever the others are."""
        told = sum(len(piece.faults) for piece in self.pieces if piece.faults)
        return told < _FEW_FAULTS and sum(p.recoveries for p in self.pieces if p.recoveries) < _FEW_RECOVERIES

    def _touched(self, begin: int, end: int) -> tuple[int, int]:
        """The first piece that an edit of a range of offsets touches, and the one after the last."""
        pieces = self.pieces
        first = bisect_right(pieces, begin, key=_start) - 1
        last = max(bisect_left(pieces, end, key=_start), first + 1)
        if begin == end == pieces[first].start and pieces[first].edges_tier and first > 0:
            first, last = first - 1, last - 1  # what is put in before these lines ends those before them
        while first > 0 and not pieces[first - 1].clean:
            first -= 1
        while last < len(pieces) and not pieces[last].clean:
            last += 1
        return first, last

    def read_again(self, first: int, last: int, start: int) -> None:
        """Read what stands from ``start``, where the piece ``first`` began, up to the piece ``last``. Raises Whole."""
        pieces = self.pieces
        for _ in range(_WIDEST):
            stop = pieces[last].start if last < len(pieces) else len(self.source.text)
            try:
                found = self._read(first, last, start, stop)
            except Wider:
                wider = False
                if first > 0 and not pieces[first - 1].edges_tier:
                    first, wider = first - 1, True
                    start = pieces[first].start
                if last < len(pieces) and not pieces[last].edges_tier:
                    last, wider = last + 1, True
                if not wider:
                    raise Whole from None
                continue
            for piece in pieces[first:last]:
                piece.stretch.gone = True
            pieces[first:last] = found
            return
        raise Whole

    def give_up(self) -> None:
        """The text is no longer read in pieces."""
        for piece in self.pieces:
            piece.stretch.gone = True

    def _read(self, first: int, last: int, start: int, stop: int) -> list[Piece]:
        head = self._head_of(first)
        edges = head.edges() if head is not None else None
        try:
            cut = ranges(self.source, start, stop, edges)
        except Whole:
            around = self._neighbour(first - 1, behind=False), self._neighbour(last, behind=True)
            return [read_piece(self.source, head, start, stop, around, edges=edges, unpaired=True)]
        found = [read_piece(self.source, head, *lines, edges=edges) for lines in cut]
        if not all(piece.clean for piece in found):
            outside = self._neighbour(first - 1, behind=False), self._neighbour(last, behind=True)
            at = 0
            while at < len(found):
                if not found[at].clean:
                    at = self._read_faulty(found, at, head, outside)
                at += 1
        return found

    def _read_faulty(
        self, found: list[Piece], at: int, head: Piece | None, outside: tuple[list[Piece], list[Piece]]
    ) -> int:
        """Read a piece that has faults between its neighbours, with as many of these as its messages look at; where it is then."""
        low, high = at, at + 1
        while True:
            while low > 0 and not found[low - 1].clean:
                low -= 1
            while high < len(found) and not found[high].clean:
                high += 1
            before = [found[low - 1]] if low else outside[0]
            after = [found[high]] if high < len(found) else outside[1]
            try:
                piece = read_piece(self.source, head, found[low].start, found[high - 1].stop, (before, after))
            except Wider:
                if low == 0 and high == len(found):
                    raise
                low, high = max(low - 1, 0), min(high + 1, len(found))
                continue
            found[low:high] = [piece]
            return low

    def _head_of(self, index: int) -> Piece | None:
        """The head of the tier in which lines before the piece at an index are."""
        if index == 0:
            return None
        before = self.pieces[index - 1]
        return before if before.tail is not None else None if before.is_tail else before.head

    def _neighbour(self, index: int, *, behind: bool) -> list[Piece]:
        """What is read before or behind faulty lines: the piece at an index; of another tier its edges. Raises Wider for a faulty one."""
        if not 0 <= index < len(self.pieces):
            return []
        piece = self.pieces[index]
        if not piece.clean:
            raise Wider
        if not piece.edges_tier:
            return [piece]
        if behind:
            return [piece] if piece.tail is not None else []
        return [piece.head] if piece.is_tail and piece.head is not None else []


def read_in_pieces(source: Source) -> Pieces | None:
    """A text in pieces; None where it can't be read so."""
    found: list[Piece] = []
    try:
        for layout in lay_out(source):
            tier = read_tier(source, layout) if layout.head is not None else None
            if tier is None:
                found.append(read_piece(source, None, *layout.lines))
                continue
            found.append(tier[0])
            edges = tier[0].edges()
            found += [read_piece(source, tier[0], *lines, edges=edges) for lines in layout.inner]
            found.append(tier[1])
        whole = Pieces(source, found)
        at = len(found) - 1
        while at >= 0:
            until = at + 1
            while at > 0 and not found[at].clean and not found[at - 1].clean:
                at -= 1
            if not found[at].clean:
                whole.read_again(at, until, found[at].start)
            at -= 1
    except (Whole, Wider):
        return None
    return whole if found and whole.few_faults() else None


def _start(piece: Piece) -> int:
    return piece.stretch.base + piece.begin


def _difference(old: str, new: str) -> tuple[int, int, int]:
    """Where two texts differ: the range of the old one that was replaced, and how much longer the new one is."""
    most = min(len(old), len(new))
    begin = _longest(lambda size: old.startswith(new[:size]), most)
    rest = _longest(lambda size: old.endswith(new[len(new) - size :]), most - begin)
    return begin, len(old) - rest, len(new) - len(old)


def _longest(holds: Callable[[int], bool], most: int) -> int:
    """The largest size, up to ``most``, for which something holds that holds for all smaller ones."""
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        if holds(middle):
            low = middle
        else:
            high = middle - 1
    return low
