"""Restoring: from the newest checkpoint that verifies, the others set aside."""

from __future__ import annotations

import concurrent.futures
import hashlib
import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO

import torch

from campc_harness import manifest as manifests
from campc_harness.context import Context
from campc_harness.errors import Damaged
from campc_harness.manifest import FileFacts, Manifest
from campc_harness.memory import memory
from campc_harness.ranks import Ranks
from campc_harness.state import decode
from campc_harness.storage import Storage

CHUNK = 8 * 2**20

Report = Callable[..., None]


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


def restore(storage: Storage, context: Context, ranks: Ranks, report: Report) -> Restored | None:
    """The newest committed checkpoint that verifies, or None where there is none.

    What doesn't verify is renamed to `quarantined-…` and kept. Steps that two attempts died from are passed over.
    """
    for name in ranks.from_first(storage.committed()):
        if manifests.step_of(name) in context.skip:
            report("note", text=f"{name} is passed over: two attempts died from it without progress")
            continue
        restored, fault = None, None
        try:
            restored = _read_own(storage, context, name, ranks.rank)
        except Damaged as error:
            fault = str(error)
        if not ranks.any(fault is not None):
            return restored
        if ranks.rank == 0:
            storage.set_aside(name, "quarantined")
            report("quarantine", folder=name, reason=fault or "another rank's part is damaged")
        ranks.barrier()
    return None


def read_manifest(storage: Storage, name: str) -> Manifest:
    """The manifest of a checkpoint.

    Raises:
        Damaged: there is none, or it can't be read.
    """
    try:
        with storage.open(name, manifests.NAME) as stream:
            return manifests.parse(stream.read())
    except FileNotFoundError as error:
        raise Damaged("it has no manifest") from error


def _read_own(storage: Storage, context: Context, name: str, rank: int) -> Restored:
    begun = time.perf_counter()
    manifest = read_manifest(storage, name)
    for what, found, wanted in (
        ("run", manifest.run_id, context.run_id),
        ("window", manifest.window, context.window),
        ("step", manifests.folder_name(manifest.step), name),
    ):
        if found != wanted:
            raise Damaged(f"its manifest names {what} {found!r}, not {wanted!r}")
    return read(storage, name, manifest, rank, begun)


def read(storage: Storage, name: str, manifest: Manifest, rank: int, begun: float) -> Restored:
    """Read and verify one rank's part of a checkpoint; a rank that it doesn't have takes rank 0's.

    Raises:
        Damaged: a file is missing, or its length or hash is another than the manifest's.
    """
    part = rank if rank < manifest.world else 0
    tensor_file, state_file = manifests.tensor_file(part), manifests.state_file(part)
    try:
        slots = [slot for _, slot in manifest.tensors[tensor_file]]
        # Each tensor gets memory of its own: whoever is given it may keep it.
        tensors = [torch.empty(slot.shape, dtype=getattr(torch, slot.dtype)) for slot in slots]
        pieces = [(slot.offset, memory(tensor)) for slot, tensor in zip(slots, tensors, strict=True)]
        _read_verified(storage, name, tensor_file, manifest.files[tensor_file], pieces)
        tree = memoryview(bytearray(manifest.files[state_file].bytes))
        _read_verified(storage, name, state_file, manifest.files[state_file], [(0, tree)])
        state = decode(json.loads(bytes(tree)), tensors)
    except (KeyError, ValueError, IndexError, RuntimeError, AttributeError, TypeError) as error:
        raise Damaged(f"its manifest and files don't fit: {error!r}") from error
    return Restored(name, manifest, state, time.perf_counter() - begun)


def _read_verified(
    storage: Storage, name: str, file: str, facts: FileFacts, pieces: list[tuple[int, memoryview]]
) -> None:
    """Read a file into `pieces` (offset, memory), ascending; gaps between them are hashed and dropped."""
    digest, filled = hashlib.sha256(), 0
    # Hashing takes longer than reading, and both let go of the interpreter: they run side by side.
    with concurrent.futures.ThreadPoolExecutor(1, "campc-hash") as hasher:
        hashed: concurrent.futures.Future[None] | None = None
        try:
            with storage.open(name, file) as stream:
                for chunk in _chunks(pieces, facts.bytes):
                    count = _fill(stream, chunk)
                    if hashed is not None:
                        hashed.result()
                    hashed = hasher.submit(digest.update, chunk[:count])
                    filled += count
                    if count < len(chunk):
                        break
                longer = bool(stream.read(1))
        except FileNotFoundError as error:
            raise Damaged(f"{file} is missing") from error
        if hashed is not None:
            hashed.result()
    if filled != facts.bytes or longer:
        raise Damaged(f"{file} has {'more than ' if longer else ''}{filled} bytes, not {facts.bytes}")
    if digest.hexdigest() != facts.sha256:
        raise Damaged(f"{file} has another SHA-256 than its manifest says")


def _chunks(pieces: list[tuple[int, memoryview]], size: int) -> Iterator[memoryview]:
    """Memory for every byte of a file of `size` bytes, in order, `CHUNK` at a time."""
    at = 0
    for offset, piece in [*pieces, (size, memoryview(b""))]:
        if offset < at or offset + len(piece) > size:
            raise ValueError("the manifest's tensors overlap, or lie outside their file")
        if offset > at:
            yield memoryview(bytearray(offset - at))
        for start in range(0, len(piece), CHUNK):
            yield piece[start : start + CHUNK]
        at = offset + len(piece)


def _fill(stream: BinaryIO, chunk: memoryview) -> int:
    filled = 0
    while filled < len(chunk):
        count = stream.readinto(chunk[filled:])  # type: ignore[attr-defined]
        if not count:
            break
        filled += count
    return filled
