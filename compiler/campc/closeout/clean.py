"""Text of another machine, made fit for a document: no lone surrogates, no control characters."""

from __future__ import annotations

import re
from typing import Any, TypeVar

import attrs

__all__ = ["clean"]

T = TypeVar("T")
# What neither UTF-8 nor HTML can hold, and what turns the direction of the text around it.
_UNFIT = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\u202a-\u202e\u2066-\u2069\ufffe\uffff]")


def clean(value: T) -> T:
    """The same value with every unfit character in it shown as ``�``, however deep in tuples and classes it is."""
    given: Any = value
    if isinstance(given, str):
        given = _UNFIT.sub("\ufffd", given)
    elif isinstance(given, tuple):
        given = tuple(clean(item) for item in given)
    elif attrs.has(type(given)):
        fields = [field.name for field in attrs.fields(type(given)) if field.init]
        given = attrs.evolve(given, **{name: clean(getattr(given, name)) for name in fields})
    return given  # type: ignore[no-any-return]
