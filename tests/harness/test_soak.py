"""Kills at random moments, of trainer, supervisor and keeper: nothing committed is lost, nothing is left running."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import time
from pathlib import Path

import pytest

from campc_harness.ledger import read
from tests.harness.bundles import Bundle, campaign, executes, run, window

KINDS = ("trainer", "supervisor", "keeper and supervisor", "terminate")


def _pid(path: Path) -> int | None:
    try:
        return int(path.read_text())
    except (OSError, ValueError):
        return None


def _disturb(bundle: Bundle, kind: str) -> bool:
    """Kill what `kind` says; whether there was something to kill."""
    launcher = _pid(bundle.root / "state/box/launcher.lock")
    keeper = _pid(bundle.root / "state/box/keeper.lock")
    victims: list[int | None] = {
        "trainer": [*bundle.ranks()],
        "supervisor": [launcher],
        "keeper and supervisor": [keeper, launcher],
        "terminate": [keeper],
    }[kind]
    number = signal.SIGTERM if kind == "terminate" else signal.SIGKILL
    found = False
    for pid in victims:
        try:
            # A number in a lock may be that of a process long gone, and somebody else's by now.
            if pid is not None and f"CAMPC_BUNDLE={bundle.root}".encode() in Path(f"/proc/{pid}/environ").read_bytes():
                os.kill(pid, number)
                found = True
        except (OSError, ProcessLookupError):
            continue
    return found


def disturb(folder: Path, kills: int, seed: int) -> dict[str, int]:
    """Run a campaign under `kills` random kills; counts of what went wrong."""
    chance = random.Random(seed)
    steps = 40 * kills + 100
    control = run("control", params={"step_s": 0.01, "save_every": 3}, steps=steps)
    plan = campaign(
        runs=[control], windows=[executes("control", "train", control), window("home", "retrieve", last=True)]
    )
    bundle = Bundle(folder, plan, CAMPC_PAUSE_S="0.01", CAMPC_KEEPER_PAUSE_S="0.01", CAMPC_GRACE_S="5")
    done = 0
    while done < kills:
        started = bundle.start()
        while started.poll() is None and done < kills:
            # Progress between two kills: a run that is killed before it commits anything three times is given up.
            before = len(bundle.records("checkpoint"))
            end = time.monotonic() + 20
            while started.poll() is None and time.monotonic() < end and len(bundle.records("checkpoint")) < before + 2:
                time.sleep(0.02)
            time.sleep(chance.random() * 0.2)
            done += _disturb(bundle, chance.choice(KINDS))
        try:
            started.wait(0.1 if done < kills else 300)
        except subprocess.TimeoutExpired:
            started.wait(60)
    if not bundle.states().get("home"):
        bundle.foreground(timeout=300)
    records = bundle.records()
    lost, committed = 0, 0
    for record in records:
        if record["event"] == "checkpoint":
            committed = max(committed, record["step"])
        elif record["event"] == "resume" and record["window"] == "control":
            lost += record["step"] < committed
    return {
        "kills": done,
        "lost commits": lost,
        "orphans": len(bundle.processes()),
        "ledger damage": len(read(bundle.ledger).damage),
        "unfinished": int(not any(record["event"] == "done" and record["window"] == "control" for record in records)),
    }


@pytest.mark.timeout(300)
def test_a_few_random_kills(tmp_path: Path) -> None:
    found = disturb(tmp_path, kills=5, seed=1)
    assert found == {"kills": 5, "lost commits": 0, "orphans": 0, "ledger damage": 0, "unfinished": 0}


@pytest.mark.soak
@pytest.mark.timeout(0)
def test_a_thousand_random_kills(tmp_path: Path) -> None:
    total: dict[str, int] = {}
    for round_ in range(int(os.environ.get("CAMPC_SOAK_ROUNDS", "50"))):
        for name, count in disturb(tmp_path / str(round_), kills=20, seed=round_).items():
            total[name] = total.get(name, 0) + count
    print("supervisor soak:", ", ".join(f"{name} {count}" for name, count in total.items()))
    assert not any(count for name, count in total.items() if name != "kills")
