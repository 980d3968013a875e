"""What SkyPilot would run on the machine, run: the exit codes that it recovers from, and those that it doesn't."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import yaml

from tests.emit.bundles import FAST, SLOW, records, small

INTERRUPTED, NOT_AGAIN, MISCONFIGURED = 75, 77, 78


class Machine:
    """A bundle on a machine that SkyPilot brought up: its task's `run`, in its folder, under bash."""

    def __init__(self, folder: Path) -> None:
        self.root = small(folder)
        self.started: list[subprocess.Popen[bytes]] = []
        self.environment = {**os.environ, "CAMPC_PYTHON": sys.executable, "CUDA_VISIBLE_DEVICES": ""}
        self.task = yaml.safe_load((self.root / "skypilot" / "box.yaml").read_text(encoding="utf-8"))

    def start(self, pace: str, *, cpu: bool = True) -> subprocess.Popen[bytes]:
        (self.root / "work" / "pace").write_text(pace)
        script = self.task["run"].replace("./launch.sh", "./launch.sh --cpu") if cpu else self.task["run"]
        with open(self.root / "said", "ab") as said:
            self.started.append(
                subprocess.Popen(
                    ["bash", "-e", "-c", script],
                    cwd=self.root,
                    env=self.environment,
                    stdin=subprocess.DEVNULL,
                    stdout=said,
                    stderr=said,
                )
            )
        return self.started[-1]

    def until(self, holds: Callable[[], object]) -> None:
        end = time.monotonic() + 60
        while not holds():
            assert time.monotonic() < end, (self.root / "said").read_text()
            time.sleep(0.05)

    def until_saved(self, count: int) -> None:
        """Until the record holds so many checkpoints."""
        self.until(lambda: sum(record["event"] == "checkpoint" for record in records(self.root)) >= count)

    def close(self) -> None:
        """End what still runs: the supervisor's processes end with it."""
        for process in self.started:
            if process.poll() is None:
                os.kill(self.keeper, signal.SIGTERM)
                process.wait(60)

    @property
    def keeper(self) -> int:
        return int((self.root / "state" / "box" / "keeper.lock").read_text())


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Machine]:
    one = Machine(tmp_path)
    yield one
    one.close()


def test_interrupted_it_asks_to_be_recovered_and_goes_on(machine: Machine) -> None:
    first = machine.start(SLOW)
    machine.until_saved(1)
    os.kill(machine.keeper, signal.SIGTERM)
    assert first.wait(60) == INTERRUPTED
    assert machine.task["resources"]["job_recovery"]["recover_on_exit_codes"] == [INTERRUPTED]
    assert machine.start(FAST).wait(60) == 0


def test_stopped_by_hand_it_is_not_recovered(machine: Machine) -> None:
    first = machine.start(SLOW)
    machine.until_saved(1)
    subprocess.run(["./launch.sh", "stop", "--cpu"], cwd=machine.root, env=machine.environment, check=True, timeout=60)
    assert first.wait(60) == NOT_AGAIN
    assert machine.start(FAST).wait(60) == 0, "somebody launched it again"


def test_a_machine_that_is_not_as_ordered_is_not_recovered(machine: Machine) -> None:
    assert machine.start(FAST, cpu=False).wait(60) == MISCONFIGURED
