"""A lot of two nodes: one supervisor on each, one campaign."""

from __future__ import annotations

import copy
import json
import os
import shutil
import signal
import socket
from pathlib import Path
from typing import Any

import pytest

from campc_harness import jobs
from campc_harness.bundle import open_bundle
from tests.harness.bundles import Bundle, campaign, executes, run, window

SCRIPTS = Path(__file__).resolve().parent / "scripts"


def pair(params: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A run of two ranks, one on each machine of its lot."""
    control = run("control", params=params, gpus=2, processes=2, **more)
    plan = campaign(
        runs=[control],
        windows=[
            window("setup", "setup", command="true", gpus=[0, 1]),
            executes("control", "train", control, gpus=[0, 1]),
            window("home", "retrieve", last=True, gpus=[0, 1]),
        ],
    )
    plan["lots"][0]["package"].update(gpus=2, nodes=2)
    return plan


def nodes(folder: Path, plan: dict[str, Any], script: str | None = None) -> tuple[Bundle, Bundle]:
    """Two machines, each with its own copy of the bundle; `script`: what they train with."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = str(probe.getsockname()[1])
    shared = {"CAMPC_NODES": "2", "CAMPC_MASTER_ADDR": "127.0.0.1", "CAMPC_MASTER_PORT": port, "CAMPC_GRACE_S": "5"}
    made = (
        Bundle(folder / "first", plan, CAMPC_NODE_RANK="0", **shared),
        Bundle(folder / "second", plan, CAMPC_NODE_RANK="1", **shared),
    )
    for bundle in made:
        if script is not None:
            shutil.copy(SCRIPTS / script, bundle.root / "work/train.py")
            shutil.copy(SCRIPTS / "pace.py", bundle.root / "work")
    return made


def test_an_attempt_runs_on_both_nodes_and_is_retried_when_one_of_them_dies(tmp_path: Path) -> None:
    first, second = nodes(tmp_path, pair({"step_s": 0.02, "crash_at": 12, "crash_attempts": 1}))
    script = (second.root / "work/train.py").read_text()
    for bundle in (first, second):
        (bundle.root / "work/train.py").write_text(
            script.replace('params.get("crash_at")', '(params.get("crash_at") if rank else None)')
        )
    started = [second.start(), first.start()]
    assert [process.wait(60) for process in started] == [0, 0], first.logs() + (second.root / "launch.out").read_text()
    [crash] = first.records("crash")
    assert "node 1: rank 1 ended with exit code 3" in crash["reason"]
    assert [record["ranks"] for record in first.records("start") if record["window"] == "control"] == [2, 2]
    assert first.records("resume")[0]["step"] == 0
    assert first.states() == {"setup": "finished", "control": "finished", "home": "finished"}
    assert (second.root / "state/box/node-1/logs/control.2.log").read_text().startswith("[1] args")
    assert not (second.root / "state/box/ledger.jsonl").exists()


def test_a_node_that_is_gone_ends_the_attempt_and_its_return_begins_the_next(tmp_path: Path) -> None:
    first, second = nodes(tmp_path, pair({"step_s": 0.3, "save_every": 2}))
    one, other = first.start(), second.start()
    first.until(lambda: [r for r in first.records("checkpoint") if r["step"] == 2])
    for name in ("keeper", "launcher"):
        os.kill(int((second.root / f"state/box/node-1/{name}.lock").read_text()), signal.SIGKILL)
    other.wait(90)
    again = second.start()
    assert one.wait(60) == 0 and again.wait(60) == 0
    assert "node 1: it is gone" in first.records("crash")[0]["reason"]


def test_both_nodes_leave_when_asked(tmp_path: Path) -> None:
    first, second = nodes(tmp_path, pair({"hold_at": 6, "save_every": 1000}))
    started = [first.start(), second.start()]
    first.until(lambda: [r for r in first.records("metric") if r["step"] >= 3])
    for process in started:
        process.send_signal(signal.SIGTERM)
    assert [process.wait(90) for process in started] == [75, 75]
    assert not first.processes() and not second.processes()


@pytest.mark.parametrize("script", ["ddp.py", "fsdp.py", "hf_trainer.py", "lightning_module.py"])
def test_training_by_torch_goes_on_at_one_step_on_both_nodes(tmp_path: Path, script: str) -> None:
    for framework in {"hf_trainer.py": ["transformers"], "lightning_module.py": ["lightning"]}.get(script, []):
        pytest.importorskip(framework)
    digests = {}
    for name, hold in (("twin", {}), ("killed", {"hold": 8})):
        kept = {"to": str(tmp_path / name / "shared"), "every_s": None, "every_steps": 5, "keep": 2, "outside": False}
        params = {"steps": 30, **hold}
        first, second = nodes(tmp_path / name, pair(params, steps=30, checkpoint=kept), script)
        started = [second.start(), first.start()]
        if name == "killed":
            first.until(lambda bundle=first: bundle.records("checkpoint"), patience=120)
            found = second.processes()
            assert len(found) == 1, (found, first.records(), first.logs(), second.logs())
            [rank] = found
            os.kill(rank, signal.SIGKILL)
        assert [process.wait(150) for process in started] == [0, 0], first.logs() + second.logs()
        assert [record["step"] for record in first.records("done") if record["window"] == "control"] == [30]
        digests[name] = next((first.root / "runs/control-0badcafe/outputs").glob("digest*.txt")).read_text()
    assert digests["killed"] == digests["twin"]
    [crash] = first.records("crash")
    assert "rank 1 ended with signal SIGKILL" in crash["reason"]
    fresh, again = (record["step"] for record in first.records("resume"))
    assert fresh == 0 and again in {record["step"] for record in first.records("checkpoint")}
    logged = second.root / "state/box/node-1/attempts/control/2/metrics-1.jsonl"
    assert json.loads(logged.read_text().splitlines()[0])["step"] == again + 1


def test_preflight_says_what_several_machines_need(tmp_path: Path) -> None:
    first, _ = nodes(tmp_path, pair({}))
    alone = copy.copy(first)
    alone.environment = {name: value for name, value in first.environment.items() if name != "CAMPC_NODES"}
    said = first.launch("preflight", "--cpu").stdout
    assert "several machines keep their checkpoints at checkpoints" in said and "is told of" not in said
    said = alone.launch("preflight", "--cpu").stdout
    assert "the lot has 2 machines, and this launch is told of 1" in said and "CAMPC_NODE_RANK=…" in said


def wide(**windows: Any) -> dict[str, Any]:
    """A lot of two machines with two GPUs each, a run for each of its windows."""
    runs = [run(name, gpus=len(gpus), params={"hold_at": 8}) for name, gpus in windows.items()]
    trains = [executes(one["name"], "train", one, gpus=windows[one["name"]]) for one in runs]
    look = window("look", "evaluate", gpus=[3], after=[trains[-1]["name"]], command="echo $CAMPC_NODE_RANK > look.txt")
    plan = campaign(runs=runs, windows=[*trains, look, window("home", "retrieve", last=True, gpus=[0, 1, 2, 3])])
    plan["lots"][0]["package"].update(gpus=4, nodes=2)
    return plan


def test_windows_run_on_the_nodes_that_have_their_gpus(tmp_path: Path) -> None:
    first, _ = nodes(tmp_path, wide(near=[0, 1], far=[2, 3]))
    second = copy.copy(first)  # one folder that both machines share
    second.environment = {**first.environment, "CAMPC_NODE_RANK": "1"}
    started = [first.start(), second.start()]
    first.until(lambda: {"near", "far"} <= {record["window"] for record in first.records("metric")})
    assert first.states() == {"near": "started", "far": "started"}, "side by side"
    (first.root / "go").touch()
    assert [process.wait(60) for process in started] == [0, 0], first.logs()
    assert set(first.states().values()) == {"finished"}
    assert {record["window"]: record.get("node") for record in first.records("start")} == {
        "near": None,
        "far": 1,
        "look": 1,
        "home": None,
    }
    done = {record["window"]: record for record in first.records("done")}
    assert done["far"]["step"] == 20 and done["far"]["metrics"]["eval.accuracy"] == 0.9
    assert [record["step"] for record in first.records("checkpoint") if record["window"] == "far"] == [
        5,
        10,
        15,
        20,
        20,
    ]
    assert (first.root / "runs/far-0badcafe/outputs/predictions.csv").exists()
    assert (first.root / "look.txt").read_text() == "1\n"
    assert "[1] args" in (first.root / "state/box/node-1/logs/far.1.log").read_text()


def test_another_node_leaves_when_node_0_is_asked(tmp_path: Path) -> None:
    first, _ = nodes(tmp_path, wide(far=[2, 3]))
    second = copy.copy(first)
    second.environment = {**first.environment, "CAMPC_NODE_RANK": "1"}
    started = [first.start(), second.start()]
    first.until(lambda: first.records("checkpoint"))
    started[0].send_signal(signal.SIGTERM)
    assert [process.wait(90) for process in started] == [75, 75], first.logs()
    saved = first.records("checkpoint")[-1]["step"]
    assert first.records("interrupted")[-1]["step"] == saved and not first.processes()
    assert [process.wait(60) for process in (first.start(), second.start())] == [0, 0], first.logs()
    assert first.records("resume")[-1]["step"] == saved


def test_without_a_shared_disk_a_window_of_another_node_is_refused(tmp_path: Path) -> None:
    first, second = nodes(tmp_path, wide(far=[2, 3]))
    started = [first.start(), second.start()]
    assert [process.wait(60) for process in started] == [78, 78], first.logs()
    [end] = [record for record in first.records("window") if record["window"] == "far" and record["state"] == "failed"]
    assert "put the bundle on a disk that all nodes share, or use GPUs of node 0" in end["reason"]
    assert first.states()["home"] == "finished"


@pytest.mark.parametrize(
    ("gpus", "ranks", "shares"),
    [
        ([], 4, {0: 2, 1: 2}),
        ([0, 1, 2, 3], 2, {0: 1, 1: 1}),
        ([2, 3], 2, {1: 2}),
        ([1, 2, 3], 3, {0: 1, 1: 2}),
        ([0, 1, 2, 3], 3, {0: 2, 1: 1}),
        ([0, 2], 1, {0: 1}),
    ],
)
def test_ranks_are_dealt_by_the_gpus_of_each_node(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, gpus: list[int], ranks: int, shares: dict[int, int]
) -> None:
    one = run("one", processes=ranks)
    plan = campaign(runs=[one], windows=[executes("one", "train", one, gpus=gpus)])
    plan["lots"][0]["package"].update(gpus=4, nodes=2)
    bundle = Bundle(tmp_path / "one", plan)
    monkeypatch.setenv("CAMPC_NODES", "2")
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    first = 0
    for node, count in shares.items():
        monkeypatch.setenv("CAMPC_NODE_RANK", str(node))
        opened = open_bundle(bundle.root)
        [planned] = opened.windows
        assert jobs.shares(opened, planned) == shares
        [identity] = opened.plan.runs[0].ids
        job = jobs.run_job(opened, planned, opened.plan.runs[0], identity, 1, deadline=None)
        assert (job.ranks, job.first_rank, job.world) == (count, first, ranks)
        assert (job.nodes, job.node) == (len(shares), list(shares).index(node))
        here = [str(gpu % 2) for gpu in gpus if gpu // 2 == node]
        assert job.env.get("CUDA_VISIBLE_DEVICES") == (",".join(here) if gpus else None)
        first += count
    monkeypatch.delenv("CAMPC_NODES")
    rehearsed = jobs.run_job(opened, planned, opened.plan.runs[0], identity, 1, deadline=None, mode="rehearse")
    assert rehearsed.world == max(shares.values())
