"""Hashing a checkpoint's files chunk by chunk: several threads each, when writing and when reading."""

from __future__ import annotations

import collections
import concurrent.futures
import contextlib
import hashlib
import os
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import BinaryIO

from campc_harness import manifest as manifests
from campc_harness.errors import Damaged
from campc_harness.manifest import FileFacts
from campc_harness.memory import PIECE, workers
from campc_harness.pages import Fresh
from campc_harness.storage import Storage

# What is read at once, and then hashed while it is in the processor's cache; a large page of memory, too.
BLOCK = 2 * 2**20
READERS = 8
HASHERS = 4
TOUCHED = Fresh()
NO_FILE = (FileNotFoundError, IsADirectoryError, NotADirectoryError)

Put = Callable[[memoryview], None]


def hash_while_writing(
    content: memoryview | Iterable[memoryview], put: Put, begin: Callable[[], None] = lambda: None
) -> FileFacts:
    """Give all of `content` to `put`, a few MiB at a time, and hash it meanwhile; both let go of the interpreter.

    Args:
        content: memory that nobody changes meanwhile, or pieces, each of which is valid until the next one is asked for.
        put: writes a piece.
        begin: called first in each thread that hashes.
    """
    threads = workers(HASHERS + 1) - 1 if isinstance(content, memoryview) else 1
    with concurrent.futures.ThreadPoolExecutor(max(1, threads), "campc-hash", begin) as hashers:
        try:
            if isinstance(content, memoryview):
                return _whole(content, put, hashers)
            return _piecewise(content, put, hashers)
        except BaseException:
            hashers.shutdown(wait=False, cancel_futures=True)
            raise


def _whole(content: memoryview, put: Put, hashers: concurrent.futures.Executor) -> FileFacts:
    chunk = manifests.CHUNK
    starts = range(0, max(len(content), 1), chunk)
    digests = [hashers.submit(_digest, content[start : start + chunk]) for start in starts]
    for start in range(0, len(content), PIECE):
        put(content[start : start + PIECE])
    return FileFacts(len(content), tuple(digest.result() for digest in digests), chunk)


def _piecewise(content: Iterable[memoryview], put: Put, hashers: concurrent.futures.Executor) -> FileFacts:
    running = _Running(manifests.CHUNK)
    for piece in content:
        hashed = hashers.submit(running.update, piece)
        put(piece)
        hashed.result()
    return running.facts()


def _digest(content: memoryview) -> str:
    return hashlib.sha256(content).hexdigest()


class _Running:
    """Hashes of chunks of what comes in pieces of any length."""

    def __init__(self, chunk_bytes: int) -> None:
        self._chunk_bytes = chunk_bytes
        self._size = 0
        self._open = hashlib.sha256()
        self._digests: list[str] = []

    def update(self, piece: memoryview) -> None:
        while piece:
            if self._size and self._size % self._chunk_bytes == 0:
                self._digests.append(self._open.hexdigest())
                self._open = hashlib.sha256()
            fits = piece[: self._chunk_bytes - self._size % self._chunk_bytes]
            self._open.update(fits)
            self._size += len(fits)
            piece = piece[len(fits) :]

    def facts(self) -> FileFacts:
        return FileFacts(self._size, (*self._digests, self._open.hexdigest()), self._chunk_bytes)


@dataclass(frozen=True)
class _Chunk:
    """Bytes of a file from `start` on, the memory that they go to, and their SHA-256."""

    start: int
    targets: Sequence[memoryview]
    digest: str


def read_verified(
    storage: Storage,
    name: str,
    file: str,
    facts: FileFacts,
    pieces: Sequence[tuple[int, memoryview]],
    fresh: Fresh = TOUCHED,
) -> None:
    """Read a file into `pieces` (offset, memory), ascending, and verify every byte; gaps are hashed and dropped.

    Args:
        fresh: which of that memory nobody has touched yet.

    Raises:
        Damaged: the file is missing, or its length or a hash is another than the manifest's.
        ValueError: the pieces overlap, or lie outside the file.
    """
    chunks = _chunks(pieces, facts)
    count = min(workers(READERS), len(chunks))
    share = -(-len(chunks) // count)
    shares = [collections.deque(chunks[at : at + share]) for at in range(0, len(chunks), share)]
    reader = _Reader(storage, name, file, facts, shares, fresh)
    if len(shares) == 1:
        reader.run(shares[0])
        return
    with concurrent.futures.ThreadPoolExecutor(len(shares), "campc-read") as pool:
        try:
            for done in [pool.submit(reader.run, mine) for mine in shares]:
                done.result()
        finally:
            reader.stop.set()  # after a fault, or a signal in this thread, the others are not waited for


class _Reader:
    """Reads and verifies chunks until none is left; runs in several threads at once.

    Each has a share of its own, in a row, since what lies ahead may be fetched already; one that is done takes from the
    end of the longest other.
    """

    def __init__(
        self,
        storage: Storage,
        name: str,
        file: str,
        facts: FileFacts,
        shares: Sequence[collections.deque[_Chunk]],
        fresh: Fresh,
    ) -> None:
        self._storage = storage
        self._place = (name, file)
        self._facts = facts
        self._shares = shares
        self._fresh = fresh
        self.stop = threading.Event()

    def run(self, mine: collections.deque[_Chunk]) -> None:
        file = self._place[1]
        try:
            with self._storage.open(*self._place) as stream:
                size = stream.seek(0, os.SEEK_END)
                if size != self._facts.bytes:
                    raise Damaged(f"{file} has {size} bytes, not {self._facts.bytes}")
                while not self.stop.is_set() and (chunk := self._next(mine)) is not None:
                    stream.seek(chunk.start)
                    self._verify(stream, chunk)
        except NO_FILE as error:
            raise Damaged(f"{file} is missing") from error

    def _next(self, mine: collections.deque[_Chunk]) -> _Chunk | None:
        for take in (mine.popleft, max(self._shares, key=len).pop):
            with contextlib.suppress(IndexError):
                return take()
        return None

    def _verify(self, stream: BinaryIO, chunk: _Chunk) -> None:
        digest = hashlib.sha256()
        for target in chunk.targets:
            for block in self._fresh.blocks(target, BLOCK):
                if self.stop.is_set():
                    return
                if not _fill(stream, block):
                    raise Damaged(f"{self._place[1]} ends before its {self._facts.bytes} bytes are read")
                digest.update(block)
        if digest.hexdigest() != chunk.digest:
            size = sum(map(len, chunk.targets))
            where = "" if size == self._facts.bytes else f" in its {size} bytes from {chunk.start} on"
            raise Damaged(f"{self._place[1]} has another SHA-256{where} than its manifest says")


def _chunks(pieces: Sequence[tuple[int, memoryview]], facts: FileFacts) -> list[_Chunk]:
    length = facts.chunk_bytes
    targets: list[list[memoryview]] = [[] for _ in facts.digests]
    at = 0
    for memory in _covering(pieces, facts.bytes):
        while memory:
            fits = memory[: length - at % length]
            targets[at // length].append(fits)
            at += len(fits)
            memory = memory[len(fits) :]
    return [_Chunk(i * length, targets[i], digest) for i, digest in enumerate(facts.digests)]


def _covering(pieces: Sequence[tuple[int, memoryview]], size: int) -> Iterator[memoryview]:
    """Memory for every byte of a file of `size` bytes, in order."""
    at = 0
    for offset, piece in [*pieces, (size, memoryview(b""))]:
        if offset < at or offset + len(piece) > size:
            raise ValueError("the manifest's tensors overlap, or lie outside their file")
        if offset > at:
            yield memoryview(bytearray(offset - at))
        yield piece
        at = offset + len(piece)


def _fill(stream: BinaryIO, block: memoryview) -> bool:
    while block:
        count = stream.readinto(block)  # type: ignore[attr-defined]
        if not count:
            return False
        block = block[count:]
    return True
