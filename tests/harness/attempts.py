"""Starts real attempts of a training script, with the pipes and variables that a supervisor gives."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from campc_harness.exits import ExitRecord, read_exit
from tests.harness.zygote import WARNINGS, Forked, Zygote

COMPILER = Path(__file__).resolve().parents[2] / "compiler"
SCRIPTS = Path(__file__).resolve().parent / "scripts"
NONCE = "cafe"
# STALL=2 pytest tests/harness: as on a machine that is busy elsewhere whenever a test has seen what it waited for.
STALL_S = float(os.environ.get("STALL", "0"))


@dataclass
class Attempt:
    """A running or ended attempt."""

    process: Forked
    folder: Path
    number: int
    rank: int
    life: int
    reports: list[dict[str, Any]] = field(default_factory=list)
    errors: list[bytes] = field(default_factory=list)
    threads: list[threading.Thread] = field(default_factory=list)

    def signal(self, number: int, release: bool = True) -> None:
        """Send a signal to the process alone, and let it go on from where HOLD held it, or from an evaluation."""
        self.process.send_signal(number)
        if release:
            self.release()

    def pending(self, number: int) -> bool:
        """Whether a signal sent to the process has not reached it yet."""
        fields = dict(line.split(":", 1) for line in Path(f"/proc/{self.process.pid}/status").read_text().splitlines())
        waiting = int(fields["SigPnd"], 16) | int(fields["ShdPnd"], 16)
        return bool(waiting >> (number - 1) & 1)

    def release(self) -> None:
        """Let all ranks go on from where they are held."""
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / "go").touch()

    def kill(self) -> None:
        """SIGKILL to its process group, as a supervisor does."""
        os.killpg(self.process.pid, 9)

    def wait(self, timeout: float = 150) -> int:
        """Exit code; a process that doesn't end is killed, and that is a failure."""
        try:
            code = self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            self.kill()
            raise AssertionError(f"the attempt did not end in {timeout} s:\n{self.text()}") from None
        for thread in self.threads:
            thread.join(10)
        return code

    def close(self) -> None:
        """Let go of the life pipe."""
        if self.life >= 0:
            os.close(self.life)
            self.life = -1

    def text(self) -> str:
        """Its standard error and output."""
        return b"".join(self.errors).decode(errors="replace")

    def exit(self) -> ExitRecord | None:
        """Its exit record."""
        return read_exit(self.folder, self.rank, attempt=self.number, nonce=NONCE)

    def events(self, name: str) -> list[dict[str, Any]]:
        """Reports of one kind so far."""
        return [report for report in list(self.reports) if report["event"] == name]

    def until(self, condition: Callable[[], bool], timeout: float = 150) -> None:
        """Wait for a condition while the process runs."""
        end = time.monotonic() + timeout
        while not condition():
            assert time.monotonic() < end, f"nothing came in {timeout} s:\n{self.text()}\n{self.reports[-5:]}"
            if self.process.poll() is not None and not condition():
                time.sleep(0.2)
                assert condition(), f"it ended first, with {self.process.returncode}:\n{self.text()}"
            time.sleep(0.005)
        time.sleep(STALL_S)

    def until_event(self, name: str, count: int = 1, timeout: float = 150) -> None:
        """Wait for so many reports of one kind."""
        self.until(lambda: len(self.events(name)) >= count, timeout)


def free_port() -> int:
    """A TCP port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Bundle:
    """A minimal bundle with one run, and the attempts made in it."""

    def __init__(self, zygote: Zygote, root: Path, script: str, **run: Any) -> None:
        self.zygote = zygote
        self.root = root
        self.script = SCRIPTS / script
        self.run_id = "control-0123abcd"
        self.window = run.pop("window", "train")
        self.attempts: list[Attempt] = []
        corpus = run.pop("corpora", [])
        self.plan: dict[str, Any] = {
            "schema": 1,
            "plan_hash": "f" * 64,
            "runs": [
                {
                    "name": "control",
                    "ids": [{"id": self.run_id, "seed": run.get("seed", 7), "config_sha256": "0" * 64}],
                    "script": f"work/{script}",
                    "params": run.get("params", {}),
                    "corpus": run.get("corpus"),
                    "checkpoint": {"every_s": None, "every_steps": 5, "to": "checkpoints", "keep": 2}
                    | run.get("checkpoint", {}),
                }
            ],
            "corpora": corpus,
            "stops": run.get("stops", []),
            "watches": run.get("watches", []),
        }
        root.mkdir(parents=True, exist_ok=True)
        (root / "campaign.json").write_text(json.dumps(self.plan))

    @property
    def checkpoints(self) -> Path:
        """Where the run's checkpoints lie."""
        return self.root / "checkpoints" / self.run_id / self.window

    @property
    def outputs(self) -> Path:
        """The run's outputs."""
        return self.root / "outputs"

    def committed(self) -> list[int]:
        """Steps of the committed checkpoints, ascending."""
        return sorted(int(path.name[5:]) for path in self.checkpoints.glob("step-*"))

    def start(
        self, *arguments: str, rank: int = 0, number: int | None = None, life: bool = True, **variables: Any
    ) -> Attempt:
        """Start one process of an attempt."""
        number = number or len(self.attempts) + 1
        folder = Path(variables.get("CAMPC_ATTEMPT_DIR") or self.root / "attempts" / str(number))
        read, write = os.pipe()
        life_read, life_write = os.pipe() if life else (-1, -1)
        environment = {
            **{key: value for key, value in os.environ.items() if not key.startswith("CAMPC_")},
            "PYTHONPATH": str(COMPILER),
            "PYTHONWARNINGS": ",".join(WARNINGS),
            "OMP_NUM_THREADS": "1",
            "CAMPC_BUNDLE": str(self.root),
            "CAMPC_LOT": "box",
            "CAMPC_WINDOW": self.window,
            "CAMPC_RUN_ID": self.run_id,
            "CAMPC_RUN": "control",
            "CAMPC_SEED": "7",
            "CAMPC_OUTPUTS": str(self.outputs),
            "CAMPC_CHECKPOINTS": str(self.checkpoints),
            "CAMPC_ATTEMPT": str(number),
            "CAMPC_NONCE": NONCE,
            "CAMPC_ATTEMPT_DIR": str(folder),
            "CAMPC_REPORT_FD": "50",
            "CAMPC_LIFE_FD": "51" if life else "",
            "CAMPC_MODE": "run",
            "RANK": str(rank),
            "LOCAL_RANK": str(rank),
            "WORLD_SIZE": "1",
            "LOCAL_WORLD_SIZE": "1",
            "MASTER_ADDR": "127.0.0.1",
            "MASTER_PORT": str(free_port()),
            **{key: str(value) for key, value in variables.items()},
        }
        out_read, out_write = os.pipe()
        handles = {1: out_write, 2: out_write, 50: write, **({51: life_read} if life else {})}
        process = self.zygote.start(str(self.script), list(arguments), environment, handles)
        for handle in {out_write, write, *([life_read] if life else [])}:
            os.close(handle)
        attempt = Attempt(process, folder, number, rank, life_write)
        attempt.threads = [
            threading.Thread(target=_collect, args=(read, attempt.reports), daemon=True),
            threading.Thread(target=_drain, args=(out_read, attempt.errors), daemon=True),
        ]
        for thread in attempt.threads:
            thread.start()
        self.attempts.append(attempt)
        return attempt

    def complete(self, **variables: Any) -> Attempt:
        """An attempt that must end with exit 0."""
        attempt = self.start(**variables)
        assert attempt.wait() == 0, attempt.text()
        return attempt

    def rehearse(self, **variables: Any) -> list[Path]:
        """The three parts of a rehearsal, the first killed where it waits for that; the folders of their digests."""
        folders = []
        for phase in ("first", "resume", "twin"):
            place = self.root / ("twin" if phase == "twin" else "rehearsal")
            told = {"CAMPC_MODE": "rehearse", "CAMPC_PHASE": phase, "CAMPC_CHECKPOINTS": place, "WHEN": phase}
            attempt = self.start(**told, **variables)
            folders.append(attempt.folder)
            if phase == "first":
                digests = attempt.folder / "digest-0.jsonl"
                attempt.until(lambda path=digests: path.exists() and b'"point": "end"' in path.read_bytes())
                attempt.kill()
                attempt.wait()
            else:
                assert attempt.wait() == 0, attempt.text()
        return folders

    def close(self) -> None:
        """End what still runs."""
        for attempt in self.attempts:
            if attempt.process.poll() is None:
                attempt.kill()
            attempt.process.wait(90)
            attempt.close()


def _collect(handle: int, reports: list[dict[str, Any]]) -> None:
    with os.fdopen(handle, "r", encoding="utf-8") as stream:
        for line in stream:
            reports.append(json.loads(line))


def _drain(handle: int, errors: list[bytes]) -> None:
    with os.fdopen(handle, "rb") as stream:
        for line in stream:
            errors.append(line)
