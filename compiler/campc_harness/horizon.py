"""How much time a lot has left, and what still fits into it."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from datetime import datetime

from campc_harness import agenda, clock, spend
from campc_harness.bundle import Bundle, setting
from campc_harness.plan import Window
from campc_harness.progress import Progress

_WRITE_S = 5.0


class Horizon:
    """The ends that a launch must mind: the lot's usable end by both clocks, and the budget's.

    Args:
        progress: the records so far.
    """

    def __init__(self, bundle: Bundle, progress: Callable[[], Progress]) -> None:
        self._bundle = bundle
        self._plan = bundle.plan
        self._progress = progress
        self._began = clock.read()

    def left(self) -> float | None:
        """Seconds until the lot's usable end, or until the budget is spent; None where there is no such end."""
        ends = [self._budget_left()]
        end = self.usable_end()
        anchor = self._anchor()
        if end is not None:
            ends.append(clock.remaining(end, anchor, clock.read()))
        known = [item for item in ends if item is not None]
        return min(known) if known else None

    def usable_end(self) -> float | None:
        """The lot's usable end in Unix seconds."""
        lot = self._bundle.lot
        if lot.usable_end:
            return datetime.fromisoformat(lot.usable_end.replace("Z", "+00:00")).timestamp()
        return None if lot.usable_end_s is None else self._anchor().wall + (lot.usable_end_s - lot.start_s)

    def elapsed(self) -> float:
        """Seconds since the first launch."""
        anchor, now = self._anchor(), clock.read()
        by_wall = now.wall - anchor.wall
        return max(by_wall, now.mono - anchor.mono) if anchor.boot == now.boot else by_wall

    def needs(self, window: Window) -> float:
        """Seconds that a window will still take, as likely, less what its run has done already."""
        if agenda.by_hand(self._plan, window):
            return 0.0
        likely = float(window.takes.likely_s)
        if not agenda.runs_script(self._plan, window):
            return likely
        steps = window.limit_steps or (self._plan.run(window.run or "").steps)
        if not steps:
            return likely
        shares = []
        for run_id in window.run_ids:
            state = self._progress().runs.get((run_id, window.name))
            at = 0 if state is None else (state.committed or 0) if state.outcome is None else steps
            shares.append(1 - min(1.0, at / steps))
        return likely * sum(shares) / max(1, len(shares))

    def unfit(self, pending: Sequence[Window], running: Sequence[Window], left: float | None) -> dict[str, str]:
        """Windows that don't fit any more, lowest tier first, each with the reason."""
        if left is None:
            return {}
        now = self._progress().clock.now()
        busy = {}
        for window in running:
            began = self._progress().window(window.name).began or now
            busy[window.name] = max(0.0, window.takes.likely_s - (now - began))
        needs = {window.name: self.needs(window) for window in pending}
        return agenda.fitting(self._plan, self._bundle.lot.name, list(pending), busy, needs, left)

    def deadline(self, window: Window, pending: Sequence[Window]) -> float | None:
        """Unix time at which a run must have left so that what remains fits before the usable end."""
        left = self.left()
        if left is None:
            return None
        home = sum(self.needs(other) for other in pending if other.brings_home and other.name != window.name)
        run = self._plan.run(window.run) if window.run else None
        write_s = run.checkpoint.write_s if run and run.checkpoint and run.checkpoint.write_s else _WRITE_S
        return time.time() + left - home - setting("CAMPC_MARGIN_S", 2 * write_s)

    def _anchor(self) -> clock.Reading:
        first = self._progress().first
        if first is None:
            return self._began
        return clock.Reading(first.time, first.mono or 0.0, str(first.more.get("boot", "")))

    def _budget_left(self) -> float | None:
        return spend.seconds_left(self._plan, self._bundle.lot, self._progress(), self.elapsed())
