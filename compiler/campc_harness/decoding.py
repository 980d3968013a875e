"""JSON of a plan as values of declared types, with a message that says where it is wrong."""

from __future__ import annotations

import dataclasses
import types
import typing
from typing import Any


class PlanError(Exception):
    """A `campaign.json` that cannot be read; the text says where and what to do."""


def decode(kind: Any, value: Any, place: str) -> Any:
    """`value` as `kind`, which is a dataclass, a union with None, a tuple of one type, a mapping or a plain type.

    Args:
        place: where it stands in campaign.json, for messages.

    Raises:
        PlanError: it is something else, or lacks a field.
    """
    origin = typing.get_origin(kind)
    if origin in (typing.Union, types.UnionType):
        return None if value is None else decode(typing.get_args(kind)[0], value, place)
    if dataclasses.is_dataclass(kind):
        return _decode_block(kind, value, place)
    if origin is tuple:
        _expect(isinstance(value, list), "a list", value, place)
        inner = typing.get_args(kind)[0]
        return tuple(decode(inner, item, f"{place}[{index}]") for index, item in enumerate(value))
    if origin is not None:
        _expect(isinstance(value, dict), "an object", value, place)
        return value
    if kind is float:
        _expect(isinstance(value, (int, float)) and not isinstance(value, bool), "a number", value, place)
    elif kind is int:
        _expect(isinstance(value, int) and not isinstance(value, bool), "a whole number", value, place)
    elif kind in (str, bool):
        _expect(isinstance(value, kind), "text" if kind is str else "true or false", value, place)
    return value


def _decode_block(kind: Any, value: Any, place: str) -> Any:
    _expect(isinstance(value, dict), "an object", value, place)
    hints = typing.get_type_hints(kind)
    fields: dict[str, Any] = {}
    for field in dataclasses.fields(kind):
        key = field.name.rstrip("_")
        optional = field.default is not dataclasses.MISSING or field.default_factory is not dataclasses.MISSING
        there = place + ("." if place else "") + key
        if value.get(key) is None and optional:
            continue
        if key not in value:
            raise PlanError(f"campaign.json lacks `{there}`: build the bundle again")
        fields[field.name] = decode(hints[field.name], value[key], there)
    return kind(**fields)


def _expect(holds: bool, wanted: str, value: Any, place: str) -> None:
    if not holds:
        raise PlanError(f"campaign.json: `{place}` must be {wanted}, not {value!r}: build the bundle again")
