"""Windows that hold the same GPUs at the same time."""

from __future__ import annotations

from collections.abc import Mapping
from heapq import heappop, heappush

from campc.schedule.parts import Parts, shared
from campc.schedule.place import Moment, moment
from campc.schedule.plan import Conflict, Gpu, Interval, Placement

MOST_CONFLICTS = 8
"""How many windows that it conflicts with are recorded of one window on one GPU."""


def conflicts(placements: Mapping[str, Placement]) -> tuple[Conflict, ...]:
    """The pairs that hold a GPU at the same time, by the later one's start."""
    parts = Parts(placement.gpus for placement in placements.values())
    by_part: dict[Gpu, list[tuple[int, Placement]]] = {}
    for turn, placement in enumerate(placements.values()):
        for part in parts.of(placement.gpus):
            by_part.setdefault(part, []).append((turn, placement))
    pairs: dict[tuple[int, int], Conflict] = {}
    for items in by_part.values():
        # Placements come in the order of their start, then of the file: what two share begins where the later one does.
        open_: list[tuple[Moment, int, Placement]] = []
        for turn, item in items:
            start, until = moment(item.start), moment(item.end)
            while open_ and open_[0][0] <= start:
                heappop(open_)
            for other_end, other_turn, other in open_[:MOST_CONFLICTS]:
                if (turn, other_turn) not in pairs:
                    both = Interval(item.start, other.end if other_end < until else item.end)
                    pairs[turn, other_turn] = Conflict(other, item, shared(other.gpus, item.gpus), both)
            heappush(open_, (until, turn, item))
    found = [(turn, conflict.first.window.order, conflict) for (turn, _), conflict in pairs.items()]
    return tuple(conflict for _, _, conflict in sorted(found, key=lambda f: f[:2]))
