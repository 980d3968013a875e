"""What the next campaign can state instead of assuming it, which estimates held, and which unknowns were settled."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, tzinfo
from decimal import Decimal
from fractions import Fraction
from zoneinfo import ZoneInfo

from campc.closeout.bundle import Bundle
from campc.closeout.model import AttemptResult, Measured, UnknownResult, WindowResult
from campc.closeout.record import Story
from campc.values.quantities import compact_duration, format_duration, format_size
from campc_harness.ledger import Record
from campc_harness.plan import Checkpoint

__all__ = ["measured_of", "unknowns_of"]

CLOSE = 0.1
"""A single estimate held where what was measured lies within this share of it; a range holds what lies in it."""


def measured_of(
    bundle: Bundle, story: Story, windows: Sequence[WindowResult], attempts: Sequence[AttemptResult]
) -> tuple[Measured, ...]:
    """Measured values as lines of a spec: times of windows, then the checkpoints' size, write and restore, then interruptions."""
    zone = _zone(bundle.plan.campaign.timezone)
    return (
        *_windows(windows, zone, _machines(bundle, story)),
        *_checkpoints(bundle, story, attempts),
        *_interruptions(bundle, story),
        *_steps(bundle, story),
    )


def unknowns_of(bundle: Bundle, windows: Sequence[WindowResult]) -> tuple[UnknownResult, ...]:
    """Each declared unknown: settled where the window that was to settle it is done."""
    states = {window.name: window for window in windows}
    found = []
    for block in bundle.blocks("unknowns"):
        window = states.get(str(block.get("settled_by")))
        settled = window is not None and window.state == "done"
        how = None
        if window is not None and settled and window.actual is not None:
            how = f"{window.name} is done; it took {format_duration(_rounded(window.actual))}"
        elif window is not None:
            how = f"{window.name} is {window.state}" + (
                f": {window.explanation}" if window.explanation and not settled else ""
            )
        found.append(
            UnknownResult(
                name=str(block.get("name")),
                question=str(block.get("question")),
                settled_by=window.name if window else None,
                settled=settled,
                how=how,
            )
        )
    return tuple(found)


def _machines(bundle: Bundle, story: Story) -> dict[str, str]:
    """What each lot's windows were measured on: its GPU, or CPUs where it was launched on these."""
    cpu = {record.lot for record in story.of("launch") if record.more.get("cpu") is True}
    return {lot.name: "CPU" if lot.name in cpu else lot.package.gpu for lot in bundle.plan.lots}


def _windows(windows: Sequence[WindowResult], zone: tzinfo, machines: Mapping[str, str]) -> Iterator[Measured]:
    for window in windows:
        if window.actual is None or window.actual_end is None or window.state != "done" or window.actual < 0.0005:
            continue
        day = datetime.fromtimestamp(window.actual_end, zone).date().isoformat()
        low, high = window.low or window.planned, window.high or window.planned
        took = _rounded(window.actual)
        known = machines.get(window.lot or "")
        machine = f", {known}" if known else ""
        yield Measured(
            what=f"window {window.name}",
            assumed=_range(low, window.planned, high),
            measured=format_duration(took),
            held=low <= window.actual <= high
            if high > low
            else abs(window.actual - window.planned) <= CLOSE * window.planned,
            spec=f"takes = {compact_duration(took)}; basis = {_quoted(f'measured {day}{machine}')}",
            place=f"window {window.name}",
            basis="one execution",
        )


def _range(low: float, likely: float, high: float) -> str:
    if low == high:
        return format_duration(_exact(likely))
    return " .. ".join(format_duration(_exact(value)) for value in (low, likely, high))


def _checkpoints(bundle: Bundle, story: Story, attempts: Sequence[AttemptResult]) -> Iterator[Measured]:
    policies: list[tuple[Checkpoint, list[str]]] = []
    for run in bundle.plan.runs:
        if run.checkpoint is not None:
            shared = next((names for known, names in policies if known == run.checkpoint), None)
            if shared is None:
                policies.append((run.checkpoint, [run.name]))
            else:
                shared.append(run.name)
    for policy, runs in policies:
        ids = {identity.id for run in bundle.plan.runs if run.name in runs for identity in run.ids}
        place = "checkpoint" if len(policies) == 1 else f"checkpoint of {', '.join(runs)}"
        saves = [record for record in story.of("checkpoint") if record.run_id in ids]
        yield from _saves(policy, saves, place)
        yield from _restores(policy, [attempt for attempt in attempts if attempt.run_id in ids], story, place)


def _saves(policy: Checkpoint, saves: Sequence[Record], place: str) -> Iterator[Measured]:
    writes = list(_numbers(saves, "write_s"))
    if writes:
        write = _rounded(statistics.median(writes))
        held = None if policy.write_s is None else float(write) <= policy.write_s * (1 + CLOSE)
        yield Measured(
            what="write of a checkpoint",
            assumed=_duration(policy.write_s),
            measured=format_duration(write),
            held=held,
            spec=f"write = {compact_duration(write)}",
            place=place,
            basis=f"median of {_count(len(writes), 'save')}",
        )
    sizes = list(_numbers(saves, "bytes"))
    if sizes:
        size = _round_up(max(sizes))
        yield Measured(
            what="size of a checkpoint",
            assumed=format_size(policy.size_bytes) if policy.size_bytes is not None else None,
            measured=format_size(size),
            held=None if policy.size_bytes is None else max(sizes) <= policy.size_bytes * (1 + CLOSE),
            spec=f"size = {format_size(size).replace(' ', '').replace(',', '')}",
            place=place,
            basis=f"largest of {_count(len(sizes), 'save')}",
        )


def _restores(policy: Checkpoint, attempts: Sequence[AttemptResult], story: Story, place: str) -> Iterator[Measured]:
    resumes = {(record.run_id, record.window, record.attempt): record for record in story.of("resume")}
    times = []
    for attempt in attempts:
        record = resumes.get((attempt.run_id, attempt.window, attempt.number))
        if record is not None and attempt.from_step and attempt.start is not None and record.time >= attempt.start:
            times.append(record.time - attempt.start)
    if times:
        restore = _rounded(statistics.median(times))
        yield Measured(
            what="restore, with the start of the process",
            assumed=_duration(policy.restore_s),
            measured=format_duration(restore),
            held=None if policy.restore_s is None else float(restore) <= policy.restore_s * (1 + CLOSE),
            spec=f"restore = {compact_duration(restore)}",
            place=place,
            basis=f"median of {_count(len(times), 'resume')}",
        )


def _interruptions(bundle: Bundle, story: Story) -> Iterator[Measured]:
    """How often an interruptible lot's machine was taken, as far as attempts were interrupted by it."""
    for lot in bundle.plan.lots:
        times = [record.time for record in story.records if record.lot == lot.name]
        taken = sum(record.event == "interrupted" and record.lot == lot.name for record in story.records)
        hours = round((max(times) - min(times)) / 3600) if times else 0
        if not lot.package.interruptible or not taken or not hours:
            continue
        expected = lot.package.interruptions_per_s
        yield Measured(
            what=f"interruptions of {lot.name}",
            assumed=None if expected is None else f"{expected * 86400:.3g} per 24 h",
            measured=f"{taken} in {hours} h",
            held=None if expected is None else taken <= expected * hours * 3600 * (1 + CLOSE),
            spec=f"interruptions = {taken} per {hours}h",
            place=f"package {lot.package.name}",
            basis="one lot",
        )


def _steps(bundle: Bundle, story: Story) -> Iterator[Measured]:
    """Seconds a step of each run: the median over its attempts, from its metrics' own times."""
    spans: dict[tuple[str, str | None, int | None], list[Record]] = {}
    for record in story.of("metric"):
        if record.run_id and record.step is not None:
            spans.setdefault((record.run_id, record.window, record.attempt), []).append(record)
    for run in bundle.plan.runs:
        ids = {identity.id for identity in run.ids}
        times = []
        for (run_id, _, _), records in spans.items():
            first, last = records[0], records[-1]
            if run_id in ids and (last.step or 0) > (first.step or 0) and last.time > first.time:
                times.append((last.time - first.time) / ((last.step or 0) - (first.step or 0)))
        if times:
            step = _rounded(statistics.median(times))
            yield Measured(
                what=f"a step of {run.name}",
                assumed=None,
                measured=format_duration(step),
                held=None,
                spec=f"# {run.name}: {compact_duration(step)} a step, what it does between steps included",
                place=f"run {run.name}",
                basis=f"median of {_count(len(times), 'attempt')}",
            )


def _numbers(records: Iterable[Record], name: str) -> Iterator[float]:
    for record in records:
        value = record.more.get(name)
        if isinstance(value, (int, float)) and not isinstance(value, bool) and 0 < value < 1e18:
            yield float(value)


def _duration(seconds: float | None) -> str | None:
    return None if seconds is None else format_duration(_exact(seconds))


def _exact(seconds: float) -> Fraction:
    return Fraction(str(round(seconds, 6)))


def _rounded(seconds: float) -> Fraction:
    """To whole seconds from a minute on, below that to three digits: no clock of a campaign knows more."""
    if seconds >= 60:
        return Fraction(round(seconds))
    return Fraction(str(Decimal(f"{seconds:.3g}")))


def _round_up(size: float) -> Fraction:
    """To three digits, up."""
    unit = 10 ** max(0, len(str(int(size))) - 3)
    return Fraction(-(-int(size) // unit) * unit)


def _quoted(text: str) -> str:
    """As a string of the language."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _count(number: int, thing: str) -> str:
    return f"{number:,} {thing}" + ("" if number == 1 else "s")


def _zone(name: str) -> tzinfo:
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        return ZoneInfo("UTC")
