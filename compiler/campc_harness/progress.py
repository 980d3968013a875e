"""What a ledger says happened: windows, attempts, measurements, decisions. A plain function of its records."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from campc_harness.clock import Reading, Steady
from campc_harness.conditions import better
from campc_harness.ledger import Record, numbers, parse_line

ENDINGS = frozenset(("done", "stop", "interrupted", "deadline", "crash", "hang"))
_COMMITS = 64
OVER = frozenset(("finished", "failed", "skipped", "recorded"))


@dataclass
class AttemptState:
    """One attempt of a window."""

    number: int
    run_id: str | None
    began: float
    ended: float | None = None
    outcome: str | None = None
    reason: str | None = None
    stop: str | None = None
    code: int | None = None
    resumed: int | None = None
    step: int | None = None
    committed: int | None = None
    progressed: bool = False
    lost: bool = False
    away: bool = False


@dataclass
class RunState:
    """One run identifier in one window. `outcome`: `done`, `stop`, `misconfigured`, `deadline` or None (goes on)."""

    run_id: str | None
    window: str
    attempts: list[AttemptState] = field(default_factory=list)
    outcome: str | None = None
    reason: str | None = None
    stop: str | None = None
    step: int | None = None
    committed: int | None = None
    committed_at: float | None = None
    metrics: dict[str, float] = field(default_factory=dict)
    best: dict[str, float] = field(default_factory=dict)
    curve: list[tuple[float, int | None, dict[str, float]]] = field(default_factory=list)
    commits: list[int] = field(default_factory=list)
    command: bool = False
    forgiven: int = 0
    launched: int = 0

    def fruitless(self) -> list[AttemptState]:
        """The newest attempts that died without a newly committed step, one after another, and by a fault of the run's."""
        died: list[AttemptState] = []
        for attempt in reversed(self.attempts[self.forgiven :]):
            if attempt.outcome not in ("crash", "hang", "interrupted") or attempt.progressed:
                break
            if not attempt.away and (attempt.outcome != "interrupted" or attempt.code != 0):
                died.append(attempt)
        return died

    def lost(self) -> int:
        """How many attempts in a row, up to the newest, took their supervisor with them and led nowhere."""
        count = 0
        for attempt in reversed(self.attempts[self.forgiven :]):
            if not attempt.lost or attempt.progressed:
                break
            count += 1
        return count

    def away(self) -> list[AttemptState]:
        """The newest attempts of this launch that ended because the place of the checkpoints was away, without progress."""
        found: list[AttemptState] = []
        for attempt in reversed(self.attempts[self.launched :]):
            if attempt.progressed:
                break
            if attempt.away:
                found.append(attempt)
        return found

    def passed_over(self, from_the_start: bool) -> list[int]:
        """Checkpoints that the next attempt passes over: those that two died from, or all where it begins anew."""
        return sorted({*self.poisoned(), *(self.commits if from_the_start else ())})

    def poisoned(self) -> list[int]:
        """Checkpoints that two attempts started from and died without progress."""
        starts: dict[int, int] = {}
        for attempt in self.attempts:
            died = attempt.outcome in ("crash", "hang") and not attempt.away
            if died and not attempt.progressed and attempt.resumed:
                starts[attempt.resumed] = starts.get(attempt.resumed, 0) + 1
        return sorted(step for step, count in starts.items() if count >= 2)


@dataclass
class WindowState:
    """One window. `state`: waiting, started, or one of `OVER`."""

    name: str
    state: str = "waiting"
    began: float | None = None
    ended: float | None = None
    reason: str | None = None
    outcome: str | None = None
    by: str | None = None

    @property
    def over(self) -> bool:
        """Whether nothing more will come of it in this launch."""
        return self.state in OVER


@dataclass
class GateState:
    """One gate. `result` None: not yet decided; `waiting_since` when it began to wait for people."""

    name: str
    result: str | None = None
    waiting_since: float | None = None
    reason: str | None = None
    decided: bool = False


@dataclass
class Progress:
    """Everything that the records of one lot say, kept up to date by `take`. All times are those of `clock`."""

    first: Record | None = None
    last: Record | None = None
    launches: list[Record] = field(default_factory=list)
    windows: dict[str, WindowState] = field(default_factory=dict)
    runs: dict[tuple[str, str], RunState] = field(default_factory=dict)
    attempts: dict[str, int] = field(default_factory=dict)
    configurations: dict[str, str] = field(default_factory=dict)
    gates: dict[str, GateState] = field(default_factory=dict)
    expenses: list[Record] = field(default_factory=list)
    rehearsals: list[Record] = field(default_factory=list)
    warnings: list[Record] = field(default_factory=list)
    notes: list[Record] = field(default_factory=list)
    copies: list[Record] = field(default_factory=list)
    ended: str | None = None
    clock: Steady = field(default_factory=Steady)

    def window(self, name: str) -> WindowState:
        """State of a window; waiting where the ledger does not know it."""
        return self.windows.setdefault(name, WindowState(name))

    def run(self, run_id: str | None, window: str) -> RunState:
        """State of a run identifier in a window."""
        return self.runs.setdefault((run_id or "", window), RunState(run_id, window))

    def gate(self, name: str) -> GateState:
        """State of a gate."""
        return self.gates.setdefault(name, GateState(name))

    def take(self, record: Record) -> None:
        """Take one more record."""
        self.last = record
        event = record.event
        if event == "launch":
            self.clock.begin(Reading(record.time, record.mono or 0.0, str(record.more.get("boot") or "")))
            self.first = self.first or record
            self.launches.append(record)
            self.ended = None
            if not record.more.get("restart"):
                self._begin_again()
        elif event == "window" and record.window:
            self._window(record, str(record.more.get("state")))
        elif event == "skip" and record.window:
            state = self.window(record.window)
            state.state, state.ended, state.reason, state.by = "skipped", self._at(record), record.reason, "person"
        elif event in ("gate", "decide"):
            self._gate(record)
        elif event == "expense":
            self.expenses.append(record)
        elif event == "rehearsal":
            self.rehearsals.append(record)
        elif event == "watch":
            self.warnings.append(record)
        elif event == "note":
            self.notes.append(record)
        elif event == "copy":
            self.copies.append(record)
        elif event in ("shutdown", "released"):
            self.ended = event
        if record.window and event in (ENDINGS | {"start", "resume", "checkpoint", "metric"}):
            self._attempt(record)

    def _at(self, record: Record) -> float:
        return self.clock.at(record.time, record.mono)

    def _begin_again(self) -> None:
        """Somebody launched again: what failed or did not fit is tried again; what finished or was stopped stays so."""
        for window in self.windows.values():
            if window.state == "failed" or (window.state == "skipped" and window.by != "person"):
                window.state, window.ended, window.reason, window.outcome = "waiting", None, None, None
        for run in self.runs.values():
            if run.outcome in ("misconfigured", "deadline"):
                run.outcome = run.reason = None
            run.launched = len(run.attempts)
            if run.command:
                run.forgiven = run.launched

    def _window(self, record: Record, word: str) -> None:
        state = self.window(record.window or "")
        if word == "started":
            state.began = self._at(record) if state.began is None else state.began
            state.ended = state.by = None
        else:
            state.ended = self._at(record)
            state.by = record.more.get("by")
        state.state, state.reason, state.outcome = word, record.reason, record.more.get("outcome")

    def _gate(self, record: Record) -> None:
        gate = self.gate(str(record.more.get("gate")))
        result = str(record.more.get("result"))
        if record.event == "gate" and result == "wait":
            gate.waiting_since = gate.waiting_since or self._at(record)
            return
        gate.result, gate.reason, gate.decided = result, record.reason, record.event == "decide"

    def _attempt(self, record: Record) -> None:
        state = self.run(record.run_id, record.window or "")
        if record.event == "start":
            number = record.attempt or 1
            self.attempts[state.window] = max(number, self.attempts.get(state.window, 0))
            state.attempts.append(AttemptState(number, record.run_id, self._at(record)))
            if record.run_id and record.more.get("config_sha256"):
                self.configurations.setdefault(record.run_id, str(record.more["config_sha256"]))
            state.outcome = state.reason = state.stop = None
            state.command = bool(record.more.get("command"))
            return
        attempt = next((item for item in reversed(state.attempts) if item.number == record.attempt), None)
        if record.event == "metric":
            values = numbers(record.more.get("values"))
            state.metrics.update(values)
            state.curve.append((self._at(record), record.step, values))
            for name, value in values.items():
                if better(name, value, state.best.get(name)):
                    state.best[name] = value
        elif record.event == "resume" and attempt:
            attempt.resumed = record.step
        elif record.event == "checkpoint":
            self._checkpoint(state, attempt, record)
        elif record.event in ENDINGS:
            self._end(state, attempt, record)
        if record.step is not None:
            state.step = record.step
            if attempt:
                attempt.step = record.step

    def _checkpoint(self, state: RunState, attempt: AttemptState | None, record: Record) -> None:
        step = record.step or 0
        state.commits = [*state.commits[1 - _COMMITS :], step]
        if state.committed is None or step > state.committed:
            state.committed = step
            if record.more.get("outside") is not False and record.more.get("verified") is not False:
                state.committed_at = self._at(record)
            if attempt:
                attempt.progressed = True
        if attempt:
            attempt.committed = step

    def _end(self, state: RunState, attempt: AttemptState | None, record: Record) -> None:
        if attempt:
            attempt.ended, attempt.outcome, attempt.reason = self._at(record), record.event, record.reason
            attempt.stop, attempt.code = record.more.get("stop"), record.more.get("code")
            attempt.lost = bool(record.more.get("lost"))
            attempt.away = bool(record.more.get("away"))
        misconfigured = record.event == "stop" and record.more.get("code") == 78
        if record.event in ("done", "stop", "deadline"):
            state.outcome = "misconfigured" if misconfigured else record.event
        state.reason, state.stop = record.reason, record.more.get("stop")


def progress_of(records: Iterable[Record]) -> Progress:
    """What `records` say."""
    progress = Progress()
    for record in records:
        progress.take(record)
    return progress


class Tail:
    """Follows a ledger that other processes write to as well."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._offset = 0

    def new(self) -> list[Record]:
        """Records since the last call; a line that is being written waits."""
        try:
            if os.path.getsize(self._path) <= self._offset:
                return []
            with open(self._path, "rb") as stream:
                stream.seek(self._offset)
                data = stream.read()
        except FileNotFoundError:
            return []
        cut = data.rfind(b"\n") + 1
        self._offset += cut
        records: list[Any] = [parse_line(line) for line in data[:cut].split(b"\n")]
        return [record for record in records if record is not None]
