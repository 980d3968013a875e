"""Computing expressions that hold no metrics, with units checked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any, TypeAlias

from attrs import define, field

from campc.resolve.faults import Fault, Faults, did_you_mean
from campc.resolve.graph import circle, cycles
from campc.source import Span
from campc.syntax import tree
from campc.values.instants import Clock, Date
from campc.values.money import Money, MoneyRate
from campc.values.quantities import Duration, EventRate, Offset, Range, Share, Size, SizeRate, Steps

Value: TypeAlias = Any
"""One of the literal values, a Range of them, a list, or a dict."""


def kind_of(value: Value) -> str:
    """What a value is, in words: ``a duration``."""
    for cls, words in _WORDS:
        if isinstance(value, cls):
            return words
    return type(value).__name__


_WORDS: tuple[tuple[type | tuple[type, ...], str], ...] = (
    (bool, "true or false"), (str, "text"), (Fraction, "a number"), (Duration, "a duration"), (Size, "a size"), (SizeRate, "a rate of data"),
    (EventRate, "a rate of events"), (Money, "an amount of money"), (MoneyRate, "money per time"), (Share, "a share"), (Steps, "a number of steps"),
    (Date, "a date"), (Clock, "a date and time"), (Offset, "an offset"), (Range, "a range"), ((list, tuple), "a list"), (dict, "a map"),
)  # fmt: skip


@define
class Lets:
    """The ``let``s of a spec, computed when they are first used."""

    declared: Mapping[str, tree.Let]
    faults: Faults
    incomplete: bool = False
    """A used file could not be read in full, and may declare more."""
    used: set[str] = field(factory=set)
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


def combine(operator: str, left: Value, right: Value, at: Span) -> Value:
    """What an operator makes of two values. Raises Fault: C204 where units do not go together, C403 for two currencies, C208 for a division by zero."""
    if isinstance(left, Range) or isinstance(right, Range):
        raise Fault("C204", at, "there is no arithmetic on a range", "compute its ends: (8h + 1h) .. (14h + 1h)")
    if isinstance(left, Money) and isinstance(right, Money) and left.currency != right.currency:
        raise Fault(
            "C403",
            at,
            f"{left} and {right} are of different currencies",
            "convert one of them, and say where the rate is from",
        )
    if operator in ("and", "or"):
        if isinstance(left, bool) and isinstance(right, bool):
            return (left and right) if operator == "and" else (left or right)
        wrong = right if isinstance(left, bool) else left
        raise Fault("C204", at, f"`{operator}` takes true or false, and this is {kind_of(wrong)}")
    result: Value | None = None
    if operator in _COMPARISONS:
        result = _compare(operator, left, right)
    elif operator in ("+", "-"):
        result = _add(operator, left, right)
    elif operator == "*":
        result = _multiply(left, right)
        if result is None:
            result = _multiply(right, left)
    elif operator == "/":
        result = _divide(left, right, at)
    if result is None:
        verb = {"+": "be added to", "-": "be taken from", "*": "be multiplied by", "/": "be divided by"}.get(
            operator, "be compared with"
        )
        first, second = (right, left) if operator in ("+", "-") else (left, right)
        raise Fault("C204", at, f"{kind_of(first)} can't {verb} {kind_of(second)}")
    size = magnitude(result)
    if size is not None and (size.numerator.bit_length() > _MOST_BITS or size.denominator.bit_length() > _MOST_BITS):
        raise Fault("C208", at, "the result has more digits than any quantity here can need")
    return result


_MOST_BITS = 4096
"""Exact arithmetic on numbers longer than this would only cost time."""


_COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
}


def magnitude(value: Value) -> Fraction | None:
    """A quantity as a plain number in its base unit: seconds, bytes, a fraction, a count."""
    match value:
        case bool():
            return None
        case Fraction():
            return value
        case Duration():
            return value.seconds
        case Size():
            return value.bytes
        case Share():
            return value.fraction
        case Steps():
            return Fraction(value.count)
        case SizeRate():
            return value.bytes_per_second
        case EventRate():
            return value.per_second
        case Money():
            return value.amount
    return None


def _compare(operator: str, left: Value, right: Value) -> bool | None:
    test = _COMPARISONS[operator]
    if isinstance(left, (bool, str)) or isinstance(right, (bool, str)):
        return test(left, right) if type(left) is type(right) and operator in ("==", "!=") else None
    first, second = magnitude(left), magnitude(right)
    plain = (Fraction, Share, Steps)
    if (
        first is None
        or second is None
        or not (type(left) is type(right) or (isinstance(left, plain) and isinstance(right, plain)))
    ):
        return None
    return test(first, second)


def _add(operator: str, left: Value, right: Value) -> Value | None:
    if type(left) is not type(right) or isinstance(left, (bool, str)):
        return None
    sign = 1 if operator == "+" else -1
    match left:
        case Fraction():
            return left + sign * right
        case Duration():
            return Duration(left.seconds + sign * right.seconds)
        case Size():
            return Size(left.bytes + sign * right.bytes)
        case SizeRate():
            return SizeRate(left.bytes_per_second + sign * right.bytes_per_second)
        case EventRate():
            return EventRate(left.per_second + sign * right.per_second)
        case Money():
            return Money(left.amount + sign * right.amount, left.currency)
        case Share():
            return Share(left.fraction + sign * right.fraction)
        case Steps():
            return Steps(left.count + sign * right.count)
    return None


def _scaled(value: Value, factor: Fraction) -> Value | None:
    match value:
        case bool():
            return None
        case Fraction():
            return value * factor
        case Duration():
            return Duration(value.seconds * factor)
        case Size():
            return Size(value.bytes * factor)
        case SizeRate():
            return SizeRate(value.bytes_per_second * factor)
        case EventRate():
            return EventRate(value.per_second * factor)
        case Money():
            return Money(value.amount * factor, value.currency)
        case MoneyRate():
            return MoneyRate(Money(value.money.amount * factor, value.money.currency), value.per)
        case Share():
            return Share(value.fraction * factor)
        case Steps() if (value.count * factor).denominator == 1:
            return Steps(int(value.count * factor))
    return None


def _multiply(left: Value, right: Value) -> Value | None:
    if isinstance(right, bool) or isinstance(left, bool):
        return None
    match right:
        case Fraction():
            return _scaled(left, right)
        case Share():
            return _scaled(left, right.fraction)
    match left, right:
        case Duration(), SizeRate():
            return Size(left.seconds * right.bytes_per_second)
        case Duration(), EventRate():
            return left.seconds * right.per_second
        case Duration(), MoneyRate():
            return Money(right.money.amount * left.seconds / right.per.seconds, right.money.currency)
        case Duration(), Steps():
            return Duration(left.seconds * right.count)
    return None


def _divide(left: Value, right: Value, at: Span) -> Value | None:
    divisor = right.money.amount if isinstance(right, MoneyRate) else magnitude(right)
    if divisor is None or isinstance(left, (bool, str)):
        return None
    if divisor == 0:
        raise Fault("C208", at, "this divides by zero")
    if isinstance(right, (Fraction, Share)) and not (isinstance(left, Share) and isinstance(right, Share)):
        return _scaled(left, 1 / divisor)
    if type(left) is type(right) and not isinstance(left, MoneyRate):
        first = magnitude(left)
        return None if first is None else first / divisor
    match left, right:
        case Size(), SizeRate():
            return Duration(left.bytes / divisor)
        case Size(), Duration():
            return SizeRate(left.bytes / divisor)
        case Money(), MoneyRate():
            return (
                Duration(left.amount / divisor * right.per.seconds) if left.currency == right.money.currency else None
            )
        case Money(), Duration():
            return MoneyRate(Money(left.amount / divisor, left.currency), Duration(Fraction(1)))
        case Fraction(), Duration():
            return EventRate(left / divisor)
        case Fraction(), EventRate():
            return Duration(left / divisor)
        case Steps(), Fraction():
            return _scaled(left, 1 / divisor)
        case Duration(), Steps():
            return Duration(left.seconds / divisor)
    return None


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
