"""Which window comes next, which never will, and what still fits. Plain functions of the plan and the records."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from campc_harness.gates import TIERS, drops, gated, spread
from campc_harness.plan import Plan, Window
from campc_harness.progress import Progress

_TRAINS = ("pilot", "train", "rerun")
_HAND_KINDS = ("setup", "stage", "infer", "evaluate", "review", "prepare", "other", "rerun", "train", "pilot")


@dataclass(frozen=True)
class Skip:
    """Why a window isn't run: by `gate`, `failure`, `time` or `stop`."""

    by: str
    reason: str


def by_hand(plan: Plan, window: Window) -> bool:
    """Whether the launcher has nothing to run for it: it is only recorded, as done by hand."""
    return not window.command and window.kind in _HAND_KINDS and not runs_script(plan, window)


def runs_script(plan: Plan, window: Window) -> bool:
    """Whether the launcher runs a run's script for it.

    A window that trains does; another one (`infer`, say) where it names a run that no window trains, and no command.
    """
    if not window.run or window.kind in _TRAINS:
        return bool(window.run)
    return not window.command and not any(other.run == window.run and other.kind in _TRAINS for other in plan.windows)


def given_up(plan: Plan, progress: Progress) -> dict[str, Skip]:
    """Windows that will not run, by what was decided and by what failed; those already over are left out."""
    found: dict[str, Skip] = {}
    people = frozenset(name for name, state in progress.windows.items() if state.by == "person")
    for name in spread(plan, people) - people:
        found[name] = Skip("skip", "what it comes after was skipped")
    for gate in plan.gates:
        state = progress.gates.get(gate.name)
        if state is not None and state.result:
            for name in drops(plan, gate, state.result):
                found.setdefault(name, Skip("gate", f"gate {gate.name}: {state.result}"))
    failed = {name for name, state in progress.windows.items() if state.state == "failed"}
    for window in plan.windows:
        causes = sorted(failed & set(window.after))
        if causes and not window.brings_home and window.name not in failed:
            found.setdefault(window.name, Skip("failure", f"it comes after {causes[0]}, which failed"))
            failed.add(window.name)
        if window.kind == "rerun" and _was_stopped(plan, progress, window):
            found.setdefault(
                window.name, Skip("stop", f"run {window.run} was stopped: there is nothing to compare with")
            )
    return {name: skip for name, skip in found.items() if not progress.window(name).over}


def undecided(plan: Plan, progress: Progress, window: Window) -> list[str]:
    """Gates that `window` still waits for."""
    return [gate.name for gate in gated(plan, window) if not progress.gate(gate.name).result]


def ready(
    plan: Plan,
    progress: Progress,
    lot: str,
    running: frozenset[str],
    over: frozenset[str],
    postponed: frozenset[str] = frozenset(),
) -> list[Window]:
    """Windows of `lot` that may start now, in the planned order; those postponed hold nothing up and don't start.

    People's windows and those of other lots never block. A window waits for what it comes after, for its gates, for
    earlier windows on its GPUs (unless those wait for a gate), and, if it is `last`, for all others.
    """
    own = [window for window in plan.windows if window.lot == lot]
    names = {window.name for window in own}
    pending = [window for window in own if window.name not in over | running]
    waiting = {window.name for window in pending if window.name in postponed or undecided(plan, progress, window)}
    found: list[Window] = []
    unfinished = {other.name for other in own if not other.last and other.name not in over}
    before = [window for window in own if window.name in running]
    for window in own:
        if window.name in over | running:
            continue
        held_up = any(_share(other, window) for other in before)
        if window.name not in waiting:
            before.append(window)
        if window.name in waiting or held_up or (set(window.after) & names) - over:
            continue
        if window.last and unfinished - {window.name}:
            continue
        found.append(window)
    return found


def fitting(
    plan: Plan, lot: str, pending: list[Window], busy: Mapping[str, float], needs: Mapping[str, float], left: float
) -> dict[str, str]:
    """Of the pending windows those that don't fit into `left` seconds any more, with the reason: lowest tier first.

    Args:
        pending: windows to come, in the planned order.
        busy: seconds that each running window will still take.
        needs: seconds that each pending window will take.
    """
    removed: dict[str, str] = {}
    while True:
        kept = [window for window in pending if window.name not in removed]
        total = span(plan, lot, kept, busy, needs)
        loose = [window for window in kept if not window.brings_home]
        if total <= left or not loose:
            return removed
        tier = max(TIERS.index(window.tier) if window.tier in TIERS else 0 for window in loose)
        victim = [window for window in loose if (TIERS.index(window.tier) if window.tier in TIERS else 0) == tier][-1]
        home = sum(needs[window.name] for window in kept if window.brings_home)
        reason = (
            f"no time left for it: {hours(needs[victim.name])} and {hours(home)} to bring results home "
            f"in {hours(max(0.0, left))}"
        )
        removed[victim.name] = reason
        for name in spread(plan, frozenset(removed)):
            removed.setdefault(name, f"what it comes after has no time left ({victim.name})")


def hours(seconds: float) -> str:
    """A length of time for people: `45 s`, `12 min`, `3.5 h`."""
    if seconds < 180:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def span(plan: Plan, lot: str, windows: list[Window], busy: Mapping[str, float], needs: Mapping[str, float]) -> float:
    """Seconds until all of `windows` are over, each GPU in its order, what comes home at the end."""
    free: dict[int, float] = {}
    ends: dict[str, float] = {}
    for name, seconds in busy.items():
        ends[name] = seconds
        for gpu in _gpus(plan, lot, plan.window(name)):
            free[gpu] = max(free.get(gpu, 0.0), seconds)
    for window in sorted(windows, key=lambda item: item.last):
        held = _gpus(plan, lot, window)
        start = max([free.get(gpu, 0.0) for gpu in held] + [ends.get(name, 0.0) for name in window.after] + [0.0])
        if window.last:
            start = max([start, *ends.values()])
        ends[window.name] = start + needs[window.name]
        for gpu in held:
            free[gpu] = ends[window.name]
    return max(ends.values(), default=0.0)


def _gpus(plan: Plan, lot: str, window: Window) -> list[int]:
    return list(window.gpus) or list(range(plan.lot(lot).package.gpus))


def _share(one: Window, other: Window) -> bool:
    return not one.gpus or not other.gpus or bool(set(one.gpus) & set(other.gpus))


def _was_stopped(plan: Plan, progress: Progress, window: Window) -> bool:
    firsts = [w.name for w in plan.windows if w.run == window.run and w.kind == "train"]
    outcomes = [
        state.outcome for run_id in window.run_ids for name in firsts if (state := progress.runs.get((run_id, name)))
    ]
    return bool(outcomes) and all(outcome in ("stop", "misconfigured") for outcome in outcomes)
