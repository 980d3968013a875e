"""Computing expressions that hold no metrics, with units checked."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from campc.records import define, field
from campc.resolve.faults import Fault, Faults, did_you_mean
from campc.resolve.graph import circle, cycles
from campc.resolve.units import Value, combine, kind_of
from campc.source import Span
from campc.syntax import tree
from campc.values.instants import Clock, Date
from campc.values.money import Money
from campc.values.quantities import Duration, Offset, Range, Share, Size, Steps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


@define
class Uses:
    """What the value of an attribute rests on, besides its text."""

    names: set[tuple[str, str]] = field(factory=set)
    """Kind and name of what it refers to."""
    lets: set[str] = field(factory=set)
    asks_lets: bool = False
    """Whether it reads names that a ``let`` may give another meaning, whatever they mean now."""


@define
class Lets:
    """The ``let``s of a spec, computed when they are first used."""

    declared: Mapping[str, tree.Let]
    faults: Faults
    incomplete: bool = False
    """A used file could not be read in full, and may declare more."""
    used: set[str] = field(factory=set)
    asked: set[str] = field(factory=set)
    """Those that were used since this was set."""
    _values: dict[str, Value | None] = field(factory=dict)

    def value(self, name: tree.Name) -> Value:
        """The value of the ``let`` of that name. Raises Fault where there is none, or it is broken."""
        word = name.text
        let = self.declared.get(word)
        if let is None and self.incomplete:
            raise Fault(None, name.at)
        if let is None:
            guess, fix = did_you_mean(word, self.declared, name.at)
            raise Fault(
                "C205",
                name.at,
                f"nothing is named {word} here",
                guess or f'declare it with `let {word} = …`, or write "{word}" for text',
                fix,
            )
        self.used.add(word)
        self.asked.add(word)
        if word not in self._values:
            try:
                self._values[word] = evaluate(let.value, self)
            except Fault as fault:
                self._values[word] = None
                if fault.code is not None:
                    self.faults.report(
                        fault.code, fault.at, fault.message, help=fault.help, fix=fault.fix, line_of=let.at
                    )
        if self._values[word] is None:
            raise Fault(None, name.at)
        return self._values[word]

    def compute_all(self) -> None:
        """Compute all of them, each after those that it needs, so that a long chain of them needs no deep recursion."""
        needs = {word: [n for n in names_in(let.value) if n in self.declared] for word, let in self.declared.items()}
        for path in cycles(needs):
            self._report_cycle(path)
        for word in self._needed_first(needs):
            try:
                self.value(tree.Name((word,), self.declared[word].name_at))
            except Fault:
                continue
        self.used.clear()
        self.used.update(name for names in needs.values() for name in names)

    def _needed_first(self, needs: Mapping[str, list[str]]) -> list[str]:
        found: dict[str, None] = {}
        open_: set[str] = set()
        stack: list[str] = list(self.declared)[::-1]
        while stack:
            word = stack[-1]
            if word in open_:
                stack.pop()
                found.setdefault(word)
                continue
            open_.add(word)
            stack.extend(name for name in needs[word] if name not in open_)
        return list(found)

    def _report_cycle(self, path: list[str]) -> None:
        fresh = not any(name in self._values for name in path)
        for name in path:
            self._values[name] = None
        if fresh:
            first = self.declared[path[0]]
            self.faults.report(
                "C209",
                first.at,
                f"{circle(path)}: each needs the other's value first",
                help="give one of them a value of its own",
            )


def evaluate(expr: tree.Expr, lets: Lets) -> Value:
    """The value of an expression. Raises Fault."""
    match expr:
        case tree.Literal(value=value):
            return value
        case tree.Name():
            return lets.value(expr)
        case tree.ListOf(items=items):
            return [evaluate(item, lets) for item in items]
        case tree.MapOf(entries=entries):
            return evaluate_map(entries, lets)
        case tree.RangeOf(low=low, likely=likely, high=high, at=at):
            return _range(
                evaluate(low, lets), None if likely is None else evaluate(likely, lets), evaluate(high, lets), at
            )
        case tree.Unary(operator="-", operand=operand, at=at):
            return _negative(evaluate(operand, lets), at)
        case tree.Unary(operand=operand, at=at):
            value = evaluate(operand, lets)
            if not isinstance(value, bool):
                raise Fault("C204", at, f"`not` takes true or false, and this is {kind_of(value)}")
            return not value
        case tree.Binary(operator=operator, left=left, right=right, at=at):
            return combine(operator, evaluate(left, lets), evaluate(right, lets), at)
        case tree.Broken(at=at):
            raise Fault(None, at)
        case tree.Index(at=at):
            raise Fault("C204", at, "GPUs of a lot have no value here")
        case tree.Is(at=at) | tree.Call(at=at):
            raise Fault("C204", at, "this must be known when the plan is made, and speaks of results")


def evaluate_map(entries: tuple[tree.Entry, ...], lets: Lets) -> dict[str, Value]:
    """A map's values by key. Raises Fault, C207 for a key that stands twice."""
    found: dict[str, Value] = {}
    for entry in entries:
        if entry.key in found:
            raise Fault("C207", entry.key_at, f"{entry.key} stands in this map twice", "keep one of them")
        found[entry.key] = evaluate(entry.value, lets)
    return found


def _range(low: Value, likely: Value | None, high: Value, at: Span) -> Range[Any]:
    parts = [low, high] if likely is None else [low, likely, high]
    for part in parts:
        if isinstance(part, (Range, list, dict, str, bool, Date, Clock, Offset)):
            raise Fault("C204", at, f"a range goes from one quantity to another, and this holds {kind_of(part)}")
    if len({type(part) for part in parts}) > 1:
        raise Fault(
            "C204", at, f"a range has one unit, and this mixes {' and '.join(dict.fromkeys(kind_of(p) for p in parts))}"
        )
    if isinstance(low, Money) and len({part.currency for part in parts}) > 1:
        raise Fault("C403", at, "a range has one currency")
    middle = likely if likely is not None else combine("*", combine("+", low, high, at), Fraction(1, 2), at)
    return Range(low, middle, high)


def _negative(value: Value, at: Span) -> Value:
    match value:
        case bool():
            pass
        case Fraction():
            return -value
        case Duration():
            return Duration(-value.seconds)
        case Size():
            return Size(-value.bytes)
        case Money():
            return Money(-value.amount, value.currency)
        case Share():
            return Share(-value.fraction)
        case Steps():
            return Steps(-value.count)
    raise Fault("C204", at, f"there is no minus for {kind_of(value)}")


def names_in(expr: tree.Expr) -> list[str]:
    """The names without dots that an expression holds."""
    found: list[str] = []
    stack: list[tree.Expr] = [expr]
    while stack:
        match stack.pop():
            case tree.Name(parts=(word,)):
                found.append(word)
            case tree.ListOf(items=items):
                stack.extend(items)
            case tree.MapOf(entries=entries):
                stack.extend(entry.value for entry in entries)
            case tree.RangeOf(low=low, likely=likely, high=high):
                stack.extend(part for part in (low, likely, high) if part is not None)
            case tree.Unary(operand=operand) | tree.Is(operand=operand):
                stack.append(operand)
            case tree.Binary(left=left, right=right):
                stack.extend((left, right))
            case tree.Call(arguments=arguments):
                stack.extend(arguments)
    return found
