"""What single values must be to be taken: words, bounds, and the fault for a value of the wrong type."""

from __future__ import annotations

import re
from fractions import Fraction

from campc.resolve.evaluate import Lets, evaluate
from campc.resolve.faults import Fault, did_you_mean, replace
from campc.resolve.units import Value, kind_of, magnitude
from campc.schema import types as t
from campc.source import Span
from campc.syntax import tree
from campc.values.currencies import DECIMALS
from campc.values.instants import Clock, Date
from campc.values.money import Money
from campc.values.quantities import (
    Duration,
    EventRate,
    Range,
    Share,
    Size,
    SizeRate,
    Steps,
    compact_duration,
    plain,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def items_of(expr: tree.Expr) -> tuple[tree.Expr, ...]:
    """The parts of a list; something that is no list is its only part."""
    return expr.items if isinstance(expr, tree.ListOf) else (expr,)


def describe(expr: tree.Expr, lets: Lets) -> str:
    """What an expression is, in words for a message."""
    if isinstance(expr, tree.Name):
        return expr.text
    try:
        return kind_of(evaluate(expr, lets))
    except Fault:
        return "an expression"


def word(expr: tree.Expr, allowed: tuple[str, ...]) -> str:
    """One of some words. Raises Fault: C208 for another word, C204 for something that is none."""
    match expr:
        case tree.Name(parts=(word,), at=at):
            if word not in allowed:
                guess, fix = did_you_mean(word, allowed, at)
                raise Fault(
                    "C208",
                    at,
                    f"{word} is not one of the words that can stand here",
                    guess or f"write {_one_of(allowed)}",
                    fix,
                )
            return word
        case tree.Literal(value=str() as text, at=at):
            fix = replace(at, text) if text in allowed else None
            raise Fault(
                "C204", at, "this takes a word without quotes", f"write {text if fix else _one_of(allowed)}", fix
            )
        case tree.Broken(at=at):
            raise Fault(None, at)
    raise Fault(
        "C204",
        expr.at,
        f"this takes a word, and {' '.join(expr.at.text.split())} stands here",
        f"write {_one_of(allowed)}",
    )


def _one_of(words: tuple[str, ...]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"


def metric(expr: tree.Expr) -> str:
    """The name of a metric. Raises Fault."""
    match expr:
        case tree.Name(text=text, at=at):
            word = text.lower()
            if word in NO_METRICS:
                raise Fault(
                    "C208",
                    at,
                    f"{text} can't be the name of a metric: conditions {NO_METRICS[word]}",
                    f"call it otherwise, here and in the script, such as {word}_count",
                )
            return text
        case tree.Literal(value=bool(), at=at):
            word = at.text
            raise Fault(
                "C208",
                at,
                f"{word} can't be the name of a metric: it is a value",
                f"call it otherwise, here and in the script, such as is_{word}",
            )
        case tree.Literal(value=str() as text, at=at):
            name = re.fullmatch(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*", text, re.ASCII)
            fix = replace(at, text) if name and text.lower() not in {*NO_METRICS, *RESERVED} else None
            raise Fault("C204", at, "the name of a metric stands without quotes", f"write {text}" if fix else None, fix)
        case tree.Broken(at=at):
            raise Fault(None, at)
    raise Fault("C204", expr.at, "this takes the name of a metric", "write loss, or eval.accuracy")


_FINITE = "ask whether a metric is finite, as in loss is not finite"
_THERE = "ask whether a metric is there, as in loss is missing"
NO_METRICS = {
    **dict.fromkeys(("nan", "inf", "infinity"), _FINITE),
    **dict.fromkeys(("none", "null", "missing"), _THERE),
}
"""Words that name no metric, and what conditions ask in their stead."""
RESERVED = ("and", "or", "not", "is", "true", "false")


def currency(expr: tree.Expr) -> str:
    """An ISO 4217 code. Raises Fault."""
    match expr:
        case tree.Name(parts=(code,), at=at):
            if code not in DECIMALS:
                guess, fix = (
                    did_you_mean(code, DECIMALS, at)
                    if code.upper() not in DECIMALS
                    else (f"did you mean {code.upper()}?", replace(at, code.upper()))
                )
                raise Fault(
                    "C103",
                    at,
                    f"{code} is not an ISO 4217 currency code",
                    guess or "write a code such as USD or EUR",
                    fix,
                )
            return code
        case tree.Literal(value=str() as text, at=at):
            fix = replace(at, text) if text in DECIMALS else None
            raise Fault("C204", at, "a currency is a code without quotes", f"write {text}" if fix else "write USD", fix)
        case tree.Broken(at=at):
            raise Fault(None, at)
    raise Fault("C204", expr.at, "this takes a currency code", "write USD")


def unknown_zone(name: str, at: Span) -> Fault:
    """The fault for a time zone that there is not, with the one that was probably meant."""
    from zoneinfo import available_timezones

    guess, fix = None, None
    known = available_timezones()
    same = [z for z in known if z.lower() == name.lower() or z.lower().endswith("/" + name.lower().replace(" ", "_"))]
    if same:
        best = min(same, key=lambda z: (not z.startswith(("Europe", "America", "Asia", "Africa", "Australia")), z))
        guess, fix = f'did you mean "{best}"?', replace(at, f'"{best}"')
    else:
        found, _ = did_you_mean(name, known, at)
        if found is not None and found.startswith("did you mean"):
            best = found.removeprefix("did you mean ").removesuffix("?")
            guess, fix = f'did you mean "{best}"?', replace(at, f'"{best}"')
    return Fault(
        "C211",
        at,
        f'there is no time zone "{name}"',
        guess or 'write an IANA name such as "Europe/Paris", or "UTC"',
        fix,
    )


def whole(value: Fraction, minimum: int | None, at: Span) -> int:
    """A whole number of at least ``minimum``. Raises Fault."""
    if value.denominator != 1:
        raise Fault("C204", at, f"this takes a whole number, and {float(value):g} stands here")
    if minimum is not None and value < minimum:
        raise Fault("C208", at, f"this is at least {minimum}, and {value} stands here")
    if value > 10**15:
        raise Fault("C208", at, "this number is larger than anything that can be counted here")
    return int(value)


def not_whole(value: Value, at: Span) -> int:
    """Raises the fault for something that is no number in a list of whole numbers."""
    raise Fault("C204", at, f"this takes whole numbers, and {kind_of(value)} stands here")


def positive(value: Duration | Size | Steps, zero: bool, at: Span) -> None:
    """Raises Fault where a quantity is below zero, or is zero and may not be, or is beyond anything that can be planned."""
    amount = magnitude(value)
    assert amount is not None
    if amount < 0 or (amount == 0 and not zero):
        least = "zero or more" if zero else "more than zero"
        what = kind_of(value)
        raise Fault("C208", at, f"{what} must be {least} here, and {value} stands here")
    if amount > 10**24 or (isinstance(value, Duration) and amount > 3_155_760_000):
        raise Fault(
            "C208",
            at,
            f"{value} is longer than a century"
            if isinstance(value, Duration)
            else f"{value} is beyond anything that can be planned",
        )


def ordered(value: Range[Duration], at: Span) -> Range[Duration]:
    """A range in order, all of it above zero. Raises Fault."""
    for part in (value.low, value.likely, value.high):
        positive(part, False, at)
    if not value.low <= value.likely <= value.high:
        parts = sorted((value.low, value.likely, value.high))
        message = f"a range goes low .. likely .. high, and this one runs {value.low}, {value.likely}, {value.high}"
        raise Fault(
            "C208", at, message, f"in order it is {' .. '.join(compact_duration(part.seconds) for part in parts)}"
        )
    return value


def not_negative(value: Money, at: Span) -> Money:
    """An amount of zero or more. Raises Fault."""
    if value.amount < 0:
        raise Fault("C208", at, f"an amount is zero or more here, and {value} stands here")
    return value


def share(value: Share, at: Span) -> Share:
    """A share between 0% and 100%. Raises Fault."""
    if not 0 <= value.fraction <= 1:
        raise Fault("C208", at, f"a share lies between 0% and 100%, and {value} stands here")
    return value


def each(values: list[Value], expr: tree.Expr, cls: type, words: str) -> list[Any]:
    """Values that are all of one type. Raises Fault."""
    places = expr.items if isinstance(expr, tree.ListOf) and len(expr.items) == len(values) else [expr] * len(values)
    for value, place in zip(values, places, strict=True):
        if not isinstance(value, cls):
            raise Fault("C204", place.at, f"this takes {words}, and {kind_of(value)} stands here")
        if value == "":
            raise Fault("C208", place.at, "this text is empty")
    return values


def argument(value: Value, at: Span) -> str | int | float:
    """An argument of a command line. Raises Fault."""
    match value:
        case bool():
            return "true" if value else "false"
        case str():
            return value
        case Fraction():
            return plain(value)
        case Steps():
            return value.count
    raise Fault("C204", at, f"this takes texts and numbers, and {kind_of(value)} stands here", "write it in quotes")


def parameter(value: Value, at: Span) -> Any:
    """A parameter as JSON will hold it: quantities in their base unit. Raises Fault."""
    match value:
        case bool() | str():
            return value
        case Fraction():
            return plain(value)
        case list():
            return [parameter(item, at) for item in value]
        case dict():
            return {key: parameter(item, at) for key, item in value.items()}
        case Duration() | Size() | Share() | Steps() | SizeRate() | EventRate():
            amount = magnitude(value)
            assert amount is not None
            return plain(amount)
        case Date() | Clock():
            return str(value)
    raise Fault(
        "C204", at, f"a parameter is a number, text, true or false, a list or a map, and {kind_of(value)} stands here"
    )


def wrong_type(type_: t.Type, expr: tree.Expr, value: Value) -> Fault:
    """The fault for a value of the wrong type, with what to write instead."""
    help_, fix = None, None
    text = " ".join(expr.at.text.split())
    unit = {
        t.DurationType: "h",
        t.DurationOrSteps: "min",
        t.SizeType: "GB",
        t.StepsType: " steps",
        t.MoneyType: " USD",
        t.PriceType: " USD",
    }.get(type(type_))
    if isinstance(value, Fraction) and unit is not None:
        literal = isinstance(expr, tree.Literal)
        help_ = f"write the unit, as in {text}{unit}" if literal else f"a unit is missing, as in {type_.example}"
        if literal and isinstance(type_, t.DurationOrSteps) and value.denominator == 1:
            help_ = f"write the unit, as in {text}{unit} or {text} steps"
        if literal and isinstance(type_, t.StepsType) and value.denominator == 1:
            fix = replace(expr.at, f"{text} steps")
    elif isinstance(type_, t.ClockOrOffset) and isinstance(value, Duration):
        help_, fix = f"write +{text}, counted from the start of the lot", replace(expr.at, f"+{text}")
    elif isinstance(type_, t.ShareType | t.ShareOrMoney) and isinstance(value, Fraction):
        percent = value * 100 if value <= 1 else value
        help_ = f"write {plain(percent)}%"
    elif isinstance(type_, t.Texts | t.Arguments | t.WholeNumbers) and not isinstance(value, list):
        help_ = f"write a list, as in {type_.example}"
    elif isinstance(type_, t.Boolean):
        help_ = "write true or false, without quotes"
    else:
        help_ = f"as in {type_.example}"
    return Fault("C204", expr.at, f"this takes {type_.words}, and {kind_of(value)} stands here", help_, fix)
