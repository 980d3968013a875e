"""Checkpoints of about 800 MB of weights and AdamW state: blocked, durable, restored.

Side by side with what PyTorch and safetensors offer, and with the floors that no design gets below.
"""

import collections
import contextlib
import os
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch.distributed.checkpoint import state_dict_saver as dcp

from benchmarks.timing import bar, show
from campc_harness import state
from campc_harness.checkpoint import Checkpoints
from campc_harness.context import Policy, by_hand
from campc_harness.inplace import targets
from campc_harness.ranks import Ranks
from campc_harness.storage import LocalStorage

WIDTH = int(os.environ.get("BENCH_WIDTH", "4096"))
ROUNDS = int(os.environ.get("BENCH_ROUNDS", "5"))

MEMCPY = "memcpy (floor of blocking)"
WRITE = "write + fsync (floor of durable)"
OURS = "campc_harness"
TORCH_SAVE = "torch.save + fsync + rename"
OURS_VERIFIED = "campc_harness, verified"
TORCH_LOAD = "torch.load + load_state_dict"
TORCH_LOAD_ALONE = "torch.load alone"

Timed = tuple[float, float]
"""Seconds that training is blocked, and seconds until the checkpoint is durable."""


def build() -> tuple[torch.nn.Module, torch.optim.Optimizer]:
    """Four square layers and AdamW with its moments: 12 bytes a weight."""
    model = torch.nn.Sequential(*(torch.nn.Linear(WIDTH, WIDTH, bias=False) for _ in range(4)))
    optimizer = torch.optim.AdamW(model.parameters())
    for parameter in model.parameters():
        parameter.grad = torch.randn_like(parameter)
    optimizer.step()
    optimizer.zero_grad()
    return model, optimizer


def synced(path: Path) -> None:
    """fsync of a file or of every file in a folder."""
    for file in path.rglob("*") if path.is_dir() else [path]:
        if file.is_file():
            handle = os.open(file, os.O_RDONLY)
            os.fsync(handle)
            os.close(handle)


class Bench:
    """The contestants, over one model in one folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.model, self.optimizer = build()
        self.tracked = state.Tracked()
        self.tracked.add({"model": self.model, "optimizer": self.optimizer}, exact=True)
        context = by_hand({}, seed=0, folder=folder / "harness", policy=Policy(keep=2))
        self.checkpoints = Checkpoints(LocalStorage(context.checkpoints), context, Ranks(0, 1), lambda *_, **__: None)
        self.checkpoints.claim()
        self.kept = Path(context.checkpoints)
        self.number = 0
        self.tensors = self._tensors()
        self.bytes = sum(tensor.numel() * tensor.element_size() for tensor in self.tensors.values())
        self.mirror = {name: torch.zeros_like(tensor) for name, tensor in self.tensors.items()}
        self.stager: Any = None

    def _tensors(self) -> dict[str, torch.Tensor]:
        found = {f"model.{name}": tensor for name, tensor in self.model.state_dict().items()}
        for index, entry in self.optimizer.state_dict()["state"].items():
            found |= {f"optimizer.{index}.{name}": value for name, value in entry.items()}
        return found

    def whole(self) -> dict[str, Any]:
        """What plain PyTorch saves."""
        return {"model": self.model.state_dict(), "optimizer": self.optimizer.state_dict()}

    def harness(self) -> Timed:
        """Staging, then the background writer."""
        begun = time.perf_counter()
        self.number += 1
        self.checkpoints.submit(state.stage(self.tracked.state(), self.number, {}, self.checkpoints.buffers))
        blocked = time.perf_counter() - begun
        self.checkpoints.wait()
        return blocked, time.perf_counter() - begun

    def torch_save(self) -> Timed:
        """torch.save, fsync, rename."""
        begun = time.perf_counter()
        torch.save(self.whole(), self.folder / "plain.part")
        synced(self.folder / "plain.part")
        os.replace(self.folder / "plain.part", self.folder / "plain.pt")
        took = time.perf_counter() - begun
        return took, took

    def safetensors(self) -> Timed:
        """safetensors, fsync, rename; weights and moments alone."""
        from safetensors.torch import save_file

        begun = time.perf_counter()
        save_file(self.tensors, self.folder / "safe.part")
        synced(self.folder / "safe.part")
        os.replace(self.folder / "safe.part", self.folder / "plain.safetensors")
        took = time.perf_counter() - begun
        return took, took

    def dcp_save(self) -> Timed:
        """torch.distributed.checkpoint, in the foreground."""
        begun = time.perf_counter()
        dcp.save(self.whole(), checkpoint_id=self.folder / "dcp", no_dist=True)
        synced(self.folder / "dcp")
        took = time.perf_counter() - begun
        return took, took

    def dcp_async(self) -> Timed:
        """The same in the background, with a new stager each time."""
        return self._async(None)

    def dcp_reused(self) -> Timed:
        """The same with one stager that is used again."""
        from torch.distributed.checkpoint.staging import DefaultStager, StagingOptions

        if self.stager is None:
            self.stager = DefaultStager(StagingOptions(False, False, False, False))
        return self._async(self.stager)

    def _async(self, stager: Any) -> Timed:
        begun = time.perf_counter()
        extra = {} if stager is None else {"async_stager": stager}
        future: Any = dcp.async_save(self.whole(), checkpoint_id=self.folder / "dcp_async", no_dist=True, **extra)
        blocked = time.perf_counter() - begun
        getattr(future, "upload_completion", future).result()
        synced(self.folder / "dcp_async")
        return blocked, time.perf_counter() - begun

    def memcpy(self) -> Timed:
        """The floor of blocking: a copy into memory that is there already."""
        begun = time.perf_counter()
        for name, tensor in self.tensors.items():
            self.mirror[name].copy_(tensor)
        took = time.perf_counter() - begun
        return took, took

    def write_floor(self) -> Timed:
        """The floor of durability: write and fsync of as many bytes."""
        block = memoryview(bytearray(8 * 2**20))
        begun = time.perf_counter()
        handle = os.open(self.folder / "floor", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        for _ in range(self.bytes // len(block)):
            os.write(handle, block)
        os.fsync(handle)
        os.close(handle)
        took = time.perf_counter() - begun
        return took, took

    def restore(self) -> float:
        """Read, verify every hash, load, compare."""
        begun = time.perf_counter()
        restored = self.checkpoints.restore(targets(self.tracked))
        assert restored is not None
        state.load(self.tracked, restored.state)
        return time.perf_counter() - begun

    def torch_load(self) -> float:
        """torch.load with weights_only, and load_state_dict; nothing is verified."""
        begun = time.perf_counter()
        whole = torch.load(self.folder / "plain.pt", weights_only=True)
        self.model.load_state_dict(whole["model"])
        self.optimizer.load_state_dict(whole["optimizer"])
        return time.perf_counter() - begun

    def torch_load_alone(self) -> float:
        """torch.load with weights_only: what was read is given to nobody."""
        begun = time.perf_counter()
        whole = torch.load(self.folder / "plain.pt", weights_only=True)
        took = time.perf_counter() - begun
        del whole
        return took

    def anew(self, load: Callable[[], float]) -> float:
        """As in a process that has just begun: the optimizer has no state yet, whose memory would first be given back."""
        kept, self.optimizer.state = self.optimizer.state, collections.defaultdict(dict)
        took = load()
        self.optimizer.state = kept
        return took

    def warm(self, load: Callable[[], float]) -> float:
        """The same when the system has both files in memory, and neither is read for the first time."""
        block = bytearray(8 * 2**20)
        for file in [self.folder / "plain.pt", *(self.kept / self.checkpoints.storage.committed()[0]).iterdir()]:
            with open(file, "rb", buffering=0) as stream:
                while stream.readinto(block):
                    pass
        return load()

    def cold(self, load: Callable[[], float]) -> float:
        """The same when the system has none of the files in memory."""
        for file in self.folder.rglob("*"):
            if file.is_file():
                handle = os.open(file, os.O_RDONLY)
                os.posix_fadvise(handle, 0, 0, os.POSIX_FADV_DONTNEED)
                os.close(handle)
        return load()


@contextlib.contextmanager
def workplace() -> Iterator[Path]:
    """A folder that goes away, in `BENCH_FOLDER` if that is set."""
    folder = Path(tempfile.mkdtemp(prefix="bench-", dir=os.environ.get("BENCH_FOLDER")))
    try:
        yield folder
    finally:
        shutil.rmtree(folder)


def slowdown(bench: Bench) -> tuple[float, float]:
    """Median seconds of a step of matrix products, with the writer idle and with it writing all the time."""
    left, right = torch.randn(1024, 1024), torch.randn(1024, 1024)

    def step() -> float:
        begun = time.perf_counter()
        for _ in range(4):
            left @ right
        return time.perf_counter() - begun

    idle = statistics.median(step() for _ in range(50))
    busy = []
    for _ in range(3):
        bench.number += 1
        bench.checkpoints.submit(state.stage(bench.tracked.state(), bench.number, {}, bench.checkpoints.buffers))
        while not bench.checkpoints.idle():
            busy.append(step())
    return idle, statistics.median(busy)


def bars(blocked: dict[str, float], restored: dict[str, float]) -> None:
    """Say how each bar was met or missed."""
    ours = blocked[OURS]
    print()
    bar("blocked / memcpy", ours / blocked[MEMCPY], 1.2)
    bar("blocked / torch.save", ours / blocked[TORCH_SAVE], 1 / 8)
    for other in (TORCH_LOAD, TORCH_LOAD_ALONE):
        bar(f"restore, verified / {other}", restored[OURS_VERIFIED] / restored[other], 1.0)


def main() -> None:
    """Print the tables."""
    load_before = os.getloadavg()[0]
    with workplace() as folder:
        bench = Bench(folder)
        # What is compared with each other stands next to each other, and so meets the same moments of the machine.
        savers: dict[str, Callable[[], Timed]] = {
            MEMCPY: bench.memcpy,
            OURS: bench.harness,
            TORCH_SAVE: bench.torch_save,
            WRITE: bench.write_floor,
            "safetensors + fsync + rename": bench.safetensors,
            "dcp.save + fsync": bench.dcp_save,
            "dcp.async_save": bench.dcp_async,
            "dcp.async_save, stager reused": bench.dcp_reused,
        }
        loaders: dict[str, Callable[[], float]] = {
            OURS_VERIFIED: bench.restore,
            TORCH_LOAD: bench.torch_load,
            TORCH_LOAD_ALONE: bench.torch_load_alone,
        }
        restores: dict[str, Callable[[], float]] = {
            **{name: partial(bench.warm, load) for name, load in loaders.items()},
            **{f"{name}, from disk": partial(bench.cold, load) for name, load in loaders.items()},
        }
        times: dict[str, list[Timed]] = {name: [] for name in savers}
        loads: dict[str, list[float]] = {name: [] for name in restores}
        for turn in range(ROUNDS + 1):
            for name, save in savers.items():
                took = save()
                if turn:
                    times[name].append(took)
            # Each is the first in turn: whoever follows what has just given memory back finds it at hand.
            first = (turn - 1) % len(restores)
            for name, load in (list(restores.items()) * 2)[first : first + len(restores)]:
                seconds = bench.anew(load)
                if turn:
                    loads[name].append(seconds)
        print(f"{bench.bytes / 1e6:.0f} MB, {ROUNDS} rounds, {os.cpu_count()} cores, {torch.get_num_threads()} threads")
        blocked = {name: statistics.median(time[0] for time in found) for name, found in times.items()}
        durable = {name: statistics.median(time[1] for time in found) for name, found in times.items()}
        restored = {name: statistics.median(found) for name, found in loads.items()}
        show("Training is blocked for", blocked, MEMCPY)
        show("Durable after", durable, WRITE)
        show("Restore (from the page cache, where nothing else is said)", restored, TORCH_LOAD)
        idle, busy = slowdown(bench)
        show("A step of matrix products", {"writer idle": idle, "writer busy": busy}, "writer idle")
        bars(blocked, restored)
        print(f"\nLoad of the machine: {load_before:.1f} before, {os.getloadavg()[0]:.1f} after; 1 of it is ours")


if __name__ == "__main__":
    main()
