"""What the launcher itself watches: spend, utilisation, disk; and the picture that `status` shows."""

from __future__ import annotations

import os
import shutil
import time
from typing import TYPE_CHECKING, Any

from campc_harness import gpu, spend
from campc_harness.conditions import Builtin, Facts, Money, describe, evaluate, needs_supervisor
from campc_harness.plan import Rule
from campc_harness.task import Task

if TYPE_CHECKING:
    from campc_harness.launcher import Launcher

_EVERY_S = 2.0


class Watcher:
    """Evaluates those stop and watch rules that a training process cannot, and keeps the figures for `status`."""

    def __init__(self, launcher: Launcher) -> None:
        self._launcher = launcher
        self._at = 0.0
        self._holding: dict[tuple[str, str], tuple[int, float]] = {}
        self._warned: set[tuple[str, str]] = set()
        self._facts: dict[str, Builtin | None] = {}
        self._alerted = False
        self._energy = gpu.EnergyMeter()

    def energy(self) -> dict[str, float]:
        """What a record that ends an attempt says of energy: joules since the last one that did; empty where none is known."""
        if not self._launcher.bundle.cpu:
            self._energy.see(gpu.visible(), time.monotonic())
        taken = self._energy.take()
        return {"energy_j": round(taken, 3)} if taken else {}

    def tick(self) -> None:
        """Look, every few seconds."""
        now = time.monotonic()
        if now - self._at < _EVERY_S:
            return
        self._at = now
        launcher = self._launcher
        found = [] if launcher.bundle.cpu else gpu.visible()
        self._energy.see(found, now)
        spent = spend.spent(launcher.plan, launcher.bundle.lot, launcher.progress, launcher.horizon.elapsed())
        self._facts = {
            "spend": spent,
            "gpu_utilisation": gpu.utilisation(found),
            "disk_free": float(shutil.disk_usage(launcher.bundle.root).free),
        }
        self._budget(spent)
        for task in launcher.tasks:
            for rule, stops in self._rules():
                self._apply(rule, stops, task)

    def picture(self) -> dict[str, Any]:
        """What runs now, for `status`: plain JSON."""
        launcher = self._launcher
        tasks = []
        for task in launcher.tasks:
            recorder = task.recorder
            tasks.append(
                {
                    "window": task.window.name,
                    "run_id": recorder.run_id if recorder else None,
                    "pids": task.attempt.pids if task.attempt else [],
                    "phase": recorder.phase if recorder else None,
                    "step": recorder.step if recorder else None,
                    "step_s": recorder.step_time() if recorder else None,
                    "values": {name: str(value) for name, value in recorder.values.items()} if recorder else {},
                    "devices": recorder.devices if recorder else {},
                }
            )
        left = launcher.horizon.left()
        return {
            "time": time.time(),
            "pid": os.getpid(),
            "left_s": None if left is None else round(left, 1),
            "tasks": tasks,
            "facts": {name: _plain(value) for name, value in self._facts.items()},
        }

    def _rules(self) -> list[tuple[Rule, bool]]:
        plan = self._launcher.plan
        rules = [(rule, True) for rule in plan.stops] + [(rule, False) for rule in plan.watches]
        return [(rule, stops) for rule, stops in rules if needs_supervisor(rule.when)]

    def _apply(self, rule: Rule, stops: bool, task: Task) -> None:
        recorder = task.recorder
        # Rules are about runs: one that holds must not end the window that brings results home.
        if (
            recorder is None
            or task.attempt is None
            or not task.trains
            or (rule.runs and task.window.run not in rule.runs)
        ):
            return
        state = self._launcher.progress.run(recorder.run_id, task.window.name)
        now = self._launcher.progress.clock.now()
        began = state.attempts[0].began if state.attempts else now
        if rule.from_steps is not None and (recorder.step or 0) < rule.from_steps:
            return
        if rule.from_s is not None and now - began < rule.from_s:
            return
        facts = Facts(
            metrics={**state.metrics, **recorder.values},
            best=state.best,
            builtins={
                **self._facts,
                "step": recorder.step,
                "checkpoint_age": now - (began if state.committed_at is None else state.committed_at),
            },
        )
        key = (rule.name, task.window.name)
        if evaluate(rule.when, facts) is not True:
            self._holding.pop(key, None)
            self._warned.discard(key)
            return
        count, since = self._holding.get(key, (0, time.monotonic()))
        self._holding[key] = (count + 1, since)
        if count + 1 < (rule.for_count or 1) or time.monotonic() - since < (rule.for_s or 0):
            return
        text = describe(rule.when, facts)
        if stops:
            task.stop_by(rule.name, text)
        elif key not in self._warned:
            self._warned.add(key)
            who = {"window": task.window.name, "run_id": recorder.run_id, "step": recorder.step}
            self._launcher.ledger.append("watch", **who, name=rule.name, text=text)

    def _budget(self, spent: Money | None) -> None:
        budget = self._launcher.plan.budget
        if self._alerted or budget is None or budget.alert is None or spent is None:
            return
        alert = spend.money({"amount": budget.alert.amount, "currency": budget.alert.currency})
        if alert is None or alert.currency != spent.currency or spent.amount < alert.amount:
            return
        self._alerted = True
        before = (record.more.get("name") for record in self._launcher.progress.warnings)
        if "budget" not in before:
            text = f"{spent.amount} {spent.currency} is spent or committed; the alert is set at {alert.amount}"
            self._launcher.ledger.append("watch", name="budget", text=text)


def _plain(value: Builtin | None) -> Any:
    if isinstance(value, Money):
        return {"amount": str(value.amount), "currency": value.currency}
    return value
