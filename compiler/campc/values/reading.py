"""What a reader of literals answers where a text is no value."""

from __future__ import annotations

from campc.records import frozen


@frozen
class NotAValue:
    """Why a text is no value: ``message`` without its end mark, ``instead`` the text to write, ``start`` and ``end`` the
    part of the text that is at fault (all of it where ``end`` is None)."""

    message: str
    instead: str | None = None
    start: int = 0
    end: int | None = None
    help: str | None = None


def shown(text: str) -> str:
    """A text cut to what a message can hold."""
    return text if len(text) <= 40 else f"{text[:37]}…"
