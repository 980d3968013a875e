"""The JSON Schema of closeout.json, read off the classes that it is written from: it can't fall behind them."""

import types
import typing
from typing import Any

import attrs

from campc.closeout.as_json import SCHEMA
from campc.closeout.model import Closeout
from campc.values.money import Money
from tools.schemas import COUNT, FLAG, MONEY, TEXT, Schema, many, null_or, obj, words

# An infinite or undefined value of a metric is text, as JSON has no word for it.
NUMBER: Schema = {"anyOf": [{"type": "number"}, {"enum": ["nan", "inf", "-inf"]}]}
MORE: dict[str, dict[str, Schema]] = {
    "WindowResult": {"actual_s": null_or(NUMBER), "planned_s": NUMBER, "deviation_s": null_or(NUMBER)},
    "RatioResult": {"defined": FLAG},
    "Closeout": {
        "schema": {"const": SCHEMA},
        "accepted": COUNT,
        "essential_accepted": FLAG,
        "planned_s": NUMBER,
        "observed_s": null_or(NUMBER),
    },
}
"""What is computed from the fields, and written beside them."""


def closeout_members() -> dict[str, Schema]:
    """The members of the whole object."""
    return _members(Closeout)


def _members(kind: type[Any]) -> dict[str, Schema]:
    hints = typing.get_type_hints(kind)
    found = {field.name: _schema(hints[field.name]) for field in attrs.fields(kind)}
    return {**found, **MORE.get(kind.__name__, {})}


def _schema(hint: Any) -> Schema:
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if hint is Money:
        return MONEY
    if attrs.has(hint):
        return obj(**_members(hint))
    if origin in (typing.Union, types.UnionType):
        (known,) = [part for part in inner if part is not type(None)]
        return null_or(_schema(known))
    if origin is typing.Literal:
        return words(*inner)
    if origin is tuple:
        if inner[-1] is Ellipsis:
            return many(_schema(inner[0]))
        parts = [_schema(part) for part in inner]
        return {"type": "array", "prefixItems": parts, "minItems": len(parts), "maxItems": len(parts)}
    plain: dict[Any, Schema] = {str: TEXT, bool: FLAG, int: {"type": "integer"}, float: NUMBER}
    return plain[hint]
