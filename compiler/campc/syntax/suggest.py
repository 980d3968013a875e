"""Did you mean: the closest of some words. Temporary; the syntax branch brings the real one."""

from __future__ import annotations

from collections.abc import Iterable


def closest(word: str, candidates: Iterable[str]) -> str | None:
    """The candidate nearest to a misspelt word, or None where none is near."""
    from difflib import get_close_matches

    found = get_close_matches(word, list(candidates), 1, 0.7)
    return found[0] if found else None
