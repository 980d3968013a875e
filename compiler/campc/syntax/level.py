"""Whether lines are indented as their brackets are nested, so that mending brackets elsewhere leaves them as they are."""

from __future__ import annotations

from campc.syntax.automaton import BRACE_CLOSE, BRACE_OPEN, CLOSER_OF, END
from campc.syntax.brackets import CLOSERS, begins_item, opens_map
from campc.syntax.lexer import Tokens


def is_level(tokens: Tokens) -> bool:
    """Whether every item that begins a line stands deeper than the bracket around it, and every brace that closes a block begins a line
    under the one that opens it, or ends on its line."""
    kinds, starts, source = tokens.kinds, tokens.starts, tokens.source
    opened: list[tuple[int, bool, int, int]] = []
    line = indent = 0
    for index, kind in enumerate(kinds):
        start = starts[index]
        first = index == 0 or (kinds[index - 1] == END and source.text[starts[index - 1]] != ";")
        if first and kind != END:
            line, column = source.position(start)
            indent = column - 1
            if opened and opened[-1][2] >= indent and begins_item(kinds, index):
                return False
        if kind in CLOSER_OF:
            in_block = not opened or opened[-1][1]
            is_block = kind == BRACE_OPEN and in_block and not opens_map(tokens, index, len(opened))
            opened.append((kind, is_block, indent, line))
        elif kind in CLOSERS:
            if not opened or CLOSER_OF[opened[-1][0]] != kind:
                return False
            _, was_block, its_indent, its_line = opened.pop()
            if kind == BRACE_CLOSE and (
                its_indent != indent if first else was_block and source.line_of(start) != its_line
            ):
                return False
    return not opened
