"""Restoring: from the newest checkpoint that verifies, the others set aside."""

from __future__ import annotations

import collections
import errno
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch

from campc_harness import manifest as manifests
from campc_harness.context import Context
from campc_harness.errors import Damaged
from campc_harness.manifest import Manifest
from campc_harness.memory import Slot, memory
from campc_harness.pages import Fresh
from campc_harness.ranks import Ranks
from campc_harness.state import decode
from campc_harness.storage import Storage
from campc_harness.verified import NO_FILE, read_verified

Report = Callable[..., None]
NOWHERE: Mapping[str, torch.Tensor] = {}

# A disk's own fault, which another try doesn't mend. That a place is away or refuses is another matter.
_UNREADABLE = frozenset({errno.EIO, errno.EUCLEAN, errno.EBADMSG, errno.ENODATA, errno.ELOOP})


@dataclass
class Restored:
    """A verified checkpoint, read into memory.

    Attributes:
        name: its folder.
        manifest: what it consists of.
        state: the state as it was staged.
        seconds: what reading and verifying took.
    """

    name: str
    manifest: Manifest
    state: Any
    seconds: float


def restore(
    storage: Storage, context: Context, ranks: Ranks, report: Report, into: Mapping[str, torch.Tensor] = NOWHERE
) -> Restored | None:
    """The newest committed checkpoint that verifies, or None where there is none.

    What doesn't verify is renamed to `quarantined-…` and kept. Steps that two attempts died from are passed over, and so is
    what the disk can't read, as long as an older one stands behind it.

    Args:
        into: tensors that may be read into where they lie, by the names that the manifest has; they are then the state's.

    Raises:
        RuntimeError: none verifies, and `into` holds what was read of one: what stood there is gone.
        OSError: none verifies, and one can't be read; or the place is away, or refuses.
    """
    spoiled, unreadable = False, ""
    names = [name for name in ranks.from_first(storage.committed()) if not _passed_over(name, context, report)]
    for number, name in enumerate(names, 1):
        restored, fault, bad = None, None, False
        # The last one is read into memory of its own: if it is damaged, the run starts from what stands in the tensors.
        given = into if number < len(names) and ranks.world == 1 else NOWHERE
        try:
            begun = time.perf_counter()
            manifest = _own_manifest(storage, context, name)
            spoiled = spoiled or bool(given)
            restored = read(storage, name, manifest, ranks.rank, begun, given)
        except Damaged as error:
            fault = str(error)
        except OSError as error:
            if error.errno not in _UNREADABLE:
                raise
            fault, bad = str(error), True
        if not ranks.any(fault is not None):
            return restored
        if ranks.any(bad):
            unreadable = f"{name} can't be read: {fault or 'as another rank found'}"
            report("note", text=f"{unreadable}; it is passed over")
            continue
        if ranks.rank == 0:
            storage.set_aside(name, "quarantined")
            report("quarantine", folder=name, reason=fault or "another rank's part is damaged")
        ranks.barrier()
    if unreadable:
        # Not from the beginning: somebody may mend the disk, and all that was trained stands on it.
        raise OSError(errno.EIO, f"{unreadable}, and there is no other sound checkpoint")
    if spoiled:
        raise RuntimeError(
            "no checkpoint is sound, and parts of one stand in the model: start again, from the beginning"
        )
    return None


def _passed_over(name: str, context: Context, report: Report) -> bool:
    if manifests.step_of(name) not in context.skip:
        return False
    report("note", text=f"{name} is passed over: two attempts died from it without progress")
    return True


def read_manifest(storage: Storage, name: str) -> Manifest:
    """The manifest of a checkpoint.

    Raises:
        Damaged: there is none, or it can't be read.
    """
    try:
        with storage.open(name, manifests.NAME) as stream:
            return manifests.parse(stream.read())
    except NO_FILE as error:
        raise Damaged("it has no manifest") from error


def _own_manifest(storage: Storage, context: Context, name: str) -> Manifest:
    manifest = read_manifest(storage, name)
    for what, found, wanted in (
        ("run", manifest.run_id, context.run_id),
        ("window", manifest.window, context.window),
        ("step", manifests.folder_name(manifest.step), name),
    ):
        if found != wanted:
            raise Damaged(f"its manifest names {what} {found!r}, not {wanted!r}")
    return manifest


def read(
    storage: Storage,
    name: str,
    manifest: Manifest,
    rank: int,
    begun: float,
    into: Mapping[str, torch.Tensor] = NOWHERE,
) -> Restored:
    """Read and verify one rank's part of a checkpoint; a rank that it doesn't have takes rank 0's.

    Args:
        begun: since when, by `time.perf_counter`, it is being read.
        into: contiguous CPU tensors that may be read into where they lie, by name. Damaged, they hold anything.

    Raises:
        Damaged: a file is missing, or its length or hash is another than the manifest's.
    """
    part = rank if rank < manifest.world else 0
    tensor_file, state_file = manifests.tensor_file(part), manifests.state_file(part)
    try:
        entries = manifest.tensors[tensor_file]
        # Two of one name would be read into the same place.
        names = collections.Counter(label for label, _ in entries)
        tensors = [_place(slot, into.get(label) if names[label] == 1 else None) for label, slot in entries]
        pieces = [(slot.offset, memory(tensor)) for (_, slot), tensor in zip(entries, tensors, strict=True)]
        own = [tensor for (label, _), tensor in zip(entries, tensors, strict=True) if tensor is not into.get(label)]
        read_verified(storage, name, tensor_file, manifest.files[tensor_file], pieces, Fresh(own))
        tree = memoryview(bytearray(manifest.files[state_file].bytes))
        read_verified(storage, name, state_file, manifest.files[state_file], [(0, tree)])
        state = decode(json.loads(bytes(tree)), tensors)
    except (KeyError, ValueError, IndexError, RuntimeError, AttributeError, TypeError) as error:
        raise Damaged(f"its manifest and files don't fit: {error!r}") from error
    return Restored(name, manifest, state, time.perf_counter() - begun)


def _place(slot: Slot, live: torch.Tensor | None) -> torch.Tensor:
    kind = getattr(torch, slot.dtype)
    if live is not None and live.dtype == kind and tuple(live.shape) == slot.shape:
        return live
    # Memory of its own: whoever is given it may keep it.
    return torch.empty(slot.shape, dtype=kind)
