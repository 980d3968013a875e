"""How attempts end, on real processes: crashes, hangs, signals, kills of the supervisor itself."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from tests.harness.bundles import Bundle, campaign, executes, run, window

ID = "control-0badcafe"


def single(params: dict[str, Any], **more: Any) -> dict[str, Any]:
    """One train window, and one that brings results home."""
    control = run("control", params=params, **more)
    return campaign(
        runs=[control],
        windows=[executes("control", "train", control), window("home", "retrieve", last=True, to="home")],
    )


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def test_a_crash_is_retried_from_the_last_checkpoint(tmp_path: Path) -> None:
    bundle = Bundle(tmp_path, single({"crash_at": 12, "crash_attempts": 1}))
    told = bundle.foreground().stdout
    reasons = [record["reason"] for record in bundle.records("crash")]
    assert reasons == ["rank 0 ended with exit code 3; its last line: args [] secret"]
    assert f"control: attempt 1 died ({reasons[0]})" in told
    assert [record["step"] for record in bundle.records("resume")] == [0, 10]
    assert bundle.records("done")[0]["metrics"]["eval.accuracy"] == 0.9


def test_three_attempts_without_progress_end_the_run_and_results_still_come_home(tmp_path: Path) -> None:
    bundle = Bundle(tmp_path, single({"crash_at": 12}))
    bundle.foreground(check=76)
    # The first attempt committed steps; only those after it led nowhere.
    assert len(bundle.records("start")) == 5
    assert bundle.records("stop")[0]["reason"].startswith("3 attempts without a newly committed step")
    assert bundle.states() == {"control": "finished", "home": "finished"}
    assert (tmp_path / "home/box/package.tar.gz").exists()
    assert not (tmp_path / f"runs/{ID}/outputs").exists()


def test_a_checkpoint_that_two_attempts_died_from_is_passed_over(tmp_path: Path) -> None:
    bundle = Bundle(tmp_path, single({"crash_at": 12}))
    (tmp_path / "work/train.py").write_text(
        "import os\nprint('skip', os.environ['CAMPC_SKIP_CHECKPOINTS'], flush=True)\n"
        + (tmp_path / "work/train.py").read_text()
    )
    bundle.foreground(check=76)
    skipped = [line for line in bundle.logs().splitlines() if line.startswith("skip")]
    assert skipped == ["skip ", "skip ", "skip ", "skip 10"]


def test_exit_0_without_proof_is_a_crash(tmp_path: Path) -> None:
    bundle = Bundle(tmp_path, single({"vanish_at": 3}))
    bundle.foreground(check=76)
    assert "without saying that it was done" in bundle.records("crash")[0]["reason"]
    assert not bundle.records("done") or bundle.records("done")[0]["window"] == "home"


def test_a_stale_exit_record_proves_nothing(tmp_path: Path) -> None:
    bundle = Bundle(tmp_path, single({"vanish_at": 3, "save_every": 100}))
    for attempt in (1, 2, 3):
        folder = tmp_path / f"state/box/attempts/control/{attempt}"
        folder.mkdir(parents=True)
        tree = {
            "attempt": attempt,
            "nonce": "of another time",
            "rank": 0,
            "code": 0,
            "outcome": "done",
            "reason": "",
            "stop": None,
            "step": 20,
        }
        (folder / "exit-0.json").write_text(json.dumps(tree))
    bundle.foreground(check=76)
    assert len(bundle.records("crash")) == 3


def test_a_stop_rule_ends_the_run_and_only_that(tmp_path: Path) -> None:
    broken, good = run("broken", params={"nan_at": 7}), run("good")
    plan = campaign(
        runs=[broken, good],
        windows=[
            executes("broken", "train", broken),
            executes("good", "train", good, after=["broken"]),
            window("home", "retrieve", last=True),
        ],
        stops=[
            {
                "name": "broken",
                "when": {"text": "…", "expr": ["bool", False]},
                "runs": [],
                "because": "it never recovers",
            }
        ],
    )
    bundle = Bundle(tmp_path, plan)
    bundle.foreground(check=76)
    [stop] = bundle.records("stop")
    assert (stop["run_id"], stop["stop"], stop["step"], stop["value"]) == ("broken-0badcafe", "broken", 7, "loss = nan")
    assert stop["reason"] == "stop rule broken holds at step 7: loss = nan (it never recovers)"
    assert stop["metrics"]["loss"] == "nan"
    assert bundle.states() == {"broken": "finished", "good": "finished", "home": "finished"}


def test_a_configuration_error_ends_what_waits_for_it(tmp_path: Path) -> None:
    wrong, other = run("wrong", params={"misconfigured": True}), run("other")
    plan = campaign(
        runs=[wrong, other],
        windows=[
            executes("wrong", "train", wrong),
            executes("second", "train", other, after=["wrong"]),
            executes("other", "train", other),
            window("home", "retrieve", last=True),
        ],
        shutdown={"command": "touch shut_down", "when": "always", "elsewhere": None, "hold_s": 1},
    )
    bundle = Bundle(tmp_path, plan)
    bundle.foreground(check=78)
    assert bundle.states() == {"wrong": "failed", "second": "skipped", "other": "finished", "home": "finished"}
    assert not (tmp_path / "shut_down").exists(), "a machine with a configuration error is kept"
    assert len(bundle.records("start")) == 3


def test_an_identifier_of_another_configuration_is_refused(tmp_path: Path) -> None:
    bundle = Bundle(tmp_path, single({}))
    bundle.foreground()
    tree = json.loads((tmp_path / "campaign.json").read_text())
    tree["runs"][0]["ids"][0]["config_sha256"] = "1" * 64
    tree["windows"].insert(1, {**tree["windows"][0], "name": "again", "kind": "rerun"})
    (tmp_path / "campaign.json").write_text(json.dumps(tree))
    bundle.foreground(check=78)
    assert "a changed run needs a new identifier" in bundle.records("stop")[0]["reason"]


def test_a_hang_is_noticed_dumped_and_ended(tmp_path: Path) -> None:
    bundle = Bundle(tmp_path, single({"hang_at": 12}), CAMPC_HANG_S="4", CAMPC_GRACE_S="1")
    bundle.foreground()
    [hang] = bundle.records("hang")
    assert "gave no sign of life" in hang["reason"]
    assert "State: S (sleeping)" in bundle.logs()
    assert [record["step"] for record in bundle.records("resume")] == [0, 10]


def test_children_of_an_attempt_do_not_outlive_it(tmp_path: Path) -> None:
    bundle = Bundle(tmp_path, single({"children": True}))
    bundle.foreground()
    assert not bundle.processes()


def test_the_supervisor_is_killed_and_goes_on(tmp_path: Path) -> None:
    bundle = Bundle(tmp_path, single({"children": True, "hold_at": 12}))
    started = bundle.start()
    bundle.until(lambda: [r for r in bundle.records("checkpoint") if r["step"] == 10])
    before = bundle.processes()
    assert len(before) == 2
    os.kill(int((tmp_path / "state/box/launcher.lock").read_text()), signal.SIGKILL)
    bundle.until(lambda: not any(map(alive, before)), patience=60)
    assert started.wait(90) == 0
    assert "its supervisor was lost" in [record["reason"] for record in bundle.records("interrupted")]
    assert [record["step"] for record in bundle.records("resume")] == [0, 10]
    assert not bundle.processes()


def test_nothing_survives_when_keeper_and_supervisor_are_killed(tmp_path: Path) -> None:
    bundle = Bundle(tmp_path, single({"hold_at": 7}))
    started = bundle.start()
    bundle.until(lambda: bundle.records("checkpoint"))
    before = bundle.processes()
    assert before
    for name in ("keeper", "launcher"):
        os.kill(int((tmp_path / f"state/box/{name}.lock").read_text()), signal.SIGKILL)
    started.wait(90)
    bundle.until(lambda: not any(map(alive, before)), patience=60)
    bundle.foreground()
    assert [record["step"] for record in bundle.records("resume")][:2] == [0, 5]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1])
def test_a_signal_saves_and_leaves_and_a_later_launch_goes_on(tmp_path: Path, number: int) -> None:
    bundle = Bundle(tmp_path, single({"hold_at": 6, "save_every": 100}))
    started = bundle.start()
    bundle.until(lambda: [r for r in bundle.records("metric") if r["step"] >= 3])
    started.send_signal(number)
    assert started.wait(90) == 75
    [left] = bundle.records("interrupted")
    assert signal.Signals(number).name in left["reason"]
    step = bundle.records("checkpoint")[-1]["step"]
    assert not bundle.records("copy"), "an interrupted machine has no time to pack"
    bundle.foreground()
    assert bundle.records("resume")[-1]["step"] == step


def test_the_third_interrupt_forces(tmp_path: Path) -> None:
    bundle = Bundle(tmp_path, single({"step_s": 0.05}))
    script = (
        (tmp_path / "work/train.py")
        .read_text()
        .replace("    if asked:\n", "    if False:\n")
        .replace('run["steps"]', "10**6")
    )
    (tmp_path / "work/train.py").write_text(script)
    started = bundle.start()
    bundle.until(lambda: bundle.records("metric"))
    for _ in range(3):
        started.send_signal(signal.SIGINT)
        time.sleep(0.4)
    assert started.wait(90) == 75
    assert not bundle.processes()


def test_two_ranks_and_one_that_dies(tmp_path: Path) -> None:
    plan = single({"crash_at": 7, "crash_attempts": 1, "step_s": 0.02}, processes=2)
    bundle = Bundle(tmp_path, plan)
    bundle.foreground()
    assert len(bundle.records("done")) == 2
    assert "[0] args" in bundle.logs() and "[1] args" in bundle.logs()


def test_an_attempt_interrupted_from_outside_is_resubmitted(tmp_path: Path) -> None:
    bundle = Bundle(tmp_path, single({"hold_at": 6, "save_every": 100}))
    started = bundle.start()
    bundle.until(lambda: [r for r in bundle.records("metric") if r["step"] >= 3])
    bundle.until(bundle.ranks)
    os.kill(bundle.ranks()[0], signal.SIGTERM)
    assert started.wait(90) == 0
    assert len(bundle.records("interrupted")) == 1


@pytest.mark.timeout(180)
def test_torchrun_may_start_the_ranks(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    bundle = Bundle(
        tmp_path,
        single({"crash_at": 7, "crash_attempts": 1, "hold_at": 8, "hold_attempt": 2, "save_every": 3}, processes=2),
        OMP_NUM_THREADS="1",
    )
    command = ["./launch.sh", "run", "--foreground", "--cpu", "--launcher", "torchrun"]
    with open(tmp_path / "launch.out", "wb") as output:
        started = subprocess.Popen(command, cwd=tmp_path, env=bundle.environment, stdout=output, stderr=output)
    bundle.until(lambda: len(bundle.records("resume")) == 2, patience=90)
    started.send_signal(signal.SIGTERM)
    assert started.wait(60) == 75
    assert [record["step"] for record in bundle.records("resume")] == [0, 6]
    assert len(bundle.records("crash")) == 1 and len(bundle.records("interrupted")) == 1
    assert not bundle.processes()
    bundle.launch(*command[1:], check=0, timeout=90)
    assert [
        record["metrics"]["eval.accuracy"] for record in bundle.records("done") if record["window"] == "control"
    ] == [0.9]
