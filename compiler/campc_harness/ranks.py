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
        """Make the group; every rank must call it. Initialises torch.distributed with gloo where the script didn't."""
        if self.world == 1 or self._group is not None:
            return
        import torch.distributed as dist

        if not dist.is_initialized():
            dist.init_process_group("gloo")
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

        import torch.distributed as dist

        raw = json.dumps(value).encode() if self.rank == 0 else b""
        size = torch.tensor([len(raw)], dtype=torch.int64)
        dist.broadcast(size, 0, group=self._group)
        data = (
            torch.tensor(list(raw), dtype=torch.uint8) if self.rank == 0 else torch.empty(int(size), dtype=torch.uint8)
        )
        dist.broadcast(data, 0, group=self._group)
        return json.loads(bytes(data.tolist()))

    def barrier(self) -> None:
        """Wait for all."""
        self.most([0])
