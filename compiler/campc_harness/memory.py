"""Tensors' bytes without NumPy, and the staging buffers that training is blocked for."""

from __future__ import annotations

import ctypes
import os
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch

from campc_harness.pages import in_large_pages

ALIGNMENT = 64
PIECE = 8 * 2**20
# What must stay free beside the first buffer: filling memory to its limit gets the process killed.
SPARE = 64 * 2**20


def memory(tensor: torch.Tensor) -> memoryview:
    """The bytes of a contiguous CPU tensor, writable, without a copy. The view doesn't keep the tensor alive."""
    size = tensor.numel() * tensor.element_size()
    if not size:
        return memoryview(bytearray())
    return memoryview((ctypes.c_char * size).from_address(tensor.data_ptr())).cast("B")


def workers(most: int) -> int:
    """How many threads this rank may keep busy: its share of the machine's cores, at most `most`, at least one."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    ranks = os.environ.get("LOCAL_WORLD_SIZE", "")
    return max(1, min(most, cores // max(1, int(ranks) if ranks.isdigit() else 1)))


@dataclass(frozen=True)
class Slot:
    """Where one tensor lies in a buffer.

    Attributes:
        offset: bytes from the start, a multiple of `ALIGNMENT`.
        bytes: its length.
        shape: of the tensor.
        dtype: torch's name of its type, without `torch.`.
    """

    offset: int
    bytes: int
    shape: tuple[int, ...]
    dtype: str

    def view(self, buffer: torch.Tensor) -> torch.Tensor:
        """This slot of `buffer` (uint8) as a tensor of its own type and shape, sharing memory."""
        kind = getattr(torch, self.dtype)
        return buffer[self.offset : self.offset + self.bytes].view(kind).view(self.shape)


def layout(tensors: Sequence[torch.Tensor]) -> tuple[list[Slot], int]:
    """Slots for `tensors`, one after another, and the length of all in bytes."""
    slots, offset = [], 0
    for tensor in tensors:
        size = tensor.numel() * tensor.element_size()
        slots.append(Slot(offset, size, tuple(tensor.shape), str(tensor.dtype).removeprefix("torch.")))
        offset += -(-size // ALIGNMENT) * ALIGNMENT
    return slots, offset


class Buffers:
    """Host memory that snapshots are copied into, allocated at the first save and used again.

    A second buffer exists where memory (of the cgroup, else of the machine) has room for it: training then goes on while
    the first is being written. With one, a save waits for the writer. Where there is no room for one either, there is none.

    Args:
        pinned: whether in page-locked memory, which a CUDA device copies to fastest.
        always: whether the first one is made whatever room there is, unless `renounce` was called.
    """

    def __init__(self, *, pinned: bool, always: bool = False) -> None:
        self._pinned = pinned
        self._always = always
        self._free: list[torch.Tensor] = []
        self._made = 0
        self._none = False
        self._changed = threading.Condition()

    def reserve(self, size: int) -> bool:
        """Make the first buffer, of `size` bytes, where there is room for it; whether there is one."""
        room = available_memory()
        if not self._made and room is not None and room < size + SPARE:
            return False
        buffer = self.take(size)
        if buffer is not None:
            self.give(buffer)
        return buffer is not None

    def renounce(self) -> None:
        """Have none from here on. None may be in use."""
        self._none = True
        self._free.clear()

    def take(self, size: int) -> torch.Tensor | None:
        """A buffer (uint8) of at least `size` bytes; waits for one where both are in use. None without room for any."""
        with self._changed:
            if self._none:
                return None
            if not self._made and not self._always:
                room = available_memory()
                if room is not None and room < size + SPARE:
                    return None
            while not self._free and self._made and not self._may_grow(size):
                self._changed.wait()
            buffer = self._free.pop() if self._free else None
            if buffer is None:
                self._made += 1
        if buffer is None or buffer.numel() < size:
            buffer = None  # let go of the old one before the new one is made
            buffer = self._allocate(size)
        return buffer

    def give(self, buffer: torch.Tensor) -> None:
        """Return a buffer that is no longer read."""
        with self._changed:
            self._free.append(buffer)
            self._changed.notify_all()

    def _may_grow(self, size: int) -> bool:
        if self._made >= 2:
            return False
        room = available_memory()
        return room is None or room > 2 * size

    def _allocate(self, size: int) -> torch.Tensor:
        buffer = self._pin(size) if self._pinned else None
        if buffer is None:
            buffer = in_large_pages(torch.empty(max(size, 1), dtype=torch.uint8))
        return buffer.fill_(0)  # touch the pages now: the first copy into fresh ones takes three times as long

    def _pin(self, size: int) -> torch.Tensor | None:
        try:
            return torch.empty(max(size, 1), dtype=torch.uint8, pin_memory=True)
        except RuntimeError:
            return None  # the driver pins only so much; a slower copy is better than none


def copy_into(buffer: torch.Tensor, tensors: Sequence[torch.Tensor], slots: Sequence[Slot]) -> None:
    """Copy `tensors` into their slots; returns when the bytes are there, also those from a CUDA device."""
    devices = set()
    with torch.no_grad():
        for tensor, slot in zip(tensors, slots, strict=True):
            if not slot.bytes:
                continue
            slot.view(buffer).copy_(tensor, non_blocking=True)
            if tensor.device.type == "cuda":
                devices.add(tensor.device)
    for device in devices:
        torch.cuda.current_stream(device).synchronize()


def pieces(tensors: Sequence[torch.Tensor], slots: Sequence[Slot], size: int) -> Iterator[memoryview]:
    """The bytes that a buffer of `size` bytes would hold, a few MiB at a time, read from the tensors themselves.

    A piece is valid until the next one is asked for.
    """
    at = 0
    for tensor, slot in zip(tensors, slots, strict=True):
        yield memoryview(bytes(slot.offset - at))
        flat = tensor.detach().resolve_conj().resolve_neg().contiguous().reshape(-1)
        count = max(1, PIECE // flat.element_size())
        for start in range(0, flat.numel(), count):
            piece = flat[start : start + count].cpu()
            yield memory(piece)
        at = slot.offset + slot.bytes
    yield memoryview(bytes(size - at))


def available_memory() -> int | None:
    """Bytes of memory that may still be taken, by the cgroup's limit and the machine's; None where neither tells."""
    answers = [answer for answer in (_cgroup(), _machine()) if answer is not None]
    return min(answers) if answers else None


def _cgroup() -> int | None:
    for limit, used in (
        ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),
        ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes"),
    ):
        try:
            return int(Path(limit).read_text()) - int(Path(used).read_text())
        except (OSError, ValueError):
            continue
    return None


def _machine() -> int | None:
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    return None
