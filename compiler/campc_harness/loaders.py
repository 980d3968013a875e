"""Loops over loaders that the script brings: stateful ones, and torch's own with a sampler of the run."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import torch
from torch.utils.data import DataLoader, Sampler

from campc_harness import rng, signals
from campc_harness.errors import Misconfigured
from campc_harness.loading import iterate
from campc_harness.loop import Loop
from campc_harness.order import derive, permutation

if TYPE_CHECKING:
    from campc_harness.session import Session


class RunSampler(Sampler[int]):
    """Indices of one rank, in an order that is a function of seed and epoch, from a place in the epoch on.

    Args:
        seed: of the run.
        size: of the dataset.
        rank, world: which share.
        shuffle: whether epochs are permuted.
    """

    def __init__(self, seed: int, size: int, rank: int, world: int, *, shuffle: bool) -> None:
        self._seed = seed
        self._size = size
        self._rank = rank
        self._world = world
        self._shuffle = shuffle
        self.epoch = 0
        self.start = 0

    def __len__(self) -> int:
        return max(0, self._share() - self.start)

    def __iter__(self) -> Iterator[int]:
        order = permutation(self._seed, self.epoch, self._size) if self._shuffle else torch.arange(self._size)
        # Every rank takes the same number, so that all have the same steps; the epoch's first samples fill up.
        short = self._share() * self._world - self._size
        if short:
            order = torch.cat([order, order.repeat(-(-short // max(1, self._size)))[:short]])
        for index in order[self._rank :: self._world][self.start :]:
            yield int(index)

    def _share(self) -> int:
        return -(-self._size // self._world)


class Loader(Loop):
    """(step, batch) from a loader of the script's own; see `Run.data`."""

    def __init__(self, session: Session, loader: Any, *, steps: int | None, epochs: int | None) -> None:
        if (steps is None) == (epochs is None):
            raise Misconfigured("run.data needs either steps= or epochs=")
        self._loader = loader
        sampler = getattr(loader, "sampler", None)
        self._sampler = sampler if isinstance(sampler, RunSampler) else None
        self._stateful = hasattr(loader, "state_dict") and hasattr(loader, "load_state_dict")
        if self._sampler is None and not self._stateful:
            raise Misconfigured(
                f"run.data can't resume a {type(loader).__name__}: it needs state_dict and load_state_dict, "
                "or a DataLoader with sampler=run.sampler(len(dataset)); run.batches(dataset, …) does all of it"
            )
        if self._sampler is not None and not getattr(loader, "batch_size", None):
            raise Misconfigured(
                "a DataLoader with run.sampler needs batch_size, so that consumed samples can be counted"
            )
        if isinstance(loader, DataLoader) and loader.num_workers:
            loader.worker_init_fn = _Init(loader.worker_init_fn)
        if steps is None:
            steps = (epochs or 0) * self._per_epoch()
        self._epoch = 0
        self._taken = 0
        self._seen: Any = None
        self._iterator: Iterator[Any] | None = None
        super().__init__(session, steps)

    @property
    def epoch(self) -> int:
        """The epoch of the current batch, from 0."""
        return self._epoch

    def state_dict(self) -> dict[str, Any]:
        state = {**super().state_dict(), "epoch": self._epoch, "taken": self._taken}
        if self._stateful:
            state["loader"] = self._loader.state_dict()
        return state

    def load_state_dict(self, state: dict[str, Any]) -> None:
        super().load_state_dict(state)
        self._epoch, self._taken = state["epoch"], state["taken"]
        if self._stateful:
            self._loader.load_state_dict(state["loader"])

    def digest(self) -> dict[str, Any]:
        return {"batch": self._seen}

    def _per_epoch(self) -> int:
        try:
            return len(self._loader)
        except TypeError as error:
            raise Misconfigured(
                "run.data(loader, epochs=) needs a loader with a length; give steps= instead"
            ) from error

    def _item(self) -> Any:
        begun = time.perf_counter()
        for fresh in (False, True):
            if self._iterator is None:
                self._iterator = self._begin_epoch()
            batch = next(self._iterator, _END)
            if batch is not _END:
                break
            if fresh:
                raise Misconfigured("the loader has no batches")
            self._epoch, self._taken, self._iterator = self._epoch + 1, 0, None
        self._taken += 1
        if self._session.rehearsal.active:
            self._seen = batch
        self._session.metrics.waited(time.perf_counter() - begun)
        return self.step + 1, batch

    def _begin_epoch(self) -> Iterator[Any]:
        if self._sampler is not None:
            self._sampler.epoch, self._sampler.start = self._epoch, self._taken * self._loader.batch_size
        # A loader draws its workers' base seed when it is asked to iterate: from a generator of its own here, so that an
        # epoch begun again after a resumption takes nothing from the script's.
        before = rng.capture(devices=False)
        torch.default_generator.manual_seed(derive("loader", self._session.context.seed, self._epoch))
        try:
            return iterate(self._loader) if isinstance(self._loader, DataLoader) else iter(self._loader)
        finally:
            rng.restore(before)


_END = object()


class _Init:
    """A loader worker ignores the signals that ask for the end, then does what the script wants."""

    def __init__(self, then: Any) -> None:
        self._then = then

    def __call__(self, worker: int) -> None:
        signals.ignore()
        if self._then is not None:
            self._then(worker)
