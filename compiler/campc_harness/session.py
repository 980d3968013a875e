"""One attempt of one rank: where it stands, what it saves and restores. `Run` is its face to the script."""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from campc_harness import codec, ending, exits, resuming, rng, state
from campc_harness.checkpoint import REFUSED, Checkpoints
from campc_harness.context import Context
from campc_harness.errors import (
    Away,
    DeadlineReached,
    Interrupted,
    Leave,
    Misconfigured,
    NoRoom,
    Stopped,
    Superseded,
    Unsaveable,
)
from campc_harness.evaluations import Evaluations
from campc_harness.inplace import refusing
from campc_harness.metrics import Metrics, as_stop
from campc_harness.phases import AFTER, AT_ONCE, EVALUATE, LOAD, REPORTED, SAVE, SETUP, TRAIN
from campc_harness.ranks import Ranks
from campc_harness.rehearsal import Rehearsal
from campc_harness.reporting import Reporter
from campc_harness.rules import ELSEWHERE, Fired, Rules
from campc_harness.signals import Latch
from campc_harness.staging import Staging
from campc_harness.storage import open_storage

if TYPE_CHECKING:
    from campc_harness.loop import Loop

FLUSH_MARGIN_S = 2.0


class Session:
    """Holds everything that one attempt needs.

    Args:
        context: what the attempt was told.
    """

    def __init__(self, context: Context) -> None:
        self.context = context
        folder = context.attempt_dir
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)
            exits.reserve(folder, context.rank)
        self.reporter = Reporter(context.report_fd, context.rank, folder, console=True)
        self.latch = Latch(context.life_fd, self.arrived)
        self.ranks = Ranks(context.rank, context.world)
        self.tracked = state.Tracked()
        self.metrics = Metrics(Rules(context.stops), Rules(context.watches), self.reporter, context.outputs)
        storage = open_storage(context.checkpoints)
        self.checkpoints = Checkpoints(storage, context, self.ranks, self.reporter.send)
        self.metrics.checkpoint_age = self._checkpoint_age
        self.metrics.logged = self._logged
        self.rehearsal = Rehearsal(context)
        self.begun = time.monotonic()
        self.loop: Loop | None = None
        self.finished: str | None = None
        self.entered = False
        self.save_asked = False
        self.stop_at_boundary: Fired | None = None
        self.evaluations = Evaluations()
        self.staging = Staging(self)
        self.phase = SETUP
        self.best: float | None = None
        self.best_here: float | None = None
        self.saved_step: int | None = None
        self._saved_at = time.monotonic()
        self._said_pieces = False
        self._first_step_at: float | None = None
        self._steps_here = 0

    # Phases and signals

    def enter(self, phase: str) -> None:
        """Go on to `phase`; where nothing needs to be flushed in it, an attempt that was asked to end ends here."""
        self.phase = phase
        self.reporter.phase = phase if phase in REPORTED else LOAD
        self.reporter.progress += 1
        if phase in AT_ONCE and self.latch.set:
            self.leave()

    def arrived(self) -> None:
        """A signal came, or the deadline; called in the main thread, wherever it is."""
        if self.phase in AT_ONCE or (self.phase == EVALUATE and self.context.world == 1):
            self.leave()
        if self.phase == EVALUATE:
            self.staging.flush()

    def leave(self) -> None:
        """Raise what ends the attempt, since it was asked to."""
        error: Leave
        if self.latch.caught is not None:
            error = Interrupted(f"interrupted by {self.latch.caught}")
        else:
            error = DeadlineReached("the deadline of this lot is reached")
        if not self.entered:
            ending.record(self, error)
        raise error

    # The loop

    @property
    def step(self) -> int:
        """The step whose body is running, or the last one that was completed."""
        if self.loop is None:
            return 0
        return self.loop.step + (1 if self.loop.open else 0)

    @property
    def lockstep(self) -> bool:
        """Whether other ranks run the same step now, and agree with this one at its end."""
        loop = self.loop
        return self.context.world > 1 and loop is not None and loop.open and loop.lockstep

    def begin(self, loop: Loop) -> None:
        """Restore into the tracked objects and `loop`, then train."""
        self.enter(LOAD)
        self.attach(loop)
        self.ranks.connect()
        resuming.resume(self, loop)
        self.reporter.step = loop.step
        loop.restored()
        self._saved_at = time.monotonic()
        self.arm()
        self.enter(TRAIN)

    def attach(self, loop: Loop) -> None:
        """`loop` is the attempt's loop from here on."""
        if self.loop is not None:
            raise RuntimeError("a run has one loop; this is the second")
        self.loop = loop
        self.reporter.total = loop.total

    def claim(self) -> None:
        """Claim the run for this attempt."""
        self.reach(self.checkpoints.claim)

    def write_part(self, name: str, content: bytes) -> None:
        """Commit one part of the rows of `items`."""
        self._writer_failure(lambda: self.checkpoints.write_part(name, content))

    def reach(self, act: Callable[[], Any]) -> Any:
        """Do something at the place of the checkpoints, whose refusals are misconfigurations; a full one ends the run.

        Raises:
            Away: the place, behind a network, can't be used now.
        """
        try:
            return act()
        except NoRoom as error:
            raise Stopped(str(error)) from error
        except Superseded as error:
            raise Misconfigured(str(error)) from error
        except OSError as error:
            if isinstance(error, PermissionError) or error.errno in REFUSED:
                raise Misconfigured(f"checkpoints can't be kept at {self.context.checkpoints}: {error}") from error
            self._leave_if_away(error)
            raise

    def _leave_if_away(self, error: OSError) -> None:
        """A fault of a place behind a network is no fault of the run's. One of the machine's own disk may well be."""
        if self.checkpoints.storage.distant:
            raise Away(f"the place of the checkpoints can't be used, {self.context.checkpoints}: {error}") from error

    def boundary(self, loop: Loop) -> None:
        """Called when a step has ended, before the next begins: where an attempt stops so that it can go on."""
        step = loop.step
        asked, save = self.judge(loop)
        if step >= loop.total or self.finished is not None:
            return  # the loop's end saves
        if asked:
            self.flush(step)
            self.leave()
        if save:
            self.save(step)
        elif (
            self.staging.possible
            and self.evaluations.due(step + 1)
            and not self.rehearsal.active
            and self.saved_step != step
        ):
            # The next step evaluates. Cut short, it is begun again from here, so that all that the evaluation does,
            # to a schedule or to counters, is done once and in its place.
            snapshot = self.snapshot()
            if snapshot.buffer is None:
                self._submit(snapshot)
            else:
                self.staging.keep(snapshot)

    def judge(self, loop: Loop) -> tuple[bool, bool]:
        """What all ranks agree on after a step: whether the attempt was asked to end, and whether a save is due.

        Raises:
            Stopped: a rule holds, or there is no room for checkpoints.
        """
        step = loop.step
        self._steps_here += 1
        if self._first_step_at is None:
            self._first_step_at = time.monotonic()
        self.reporter.step = step
        self.reporter.progress += 1
        self.staging.drop()
        self.evaluations.step_ended()
        self._writer_failure(self.checkpoints.raise_failure)
        fired = self.metrics.timed(step) or self.stop_at_boundary
        self.rehearsal.step(self, loop)
        if self._steps_here == 1:
            self._require_saveable(loop)
            if self.context.world > 1:
                self.staging.agree(loop)
        asked, save, stop = self._agree(loop, self.latch.set, self._save_due(step, loop), fired is not None)
        if stop:
            raise as_stop(fired or ELSEWHERE, step)
        return asked, save

    def _require_saveable(self, loop: Loop) -> None:
        """Find out after the first step what a checkpoint wouldn't keep, not after the hours until it is made."""
        with _saveable():
            self.tracked.staged_bytes()
            codec.Encoder().encode(loop.state_dict(), "loop")
        name = refusing(self.tracked)
        if name is not None:
            raise Misconfigured(
                f"{name} is an expanded tensor, into which nothing can be loaded: register a copy of it, .contiguous()"
            )

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
        if self.rehearsal.active:
            return False
        if self.save_asked or self.best_here is not None:
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
            "evaluations": self.evaluations.state_dict(),
            "best": self.best,
        }
        facts = {
            "data": place,
            "finished": self.finished,
            "metrics": {name: value for name, value in self.metrics.last.items() if math.isfinite(value)},
            "best": self.best_here,
            "modules": self.tracked.modules(),
        }
        with _saveable():
            return state.stage(whole, step, facts, self.checkpoints.buffers)

    def save(self, step: int) -> None:
        """Stage the state of this boundary and hand it to the writer."""
        self.save_asked = False
        self._submit(self.snapshot())
        self.arm()

    def _submit(self, snapshot: state.Snapshot) -> None:
        self.best_here = None
        self.saved_step, self._saved_at = snapshot.step, time.monotonic()
        self.checkpoints.submit(snapshot)
        if snapshot.buffer is not None:
            return
        if not self._said_pieces and self.context.rank == 0:
            self._said_pieces = True
            where = "" if self.context.world == 1 else " on every rank"
            text = f"host memory has no room for a copy of {snapshot.size} bytes{where}: training waits for each checkpoint"
            self.reporter.send("note", text=text)
        before, self.phase = self.phase, SAVE
        self.reporter.phase = SAVE
        try:
            self.settle_writer()  # the writer reads the tensors themselves
        finally:
            self.phase = self.reporter.phase = before

    def flush(self, step: int) -> None:
        """Make the state of this boundary durable before returning."""
        before, self.phase = self.phase, SAVE
        self.reporter.phase = SAVE
        if self.saved_step != step:
            self.save(step)
        self.settle_writer()
        self.phase = self.reporter.phase = before

    def settle_writer(self) -> None:
        """Wait for the writer."""
        self._writer_failure(self.checkpoints.wait)

    def _writer_failure(self, act: Callable[[], None]) -> None:
        try:
            act()
        except NoRoom as error:
            raise Stopped(str(error)) from error
        except Superseded as error:
            raise Misconfigured(f"{error}; this attempt ends") from error
        except OSError as error:
            if isinstance(error, PermissionError) or error.errno in REFUSED:
                raise
            self._leave_if_away(error)
            raise

    def complete(self) -> None:
        """The loop is exhausted: keep its last state, then let the script go on."""
        assert self.loop is not None
        self.metrics.settle()
        self.rehearsal.end(self, self.loop)
        if self.rehearsal.saves:
            self.flush(self.loop.step)
        self._timing()
        self.enter(AFTER)

    def arm(self) -> None:
        """Set the time at which the attempt must begin to leave, so that a flush fits before the deadline."""
        if self.context.deadline is not None:
            margin = FLUSH_MARGIN_S + 2 * (self.checkpoints.write_s + (self._step_s() or 0.0))
            self.latch.set_deadline(self.context.deadline - margin)

    def _step_s(self) -> float | None:
        """Observed seconds a step, without the first; None before the second."""
        if self._first_step_at is None or self._steps_here < 2:
            return None
        return (time.monotonic() - self._first_step_at) / (self._steps_here - 1)

    def _timing(self) -> None:
        if self._first_step_at is None:
            return
        step_s = self._step_s()
        self.reporter.send(
            "timing",
            step=self.step,
            start_s=round(self._first_step_at - self.begun, 6),
            step_s=round(step_s, 6) if step_s is not None else None,
            data_wait=None if self.metrics.data_wait is None else round(self.metrics.data_wait, 6),
        )

    # Metrics

    def _logged(self, name: str, value: float | int) -> None:
        policy = self.context.policy
        if name != policy.best_metric or not math.isfinite(value):
            return
        sign = -1 if policy.best_direction == "min" else 1
        if self.best is None or sign * value > sign * self.best:
            self.best = self.best_here = float(value)

    def _checkpoint_age(self) -> float:
        since = self.checkpoints.counted_at
        return time.monotonic() - (self.begun if since is None else since)


@contextlib.contextmanager
def _saveable() -> Iterator[None]:
    """Turns what a checkpoint doesn't keep into a misconfiguration: another try would end at the same place."""
    try:
        yield
    except Unsaveable as error:
        raise Misconfigured(str(error)) from error
    except RecursionError as error:
        raise Misconfigured(
            "a tracked state holds itself, or is nested too deeply: give its owner a flat one"
        ) from error
