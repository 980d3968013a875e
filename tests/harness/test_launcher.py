"""Whole launches of small bundles: real processes, real signals."""

from __future__ import annotations

import json
import platform
from pathlib import Path

import torch

from tests.harness.bundles import Bundle, campaign, executes, run, window

CONTROL = run("control")
PLAN = campaign(
    runs=[CONTROL],
    windows=[
        window("prepare", "prepare", lot=None, gpus=[]),
        window("setup", "setup", after=["prepare"], command="echo set up > setup.txt"),
        window("pilot", "pilot", run="control", run_ids=["control-0badcafe"], after=["setup"], limit_steps=5),
        executes("control", "train", CONTROL, after=["pilot"]),
        window("home", "retrieve", last=True, to="home"),
    ],
)


def test_a_whole_campaign_ends_with_its_package_at_home(tmp_path: Path) -> None:
    bundle = Bundle(tmp_path / "b", PLAN)
    bundle.foreground()
    assert bundle.states() == {"setup": "finished", "pilot": "finished", "control": "finished", "home": "finished"}
    assert (bundle.root / "runs/control-0badcafe/outputs/predictions.csv").exists()
    assert (bundle.root / "runs/control-0badcafe/pilot/outputs/predictions.csv").exists()
    assert (bundle.root / "home/box/package.tar.gz").exists()
    assert not bundle.processes()


def test_the_package_says_what_its_results_were_made_with(tmp_path: Path) -> None:
    control = run("control", base="org/base@1a2b3c4")
    bundle = Bundle(tmp_path, campaign(runs=[control, run("other")], windows=[executes("control", "train", control)]))
    bundle.launch("pack", check=0)
    said = json.loads((tmp_path / "package/environment.json").read_text())
    assert said["torch"]["version"] == torch.__version__ and said["torch"].get("cuda") == torch.version.cuda
    assert said["torch"]["git_version"] == torch.version.git_version
    assert any(line.startswith("torch==") for line in said["packages"])
    assert said["python"] == platform.python_version() and {"driver", "cuda", "gpus"} <= set(said)
    assert said["bases"] == {"control": "org/base@1a2b3c4"}


def chain(*windows: dict[str, object], **sections: object) -> dict[str, object]:
    """A plan of these windows, with the runs `control` and `other`."""
    return campaign(runs=[CONTROL, OTHER], windows=list(windows), **sections)


OTHER = run("other", params={"accuracy": 0.5})
PILOT = executes("pilot", "pilot", CONTROL, limit_steps=5)
METRIC = ["metric", "eval.accuracy", "control"]


def gate(when: list[object], **more: object) -> dict[str, object]:
    return {
        "name": "worth_it",
        "after": "pilot",
        "question": "Is it worth going on?",
        "when": {"text": "…", "expr": when},
        "otherwise": "reduce",
        "drops": {"tiers": ["useful"], "windows": []},
        "enough": None,
        "wait_s": 3600,
        "if_silent": "reduce",
        **more,
    }


HOME = window("home", "retrieve", last=True, to="home")
AFTER_GATE = (
    PILOT,
    executes("control", "train", CONTROL, after=["pilot"]),
    executes("other", "train", OTHER, after=["pilot"], tier="useful"),
    window("compare", "evaluate", after=["other"], tier="useful", command="echo compared"),
    HOME,
)


def test_a_gate_that_holds_lets_everything_go_on(tmp_path: Path) -> None:
    bundle = Bundle(tmp_path, chain(*AFTER_GATE, gates=[gate([">=", METRIC, ["number", 0.8]])]))
    bundle.foreground()
    assert set(bundle.states().values()) == {"finished"}
    [found] = bundle.records("gate")
    assert (found["result"], found["values"]) == ("continue", "control.eval.accuracy = 0.9")


def test_a_gate_that_fails_reduces(tmp_path: Path) -> None:
    bundle = Bundle(tmp_path, chain(*AFTER_GATE, gates=[gate([">=", METRIC, ["number", 0.95]])]))
    bundle.foreground()
    expected = {
        "pilot": "finished",
        "control": "finished",
        "other": "skipped",
        "compare": "skipped",
        "home": "finished",
    }
    assert bundle.states() == expected
    assert bundle.records("gate")[0]["dropped"] == ["compare", "other"]


def test_a_gate_that_stops_still_brings_results_home(tmp_path: Path) -> None:
    bundle = Bundle(tmp_path, chain(*AFTER_GATE, gates=[gate([">=", METRIC, ["number", 0.95]], otherwise="stop")]))
    bundle.foreground()
    assert bundle.states()["control"] == "skipped" and bundle.states()["home"] == "finished"
    assert (tmp_path / "home/box/package.tar.gz").exists()


def test_a_question_that_is_answered_concludes_early(tmp_path: Path) -> None:
    enough = {"text": "…", "expr": [">", METRIC, ["number", 0.85]]}
    bundle = Bundle(tmp_path, chain(*AFTER_GATE, gates=[gate([">=", METRIC, ["number", 0.8]], enough=enough)]))
    bundle.foreground()
    assert bundle.records("gate")[-1]["result"] == "conclude"
    assert bundle.states()["control"] == "skipped"


def test_a_gate_without_its_metric_waits_and_then_does_as_planned(tmp_path: Path) -> None:
    unknown = [">=", ["metric", "eval.f1", "control"], ["number", 0.8]]
    bundle = Bundle(tmp_path, chain(*AFTER_GATE, gates=[gate(unknown, wait_s=1)]))
    bundle.foreground()
    assert [record["result"] for record in bundle.records("gate")] == ["wait", "reduce"]
    assert bundle.states()["other"] == "skipped"


def test_a_plan_that_is_to_be_revisited_ends_and_keeps_the_machine(tmp_path: Path) -> None:
    failed = gate([">=", METRIC, ["number", 0.95]], otherwise="revisit")
    shutdown = {"command": "touch shut_down", "when": "always", "elsewhere": None, "hold_s": 1}
    bundle = Bundle(tmp_path, chain(*AFTER_GATE, gates=[failed], shutdown=shutdown))
    bundle.launch("decide", "worth_it", "revisit", "--because", "the rate is wrong", check=0)
    bundle.foreground()
    assert bundle.states()["control"] == "skipped" and bundle.states()["home"] == "finished"
    assert not (tmp_path / "shut_down").exists()
    assert bundle.records("note")[-1]["text"] == "the machine is kept: the plan is to be revisited (gate worth_it)"


def test_people_decide_a_waiting_gate(tmp_path: Path) -> None:
    unknown = [">=", ["metric", "eval.f1", "control"], ["number", 0.8]]
    bundle = Bundle(tmp_path, chain(*AFTER_GATE, gates=[gate(unknown)]))
    started = bundle.start()
    bundle.until(lambda: bundle.records("gate"))
    shown = bundle.launch("status", check=0).stdout
    assert "gate worth_it waits 60 min more, then: reduce" in shown
    assert "reduce would give up 2 windows and save 2.0 h" in shown
    bundle.launch("decide", "nonsense", "continue", "--because", "x", check=78)
    bundle.launch("decide", "worth_it", "continue", "--because", "it looks well", check=0)
    assert started.wait(90) == 0
    assert set(bundle.states().values()) == {"finished"}


def test_what_no_longer_fits_waits_for_the_rest_or_is_given_up_lowest_tier_first(tmp_path: Path) -> None:
    plan = chain(
        executes("other", "train", OTHER, tier="useful", takes=50),
        executes("control", "train", CONTROL, takes=50),
        window("extra", "other", tier="exploratory", takes=90, command="true"),
        {**HOME, "takes": {"low_s": 20, "likely_s": 20, "high_s": 20}},
        lot={"usable_end_s": 100},
    )
    bundle = Bundle(tmp_path, plan)
    bundle.foreground()
    assert bundle.states() == {"other": "finished", "control": "finished", "extra": "skipped", "home": "finished"}
    assert [record["window"] for record in bundle.records("start")] == ["control", "other", "home"]
    reasons = {record["window"]: record["reason"] for record in bundle.records("window")}
    assert reasons["extra"].startswith("no time left for it: 90 s and 20 s to bring results home in")


def test_a_run_leaves_before_the_usable_end(tmp_path: Path) -> None:
    slow = run("control", params={"step_s": 0.05}, steps=10_000)
    plan = campaign(
        runs=[slow],
        windows=[
            executes("control", "train", slow, takes=5),
            {**HOME, "takes": {"low_s": 3, "likely_s": 3, "high_s": 3}},
        ],
        lot={"usable_end_s": 9},
    )
    bundle = Bundle(tmp_path, plan, CAMPC_MARGIN_S="0.5")
    bundle.foreground(check=77)
    assert bundle.records("deadline")[0]["window"] == "control"
    assert bundle.states() == {"control": "failed", "home": "finished"}
    assert bundle.records("checkpoint")


def test_what_minds_no_deadline_is_ended_in_time_to_bring_results_home(tmp_path: Path) -> None:
    plan = campaign(
        windows=[
            window("setup", "setup", takes=2, command="sleep 600"),
            {**HOME, "takes": {"low_s": 3, "likely_s": 3, "high_s": 3}},
        ],
        lot={"usable_end_s": 7},
    )
    bundle = Bundle(tmp_path, plan)
    bundle.foreground(check=77)
    assert bundle.records("deadline")[0]["window"] == "setup"
    assert bundle.states() == {"setup": "failed", "home": "finished"}
    assert not bundle.processes()


def test_a_failing_command_is_retried_then_ends_what_waits_for_it(tmp_path: Path) -> None:
    plan = chain(
        window("setup", "setup", command="echo once >> tries.txt; test -e ready"),
        executes("control", "train", CONTROL, after=["setup"]),
        HOME,
    )
    bundle = Bundle(tmp_path, plan)
    bundle.foreground(check=1)
    assert (tmp_path / "tries.txt").read_text().count("once") == 3
    assert bundle.states() == {"setup": "failed", "control": "skipped", "home": "finished"}
    # Somebody mends it, and launches again.
    (tmp_path / "ready").touch()
    bundle.foreground()
    assert bundle.states() == {"setup": "finished", "control": "finished", "home": "finished"}
    assert bundle.records("window")[-1]["window"] == "home"


def test_a_corpus_is_verified(tmp_path: Path) -> None:
    corpus = {"name": "digits", "path": "digits.csv", "sha256": None, "rows": 3, "ids": "id", "sample": None}
    bundle = Bundle(tmp_path, chain(window("check", "data_check"), corpora=[corpus]))
    (tmp_path / "work/digits.csv").write_text("id,x\n1,2\n1,3\n")
    done = bundle.launch("preflight", "--cpu", check=78)
    assert "has 2 rows, the plan says 3" in done.stdout and "more than once" in done.stdout
    bundle.launch("run", "--foreground", "--cpu", "--anyway", check=1)
    assert bundle.states()["check"] == "failed"
    (tmp_path / "work/digits.csv").write_text("id,x\n1,2\n2,3\n3,4\n")
    bundle.foreground()
    assert bundle.states()["check"] == "finished"


def test_what_is_run_and_what_is_taken_as_done_by_hand(tmp_path: Path) -> None:
    plan = chain(
        window("setup", "setup"),
        executes("control", "train", CONTROL),
        executes("other", "infer", OTHER),
        executes("judge", "evaluate", CONTROL, after=["control"]),
        executes(
            "score", "evaluate", CONTROL, after=["control"], command='echo "$CAMPC_RUN_ID" > "$CAMPC_OUTPUTS/score.txt"'
        ),
    )
    bundle = Bundle(tmp_path, plan)
    bundle.foreground()
    states = {"setup": "recorded", "control": "finished", "other": "finished", "judge": "recorded", "score": "finished"}
    assert bundle.states() == states
    assert (tmp_path / "runs/other-0badcafe/outputs/predictions.csv").exists()
    assert (tmp_path / "runs/control-0badcafe/outputs/score.txt").read_text() == "control-0badcafe\n"


def test_windows_on_different_gpus_run_at_the_same_time(tmp_path: Path) -> None:
    slow, other = run("control", params={"step_s": 0.05}), run("other", params={"step_s": 0.05})
    plan = campaign(
        runs=[slow, other],
        windows=[executes("control", "train", slow, gpus=[0]), executes("other", "train", other, gpus=[1])],
    )
    plan["lots"][0]["package"]["gpus"] = 2
    bundle = Bundle(tmp_path, plan)
    bundle.foreground()
    started = {record["window"]: record["time"] for record in bundle.records("start")}
    ended = {record["window"]: record["time"] for record in bundle.records("done")}
    assert max(started.values()) < min(ended.values())


def test_two_launchers_at_once(tmp_path: Path) -> None:
    slow = run("control", params={"hold_at": 5})
    bundle = Bundle(tmp_path, campaign(runs=[slow], windows=[executes("control", "train", slow)]))
    started = bundle.start()
    bundle.until(lambda: bundle.records("metric"))
    second = bundle.launch("run", "--foreground", "--cpu", check=1)
    assert "this lot is being run already, by process" in second.stdout
    (bundle.root / "go").touch()
    assert started.wait(90) == 0
    assert len(bundle.records("start")) == 1


def test_a_launch_outlives_its_terminal_and_stops_when_asked(tmp_path: Path) -> None:
    slow = run("control", params={"step_s": 0.1, "save_every": 1000}, steps=1000)
    bundle = Bundle(tmp_path, campaign(runs=[slow], windows=[executes("control", "train", slow), HOME]))
    bundle.launch("--cpu", check=0)
    bundle.until(lambda: bundle.records("metric"))
    assert "the launcher runs as process" in bundle.launch("status").stdout
    bundle.launch("stop", "--because", "enough for today", check=0)
    bundle.until(lambda: bundle.records("copy"))
    bundle.until(lambda: not bundle.processes())
    assert bundle.records("interrupted")[0]["reason"].startswith("asked by SIGTERM")
    assert "home" not in bundle.states()
    assert bundle.launch("stop").stdout == "nothing runs on this lot\n"


def test_a_skipped_window_is_given_up(tmp_path: Path) -> None:
    bundle = Bundle(tmp_path, PLAN)
    bundle.launch("skip", "pilot", "--because", "done on another machine", check=0)
    bundle.foreground()
    assert [record["window"] for record in bundle.records("start")] == ["setup", "home"]
    assert bundle.states()["control"] == "skipped", "what comes after skipped windows only is given up too"


def test_a_running_window_can_be_given_up(tmp_path: Path) -> None:
    slow = run("control", params={"step_s": 0.05}, steps=10_000)
    plan = campaign(
        runs=[slow, OTHER], windows=[executes("control", "train", slow), executes("other", "train", OTHER), HOME]
    )
    bundle = Bundle(tmp_path, plan)
    started = bundle.start()
    bundle.until(lambda: bundle.records("metric"))
    bundle.launch("skip", "control", "--because", "it leads nowhere", check=0)
    assert started.wait(90) == 0
    assert bundle.states() == {"control": "started", "other": "finished", "home": "finished"}
    assert [record["reason"] for record in bundle.records("interrupted")] == ["asked by SIGTERM"]
    assert "skipped" in bundle.launch("status").stdout


def test_shutdown_comes_after_the_results_are_home(tmp_path: Path) -> None:
    shutdown = {
        "command": "ls home/box > seen_at_the_end; echo released",
        "when": "always",
        "elsewhere": None,
        "hold_s": 5,
    }
    bundle = Bundle(tmp_path, {**PLAN, "shutdown": shutdown})
    bundle.foreground()
    assert "package.tar.gz" in (tmp_path / "seen_at_the_end").read_text()
    assert [record["event"] for record in bundle.records()][-2:] == ["shutdown", "released"]
    kept = Bundle(tmp_path / "kept", {**PLAN, "shutdown": shutdown})
    kept.launch("run", "--foreground", "--cpu", "--keep-machine", check=0)
    assert not kept.records("shutdown")


def test_notifications(tmp_path: Path) -> None:
    notify = [{"command": "cat >> told.jsonl", "on": ["done", "gate"]}]
    bundle = Bundle(tmp_path, {**PLAN, "notify": notify})
    bundle.foreground()
    told = (tmp_path / "told.jsonl").read_text()
    assert told.count('"event": "done"') == 4 and '"lot": "box"' in told


def test_a_plan_that_asks_for_a_rehearsal_is_not_launched_without(tmp_path: Path) -> None:
    preflight = {"quota": None, "capacity": None, "staged": None, "budget_alert": None, "dry_run": True}
    bundle = Bundle(tmp_path, {**PLAN, "preflight": preflight})
    refused = bundle.launch("run", "--foreground", "--cpu", check=78)
    assert "./launch.sh rehearse" in refused.stdout
    assert not bundle.records("launch")
    record = {"plan_hash": PLAN["plan_hash"], "passed": True, "machine": "cheap-box", "runs": {}}
    (tmp_path / "rehearsal.json").write_text(json.dumps(record))
    assert "rehearsed on cheap-box" in bundle.foreground().stdout
