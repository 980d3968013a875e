"""What could be written at a place in a text that need not be whole: for editors."""

from __future__ import annotations

from collections.abc import Iterator

from campc.records import frozen
from campc.source import Source, Span
from campc.syntax.automaton import (
    ACTIONS,
    BRACE_CLOSE,
    BRACE_OPEN,
    CLOSER_OF,
    DOTTED,
    END,
    EQUALS,
    GOTOS,
    MAP_CLOSE,
    MAP_OPEN,
    RULES,
    STRING,
    TERMINALS,
    WORD,
    WORDS,
)
from campc.syntax.brackets import CLOSERS, opens_map
from campc.syntax.layout import in_a_row
from campc.syntax.lexer import Tokens, tokenize


@frozen
class Place:
    """Where a cursor stands.

    ``blocks`` are the heads of the blocks around it, from the outside in: kind, and name or None. ``attribute`` is the one
    whose value it is in, ``key`` the key of the map entry, if any. ``word`` is the part of a word before the cursor, and
    ``replace`` all of that word. ``expected`` are the terminals of the grammar that could stand here: ``WORD`` at the start of
    an item is the name of a block or attribute, and ``LITERAL`` says that a value could begin.
    """

    blocks: tuple[tuple[str, str | None], ...]
    attribute: str | None
    key: str | None
    word: str
    replace: Span
    expected: frozenset[str]
    in_text: bool = False
    """True inside a string or a comment."""
    written: frozenset[str] = frozenset()
    """The attributes that stand in the innermost block already."""


def place(
    source: Source, offset: int, begin: int = 0, until: int | None = None, head: tuple[int, int] | None = None
) -> Place:
    """What is around an offset, and what could be written there.

    Of a long text only the lines from ``begin`` up to ``until`` are looked at, where an item is known to begin and another one ends;
    ``head`` are the lines that open the block which they are in.
    """
    own, _ = tokenize(source, begin, until)
    tokens = own if head is None else in_a_row(source, (tokenize(source, *head)[0], own))
    tokens.comments = own.comments
    count, word = 0, source.span(offset, offset)
    in_text = any(comment.at.start < offset <= comment.at.end for comment in tokens.comments)
    for index, kind in enumerate(tokens.kinds[:-1]):
        start, end = tokens.starts[index], tokens.ends[index]
        if start >= offset:
            break
        if end >= offset and (kind in WORDS or kind == DOTTED):
            word = source.span(start, end)
            break
        in_text = in_text or (kind == STRING and (offset < end or (offset == end and start in tokens.broken)))
        count = index + 1
    opened, item = _open(tokens, count)
    blocks = tuple(_head(tokens, brace) for brace in opened if brace >= 0)
    attribute = key = None
    if len(item) > 1 and tokens.kinds[item[1]] == EQUALS:
        attribute = tokens.text(item[0])
    elif len(item) > 2 and tokens.kinds[item[2]] == EQUALS:
        attribute = tokens.text(item[1])
    kinds = _kinds(tokens, item)
    if attribute is not None and len(kinds) > 2 and kinds[-1] == EQUALS:
        key = tokens.text(item[-2]).strip('"')
    return Place(
        blocks,
        attribute,
        key,
        source.text[word.start : offset],
        word,
        frozenset() if in_text else _expected([WORD, BRACE_OPEN, *kinds] if blocks else kinds),
        in_text,
        frozenset(_attributes(tokens, max(opened, default=-1))),
    )


def _open(tokens: Tokens, count: int) -> tuple[list[int], list[int]]:
    """The braces of the blocks that are open after some tokens, -1 for each bracket of a value; and the item's tokens so far."""
    opened: list[int] = []
    closers: list[int] = []
    item_starts = [0]
    for index in range(count):
        kind = tokens.kinds[index]
        if kind in CLOSER_OF:
            in_value = bool(opened) and opened[-1] < 0
            is_map = kind != BRACE_OPEN or in_value or opens_map(tokens, index, len(opened))
            opened.append(-1 if is_map else index)
            closers.append(CLOSER_OF[kind])
            item_starts.append(item_starts[-1] if is_map else index + 1)
        elif kind in CLOSERS and closers and closers[-1] == kind:
            closers.pop()
            item_starts.pop()
            if opened.pop() >= 0:
                item_starts[-1] = index + 1
        elif kind == END and not (opened and opened[-1] < 0):
            item_starts[-1] = index + 1
    return opened, list(range(item_starts[-1], count))


def _attributes(tokens: Tokens, brace: int) -> Iterator[str]:
    """The names of the attributes in a block, or of none."""
    kinds, depth = tokens.kinds, 0
    for index in range(brace + 1, len(kinds) - 1 if brace >= 0 else 0):
        kind = kinds[index]
        if kind in CLOSER_OF:
            depth += 1
        elif kind in CLOSERS:
            depth -= 1
            if depth < 0:
                break
        elif depth == 0 and kind in WORDS and kinds[index + 1] == EQUALS and kinds[index - 1] in (END, BRACE_OPEN):
            yield tokens.text(index)


def _head(tokens: Tokens, brace: int) -> tuple[str, str | None]:
    first = brace
    while first > 0 and tokens.kinds[first - 1] in WORDS | {STRING}:
        first -= 1
    words = [tokens.text(index).strip('"') for index in range(first, brace)]
    return (words[0] if words else "", words[1] if len(words) > 1 else None)


def _kinds(tokens: Tokens, item: list[int]) -> list[int]:
    """The kinds of an item's tokens as the parser sees them."""
    kinds: list[int] = []
    depth = 0
    for index in item:
        kind = tokens.kinds[index]
        if kind == END:
            continue
        if kind == BRACE_OPEN and (depth or opens_map(tokens, index, 1)):
            kind = MAP_OPEN
        elif kind == BRACE_CLOSE and depth:
            kind = MAP_CLOSE
        if kind in CLOSER_OF or kind == MAP_OPEN:
            depth += 1
        elif kind in CLOSERS or kind == MAP_CLOSE:
            depth -= 1
        kinds.append(kind)
    return kinds


def _expected(kinds: list[int]) -> frozenset[str]:
    states = [0]
    for kind in kinds:
        if not _shift(states, kind):
            return frozenset()
    return frozenset(name for kind, name in enumerate(TERMINALS) if _shift(list(states), kind))


def _shift(states: list[int], kind: int) -> bool:
    while True:
        action = ACTIONS[states[-1]].get(kind)
        if action is None:
            return False
        if action >= 0:
            states.append(action)
            return True
        symbol, length, _ = RULES[~action]
        if length:
            del states[-length:]
        states.append(GOTOS[states[-1]][symbol])
