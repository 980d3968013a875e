"""`Run`: what a training script says to the harness."""

from __future__ import annotations

import contextlib
import math
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

import torch

from campc_harness import context as contexts
from campc_harness import ending, rng
from campc_harness.context import Context, Policy
from campc_harness.errors import Misconfigured
from campc_harness.items import Id, Items
from campc_harness.loaders import Loader, RunSampler
from campc_harness.loading import Collate
from campc_harness.loop import Batches, Loop
from campc_harness.metrics import as_stop
from campc_harness.phases import AFTER, EVALUATE, TRAIN
from campc_harness.rules import ELSEWHERE
from campc_harness.session import Session
from campc_harness.sinks import Background, Sink
from campc_harness.weights import load_weights


class Run:
    """One attempt of one run. Make it with `Run.start()`, use it in a `with` block."""

    def __init__(self, session: Session) -> None:
        self._session = session

    @classmethod
    def start(
        cls,
        defaults: Mapping[str, Any] | None = None,
        *,
        seed: int = 0,
        folder: str | os.PathLike[str] | None = None,
        every_s: float | None = 600.0,
        every_steps: int | None = None,
        keep: int = 2,
    ) -> Run:
        """Begin, launched by a supervisor or by hand; seeds Python's, NumPy's and torch's generators with the seed.

        Launched, everything comes from the plan, and `defaults` only fills in parameters that the plan doesn't have. By
        hand, `defaults` are the parameters and the other arguments say what the plan would.

        Args:
            defaults: parameters, for a start by hand.
            seed: for a start by hand.
            folder: where a start by hand keeps outputs and checkpoints; default `campc-runs/SCRIPT-HASH`.
            every_s: seconds between checkpoints, for a start by hand.
            every_steps: steps between checkpoints, instead.
            keep: how many of them are kept.

        Raises:
            Misconfigured: the environment or campaign.json doesn't say what is needed (exit code 78).
        """
        session = None
        try:
            policy = Policy(every_s=None if every_steps else every_s, every_steps=every_steps, keep=keep)
            if os.environ.get("CAMPC_BUNDLE"):
                context = contexts.launched(os.environ, dict(defaults or {}))
            else:
                context = contexts.by_hand(dict(defaults or {}), seed=seed, folder=folder, policy=policy)
            context.outputs.mkdir(parents=True, exist_ok=True)
            session = Session(context)
            for handle in (context.report_fd, context.life_fd):
                if handle is not None:
                    os.set_inheritable(handle, False)
            session.latch.install()
            ending.hello(session)
            session.arm()
            rng.seed(context.seed)
            return cls(session)
        except Misconfigured as error:
            _refuse(error, session)
            raise
        except OSError as error:
            refused = Misconfigured(f"the run's folders can't be used: {error}")
            _refuse(refused, session)
            raise refused from error

    def __enter__(self) -> Run:
        self._session.entered = True
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            ending.leave_block(self._session, error)
        finally:
            # A launched attempt keeps its latch: a late signal must not turn a good end into a death.
            if not self._session.context.launched:
                self._session.latch.remove()

    # What the plan says

    @property
    def context(self) -> Context:
        """Everything that this attempt was told."""
        return self._session.context

    @property
    def params(self) -> Mapping[str, Any]:
        """The run's parameters."""
        return self._session.context.params

    @property
    def seed(self) -> int:
        """The run's seed; 0 where it has none."""
        return self._session.context.seed

    @property
    def rank(self) -> int:
        """This process among those of the run, from 0."""
        return self._session.context.rank

    @property
    def world(self) -> int:
        """How many processes the run has."""
        return self._session.context.world

    @property
    def device(self) -> torch.device:
        """This process's CUDA device, or the CPU."""
        return ending.device_of(self._session.context)

    @property
    def outputs(self) -> Path:
        """Folder for what the run delivers. It exists."""
        return self._session.context.outputs

    @property
    def corpus(self) -> Path:
        """The run's corpus; in a rehearsal its sample, where it has one.

        Raises:
            Misconfigured: the run has none.
        """
        path = contexts.corpus_path(self._session.context)
        if path is None:
            raise Misconfigured("this run has no corpus")
        return path

    @property
    def remaining(self) -> float:
        """Seconds until the attempt must have left; infinite where there is no deadline."""
        deadline = self._session.context.deadline
        return math.inf if deadline is None else max(0.0, self._session.latch.left(deadline))

    @property
    def step(self) -> int:
        """The step whose body is running, from 1; after the loop, the last one."""
        return self._session.step

    @property
    def accumulated(self) -> bool:
        """Whether this micro-batch is the last of its step: the time for the optimizer."""
        loop = self._session.loop
        return loop is None or loop.accumulated

    @property
    def epoch(self) -> int:
        """The epoch of the current batch, from 0."""
        loop = self._session.loop
        return loop.epoch if isinstance(loop, (Batches, Loader)) else 0

    # State

    def track(self, *unnamed: Any, exact: bool = True, **objects: Any) -> None:
        """Keep these objects' state in every checkpoint, and restore it before the first batch.

        Args:
            unnamed: objects that need no name; they are called `object0`, `object1`, … in their order.
            exact: whether the state must be equal after loading.
            objects: by name; each has `state_dict` and `load_state_dict`.

        Raises:
            Misconfigured: one has no such methods, its name is taken, or the loop has begun.
        """
        tracked, loop = self._session.tracked, self._session.loop
        named = {f"object{len(tracked.objects) + index}": value for index, value in enumerate(unnamed)}
        objects = {**named, **objects}
        late = [name for name, value in objects.items() if tracked.objects.get(name) is not value]
        if loop is not None and late:
            raise Misconfigured(
                f"track({late[0]}=…) comes when the loop has begun, and could not be restored: track it before the loop"
            )
        tracked.add(objects, exact=exact)

    def save(self) -> None:
        """Make a checkpoint at the end of this step; after the loop, nothing is left to save."""
        self._session.save_asked = True

    def finish(self, reason: str) -> None:
        """The run is complete before its steps are exhausted; the loop ends after this step."""
        if not reason:
            raise ValueError("run.finish needs a reason")
        self._session.finished = reason

    # Loops

    def batches(
        self,
        dataset: Any,
        batch_size: int,
        *,
        steps: int | None = None,
        epochs: int | None = None,
        accumulate: int = 1,
        workers: int = 0,
        shuffle: bool = True,
        drop_last: bool = False,
        collate: Collate | None = None,
        **options: Any,
    ) -> Loop:
        """Iterate over (step, batch), restored first; steps count from 1.

        The order is a function of seed, epoch and position; each sample draws from generators seeded by (seed, epoch,
        index). A batch counts when it is consumed, so that prefetch, workers and kills change nothing.

        Args:
            dataset: has `__len__` and `__getitem__`.
            batch_size: samples in one batch of one rank.
            steps: optimizer steps in all, over as many epochs as it takes; or
            epochs: passes over the dataset.
            accumulate: micro-batches in a step; `run.accumulated` is true at the last of them.
            workers: loader processes.
            shuffle: a new order every epoch; else the dataset's own.
            drop_last: leave out an epoch's last, smaller batch.
            collate: makes a batch of a list of samples; default torch's.
            options: passed on to the DataLoader (`prefetch_factor`, `pin_memory`, …).
        """
        return Batches(
            self._session,
            dataset,
            batch_size=batch_size,
            steps=steps,
            epochs=epochs,
            accumulate=accumulate,
            workers=workers,
            shuffle=shuffle,
            drop_last=drop_last,
            collate=collate,
            options=options,
        )

    def steps(self, n: int, *, lockstep: bool = True) -> Loop:
        """Iterate over the steps 1 … n, restored first, for a script that brings its own data.

        Args:
            n: steps in all.
            lockstep: whether all ranks take them together; then they agree on signals and saves at every boundary.
        """
        return Loop(self._session, n, lockstep=lockstep)

    def data(self, loader: Any, *, steps: int | None = None, epochs: int | None = None) -> Loop:
        """Iterate over (step, batch) from a loader of the script's own, and measure how long training waits for it.

        Args:
            loader: has `state_dict` and `load_state_dict` (as torchdata's StatefulDataLoader), or is a DataLoader whose
                sampler is `run.sampler(len(dataset))`.
            steps: in all; or
            epochs: passes over the loader.
        """
        return Loader(self._session, loader, steps=steps, epochs=epochs)

    def sampler(self, size: int, *, shuffle: bool = True) -> RunSampler:
        """A sampler for a DataLoader that `run.data` iterates over; it goes on where the checkpoint was.

        Random numbers that a dataset draws in loader workers don't go on so; those of `run.batches` do.

        Args:
            size: of the dataset.
            shuffle: a new order every epoch; else the dataset's own.
        """
        context = self._session.context
        return RunSampler(context.seed, size, context.rank, context.world, shuffle=shuffle)

    def items(self, ids: Sequence[Id], batch: int = 64, *, output: str = "items.jsonl") -> Items:
        """Iterate over lists of ids that have no row yet, for inference; give each its row with `emit`.

        Rows are committed in parts; across kills and other numbers of ranks no id gets two and none is left out.

        Args:
            ids: all of them, text or whole numbers, in the order that the output is to have.
            batch: how many at a time.
            output: the file below the outputs that the rows end up in, `.jsonl` or `.csv`.
        """
        return Items(self._session, ids, batch, output)

    def emit(self, one: Id, row: Any) -> None:
        """Give an id of the current batch its row: a dictionary, or any plain JSON value.

        Raises:
            ValueError: it has one, is not in the batch, or the row isn't plain JSON.
        """
        loop = self._session.loop
        if not isinstance(loop, Items):
            raise RuntimeError("run.emit belongs into a loop over run.items")
        loop.emit(one, row)

    def resume_from(self, path: str | os.PathLike[str]) -> None:
        """Load weights that somebody already has, from a checkpoint's folder or URL, into the tracked modules, now.

        A checkpoint of this run is restored over them where there is one. A module that is sharded over ranks takes
        whole weights and sharded ones alike; all ranks must call this then.

        Raises:
            Misconfigured: there is no such checkpoint, or its weights don't fit.
        """
        session = self._session
        load_weights(os.fspath(path), session.tracked, session.context, session.ranks)

    def every(self, n: int) -> bool:
        """Whether `n` divides the current step. In a rehearsal it is true once, right after the checkpoint.

        Raises:
            Misconfigured: `n` is below one.
        """
        session = self._session
        if n < 1:
            raise Misconfigured(f"run.every needs a whole number above zero, not {n!r}")
        if not self.accumulated:
            return False
        if session.rehearsal.active and session.loop is not None:
            true = session.step == session.rehearsal.save_step(session.loop.total) + 1
        else:
            true = session.step % n == 0
        session.evaluations.asked(n, true=true)
        return true

    @contextlib.contextmanager
    def evaluation(self) -> Iterator[None]:
        """Evaluate inside, after the step's updates. What happens inside doesn't change how training goes on.

        A signal inside ends the attempt, and the step is begun again by the next one, evaluation and all. Random numbers
        drawn inside are given back.
        """
        session = self._session
        if session.phase == AFTER or session.loop is None:
            yield
            return
        session.staging.for_evaluation()
        before = rng.capture()
        session.enter(EVALUATE)
        if session.latch.set:
            session.arrived()
        try:
            yield
            rng.restore(before)
        finally:
            session.enter(TRAIN)

    # Metrics

    def check(self, **values: Any) -> None:
        """Apply the stop rules to raw values, before the weights are touched: call it before the optimizer's step.

        Raises:
            Stopped: a rule holds; it leaves the `with` block and the script (exit code 76).
        """
        session = self._session
        if not session.metrics.judges(values):
            return
        fired = session.metrics.check(session.step, values)
        if session.lockstep:
            # Together, or the others would wait for this rank in their next collective.
            anywhere = session.ranks.any(fired is not None)
            fired = fired or (ELSEWHERE if anywhere else None)
        if fired is not None:
            raise as_stop(fired, session.step)

    def log(self, **values: Any) -> None:
        """Record metrics of the current step: numbers, or tensors of one element, which are read when they are there.

        Raises:
            Stopped: a stop rule holds on them.
            TypeError: a value isn't one number.
        """
        session = self._session
        fired = session.metrics.log(session.step, values)
        if fired is None:
            return
        if session.lockstep:
            session.stop_at_boundary = fired  # where all ranks learn of it; one may log what another doesn't
            return
        raise as_stop(fired, session.step)

    def truncated(self, count: int = 1) -> None:
        """Count inputs that were cut: what the rules call `truncated_inputs`."""
        self._session.metrics.count_truncated(count)

    def sink(self, write: Sink) -> None:
        """Also give every logged metric to `write(step, values)`, in a thread of its own; see `campc_harness.sinks`."""
        session = self._session
        session.metrics.sinks.append(Background(write, lambda text: session.reporter.send("note", text=text)))


def _refuse(error: Misconfigured, session: Session | None) -> None:
    if session is not None:
        ending.record(session, error)
    else:
        ending.record_early(error, dict(os.environ))
