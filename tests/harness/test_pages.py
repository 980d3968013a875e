"""Fresh memory that a checkpoint is read into: all of it touched before, large pages asked for until one proves dear."""

from __future__ import annotations

import ctypes
import itertools
import mmap
from pathlib import Path

import pytest
import torch

from campc_harness import pages, state, verified
from campc_harness.checkpoint import Checkpoints
from campc_harness.context import Policy, by_hand
from campc_harness.memory import memory
from campc_harness.pages import Fresh
from campc_harness.ranks import Ranks
from campc_harness.storage import LocalStorage

MIB = 2**20
LENGTH = 2 * MIB
POPULATE_WRITE = 23


class System:
    """Stands for the system's advice, and for the clock: a page costs what `costs` says next."""

    def __init__(self) -> None:
        self.now = 0.0
        self.answer = 0
        self.costs: list[float] = []
        self.asked: list[tuple[int, int]] = []
        self.undone: list[tuple[int, int]] = []
        self.touched: list[tuple[int, int]] = []

    def advise(self, start: int, size: int, advice: int) -> int:
        assert start % mmap.PAGESIZE == 0 and size > 0
        if advice == POPULATE_WRITE:
            self.now += self.costs.pop(0) if self.costs else 0.0
            self.touched.append((start, start + size))
        else:
            (self.asked if advice == mmap.MADV_HUGEPAGE else self.undone).append((start, start + size))
        return self.answer


@pytest.fixture
def system(monkeypatch: pytest.MonkeyPatch) -> System:
    one = System()
    monkeypatch.setattr(pages, "_madvise", lambda: one.advise)
    monkeypatch.setattr(pages, "_populates", lambda: True)
    monkeypatch.setattr("time.thread_time", lambda: one.now)
    return one


def bytes_of(size: int) -> torch.Tensor:
    return torch.empty(size, dtype=torch.uint8)


def address(view: memoryview) -> int:
    return ctypes.addressof(ctypes.c_char.from_buffer(view))


@pytest.mark.parametrize("known", [False, True])
@pytest.mark.parametrize(("first", "last"), [(0, None), (1, -1), (5 * MIB + 3, 5 * MIB + 9)])
def test_blocks_are_all_of_it_in_order(known: bool, first: int, last: int | None) -> None:
    tensor = bytes_of(9 * MIB + 77)
    target = memory(tensor)[first:last]
    blocks = list(Fresh([tensor] if known else []).blocks(target, LENGTH))
    assert sum(map(len, blocks)) == len(target) and address(blocks[0]) == address(target)
    assert all(address(one) + len(one) == address(other) for one, other in itertools.pairwise(blocks))
    assert all(address(block) % LENGTH == 0 for block in blocks[1:])
    assert list(Fresh([tensor]).blocks(target[:0], LENGTH)) == []


def test_each_block_is_touched_before_it_comes(system: System) -> None:
    tensor = bytes_of(9 * MIB)
    for block in Fresh([tensor]).blocks(memory(tensor), LENGTH):
        start, end = system.touched[-1]
        assert start <= address(block) and address(block) + len(block) <= end
    ((first, last),) = system.asked
    assert first % LENGTH == last % LENGTH == 0 and not system.undone
    assert tensor.data_ptr() <= first and last <= tensor.data_ptr() + 9 * MIB


def test_large_pages_are_given_up_once_one_is_dear(system: System) -> None:
    one, other = bytes_of(17 * MIB), bytes_of(17 * MIB)
    system.costs = [0.0, 0.0001, 0.0001, 0.005]
    fresh = Fresh([one, other])
    blocks = list(fresh.blocks(memory(one), LENGTH))
    ((_, last),) = system.asked
    # What comes after the fourth block is asked for in small pages.
    assert system.undone == [(address(blocks[4]), last)]
    list(fresh.blocks(memory(other), LENGTH))
    assert len(system.asked) == 1 and len(system.undone) == 1
    assert sum(end - start for start, end in system.touched) >= 34 * MIB, "small ones are touched ahead, too"


def test_what_is_in_use_already_is_left_alone(system: System) -> None:
    tensor, other, little = bytes_of(8 * MIB), bytes_of(8 * MIB), bytes_of(1000)
    fresh = Fresh([tensor, little])
    for one in (memory(other), memory(little), memoryview(bytearray(5000))):
        assert list(fresh.blocks(one, LENGTH))
    assert not system.asked and not system.touched


def test_a_system_that_refuses_is_done_without(system: System) -> None:
    system.answer = -1
    tensor = bytes_of(8 * MIB)
    assert sum(map(len, Fresh([tensor]).blocks(memory(tensor), LENGTH))) == 8 * MIB
    assert not system.undone


@pytest.mark.parametrize("handed_back", [False, True])
def test_where_nothing_can_be_measured_it_is_known_or_left(
    system: System, monkeypatch: pytest.MonkeyPatch, handed_back: bool
) -> None:
    monkeypatch.setattr(pages, "_populates", lambda: False)
    monkeypatch.setattr(pages, "_handed_back", lambda: handed_back)
    tensor = bytes_of(8 * MIB)
    assert sum(map(len, Fresh([tensor]).blocks(memory(tensor), LENGTH))) == 8 * MIB
    assert len(system.asked) == (not handed_back) and not system.touched


def test_a_system_without_large_pages_reads_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages, "_madvise", lambda: None)
    tensor = bytes_of(8 * MIB)
    assert sum(map(len, Fresh([tensor]).blocks(memory(tensor), LENGTH))) == 8 * MIB


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("dear", [0.0, 1.0])
def test_large_tensors_come_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, threads: int, dear: float) -> None:
    monkeypatch.setattr(pages, "DEAR_S", dear)  # the first large page is dear already, or none is
    monkeypatch.setattr(verified, "workers", lambda most: threads)
    draw = torch.Generator().manual_seed(5)
    kept = {
        str(size): torch.randint(0, 256, (size,), dtype=torch.uint8, generator=draw)
        for size in (17 * MIB + 5, 3, 4 * MIB, 21 * MIB, 4 * MIB - 1)
    }
    context = by_hand({}, seed=0, folder=tmp_path, policy=Policy(keep=4))
    one = Checkpoints(LocalStorage(tmp_path / "there"), context, Ranks(0, 1), lambda *_, **__: None)
    one.claim()
    one.submit(state.stage(kept, 1, {}, one.buffers))
    one.wait()
    restored = one.restore()
    assert restored is not None and state.first_difference(kept, restored.state, "kept") is None
