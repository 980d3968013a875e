"""What is left of a plan after a gate gives something up: the schedule placed again, and the runs that are gone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

from attrs import evolve, frozen

from campc.schedule.plan import Plan
from campc.schema.conditions import Condition
from campc.schema.rules import Gate
from campc.schema.spec import Spec
from campc.schema.work import Window

Replan = Callable[[Spec], Plan]


@frozen(eq=False)
class Drop:
    """What a gate gives up where it says ``reduce``."""

    gate: str
    label: str
    """``after_pilot says reduce``."""
    windows: tuple[str, ...]
    runs: frozenset[str]
    """Runs that no window executes any more."""
    plan: Plan | None
    """The schedule without them; None where it was not placed again."""

    @property
    def end(self) -> Fraction | None:
        return self.plan.end if self.plan is not None else None


def drops(plan: Plan, replan: Replan | None) -> tuple[Drop, ...]:
    """What each gate that reduces gives up."""
    found = []
    placed: dict[tuple[str, ...], Plan | None] = {}
    for gate in plan.spec.gates.values():
        gone = dropped_windows(plan, gate)
        if gate.otherwise != "reduce" or not gone:
            continue
        rest = without(plan.spec.windows, gone)
        runs = {window.run for name, window in plan.spec.windows.items() if name in gone and window.run is not None}
        left = {window.run for window in rest.values() if window.kind != "pilot"}
        lost = frozenset(run for run in runs if run not in left)
        key = tuple(gone)
        if key not in placed:
            placed[key] = replan(plan.spec.with_windows(rest)) if replan is not None else None
        found.append(Drop(gate.name, f"{gate.name} says reduce", key, lost, placed[key]))
    return tuple(found)


def dropped_windows(plan: Plan, gate: Gate) -> list[str]:
    """The windows that a gate drops, with those that cannot go on without them, in the file's order. What is over by then, or must come last,
    stays."""
    spec, tiers, names = plan.spec, set(gate.drops.tiers), set(gate.drops.windows)
    over = _before(spec.windows, gate.after)
    decided = plan.placements.get(gate.after or "")
    if decided is not None:
        over |= {name for name, placed in plan.placements.items() if placed.end <= decided.end}
    gone = {
        name
        for name, window in spec.windows.items()
        if (name in names or window.tier in tiers) and name not in over and not window.last
    }
    changed = True
    while changed:
        changed = False
        for name, window in spec.windows.items():
            if (
                name not in gone | over
                and window.after
                and all(before in gone for before in window.after)
                and not window.last
            ):
                gone.add(name)
                changed = True
    return [name for name in spec.windows if name in gone]


def without(windows: Mapping[str, Window], gone: list[str]) -> dict[str, Window]:
    """The windows that stay, which go on without those that went."""
    lost = set(gone)
    return {
        name: evolve(window, after=tuple(before for before in window.after if before not in lost))
        for name, window in windows.items()
        if name not in lost
    }


def _before(windows: Mapping[str, Window], name: str | None) -> set[str]:
    """A window and all that it comes after."""
    found: set[str] = set()
    waiting = [name] if name is not None else []
    while waiting:
        current = waiting.pop()
        if current not in found and current in windows:
            found.add(current)
            waiting += windows[current].after
    return found


def needed_runs(condition: Condition | None) -> frozenset[str]:
    """The runs whose metrics a condition names."""
    if condition is None:
        return frozenset()
    return frozenset(_runs(condition.expression)) | frozenset(
        use.run for use in condition.metrics if use.run is not None
    )


def _runs(part: Any) -> set[str]:
    if not isinstance(part, tuple):
        return set()
    if part[:1] == ("metric",) and len(part) == 3:
        return {str(part[2])}
    return {run for inner in part for run in _runs(inner)}
