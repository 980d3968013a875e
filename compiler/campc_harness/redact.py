"""Keeps the values of a campaign's secrets out of everything that is written."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping

MASK = "[secret]"
_SHORTEST = 4


class Redactor:
    """Replaces each secret's value by a mask, in text and in bytes.

    A value shorter than four characters is left: masking it would garble everything and protect nothing.
    """

    def __init__(self, names: Iterable[str], environment: Mapping[str, str] | None = None) -> None:
        source = os.environ if environment is None else environment
        values = {source[name] for name in names if len(source.get(name, "")) >= _SHORTEST}
        parts = {part for value in values for part in (value, *value.splitlines()) if len(part) >= _SHORTEST}
        self._texts = sorted(parts, key=len, reverse=True)
        self._bytes = [text.encode("utf-8", "surrogateescape") for text in self._texts]

    def text(self, text: str) -> str:
        """`text` without the secrets."""
        for value in self._texts:
            text = text.replace(value, MASK)
        return text

    def data(self, data: bytes) -> bytes:
        """`data` without the secrets."""
        for value in self._bytes:
            data = data.replace(value, MASK.encode())
        return data

    def found(self, data: bytes) -> bool:
        """Whether `data` holds a secret."""
        return any(value in data for value in self._bytes)

    @property
    def longest(self) -> int:
        """Length in bytes of the longest secret; 0 where there is none."""
        return max(map(len, self._bytes), default=0)
