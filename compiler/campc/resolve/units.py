"""Arithmetic with units: what an operator makes of two values, and which values do not go together."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from campc.resolve.faults import Fault
from campc.source import Span
from campc.values.instants import Clock, Date
from campc.values.money import Money, MoneyRate
from campc.values.quantities import Duration, EventRate, Offset, Range, Share, Size, SizeRate, Steps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeAlias


Value: TypeAlias = "Any"
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
