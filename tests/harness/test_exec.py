"""Scripts that can't be changed: signals, deadline, ledger and restarts all the same."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from campc_harness.ledger import read
from tests.harness.bundles import ROOT, Bundle, campaign, executes, run, window

WRAPPED = 'exec "$CAMPC_PYTHON" -m campc_harness exec --checkpoints "$CAMPC_CHECKPOINTS" -- bash "$CAMPC_BUNDLE/work/old.sh" "$@"\n'


def wrapped(path: Path, script: str, **environment: str) -> Bundle:
    """A bundle whose run is a shell script that nobody may change."""
    old = run("control", script="work/train.sh", args=["a b", "$(touch pwned)"])
    plan = campaign(runs=[old], windows=[executes("control", "train", old), window("home", "retrieve", last=True)])
    bundle = Bundle(path, plan, **environment)
    (path / "work/train.sh").write_text(WRAPPED)
    (path / "work/old.sh").write_text(script)
    return bundle


def test_a_wrapped_script_is_retried_as_long_as_it_makes_progress(tmp_path: Path) -> None:
    script = """
mkdir -p "$CAMPC_CHECKPOINTS"
echo "args $1 $2"
count=$(ls "$CAMPC_CHECKPOINTS" | wc -l)
touch "$CAMPC_CHECKPOINTS/$count"
sleep 0.5
[ "$count" -ge 4 ] || exit 3
echo done > "$CAMPC_OUTPUTS/result.txt"
"""
    bundle = wrapped(tmp_path, script)
    bundle.foreground()
    assert len(bundle.records("crash")) == 4
    assert (tmp_path / "runs/control-0badcafe/outputs/result.txt").read_text() == "done\n"
    assert re.search(r"saved \d\d:\d\d UTC", bundle.launch("status").stdout)
    assert "args a b $(touch pwned)" in bundle.logs() and not list(tmp_path.rglob("pwned"))


def test_a_wrapped_script_without_progress_is_given_up(tmp_path: Path) -> None:
    bundle = wrapped(tmp_path, "exit 3\n")
    bundle.foreground(check=76)
    assert len(bundle.records("start")) == 4


def test_a_wrapped_script_is_interrupted_and_goes_on(tmp_path: Path) -> None:
    script = """
trap 'echo saved > "$CAMPC_BUNDLE/saved"; exit 1' TERM
[ -e "$CAMPC_BUNDLE/saved" ] && exit 0
touch "$CAMPC_BUNDLE/listens"
for i in $(seq 2000); do sleep 0.1; done
"""
    bundle = wrapped(tmp_path, script)
    started = bundle.start()
    bundle.until(lambda: (tmp_path / "listens").exists())
    started.send_signal(signal.SIGTERM)
    assert started.wait(90) == 75
    assert bundle.records("interrupted")[0]["reason"] == "asked by SIGTERM; the command ended with exit code 1"
    assert not bundle.processes()
    bundle.foreground()


SAVES = """
mkdir -p "$CAMPC_CHECKPOINTS"
begun=$(ls "$CAMPC_CHECKPOINTS" | wc -l)
touch "$CAMPC_CHECKPOINTS/$begun"
"""


@pytest.mark.parametrize(
    ("script", "code", "said"),
    [
        (SAVES + "exec sleep 600", 0, "was killed when it had saved, and saved again when it was begun again"),
        (
            "[ -e $CAMPC_CHECKPOINTS/0 ] && exit 0" + SAVES + "exec sleep 600",
            0,
            "was killed when it had saved, and ended well when it was",
        ),
        (SAVES, 0, "ended before it could be killed, and saved again when it was begun again"),
        ("exit 0", 1, "the first attempt wrote no checkpoint"),
        (
            SAVES + "echo lost; [ $begun = 1 ] && exit 4; exec sleep 600",
            1,
            "begun again ended as crash: rank 0 ended with exit code 4; its last line: lost",
        ),
    ],
)
def test_a_wrapped_script_is_rehearsed(tmp_path: Path, script: str, code: int, said: str) -> None:
    bundle = wrapped(tmp_path, script)
    done = bundle.launch("rehearse", "--cpu", check=code)
    assert said in done.stdout
    assert ("could not be compared" in done.stdout) == (code == 0)
    assert not bundle.processes() and not list((tmp_path / "checkpoints").glob("*"))


@pytest.mark.parametrize(("script", "code"), [("exit 0", 0), ("exit 4", 1)])
def test_what_a_wrapped_script_saves_may_not_be_known(tmp_path: Path, script: str, code: int) -> None:
    bundle = wrapped(tmp_path, script)
    (tmp_path / "work/train.sh").write_text(WRAPPED.replace('--checkpoints "$CAMPC_CHECKPOINTS" ', ""))
    done = bundle.launch("rehearse", "--cpu", check=code)
    assert ("no resumption was tried" if code == 0 else "with --checkpoints FOLDER it is killed") in done.stdout


def test_by_hand_a_command_gets_a_ledger_and_bounded_restarts(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "compiler"), "CAMPC_PAUSE_S": "0.05"}
    command = [sys.executable, "-m", "campc_harness", "exec", "--", "bash", "-c", "echo try; test -e ready"]
    failed = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=60)
    assert failed.returncode == 1 and failed.stdout.splitlines().count("try") == 3
    found = read(tmp_path / "campc-exec/ledger.jsonl")
    assert [record.event for record in found.records] == ["launch"] + ["start", "crash"] * 3
    (tmp_path / "ready").touch()
    assert subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, timeout=60).returncode == 0


def test_by_hand_a_command_is_retried_as_long_as_it_makes_progress(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "compiler"), "CAMPC_PAUSE_S": "0.05"}
    old = "mkdir -p ck; n=$(ls ck | wc -l); [ $n -ge 6 ] && exit 4; touch ck/$n; exit 3"
    command = [sys.executable, "-m", "campc_harness", "exec", "--checkpoints", "ck", "--", "bash", "-c", old]
    failed = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=60)
    assert failed.returncode == 4
    crashes = [
        record.more["code"] for record in read(tmp_path / "campc-exec/ledger.jsonl").records if record.event == "crash"
    ]
    assert crashes == [3] * 6 + [4] * 3


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2])
@pytest.mark.parametrize(
    ("command", "ended"),
    [
        ("exec sleep 60", None),
        ("trap 'exit 0' TERM INT HUP USR1 USR2; echo ready; while :; do sleep 0.1; done", "exit code 0"),
        ("trap 'exit 7' TERM INT HUP USR1 USR2; echo ready; while :; do sleep 0.1; done", "exit code 7"),
    ],
    ids=["no handler", "saves", "complains"],
)
def test_by_hand_a_command_that_is_asked_to_leave_is_interrupted(
    tmp_path: Path, number: signal.Signals, command: str, ended: str | None
) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "compiler")}
    argv = [sys.executable, "-m", "campc_harness", "exec", "--", "bash", "-c", f"echo ready; {command}"]
    with subprocess.Popen(argv, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        if ended is not None:
            assert process.stdout.readline() == "ready\n"  # now the trap is set
        process.send_signal(number)
        assert process.wait(60) == 75
    last = read(tmp_path / "campc-exec/ledger.jsonl").records[-1]
    assert last.event == "interrupted" and last.reason is not None
    assert last.reason.startswith(f"asked by {number.name}; the command ") and last.reason.endswith(
        ended or f"signal {number.name}"
    )
