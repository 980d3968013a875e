"""Every place where a name is declared or used: for going to it, finding its uses, and renaming it."""

from __future__ import annotations

from collections.abc import Iterator

from campc.records import frozen
from campc.schema import BLOCKS, TIERS
from campc.schema import types as t
from campc.source import Span
from campc.syntax import tree


@frozen
class Occurrence:
    """A name of a kind of thing (``run``, ``let``, …) at a place; ``declares`` where it is the name's own declaration."""

    kind: str
    name: str
    at: Span
    declares: bool
    whole: Span
    """The item that declares it, or the name itself where it is used."""

    def is_like(self, other: Occurrence) -> bool:
        """Whether both are of one kind and name."""
        return self.kind == other.kind and self.name == other.name


def occurrences(file: tree.File) -> Iterator[Occurrence]:
    """All of them in one file, in the order in which they stand."""
    for item in file.items:
        match item:
            case tree.Let():
                yield Occurrence("let", item.name, item.name_at, True, item.at)
                yield from _lets(item.value)
            case tree.Block():
                yield from _block(item)


def _block(block: tree.Block) -> Iterator[Occurrence]:
    info = BLOCKS.get(block.kind)
    if block.label is not None and info is not None and info.name == "required":
        yield Occurrence(block.kind, block.label.text, block.label.at, True, block.at)
    for item in block.body:
        if isinstance(item, tree.Block):
            yield from _block(item)
        elif isinstance(item, tree.Attribute) and info is not None and item.name in info.attributes:
            yield from _value(info.attributes[item.name].type, item.value)


def _value(type_: t.Type, value: tree.Expr) -> Iterator[Occurrence]:
    match type_:
        case t.Reference(kinds=("tier", "window")):
            for part in _parts(value):
                if isinstance(part, tree.Name) and part.text not in TIERS:
                    yield _use("window", part)
        case t.Reference(kinds=kinds):
            for part in _parts(value):
                if isinstance(part, tree.Name):
                    yield _use(kinds[0], part)
        case t.Gpus():
            name = value.of if isinstance(value, tree.Index) else value
            if isinstance(name, tree.Name):
                yield _use("lot", name)
            if isinstance(value, tree.Index):
                yield from _lets(value)
        case t.ConditionType(scope="results"):
            for name in _names(value):
                first = name.parts[0]
                if len(name.parts) > 1:
                    at = name.at.source.span(name.at.start, name.at.start + len(first))
                    yield Occurrence("run", first, at, False, at)
                else:
                    yield _use("let", name)
        case t.Word() | t.Words() | t.Metric() | t.Metrics() | t.CurrencyType():
            return
        case _:
            yield from _lets(value)


def _parts(value: tree.Expr) -> tuple[tree.Expr, ...]:
    return value.items if isinstance(value, tree.ListOf) else (value,)


def _use(kind: str, name: tree.Name) -> Occurrence:
    return Occurrence(kind, name.text, name.at, False, name.at)


def _lets(value: tree.Expr) -> Iterator[Occurrence]:
    for name in _names(value):
        if len(name.parts) == 1:
            yield _use("let", name)


def _names(value: tree.Expr) -> Iterator[tree.Name]:
    stack: list[tree.Expr] = [value]
    while stack:
        match stack.pop():
            case tree.Name() as name:
                yield name
            case tree.ListOf(items=items):
                stack.extend(reversed(items))
            case tree.MapOf(entries=entries):
                stack.extend(entry.value for entry in reversed(entries))
            case tree.RangeOf(low=low, likely=likely, high=high):
                stack.extend(part for part in (high, likely, low) if part is not None)
            case tree.Index(low=low, high=high):
                stack.extend((low,) if high.at == low.at else (high, low))
            case tree.Unary(operand=operand) | tree.Is(operand=operand):
                stack.append(operand)
            case tree.Binary(left=left, right=right):
                stack.extend((right, left))
            case tree.Call(arguments=arguments):
                stack.extend(reversed(arguments))
