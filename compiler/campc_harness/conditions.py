"""Conditions of stop rules, gates, outcomes and acceptance, evaluated in three values.

A condition is `{"text": …, "expr": [operator, …]}` as campaign.json holds it. What was never recorded is unknown, and
stays so through every operation; `and` and `or` follow Kleene's logic. NaN compares false with everything.

Standard library only: a training process, the supervisor and the closeout on another machine give the same answers.
"""

from __future__ import annotations

import functools
import math
import operator
import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

Expr = Sequence[Any]
Number = float | int


@dataclass(frozen=True)
class Money:
    """An amount in one currency; amounts of two currencies do not compare."""

    amount: Decimal
    currency: str


Value = Number | Money | str | bool
Builtin = Number | Money | str
Reading = Number | str | None


@dataclass(frozen=True)
class Facts:
    """What is known when a condition is evaluated. Whatever is not in a mapping, or is None there, is unknown.

    Metrics may also be `"nan"`, `"inf"` and `"-inf"`, as reports and ledgers spell what JSON has no words for.

    Attributes:
        metrics: of the run in question, metric → last value.
        runs: run → metric → one value a seed (one in all where the run has no seeds); None for a seed without it.
        best: metric → best value so far, of the run in question.
        builtins: `checkpoint_age` in seconds, `disk_free bytes` in bytes, `gpu_utilisation data_wait` as fractions,
            `spend` as `Money`, `step truncated_inputs rows files missing_ids duplicate_ids` as counts.
    """

    metrics: Mapping[str, Reading] = field(default_factory=dict)
    runs: Mapping[str, Mapping[str, Sequence[Reading]]] = field(default_factory=dict)
    best: Mapping[str, Reading] = field(default_factory=dict)
    builtins: Mapping[str, Builtin | None] = field(default_factory=dict)


def evaluate(condition: Mapping[str, Any], facts: Facts) -> bool | None:
    """Whether `condition` holds: True, False, or None where it is unknown.

    Raises:
        ValueError: the expression isn't one that this edition of campaign.json knows.
    """
    value = _value(condition["expr"], facts)
    return value if isinstance(value, bool) else None


def terms(expr: Expr) -> Iterator[tuple[str, ...]]:
    """Every metric, best and built-in that `expr` names, as `(head, name)` or `("metric", name, run)`."""
    head = expr[0]
    if head in ("metric", "best", "builtin"):
        yield tuple(str(part) for part in expr)
    elif head not in ("number", "money", "text", "bool"):
        for part in expr[1:]:
            yield from terms(part)


def needs_supervisor(condition: Mapping[str, Any]) -> bool:
    """Whether only the supervisor can evaluate it: it names `spend` or `gpu_utilisation`.

    All other stop and watch rules are the training process's own.
    """
    return any(term in (("builtin", "spend"), ("builtin", "gpu_utilisation")) for term in terms(condition["expr"]))


def describe(condition: Mapping[str, Any], facts: Facts) -> str:
    """The values that a condition rests on, for a ledger or a message: `loss = nan, step = 1200`."""
    seen: dict[str, str] = {}
    for term in terms(condition["expr"]):
        if term[0] == "metric":
            label = f"{term[2]}.{term[1]}" if len(term) == 3 else term[1]
        else:
            label = f"best.{term[1]}" if term[0] == "best" else term[1]
        value = _value(list(term), facts)
        seen[label] = "missing" if value is None else _text(value)
    return ", ".join(f"{label} = {text}" for label, text in seen.items())


@functools.lru_cache(maxsize=1024)
def lower_is_better(metric: str) -> bool:
    """Whether a lower value of `metric` is the better one: its name says loss, error or perplexity."""
    name = metric.lower()
    return any(word in name for word in ("loss", "error", "perplexity"))


def better(metric: str, candidate: Number, best: Number | None) -> bool:
    """Whether `candidate` beats `best` (None: nothing yet). NaN beats nothing and loses to everything."""
    if math.isnan(candidate):
        return False
    if best is None or math.isnan(best):
        return True
    return candidate < best if lower_is_better(metric) else candidate > best


def _value(expr: Expr, facts: Facts) -> Value | None:
    if isinstance(expr, str) or not isinstance(expr, Sequence) or not expr:
        raise ValueError(f"a condition's expression must be a list that starts with an operator, not {expr!r}")
    head, arguments = expr[0], expr[1:]
    if head in _LEAVES:
        return _LEAVES[head](arguments, facts)
    if head in ("and", "or"):
        return _kleene(head, [_value(argument, facts) for argument in arguments])
    if head in _OVER_SEEDS:
        return _over_seeds(head, arguments[0], facts)
    if head == "missing":
        return _value(arguments[0], facts) is None
    values = [_value(argument, facts) for argument in arguments]
    if head == "not":
        return (not values[0]) if isinstance(values[0], bool) else None
    if any(value is None for value in values):
        return None
    if head == "finite":
        return not isinstance(values[0], (int, float)) or math.isfinite(values[0])
    if head == "neg":
        return _arithmetic("-", 0, values[0]) if not isinstance(values[0], Money) else _negative(values[0])
    if head in _COMPARE:
        return _compare(head, values[0], values[1])
    if head in _ARITHMETIC:
        return _arithmetic(head, values[0], values[1])
    raise ValueError(f"unknown operator {head!r} in a condition")


def _metric(arguments: Expr, facts: Facts) -> Value | None:
    if len(arguments) == 1:
        return reading(facts.metrics.get(arguments[0]))
    seeds = _seeds(arguments, facts)
    if seeds is None:
        return None
    return seeds[0] if len(seeds) == 1 else _mean(seeds)


def _seeds(arguments: Expr, facts: Facts) -> list[float] | None:
    values = facts.runs.get(arguments[1], {}).get(arguments[0])
    if not values or any(value is None for value in values):
        return None
    return [float(value) for value in values if value is not None]


def reading(value: Reading) -> Number | None:
    """A metric as a number, also where a report spells it: `"nan"`, `"inf"`, `"-inf"`."""
    return float(value) if isinstance(value, str) else value


def _over_seeds(head: str, expr: Expr, facts: Facts) -> Value | None:
    if expr[0] == "metric" and len(expr) == 3:
        seeds = _seeds(expr[1:], facts)
        return None if seeds is None else _OVER_SEEDS[head](seeds)
    value = _value(expr, facts)
    return None if value is None or not isinstance(value, (int, float)) else _OVER_SEEDS[head]([float(value)])


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values) if all(map(math.isfinite, values)) else sum(values) / len(values)


def _least(values: Sequence[float]) -> float:
    return math.nan if any(map(math.isnan, values)) else min(values)


def _most(values: Sequence[float]) -> float:
    return math.nan if any(map(math.isnan, values)) else max(values)


def _deviation(values: Sequence[float]) -> float:
    # Of one seed no spread is known: NaN, which compares false with every bound.
    if len(values) < 2 or not all(map(math.isfinite, values)):
        return math.nan
    return statistics.stdev(values)


def _kleene(head: str, values: Sequence[Value | None]) -> bool | None:
    decisive = head == "or"
    if any(value is decisive for value in values):
        return decisive
    return None if any(not isinstance(value, bool) for value in values) else not decisive


def _compare(head: str, left: Value | None, right: Value | None) -> bool | None:
    if isinstance(left, Money) and isinstance(right, Money):
        if left.currency != right.currency:
            return None
        return bool(_COMPARE[head](left.amount, right.amount))
    if isinstance(left, Money) or isinstance(right, Money) or isinstance(left, str) != isinstance(right, str):
        return None
    if any(isinstance(value, float) and math.isnan(value) for value in (left, right)):
        return False
    return bool(_COMPARE[head](left, right))


def _arithmetic(head: str, left: Value | None, right: Value | None) -> Value | None:
    if isinstance(left, Money) or isinstance(right, Money):
        return _money(head, left, right)
    if not isinstance(left, (int, float)) or not isinstance(right, (int, float)):
        return None
    if head == "/" and right == 0:
        return None
    try:
        result: Number = _ARITHMETIC[head](left, right)
    except OverflowError:
        return None
    return result


def _money(head: str, left: Value | None, right: Value | None) -> Value | None:
    if isinstance(left, Money) and isinstance(right, Money):
        if left.currency != right.currency or head == "*" or (head == "/" and not right.amount):
            return None
        if head == "/":
            return float(left.amount / right.amount)
        return Money(_ARITHMETIC[head](left.amount, right.amount), left.currency)
    money, factor = (left, right) if isinstance(left, Money) else (right, left)
    if not isinstance(money, Money) or not isinstance(factor, (int, float)) or head in "+-":
        return None
    if not math.isfinite(factor) or (head == "/" and (money is right or not factor)):
        return None
    return Money(_ARITHMETIC[head](money.amount, Decimal(str(factor))), money.currency)


def _negative(value: Money) -> Money:
    return Money(-value.amount, value.currency)


def _text(value: Value) -> str:
    if isinstance(value, Money):
        return f"{value.amount} {value.currency}"
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _number(value: Any) -> Number:
    return value if isinstance(value, (int, float)) else float(value)


_LEAVES: Mapping[str, Callable[[Expr, Facts], Value | None]] = {
    "number": lambda arguments, _: _number(arguments[0]),
    "money": lambda arguments, _: Money(Decimal(str(arguments[0])), arguments[1]),
    "text": lambda arguments, _: str(arguments[0]),
    "bool": lambda arguments, _: bool(arguments[0]),
    "metric": _metric,
    "best": lambda arguments, facts: reading(facts.best.get(arguments[0])),
    "builtin": lambda arguments, facts: facts.builtins.get(arguments[0]),
}
_OVER_SEEDS: Mapping[str, Callable[[Sequence[float]], float]] = {
    "mean": _mean,
    "min": _least,
    "max": _most,
    "std": _deviation,
}
_COMPARE: Mapping[str, Callable[[Any, Any], Any]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_ARITHMETIC: Mapping[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
}
