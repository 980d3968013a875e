"""From an expression to the value that an attribute's type asks for."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Collection, Mapping
from fractions import Fraction
from typing import Any

from attrs import define

from campc.resolve.conditions import Reader
from campc.resolve.evaluate import Lets, Value, evaluate, kind_of, magnitude
from campc.resolve.faults import Fault, did_you_mean, replace
from campc.resolve.gather import MAY_BE_USED
from campc.schema import types as t
from campc.schema.rules import Drops
from campc.schema.work import TIERS, GpuSet
from campc.source import Span
from campc.syntax import tree
from campc.values.currencies import DECIMALS
from campc.values.instants import Clock, Date, Instant, LocalTimeError, resolve, zone
from campc.values.money import Money, MoneyRate
from campc.values.quantities import (
    Duration,
    EventRate,
    Offset,
    Range,
    Share,
    Size,
    SizeRate,
    Steps,
    compact_duration,
    plain,
)


@define
class Decoder:
    """Decodes the attributes of one spec. ``names`` holds what is declared, kind by kind."""

    lets: Lets
    names: Mapping[str, Collection[str]]
    zone: dt.tzinfo
    zone_name: str
    reader: Reader
    incomplete: bool = False
    """A used file could not be read in full: what it would have declared is no fault of this one."""

    def decode(self, type_: t.Type, expr: tree.Expr) -> Any:
        """The value of an attribute. Raises Fault."""
        if isinstance(expr, tree.Broken):
            raise Fault(None, expr.at)
        match type_:
            case t.Reference(kinds=kinds, many=many):
                return self._references(expr, kinds, many)
            case t.Word(allowed=allowed):
                return _word(expr, allowed)
            case t.Words(allowed=allowed):
                return tuple(_word(item, allowed) for item in _items(expr))
            case t.Gpus():
                return self._gpus(expr)
            case t.Metric():
                return _metric(expr)
            case t.Metrics():
                return tuple(_metric(item) for item in _items(expr))
            case t.CurrencyType():
                return _currency(expr)
            case t.Rates():
                return self._rates(expr)
            case t.ConditionType(scope=scope):
                return self.reader.read(expr, scope)
        return self._plain(type_, expr, evaluate(expr, self.lets))

    def _plain(self, type_: t.Type, expr: tree.Expr, value: Value) -> Any:
        at = expr.at
        match type_, value:
            case t.Text() | t.FilePath(), str():
                if not value.strip():
                    raise Fault("C208", at, "this text is empty", "write it, or leave the attribute out")
                if isinstance(type_, t.FilePath) and "\0" in value:
                    raise Fault("C208", at, "a path can't hold a NUL")
                return value
            case t.Zone(), str():
                found = zone(value)
                if found is None:
                    raise _unknown_zone(value, at)
                return value
            case t.Boolean(), bool():
                return value
            case t.Whole(minimum=minimum), Fraction():
                return _whole(value, minimum, at)
            case t.DurationType(zero=zero, ranged=ranged), Duration():
                _positive(value, zero, at)
                return Range(value, value, value) if ranged else value
            case t.DurationType(ranged=True), Range(likely=Duration()):
                return _ordered(value, at)
            case t.SizeType(), Size():
                _positive(value, False, at)
                return value
            case t.MoneyType(), Money():
                return _not_negative(value, at)
            case t.PriceType(), Money():
                return _not_negative(value, at)
            case t.PriceType(), MoneyRate():
                _not_negative(value.money, at)
                return value
            case ((t.ShareType() | t.ShareOrMoney()), Share()):
                return _share(value, at)
            case t.ShareOrMoney(), Money():
                return _not_negative(value, at)
            case t.EventRateType(), EventRate():
                if value.per_second <= 0:
                    raise Fault("C208", at, f"a rate of {value} never happens", "leave it out where it isn't known")
                return value
            case ((t.StepsType() | t.DurationOrSteps()), Steps()):
                _positive(value, False, at)
                return value
            case t.DurationOrSteps() | t.DurationOrCount(), Duration():
                _positive(value, False, at)
                return value
            case t.DurationOrCount(), Fraction():
                return _whole(value, 1, at)
            case ((t.ClockType() | t.ClockOrOffset()), Clock()):
                return self._instant(value, at)
            case ((t.ClockType() | t.ClockOrOffset()), Date()):
                return self._instant(Clock(dt.datetime.combine(value.day, dt.time())), at)
            case t.ClockOrOffset(), Offset():
                return value
            case t.ClockOrOffset(), Duration() if isinstance(expr, tree.Unary):
                return Offset(value)
            case t.DateType(), Date():
                return value
            case t.Texts(), str():
                return (self._plain(t.Text(), expr, value),)
            case t.Texts(), list():
                return tuple(_each(value, expr, str, "text in quotes"))
            case t.Arguments(), list():
                return tuple(_argument(item, at) for item in value)
            case t.WholeNumbers(), list():
                return self._seeds(value, at)
            case t.Values(), dict():
                return {key: _parameter(item, at) for key, item in value.items()}
            case t.TextValues(), dict():
                return {key: str(_argument(item, at)) for key, item in value.items()}
        raise _wrong_type(type_, expr, value)

    def _seeds(self, value: list[Value], at: Span) -> tuple[int, ...]:
        seeds = tuple(_whole(item, 0, at) if isinstance(item, Fraction) else _not_whole(item, at) for item in value)
        if not seeds:
            raise Fault("C208", at, "this list of seeds is empty", "leave it out, or write at least one seed")
        if len(set(seeds)) < len(seeds):
            raise Fault("C208", at, "a seed stands in this list twice", "each seed is one run: keep one of them")
        return seeds

    def _instant(self, clock: Clock, at: Span) -> Instant:
        try:
            return resolve(clock, self.zone)
        except LocalTimeError as error:
            first, second = error.choices
            story = (
                "does not exist: the clocks go forward over it"
                if error.missing
                else "exists twice: the clocks go back over it"
            )
            raise Fault("C211", at, f"{clock} in {self.zone_name} {story}", f"write {first} or {second}") from None
        except ValueError:
            raise Fault("C208", at, f"{clock} is too far from now to plan with") from None

    def _references(self, expr: tree.Expr, kinds: tuple[str, ...], many: bool) -> Any:
        if kinds == ("tier", "window"):
            return self._drops(expr)
        if not many:
            return self._reference(expr, kinds[0])
        items = _items(expr)
        if not items:
            raise Fault("C208", expr.at, "this list is empty", f"name a {kinds[0]}, or leave the attribute out")
        names = []
        for item in items:
            name = self._reference(item, kinds[0])
            if name in names:
                raise Fault("C208", item.at, f"{name} stands in this list twice", "keep one of them")
            names.append(name)
        return tuple(names)

    def _reference(self, expr: tree.Expr, kind: str) -> str:
        match expr:
            case tree.Name(parts=(word,)):
                if word not in self.names[kind]:
                    if self.incomplete and kind in MAY_BE_USED:
                        raise Fault(None, expr.at)
                    raise self._undefined(word, kind, expr.at)
                return word
            case tree.Literal(value=str() as text, at=at):
                fix = replace(at, text) if text in self.names[kind] else None
                raise Fault(
                    "C204",
                    at,
                    f"this takes the name of a {kind}, without quotes",
                    f"write {text}" if fix else None,
                    fix,
                )
            case tree.Broken(at=at):
                raise Fault(None, at)
            case tree.ListOf(at=at):
                raise Fault("C204", at, f"this takes one {kind}, and a list stands here")
        raise Fault("C204", expr.at, f"this takes the name of a {kind}, and {_describe(expr, self.lets)} stands here")

    def _undefined(self, word: str, kind: str, at: Span) -> Fault:
        guess, fix = did_you_mean(word, self.names[kind], at)
        others = [other for other, names in self.names.items() if word in names and other != kind and other != "let"]
        if fix is None and others:
            guess = f"{word} is a {others[0]}" + (f"; {guess}" if guess else "")
        return Fault("C205", at, f"no {kind} is named {word}", guess or f"declare it: {kind} {word} {{ … }}", fix)

    def _drops(self, expr: tree.Expr) -> Drops:
        tiers: list[str] = []
        windows: list[str] = []
        for item in _items(expr):
            if isinstance(item, tree.Name) and len(item.parts) == 1:
                word = item.parts[0]
                if word in TIERS:
                    tiers.append(word)
                    continue
                if word in self.names["window"]:
                    windows.append(word)
                    continue
                guess, fix = did_you_mean(word, [*TIERS, *self.names["window"]], item.at)
                raise Fault("C205", item.at, f"no tier or window is named {word}", guess, fix)
            if isinstance(item, tree.Broken):
                raise Fault(None, item.at)
            raise Fault(
                "C204", item.at, f"this takes names of tiers or windows, and {_describe(item, self.lets)} stands here"
            )
        return Drops(tuple(tiers), tuple(windows))

    def _gpus(self, expr: tree.Expr) -> GpuSet:
        match expr:
            case tree.Name():
                return GpuSet(self._reference(expr, "lot"))
            case tree.Index(of=of, low=low, high=high):
                lot = self._reference(of, "lot")
                first, last = self._index(low), self._index(high)
                if first > last:
                    raise Fault(
                        "C208",
                        expr.at,
                        f"{first} .. {last} goes backwards",
                        f"write {lot}[{last}..{first}]",
                        replace(expr.at, f"{lot}[{last}..{first}]"),
                    )
                return GpuSet(lot, first, last)
            case tree.ListOf(at=at):
                raise Fault(
                    "C204", at, "a window is on one lot, and a list stands here", "write box, box[0] or box[0..1]"
                )
        raise Fault(
            "C204",
            expr.at,
            f"this takes a lot, or GPUs of one, and {_describe(expr, self.lets)} stands here",
            "write box or box[0]",
        )

    def _index(self, expr: tree.Expr) -> int:
        value = evaluate(expr, self.lets)
        if not isinstance(value, Fraction):
            raise Fault("C204", expr.at, f"the index of a GPU is a whole number from 0, and this is {kind_of(value)}")
        return _whole(value, 0, expr.at)

    def _rates(self, expr: tree.Expr) -> dict[str, Money]:
        if not isinstance(expr, tree.MapOf):
            raise Fault(
                "C204",
                expr.at,
                f"this takes a map of currencies to money, and {_describe(expr, self.lets)} stands here",
                "write { EUR = 1.08 USD }",
            )
        found: dict[str, Money] = {}
        for entry in expr.entries:
            if entry.key not in DECIMALS:
                guess, fix = did_you_mean(entry.key, DECIMALS, entry.key_at)
                raise Fault("C103", entry.key_at, f"{entry.key} is not an ISO 4217 currency code", guess, fix)
            value = evaluate(entry.value, self.lets)
            if not isinstance(value, Money):
                raise Fault(
                    "C204",
                    entry.value.at,
                    f"a rate is money, and this is {kind_of(value)}",
                    f"write {entry.key} = 1.08 USD",
                )
            if value.amount <= 0:
                raise Fault("C208", entry.value.at, "a rate is more than zero")
            found[entry.key] = value
        return found


def _items(expr: tree.Expr) -> tuple[tree.Expr, ...]:
    return expr.items if isinstance(expr, tree.ListOf) else (expr,)


def _describe(expr: tree.Expr, lets: Lets) -> str:
    if isinstance(expr, tree.Name):
        return expr.text
    try:
        return kind_of(evaluate(expr, lets))
    except Fault:
        return "an expression"


def _word(expr: tree.Expr, allowed: tuple[str, ...]) -> str:
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


def _metric(expr: tree.Expr) -> str:
    match expr:
        case tree.Name(text=text):
            return text
        case tree.Literal(value=str() as text, at=at):
            fix = replace(at, text) if re.fullmatch(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*", text, re.ASCII) else None
            raise Fault("C204", at, "the name of a metric stands without quotes", f"write {text}" if fix else None, fix)
        case tree.Broken(at=at):
            raise Fault(None, at)
    raise Fault("C204", expr.at, "this takes the name of a metric", "write loss, or eval.accuracy")


def _currency(expr: tree.Expr) -> str:
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


def _unknown_zone(name: str, at: Span) -> Fault:
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


def _whole(value: Fraction, minimum: int | None, at: Span) -> int:
    if value.denominator != 1:
        raise Fault("C204", at, f"this takes a whole number, and {float(value):g} stands here")
    if minimum is not None and value < minimum:
        raise Fault("C208", at, f"this is at least {minimum}, and {value} stands here")
    if value > 10**15:
        raise Fault("C208", at, "this number is larger than anything that can be counted here")
    return int(value)


def _not_whole(value: Value, at: Span) -> int:
    raise Fault("C204", at, f"this takes whole numbers, and {kind_of(value)} stands here")


def _positive(value: Duration | Size | Steps, zero: bool, at: Span) -> None:
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


def _ordered(value: Range[Duration], at: Span) -> Range[Duration]:
    for part in (value.low, value.likely, value.high):
        _positive(part, False, at)
    if not value.low <= value.likely <= value.high:
        parts = sorted((value.low, value.likely, value.high))
        message = f"a range goes low .. likely .. high, and this one runs {value.low}, {value.likely}, {value.high}"
        raise Fault(
            "C208", at, message, f"in order it is {' .. '.join(compact_duration(part.seconds) for part in parts)}"
        )
    return value


def _not_negative(value: Money, at: Span) -> Money:
    if value.amount < 0:
        raise Fault("C208", at, f"an amount is zero or more here, and {value} stands here")
    return value


def _share(value: Share, at: Span) -> Share:
    if not 0 <= value.fraction <= 1:
        raise Fault("C208", at, f"a share lies between 0% and 100%, and {value} stands here")
    return value


def _each(values: list[Value], expr: tree.Expr, cls: type, words: str) -> list[Any]:
    places = expr.items if isinstance(expr, tree.ListOf) and len(expr.items) == len(values) else [expr] * len(values)
    for value, place in zip(values, places, strict=True):
        if not isinstance(value, cls):
            raise Fault("C204", place.at, f"this takes {words}, and {kind_of(value)} stands here")
        if value == "":
            raise Fault("C208", place.at, "this text is empty")
    return values


def _argument(value: Value, at: Span) -> str | int | float:
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


def _parameter(value: Value, at: Span) -> Any:
    match value:
        case bool() | str():
            return value
        case Fraction():
            return plain(value)
        case list():
            return [_parameter(item, at) for item in value]
        case dict():
            return {key: _parameter(item, at) for key, item in value.items()}
        case Duration() | Size() | Share() | Steps() | SizeRate() | EventRate():
            amount = magnitude(value)
            assert amount is not None
            return plain(amount)
        case Date() | Clock():
            return str(value)
    raise Fault(
        "C204", at, f"a parameter is a number, text, true or false, a list or a map, and {kind_of(value)} stands here"
    )


def _wrong_type(type_: t.Type, expr: tree.Expr, value: Value) -> Fault:
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
        help_ = f"write the unit, as in {text}{unit}"
        if isinstance(type_, t.StepsType) and value.denominator == 1:
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
