"""The wall clock is set while a campaign runs: real processes, and a clock that is set for them alone."""

from __future__ import annotations

import os
import shutil
import struct
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from campc_harness import clock
from campc_harness.ledger import Record
from campc_harness.progress import Progress
from tests.harness.bundles import Bundle, campaign, executes, run, window

SOURCE = Path(__file__).with_name("set_clock.c")
HOURS = 3600
SCRIPT = """
import time
from campc_harness import Run

with Run.start() as run:
    left = run.remaining
    for step in run.steps(100_000):
        time.sleep(0.05)
        run.log(loss=1.0)
        print("remaining fell" if run.remaining < left else f"remaining had {left}, has {run.remaining}", flush=True)
        left = run.remaining
"""


class Wall:
    """A wall clock that is off by what `set` says, for the processes started with `environment`."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / "offset"
        self._file.write_bytes(struct.pack("q", 0))
        library = folder / "set_clock.so"
        command = ["cc", "-shared", "-fPIC", "-O1", "-o", str(library), str(SOURCE), "-ldl"]
        subprocess.run(command, check=True, timeout=60)
        self.environment = {"LD_PRELOAD": str(library), "CLOCK_OFFSET": str(self._file)}

    def set(self, seconds: int) -> None:
        """Set the clock by so many seconds from what it would be."""
        with open(self._file, "r+b") as stream:
            stream.write(struct.pack("q", seconds))


@pytest.fixture
def wall(tmp_path: Path) -> Iterator[Wall]:
    if shutil.which("cc") is None or os.uname().sysname != "Linux":
        pytest.skip("no C compiler")
    folder = tmp_path / "wall"
    folder.mkdir()
    yield Wall(folder)


def timed(end_s: float, **sections: Any) -> dict[str, Any]:
    """A run that takes longer than its lot lasts, and what brings results home."""
    slow = run("control", params={"step_s": 0.05}, steps=10_000)
    home = window("home", "retrieve", last=True, takes=1)
    windows = [executes("control", "train", slow, takes=3), home]
    return campaign(runs=[slow], windows=windows, lot={"usable_end_s": end_s}, **sections)


@pytest.mark.parametrize("hours", [-2, 2])
def test_a_clock_that_is_set_costs_no_deadline(tmp_path: Path, wall: Wall, hours: int) -> None:
    bundle = Bundle(tmp_path / "bundle", timed(12 if hours < 0 else 3600), CAMPC_MARGIN_S="0.5", **wall.environment)
    launch = bundle.start()
    bundle.until(lambda: bundle.records("checkpoint"))
    wall.set(hours * HOURS)
    assert launch.wait(60) == 77, bundle.logs()
    [jump] = [note for note in bundle.records("note") if note["reason"] == "clock jump"]
    assert f"the wall clock went {'ahead' if hours > 0 else 'back'} by 7" in jump["text"]
    [late] = bundle.records("deadline")
    assert bundle.records("checkpoint")[-1]["step"] == late["step"]
    assert bundle.states() == {"control": "failed", "home": "finished"}
    assert all(0 <= record["actual"] < 60 for record in bundle.records("window") if record.get("actual") is not None)


def test_a_training_script_leaves_at_its_deadline_though_the_clock_was_set_back(tmp_path: Path, wall: Wall) -> None:
    bundle = Bundle(tmp_path / "bundle", timed(20), CAMPC_MARGIN_S="2", **wall.environment)
    (bundle.root / "work/train.py").write_text(SCRIPT)
    launch = bundle.start()
    bundle.until(lambda: bundle.records("metric"), patience=60)
    wall.set(-2 * HOURS)
    assert launch.wait(60) == 77, bundle.logs()
    [late] = bundle.records("deadline")
    assert late["reason"] == "the deadline of this lot is reached", "it left by itself"
    assert bundle.records("checkpoint")[-1]["step"] == late["step"]
    assert "remaining had" not in bundle.logs() and "remaining fell" in bundle.logs()


def test_lengths_of_time_are_those_of_the_clock_that_runs_on() -> None:
    progress = Progress()

    def at(seq: int, event: str, wall: float, mono: float, **more: Any) -> None:
        progress.take(Record(seq, wall, event, mono, window=None if event == "launch" else "one", more=more))

    at(1, "launch", 1000.0, 50.0, boot="b")
    at(2, "window", 1010.0, 60.0, state="started")
    at(3, "window", 1020.0 - 7200, 70.0, state="finished")
    window = progress.window("one")
    assert (window.began, window.ended) == (1010.0, 1020.0)
    at(4, "launch", 9000.0, 5.0, boot="c")
    at(5, "window", 9010.0, 15.0, state="started")
    at(6, "window", 9010.0 + 7200, 25.0, state="finished")
    assert window.ended == 9020.0


def test_before_anything_is_known_the_wall_clock_is_all_there_is() -> None:
    steady = clock.Steady()
    assert steady.at(1000.0, 5.0) == 1000.0
    steady.begin(clock.Reading(1000.0, 50.0, ""))
    assert steady.at(900.0, 60.0) == 900.0
