"""The record of a lot on one machine: append-only JSON lines, each with the SHA-256 of the line before.

Writers take a lock for each line, so that `record` or `decide` may write beside a running launcher. What matters is
fsynced at once, measurements in batches. A last line that a crash tore off is set aside and recorded; any other damage
is reported with its line. Reading needs nothing but this file: the closeout uses it on another machine.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import hashlib
import json
import math
import os
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from campc_harness import clock

EVENTS = frozenset(
    "launch preflight rehearsal start resume checkpoint metric watch stop interrupted deadline crash hang done gate "
    "decide skip expense window note pack copy shutdown released".split()
)
FIRST_PREV = "0" * 64
_MEASUREMENTS = frozenset(("metric", "watch"))
_BEYOND = 1 << 1000
_FSYNC_EVERY_S = 2.0
_RESERVE = 1 << 20
# A damaged line may hold anything: brackets nested without end, a number beyond every limit.
_NOT_A_RECORD = (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError)
_HEAD = ("seq", "time", "mono", "lot", "machine", "run_id", "window", "attempt", "event", "step", "reason", "prev")


@dataclass(frozen=True)
class Record:
    """One line. `time` is Unix time, `mono` seconds of the clock that runs on through sleep; `more` is all the rest."""

    seq: int
    time: float
    event: str
    mono: float | None = None
    lot: str | None = None
    machine: str | None = None
    run_id: str | None = None
    window: str | None = None
    attempt: int | None = None
    step: int | None = None
    reason: str | None = None
    more: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Damage:
    """What is wrong with one line (counted from 1) of a ledger."""

    line: int
    text: str


@dataclass(frozen=True)
class Reading:
    """A ledger as it was read: what could be read of it, what is damaged, and whether its last line is torn."""

    records: tuple[Record, ...] = ()
    damage: tuple[Damage, ...] = ()
    torn: bool = False


def read(path: Path) -> Reading:
    """Read a ledger and verify its chain. A file that isn't there is an empty ledger."""
    try:
        raw = path.read_bytes()
    except FileNotFoundError:
        return Reading()
    lines = raw.split(b"\n")
    torn = bool(lines.pop())
    records: list[Record] = []
    damage: list[Damage] = []
    prev, seq = FIRST_PREV, 0
    for number, line in enumerate(lines, 1):
        try:
            tree = json.loads(line)
            record = _record(tree)
        except _NOT_A_RECORD:
            damage.append(Damage(number, "is not a record"))
        else:
            if tree.get("prev") != prev:
                damage.append(Damage(number, "does not follow from the line before it: one of the two was changed"))
            elif record.seq != seq + 1:
                damage.append(Damage(number, f"has number {record.seq} where {seq + 1} was due: lines are missing"))
            seq = record.seq
            records.append(record)
        prev = hashlib.sha256(line).hexdigest()
    return Reading(tuple(records), tuple(damage), torn)


def parse_line(line: bytes) -> Record | None:
    """The record on one line; None where there is none."""
    try:
        return _record(json.loads(line))
    except _NOT_A_RECORD:
        return None


def numbers(values: Any) -> dict[str, float]:
    """Measurements as they were recorded, with `nan`, `inf` and `-inf` as floats again."""
    if not isinstance(values, Mapping):
        return {}
    return {
        str(key): float(value)
        for key, value in values.items()
        if (isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < _BEYOND)
        or (isinstance(value, float) or value in ("nan", "inf", "-inf"))
    }


class Ledger:
    """Appends to the ledger of a lot.

    Args:
        path: the file; its folder is made.
        lot: written into each line.
        machine: a name of this machine.
        clean: what every text passes through before it is written (secrets are taken out there).
    """

    def __init__(self, path: Path, lot: str, machine: str, clean: Callable[[str], str] | None = None) -> None:
        self.path = path
        self.lot = lot
        self.machine = machine
        self._clean = clean or (lambda text: text)
        path.parent.mkdir(parents=True, exist_ok=True)
        self._handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
        self._size, self._prev, self._seq = -1, FIRST_PREV, 0
        self._synced = time.monotonic()
        self._reserve = path.with_name(f"{path.name}.reserve")
        self.lost = 0
        self._listeners: list[Callable[[Record], None]] = []

    def listen(self, listener: Callable[[Record], None]) -> None:
        """Call `listener` with each record after it is written."""
        self._listeners.append(listener)

    def append(self, event: str, **fields: Any) -> Record:
        """Write one line; durable on return unless `event` is a measurement, of which a full disk may lose some.

        Raises:
            ValueError: `event` isn't one that the ledger knows.
            OSError: it can't be written.
        """
        if event not in EVENTS:
            raise ValueError(f"the ledger has no event {event!r}")
        fcntl.flock(self._handle, fcntl.LOCK_EX)
        try:
            torn = self._catch_up()
            if torn:
                self._write(
                    "note", {"reason": "torn last line", "text": f"{torn} bytes of an unfinished line were set aside"}
                )
            try:
                record = self._write(event, fields)
            except OSError:
                if event not in _MEASUREMENTS:
                    raise
                self.lost += 1
                return Record(self._seq, 0.0, event)
            self._sync(at_once=event not in _MEASUREMENTS)
        finally:
            fcntl.flock(self._handle, fcntl.LOCK_UN)
        for listener in self._listeners:
            listener(record)
        return record

    def keep_reserve(self) -> None:
        """Set room aside, so that on a full disk what matters can still be written for a long time."""
        if not self._reserve.exists():
            with contextlib.suppress(OSError, AttributeError), open(self._reserve, "wb") as stream:
                os.posix_fallocate(stream.fileno(), 0, _RESERVE)

    def sync(self) -> None:
        """Make everything that was written durable."""
        self._sync(at_once=True)

    def close(self) -> None:
        """Make everything durable and close the file."""
        self.sync()
        os.close(self._handle)

    def _write(self, event: str, fields: Mapping[str, Any]) -> Record:
        now = clock.read()
        tree: dict[str, Any] = {"seq": self._seq + 1, "time": round(now.wall, 3), "mono": round(now.mono, 3)}
        tree.update(lot=self.lot, machine=self.machine, run_id=None, window=None, attempt=None)
        tree.update(event=event, step=None, reason=None)
        tree.update({key: self._plain(value) for key, value in fields.items()})
        tree["prev"] = self._prev
        line = json.dumps(tree, ensure_ascii=False, allow_nan=False).encode("utf-8", "surrogatepass")
        self._put(line + b"\n", event not in _MEASUREMENTS)
        self._size += len(line) + 1
        self._prev, self._seq = hashlib.sha256(line).hexdigest(), self._seq + 1
        return _record(tree)

    def _put(self, data: bytes, weighty: bool) -> None:
        """Write `data` whole or not at all; on a full disk the reserve is given up for what is `weighty`."""
        for last in (False, True):
            try:
                view = memoryview(data)
                while view:
                    view = view[os.write(self._handle, view) :]
                return
            except OSError as error:
                os.ftruncate(self._handle, self._size)
                full = error.errno in (errno.ENOSPC, errno.EDQUOT)
                if last or not weighty or not full or not self._reserve.exists():
                    raise
                self._reserve.unlink()

    def _plain(self, value: Any) -> Any:
        if isinstance(value, str):
            return self._clean(value).encode("utf-8", "replace").decode("utf-8")
        if isinstance(value, float) and not math.isfinite(value):
            return str(value)
        if isinstance(value, Mapping):
            return {self._plain(str(key)): self._plain(item) for key, item in value.items()}
        if isinstance(value, (list, tuple)):
            return [self._plain(item) for item in value]
        return value

    def _catch_up(self) -> int:
        """Learn the last line's hash and number where another process wrote; cut a torn tail, and say its length."""
        size = os.fstat(self._handle).st_size
        if size == self._size:
            return 0
        tail, torn = b"", 0
        for line, finished in _lines_backwards(self._handle, size):
            if finished:
                tail = line
                break
            torn = len(line)
        if torn:
            aside = self.path.with_name(f"{self.path.name}.torn-{size}")
            aside.write_bytes(os.pread(self._handle, torn, size - torn))
            os.ftruncate(self._handle, size - torn)
        self._size = size - torn
        self._prev = hashlib.sha256(tail).hexdigest() if tail else FIRST_PREV
        try:
            self._seq = int(json.loads(tail)["seq"]) if tail else 0
        except (ValueError, KeyError, TypeError):
            self._seq = _count_lines(self._handle, self._size)
        return torn

    def _sync(self, at_once: bool) -> None:
        now = time.monotonic()
        if at_once or now - self._synced > _FSYNC_EVERY_S:
            os.fsync(self._handle)
            self._synced = now


def _record(tree: Mapping[str, Any]) -> Record:
    more = {key: value for key, value in tree.items() if key not in _HEAD}
    head = {key: tree.get(key) for key in _HEAD if key != "prev"}
    head.update(seq=int(tree["seq"]), time=float(tree["time"]), event=str(tree["event"]))
    return Record(**head, more=more)  # type: ignore[arg-type]


def _lines_backwards(handle: int, size: int) -> Iterator[tuple[bytes, bool]]:
    """The file's last lines, newest first, each with whether it was finished by a newline."""
    end, data = size, b""
    finished = size > 0 and os.pread(handle, 1, size - 1) == b"\n"
    if finished:
        end -= 1
    while end > 0:
        start = max(0, end - 65536)
        data = os.pread(handle, end - start, start) + data
        end = start
        while (cut := data.rfind(b"\n")) >= 0:
            yield data[cut + 1 :], finished
            data, finished = data[:cut], True
    if data:
        yield data, finished


def _count_lines(handle: int, size: int) -> int:
    total, place = 0, 0
    while place < size:
        block = os.pread(handle, min(1 << 20, size - place), place)
        total += block.count(b"\n")
        place += len(block)
    return total
