"""What a gate's condition says, and which windows an answer gives up. Plain functions of the plan and the records."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal

from campc_harness.conditions import Builtin, Facts, describe, evaluate
from campc_harness.plan import Gate, Plan, Window
from campc_harness.progress import Progress

RESULTS = ("continue", "reduce", "revisit", "stop", "conclude")
_ORDER = {"pilot": 0, "rerun": 1, "train": 2}
TIERS = ("essential", "useful", "exploratory")


@dataclass(frozen=True)
class Verdict:
    """What a gate's metrics say: `result` None where they don't decide; `values` are those it rests on."""

    result: str | None
    values: str


def facts_of(plan: Plan, progresses: Iterable[Progress], builtins: Mapping[str, Builtin | None] | None = None) -> Facts:
    """Last value of each metric, a run and seed. A later kind of window wins over a pilot or a rerun of the run."""
    lots = list(progresses)
    runs: dict[str, dict[str, list[float | None]]] = {}
    for run in plan.runs:
        windows = [window for window in plan.windows if window.run == run.name]
        windows.sort(key=lambda window: _ORDER.get(window.kind, 3))
        merged: list[dict[str, float]] = []
        for identity in run.ids:
            values: dict[str, float] = {}
            for window in windows:
                for lot in lots:
                    state = lot.runs.get((identity.id, window.name))
                    values.update(state.metrics if state else {})
            merged.append(values)
        names = {name for values in merged for name in values}
        # Seeds of which no window has begun yet would make every mean unknown; those of a pilot are one only.
        begun = [values for values in merged if values] or merged
        runs[run.name] = {name: [values.get(name) for values in begun] for name in names}
    return Facts(runs=runs, builtins=builtins or {})


def judge(gate: Gate, facts: Facts) -> Verdict:
    """What the metrics say at `gate`; `enough` comes first. A failed gate that is to be revisited waits for people."""
    values = describe(gate.when, facts)
    if gate.enough is not None and evaluate(gate.enough, facts) is True:
        return Verdict("conclude", describe(gate.enough, facts))
    holds = evaluate(gate.when, facts)
    if holds is None:
        return Verdict(None, values)
    if holds:
        return Verdict("continue", values)
    return Verdict(None if gate.otherwise == "revisit" else gate.otherwise, values)


@functools.lru_cache(maxsize=4096)
def follows(plan: Plan, name: str) -> frozenset[str]:
    """Every window that comes after the window `name`, directly or not."""
    next_of: dict[str, list[str]] = {}
    for window in plan.windows:
        for before in window.after:
            next_of.setdefault(before, []).append(window.name)
    found: set[str] = set()
    todo = [name]
    while todo:
        for later in next_of.get(todo.pop(), ()):
            if later not in found:
                found.add(later)
                todo.append(later)
    return frozenset(found)


def gated(plan: Plan, window: Window) -> list[Gate]:
    """The gates that `window` waits for."""
    return [gate for gate in plan.gates if window.name in follows(plan, gate.after)]


def comes_before(plan: Plan, name: str) -> frozenset[str]:
    """Every window that the window `name` comes after, directly or not."""
    after = {window.name: window.after for window in plan.windows}
    found: set[str] = set()
    todo = [name]
    while todo:
        for before in after.get(todo.pop(), ()):
            if before not in found:
                found.add(before)
                todo.append(before)
    return frozenset(found)


def drops(plan: Plan, gate: Gate, result: str) -> frozenset[str]:
    """Windows that `result` at `gate` gives up; what brings results home is never among them.

    `reduce` gives up what the gate says, or all but the essential tier where it says nothing.
    """
    if result == "continue":
        return frozenset()
    if result in ("stop", "revisit", "conclude"):
        gone = set(follows(plan, gate.after))
    else:
        tiers = set(gate.drops.tiers)
        if not tiers and not gate.drops.windows:
            tiers = set(TIERS[1:])
        gone = {window.name for window in plan.windows if window.tier in tiers} | set(gate.drops.windows)
    return spread(plan, frozenset(gone))


def spread(plan: Plan, gone: frozenset[str]) -> frozenset[str]:
    """`gone` with those windows that come after dropped ones only, less what brings results home."""
    protected = {window.name for window in plan.windows if window.brings_home}
    found = set(gone) - protected
    grew = True
    while grew:
        more = {
            window.name
            for window in plan.windows
            if window.name not in found | protected and window.after and set(window.after) <= found
        }
        grew = bool(more)
        found |= more
    return frozenset(found)


def saved(plan: Plan, lot: str, gate: Gate) -> tuple[float, int]:
    """What `reduce` at `gate` would save on `lot`: seconds as likely, and how many windows."""
    gone = [window for window in plan.windows if window.lot == lot and window.name in drops(plan, gate, "reduce")]
    return float(sum((Decimal(window.takes.likely_s) for window in gone), Decimal(0))), len(gone)
