"""Whether campaign.json holds what the closeout reads of it, beyond what the harness's own reader makes sure of.

A bundle of the compiler always does; one that somebody mended by hand, or that came from elsewhere, is told where it doesn't.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from typing import Any

__all__ = ["faults"]

BEYOND = 10**30
DEEPEST = 200
_LISTS = (
    "lots", "windows", "runs", "corpora", "stops", "watches", "gates", "outcomes", "unknowns", "deliverables", "expenses", "ratios", "cleanup",
    "notify", "allowances",
)  # fmt: skip
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")
_TEXTS: Mapping[str, tuple[str, ...]] = {
    "outcomes": ("name", "conclude"),
    "unknowns": ("name", "question"),
    "ratios": ("name", "cost", "if_none"),
    "expenses": ("name",),
}
_ARITY = {
    **dict.fromkeys(("==", "!=", "<", "<=", ">", ">=", "+", "-", "*", "/"), 2),
    **dict.fromkeys(("not", "neg", "finite", "missing", "mean", "min", "max", "std"), 1),
}


def faults(tree: Mapping[str, Any]) -> Iterator[str]:
    """What is wrong, each with its place."""
    yield from _numbers(tree)
    for section in _LISTS:
        found = tree.get(section)
        if found is not None and not (isinstance(found, list) and all(isinstance(block, dict) for block in found)):
            yield f"{section} must be a list of objects"
            return
    for section, names in _TEXTS.items():
        for place, block in _blocks(tree, section):
            yield from (f"{place}.{name} must be text" for name in names if not isinstance(block.get(name), str))
    for place, block in _blocks(tree, "runs"):
        for identity in block.get("ids") or ():
            # Folders are named after it.
            if not isinstance(identity, dict) or not _NAME.fullmatch(str(identity.get("id"))):
                yield f"{place}.ids holds {identity!r:.60}, which is no identifier of a run"
    for place, block in _blocks(tree, "ratios"):
        if not _is_texts(block.get("per")):
            yield f"{place}.per must be a list of names"
    for place, block in _blocks(tree, "outcomes"):
        yield from _condition(f"{place}.when", block.get("when"))
    for place, block in _blocks(tree, "deliverables"):
        if block.get("accept") is not None:
            yield from _condition(f"{place}.accept", block["accept"])
    rates = (tree.get("campaign") or {}).get("rates")
    if rates is not None and not isinstance(rates, dict):
        yield "campaign.rates must be an object"


def _blocks(tree: Mapping[str, Any], section: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    found = tree.get(section)
    for index, block in enumerate(found if isinstance(found, list) else ()):
        yield f"{section}[{index}]", block if isinstance(block, dict) else {}


def _numbers(tree: Mapping[str, Any]) -> Iterator[str]:
    todo: list[tuple[str, Any]] = [(key, value) for key, value in tree.items()]
    while todo:
        place, value = todo.pop()
        if isinstance(value, dict):
            # Params are the script's own: they may be anything.
            todo.extend(
                (f"{place}.{key}", item)
                for key, item in value.items()
                if key not in ("params", "change", "seed", "seeds")
            )
        elif isinstance(value, list):
            todo.extend((f"{place}[{index}]", item) for index, item in enumerate(value))
        elif isinstance(value, (int, float)) and not (abs(value) < BEYOND and math.isfinite(value)):
            yield f"{place} is a number beyond every measure"


def _condition(place: str, condition: Any) -> Iterator[str]:
    if (
        not isinstance(condition, dict)
        or not isinstance(condition.get("text"), str)
        or not _is_expression(condition.get("expr"), DEEPEST)
    ):
        yield f"{place} is no condition"


def _is_expression(expr: Any, deepest: int) -> bool:
    if not isinstance(expr, list) or not expr or not isinstance(expr[0], str) or not deepest:
        return False
    head, arguments = expr[0], expr[1:]
    if head in ("and", "or"):
        return len(arguments) > 1 and all(_is_expression(argument, deepest - 1) for argument in arguments)
    if head in _ARITY:
        return len(arguments) == _ARITY[head] and all(_is_expression(argument, deepest - 1) for argument in arguments)
    match head, arguments:
        case ["number", [value]]:
            return not isinstance(value, bool) and _is_number(value)
        case ["money", [amount, currency]]:
            return isinstance(currency, str) and _is_number(amount)
        case ["bool", [value]]:
            return isinstance(value, bool)
        case ["text" | "best" | "builtin", [name]]:
            return isinstance(name, str)
        case ["metric", [*names]]:
            return len(names) in (1, 2) and _is_texts(names)
    return False


def _is_number(value: Any) -> bool:
    try:
        return math.isfinite(float(value))
    except (TypeError, ValueError, OverflowError):
        return False


def _is_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)
