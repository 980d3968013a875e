"""Which checkpoints stay, and whether there is room for the next."""

from __future__ import annotations

import contextlib

from campc_harness import manifest as manifests
from campc_harness.context import Policy
from campc_harness.errors import Damaged, NoRoom
from campc_harness.restore import read_manifest
from campc_harness.storage import Storage


class Retention:
    """Keeps the newest checkpoints and the best, and never deletes the last one that is known to be good.

    Args:
        storage: where they live.
        policy: how many stay.
    """

    def __init__(self, storage: Storage, policy: Policy) -> None:
        self._storage = storage
        self._policy = policy
        self._values: dict[str, float | None] = {}

    def prune(self, keep: int, good: int | None) -> int:
        """Delete all committed checkpoints but the `keep` newest, the best, and that of step `good`; how many went."""
        names = self._storage.committed()
        spared = {*names[: max(keep, 1)], self._best(names)}
        if good is not None:
            spared.add(manifests.folder_name(good))
        doomed = [name for name in names if name not in spared]
        for name in doomed:
            self._storage.delete(name)
        return len(doomed)

    def make_room(self, size: int, good: int | None) -> None:
        """See to it that `size` bytes are free.

        Raises:
            NoRoom: they are not, though all but the last good one and the best are gone.
        """
        free = self._storage.free_bytes()
        if free is None or free > size:
            return
        self.prune(1, good)
        free = self._storage.free_bytes()
        if free is not None and free <= size:
            raise NoRoom(
                f"no room: a checkpoint needs {size} bytes, {free} are free, and only the last good one is left"
            )

    def _best(self, names: list[str]) -> str | None:
        if self._policy.best_metric is None:
            return None
        sign = -1.0 if self._policy.best_direction == "min" else 1.0
        values = [(sign * value, name) for name in names if (value := self._value(name)) is not None]
        return max(values)[1] if values else None

    def _value(self, name: str) -> float | None:
        if name not in self._values:
            with contextlib.suppress(Damaged):
                self._values[name] = read_manifest(self._storage, name).facts.get("best")
        return self._values.get(name)
