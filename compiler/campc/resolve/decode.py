"""From an expression to the value that an attribute's type asks for."""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection, Mapping
from fractions import Fraction

from campc.records import define, field
from campc.resolve import limits
from campc.resolve.conditions import Reader
from campc.resolve.evaluate import Lets, Uses, evaluate
from campc.resolve.faults import Fault, Unclear, did_you_mean, replace
from campc.resolve.gather import MAY_BE_USED
from campc.resolve.units import Value, kind_of
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
    Steps,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


_TRUTHS = {
    "yes": "true", "on": "true", "enabled": "true", "always": "true",
    "no": "false", "off": "false", "none": "false", "disabled": "false", "never": "false",
}  # fmt: skip


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
    unclear: Unclear = field(factory=Unclear)
    uses: Uses = field(factory=Uses)
    """What the values rest on that were decoded since this was set."""

    def decode(self, type_: t.Type, expr: tree.Expr) -> Any:
        """The value of an attribute. Raises Fault."""
        if isinstance(expr, tree.Broken):
            raise Fault(None, expr.at)
        match type_:
            case t.Reference(kinds=kinds, many=many):
                return self._references(expr, kinds, many)
            case t.Word(allowed=allowed):
                return limits.word(expr, allowed)
            case t.Words(allowed=allowed):
                return tuple(limits.word(item, allowed) for item in limits.items_of(expr))
            case t.Gpus():
                return self._gpus(expr)
            case t.Metric():
                return limits.metric(expr)
            case t.Metrics():
                return tuple(limits.metric(item) for item in limits.items_of(expr))
            case t.CurrencyType():
                return limits.currency(expr)
            case t.Rates():
                return self._rates(expr)
            case t.ConditionType(scope=scope):
                condition = self.reader.read(expr, scope)
                self.uses.asks_lets = True
                self.uses.names.update(("run", use.run) for use in condition.metrics if use.run is not None)
                return condition
        if isinstance(expr, tree.Name) and expr.text not in self.lets.declared and not self.lets.incomplete:
            raise self._no_value(type_, expr)
        return self._plain(type_, expr, evaluate(expr, self.lets))

    def _no_value(self, type_: t.Type, name: tree.Name) -> Fault:
        """A word that stands where a value should: what was probably meant, by the type that is wanted."""
        guess, fix = did_you_mean(name.text, self.lets.declared, name.at)
        if fix is None:
            match type_:
                case t.Boolean() if name.text.lower() in _TRUTHS:
                    meant = _TRUTHS[name.text.lower()]
                    guess, fix = f"write {meant}", replace(name.at, meant)
                case t.Text() | t.FilePath() | t.Zone():
                    guess, fix = f'text stands in quotes: write "{name.text}"', replace(name.at, f'"{name.text}"')
                case _:
                    guess = None
        return Fault("C205", name.at, f"nothing is named {name.text} here", guess, fix)

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
                    raise limits.unknown_zone(value, at)
                return value
            case t.Boolean(), bool():
                return value
            case t.Whole(minimum=minimum), Fraction():
                return limits.whole(value, minimum, at)
            case t.DurationType(zero=zero, ranged=ranged), Duration():
                limits.positive(value, zero, at)
                return Range(value, value, value) if ranged else value
            case t.DurationType(ranged=True), Range(likely=Duration()):
                return limits.ordered(value, at)
            case t.SizeType(), Size():
                limits.positive(value, False, at)
                return value
            case t.MoneyType(), Money():
                return limits.not_negative(value, at)
            case t.PriceType(), Money():
                return limits.not_negative(value, at)
            case t.PriceType(), MoneyRate():
                limits.not_negative(value.money, at)
                return value
            case ((t.ShareType() | t.ShareOrMoney()), Share()):
                return limits.share(value, at)
            case t.ShareOrMoney(), Money():
                return limits.not_negative(value, at)
            case t.EventRateType(), EventRate():
                if value.per_second <= 0:
                    raise Fault("C208", at, f"a rate of {value} never happens", "leave it out where it isn't known")
                return value
            case ((t.StepsType() | t.DurationOrSteps()), Steps()):
                limits.positive(value, False, at)
                return value
            case t.DurationOrSteps() | t.DurationOrCount(), Duration():
                limits.positive(value, False, at)
                return value
            case t.DurationOrCount(), Fraction():
                return limits.whole(value, 1, at)
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
                return tuple(limits.each(value, expr, str, "text in quotes"))
            case t.Arguments(), list():
                return tuple(limits.argument(item, at) for item in value)
            case t.WholeNumbers(), list():
                return self._seeds(value, at)
            case t.Values(), dict():
                return {key: limits.parameter(item, at) for key, item in value.items()}
            case t.TextValues(), dict():
                return {key: str(limits.argument(item, at)) for key, item in value.items()}
        raise limits.wrong_type(type_, expr, value)

    def _seeds(self, value: list[Value], at: Span) -> tuple[int, ...]:
        seeds = tuple(
            limits.whole(item, 0, at) if isinstance(item, Fraction) else limits.not_whole(item, at) for item in value
        )
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
        items = limits.items_of(expr)
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
                    if (self.incomplete and kind in MAY_BE_USED) or self.unclear.may_declare(kind, word):
                        raise Fault(None, expr.at)
                    raise self._undefined(word, kind, expr.at)
                self.uses.names.add((kind, word))
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
        raise Fault(
            "C204", expr.at, f"this takes the name of a {kind}, and {limits.describe(expr, self.lets)} stands here"
        )

    def _undefined(self, word: str, kind: str, at: Span) -> Fault:
        guess, fix = did_you_mean(word, self.names[kind], at)
        others = [other for other, names in self.names.items() if word in names and other != kind and other != "let"]
        if fix is None and others:
            guess = f"{word} is a {others[0]}" + (f"; {guess}" if guess else "")
        return Fault("C205", at, f"no {kind} is named {word}", guess or f"declare it: {kind} {word} {{ … }}", fix)

    def _drops(self, expr: tree.Expr) -> Drops:
        tiers: list[str] = []
        windows: list[str] = []
        for item in limits.items_of(expr):
            if isinstance(item, tree.Name) and len(item.parts) == 1:
                word = item.parts[0]
                if word in TIERS:
                    tiers.append(word)
                    continue
                if word in self.names["window"]:
                    self.uses.names.add(("window", word))
                    windows.append(word)
                    continue
                if self.unclear.may_declare("window", word):
                    raise Fault(None, item.at)
                guess, fix = did_you_mean(word, [*TIERS, *self.names["window"]], item.at)
                raise Fault("C205", item.at, f"no tier or window is named {word}", guess, fix)
            if isinstance(item, tree.Broken):
                raise Fault(None, item.at)
            raise Fault(
                "C204",
                item.at,
                f"this takes names of tiers or windows, and {limits.describe(item, self.lets)} stands here",
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
            f"this takes a lot, or GPUs of one, and {limits.describe(expr, self.lets)} stands here",
            "write box or box[0]",
        )

    def _index(self, expr: tree.Expr) -> int:
        value = evaluate(expr, self.lets)
        if not isinstance(value, Fraction):
            raise Fault("C204", expr.at, f"the index of a GPU is a whole number from 0, and this is {kind_of(value)}")
        return limits.whole(value, 0, expr.at)

    def _rates(self, expr: tree.Expr) -> dict[str, Money]:
        if not isinstance(expr, tree.MapOf):
            raise Fault(
                "C204",
                expr.at,
                f"this takes a map of currencies to money, and {limits.describe(expr, self.lets)} stands here",
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
