"""Metrics as a script records them: last and best values, stop and watch rules, tensors read late."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import torch

from campc_harness.conditions import Facts, Number, better
from campc_harness.errors import Stopped
from campc_harness.reporting import Reporter, plain
from campc_harness.rules import Fired, Rules
from campc_harness.sinks import Background


class Metrics:
    """Takes what `run.log` and `run.check` are given.

    Args:
        stops: rules that end the run.
        watches: rules that warn.
        reporter: where metrics go.
        outputs: folder whose disk `disk_free` is about.
    """

    def __init__(self, stops: Rules, watches: Rules, reporter: Reporter, outputs: Path) -> None:
        self._stops = stops
        self._watches = watches
        self._reporter = reporter
        self._outputs = outputs
        self._warned: set[str] = set()
        self._late: list[tuple[int, dict[str, Any], Any]] = []
        self._timed_at = 0.0
        self._elapsed_before = 0.0
        self._begun = time.monotonic()
        self.last: dict[str, Number] = {}
        self.best: dict[str, Number] = {}
        self.truncated = 0
        self._waited = self._passed = 0.0
        self._waited_at: float | None = None
        self.checkpoint_age: Callable[[], float | None] = lambda: None
        self.logged: Callable[[str, Number], None] = lambda name, value: None
        self.sinks: list[Background] = []

    @property
    def elapsed(self) -> float:
        """Seconds of the run so far, over all attempts."""
        return self._elapsed_before + time.monotonic() - self._begun

    def judges(self, values: Mapping[str, Any]) -> bool:
        """Whether a stop rule names one of these metrics."""
        return bool(self._stops.about(values))

    @property
    def data_wait(self) -> float | None:
        """The share of time that training waited for data, over about the last twenty batches; None before the second."""
        return self._waited / self._passed if self._passed else None

    def waited(self, seconds: float) -> None:
        """Training waited `seconds` for the batch that came now."""
        now = time.monotonic()
        if self._waited_at is not None:  # of the first batch, how long a step takes isn't known yet
            self._waited = 0.95 * self._waited + seconds
            self._passed = 0.95 * self._passed + max(now - self._waited_at, seconds)
        self._waited_at = now

    def check(self, step: int, values: Mapping[str, Any]) -> Fired | None:
        """The stop rule that holds on these raw values, if any; reads only what a rule names."""
        rules = self._stops.about(values)
        if not rules:
            return None
        read = {name: plain(value) for name, value in values.items() if name in self._stops.metrics}
        return self._observe_stops(rules, read, step)

    def log(self, step: int, values: Mapping[str, Any]) -> Fired | None:
        """Record values; those on a CUDA device are read when they have arrived. The stop rule that holds, if any."""
        if self._late:
            self._settle(wait=False)
        if any(map(_on_device, values.values())) and not self._stops.about(values) and not self._watches.about(values):
            self._late.append((step, *_start_reading(values)))
            return None
        return self._record(step, {name: plain(value) for name, value in values.items()})

    def count_truncated(self, count: int) -> None:
        """Add to `truncated_inputs`; the rules look at it at the next boundary."""
        if count:
            self.truncated += count
            self._timed_at = 0.0

    def settle(self) -> None:
        """Read everything that is still on its way from a device."""
        self._settle(wait=True)

    def timed(self, step: int) -> Fired | None:
        """The stop rule without metrics that holds at this boundary, if any; looks at most once a second."""
        if not self._stops.timed and not self._watches.timed:
            return None
        now = time.monotonic()
        steps_matter = "step" in self._stops.builtins or "step" in self._watches.builtins
        if not steps_matter and now - self._timed_at < 1.0:
            return None
        self._timed_at = now
        facts = self._facts({}, step)
        for rule in self._watches.timed:
            self._watch(rule.observe(facts, step, self.elapsed), rule.name, step)
        for rule in self._stops.timed:
            fired = rule.observe(facts, step, self.elapsed)
            if fired:
                return fired
        return None

    def state_dict(self) -> dict[str, Any]:
        """Last and best values, counts of rules, elapsed time."""
        return {
            "last": dict(self.last),
            "best": dict(self.best),
            "truncated": self.truncated,
            "elapsed_s": self.elapsed,
            "stops": self._stops.state_dict(),
            "watches": self._watches.state_dict(),
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on from a checkpoint."""
        self.last, self.best = dict(state["last"]), dict(state["best"])
        self.truncated = state["truncated"]
        self._elapsed_before, self._begun = state["elapsed_s"], time.monotonic()
        self._stops.load_state_dict(state["stops"])
        self._watches.load_state_dict(state["watches"])

    def _record(self, step: int, read: dict[str, Number]) -> Fired | None:
        self._reporter.metric(step, read)
        for name, value in read.items():
            self.last[name] = value
            if better(name, value, self.best.get(name)):
                self.best[name] = value
            self.logged(name, value)
        if "truncated_inputs" in read:
            self.count_truncated(int(read["truncated_inputs"]) - self.truncated)
        for sink in self.sinks:
            sink.put(step, dict(read))  # it is the sink's own: what writes it may change it
        for rule in self._watches.about(read):
            self._watch(rule.observe(self._facts(read, step), step, self.elapsed), rule.name, step)
        return self._observe_stops(self._stops.about(read), read, step)

    def _observe_stops(self, rules: list[Any], read: Mapping[str, Number], step: int) -> Fired | None:
        if not rules:
            return None
        facts = self._facts(read, step)
        found = None
        for rule in rules:
            found = rule.observe(facts, step, self.elapsed) or found
        return found

    def _facts(self, read: Mapping[str, Number], step: int) -> Facts:
        builtins: dict[str, Any] = {"step": step, "truncated_inputs": self.truncated, "data_wait": self.data_wait}
        wanted = self._stops.builtins | self._watches.builtins
        if "checkpoint_age" in wanted:
            builtins["checkpoint_age"] = self.checkpoint_age()
        if "disk_free" in wanted:
            builtins["disk_free"] = shutil.disk_usage(self._outputs).free
        return Facts(metrics={**self.last, **read}, best=self.best, builtins=builtins)

    def _watch(self, fired: Fired | None, name: str, step: int) -> None:
        if fired is None:
            self._warned.discard(name)
        elif name not in self._warned:
            self._warned.add(name)
            self._reporter.send("watch", name=name, step=step, value=fired.values, text=fired.because)

    def _settle(self, *, wait: bool) -> None:
        while self._late and (wait or self._late[0][2].query()):
            step, values, event = self._late.pop(0)
            if wait:
                event.synchronize()
            self._record(step, {name: plain(value) for name, value in values.items()})


def _on_device(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.is_cuda


def _start_reading(values: Mapping[str, Any]) -> tuple[dict[str, Any], Any]:
    read = {
        name: value.detach().to("cpu", non_blocking=True) if isinstance(value, torch.Tensor) else value
        for name, value in values.items()
    }
    event = torch.cuda.Event()  # type: ignore[no-untyped-call,unused-ignore]
    event.record()
    return read, event


def as_stop(fired: Fired, step: int) -> Stopped:
    """The exception for a stop rule that holds at `step`."""
    why = f" ({fired.because})" if fired.because else ""
    return Stopped(f"stop rule {fired.name} holds at step {step}: {fired.values}{why}", stop=fired.name)
