"""What the ranks of an attempt agree on, over a CPU group of their own."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from typing import Any

import torch


class Ranks:
    """The processes of one attempt. With one, every call is answered at once.

    Args:
        rank: this process.
        world: how many there are.
    """

    def __init__(self, rank: int, world: int) -> None:
        self.rank = rank
        self.world = world
        self._group: Any = None

    def connect(self) -> None:
        """Make the group; every rank must call it. Initialises torch.distributed where the script didn't."""
        if self.world == 1 or self._group is not None:
            return
        import torch.distributed as dist

        if not dist.is_initialized():
            # What a framework sets up later is to find the backend that its GPUs need.
            gpus = torch.cuda.is_available() and dist.is_nccl_available()
            dist.init_process_group("cpu:gloo,cuda:nccl" if gpus else "gloo")
        # Ranks may differ by hours where one evaluates alone; the supervisor's watchdog is what ends a hang.
        self._group = dist.new_group(backend="gloo", timeout=datetime.timedelta(days=1))

    @property
    def group(self) -> Any:
        """The process group, for torch.distributed's own calls; None with one process."""
        return self._group

    def most(self, values: Sequence[int]) -> list[int]:
        """The largest of every position over all ranks."""
        if self._group is None:
            return list(values)
        import torch.distributed as dist

        tensor = torch.tensor(values, dtype=torch.int64)
        dist.all_reduce(tensor, op=dist.ReduceOp.MAX, group=self._group)
        return [int(value) for value in tensor]

    def any(self, value: bool) -> bool:
        """Whether it holds on any rank."""
        return bool(self.most([int(value)])[0])

    def from_first(self, value: Any) -> Any:
        """Rank 0's value, on every rank. Plain JSON values only."""
        if self._group is None:
            return value
        import json

        raw = torch.tensor(list(json.dumps(value).encode()), dtype=torch.uint8) if self.rank == 0 else None
        return json.loads(bytes(self.bytes_from_first(raw).tolist()))

    def bytes_from_first(self, content: torch.Tensor | None) -> torch.Tensor:
        """Rank 0's bytes, a flat tensor of uint8, on every rank; the others give None."""
        if self._group is None:
            assert content is not None
            return content
        import torch.distributed as dist

        size = torch.tensor([0 if content is None else content.numel()], dtype=torch.int64)
        dist.broadcast(size, 0, group=self._group)
        data = torch.empty(int(size), dtype=torch.uint8) if content is None else content
        if data.numel():
            dist.broadcast(data, 0, group=self._group)
        return data

    def barrier(self) -> None:
        """Wait for all."""
        self.most([0])
