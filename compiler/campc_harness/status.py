"""What ran, runs and waits, and when it will end at the pace observed so far."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timezone

from campc_harness import agenda, gates, keeper, spend
from campc_harness.bundle import Bundle, read_json
from campc_harness.horizon import Horizon
from campc_harness.ledger import read
from campc_harness.plan import Window
from campc_harness.progress import Progress, progress_of
from campc_harness.standout import stands_out

_EPOCH_S = 1_500_000_000  # no run has so many steps, and no clock stands before it


@dataclass(frozen=True)
class Row:
    """One window: its state in a word, how far it is, and a remark."""

    window: str
    tier: str
    kind: str
    state: str
    took_s: float | None
    planned_s: float
    progress: str
    remark: str


@dataclass(frozen=True)
class Projection:
    """When the remaining windows end: seconds from now as projected, seconds left in the lot, and on what it rests."""

    needed_s: float
    left_s: float | None
    basis: str

    @property
    def fits(self) -> bool | None:
        """Whether it ends in time; None where the lot has no end."""
        return None if self.left_s is None else self.needed_s <= self.left_s


@dataclass(frozen=True)
class Status:
    """All that `status` shows."""

    campaign: str
    lot: str
    launcher: str
    rows: tuple[Row, ...]
    lines: tuple[str, ...]
    projection: Projection | None
    progress: Progress


def status(bundle: Bundle) -> Status:
    """Read the ledger and what the launcher left for others to see."""
    reading = read(bundle.ledger)
    progress = progress_of(reading.records)
    live = read_json(bundle.state / "live.json")
    pid = keeper.holder(keeper.launcher_lock(bundle)) if bundle.state.exists() else None
    running = pid is not None
    current = {task.get("window"): task for task in live.get("tasks", [])} if running else {}
    rows = tuple(_row(bundle, progress, window, current) for window in bundle.plan.windows)
    lines = list(_lines(bundle, progress, live if running else {}))
    lines += stands_out(progress)
    lines += [f"ledger line {damage.line} {damage.text}" for damage in reading.damage]
    if reading.torn:
        lines.append("the ledger's last line is torn: it will be set aside at the next launch")
    projection = project(bundle, progress, live if running else {})
    state = f"runs as process {pid}" if running else "isn't running"
    return Status(bundle.plan.campaign.name, bundle.lot.name, state, rows, tuple(lines), projection, progress)


def project(bundle: Bundle, progress: Progress, live: dict[str, object]) -> Projection | None:
    """When what remains will be over: measured runs and their variants at the step time observed, others as planned."""
    if progress.first is None:
        return None
    skipped = agenda.given_up(bundle.plan, progress)
    pace = observed_pace(bundle, progress)
    needs: dict[str, float] = {}
    measured = 0
    for window in bundle.windows:
        if (
            not progress.window(window.name).over
            and window.name not in skipped
            and not agenda.by_hand(bundle.plan, window)
        ):
            needs[window.name], known = _remaining(bundle, progress, window, pace)
            measured += known
    windows = [window for window in bundle.windows if window.name in needs]
    total = agenda.span(bundle.plan, bundle.lot.name, windows, {}, needs)
    left = live.get("left_s")
    seconds = float(left) if isinstance(left, (int, float)) else Horizon(bundle, lambda: progress).left()
    basis = f"{measured} windows at the step time observed, the others as planned" if measured else "as planned"
    return Projection(total, seconds, basis)


def observed_pace(bundle: Bundle, progress: Progress) -> dict[str, float]:
    """Observed seconds a step, by run: between the first and the last record of a step in its newest attempt.

    A run that wasn't measured yet goes by the one that it is a variant of.
    """
    pace: dict[str, float] = {}
    for window in bundle.plan.windows:
        for run_id in window.run_ids:
            state = progress.runs.get((run_id, window.name))
            if state is None or window.run is None:
                continue
            points = [(when, step) for when, step, _ in state.curve if step is not None]
            points = [item for item in points if state.attempts and item[0] >= state.attempts[-1].began]
            if len(points) > 1 and points[-1][1] > points[0][1]:
                pace[window.run] = (points[-1][0] - points[0][0]) / (points[-1][1] - points[0][1])
    for run in bundle.plan.runs:
        known, seen = run, {run.name}
        while known.name not in pace and known.variant_of and known.variant_of not in seen:
            seen.add(known.variant_of)
            known = bundle.plan.run(known.variant_of)
        if known.name in pace:
            pace.setdefault(run.name, pace[known.name])
    return pace


def text(shown: Status, width: int = 110) -> str:
    """The status as a table for a terminal."""
    head = ("window", "tier", "kind", "state", "took", "planned", "progress", "")
    table = [head] + [
        (
            row.window,
            row.tier,
            row.kind,
            row.state,
            agenda.hours(row.took_s) if row.took_s is not None else "",
            agenda.hours(row.planned_s),
            row.progress,
            row.remark,
        )
        for row in shown.rows
    ]
    widths = [max(len(line[column]) for line in table) for column in range(len(head))]
    lines = [f"{shown.campaign} on {shown.lot}: the launcher {shown.launcher}", ""]
    lines += [_cut("  ".join(map(str.ljust, line, widths)), width) for line in table]
    lines += ["", *shown.lines]
    if shown.projection is not None:
        lines.append(projection_line(shown.projection))
    return "\n".join(lines)


def _cut(line: str, width: int) -> str:
    """A line that fits, and shows where something is left out: half of a number is another one."""
    line = line.rstrip()
    return line if len(line) <= width else line[: width - 1].rstrip() + "…"


def projection_line(projection: Projection) -> str:
    """The projection in one sentence."""
    line = f"what remains takes {agenda.hours(projection.needed_s)} ({projection.basis})"
    if projection.left_s is None:
        return line
    word = "fits" if projection.fits else "DOES NOT FIT"
    return f"{line}; {agenda.hours(max(0.0, projection.left_s))} are left: {word}"


def _row(bundle: Bundle, progress: Progress, window: Window, current: dict[str, dict[str, object]]) -> Row:
    state = progress.windows.get(window.name)
    word, took, remark = "waits", None, ""
    if state is not None and state.state != "waiting":
        word = state.state if state.outcome in (None, "done") else f"{state.state}, {state.outcome}"
        remark = state.reason or ""
        if state.began is not None:
            took = (state.ended or progress.clock.now()) - state.began
    if word == "started":
        word = "runs" if window.name in current else "interrupted"
    if window.lot is None and word == "waits":
        word = "people"
    elif window.lot not in (None, bundle.lot.name):
        word = "elsewhere"
    waits = agenda.undecided(bundle.plan, progress, window)
    if word == "waits" and waits:
        remark = f"for gate {waits[0]}"
    return Row(
        window.name,
        window.tier,
        window.kind,
        word,
        took,
        window.takes.likely_s,
        _progress(bundle, progress, window, current.get(window.name, {})),
        remark,
    )


def _progress(bundle: Bundle, progress: Progress, window: Window, task: dict[str, object]) -> str:
    if not window.run or not agenda.runs_script(bundle.plan, window):
        return ""
    total = window.limit_steps or bundle.plan.run(window.run).steps
    begun = [state for run_id in window.run_ids if (state := progress.runs.get((run_id, window.name))) is not None]
    if len(window.run_ids) > 1:
        done = sum(state.outcome == "done" for state in begun)
        parts = [f"{done} of {len(window.run_ids)} seeds"]
    else:
        parts = []
    for state in begun[-1:]:
        run_id = state.run_id
        live_step = task.get("step") if task.get("run_id") == run_id else None
        step = live_step if isinstance(live_step, int) else state.step
        shown = [_stands(step, total)] if step is not None else []
        shown += [f"{name} {value:.4g}" for name, value in list(state.metrics.items())[:2]]
        shown += [f"attempt {len(state.attempts)}"] if len(state.attempts) > 1 else []
        parts.append(" ".join(shown))
    return "; ".join(filter(None, parts))


def _stands(step: int, total: int | None) -> str:
    """How far a run is. A wrapped command's steps are the times at which it saved: they alone only ever grow."""
    if step > _EPOCH_S:
        return f"saved {datetime.fromtimestamp(step, timezone.utc):%H:%M} UTC"
    return f"{step}/{total}" if total else f"step {step}"


def _lines(bundle: Bundle, progress: Progress, live: dict[str, object]) -> list[str]:
    lines = []
    facts = live.get("facts")
    facts = facts if isinstance(facts, dict) else {}
    if isinstance(facts.get("gpu_utilisation"), float):
        lines.append(f"GPU utilisation {facts['gpu_utilisation']:.0%}")
    if isinstance(facts.get("disk_free"), float):
        lines.append(f"disk free {facts['disk_free'] / (1 << 30):.1f} GiB")
    if progress.first is not None:
        spent = spend.spent(bundle.plan, bundle.lot, progress, Horizon(bundle, lambda: progress).elapsed())
        if spent is not None:
            limit = (
                f" of {bundle.plan.budget.limit.amount} {bundle.plan.budget.limit.currency}"
                if (bundle.plan.budget)
                else ""
            )
            lines.append(f"spent or committed {spent.amount} {spent.currency}{limit}")
    for gate in bundle.plan.gates:
        state = progress.gates.get(gate.name)
        if state is None or state.result or state.waiting_since is None:
            continue
        verdict = gates.judge(gate, gates.facts_of(bundle.plan, [progress]))
        seconds, count = gates.saved(bundle.plan, bundle.lot.name, gate)
        left = max(0.0, state.waiting_since + gate.wait_s - progress.clock.now())
        lines.append(f"gate {gate.name} waits {agenda.hours(left)} more, then: {gate.if_silent}")
        lines.append(f"  {gate.question or gate.when.get('text', '')}  ({verdict.values or 'nothing measured'})")
        lines.append(f"  reduce would give up {count} windows and save {agenda.hours(seconds)}")
        lines.append(f'  ./launch.sh decide {gate.name} continue|reduce|revisit|stop|conclude --because "…"')
    return lines


def _remaining(bundle: Bundle, progress: Progress, window: Window, pace: dict[str, float]) -> tuple[float, bool]:
    steps = window.limit_steps or (bundle.plan.run(window.run).steps if window.run else None)
    if not steps or not window.run or window.run not in pace or not agenda.runs_script(bundle.plan, window):
        return float(window.takes.likely_s), False
    todo = 0
    for run_id in window.run_ids:
        state = progress.runs.get((run_id, window.name))
        if state is None:
            todo += steps
        elif state.outcome is None:
            todo += max(0, steps - (state.step or 0))
    return todo * pace[window.run], True
