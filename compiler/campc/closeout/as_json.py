"""closeout.json: the closeout as tools read it."""

from __future__ import annotations

import math
from typing import Any

import attrs

from campc.closeout.model import Closeout
from campc.values.money import Money

__all__ = ["SCHEMA", "to_json"]

SCHEMA = 1


def to_json(closeout: Closeout) -> dict[str, Any]:
    """The whole closeout, with a schema number first.

    Fields are those of `Closeout`. Money is ``{"amount", "currency"}``; an infinite or undefined number is text: ``"nan"``, ``"inf"``, ``"-inf"``;
    what isn't known is null.
    """
    tree: dict[str, Any] = {"schema": SCHEMA}
    tree.update(_plain(closeout))
    tree["accepted"] = closeout.accepted
    tree["essential_accepted"] = closeout.essential_accepted
    tree["planned_s"], tree["observed_s"] = closeout.planned, closeout.observed
    for row, window in zip(tree["windows"], closeout.windows, strict=True):
        row["actual_s"], row["planned_s"], row["deviation_s"] = window.actual, window.planned, window.deviation
    for row, ratio in zip(tree["ratios"], closeout.ratios, strict=True):
        row["defined"] = ratio.defined
    return tree


def _plain(value: Any) -> Any:
    if isinstance(value, Money):
        return value.to_json()
    if attrs.has(type(value)):
        return {field.name: _plain(getattr(value, field.name)) for field in attrs.fields(type(value))}
    if isinstance(value, (tuple, list)):
        return [_plain(item) for item in value]
    if isinstance(value, float):
        if not math.isfinite(value):
            return str(value)
        return int(value) if value.is_integer() and abs(value) < 1 << 53 else value
    return value
