"""What a fault of syntax is, in words: what stood there, what could stand there, and which block is open."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import frozen

from campc.diagnostic import Diagnostic, Edit, Fix, Note
from campc.syntax.automaton import (
    BRACE_CLOSE,
    BRACE_OPEN,
    COMMA,
    END,
    END_OF_FILE,
    EQUALS,
    FIXED,
    LITERAL,
    STRING,
    TERMINALS,
    WORD,
    WORDS,
)  # fmt: skip
from campc.syntax.brackets import begins_item

if TYPE_CHECKING:
    from campc.syntax.parser import Parser


@frozen
class Situation:
    """A token, by its index, that cannot stand where it does, and the first token of its item."""

    parser: Parser
    index: int
    start: int

    @property
    def kind(self) -> int:
        return self.parser.kinds[self.index]

    @property
    def text(self) -> str:
        return self.parser.build.word(self.index)


def tell(situation: Situation) -> int | None:
    """Reports the fault; the index to go on at where it could be mended, else None."""
    parser, index = situation.parser, situation.index
    kinds = parser.kinds
    message = f"{found(situation)} stands where {expected(parser)} could"
    help, fix, resume = None, None, None
    if (
        kinds[situation.start] in WORDS
        and index == situation.start + 1
        and situation.kind in (LITERAL, STRING)
        and parser.accepts(EQUALS)
    ):
        name = parser.build.word(situation.start)
        at = parser.build.span(index)
        help = f"write {name} = {situation.text}"
        fix = Fix("put = in", (Edit(parser.build.source.span(at.start, at.start), "= "),))
        parser.feed(EQUALS, index)
        resume = index
    elif situation.text in (":", "==") and parser.accepts(EQUALS):
        help = "a value is given with ="
        fix = Fix("write =", (Edit(parser.build.span(index), "="),))
        parser.feed(EQUALS, index)
        resume = index + 1
    elif begins_item(kinds, index) and parser.accepts(END):
        message = f"{situation.text} begins a new item on the line of another"
        help = "start a new line, or put ; between the two"
        at = parser.build.span(index)
        fix = Fix("put ; in", (Edit(parser.build.source.span(at.start, at.start), "; "),))
        parser.feed(END, index)
        resume = index
    parser.diagnostics.append(Diagnostic("C101", parser.build.span(index), message, around(situation), help, fix))
    return resume


def around(situation: Situation) -> tuple[Note, ...]:
    """Which block is open at a token."""
    parser = situation.parser
    brace = parser.paired.block[situation.index]
    if brace < 0:
        return ()
    start = parser.item_start(brace)
    head = parser.build.between(start, brace - 1)
    return (Note(head, f"in the block {head.text}, opened here"),)


def found(situation: Situation) -> str:
    """What stands there."""
    if situation.kind == END_OF_FILE:
        return "the end of the file"
    if situation.kind == END and situation.text != ";":
        return "the end of the line"
    text = situation.text
    return text if len(text) <= 40 else f"{text[:37]}…"


_VALUE = {"STRING", "LITERAL", "TRUE", "FALSE"}
_CALLED = {
    "END": "a new line", "$END": "", "WORD": "a name", "DOTTED": "", "STRING": "a string", "LITERAL": "a number", "COMPARE": "",
    "AND": "", "OR": "", "NOT": "", "IS": "", "TRUE": "", "FALSE": "", "USE": "", "LET": "", "BRACE_OPEN": "{", "BRACE_CLOSE": "}",
    "PLUS": "", "MINUS": "", "TIMES": "", "OVER": "", "PAREN_OPEN": "", "BRACKET_OPEN": "", "TO": "",
}  # fmt: skip


def expected(parser: Parser) -> str:
    """What could stand there, in few words."""
    accepted = {name for index, name in enumerate(TERMINALS) if parser.accepts(index)}
    parts = []
    if accepted >= _VALUE:
        parts.append("a value")
        accepted -= {"WORD", "DOTTED", "STRING", "LITERAL", "BRACE_OPEN"}
    elif "USE" in accepted and "LET" in accepted and "END" in accepted:
        parts.append("an attribute or a block")
        accepted -= {"WORD", "END"}
    elif "PLUS" in accepted and "TIMES" in accepted:
        parts.append("an operator")
    for name in TERMINALS:
        if name in accepted:
            called = _CALLED.get(name, FIXED.get(TERMINALS.index(name), name))
            if called:
                parts.append(called)
    if not parts:
        return "nothing"
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} or {parts[-1]}"


__all__ = ["BRACE_CLOSE", "BRACE_OPEN", "COMMA", "WORD", "Situation", "tell"]
