"""What a rehearsal adds to an attempt: few steps, one checkpoint, digests."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from campc_harness.context import Context
from campc_harness.dealt import METADATA
from campc_harness.digests import Recorder
from campc_harness.sharded import NAME as SHARDED

if TYPE_CHECKING:
    from campc_harness.loop import Loop
    from campc_harness.session import Session

PATIENCE_S = 120.0


class Rehearsal:
    """One attempt's part in a rehearsal; in a `run` it does nothing.

    Args:
        context: what the attempt was told.
    """

    def __init__(self, context: Context) -> None:
        self.active = context.rehearsing
        self.restores = context.phase not in ("first", "twin")
        self.saves = context.phase != "twin"
        # The first part's only checkpoint is that of its middle: from there the next goes on.
        self.saves_end = self.restores
        self._context = context
        self._recorder: Recorder | None = None
        if self.active and context.attempt_dir is not None:
            self._recorder = Recorder(context.attempt_dir, context.rank)

    def limited(self, total: int) -> int:
        """`total` steps, or as many as a rehearsal or a pilot takes."""
        if self._context.limit_steps is not None:
            total = min(total, self._context.limit_steps)
        return min(total, self._context.rehearsal_steps) if self.active else total

    def save_step(self, total: int) -> int:
        """The step after which a rehearsal of `total` steps saves."""
        return max(1, total // 2)

    def restored(self, session: Session, loop: Loop) -> None:
        """Record the restored state."""
        if self._recorder is not None and self._context.phase == "resume":
            self._recorder.record("restored", loop.step, state=_compared(loop), drawn=loop.draws_in_steps_only)

    def step(self, session: Session, loop: Loop) -> None:
        """Record a step that ended; save where that is due."""
        if self._recorder is None:
            return
        self._recorder.record("step", loop.step, **loop.digest())
        if loop.step == self.save_step(loop.total) and not self.restores:
            self._recorder.record("saved", loop.step, state=_compared(loop))
            if self.saves:
                loop.flush()

    def end(self, session: Session, loop: Loop) -> None:
        """Record the last state. The first attempt then waits to be killed, and is interrupted where nobody does."""
        if self._recorder is None:
            return
        self._recorder.record("end", loop.step, state=_compared(loop))
        if self._context.phase != "first":
            return
        end = time.monotonic() + PATIENCE_S
        while time.monotonic() < end and not session.latch.set:
            time.sleep(0.05)
        session.latch.caught = session.latch.caught or "the end of the rehearsal's first part"
        session.leave()


def _compared(loop: Loop) -> dict[str, Any]:
    """The loop's state, but for how a sharded save describes itself: that isn't the same twice."""
    state = loop.kept()
    if isinstance(state.get(SHARDED), dict):
        state = {**state, SHARDED: {name: part for name, part in state[SHARDED].items() if name != METADATA}}
    return state
