"""The checkpoint engine: one background writer, and commit by manifest."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import torch

from campc_harness import manifest as manifests
from campc_harness.context import Context
from campc_harness.errors import Misconfigured, NoRoom, Superseded
from campc_harness.manifest import FileFacts, Manifest
from campc_harness.memory import Buffers
from campc_harness.mounts import survives
from campc_harness.ranks import Ranks
from campc_harness.restore import NOWHERE, Report, Restored, read, restore
from campc_harness.retention import Retention
from campc_harness.state import Snapshot
from campc_harness.storage import Storage
from campc_harness.verified import hash_while_writing

# Trying again doesn't help against these.
REFUSED = frozenset({errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR, errno.EISDIR, errno.ENAMETOOLONG})

# A network disk may remember for a while that something wasn't there.
_SEEN_S = 60.0
_FULL = -1


class Checkpoints:
    """Saves and restores one rank's part of the run's checkpoints.

    Args:
        storage: where they live.
        context: whose they are.
        ranks: those who save together.
        report: called with an event's name and fields.
    """

    def __init__(self, storage: Storage, context: Context, ranks: Ranks, report: Report) -> None:
        self.storage = storage
        self._context = context
        self._ranks = ranks
        self._report = report
        self._retention = Retention(storage, context.policy)
        # Several ranks agree on whether they have any, after the first step.
        self.buffers = Buffers(pinned=torch.cuda.is_available(), always=ranks.world > 1)
        self._wake = threading.Condition()
        self._job: Snapshot | None = None
        self._busy = False
        self._failure: BaseException | None = None
        self._thread: threading.Thread | None = None
        self.durable_step: int | None = None
        self.counted_at: float | None = None
        # Where checkpoints are to outlive the machine, one that doesn't is no recovery point.
        self._counts = not context.policy.outside or survives(context.checkpoints)
        self.write_s = 0.0
        self._said_unread = False

    def claim(self) -> None:
        """Claim the run for this attempt; older ones can commit nothing from here on.

        Raises:
            Misconfigured: the ranks, on several machines, see different places.
        """
        number, fault = 0, None
        if self._ranks.rank == 0:
            try:
                number = self._claim()
            except (OSError, NoRoom, Superseded) as error:
                fault = error
        number, code, text = self._ranks.from_first([number, _code(fault), str(fault)])
        if code:
            raise fault or (NoRoom(text) if code == _FULL else OSError(code, text))
        apart = self._ranks.rank != 0 and not _poll(lambda: self._sees(number) or None, _SEEN_S)
        if self._ranks.any(apart):
            raise Misconfigured(
                f"what rank 0 writes to {self._context.checkpoints} can't be seen by every other rank, so no checkpoint "
                "could be whole: let `to` be a folder on a disk that all machines of the lot share, or a URL"
            )
        if self._ranks.rank != 0:
            self.storage.join(number)

    def _sees(self, claim: int) -> bool:
        try:
            return self.storage.sees(claim)
        except OSError:  # looked again after a pause
            return False

    def _claim(self) -> int:
        return int(self._patiently(self.storage.claim, "the place of the checkpoints"))

    def write_part(self, name: str, content: bytes) -> None:
        """Commit one part of the rows of `items`; returns when it is durable."""
        self._patiently(lambda: self.storage.write_part(name, content), f"part {name}")

    def _patiently(self, act: Callable[[], Any], what: str) -> Any:
        pauses = wait_and_retry(self.storage.patience_s)
        while True:
            try:
                return act()
            except OSError as error:
                pause = next(pauses, None)
                if pause is None or error.errno in REFUSED or isinstance(error, PermissionError):
                    raise
                self._report("note", text=f"{what}: {error}; trying again in {pause:g} s")
                time.sleep(pause)

    def restore(self, into: Mapping[str, torch.Tensor] = NOWHERE) -> Restored | None:
        """The newest committed checkpoint that verifies, or None where there is none; see `restore.restore`."""
        restored = restore(self.storage, self._context, self._ranks, self._report, into)
        if restored is not None:
            self._durable(restored.manifest.step)
        return restored

    def read_part(self, restored: Restored, rank: int) -> dict[str, Any]:
        """The state of another rank's part of a restored checkpoint, verified."""
        return dict(read(self.storage, restored.name, restored.manifest, rank, 0.0).state)

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
        _yield_to_training()
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
                    self.storage.abandon(snapshot.step)
            finally:
                if snapshot.buffer is not None:
                    self.buffers.give(snapshot.buffer)
                with self._wake:
                    self._busy = False
                    self._wake.notify_all()

    def _persist(self, snapshot: Snapshot) -> None:
        begun = time.perf_counter()
        self.storage.unread = False
        self._patiently(lambda: self._write_in_room(snapshot), f"checkpoint of step {snapshot.step}")
        verified = not self.storage.unread
        if verified:
            self._durable(snapshot.step)
        elif not self._said_unread:
            self._said_unread = True
            text = f"{self._context.checkpoints} can't be read back: what is written there counts as no recovery point"
            self._report("note", text=text)
        self.write_s = time.perf_counter() - begun
        self._report(
            "checkpoint",
            step=snapshot.step,
            bytes=snapshot.size + len(snapshot.tree),
            stage_s=round(snapshot.stage_s, 6),
            write_s=round(self.write_s, 6),
            verified=verified,
            **({"outside": self._counts and verified} if self._context.policy.outside else {}),
        )
        if self._ranks.rank == 0:
            try:
                self._retention.prune(self._context.policy.keep, self.durable_step)
            except (OSError, NoRoom) as error:  # what was saved is durable; the next time has more to remove
                self._report("note", text=f"older checkpoints are not removed yet: {error}")

    def _durable(self, step: int) -> None:
        self.durable_step = step
        if self._counts:
            self.counted_at = time.monotonic()

    def _write_in_room(self, snapshot: Snapshot) -> None:
        while True:
            try:
                self._retention.make_room(snapshot.size + len(snapshot.tree), self.durable_step)
                self._write(snapshot)
                return
            except NoRoom:
                if self._ranks.rank != 0 or not self._retention.prune(1, self.durable_step):
                    raise

    def _write(self, snapshot: Snapshot) -> None:
        rank, step, storage = self._ranks.rank, snapshot.step, self.storage
        files = {
            manifests.tensor_file(rank): self._put(step, manifests.tensor_file(rank), snapshot.content()),
            manifests.state_file(rank): self._put(step, manifests.state_file(rank), memoryview(snapshot.tree)),
        }
        entries = list(zip(snapshot.names, snapshot.slots, strict=True))
        if self._ranks.world == 1:
            parts = {0: (files, entries)}
        else:
            part = {
                "files": {name: file.describe() for name, file in files.items()},
                "tensors": manifests.describe(entries),
                "unread": storage.unread,
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
            facts={**snapshot.facts, "prefix": storage.prefix()},
        )
        storage.commit(step, whole.encode(), [_part(rank) for rank in parts] if self._ranks.world > 1 else [])

    def _put(self, step: int, name: str, content: memoryview | Iterable[memoryview]) -> FileFacts:
        facts: list[FileFacts] = []

        def produce(put: Callable[[memoryview], None]) -> None:
            facts.append(hash_while_writing(content, put, _yield_to_training))

        self.storage.write(step, name, produce)
        return facts[-1]

    def _gather(self, step: int) -> dict[int, tuple[dict[str, FileFacts], list[tuple[str, Any]]]]:
        parts = {}
        for rank in range(self._ranks.world):
            raw = _poll(lambda rank=rank: self.storage.pending(step, _part(rank)))  # type: ignore[misc]
            if raw is None:
                raise RuntimeError(f"rank {rank} did not write its part of step {step}")
            part = json.loads(raw)
            self.storage.unread = self.storage.unread or bool(part["unread"])
            files = {name: manifests.facts_of(facts) for name, facts in part["files"].items()}
            parts[rank] = (files, manifests.entries_of(part["tensors"]))
        return parts

    def _await_commit(self, step: int) -> None:
        name = manifests.folder_name(step)
        if not _poll(lambda: name in self.storage.committed() or None):
            raise RuntimeError(f"rank 0 did not commit step {step}")


def _yield_to_training() -> None:
    # On Linux a thread has a priority of its own: training goes first where both want a core.
    with contextlib.suppress(OSError, AttributeError):
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), 5)


def _code(fault: Exception | None) -> int:
    """What to tell other ranks of a claim's failure, so that all end alike: an errno, `_FULL`, or 0 for none."""
    if fault is None:
        return 0
    if isinstance(fault, NoRoom):
        return _FULL
    refused = isinstance(fault, (PermissionError, Superseded))
    return errno.EACCES if refused else getattr(fault, "errno", None) or errno.EIO


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


def wait_and_retry(patience_s: float) -> Iterator[float]:
    """Pauses in seconds between tries, growing, until `patience_s` is over."""
    end, pause = time.monotonic() + patience_s, 0.5
    while time.monotonic() + pause < end:
        yield pause
        pause = min(pause * 2, 15.0)
