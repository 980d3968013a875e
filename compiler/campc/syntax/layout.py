"""Where a text can be cut into pieces: at the ends of the lines on which an item ends."""

from __future__ import annotations

from collections.abc import Iterable

from campc.records import frozen
from campc.source import Source
from campc.syntax.automaton import BRACE_CLOSE, BRACE_OPEN, END, END_OF_FILE, WORDS
from campc.syntax.brackets import Paired, pair
from campc.syntax.lexer import Tokens, tokenize

Lines = tuple[int, int]
"""Whole lines: the offset at which they begin, and the one at which the next begin."""


class Wider(Exception):
    """More lines must be read together."""


class Whole(Exception):
    """The text can't be read in pieces."""


@frozen
class Layout:
    """The lines of an item; of a tier the lines of its head, of its items and of its end."""

    lines: Lines
    head: Lines | None = None
    inner: tuple[Lines, ...] = ()
    tail: Lines | None = None


def in_a_row(source: Source, parts: Iterable[Tokens]) -> Tokens:
    """The tokens of several lines as if they were a text of their own."""
    row = Tokens(source, source)
    for part in parts:
        row.kinds += part.kinds[:-1]
        row.starts += part.starts[:-1]
        row.ends += part.ends[:-1]
        row.broken |= part.broken
        row.read.update(part.read)
    row.kinds.append(END_OF_FILE)
    row.starts.append(len(source.text))
    row.ends.append(len(source.text))
    return row


def paired_within(row: Tokens, head: Tokens | None) -> tuple[Paired, int]:
    """The tokens in a row with their brackets in pairs, and the index of the brace by which ``head``, the first of them, opens a tier;
    -1 without one. Raises Whole where brackets don't pair, or the tier isn't closed by the last of them."""
    paired = pair(row)
    if paired is None:
        raise Whole
    if head is None:
        return paired, -1
    brace = head.kinds.index(BRACE_OPEN)
    kinds = paired.tokens.kinds
    last = next(at for at in range(len(kinds) - 1, -1, -1) if kinds[at] == BRACE_CLOSE)
    if paired.block[last] != brace:
        raise Whole
    return paired, brace


def ends_with_line(tokens: Tokens, end: int) -> bool:
    """Whether the last token is the end of the line before ``end``, or of the text."""
    if end == len(tokens.source.text):
        return not tokens.cut_short
    return len(tokens.kinds) > 1 and tokens.kinds[-2] == END and tokens.ends[-2] == end and not tokens.cut_short


def lay_out(source: Source) -> list[Layout]:
    """A whole text cut at its items, and at those of its tiers. Raises Whole where brackets don't pair."""
    tokens, _ = tokenize(source)
    paired = pair(tokens)
    if paired is None or tokens.cut_short:
        raise Whole
    found = []
    kinds, starts, ends, block = paired.tokens.kinds, paired.tokens.starts, paired.tokens.ends, paired.block
    closings = {block[at]: at for at, kind in enumerate(kinds) if kind == BRACE_CLOSE}
    index = 0
    for begin, end in _cut(paired, -1, 0, 0, len(source.text)):
        while starts[index] < begin or (kinds[index] == END and ends[index] < end):
            index += 1
        if kinds[index] == END_OF_FILE:  # blank lines and comments alone
            found.append(Layout((begin, end)))
            continue
        brace = index + 1
        while kinds[brace] in WORDS:
            brace += 1
        closing = closings[brace] if paired.tokens.text(index) == "tier" and kinds[brace] == BRACE_OPEN else -1
        after = kinds[closing + 1] if closing > 0 else -1
        if (
            closing > 0
            and closing > brace + 2
            and _ends_line(paired, brace + 1)
            and _ends_line(paired, closing - 1)
            and (after == END_OF_FILE or (_ends_line(paired, closing + 1) and ends[closing + 1] <= end))
        ):
            opened, closed = ends[brace + 1], ends[closing - 1]
            rest = source.text.find("\n", starts[closing]) + 1
            # Comments and blank lines behind the tier are read with its end.
            assert rest == 0 or rest <= end
            inner = tuple(_cut(paired, brace, brace + 2, opened, closed))
            found.append(Layout((begin, end), (begin, opened), inner, (closed, end)))
            index = closing
        else:
            found.append(Layout((begin, end)))
    return found


def ranges(source: Source, begin: int, end: int, edges: tuple[Tokens, Tokens] | None = None) -> list[Lines]:
    """Some lines cut at their items; ``edges`` are the tokens around them, of a tier.

    Raises Wider where the last of them don't end within, or no item stands in them, and Whole where brackets don't pair.
    """
    if begin == end:
        return []
    tokens, _ = tokenize(source, begin, end)
    if not ends_with_line(tokens, end) or tokens.kinds.count(END) == len(tokens.kinds) - 1:
        raise Wider
    if edges is None:
        paired, brace = paired_within(in_a_row(source, (tokens,)), None)
        first = 0
    else:
        paired, brace = paired_within(in_a_row(source, (edges[0], tokens, edges[1])), edges[0])
        first = len(edges[0].kinds) - 1
    return _cut(paired, brace, first, begin, end)


def _cut(paired: Paired, level: int, first: int, begin: int, end: int) -> list[Lines]:
    """The lines of the items in the block of the brace ``level``; ``first`` is the first token that counts. What is behind the last
    item belongs to it."""
    tokens, block, text = paired.tokens, paired.block, paired.tokens.source.text
    kinds, starts, ends = tokens.kinds, tokens.starts, tokens.ends
    found: list[Lines] = []
    at, empty = begin, True
    for index in range(first, len(kinds)):
        start = starts[index]
        if start >= end:
            break
        if kinds[index] != END:
            empty = False
        elif block[index] == level and not empty and text[start] != ";":
            found.append((at, ends[index]))
            at, empty = ends[index], True
    if at < end:
        if empty and found:
            found[-1] = (found[-1][0], end)
        else:
            found.append((at, end))
    return found


def _ends_line(paired: Paired, index: int) -> bool:
    tokens = paired.tokens
    return tokens.kinds[index] == END and tokens.source.text[tokens.starts[index]] != ";"
