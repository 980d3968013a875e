"""One attempt of one rank: boundaries, saves, restores, and how it ends. `Run` is its face to the script."""

from __future__ import annotations

import contextlib
import errno
import math
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from campc_harness import digests, exits, rng, state
from campc_harness.checkpoint import Checkpoints
from campc_harness.context import Context
from campc_harness.errors import (
    DeadlineReached,
    Interrupted,
    Leave,
    Misconfigured,
    NoRoom,
    Stopped,
    Superseded,
)
from campc_harness.loading import end_workers
from campc_harness.metrics import Metrics, as_stop
from campc_harness.ranks import Ranks
from campc_harness.reporting import Reporter
from campc_harness.rules import Fired, Rules
from campc_harness.signals import Latch
from campc_harness.storage import Storage

if TYPE_CHECKING:
    from campc_harness.loop import Loop

# The phases of an attempt. In those of `AT_ONCE` nothing needs to be flushed, so a signal ends the attempt where it is.
SETUP, LOAD, TRAIN, EVALUATE, SAVE, AFTER, LEFT = "setup", "load", "train", "evaluate", "save", "after", "left"
AT_ONCE = frozenset({SETUP, LOAD, AFTER})
FLUSH_MARGIN_S = 2.0
# Trying again doesn't help against these.
REFUSED = frozenset({errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR, errno.EISDIR, errno.ENAMETOOLONG})


class Session:
    """Holds everything that one attempt needs.

    Args:
        context: what the attempt was told.
        storage: where its checkpoints live.
    """

    def __init__(self, context: Context, storage: Callable[[str], Storage]) -> None:
        self.context = context
        folder = context.attempt_dir
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)
        self.reporter = Reporter(context.report_fd, context.rank, folder, console=True)
        self.latch = Latch(context.life_fd, self._arrived)
        self.ranks = Ranks(context.rank, context.world)
        self.tracked = state.Tracked()
        self.metrics = Metrics(Rules(context.stops), Rules(context.watches), self.reporter, context.outputs)
        self.checkpoints = Checkpoints(storage(context.checkpoints), context, self.ranks, self.reporter.send)
        self.metrics.checkpoint_age = self._checkpoint_age
        self.metrics.improved = self._improved
        self.recorder = digests.Recorder(folder, context.rank) if context.rehearsing and folder else None
        self.begun = time.monotonic()
        self.loop: Loop | None = None
        self.finished: str | None = None
        self.entered = False
        self.save_asked = False
        self.staged: state.Snapshot | None = None
        self.due: set[int] = set()
        self.owed: set[int] = set()
        self._best_here: float | None = None
        self._saved_step: int | None = None
        self._saved_at = time.monotonic()
        self._phase = SETUP
        self._first_step_at: float | None = None
        self._steps_here = 0

    # Phases and signals

    @property
    def phase(self) -> str:
        """What the attempt is doing."""
        return self._phase

    @phase.setter
    def phase(self, value: str) -> None:
        self._phase = value
        self.reporter.phase = value if value in (TRAIN, EVALUATE, SAVE) else LOAD
        self.reporter.progress += 1
        if value in AT_ONCE and self.latch.set:
            self.leave()

    def _arrived(self) -> None:
        if self._phase in AT_ONCE or (self._phase == EVALUATE and self.context.world == 1):
            self.leave()
        if self._phase == EVALUATE:
            self.flush_staged()

    def leave(self) -> None:
        """Raise what ends the attempt, since it was asked to."""
        error: Leave
        if self.latch.caught is not None:
            error = Interrupted(f"interrupted by {self.latch.caught}")
        else:
            error = DeadlineReached("the deadline of this lot is reached")
        if not self.entered:
            self.record(error)
        raise error

    def flush_staged(self) -> None:
        """Hand the state that `evaluation` staged to the writer."""
        snapshot, self.staged = self.staged, None
        if snapshot is not None:
            self.checkpoints.submit(snapshot)

    # The loop

    @property
    def step(self) -> int:
        """The step whose body is running, or the last one that was completed."""
        if self.loop is None:
            return 0
        return self.loop.step + (1 if self.loop.open else 0)

    def limited(self, total: int) -> int:
        """`total` steps, or fewer in a pilot or a rehearsal."""
        if self.context.limit_steps is not None:
            total = min(total, self.context.limit_steps)
        return min(total, self.context.rehearsal_steps) if self.context.rehearsing else total

    @property
    def rehearsal_save(self) -> int:
        """The step after which a rehearsal saves."""
        return max(1, (self.loop.total if self.loop else self.context.rehearsal_steps) // 2)

    def begin(self, loop: Loop) -> None:
        """Restore into the tracked objects and `loop`, then train."""
        if self.loop is not None:
            raise RuntimeError("a run has one training loop; this is the second")
        self.phase = LOAD
        self.loop = loop
        self.reporter.total = loop.total
        self.ranks.connect()
        try:
            self.checkpoints.claim()
            restored = None if self.context.phase in ("first", "twin") else self.checkpoints.restore()
        except Superseded as error:
            raise Misconfigured(str(error)) from error
        except OSError as error:
            if error.errno in REFUSED:
                raise Misconfigured(f"checkpoints can't be kept at {self.context.checkpoints}: {error}") from error
            raise
        if restored is None:
            self.reporter.send("resume", step=0, **{"from": None})
            self._start_from()
        else:
            self._set(restored.state, loop)
            self._saved_step = loop.step
            self.reporter.send(
                "resume", step=loop.step, restore_s=round(restored.seconds, 6), **{"from": restored.name}
            )
            del restored
        self.reporter.step = loop.step
        if self.recorder is not None and self.context.phase == "resume":
            self.recorder.record("restored", loop.step, state=self.tracked.state())
        self._saved_at = time.monotonic()
        self._arm()
        self.phase = TRAIN

    def _set(self, saved: dict[str, Any], loop: Loop) -> None:
        state.load(self.tracked, saved["objects"])
        loop.load_state_dict(saved["loop"])
        self.metrics.load_state_dict(saved["metrics"])
        self.finished = saved["finished"]
        self.owed = set(saved["owed"])
        rng.restore(saved["rng"])

    def _start_from(self) -> None:
        if self.context.start_from:
            from campc_harness.weights import load_weights

            name = load_weights(self.context.start_from, self.tracked)
            self.reporter.send("note", text=f"starts from the weights of {name}")

    def boundary(self, loop: Loop) -> None:
        """Called when a step has ended, before the next begins: the only place where an attempt stops to go on later."""
        step = loop.step
        self._steps_here += 1
        if self._first_step_at is None:
            self._first_step_at = time.monotonic()
        self.reporter.step = step
        self.reporter.progress += 1
        self.due.clear()
        self.owed.clear()
        try:
            self.checkpoints.raise_failure()
        except NoRoom as error:
            raise Stopped(str(error)) from error
        except Superseded as error:
            raise Misconfigured(f"{error}; this attempt ends") from error
        fired = self.metrics.timed(step)
        if self.recorder is not None:
            self._rehearse(loop)
        asked, save, stop = self._agree(loop, self.latch.set, self._save_due(step, loop), fired is not None)
        if stop:
            raise as_stop(fired or Fired("a stop rule", "it fired on another rank", ""), step)
        if asked and step < loop.total:
            self.flush(step)
            self.leave()
        if save and step < loop.total and self.finished is None:
            self._save(step)

    def _agree(self, loop: Loop, asked: bool, save: bool, stop: bool) -> list[bool]:
        if self.context.world == 1 or not loop.lockstep:
            return [asked, save, stop]
        late = self.latch.late and self.latch.caught is None
        values = self.ranks.most([int(asked), int(save), int(stop), int(late)])
        if values[0] and not self.latch.set:
            self.latch.caught, self.latch.late = (None, True) if values[3] else ("a signal on another rank", False)
        return [bool(value) for value in values[:3]]

    def _save_due(self, step: int, loop: Loop) -> bool:
        policy = self.context.policy
        if self.context.rehearsing:
            return False
        if self.save_asked or self._best_here is not None:
            return True
        if policy.every_steps is not None:
            return step % policy.every_steps == 0
        if policy.every_s is None or (self.context.rank != 0 and loop.lockstep):
            return False
        return time.monotonic() - self._saved_at >= policy.every_s and self.checkpoints.idle()

    def snapshot(self, *, after_body: bool = False) -> state.Snapshot:
        """Stage the state of the boundary; with `after_body`, of the one that the running body will reach."""
        loop = self.loop
        place = None if loop is None else loop.after_body() if after_body else loop.state_dict()
        step = place["step"] if place else 0
        self.metrics.settle()
        whole = {
            "objects": self.tracked.state(),
            "rng": rng.capture(),
            "loop": place,
            "metrics": self.metrics.state_dict(),
            "finished": self.finished,
            "owed": sorted(self.due) if after_body else [],
        }
        facts = {
            "data": place,
            "finished": self.finished,
            "metrics": {name: value for name, value in self.metrics.last.items() if math.isfinite(value)},
            "best": self._best_here,
        }
        return state.stage(whole, step, facts, self.checkpoints.buffers)

    def _save(self, step: int) -> None:
        self.save_asked = False
        snapshot = self.snapshot()
        self._best_here = None
        self._saved_step, self._saved_at = step, time.monotonic()
        self.checkpoints.submit(snapshot)
        self._arm()

    def flush(self, step: int) -> None:
        """Make the state of this boundary durable before returning."""
        before, self.phase = self.phase, SAVE
        if self._saved_step != step:
            self._save(step)
        self._settle_writer()
        self._phase = before

    def _settle_writer(self) -> None:
        try:
            self.checkpoints.wait()
        except NoRoom as error:
            raise Stopped(str(error)) from error
        except Superseded as error:
            raise Misconfigured(f"{error}; this attempt ends") from error

    def complete(self) -> None:
        """The loop is exhausted: keep its last state, then let the script go on."""
        assert self.loop is not None
        self.metrics.settle()
        if self.recorder is not None:
            self.recorder.record("end", self.loop.step, state=self.tracked.state())
            if self.context.phase == "first":
                self._await_kill()
        if self.context.phase != "twin":
            self.flush(self.loop.step)
        self._timing()
        self.phase = AFTER

    def _rehearse(self, loop: Loop) -> None:
        assert self.recorder is not None
        self.recorder.record("step", loop.step, **loop.digest())
        if loop.step == self.rehearsal_save and self.context.phase in ("first", "twin"):
            self.recorder.record("saved", loop.step, state=self.tracked.state())
            if self.context.phase == "first":
                self.flush(loop.step)

    def _await_kill(self) -> None:
        # The supervisor kills the first attempt of a rehearsal; one that nobody kills ends as an interrupted one.
        end = time.monotonic() + 120
        while time.monotonic() < end and not self.latch.set:
            time.sleep(0.05)
        self.latch.caught = self.latch.caught or "the end of the rehearsal's first part"
        self.leave()

    def _arm(self) -> None:
        if self.context.deadline is not None:
            step_s = 0.0
            if self._first_step_at is not None and self._steps_here > 1:
                step_s = (time.monotonic() - self._first_step_at) / (self._steps_here - 1)
            margin = FLUSH_MARGIN_S + 2 * (self.checkpoints.write_s + step_s)
            self.latch.set_deadline(self.context.deadline - margin)

    def _timing(self) -> None:
        if self._first_step_at is None:
            return
        steps = max(self._steps_here - 1, 0)
        self.reporter.send(
            "timing",
            step=self.step,
            start_s=round(self._first_step_at - self.begun, 6),
            step_s=round((time.monotonic() - self._first_step_at) / steps, 6) if steps else None,
            data_wait=round(self.metrics.data_wait, 6),
        )

    # Metrics

    def waited(self, seconds: float) -> None:
        """Training waited this long for data."""
        self.metrics.data_wait += (seconds - self.metrics.data_wait) * 0.05

    def _improved(self, name: str, value: float | int) -> None:
        if name == self.context.policy.best_metric and math.isfinite(value):
            self._best_here = float(value)

    def _checkpoint_age(self) -> float | None:
        since = self.checkpoints.durable_at
        return time.monotonic() - (self.begun if since is None else since)

    # The end

    def record(self, error: Leave | None) -> None:
        """Leave exit-RANK.json, and let everything reported arrive."""
        self._phase = LEFT
        code = exits.DONE if error is None else error.exit_code
        reason = (self.finished or "the steps are exhausted") if error is None else error.reason
        if isinstance(error, Stopped):
            self.reporter.send("stop", name=error.stop, step=self.step, reason=reason)
        self.reporter.flush()
        if code and self.context.rank == 0:
            sys.stderr.write(f"campc: {reason}\n")
            sys.stderr.flush()
        if self.context.attempt_dir is not None:
            exits.write_exit(
                self.context.attempt_dir,
                exits.ExitRecord(
                    attempt=self.context.attempt,
                    nonce=self.context.nonce,
                    rank=self.context.rank,
                    code=code,
                    outcome=exits.OUTCOMES[code],
                    reason=reason,
                    stop=error.stop if error is not None else None,
                    step=self.loop.step if self.loop is not None else 0,
                ),
            )

    def hello(self) -> None:
        """Say who is here."""
        self.reporter.send(
            "hello",
            pid=os.getpid(),
            python=sys.version.split()[0],
            torch=torch.__version__,
            device=str(device_of(self.context)),
        )

    def exit(self, error: BaseException | None) -> None:
        """The `with` block ended, by `error` or by itself.

        Raises:
            RuntimeError: it ended early without `run.finish(reason)`.
        """
        try:
            self._exit(error)
        finally:
            end_workers()

    def _exit(self, error: BaseException | None) -> None:
        if isinstance(error, Leave):
            self.flush_staged()
            self._settle_writer()
            self.record(error)
        elif error is not None:
            self._phase = LEFT
            # What is being written may still become durable; the error itself is what people must see.
            try:
                self.checkpoints.wait()
            except Exception as failure:
                self.reporter.send("note", text=f"and the last checkpoint failed: {failure}")
            self.reporter.flush()
        else:
            self._exit_well()

    def _exit_well(self) -> None:
        loop = self.loop
        if loop is not None and not loop.exhausted:
            if self.finished is None:
                self._phase = LEFT
                raise RuntimeError(
                    f"the loop was left at step {self.step} of {loop.total}; say run.finish(reason) before break"
                )
            # Asking for one more item ends the step that finish was said in; the loop then says that it is over.
            with contextlib.suppress(StopIteration):
                next(loop)
        self.metrics.settle()
        self._settle_writer()
        self.record(None)


def device_of(context: Context) -> torch.device:
    """The device of this rank: its own CUDA device where there is one, else the CPU."""
    if torch.cuda.is_available():
        return torch.device("cuda", context.local_rank % torch.cuda.device_count())
    return torch.device("cpu")


def local(path: str) -> Storage:
    """Storage for a folder or URL."""
    from campc_harness.storage import LocalStorage

    return LocalStorage(Path(path))
