"""Tree nodes from the parts of a rule: one function for each alias of the grammar."""

from __future__ import annotations

from campc.diagnostic import Edit, Fix, Note
from campc.records import evolve, frozen
from campc.source import Span
from campc.syntax.expressions import ExpressionBuilder, Parts, TooDeep
from campc.syntax.tree import (
    Attribute,
    Block,
    BodyItem,
    Broken,
    Expr,
    Item,
    Label,
    Let,
    Literal,
    Unary,
    Use,
)
from campc.values.quantities import Duration, Offset
from campc.values.suggest import closest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


@frozen
class Head:
    """What stands before a block's brace; ``broken`` where it could not be read for sure."""

    kind: int
    label: int | None
    quoted: bool = False
    broken: bool = False


class Builder(ExpressionBuilder):
    """Builds one file's items, and what is in them."""

    def on_items_none(self, parts: Parts) -> list[Item]:
        return []

    def on_items_first(self, parts: Parts) -> list[Item]:
        self.depths.clear()
        return [parts[0]] if parts[0] is not None else []

    def on_items_same(self, parts: Parts) -> Any:
        return parts[0]

    def on_items_more(self, parts: Parts) -> Any:
        self.depths.clear()
        if parts[2] is not None:
            parts[0].append(parts[2])
        return parts[0]

    def on_use(self, parts: Parts) -> Use:
        read = self.on_string([parts[1]])
        path = read.value if isinstance(read, Literal) and isinstance(read.value, str) else None
        return Use(path, self.span(parts[1]), self.between(parts[0], parts[1]))

    def on_let(self, parts: Parts) -> Let:
        value: Expr = parts[3]
        name = self.span(parts[1])
        return Let(self.word(parts[1]), name, value, Span(self.of, self.starts[parts[0]], value.at.end))

    def on_attribute(self, parts: Parts) -> Attribute | None:
        value: Expr = parts[2]
        reaches = self.reaching.get(parts[0])
        name = self.span(parts[0]) if reaches is None else self.between(parts[0], reaches)
        text = self.word(parts[0])
        if name.start in self.tokens.broken:
            self.lost.add(self.paired.block[parts[0]])
            return None
        if text == "starts" and isinstance(value, Unary):
            value = self._offset(value)
        if self.diagnostics:
            self._place_on_line_of(name)
        return Attribute(text, name, value, Span(self.of, name.start, value.at.end))

    def _place_on_line_of(self, name: Span) -> None:
        """A value that cannot be read is a fault of its attribute's line; where it stands on a later one, that is a second place."""
        for index in range(len(self.diagnostics) - 1, -1, -1):
            fault = self.diagnostics[index]
            if fault.at.start < name.start:
                break
            if fault.code == "C103" and fault.at.line != name.line:
                related = (Note(fault.at, f"{fault.at.text} stands here"), *fault.related)
                self.diagnostics[index] = evolve(fault, at=name, related=related)

    def _offset(self, value: Unary) -> Expr:
        """``starts = -2h``: as a value by itself this is a time from the lot's start."""
        operand = value.operand
        if value.operator == "-" and isinstance(operand, Literal) and isinstance(operand.value, Duration):
            return Literal(Offset(Duration(-operand.value.seconds)), value.at)
        return value

    def on_attribute_after(self, parts: Parts) -> Attribute:
        literal = self.on_literal([parts[3]])
        name, at = self.span(parts[0]), self.between(parts[2], parts[3])
        value: Expr
        if isinstance(literal, Broken):
            value = Broken(at)
        elif isinstance(literal.value, Duration) and closest(self.word(parts[0]), ("starts",)) is not None:
            value = Literal(Offset(literal.value), at)
        else:
            plain = self.word(parts[3])
            self.report(
                "C101",
                at,
                f"+{plain} stands where a value is expected",
                f"write {plain}; a sign in front is for a time from the lot's start, in starts = +12h",
                Fix("leave the sign out", (Edit(self.span(parts[2]), ""),)),
            )
            value = Literal(literal.value, at)
        return Attribute(self.word(parts[0]), name, value, self.between(parts[0], parts[3]))

    def on_head(self, parts: Parts) -> Head:
        return Head(parts[0], None)

    def on_head_named(self, parts: Parts) -> Head:
        return Head(parts[0], parts[1])

    def on_head_quoted(self, parts: Parts) -> Head:
        return Head(parts[0], parts[1], quoted=True)

    def on_block(self, parts: Parts) -> Block:
        head, opening, items, closing = parts
        broken = head.broken or opening in self.lost or self.paired.is_added(closing)
        return self.block(head, tuple(items), closing, broken)

    def block(self, head: Head, items: tuple[BodyItem, ...], last: int, broken: bool) -> Block:
        """The block of a head, up to the token ``last``."""
        label = None
        if head.label is not None:
            text = self._label(head, head.label)
            broken = broken or text is None
            label = Label(text, self.span(head.label), head.quoted) if text is not None else None
        end_of_head = head.label if head.label is not None else head.kind
        return Block(
            self.word(head.kind),
            self.span(head.kind),
            label,
            items,
            self.between(head.kind, end_of_head),
            self.between(head.kind, last),
            broken,
        )

    def _label(self, head: Head, token: int) -> str | None:
        """The name of a block, None where it could not be read."""
        if self.starts[token] in self.tokens.broken:
            return None
        if not head.quoted:
            return self.word(token)
        read = self.on_string([token])
        if not isinstance(read, Literal) or not isinstance(read.value, str):
            return None
        if head.broken and ("{" in read.value or "=" in read.value):
            # The quote after the name was forgotten.
            first = read.value.split()[0]
            return first if first.isidentifier() else None
        return read.value


def function(alias: str) -> Callable[[Builder, Parts], Any]:
    """The function of an alias of the grammar."""
    method: Callable[[Builder, Parts], Any] = getattr(Builder, f"on_{alias}")
    return method


__all__ = ["Builder", "Head", "Parts", "TooDeep", "function"]
