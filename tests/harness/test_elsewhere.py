"""A replacement machine that goes on, a watcher on another machine, copies that fail for a while."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

from campc_harness import clock
from campc_harness.lease import Lease
from tests.harness.bundles import PACKAGE, Bundle, campaign, executes, run, window


def test_a_replacement_machine_goes_on_from_the_record_beside_the_checkpoints(tmp_path: Path) -> None:
    first, second = run("first", params={"step_s": 0.001}), run("second", params={"hold_at": 7})
    for item in (first, second):
        item["checkpoint"] = {
            **item["checkpoint"],
            "to": f"file://{tmp_path}/store".removeprefix("file://"),
            "outside": True,
        }
    plan = campaign(
        runs=[first, second],
        windows=[executes("first", "train", first), executes("second", "train", second, after=["first"])],
    )
    old = Bundle(tmp_path / "old", plan, CAMPC_MACHINE="old-machine")
    started = old.start()
    old.until(lambda: [r for r in old.records("checkpoint") if r["window"] == "second" and r["step"] == 5])
    started.send_signal(signal.SIGTERM)
    assert started.wait(90) == 75
    shutil.rmtree(old.root)
    new = Bundle(tmp_path / "new", plan, CAMPC_MACHINE="new-machine")
    done = new.foreground()
    assert "goes on from the record beside the checkpoints" in done.stdout
    here = [record for record in new.records("start") if record["machine"] == "new-machine"]
    assert [record["window"] for record in here] == ["second"]
    assert here[0]["attempt"] == 2
    assert new.records("resume")[-1]["step"] >= 5
    other = Bundle(tmp_path / "other", {**plan, "plan_hash": "cd" * 32})
    other.foreground()
    assert len(other.records("start")) == 2, "the record of another plan is not taken"


def test_the_watcher_releases_a_machine_that_fell_silent(tmp_path: Path) -> None:
    slow = run("control", params={"step_s": 0.1}, steps=1000)
    shutdown = {"command": "true", "when": "always", "elsewhere": "echo gone; touch released", "hold_s": 0}
    plan = campaign(runs=[slow], windows=[executes("control", "train", slow)], shutdown=shutdown)
    bundle = Bundle(tmp_path / "b", plan, CAMPC_HEARTBEAT_S="0.5")
    started = bundle.start()
    bundle.until(lambda: (bundle.root / "checkpoints/state-box/heartbeat.json").exists())
    away = tmp_path / "away"
    away.mkdir()
    shutil.copy(PACKAGE / "lease.py", away)
    command = [sys.executable, "-I", "lease.py", str(bundle.root), "--patience", "8", "--interval", "0.2"]
    watcher = subprocess.Popen(command, cwd=away, stdout=subprocess.PIPE, text=True)
    try:
        watcher.wait(9)
        raise AssertionError("released while the heart was beating")
    except subprocess.TimeoutExpired:
        pass
    for name in ("keeper", "launcher"):
        os.kill(int((bundle.root / f"state/box/{name}.lock").read_text()), signal.SIGKILL)
    started.wait(90)
    out, _ = watcher.communicate(timeout=60)
    assert watcher.returncode == 0 and (away / "released").exists()
    line = json.loads((away / "lease-box.jsonl").read_text())
    assert (line["event"], line["answer"], line["code"]) == ("released", "gone", 0)
    assert line["reason"].startswith("no heartbeat for") and "no heartbeat" in out
    assert json.loads((bundle.root / "checkpoints/state-box/released.json").read_text())["code"] == 0


def test_what_a_lease_decides() -> None:
    lease = Lease(60, now=0)
    assert lease.judge({}, 50, 1000) is None
    assert lease.judge({"machine": "a", "beat": 1, "state": "running", "usable_end": 2000}, 100, 1000) is None
    assert lease.judge({"machine": "a", "beat": 1, "state": "running"}, 150, 1000) is None
    assert lease.judge({"machine": "a", "beat": 1, "state": "running"}, 161, 1000) == "no heartbeat for 1 min"
    assert (
        lease.judge({"machine": "a", "beat": 2, "state": "running", "usable_end": 900}, 162, 1000) == "the lot is over"
    )
    assert (
        lease.judge({"machine": "a", "beat": 3, "state": "ended", "keep": True, "usable_end": 900}, 163, 1000) == "kept"
    )
    assert (
        lease.judge({"machine": "a", "beat": 3, "state": "ended"}, 300, 1000)
        == "it has ended and is still there (no heartbeat for 2 min)"
    )


def test_of_two_clocks_the_earlier_end_counts() -> None:
    anchor = clock.Reading(wall=1000.0, mono=50.0, boot="b")
    back = clock.Reading(wall=1000.0 + 100 - 3600, mono=150.0, boot="b")
    assert clock.remaining(2000.0, anchor, back) == 900.0
    assert clock.jump(anchor, back) == -3600.0
    ahead = clock.Reading(wall=1000.0 + 100 + 3600, mono=150.0, boot="b")
    assert clock.remaining(2000.0, anchor, ahead) == -2700.0
    rebooted = clock.Reading(wall=1100.0, mono=1.0, boot="c")
    assert clock.remaining(2000.0, anchor, rebooted) == 900.0
    assert clock.jump(anchor, rebooted) == 0.0


def test_results_are_held_until_they_can_be_copied(tmp_path: Path) -> None:
    control = run("control", params={"step_s": 0.001})
    shutdown = {"command": "touch shut_down", "when": "always", "elsewhere": None, "hold_s": 20}
    blocked = tmp_path / "blocked"
    plan = campaign(
        runs=[control],
        windows=[executes("control", "train", control), window("home", "retrieve", last=True, to=str(blocked))],
        shutdown=shutdown,
    )
    bundle = Bundle(tmp_path / "b", plan)
    blocked.write_text("a file stands where the folder is to be")
    with open(tmp_path / "out", "wb") as out:
        started = subprocess.Popen(
            ["./launch.sh", "--foreground", "--cpu", "--anyway"],
            cwd=bundle.root,
            env=bundle.environment,
            stdout=out,
            stderr=out,
        )
    bundle.until(lambda: [r for r in bundle.records("note") if r["reason"] == "copy failed" and r["window"] is None])
    assert not (bundle.root / "shut_down").exists(), "the machine is held"
    blocked.unlink()
    assert started.wait(90) == 0
    assert (blocked / "box/package.tar.gz").exists() and (bundle.root / "shut_down").exists()
    assert bundle.states()["home"] == "finished"


def test_a_hold_that_is_over_gives_the_machine_back_and_tells_everyone(tmp_path: Path) -> None:
    control = run("control", params={"step_s": 0.001})
    (tmp_path / "blocked").write_text("")
    plan = campaign(
        runs=[control],
        windows=[
            executes("control", "train", control),
            window("home", "retrieve", last=True, to=str(tmp_path / "blocked")),
        ],
        shutdown={"command": "touch shut_down", "when": "always", "elsewhere": None, "hold_s": 1},
        notify=[{"command": "cat >> told", "on": ["gate"]}],
    )
    bundle = Bundle(tmp_path / "b", plan)
    bundle.launch("--foreground", "--cpu", "--anyway", check=1)
    assert (bundle.root / "shut_down").exists()
    assert "could not be copied away" in (bundle.root / "told").read_text()
