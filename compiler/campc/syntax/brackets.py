"""Pairs brackets, and leaves out the newlines inside those of values."""

from __future__ import annotations

from campc.records import define, field
from campc.syntax.automaton import (
    BRACE_CLOSE,
    BRACE_OPEN,
    BRACKET_CLOSE,
    BRACKET_OPEN,
    CLOSER_OF,
    COMMA,
    COMPARE,
    END,
    EQUALS,
    LET,
    MAP_CLOSE,
    MAP_OPEN,
    MINUS,
    OTHER,
    OVER,
    PAREN_CLOSE,
    PAREN_OPEN,
    PLUS,
    STRING,
    TIMES,
    TO,
    USE,
    WORDS,
)
from campc.syntax.lexer import Tokens

DEEPEST = 100
"""How deep brackets, and the parts of an expression, may be nested."""

CLOSERS = frozenset({BRACE_CLOSE, BRACKET_CLOSE, PAREN_CLOSE})
SIGNS = {BRACE_OPEN: "{", BRACKET_OPEN: "[", PAREN_OPEN: "(", BRACE_CLOSE: "}", BRACKET_CLOSE: "]", PAREN_CLOSE: ")"}

_BEFORE_VALUE = frozenset({COMMA, BRACKET_OPEN, PAREN_OPEN, PLUS, MINUS, TIMES, OVER, COMPARE, TO})


@define
class Paired:
    """Tokens without the newlines that do not count, their brackets in pairs; a semicolon inside a value is ``OTHER``.

    ``block`` is, for each token, the index of the brace that opens the innermost block around it, or -1; a block's closing
    brace counts as inside it, its opening one does not. A bracket that was put in has no width.
    """

    tokens: Tokens
    block: list[int] = field(factory=list)

    def is_added(self, index: int) -> bool:
        """Whether a token was put in, and its lack reported."""
        return self.tokens.starts[index] == self.tokens.ends[index] and self.tokens.kinds[index] in (
            *CLOSERS,
            MAP_CLOSE,
        )


def opens_map(tokens: Tokens, index: int, depth: int) -> bool:
    """Whether the brace at ``index`` opens a map rather than a block; ``depth`` is how many brackets are open there."""
    if index == 0:
        return False
    kinds, before = tokens.kinds, index - 1
    if kinds[before] in _BEFORE_VALUE:
        return True
    if kinds[before] != EQUALS and tokens.text(before) != ":":
        return kinds[before] == OTHER
    # `run a = {` and, where only blocks can stand, `checkpoint = {` are blocks with a sign too many.
    at = before - 1
    if at >= 1 and kinds[at - 1] in WORDS and kinds[at - 1] != LET and (kinds[at] in WORDS or kinds[at] == STRING):
        return not _begins_item(tokens, at - 1)
    return not (depth == 0 and at >= 0 and kinds[at] in WORDS and _begins_item(tokens, at))


def _begins_item(tokens: Tokens, index: int) -> bool:
    return index == 0 or tokens.kinds[index - 1] in (END, BRACE_OPEN, BRACE_CLOSE)


def heads_block(kinds: list[int], index: int) -> bool:
    """Whether a block, ``let`` or ``use`` seems to begin at a token."""
    if kinds[index] not in WORDS:
        return False
    following = kinds[index + 1]
    if following == BRACE_OPEN or (kinds[index] == USE and following == STRING):
        return True
    if following not in WORDS and following != STRING:
        return False
    third = kinds[index + 2]
    return third == BRACE_OPEN or (kinds[index] == LET and third == EQUALS)


def begins_item(kinds: list[int], index: int) -> bool:
    """Whether an item seems to begin at a token."""
    return kinds[index] in WORDS and (kinds[index + 1] == EQUALS or heads_block(kinds, index))


def pair(tokens: Tokens) -> Paired | None:
    """The tokens with their brackets in pairs, or None where they do not pair or are nested too deeply."""
    kept = Tokens(tokens.source, tokens.of, comments=tokens.comments, broken=tokens.broken, read=tokens.read)
    kept.cut_short, kept.too_deep = tokens.cut_short, tokens.too_deep
    kinds, starts, ends = kept.kinds, kept.starts, kept.ends
    block: list[int] = []
    source_starts, source_ends, text = tokens.starts, tokens.ends, tokens.source.text
    open_closers: list[int] = []
    outer: list[tuple[bool, int]] = []
    in_value, inside = False, -1
    for index, kind in enumerate(tokens.kinds):
        start = source_starts[index]
        if kind == END:
            if in_value:
                if text[start] != ";":
                    continue
                kind = OTHER
            block.append(inside)
        elif kind in CLOSER_OF:
            if len(open_closers) >= DEEPEST:
                return None
            open_closers.append(CLOSER_OF[kind])
            outer.append((in_value, inside))
            block.append(inside)
            if kind != BRACE_OPEN:
                in_value = True
            elif in_value or opens_map(tokens, index, len(open_closers) - 1):
                in_value = True
                kind = MAP_OPEN
            else:
                inside = len(kinds)
        elif kind in CLOSERS:
            if not open_closers or open_closers.pop() != kind:
                return None
            block.append(inside)
            if kind == BRACE_CLOSE and in_value:
                kind = MAP_CLOSE
            in_value, inside = outer.pop()
        else:
            block.append(inside)
        kinds.append(kind)
        starts.append(start)
        ends.append(source_ends[index])
    return None if open_closers else Paired(kept, block)
