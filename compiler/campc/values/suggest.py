"""Did you mean: the nearest of the words that could stand somewhere."""

from __future__ import annotations

from collections.abc import Iterable


def closest(word: str, candidates: Iterable[str]) -> str | None:
    """The candidate that a reader would take ``word`` for, or None where none is near enough.

    Near enough: the same but for case and ``_-. ``, or at most one edit in three letters (a swap of neighbours is one
    edit), or, from four letters on, one is the beginning of the other. Of equally near ones the first in the alphabet.
    """
    if not 0 < len(word) <= 60:
        return None
    folded = _fold(word)
    best: tuple[int, str] | None = None
    for candidate in sorted(set(candidates)):
        target = _fold(candidate)
        if target == folded:
            distance = 0
        else:
            longest = max(len(folded), len(target))
            allowed = max(1, longest // 3) if longest > 2 else 0
            distance = _distance(folded, target, allowed)
            if distance > allowed:
                shorter = min(len(folded), len(target))
                if shorter < 4 or not (folded.startswith(target) or target.startswith(folded)):
                    continue
        if best is None or distance < best[0]:
            best = distance, candidate
    return best[1] if best is not None else None


def _fold(word: str) -> str:
    return word.lower().replace("_", "").replace("-", "").replace(" ", "").replace(".", "") or word


def _distance(a: str, b: str, limit: int) -> int:
    """Edits between two words (optimal string alignment), or some number above ``limit``."""
    if abs(len(a) - len(b)) > limit:
        return limit + 1
    before: list[int] = []
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        last, before, row = before, row, [i]
        for j, y in enumerate(b, 1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (x != y))
            if i > 1 and j > 1 and x == b[j - 2] and a[i - 2] == y:
                cost = min(cost, last[j - 2] + 1)
            row.append(cost)
        if min(row) > limit:
            return limit + 1
    return row[-1]
