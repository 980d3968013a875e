"""A lot of two nodes: one supervisor on each, one campaign."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
from pathlib import Path
from typing import Any

from tests.harness.bundles import Bundle, campaign, executes, run, window


SCRIPTS = Path(__file__).resolve().parent / "scripts"


def nodes(folder: Path, params: dict[str, Any], script: str | None = None, **more: Any) -> tuple[Bundle, Bundle]:
    """Two machines, each with its own copy of the bundle; `script`: what they train with."""
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
    return made


def test_an_attempt_runs_on_both_nodes_and_is_retried_when_one_of_them_dies(tmp_path: Path) -> None:
    first, second = nodes(tmp_path, {"step_s": 0.02, "crash_at": 12, "crash_attempts": 1})
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
    first, second = nodes(tmp_path, {"step_s": 0.3, "save_every": 2})
    one, other = first.start(), second.start()
    first.until(lambda: [r for r in first.records("checkpoint") if r["step"] == 2])
    for name in ("keeper", "launcher"):
        os.kill(int((second.root / f"state/box/node-1/{name}.lock").read_text()), signal.SIGKILL)
    other.wait(10)
    again = second.start()
    assert one.wait(60) == 0 and again.wait(60) == 0
    assert "node 1: it is gone" in first.records("crash")[0]["reason"]


def test_both_nodes_leave_when_asked(tmp_path: Path) -> None:
    first, second = nodes(tmp_path, {"step_s": 0.05, "save_every": 1000})
    started = [first.start(), second.start()]
    first.until(lambda: [r for r in first.records("metric") if r["step"] >= 3])
    for process in started:
        process.send_signal(signal.SIGTERM)
    assert [process.wait(30) for process in started] == [75, 75]
    assert not first.processes() and not second.processes()


def test_training_by_torch_goes_on_at_one_step_on_both_nodes(tmp_path: Path) -> None:
    digests = {}
    for name, pause in (("twin", 0.0), ("killed", 0.15)):
        kept = {"to": str(tmp_path / name / "shared"), "every_s": None, "every_steps": 5, "keep": 2, "outside": False}
        params = {"steps": 30, "pause": pause}
        first, second = nodes(tmp_path / name, params, "ddp.py", steps=30, checkpoint=kept)
        started = [second.start(), first.start()]
        if name == "killed":
            first.until(lambda bundle=first: bundle.records("checkpoint"), patience=120)
            [rank] = second.processes()
            os.kill(rank, signal.SIGKILL)
        assert [process.wait(150) for process in started] == [0, 0], first.logs() + second.logs()
        assert [record["step"] for record in first.records("done") if record["window"] == "control"] == [30]
        digests[name] = (first.root / "runs/control-0badcafe/outputs/digest.txt").read_text()
    assert digests["killed"] == digests["twin"]
    [crash] = first.records("crash")
    assert "rank 1 ended with signal SIGKILL" in crash["reason"]
    fresh, again = (record["step"] for record in first.records("resume"))
    assert fresh == 0 and again > 0 and again % 5 == 0
    logged = second.root / "state/box/node-1/attempts/control/2/metrics-1.jsonl"
    assert json.loads(logged.read_text().splitlines()[0])["step"] == again + 1
