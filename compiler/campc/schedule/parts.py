"""GPUs of lots in parts: those that every window holds together, or not at all, are reckoned with as one.

A cluster of thousands of GPUs, on which all windows are, is one part of it.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable

from campc.schedule.plan import Gpu


class Parts:
    """The parts of all lots, by what windows hold; each is called by its first GPU.

    ``held``: the GPUs of each window, in order and without a gap.
    """

    def __init__(self, held: Iterable[tuple[Gpu, ...]]) -> None:
        cuts: dict[str, set[int]] = {}
        for gpus in held:
            if gpus:
                (lot, low), (_, high) = gpus[0], gpus[-1]
                found = cuts.setdefault(lot, set())
                found.add(low)
                found.add(high + 1)
        self._cuts = {lot: sorted(found) for lot, found in cuts.items()}
        self._known: dict[tuple[Gpu, Gpu], tuple[Gpu, ...]] = {}

    def of(self, gpus: tuple[Gpu, ...]) -> tuple[Gpu, ...]:
        """The parts of what a window holds, in order."""
        if not gpus:
            return ()
        key = gpus[0], gpus[-1]
        found = self._known.get(key)
        if found is None:
            (lot, low), (_, high) = key
            cuts = self._cuts[lot]
            inner = cuts[bisect_left(cuts, low) : bisect_right(cuts, high)]
            found = self._known[key] = tuple((lot, first) for first in inner)
        return found

    def size(self, part: Gpu) -> int:
        """How many GPUs a part has."""
        lot, first = part
        cuts = self._cuts[lot]
        return cuts[bisect_right(cuts, first)] - first


def shared(first: tuple[Gpu, ...], second: tuple[Gpu, ...]) -> tuple[Gpu, ...]:
    """The GPUs that two windows on one lot both hold."""
    low, high = second[0][1], second[-1][1]
    begin, end = max(low, first[0][1]), min(high, first[-1][1])
    return second if (begin, end) == (low, high) else second[begin - low : max(end + 1 - low, 0)]
