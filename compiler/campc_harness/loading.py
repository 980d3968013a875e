"""Fetching samples: in this process or in loader workers, each sample with random numbers of its own."""

from __future__ import annotations

import contextlib
import itertools
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch._C import _remove_worker_pids
from torch.utils.data import DataLoader, Dataset, IterableDataset, Subset, TensorDataset, default_collate

from campc_harness import rng, signals
from campc_harness.errors import Misconfigured
from campc_harness.order import Plan, seed_sample

Key = tuple[int, int]
Collate = Callable[[list[Any]], Any]


class Dealt:
    """One batch with where it stands.

    Attributes:
        epoch, position: of this batch.
        indices: of its samples.
        batch: collated.
    """

    __slots__ = ("batch", "epoch", "indices", "position")

    def __init__(self, epoch: int, position: int, indices: list[int], batch: Any) -> None:
        self.epoch = epoch
        self.position = position
        self.indices = indices
        self.batch = batch


class _Seeded(Dataset[Any]):
    """The script's dataset, asked by (epoch, index)."""

    def __init__(self, dataset: Any, seed: int) -> None:
        self._dataset = dataset
        self._seed = seed

    def __getitem__(self, key: Key) -> Any:
        epoch, index = key
        seed_sample(self._seed, epoch, index)
        return self._dataset[index]


def draws_random(dataset: Any) -> bool:
    """Whether fetching a sample may draw random numbers; False for what is known to be plain storage."""
    if isinstance(dataset, Subset):
        return draws_random(dataset.dataset)
    return type(dataset) not in (TensorDataset, list, tuple, torch.Tensor, range)


def size_of(dataset: Any) -> int:
    """How many samples a dataset has.

    Raises:
        Misconfigured: it doesn't say, or can't be asked by index.
    """
    if not isinstance(dataset, IterableDataset) and hasattr(dataset, "__getitem__"):
        with contextlib.suppress(TypeError, NotImplementedError):
            return len(dataset)
    raise Misconfigured(
        f"this needs a dataset with __len__ and __getitem__, not a {type(dataset).__name__}; "
        "for a stream, wrap a loader that has state_dict in run.data(loader)"
    )


def deal(
    dataset: Any,
    plan: Plan,
    *,
    epoch: int,
    position: int,
    rank: int,
    count: int,
    workers: int,
    collate: Collate | None,
    options: dict[str, Any],
) -> Iterator[Dealt]:
    """`count` batches from (epoch, position) on.

    What comes out is the same for any number of `workers`: samples draw from generators seeded by (seed, epoch, index),
    and the global generators are left as they were.
    """
    places = itertools.islice(plan.walk(epoch, position, rank), count)
    if workers:
        return _in_workers(dataset, plan, places, workers, collate, options)
    return _in_process(dataset, plan, places, collate or default_collate)


def _in_process(
    dataset: Any, plan: Plan, places: Iterator[tuple[int, int, list[int]]], collate: Collate
) -> Iterator[Dealt]:
    seeded = draws_random(dataset)
    for epoch, position, indices in places:
        if seeded:
            before = rng.capture(devices=False)
            try:
                samples = []
                for index in indices:
                    seed_sample(plan.seed, epoch, index)
                    samples.append(dataset[index])
            finally:
                rng.restore(before)
        elif hasattr(dataset, "__getitems__"):
            samples = dataset.__getitems__(indices)
        else:
            samples = [dataset[index] for index in indices]
        yield Dealt(epoch, position, indices, collate(samples))


def _in_workers(
    dataset: Any,
    plan: Plan,
    places: Iterator[tuple[int, int, list[int]]],
    workers: int,
    collate: Collate | None,
    options: dict[str, Any],
) -> Iterator[Dealt]:
    # The loader asks for places ahead of what is consumed; this second walk tells which one a batch belongs to.
    asked, told = itertools.tee(places)
    loader: DataLoader[Any] = DataLoader(
        _Seeded(dataset, plan.seed),
        batch_sampler=_Keys(asked),
        num_workers=workers,
        collate_fn=collate,
        worker_init_fn=_Init(options.pop("worker_init_fn", None)),
        # Its own generator: the loader draws a base seed, which must not come from the script's generator.
        generator=torch.Generator(),
        **options,
    )
    for (epoch, position, indices), batch in zip(told, iterate(loader), strict=False):
        yield Dealt(epoch, position, indices, batch)


_iterators: weakref.WeakSet[Any] = weakref.WeakSet()


def iterate(loader: DataLoader[Any]) -> Iterator[Any]:
    """Iterate over a loader whose workers `end_workers` is to end."""
    iterator = iter(loader)
    _iterators.add(iterator)
    return iterator


def end_workers() -> None:
    """Kill the loader workers. They ignore SIGTERM, which is all that Python's own exit would send before it waits."""
    for iterator in list(_iterators):
        if getattr(iterator, "_worker_pids_set", False):
            # Else torch takes the deaths below for a crash, and raises in whatever runs then.
            _remove_worker_pids(id(iterator))
            iterator._worker_pids_set = False
        for worker in getattr(iterator, "_workers", ()):
            worker.kill()
            worker.join(5)


class _Keys:
    """A batch sampler over places."""

    def __init__(self, places: Iterator[tuple[int, int, list[int]]]) -> None:
        self._places = places

    def __iter__(self) -> Iterator[list[Key]]:
        for epoch, _, indices in self._places:
            yield [(epoch, index) for index in indices]


class _Init:
    """What a loader worker does first: ignore the signals that ask for the end, then what the script wants."""

    def __init__(self, then: Callable[[int], None] | None) -> None:
        self._then = then

    def __call__(self, worker: int) -> None:
        signals.ignore()
        torch.set_num_threads(1)
        if self._then is not None:
            self._then(worker)
