"""Fresh memory's first touch, which costs more than what is then written there: in large pages, or many small ones at once."""

from __future__ import annotations

import bisect
import contextlib
import ctypes
import functools
import mmap
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import torch

# From this size on a tensor has memory of its own, and large pages fit into it.
LARGE = 4 * 2**20
# The processor's time that small pages for 2 MiB cost at most. A large page costs a tenth of that, unless a host has to
# find memory for it, or the system has to move other pages out of its way: then it costs several times that.
DEAR_S = 1e-3
_LARGE_PAGE = 2 * 2**20
_POPULATE_WRITE = 23  # MADV_POPULATE_WRITE of Linux 5.14, which Python 3.10 doesn't name


def in_large_pages(tensor: torch.Tensor) -> torch.Tensor:
    """Ask for large pages for a new CPU tensor that nobody has touched yet, where they are of use; returns it."""
    start, end = _range(tensor)
    advise = _madvise() if end - start >= LARGE and not _handed_back() else None
    if advise is not None:
        first, last = -(-start // mmap.PAGESIZE) * mmap.PAGESIZE, end // mmap.PAGESIZE * mmap.PAGESIZE
        advise(first, last - first, mmap.MADV_HUGEPAGE)  # where it is refused, all goes on as before
    return tensor


class Fresh:
    """New memory that is about to be filled, by several threads perhaps, each from front to back.

    Large pages are asked for until one proves dear.

    Args:
        tensors: contiguous CPU tensors that nobody has touched yet.
    """

    def __init__(self, tensors: Iterable[torch.Tensor] = ()) -> None:
        ranges = sorted((start, end) for start, end in map(_range, tensors) if end - start >= LARGE)
        self._starts = [start for start, _ in ranges]
        self._ends = [end for _, end in ranges]
        self._advise = _madvise() if ranges else None
        self._populates = self._advise is not None and _populates()
        # What can't be measured is judged by what is known of such machines.
        self._large = self._populates or not _handed_back()

    def blocks(self, target: memoryview, length: int) -> Iterator[memoryview]:
        """`target` in order, cut at addresses that `length` divides; what comes is there to be written to.

        Args:
            target: writable memory, of these tensors or any other, which is only cut.
            length: 2 MiB, or what else large pages are to be measured by.
        """
        if not target:
            return
        start = ctypes.addressof(ctypes.c_char.from_buffer(target))
        end = start + len(target)
        touch = self._touch(start, end) if self._holds(start) else None
        at = start
        while at < end:
            until = min(end, (at // length + 1) * length)
            if touch is not None:
                touch(at, until)
            yield target[at - start : until - start]
            at = until

    def _holds(self, address: int) -> bool:
        index = bisect.bisect_right(self._starts, address) - 1
        return self._advise is not None and index >= 0 and address < self._ends[index]

    def _touch(self, start: int, end: int) -> Callable[[int, int], None]:
        """Asks for large pages between two addresses; returns a function that touches a part of them."""
        advise: Any = self._advise
        first, last = -(-start // _LARGE_PAGE) * _LARGE_PAGE, end // _LARGE_PAGE * _LARGE_PAGE
        asked = self._large and first < last and not advise(first, last - first, mmap.MADV_HUGEPAGE)

        def touch(at: int, until: int) -> None:
            nonlocal asked
            if asked and not self._large:
                asked, rest = False, max(first, at // _LARGE_PAGE * _LARGE_PAGE)
                if rest < last:
                    advise(rest, last - rest, mmap.MADV_NOHUGEPAGE)
            if self._populates:
                page = at // mmap.PAGESIZE * mmap.PAGESIZE
                begun = time.thread_time()  # which doesn't count waiting for a core
                advise(page, until - page, _POPULATE_WRITE)  # where it is refused, whoever writes there touches it
                if asked and time.thread_time() - begun > DEAR_S:
                    self._large = False

        return touch


def _range(tensor: torch.Tensor) -> tuple[int, int]:
    return tensor.data_ptr(), tensor.data_ptr() + tensor.numel() * tensor.element_size()


@functools.lru_cache(maxsize=1)
def _madvise() -> Any:
    """The system's madvise(), or None where it knows no large pages."""
    if not hasattr(mmap, "MADV_HUGEPAGE"):
        return None
    function = ctypes.CDLL(None).madvise
    function.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
    return function


@functools.lru_cache(maxsize=1)
def _populates() -> bool:
    """Whether memory can be touched without being written to."""
    with contextlib.suppress(OSError), mmap.mmap(-1, mmap.PAGESIZE) as page:
        page.madvise(_POPULATE_WRITE)
        return True
    return False


@functools.lru_cache(maxsize=1)
def _handed_back() -> bool:
    """Whether this is a virtual machine that gives free large pages back to its host, who has to find memory anew for each.

    That is free page reporting, bit 5 of its balloon.
    """
    for features in Path("/sys/bus/virtio/drivers/virtio_balloon").glob("virtio*/features"):
        with contextlib.suppress(OSError):
            if features.read_text()[5:6] == "1":
                return True
    return False
