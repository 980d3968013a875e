"""From the reports of an attempt's ranks to lines of the ledger."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from typing import Any

from campc_harness.ledger import Ledger, numbers

_WHOLE = 200
_THIN_TO = 2000


class Recorder:
    """Writes what one attempt reports, thinned: a metric that comes often is written less and less often.

    The first 200 values of each metric are written, afterwards one about every 2,000th part of the time so far. The
    newest value is never lost: it is kept, and written before whatever ends or commits.

    Attributes:
        run_id: of which run, or None.
        step: the last step that any rank spoke of.
        phase: what rank 0 is doing.
        values: the last value of each metric.
        committed: the newest step with a checkpoint, None before the first one.
        resumed: the step that the attempt started from, None until it said so.
        write_s: how long the last checkpoint took to write.
        devices: what rank 0 said of its Python, torch and device.
    """

    def __init__(self, ledger: Ledger, window: str, run_id: str | None, attempt: int) -> None:
        self._ledger = ledger
        self._who = {"window": window, "run_id": run_id, "attempt": attempt}
        self.run_id = run_id
        self._began = time.monotonic()
        self._counts: dict[str, int] = {}
        self._written: dict[str, float] = {}
        self._waiting: dict[str, float] = {}
        self.step: int | None = None
        self.phase = "load"
        self.values: dict[str, float] = {}
        self.committed: int | None = None
        self.resumed: int | None = None
        self.write_s: float | None = None
        self.devices: dict[str, Any] = {}
        self.steps_seen: list[tuple[float, int]] = []

    def take(self, report: Mapping[str, Any]) -> None:
        """Take one report; those of ranks other than 0 count as signs of life, and where they tell of damage."""
        event, rank = report.get("event"), report.get("rank", 0)
        step = report.get("step")
        if isinstance(step, int):
            self.step = max(step, self.step or 0)
        if event == "beat" and rank == 0:
            self.phase = str(report.get("phase", "train"))
            if isinstance(step, int):
                self.steps_seen = [*self.steps_seen[-255:], (time.monotonic(), step)]
        elif event == "hello" and rank == 0:
            self.devices = {key: report[key] for key in ("python", "torch", "device") if key in report}
        elif event == "metric" and rank == 0:
            self._metric(step, numbers(report.get("values")))
        elif event == "resume" and rank == 0:
            self.resumed = step if isinstance(step, int) else 0
            self.phase = "train"
            self._write("resume", report)
        elif event == "checkpoint" and rank == 0:
            self._checkpoint(report)
        elif event == "watch":
            self._write("watch", report)
        elif event in ("quarantine", "checkpoint_failed", "note"):
            text = report.get("text") or report.get("reason") or ""
            self._write("note", {**report, "reason": str(event), "text": str(text)})

    def flush(self) -> None:
        """Write the newest values that thinning held back."""
        if self._waiting:
            waiting, self._waiting = self._waiting, {}
            self._ledger.append("metric", **self._who, step=self.step, values=waiting)

    def step_time(self) -> float | None:
        """Observed seconds a step, over the last few minutes; None before anything is known."""
        if len(self.steps_seen) < 2:
            return None
        (first_time, first), (last_time, last) = self.steps_seen[0], self.steps_seen[-1]
        return (last_time - first_time) / (last - first) if last > first else None

    def _metric(self, step: Any, values: Mapping[str, float]) -> None:
        self.values.update(values)
        now = time.monotonic()
        spacing = (now - self._began) / _THIN_TO
        due = False
        for name, value in values.items():
            count = self._counts[name] = self._counts.get(name, 0) + 1
            waited = now - self._written.get(name, -math.inf)
            due = due or count <= _WHOLE or waited >= max(spacing, 1.0) or not math.isfinite(value)
        if not due:
            self._waiting.update(values)
            return
        for name in values:
            self._waiting.pop(name, None)
            self._written[name] = now
        self._ledger.append("metric", **self._who, step=step, values=dict(values))

    def _checkpoint(self, report: Mapping[str, Any]) -> None:
        step = report.get("step")
        if isinstance(step, int):
            self.committed = max(step, self.committed or 0)
        write_s = report.get("write_s")
        self.write_s = float(write_s) if isinstance(write_s, (int, float)) else self.write_s
        self.flush()
        self._write("checkpoint", report)

    def _write(self, event: str, report: Mapping[str, Any]) -> None:
        fields = {key: value for key, value in report.items() if key not in ("event", "rank", *self._who)}
        if report.get("rank", 0):
            fields["rank"] = report["rank"]
        self._ledger.append(event, **{**fields, **self._who})
