"""Where checkpoints live: a small protocol, and the local file system's form of it."""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO, Protocol

from campc_harness import manifest
from campc_harness.errors import NoRoom, Superseded
from campc_harness.mounts import file_system, needs_reading_back


class Storage(Protocol):
    """What the checkpoint engine needs of a place. Names are those of checkpoint folders.

    Faults of the place are `OSError`, a full one is `NoRoom`, a newer claim is `Superseded`.
    """

    unread: bool
    """Set where something was written and can't be read back, so that it isn't verified; who asked sets it back."""

    @property
    def patience_s(self) -> float:
        """How long a failing write is tried again, in seconds."""

    @property
    def distant(self) -> bool:
        """Whether it lies behind a network, so that a fault of it passes by itself."""

    def prefix(self) -> str:
        """Where, below a checkpoint's folder, this attempt's data files lie; the manifest names it."""

    def claim(self) -> int:
        """Claim the run for this attempt: a number higher than any before. Older claimants can commit no more."""

    def sees(self, claim: int) -> bool:
        """Whether a claim that rank 0 made can be seen from here, or a newer one."""

    def join(self, claim: int) -> None:
        """Take part in the attempt that rank 0 claimed."""

    def committed(self) -> list[str]:
        """Names of committed checkpoints, newest first, by number."""

    def write(self, step: int, name: str, produce: Callable[[Callable[[memoryview], None]], None]) -> None:
        """Write one file of an uncommitted checkpoint durably: `produce` is called with a function that takes chunks."""

    def pending(self, step: int, name: str) -> bytes | None:
        """Content of a small file of an uncommitted checkpoint, or None while it isn't there."""

    def commit(self, step: int, content: bytes, drop: list[str]) -> str:
        """Commit with the manifest `content`, without the files `drop`; returns the checkpoint's name."""

    def open(self, name: str, file: str) -> BinaryIO:
        """A file of a committed checkpoint, for reading, and for seeking in it; several threads may each open it."""

    def set_aside(self, name: str, why: str) -> None:
        """Rename a checkpoint so that it no longer counts; its bytes are kept."""

    def delete(self, name: str) -> None:
        """Remove a committed checkpoint."""

    def abandon(self, step: int) -> None:
        """Remove what an uncommitted checkpoint has written."""

    def parts(self) -> list[str]:
        """Names of the committed parts of `items`, oldest first."""

    def read_part(self, name: str) -> bytes:
        """Content of a part."""

    def write_part(self, name: str, content: bytes) -> None:
        """Commit a part under a name of this attempt's own."""

    def free_bytes(self) -> int | None:
        """Room that is left, or None where that can't be known."""


def open_storage(place: str) -> Storage:
    """Storage for an absolute folder, a `file://` URL, or any other URL that fsspec knows."""
    if "://" in place and not place.startswith("file://"):
        from campc_harness.remote import RemoteStorage

        return RemoteStorage(place)
    return LocalStorage(place.removeprefix("file://"))


class LocalStorage:
    """Checkpoints in a folder of a file system.

    An attempt writes below `.inflight-CLAIM/` and commits by renaming from there. Whoever claims the run renames all older
    `.inflight-…` folders, so that a superseded attempt's rename has nothing to start from, whenever it wakes up.

    Args:
        root: the folder. Nothing is made or changed in it before `claim`.
    """

    patience_s = 8.0

    def __init__(self, root: str | os.PathLike[str]) -> None:
        self.root = Path(root)
        self._claim = 0
        self._reads_back: bool | None = None
        self.unread = False

    @property
    def distant(self) -> bool:
        return self._must_read_back()

    def prefix(self) -> str:
        return ""

    def claim(self) -> int:
        with _full(self.root):
            return self._claim_next()

    def _claim_next(self) -> int:
        self.root.mkdir(parents=True, exist_ok=True)
        while True:
            number = 1 + max(self._claims(), default=0)
            try:
                (self.root / f".claim-{number:06d}").touch(exist_ok=False)
            except FileExistsError:
                continue
            # Older claims are removed, so a number may be free again for someone who listed them long ago.
            if max(self._claims()) == number:
                break
        self._fence(number)
        self.join(number)
        return number

    def sees(self, claim: int) -> bool:
        try:
            return max(self._claims(), default=0) >= claim
        except FileNotFoundError:
            return False

    def join(self, claim: int) -> None:
        self._claim = claim
        self._inflight().mkdir(parents=True, exist_ok=True)

    def committed(self) -> list[str]:
        try:
            names = [entry.name for entry in os.scandir(self.root) if entry.is_dir()]
        except FileNotFoundError:
            return []
        steps = [(step, name) for name in names if (step := manifest.step_of(name)) is not None]
        return [name for _, name in sorted(steps, reverse=True)]

    def write(self, step: int, name: str, produce: Callable[[Callable[[memoryview], None]], None]) -> None:
        folder = self._inflight() / manifest.folder_name(step)
        with _full(folder), self._fenced():
            folder.mkdir(exist_ok=True)
            handle = os.open(folder / f"{name}.part", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
            digest = hashlib.sha256() if self._must_read_back() else None
            try:
                produce(lambda chunk: _write_all(handle, chunk, digest))
                os.fsync(handle)
            finally:
                os.close(handle)
            if digest is not None:
                self._read_back(folder / f"{name}.part", digest.hexdigest())
            os.rename(folder / f"{name}.part", folder / name)

    def pending(self, step: int, name: str) -> bytes | None:
        try:
            return (self._inflight() / manifest.folder_name(step) / name).read_bytes()
        except FileNotFoundError:
            if not self._inflight().exists():
                raise Superseded("a newer attempt has claimed this run") from None
            return None

    def commit(self, step: int, content: bytes, drop: list[str]) -> str:
        name = manifest.folder_name(step)
        folder = self._inflight() / name
        self.write(step, manifest.NAME, lambda put: put(memoryview(content)))
        for file in drop:
            (folder / file).unlink(missing_ok=True)
        _sync(folder)
        target = self.root / name
        with self._fenced():
            while True:
                try:
                    # rename() replaces an empty folder only, so a committed one is never overwritten
                    os.rename(folder, target)
                    break
                except OSError as error:
                    if error.errno not in (errno.ENOTEMPTY, errno.EEXIST) or not self._inflight().exists():
                        raise
                    self.set_aside(name, "superseded")
        _sync(self.root)
        return name

    def open(self, name: str, file: str) -> BinaryIO:
        return open(self.root / name / file, "rb", buffering=0)

    def set_aside(self, name: str, why: str) -> None:
        number = 1
        while (target := self.root / f"{why}-{name}-{number}").exists():
            number += 1
        # By way of the attempt's own folder: a superseded attempt has none, and so moves nothing.
        held = self._inflight() / target.name
        with self._fenced():
            os.rename(self.root / name, held)
            os.rename(held, target)
        _sync(self.root)

    def delete(self, name: str) -> None:
        # Through a rename: a reader sees a whole checkpoint or none. The rename also fails for a superseded attempt.
        trash = self._inflight() / f"trash-{name}-{time.monotonic_ns()}"
        with _full(self.root), self._fenced():  # where files are never overwritten, a name may want room, too
            os.rename(self.root / name, trash)
        shutil.rmtree(trash, ignore_errors=True)

    def abandon(self, step: int) -> None:
        shutil.rmtree(self._inflight() / manifest.folder_name(step), ignore_errors=True)

    def parts(self) -> list[str]:
        try:
            return sorted(entry.name for entry in os.scandir(self.root / "items"))
        except FileNotFoundError:
            return []

    def read_part(self, name: str) -> bytes:
        return (self.root / "items" / name).read_bytes()

    def write_part(self, name: str, content: bytes) -> None:
        folder = self.root / "items"
        held = self._inflight() / f"part-{name}"
        with _full(folder), self._fenced():
            folder.mkdir(exist_ok=True)
            handle = os.open(held, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
            try:
                _write_all(handle, memoryview(content), None)
                os.fsync(handle)
            finally:
                os.close(handle)
            os.rename(held, folder / f"{self._claim:06d}-{name}")
        _sync(folder)

    def free_bytes(self) -> int | None:
        try:
            status = os.statvfs(self.root)
        except OSError:
            return None
        return status.f_bavail * status.f_frsize

    def _read_back(self, path: Path, wanted: str) -> None:
        try:
            found = _hash(path)
        except FileNotFoundError:
            raise
        except OSError:
            self.unread = True
            return
        if found != wanted:
            raise OSError(errno.EIO, f"{path.stem} reads back differently than it was written")

    def _must_read_back(self) -> bool:
        if self._reads_back is None:
            self._reads_back = needs_reading_back(file_system(self.root))
        return self._reads_back

    def _inflight(self) -> Path:
        return self.root / f".inflight-{self._claim:06d}"

    def _claims(self) -> list[int]:
        return [number for entry in os.scandir(self.root) if (number := _number(entry.name, ".claim-")) is not None]

    def _fence(self, number: int) -> None:
        for entry in list(os.scandir(self.root)):
            older = _number(entry.name, ".inflight-")
            if older is not None and older < number:
                fenced = self.root / f".fenced-{entry.name[10:]}-{number:06d}"
                try:
                    os.rename(entry.path, fenced)
                except FileNotFoundError:
                    continue
                shutil.rmtree(fenced, ignore_errors=True)
        for entry in list(os.scandir(self.root)):
            older = _number(entry.name, ".claim-")
            if older is not None and older < number:
                Path(entry.path).unlink(missing_ok=True)
            elif entry.name.startswith(".fenced-"):
                shutil.rmtree(entry.path, ignore_errors=True)

    def _require_claim(self) -> None:
        if not self._inflight().exists():
            raise Superseded("a newer attempt has claimed this run")

    def _fenced(self) -> _Fenced:
        return _Fenced(self)


class _Fenced:
    """Turns "no such folder" into `Superseded` where the attempt's own folder was taken away."""

    def __init__(self, storage: LocalStorage) -> None:
        self._storage = storage

    def __enter__(self) -> None:
        self._storage._require_claim()

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, FileNotFoundError):
            self._storage._require_claim()


class _full:
    """Turns a full disk or quota into `NoRoom`."""

    def __init__(self, place: Path) -> None:
        self._place = place

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise NoRoom(f"no room left for checkpoints ({os.strerror(error.errno)})") from error


def _number(name: str, prefix: str) -> int | None:
    """The number behind `prefix`, or None where the name is another's: of a synchroniser's conflicting copy, say."""
    digits = name.removeprefix(prefix)
    return int(digits) if digits != name and digits.isascii() and digits.isdigit() else None


def _write_all(handle: int, chunk: memoryview, digest: Any) -> None:
    if digest is not None:
        digest.update(chunk)
    while chunk:
        chunk = chunk[os.write(handle, chunk) :]


def _hash(path: Path) -> str:
    digest = hashlib.sha256()
    with open(path, "rb", buffering=0) as stream:
        os.posix_fadvise(stream.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)  # from the server, not from memory
        while block := stream.read(8 * 2**20):
            digest.update(block)
    return digest.hexdigest()


def _sync(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
