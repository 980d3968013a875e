"""The checkpoint engine: one background writer, commit by manifest, retention, restore with fall-back."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch

from campc_harness import manifest as manifests
from campc_harness.context import Context
from campc_harness.errors import Damaged, NoRoom, Superseded
from campc_harness.manifest import FileFacts, Manifest
from campc_harness.memory import Buffers, memory
from campc_harness.ranks import Ranks
from campc_harness.state import Snapshot, decode
from campc_harness.storage import Storage

CHUNK = 8 * 2**20
ATTEMPTS = 5

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


class Checkpoints:
    """Saves and restores one rank's part of the run's checkpoints.

    Args:
        storage: where they live.
        context: whose they are.
        ranks: those who save together.
        report: called with an event's name and fields.
    """

    def __init__(self, storage: Storage, context: Context, ranks: Ranks, report: Report) -> None:
        self._storage = storage
        self._context = context
        self._ranks = ranks
        self._report = report
        self.buffers = Buffers(pinned=torch.cuda.is_available())
        self._wake = threading.Condition()
        self._job: Snapshot | None = None
        self._busy = False
        self._failure: BaseException | None = None
        self._thread: threading.Thread | None = None
        self.durable_step: int | None = None
        self.durable_at: float | None = None
        self.write_s = 0.0

    def claim(self) -> None:
        """Claim the run for this attempt; older ones can commit nothing from here on."""
        number = self._storage.claim() if self._ranks.rank == 0 else 0
        number = self._ranks.from_first(number)
        if self._ranks.rank != 0:
            self._storage.join(number)

    def submit(self, snapshot: Snapshot) -> None:
        """Hand a snapshot to the writer, which owns its buffer from here on; waits while another one is queued."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="campc-checkpoint-writer", daemon=True)
            self._thread.start()
        with self._wake:
            while self._job is not None:
                self._wake.wait()
            self._job = snapshot
            self._wake.notify_all()

    def wait(self) -> None:
        """Until the writer has nothing left to do; raises what it failed with."""
        with self._wake:
            while self._job is not None or self._busy:
                self._wake.wait()
        self.raise_failure()

    def idle(self) -> bool:
        """Whether the writer has nothing to do."""
        return self._job is None and not self._busy

    def raise_failure(self) -> None:
        """Raise what the writer failed with since the last call, if anything."""
        failure, self._failure = self._failure, None
        if failure is not None:
            raise failure

    def _run(self) -> None:
        # On Linux a thread has a priority of its own: training goes first where both want a core.
        with contextlib.suppress(OSError, AttributeError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), 10)
        while True:
            with self._wake:
                while self._job is None:
                    self._wake.wait()
                snapshot, self._job, self._busy = self._job, None, True
                self._wake.notify_all()
            try:
                self._persist(snapshot)
            except BaseException as error:
                self._failure = error
                self._report("checkpoint_failed", step=snapshot.step, reason=str(error) or repr(error))
                with contextlib.suppress(OSError, Superseded):
                    self._storage.abandon(snapshot.step)
            finally:
                self.buffers.give(snapshot.buffer)
                with self._wake:
                    self._busy = False
                    self._wake.notify_all()

    def _persist(self, snapshot: Snapshot) -> None:
        begun = time.perf_counter()
        pause = 0.5
        for attempt in range(1, ATTEMPTS + 1):
            try:
                self._make_room(snapshot.size + len(snapshot.tree))
                self._write(snapshot)
                break
            except NoRoom:
                if attempt == ATTEMPTS or not self._prune(keep=1):
                    raise
            except OSError as error:
                if attempt == ATTEMPTS:
                    raise
                self._report("note", text=f"checkpoint of step {snapshot.step}: {error}; trying again in {pause:g} s")
                time.sleep(pause)
                pause *= 2
        self.durable_step, self.durable_at = snapshot.step, time.monotonic()
        self.write_s = time.perf_counter() - begun
        self._report(
            "checkpoint",
            step=snapshot.step,
            bytes=snapshot.size + len(snapshot.tree),
            stage_s=round(snapshot.stage_s, 6),
            write_s=round(self.write_s, 6),
            verified=True,
        )
        if self._ranks.rank == 0:
            self._prune(keep=self._context.policy.keep)

    def _write(self, snapshot: Snapshot) -> None:
        rank, step, storage = self._ranks.rank, snapshot.step, self._storage
        files = {
            manifests.tensor_file(rank): self._put(step, manifests.tensor_file(rank), _whole(snapshot)),
            manifests.state_file(rank): self._put(step, manifests.state_file(rank), memoryview(snapshot.tree)),
        }
        entries = list(zip(snapshot.names, snapshot.slots, strict=True))
        if self._ranks.world == 1:
            parts = {0: (files, entries)}
        else:
            part = {
                "files": {name: {"bytes": file.bytes, "sha256": file.sha256} for name, file in files.items()},
                "tensors": manifests.describe(entries),
            }
            self._put(step, _part(rank), memoryview(json.dumps(part).encode()))
            if rank != 0:
                self._await_commit(step)
                return
            parts = self._gather(step)
        whole = Manifest(
            run_id=self._context.run_id,
            window=self._context.window,
            attempt=self._context.attempt,
            plan_hash=self._context.plan_hash,
            step=step,
            world=self._ranks.world,
            files={name: file for files, _ in parts.values() for name, file in files.items()},
            tensors={manifests.tensor_file(rank): entries for rank, (_, entries) in parts.items()},
            facts=snapshot.facts,
        )
        storage.commit(step, whole.encode(), [_part(rank) for rank in parts] if self._ranks.world > 1 else [])

    def _put(self, step: int, name: str, content: memoryview) -> FileFacts:
        digest = hashlib.sha256()

        def produce(put: Callable[[memoryview], None]) -> None:
            for start in range(0, len(content), CHUNK):
                chunk = content[start : start + CHUNK]
                digest.update(chunk)
                put(chunk)

        self._storage.write(step, name, produce)
        return FileFacts(len(content), digest.hexdigest())

    def _gather(self, step: int) -> dict[int, tuple[dict[str, FileFacts], list[tuple[str, Any]]]]:
        parts = {}
        for rank in range(self._ranks.world):
            raw = _poll(lambda rank=rank: self._storage.pending(step, _part(rank)))  # type: ignore[misc]
            if raw is None:
                raise OSError(f"rank {rank} did not write its part of step {step}")
            part = json.loads(raw)
            files = {name: FileFacts(**facts) for name, facts in part["files"].items()}
            parts[rank] = (files, manifests.entries_of(part["tensors"]))
        return parts

    def _await_commit(self, step: int) -> None:
        name = manifests.folder_name(step)
        if not _poll(lambda: name in self._storage.committed() or None):
            raise OSError(f"rank 0 did not commit step {step}")

    def _make_room(self, size: int) -> None:
        free = self._storage.free_bytes()
        if free is None or free > size:
            return
        self._prune(keep=1)
        free = self._storage.free_bytes()
        if free is not None and free <= size:
            raise NoRoom(
                f"no room: a checkpoint needs {size} bytes, {free} are free, and only the last good one is left"
            )

    def _prune(self, *, keep: int) -> int:
        """Delete all committed checkpoints but the `keep` newest and the best; returns how many went."""
        if self._ranks.rank != 0:
            return 0
        names = self._storage.committed()
        spared = set(names[: max(keep, 1)])
        if self._context.policy.best_metric is not None:
            spared |= {name for name in [self._best(names)] if name is not None}
        if self.durable_step is not None:
            spared.add(manifests.folder_name(self.durable_step))
        doomed = [name for name in names if name not in spared]
        for name in doomed:
            self._storage.delete(name)
        return len(doomed)

    def _best(self, names: list[str]) -> str | None:
        sign = -1.0 if self._context.policy.best_direction == "min" else 1.0
        best: tuple[float, str] | None = None
        for name in names:
            with contextlib.suppress(Damaged, OSError):
                value = self._manifest(name).facts.get("best")
                if value is not None and (best is None or sign * value > best[0]):
                    best = (sign * value, name)
        return best[1] if best else None

    def _manifest(self, name: str) -> Manifest:
        try:
            with self._storage.open(name, manifests.NAME) as stream:
                return manifests.parse(stream.read())
        except FileNotFoundError as error:
            raise Damaged("it has no manifest") from error

    def restore(self) -> Restored | None:
        """The newest committed checkpoint that verifies, or None where there is none.

        What doesn't verify is renamed to `quarantined-…` and kept. Steps that two attempts died from are passed over.
        """
        for name in self._ranks.from_first(self._storage.committed()):
            step = manifests.step_of(name)
            if step in self._context.skip:
                self._report("note", text=f"{name} is passed over: two attempts died from it without progress")
                continue
            begun = time.perf_counter()
            try:
                restored, fault = self._read(name, begun), None
            except Damaged as error:
                restored, fault = None, str(error)
            if self._ranks.any(fault is not None):
                if self._ranks.rank == 0:
                    reason = fault or "another rank's part is damaged"
                    self._storage.set_aside(name, "quarantined")
                    self._report("quarantine", folder=name, reason=reason)
                self._ranks.barrier()
                continue
            if restored is not None:
                self.durable_step, self.durable_at = step, time.monotonic()
                return restored
        return None

    def _read(self, name: str, begun: float) -> Restored:
        manifest = self._manifest(name)
        for what, found, wanted in (
            ("run", manifest.run_id, self._context.run_id),
            ("window", manifest.window, self._context.window),
            ("step", manifests.folder_name(manifest.step), name),
        ):
            if found != wanted:
                raise Damaged(f"its manifest names {what} {found!r}, not {wanted!r}")
        return read(self._storage, name, manifest, self._ranks.rank, begun)


def read(storage: Storage, name: str, manifest: Manifest, rank: int, begun: float) -> Restored:
    """Read and verify one rank's part of a checkpoint; a rank that it doesn't have takes rank 0's.

    Raises:
        Damaged: a file is missing, or its length or hash is another than the manifest's.
    """
    part = rank if rank < manifest.world else 0
    tensor_file, state_file = manifests.tensor_file(part), manifests.state_file(part)
    try:
        buffer = _read_verified(storage, name, tensor_file, manifest.files[tensor_file])
        tree = _read_verified(storage, name, state_file, manifest.files[state_file])
        slots = [slot for _, slot in manifest.tensors[tensor_file]]
        state = decode(json.loads(bytes(memory(tree))), buffer, slots)
    except (KeyError, ValueError, IndexError, RuntimeError) as error:
        raise Damaged(f"its manifest and files don't fit: {error!r}") from error
    return Restored(name, manifest, state, time.perf_counter() - begun)


def _read_verified(storage: Storage, name: str, file: str, facts: FileFacts) -> torch.Tensor:
    buffer = torch.empty(facts.bytes, dtype=torch.uint8)
    view, digest, filled = memory(buffer), hashlib.sha256(), 0
    try:
        with storage.open(name, file) as stream:
            while filled < facts.bytes:
                count = stream.readinto(view[filled : filled + CHUNK])  # type: ignore[attr-defined]
                if not count:
                    break
                digest.update(view[filled : filled + count])
                filled += count
            longer = bool(stream.read(1))
    except FileNotFoundError as error:
        raise Damaged(f"{file} is missing") from error
    if filled != facts.bytes or longer:
        raise Damaged(f"{file} has {'more than ' if longer else ''}{filled} bytes, not {facts.bytes}")
    if digest.hexdigest() != facts.sha256:
        raise Damaged(f"{file} has another SHA-256 than its manifest says")
    return buffer


def _whole(snapshot: Snapshot) -> memoryview:
    return memory(snapshot.buffer)[: snapshot.size]


def _part(rank: int) -> str:
    return f"part-{rank:05d}.json"


def _poll(look: Callable[[], Any], timeout: float = 600.0) -> Any:
    for pause in _pauses(timeout):
        found = look()
        if found is not None:
            return found
        time.sleep(pause)
    return None


def _pauses(timeout: float) -> Iterator[float]:
    end, pause = time.monotonic() + timeout, 0.01
    while time.monotonic() < end:
        yield pause
        pause = min(pause * 1.5, 0.5)
