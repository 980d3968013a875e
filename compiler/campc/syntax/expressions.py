"""Nodes of expressions from the parts of a rule.

A part is the index of a token, or a node (or a list of nodes) that was built before.
"""

from __future__ import annotations

from campc.diagnostic import Diagnostic, Edit, Fix
from campc.records import evolve
from campc.source import Span
from campc.syntax.brackets import DEEPEST, Paired
from campc.syntax.lexer import MOST_FAULTS, one_line
from campc.syntax.tree import (
    Binary,
    Broken,
    Call,
    Entry,
    Index,
    Is,
    ListOf,
    Literal,
    MapOf,
    Name,
    RangeOf,
    Unary,
)
from campc.values.literals import Written, read_literal
from campc.values.reading import NotAValue
from campc.values.strings import read_string
from campc.values.suggest import closest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeAlias


_MEANT = {"=": "==", "&&": "and", "&": "and", "||": "or", "|": "or", "!": "not"}
"""Operators of other languages, which were told as faults, and what they are read as."""

Parts: TypeAlias = "list[Any]"


class TooDeep(Exception):
    """An expression is nested too deeply, and was reported; ``token`` is one of its item. It never leaves the parser."""

    def __init__(self, token: int) -> None:
        super().__init__(token)
        self.token = token


class ExpressionBuilder:
    """Builds expressions; ``diagnostics`` are the values that could not be read.

    ``lost`` are the opening braces of blocks (-1 for the file) in which an item could not be read at all.
    """

    def __init__(self, paired: Paired) -> None:
        self.tokens = paired.tokens
        self.paired = paired
        self.source = paired.tokens.source
        self.of = paired.tokens.of
        self.text = paired.tokens.source.text
        self.starts, self.ends = paired.tokens.starts, paired.tokens.ends
        self.diagnostics: list[Diagnostic] = []
        self.lost: set[int] = set()
        self.renamed: dict[int, str] = {}
        self.reaching: dict[int, int] = {}
        self.read: dict[str, Written | NotAValue] = {}
        self.depths: dict[int, int] = {}

    def span(self, token: int) -> Span:
        """The place of a token."""
        return Span(self.of, self.starts[token], self.ends[token])

    def between(self, first: int, last: int) -> Span:
        """The place from one token to another."""
        return Span(self.of, self.starts[first], self.ends[last])

    def word(self, token: int) -> str:
        """The text of a token."""
        if self.renamed:
            renamed = self.renamed.get(token)
            if renamed is not None:
                return renamed
        return self.text[self.starts[token] : self.ends[token]]

    def _nested(self, node: Any, token: int, *inner: Any) -> Any:
        """Counts how deep a node is; ``token`` is one of its own. Raises TooDeep."""
        depths = self.depths
        depth = 1 + max([depths.get(id(one), 0) for one in inner], default=0)
        if depth > DEEPEST:
            self.report(
                "C101",
                node.at,
                f"this expression has more than {DEEPEST} parts nested or chained",
                "name parts of it with let, and use the names",
            )
            raise TooDeep(token)
        depths[id(node)] = depth
        return node

    def on_binary(self, parts: Parts) -> Any:
        left, token, right = parts
        at = Span(self.of, left.at.start, right.at.end)
        operator = self.word(token)
        return self._nested(
            Binary(_MEANT.get(operator, operator), left, right, at, self.span(token)), token, left, right
        )

    def on_unary(self, parts: Parts) -> Any:
        token, operand = parts
        return self._nested(
            Unary(
                _MEANT.get(self.word(token), self.word(token)),
                operand,
                Span(self.of, self.starts[token], operand.at.end),
            ),
            token,
            operand,
        )

    def on_is_so(self, parts: Parts) -> Any:
        return self._is(parts[0], parts[2], negated=False)

    def on_is_not_so(self, parts: Parts) -> Any:
        return self._is(parts[0], parts[3], negated=True)

    def _is(self, operand: Any, token: int, negated: bool) -> Any:
        what, at = self.word(token), Span(self.of, operand.at.start, self.ends[token])
        if what not in ("finite", "missing"):
            meant = closest(what, ("finite", "missing"))
            if what.lower() in ("nan", "inf", "infinite"):
                self.report(
                    "C101",
                    self.span(token),
                    f"{what} stands where finite or missing could",
                    f"write is {'' if negated else 'not '}finite",
                )
            else:
                self.report(
                    "C101",
                    self.span(token),
                    f"{what} stands where finite or missing could",
                    f"did you mean {meant}?"
                    if meant
                    else "what is asked of a value is: is finite, is missing; to compare, use ==",
                )
            return Broken(at)
        return self._nested(Is(operand, what, negated, at), token, operand)

    def on_range_of_two(self, parts: Parts) -> Any:
        low, token, high = parts
        return self._nested(RangeOf(low, None, high, Span(self.of, low.at.start, high.at.end)), token, low, high)

    def on_range_of_three(self, parts: Parts) -> Any:
        low, token, likely, _, high = parts
        at = Span(self.of, low.at.start, high.at.end)
        return self._nested(RangeOf(low, likely, high, at), token, low, likely, high)

    def on_literal(self, parts: Parts) -> Literal | Broken:
        token = parts[0]
        start, end = self.starts[token], self.ends[token]
        if start in self.tokens.broken:
            return Broken(Span(self.of, start, end))
        text = self.text[start:end]
        value = self.read.get(text)
        if value is None:
            value = self.read[text] = read_literal(text)
        if isinstance(value, NotAValue):
            return self._not_a_value(start, end, value)
        return Literal(value, Span(self.of, start, end))

    def on_string(self, parts: Parts) -> Literal | Broken:
        token = parts[0]
        start, end = self.starts[token], self.ends[token]
        if start in self.tokens.broken:
            return Broken(Span(self.of, start, end))
        if start in self.tokens.read:
            return Literal(self.tokens.read[start], Span(self.of, start, end))
        value = read_string(self.text[start:end])
        if isinstance(value, NotAValue):
            return self._not_a_value(start, end, value)
        return Literal(value, Span(self.of, start, end))

    def _not_a_value(self, start: int, end: int, fault: NotAValue) -> Broken:
        if len(self.diagnostics) >= MOST_FAULTS:
            return Broken(Span(self.of, start, end))
        at = Span(self.of, start + fault.start, end if fault.end is None else start + fault.end)
        help, fix = fault.help, None
        if fault.instead is not None:
            meant = f"did you mean {fault.instead}?"
            help = f"{meant} ({help})" if help else meant
            fix = Fix(f"write {fault.instead}", (Edit(at, fault.instead),))
        self.report("C103", at, fault.message, help, fix)
        return Broken(Span(self.of, start, end))

    def on_true(self, parts: Parts) -> Literal:
        return Literal(True, self.span(parts[0]))

    def on_false(self, parts: Parts) -> Literal:
        return Literal(False, self.span(parts[0]))

    def on_name(self, parts: Parts) -> Name | Broken:
        token = parts[0]
        word = self.word(token)
        if self.starts[token] in self.tokens.broken:
            return Broken(self.span(token))
        if word in ("True", "False", "TRUE", "FALSE"):
            meant = word.lower()
            fix = Fix(f"write {meant}", (Edit(self.span(token), meant),))
            self.report("C103", self.span(token), f"{word} is not a value", f"did you mean {meant}?", fix)
            return Broken(self.span(token))
        return Name(tuple(self.word(token).split(".")), self.span(token))

    def _plain_name(self, token: int) -> Name:
        return Name(tuple(self.word(token).split(".")), self.span(token))

    def on_index_one(self, parts: Parts) -> Any:
        of, low = self._plain_name(parts[0]), parts[2]
        return self._nested(Index(of, low, low, self.between(parts[0], parts[3])), parts[0], low)

    def on_index_range(self, parts: Parts) -> Any:
        of, low, high = self._plain_name(parts[0]), parts[2], parts[4]
        return self._nested(Index(of, low, high, self.between(parts[0], parts[5])), parts[0], low, high)

    def on_call(self, parts: Parts) -> Any:
        arguments = parts[2]
        node = Call(self.word(parts[0]), self.span(parts[0]), tuple(arguments), self.between(parts[0], parts[3]))
        return self._nested(node, parts[0], *arguments)

    def on_parentheses(self, parts: Parts) -> Any:
        inner = parts[1]
        depth = self.depths.get(id(inner), 0)
        node = evolve(inner, at=self.between(parts[0], parts[2]))
        if depth:
            self.depths[id(node)] = depth
        return node

    def on_list(self, parts: Parts) -> Any:
        items = parts[1]
        return self._nested(ListOf(tuple(items), self.between(parts[0], parts[2])), parts[0], *items)

    def on_map(self, parts: Parts) -> Any:
        entries = parts[1]
        node = MapOf(tuple(entries), self.between(parts[0], parts[2]))
        return self._nested(node, parts[0], *(entry.value for entry in entries))

    def on_entry(self, parts: Parts) -> Entry:
        return Entry(self.word(parts[0]), self.span(parts[0]), parts[2])

    def on_entry_quoted(self, parts: Parts) -> Entry:
        read = self.on_string([parts[0]])
        key = read.value if isinstance(read, Literal) and isinstance(read.value, str) else self.word(parts[0])
        return Entry(key, self.span(parts[0]), parts[2])

    def on_none(self, parts: Parts) -> list[Any]:
        return []

    def on_first(self, parts: Parts) -> list[Any]:
        return [parts[0]]

    def on_more(self, parts: Parts) -> Any:
        parts[0].append(parts[2])
        return parts[0]

    def on_same(self, parts: Parts) -> Any:
        return parts[0]

    def report(self, code: str, at: Span, message: str, help: str | None = None, fix: Fix | None = None) -> None:
        if help is not None:
            help = one_line(help)
        self.diagnostics.append(Diagnostic(code, at, one_line(message), help=help, fix=fix))
