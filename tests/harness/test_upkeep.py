"""What keeps a long campaign going and tidy: thinning, cleanup, a keeper that gives up, logs that are followed."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from campc_harness import keeper
from campc_harness.job import Job
from campc_harness.ledger import Ledger, read
from campc_harness.redact import Redactor
from campc_harness.reports import Recorder
from campc_harness.supervisor import Attempt
from campc_harness.torchrun import TorchrunAttempt
from tests.harness.bundles import ROOT, Bundle, campaign, executes, run, window


def test_metrics_are_thinned_and_the_newest_is_never_lost(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger.jsonl", "box", "here")
    recorder = Recorder(ledger, "control", "control-0badcafe", 1)
    for step in range(20_000):
        recorder.take({"event": "metric", "rank": 0, "step": step, "values": {"loss": float(step)}})
        if step % 5000 == 0:
            recorder.take({"event": "metric", "rank": 0, "step": step, "values": {"eval.accuracy": step / 1e5}})
    recorder.take({"event": "metric", "rank": 0, "step": 20_000, "values": {"loss": "nan"}})
    recorder.take({"event": "metric", "rank": 0, "step": 20_001, "values": {"loss": 7.0}})
    recorder.take({"event": "checkpoint", "rank": 0, "step": 20_001, "bytes": 1})
    metrics = [record for record in read(tmp_path / "ledger.jsonl").records if record.event == "metric"]
    assert 200 <= len(metrics) < 300
    assert sum("eval.accuracy" in record.more["values"] for record in metrics) == 4, "what is rare is kept whole"
    assert [record.more["values"]["loss"] for record in metrics[-2:]] == ["nan", 7.0]


def test_cleanup_removes_what_it_names_and_no_deliverable_checkpoint_or_stranger(tmp_path: Path) -> None:
    control = run("control", params={"step_s": 0.001})
    plan = campaign(
        runs=[control],
        windows=[executes("control", "train", control)],
        deliverables=[{"name": "predictions", "of": ["control"], "path": "predictions.csv"}],
        cleanup=[
            {"paths": ["cache/*", "*.tmp", "../outside", "**/*"], "after_s": 0},
            {"paths": ["late"], "after_s": 1},
        ],
    )
    bundle = Bundle(tmp_path / "b", plan)
    script = (bundle.root / "work/train.py").read_text()
    script += '\nopen(os.path.join(env["CAMPC_OUTPUTS"], "scratch.tmp"), "w").close()\n'
    (bundle.root / "work/train.py").write_text(
        script.replace("leave(0,", 'open(os.path.join(env["CAMPC_OUTPUTS"], "scratch.tmp"), "w").close()\nleave(0,')
    )
    (bundle.root / "outside").write_text("")
    (bundle.root / "work/cache").mkdir()
    (bundle.root / "work/cache/shard").write_text("")
    bundle.foreground()
    outputs = bundle.root / "runs/control-0badcafe/outputs"
    assert sorted(path.name for path in outputs.iterdir()) == ["predictions.csv"]
    assert not (bundle.root / "work/cache/shard").exists()
    assert (bundle.root / "work/train.py").exists() and (bundle.root / "outside").exists()
    assert list((bundle.root / "checkpoints").rglob("at-0"))


def test_cleanup_after_a_while(tmp_path: Path) -> None:
    control = run("control", params={"step_s": 0.001})
    cleanup = [{"paths": ["late"], "after_s": 1}]
    bundle = Bundle(
        tmp_path, campaign(runs=[control], windows=[executes("control", "train", control)], cleanup=cleanup)
    )
    (tmp_path / "work/late").write_text("")
    bundle.foreground()
    assert (tmp_path / "work/late").exists()
    bundle.until(lambda: not (tmp_path / "work/late").exists())
    bundle.until(lambda: [r for r in bundle.records("note") if r["text"] == "removed work/late"])


def test_a_supervisor_that_can_not_be_kept_alive_still_brings_results_home(tmp_path: Path) -> None:
    slow = run("control", params={"step_s": 0.1}, steps=10_000)
    shutdown = {"command": "touch shut_down", "when": "always", "elsewhere": None, "hold_s": 1}
    plan = campaign(
        runs=[slow],
        windows=[executes("control", "train", slow), window("home", "retrieve", last=True, to="home")],
        shutdown=shutdown,
    )
    bundle = Bundle(tmp_path, plan, CAMPC_RESTARTS="1")
    started = bundle.start()
    for count in (1, 2):
        bundle.until(lambda count=count: len(bundle.records("launch")) == count)
        os.kill(int((tmp_path / "state/box/launcher.lock").read_text()), signal.SIGKILL)
    assert started.wait(90) == 70
    assert (tmp_path / "home/box/package.tar.gz").exists() and (tmp_path / "shut_down").exists()
    assert not bundle.processes()


def test_logs_are_followed_to_the_end(tmp_path: Path) -> None:
    slow = run("control", params={"step_s": 0.05})
    bundle = Bundle(tmp_path, campaign(runs=[slow], windows=[executes("control", "train", slow)]))
    bundle.launch("--cpu", check=0)
    shown = bundle.launch("logs", "--follow", check=0, timeout=60).stdout
    assert "control: starts" in shown and "args []" in shown and "control: done" in shown


def test_a_terminal_gets_a_progress_line(tmp_path: Path) -> None:
    slow = run("control", params={"step_s": 0.1}, steps=40)
    bundle = Bundle(tmp_path, campaign(runs=[slow], windows=[executes("control", "train", slow)]))
    master, terminal = pty.openpty()
    process = subprocess.Popen(
        ["./launch.sh", "--foreground", "--cpu"],
        cwd=tmp_path,
        env=bundle.environment,
        stdin=terminal,
        stdout=terminal,
        stderr=terminal,
    )
    os.close(terminal)
    seen = b""
    end = time.monotonic() + 40
    while time.monotonic() < end:
        try:
            block = os.read(master, 4096)
        except OSError:
            break
        if not block:
            break
        seen += block
    os.close(master)
    assert process.wait(90) == 0
    assert b"\r\x1b[Kcontrol-0badcafe train" in seen and b" of 40  loss 0." in seen


def test_looking_at_a_lock_never_keeps_a_launcher_from_it(tmp_path: Path) -> None:
    lock = tmp_path / "launcher.lock"
    assert keeper.holder(lock) is None
    code = "import sys\nfrom pathlib import Path\nfrom campc_harness import keeper\nwhile True: keeper.holder(Path(sys.argv[1]))\n"
    onlooker = subprocess.Popen([sys.executable, "-c", code, str(lock)], env={"PYTHONPATH": str(ROOT / "compiler")})
    try:
        for _ in range(300):
            with keeper.locked(lock):
                assert keeper.holder(lock) == os.getpid()
    finally:
        onlooker.kill()
        onlooker.wait()
    with keeper.locked(lock), pytest.raises(keeper.Busy, match=f"by process {os.getpid()}"), keeper.locked(lock):
        pass


def test_preflight_says_how_much_time_is_left(tmp_path: Path) -> None:
    control = run("control")
    windows = [executes("control", "train", control)]
    over = Bundle(
        tmp_path / "over", campaign(runs=[control], windows=windows, lot={"usable_end": "2026-01-01T00:00:00+01:00"})
    )
    assert "the lot's usable time ended" in over.launch("preflight", "--cpu", check=78).stdout
    ahead = Bundle(
        tmp_path / "ahead", campaign(runs=[control], windows=windows, lot={"usable_end": "2099-01-01T00:00:00Z"})
    )
    assert "are left in the lot, the windows take 60 min" in ahead.launch("preflight", "--cpu", check=0).stdout


def test_a_log_does_not_grow_for_ever(tmp_path: Path) -> None:
    job = Job(
        window="w",
        attempt=1,
        argv=(sys.executable, "-c", "for i in range(20000): print('line', i)"),
        cwd=tmp_path,
        env=os.environ,
        log=tmp_path / "w.1.log",
        folder=tmp_path / "1",
        proof=False,
        log_limit=20_000,
    )
    attempt = Attempt(job, lambda _: None, Redactor(()))
    while (ending := attempt.poll()) is None:
        time.sleep(0.01)
    assert ending.outcome == "done"
    assert sorted(path.name for path in tmp_path.glob("*.log*")) == ["w.1.log", "w.1.log.old"]
    whole = (tmp_path / "w.1.log.old").read_text() + (tmp_path / "w.1.log").read_text()
    assert whole.endswith("line 19999\n") and len(whole) < 400_000


def test_an_attempt_by_torchrun_that_cannot_be_prepared_is_told_as_any_other(tmp_path: Path) -> None:
    folder = tmp_path / "1"
    (folder / "life.fifo").mkdir(parents=True)  # where the pipe is to be
    job = Job(
        window="w",
        attempt=1,
        argv=("true",),
        cwd=tmp_path,
        env=os.environ,
        log=tmp_path / "w.1.log",
        folder=folder,
        torchrun=True,
    )
    with pytest.raises(OSError, match=r"life\.fifo"):
        TorchrunAttempt(job, lambda _: None, Redactor(()))
