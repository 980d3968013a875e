"""The order of samples: a function of seed, epoch and position, whatever the number of workers, ranks and kills."""

from __future__ import annotations

import hashlib
import random
import sys
from collections.abc import Iterator
from dataclasses import dataclass

import torch


def derive(*parts: int | str) -> int:
    """A 63-bit seed from `parts`: the first eight bytes of the SHA-256 of their texts, joined with `/`."""
    text = "/".join(str(part) for part in parts)
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") >> 1


def permutation(seed: int, epoch: int, size: int) -> torch.Tensor:
    """A random order of `range(size)`, int64, the same for the same seed and epoch."""
    generator = torch.Generator()
    generator.manual_seed(derive("order", seed, epoch))
    return torch.randperm(size, generator=generator)


def seed_sample(seed: int, epoch: int, index: int) -> None:
    """Seed Python's, NumPy's (if imported) and torch's CPU generators for one sample, so that augmentation repeats."""
    value = derive("sample", seed, epoch, index)
    random.seed(value)
    torch.default_generator.manual_seed(value)  # torch.manual_seed would reset the devices' generators too
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        numpy.random.seed(value % 2**32)


@dataclass(frozen=True)
class Plan:
    """How samples are dealt to batches and ranks.

    Attributes:
        seed: of the run.
        size: samples in an epoch.
        batch: samples in one rank's batch.
        world: ranks.
        shuffle: whether epochs are permuted.
        drop_last: whether a last, smaller global batch is left out.
    """

    seed: int
    size: int
    batch: int
    world: int = 1
    shuffle: bool = True
    drop_last: bool = False

    @property
    def stride(self) -> int:
        """Samples that all ranks together take in one batch."""
        return self.batch * self.world

    def per_epoch(self) -> int:
        """Batches in an epoch, the same for every rank."""
        full, rest = divmod(self.size, self.stride)
        return full + (1 if rest and not self.drop_last else 0)

    def after(self, epoch: int, position: int) -> tuple[int, int]:
        """Epoch and position (in samples of all ranks) that follow the batch at (epoch, position)."""
        position += self.stride
        left = self.size - position
        if left <= 0 or (self.drop_last and left < self.stride):
            return epoch + 1, 0
        return epoch, position

    def indices(self, order: torch.Tensor, position: int, rank: int) -> list[int]:
        """The samples of `rank` in the global batch at `position` of an epoch in `order`.

        A last, smaller batch is dealt evenly; where it has fewer samples than there are ranks, the epoch's first ones
        fill it, so that every rank has a step to take part in.
        """
        window = order[position : position + self.stride]
        if len(window) < self.stride:
            if len(window) < self.world:
                window = torch.cat([window, order[: self.world - len(window)]])
            while len(window) < self.world:  # an epoch with fewer samples than ranks
                window = torch.cat([window, order])[: self.world]
            even, odd = divmod(len(window), self.world)
            start = rank * even + min(rank, odd)
            return [int(index) for index in window[start : start + even + (1 if rank < odd else 0)]]
        return [int(index) for index in window[rank * self.batch : (rank + 1) * self.batch]]

    def walk(self, epoch: int, position: int, rank: int) -> Iterator[tuple[int, int, list[int]]]:
        """(epoch, position, indices) of each batch from a place on, without end."""
        while True:
            order = permutation(self.seed, epoch, self.size) if self.shuffle else torch.arange(self.size)
            here = epoch
            while epoch == here:
                yield epoch, position, self.indices(order, position, rank)
                epoch, position = self.after(epoch, position)
