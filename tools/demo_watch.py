"""What the demo sees of a running bundle: its ledger, its trainer's process, and at the end its results."""

import json
import os
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Trainer:
    """A trainer's process that has committed the checkpoint of `step` and goes on."""

    pid: int
    run_id: str
    window: str
    step: int

    def __str__(self) -> str:
        return f"the trainer of {self.run_id} (process {self.pid}), past its checkpoint at step {self.step}"

    def kill(self) -> None:
        """SIGKILL: no warning, nothing flushed."""
        os.kill(self.pid, signal.SIGKILL)

    def terminate(self) -> None:
        """SIGTERM: what a machine gets before it is taken away."""
        os.kill(self.pid, signal.SIGTERM)


def ledger(bundle: Path) -> list[dict[str, Any]]:
    """Every whole line of the bundle's ledgers; a line that is being written is left for the next look."""
    entries = []
    for path in sorted(bundle.glob("state/*/ledger.jsonl")):
        for line in path.read_bytes().splitlines(keepends=True):
            if line.endswith(b"\n"):
                entries.append(json.loads(line))
    return entries


def told(entry: dict[str, Any]) -> str | None:
    """What a reader who watches wants to hear of a ledger's entry, in one line; None for most."""
    match entry["event"]:
        case "window" if entry.get("state") == "finished":
            actual = entry.get("actual")
            return f"{entry['window']}: finished" + (f" in {actual:.0f} s" if actual is not None else "")
        case "gate":
            return f"gate {entry.get('gate')}: {entry.get('result')}"
        case "crash" | "interrupted" | "stop":
            return f"{entry['run_id']}: {entry['event']} ({entry['reason']})"
        case "resume" if entry["step"]:
            return f"{entry['run_id']}: resumes at step {entry['step']}"
    return None


class Follower(threading.Thread):
    """Prints what happens in a bundle while somebody waits for it."""

    def __init__(self, bundle: Path) -> None:
        super().__init__(daemon=True)
        self._bundle = bundle
        self._over = threading.Event()
        self._seen = len(ledger(bundle))

    def run(self) -> None:
        while not self._over.wait(0.5):
            self._look()
        self._look()

    def stop(self) -> None:
        """Say what is left to say, and end."""
        self._over.set()
        self.join()

    def _look(self) -> None:
        entries = ledger(self._bundle)
        for line in filter(None, map(told, entries[self._seen :])):
            print(f"    {line}", flush=True)
        self._seen = len(entries)


def trainer_process(bundle: Path, run_id: str, window: str) -> int | None:
    """The process that trains this run of this bundle now, told by the environment it was started with."""
    wanted = {f"CAMPC_BUNDLE={bundle}", f"CAMPC_RUN_ID={run_id}", f"CAMPC_WINDOW={window}", "RANK=0"}
    for folder in Path("/proc").iterdir():
        if not folder.name.isdecimal():
            continue
        try:
            variables = set((folder / "environ").read_bytes().decode(errors="replace").split("\0"))
            command = (folder / "cmdline").read_bytes().decode(errors="replace").split("\0")
        except OSError:
            continue
        if wanted <= variables and any(word.endswith("train.py") for word in command):
            return int(folder.name)
    return None


def wait_for_trainer(bundle: Path, window: str, launcher: subprocess.Popen[bytes], limit: float = 600) -> Trainer:
    """Wait until a run of `window` has a checkpoint and still trains.

    Raises:
        TimeoutError: there was none within `limit` seconds, or the launcher ended before.
    """
    end = time.monotonic() + limit
    seen = 0
    while time.monotonic() < end and launcher.poll() is None:
        entries = ledger(bundle)
        for entry in entries[seen:]:
            if entry["event"] == "checkpoint" and entry["window"] == window:
                process = trainer_process(bundle, entry["run_id"], window)
                if process is not None:
                    return Trainer(process, entry["run_id"], window, entry["step"])
        seen = len(entries)
        time.sleep(0.05)
    raise TimeoutError(f"no trainer of window {window} was seen after a checkpoint")


def compare_bundles(left: Path, right: Path) -> Iterator[str]:
    """One line a result: whether every tensor of `model.pt`, and every byte of the others, is equal on both sides."""
    import torch

    models = sorted(path.relative_to(left) for path in left.glob("runs/**/outputs/model.pt"))
    if not models:
        yield "the results differ: there is no finished model"
    for model in models:
        mine, other = (torch.load(side / model, weights_only=True)["weights"] for side in (left, right))
        equal = mine.keys() == other.keys() and all(
            mine[name].dtype == other[name].dtype
            and mine[name].shape == other[name].shape
            and mine[name].numpy().tobytes() == other[name].numpy().tobytes()
            for name in mine
        )
        numbers = sum(tensor.numel() for tensor in mine.values())
        folder = model.parent
        texts = [(side / folder / "predictions.csv").read_bytes() for side in (left, right)]
        verdict = "equal, bit for bit" if equal and texts[0] == texts[1] else "they differ"
        yield f"{folder.parent.as_posix().removeprefix('runs/')}: {numbers} weights and its predictions: {verdict}"
