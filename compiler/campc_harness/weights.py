"""Weights of another checkpoint: to start from, and to give to others."""

from __future__ import annotations

import time
from typing import Any

import torch

from campc_harness import manifest as manifests
from campc_harness.errors import Damaged, Misconfigured
from campc_harness.restore import Restored, read, read_manifest
from campc_harness.state import Tracked, unwrap
from campc_harness.storage import Storage, open_storage


def open_checkpoint(place: str) -> Restored:
    """Read rank 0's part of a checkpoint: `place` is its folder, or one with several, of which the newest good one counts.

    Raises:
        Misconfigured: there is none, or none that verifies.
    """
    storage, names = _find(place)
    faults = []
    for name in names:
        try:
            return read(storage, name, read_manifest(storage, name), 0, time.perf_counter())
        except (Damaged, OSError) as error:
            faults.append(f"{name}: {error}")
    raise Misconfigured("; ".join(faults) if faults else f"no checkpoint in {place}")


def load_weights(place: str, tracked: Tracked) -> str:
    """Load the weights of a checkpoint into the tracked modules of the same names; returns the checkpoint's name.

    Optimizer, schedule, generators and position stay as they are: the run starts from these weights, at step 0.

    Raises:
        Misconfigured: no module has its name in the checkpoint, or the weights don't fit.
    """
    restored = open_checkpoint(place)
    saved: dict[str, Any] = restored.state["objects"]
    modules = {name: unwrap(value) for name, value in tracked.objects.items() if isinstance(value, torch.nn.Module)}
    shared = sorted(set(modules) & set(saved))
    if not shared:
        raise Misconfigured(f"{restored.name} has weights for {sorted(saved)}, the script tracks {sorted(modules)}")
    for name in shared:
        try:
            modules[name].load_state_dict(saved[name])
        except (RuntimeError, KeyError, TypeError) as error:
            raise Misconfigured(f"the weights of {name} in {restored.name} don't fit: {error}") from error
    return restored.name


def _find(place: str) -> tuple[Storage, list[str]]:
    path = place.rstrip("/")
    head, _, tail = path.rpartition("/")
    if manifests.step_of(tail) is not None:
        return open_storage(head or "/"), [tail]
    storage = open_storage(path)
    return storage, storage.committed()
