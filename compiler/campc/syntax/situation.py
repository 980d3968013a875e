"""Where a fault of syntax was met: what stands there, what could, and what is around it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from campc.diagnostic import Edit, Fix, Note
from campc.records import field, frozen
from campc.source import Span
from campc.syntax.automaton import (
    BRACE_CLOSE,
    BRACE_OPEN,
    BRACKET_CLOSE,
    BRACKET_OPEN,
    DOTTED,
    END,
    END_OF_FILE,
    KEYWORDS,
    LET,
    LITERAL,
    MAP_CLOSE,
    MAP_OPEN,
    PAREN_CLOSE,
    PAREN_OPEN,
    STRING,
    TERMINALS,
    USE,
    WORD,
)

if TYPE_CHECKING:
    from campc.syntax.parser import Parser

VALUE_STARTS = frozenset({WORD, DOTTED, LITERAL, STRING, KEYWORDS["true"], KEYWORDS["false"]})
_OPENERS = {BRACE_OPEN, BRACKET_OPEN, PAREN_OPEN, MAP_OPEN}
_CLOSERS = {BRACE_CLOSE, BRACKET_CLOSE, PAREN_CLOSE, MAP_CLOSE}


@frozen
class Situation:
    """A token, by its index, that cannot stand where it does, and the first token of its item."""

    parser: Parser
    index: int
    start: int
    kinds: list[int] = field(init=False)

    @kinds.default
    def _kinds(self) -> list[int]:
        return self.parser.kinds

    def kind(self, offset: int = 0) -> int:
        """The kind of the token so many places on; -1 before the first and after the last."""
        at = self.index + offset
        return self.kinds[at] if 0 <= at < len(self.kinds) else -1

    def text(self, offset: int = 0) -> str:
        """The text of the token so many places on."""
        at = self.index + offset
        return self.parser.tokens.text(at) if 0 <= at < len(self.kinds) else ""

    def span(self, offset: int = 0) -> Span:
        """The place of the token so many places on; of a line end, the point before it."""
        place = self.parser.build.span(self.index + offset)
        if place.text.strip():
            return place
        source, start = self.parser.build.source, place.start
        behind_comment = source.text[start - 1 : start + 1] == "\r\n"  # which took the carriage return
        return source.span(start - behind_comment, start - behind_comment)

    def touches(self, offset: int = 1) -> bool:
        """Whether nothing stands between the token so many places on and the one before it."""
        at = self.index + offset
        tokens = self.parser.tokens
        return 0 < at < len(self.kinds) and tokens.ends[at - 1] == tokens.starts[at]

    def accepts(self, kind: int) -> bool:
        """Whether a token of that kind could stand here."""
        return self.parser.accepts(kind)

    @property
    def in_block(self) -> bool:
        """Whether a block is open."""
        return self.parser.paired.block[self.index] >= 0

    @property
    def open_value(self) -> int:
        """The index of the innermost bracket of a value that is open here, or -1."""
        depth = 0
        for at in range(self.index - 1, self.start - 1, -1):
            if self.kinds[at] in _CLOSERS:
                depth += 1
            elif self.kinds[at] in _OPENERS:
                if depth == 0:
                    return at
                depth -= 1
        return -1

    @property
    def is_value(self) -> bool:
        """Whether a value seems to begin here."""
        return self.kind() in VALUE_STARTS or self.kind() in (BRACKET_OPEN, MAP_OPEN)

    def next_token(self) -> int:
        """The index of the next token that is no line end."""
        at = self.index
        while self.kinds[at] == END:
            at += 1
        return at

    def end_of_item(self) -> int:
        """The index of the token that ends the item."""
        at, block = self.index, self.parser.paired.block
        while self.kinds[at] not in (END, END_OF_FILE) and not (
            self.kinds[at] == BRACE_CLOSE and block[at] == block[self.index]
        ):
            at += 1
        return at

    def replace(self, message: str, text: str, first: int = 0, last: int = 0) -> Fix:
        """A fix that writes something else for the tokens from one to another, counted from here."""
        place = self.parser.build.between(self.index + first, self.index + last)
        return Fix(message, (Edit(place, text),))

    def insert(self, message: str, text: str) -> Fix:
        """A fix that writes something before the token."""
        at = self.span().start
        return Fix(message, (Edit(self.parser.build.source.span(at, at), text),))

    @property
    def around(self) -> tuple[Note, ...]:
        """Which block is open here, and where it was opened."""
        brace = self.parser.paired.block[self.index]
        if brace < 0:
            return ()
        start = self.parser.item_start(brace)
        last = max(start, brace - 1)
        head = self.parser.build.between(start, last)
        words = " ".join(head.text.split())
        return (Note(head, f"in the block {words if len(words) <= 60 else words[:57] + '…'}, opened here"),)


def found(situation: Situation) -> str:
    """What stands there, in words."""
    if situation.kind() == END_OF_FILE:
        return "the end of the file"
    text = situation.text()
    if situation.kind() == END and text != ";":
        return "the end of the line"
    shown = text if len(text) <= 40 else f"{text[:37]}…"
    return shown if situation.kind() in VALUE_STARTS else f'"{shown}"'


_VALUE = frozenset({"STRING", "LITERAL", "TRUE", "FALSE"})
_GROUPS = (
    (frozenset({"USE", "LET", "WORD", "END"}), "an attribute, a block", frozenset({"WORD", "END"})),
    (_VALUE, "a value", frozenset({"WORD", "DOTTED", "STRING", "LITERAL"})),
    (frozenset({"PLUS", "TIMES"}), "an operator", frozenset[str]()),
)
_CALLED = {
    "EQUALS": '"="',
    "COMMA": '","',
    "TO": '".."',
    "END": "a new line",
    "WORD": "a name",
    "STRING": "a string",
    "LITERAL": "a value",
    "BRACE_OPEN": '"{"',
    "BRACE_CLOSE": '"}"',
    "MAP_CLOSE": '"}"',
    "BRACKET_CLOSE": '"]"',
    "PAREN_CLOSE": '")"',
}


def expected(parser: Parser) -> str:
    """What could stand there, in few words: ``"=" or a value``."""
    accepted = {name for index, name in enumerate(TERMINALS) if parser.accepts(index)}
    parts: list[str] = []
    for needed, words, covered in _GROUPS:
        if accepted >= needed:
            parts += words.split(", ")
            accepted -= covered
            if needed is _VALUE or "USE" in needed:
                break
    parts += [words for name, words in _CALLED.items() if name in accepted and words not in parts]
    if "TO" in accepted and "an operator" in parts:
        parts.remove('".."')
    if not parts:
        return "nothing"
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} or {parts[-1]}"


def advice(situation: Situation) -> str:
    """What to write, where the mistake is none that is known."""
    parser, start = situation.parser, situation.start
    first = parser.build.word(start) if start < situation.index else ""
    if situation.index == start:
        return "an attribute is written name = value, a block kind name { … }"
    if parser.accepts(LITERAL):
        return "a value is text in quotes, a number with its unit, a name, a list in [ ] or a map in { }"
    if situation.kinds[start] == USE and start < situation.index:
        return 'another file is brought in with use "path"'
    if situation.kinds[start] == LET and start < situation.index:
        return "a value is named with let name = value"
    if parser.accepts(BRACE_OPEN):
        head = " ".join(parser.build.between(start, situation.index - 1).text.split())
        return f"an attribute is written {first} = value, a block {head if ' ' in head else f'{first} name'} {{ … }}"
    if situation.open_value >= 0:
        if situation.kinds[situation.open_value] == MAP_OPEN:
            return "a map is written { name = value, name = value }"
        return "values in brackets stand apart by commas, and the bracket is closed after the last"
    if parser.accepts(END):
        return "the value ends here: what follows stands on a new line, or after ;"
    return "an attribute is written name = value, a block kind name { … }"
