"""Each window as planned and as it went, and what was decided on the way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from attrs import define

from campc.closeout.bundle import Bundle
from campc.closeout.model import DecisionResult, WindowResult, WindowState
from campc.closeout.record import Story
from campc_harness.ledger import Record, numbers
from campc_harness.plan import Plan, Window

__all__ = ["decisions_of", "dropped_of", "origin_of", "unix", "windows_of"]

SKIPPED = "skipped"
_BY_PEOPLE = {"decision": "decide", "note": "note", "amendment": "amendment"}
_GIVES_UP = ("reduce", "revisit", "stop", "conclude")


@define
class _Seen:
    began: float | None = None
    ended: float | None = None
    state: WindowState | None = None
    why: str | None = None
    troubles: int = 0


def unix(text: str | None) -> float | None:
    """Unix time of an ISO 8601 instant with its offset; None where there is none."""
    if not text:
        return None
    try:
        moment = datetime.fromisoformat(text)
        return moment.timestamp() if moment.tzinfo is not None else None
    except (ValueError, OverflowError):
        return None


def origin_of(bundle: Bundle, story: Story) -> float:
    """Unix time that the plan's seconds count from: its start, or the first launch where it has none; 0 where neither is known."""
    start = unix(bundle.plan.campaign.start)
    return start if start is not None else story.first if story.first is not None else 0.0


def dropped_of(bundle: Bundle, story: Story) -> dict[str, str]:
    """Windows that a gate or a person gave up, each with the reason. A later `continue` at the same gate takes it back."""
    by_gate: dict[str, dict[str, str]] = {}
    skipped: dict[str, str] = {}
    names = {window.name for window in bundle.plan.windows}
    for record in story.of("gate", "decide", "skip", "window"):
        if record.event == "skip":
            if record.window:
                skipped[record.window] = f"{SKIPPED}: {record.reason}" if record.reason else SKIPPED
            continue
        if record.event == "window":
            if record.window and record.more.get("state") == "started":
                skipped.pop(record.window, None)
            elif record.window and record.more.get("state") == "skipped" and record.more.get("by") != "gate":
                skipped.setdefault(record.window, f"{SKIPPED}: {record.reason}" if record.reason else SKIPPED)
            continue
        gate, result = str(record.more.get("gate")), record.more.get("result")
        if result == "wait":
            continue
        gone = _strings(record.more.get("dropped")) if result in _GIVES_UP else []
        because = f", because {record.reason}" if record.reason else ""
        by_gate[gate] = {
            name: f"the gate {gate} said {result}{because}" for name in _windows_of(bundle.plan, gone) if name in names
        }
    return {**skipped, **{name: why for given_up in by_gate.values() for name, why in given_up.items()}}


def windows_of(bundle: Bundle, story: Story, dropped: Mapping[str, str]) -> tuple[WindowResult, ...]:
    """Every window of the plan, in its order."""
    origin = origin_of(bundle, story)
    seen: dict[str, _Seen] = {}
    for record in story.records:
        if record.window is not None:
            _take(seen.setdefault(record.window, _Seen()), record)
    assumed = {str(block.get("name")): bool(block.get("assumed", True)) for block in bundle.blocks("windows")}
    return tuple(
        _result(window, seen.get(window.name, _Seen()), origin, dropped, assumed.get(window.name, True))
        for window in bundle.plan.windows
    )


def decisions_of(story: Story) -> tuple[DecisionResult, ...]:
    """Gates, people's decisions, skips, amendments and notes, in the order of time."""
    found = []
    for record in story.of("gate", "decide", "skip", "note"):
        result = _text(record.more.get("result"))
        if record.event == "gate" and result == "wait":
            continue
        kind: Any = record.event
        if record.event == "note":
            # The harness notes much by itself; what people wrote down has one of these reasons.
            kind = _BY_PEOPLE.get(record.reason or "")
            if kind is None:
                continue
        found.append(
            DecisionResult(
                time=record.time,
                kind=kind,
                name=_text(record.more.get("gate")) or record.window,
                choice=result or _text(record.more.get("text")),
                because=record.reason if record.event != "note" else None,
                by=_text(record.more.get("by")),
                values=_values(record.more.get("values")),
                dropped=tuple(_strings(record.more.get("dropped"))),
            )
        )
    return tuple(found)


def _take(seen: _Seen, record: Record) -> None:
    word = record.more.get("state")
    if record.event == "start" or (record.event == "window" and word == "started"):
        seen.began = record.time if seen.began is None else min(seen.began, record.time)
        seen.state, seen.ended = "unfinished", None
    elif record.event == "window":
        _end(seen, record, str(word))
    elif record.event in ("done", "stop", "deadline", "interrupted", "crash", "hang"):
        seen.ended = record.time
        if record.event != "done":
            seen.why = record.reason or seen.why
            seen.troubles += record.event in ("interrupted", "crash", "hang")


def _end(seen: _Seen, record: Record, word: str) -> None:
    started, ended, actual = (_number(record.more.get(key)) for key in ("started", "ended", "actual"))
    seen.ended = ended if ended is not None else record.time
    if started is not None:
        seen.began = started
    elif seen.began is None and actual is not None:
        seen.began = seen.ended - actual
    outcome = record.more.get("outcome")
    if word == "finished":
        seen.state = "stopped" if outcome == "stop" else "done"
    elif word == "failed":
        seen.state = "stopped" if outcome == "deadline" else "failed"
    elif word == "skipped":
        seen.state = "skipped"
    elif word == "recorded":
        seen.state = "done"
    seen.why = record.reason or seen.why


def _result(window: Window, seen: _Seen, origin: float, dropped: Mapping[str, str], assumed: bool) -> WindowResult:
    state = seen.state
    why = seen.why
    if window.name in dropped and state in (None, "skipped"):
        state, why = ("skipped" if dropped[window.name].startswith(SKIPPED) else "dropped"), dropped[window.name]
    if state is None:
        state = "not recorded" if window.lot is None else "not started"
    if seen.troubles and state == "done":
        times = "once" if seen.troubles == 1 else f"{seen.troubles} times"
        why = f"interrupted {times}" + (f", last: {why}" if why else "")
    held = state in ("dropped", "skipped", "not started", "not recorded")
    return WindowResult(
        name=window.name,
        tier=window.tier,
        kind=window.kind,
        lot=window.lot,
        gpus=window.gpus,
        run=window.run,
        state=state,
        planned_start=origin + window.start_s,
        planned_end=origin + window.end_s,
        actual_start=None if held else seen.began,
        actual_end=None if held or state == "unfinished" else seen.ended,
        low=window.takes.low_s,
        high=window.takes.high_s,
        assumed=assumed,
        explanation=why,
    )


def _number(value: Any) -> float | None:
    return (
        float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value < 1e11 else None
    )


def _windows_of(plan: Plan, names: Sequence[str]) -> list[str]:
    """Names of windows, with those of tiers spelled out."""
    known = {window.name for window in plan.windows}
    found: list[str] = []
    for name in names:
        found.extend([name] if name in known else [window.name for window in plan.windows if window.tier == name])
    return found


def _strings(value: Any) -> list[str]:
    if isinstance(value, dict):
        value = [name for part in value.values() if isinstance(part, list) for name in part]
    return [item for item in value if isinstance(item, str)] if isinstance(value, (list, tuple)) else []


def _values(value: Any) -> tuple[tuple[str, float | None], ...]:
    if isinstance(value, str):
        # As `conditions.describe` writes them: `control.loss = 0.31, step = 1200`.
        pairs = (part.partition(" = ") for part in value.split(", "))
        value = {name: text for name, _, text in pairs if name}
    if not isinstance(value, dict):
        return ()
    found: dict[str, float | None] = dict(numbers(value))
    for name, text in value.items():
        if str(name) not in found:
            try:
                found[str(name)] = float(text)
            except (TypeError, ValueError):
                found[str(name)] = None
    return tuple(found.items())


def _text(value: Any) -> str | None:
    return None if value is None else str(value)[:2000]
