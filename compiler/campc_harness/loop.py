"""The training loop's iterator: restores first, counts what was consumed, and is where an attempt may end."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from campc_harness.errors import Misconfigured
from campc_harness.loading import Collate, Dealt, deal, size_of
from campc_harness.order import Plan

if TYPE_CHECKING:
    from campc_harness.session import Session


class Loop:
    """Iterates over steps. One item is one micro-batch; `accumulate` of them are one step.

    Args:
        session: the attempt.
        total: steps in all.
        lockstep: whether all ranks take the same steps, and agree at every boundary.
    """

    # Whether nothing is drawn between the end of a step and the beginning of the next one.
    draws_in_steps_only = True

    def __init__(self, session: Session, total: int, *, lockstep: bool = True) -> None:
        self._session = session
        self.total = session.rehearsal.limited(total)
        self.lockstep = lockstep
        self.step = 0
        self.open = False
        self.exhausted = False

    def __iter__(self) -> Iterator[Any]:
        self._session.begin(self)
        return self

    def __next__(self) -> Any:
        self._end_step()
        if self.step >= self.total or self._session.finished is not None:
            self.exhausted = True
            self._session.complete()
            raise StopIteration
        self.open = True
        return self._item()

    def state_dict(self) -> dict[str, Any]:
        """Where the loop stands, for a checkpoint."""
        return {"kind": type(self).__name__, "step": self.step}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from a checkpoint's place.

        Raises:
            Misconfigured: the checkpoint is of another kind of loop.
        """
        if state["kind"] != type(self).__name__:
            raise Misconfigured(
                f"the checkpoint was made in a loop of kind {state['kind']}, the script now uses {type(self).__name__}"
            )
        self.step = state["step"]

    def digest(self) -> dict[str, Any]:
        """What a rehearsal records of the step just ended."""
        return {}

    def restored(self) -> None:
        """The tracked objects have their state: what a rehearsal records then."""
        self._session.rehearsal.restored(self._session, self)

    def flush(self) -> None:
        """Make the state of this boundary durable."""
        self._session.flush(self.step)

    def kept(self) -> dict[str, Any]:
        """What a rehearsal compares as the run's state."""
        return self._session.tracked.state()

    def after_body(self) -> dict[str, Any]:
        """`state_dict` as it will be when the body that is running now has ended."""
        return {**self.state_dict(), "step": self.step + 1}

    @property
    def accumulated(self) -> bool:
        """Whether the current micro-batch is the last of its step."""
        return True

    def _end_step(self) -> None:
        if self.open:
            self.open = False
            self.step += 1
            self._session.boundary(self)

    def _item(self) -> Any:
        return self.step + 1


class Batches(Loop):
    """(step, batch) from a dataset; see `Run.batches`."""

    def __init__(
        self,
        session: Session,
        dataset: Any,
        *,
        batch_size: int,
        steps: int | None,
        epochs: int | None,
        accumulate: int,
        workers: int,
        shuffle: bool,
        drop_last: bool,
        collate: Collate | None,
        options: dict[str, Any],
    ) -> None:
        _require_positive(batch_size=batch_size, steps=steps, epochs=epochs, accumulate=accumulate)
        if (steps is None) == (epochs is None):
            raise Misconfigured("run.batches needs either steps= or epochs=")
        context = session.context
        self._plan = Plan(context.seed, size_of(dataset), batch_size, context.world, shuffle, drop_last)
        if not self._plan.per_epoch():
            raise Misconfigured(
                f"the dataset has {self._plan.size} samples, and a batch takes {self._plan.stride} over all ranks"
            )
        micro = self._plan.per_epoch() * epochs if epochs is not None else None
        super().__init__(session, -(-micro // accumulate) if micro is not None else (steps or 0))
        self._accumulate = accumulate
        self._workers = workers
        self._dataset = dataset
        self._collate = collate
        self._options = options
        self._micro_total = min(micro or self.total * accumulate, self.total * accumulate)
        self._micro = 0
        self._epoch = self._position = 0
        self._samples = 0
        self._dealt: Iterator[Dealt] | None = None
        self._current: Dealt | None = None
        self._seen: list[Dealt] = []

    @property
    def epoch(self) -> int:
        """The epoch of the current batch, from 0."""
        return self._current.epoch if self._current is not None else self._epoch

    @property
    def accumulated(self) -> bool:
        return (self._micro + 1) % self._accumulate == 0 or self._micro + 1 == self._micro_total

    def __next__(self) -> Any:
        if self.open and not self.accumulated:
            self._consume()
            return self._item()
        return super().__next__()

    def state_dict(self) -> dict[str, Any]:
        return {
            **super().state_dict(),
            "micro": self._micro,
            "epoch": self._epoch,
            "position": self._position,
            "samples": self._samples,
            "size": self._plan.size,
        }

    def after_body(self) -> dict[str, Any]:
        state = {**super().after_body(), **self._following()}
        return state

    def load_state_dict(self, state: dict[str, Any]) -> None:
        super().load_state_dict(state)
        if state["size"] != self._plan.size:
            raise Misconfigured(
                f"the checkpoint was made on a dataset of {state['size']} samples; this one has {self._plan.size}"
            )
        self._epoch, self._position = state["epoch"], state["position"]
        self._samples, self._micro = state["samples"], state["micro"]

    def digest(self) -> dict[str, Any]:
        seen, self._seen = self._seen, []
        return {
            "samples": [[dealt.epoch, index] for dealt in seen for index in dealt.indices],
            "batch": [dealt.batch for dealt in seen],
        }

    def _end_step(self) -> None:
        if self.open:
            self._consume()
        super()._end_step()

    def _following(self) -> dict[str, int]:
        """Place and counts after the current micro-batch."""
        current = self._current
        if current is None:
            return {}
        epoch, position = self._plan.after(current.epoch, current.position)
        taken = min(self._plan.stride, self._plan.size - current.position)
        return {"micro": self._micro + 1, "epoch": epoch, "position": position, "samples": self._samples + taken}

    def _consume(self) -> None:
        after = self._following()
        self._micro, self._samples = after["micro"], after["samples"]
        self._epoch, self._position = after["epoch"], after["position"]

    def _item(self) -> Any:
        if self._dealt is None:
            self._dealt = deal(
                self._dataset,
                self._plan,
                epoch=self._epoch,
                position=self._position,
                rank=self._session.context.rank,
                count=self._micro_total - self._micro,
                workers=self._workers,
                collate=self._collate,
                options=dict(self._options),
            )
        begun = time.perf_counter()
        self._current = next(self._dealt)
        self._session.metrics.waited(time.perf_counter() - begun)
        if self._session.rehearsal.active:
            self._seen.append(self._current)
        return self.step + 1, self._current.batch


def _require_positive(**numbers: int | None) -> None:
    for name, number in numbers.items():
        if number is not None and (not isinstance(number, int) or isinstance(number, bool) or number < 1):
            raise Misconfigured(f"{name} must be a whole number above zero, not {number!r}")
