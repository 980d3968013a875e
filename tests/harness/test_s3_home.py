"""Results, record and heartbeat in an object store: a real S3 server that goes away and comes back."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.harness.bundles import PACKAGE, Bundle, campaign, executes, run, window
from tests.harness.objects import ObjectStore


@pytest.fixture
def store(tmp_path: Path) -> Iterator[ObjectStore]:
    """A store with the bucket `lab`."""
    one = ObjectStore(tmp_path / "objects")
    one.start()
    yield one
    one.stop()


def make(folder: Path, store: ObjectStore, **environment: str) -> Bundle:
    """A bundle whose checkpoints and results go to the store."""
    slow = run("control", params={"step_s": 0.02})
    slow["checkpoint"] = {**slow["checkpoint"], "to": "s3://lab/rank", "outside": True}
    shutdown = {"command": "touch shut_down", "when": "always", "elsewhere": "echo away", "hold_s": 60}
    plan = campaign(
        runs=[slow],
        windows=[executes("control", "train", slow), window("home", "retrieve", last=True, to="s3://lab/home")],
        shutdown=shutdown,
    )
    return Bundle(folder, plan, CAMPC_HEARTBEAT_S="1", **{**store.environment, **environment})


@pytest.mark.timeout(180)
def test_results_wait_for_a_store_that_is_away(tmp_path: Path, store: ObjectStore) -> None:
    bundle = make(tmp_path / "b", store)
    started = bundle.start()
    bundle.until(lambda: bundle.records("metric"))
    store.stop()
    bundle.until(lambda: [r for r in bundle.records("note") if r["reason"] == "copy failed"], patience=90)
    assert not (bundle.root / "shut_down").exists()
    store.start()
    assert started.wait(90) == 0
    assert (store.bucket / "home/box/package.tar.gz").exists() and (bundle.root / "shut_down").exists()
    heartbeat = json.loads((store.bucket / "rank/state-box/heartbeat.json").read_text())
    assert (heartbeat["state"], heartbeat["home"]) == ("ended", True)
    # Another machine goes on from what the store holds.
    shutil.rmtree(bundle.root)
    again = make(tmp_path / "again", store)
    done = again.foreground(timeout=120)
    assert "goes on from the record beside the checkpoints" in done.stdout
    assert len(again.records("start")) == 2 + sum(r["window"] == "home" for r in again.records("crash"))
    # And the watcher sees it from elsewhere.
    command = [sys.executable, str(PACKAGE / "lease.py"), str(again.root), "--patience", "2", "--interval", "0.5"]
    watched = subprocess.run(command, cwd=tmp_path, env=again.environment, capture_output=True, text=True, timeout=60)
    assert watched.returncode == 0, watched.stdout + watched.stderr
    assert "it has ended and is still there" in watched.stdout and "away" in watched.stdout


@pytest.mark.timeout(120)
def test_refused_credentials_are_found_before_the_first_paid_hour(tmp_path: Path, store: ObjectStore) -> None:
    bundle = make(tmp_path / "b", store, AWS_SECRET_ACCESS_KEY="wrong")
    done = bundle.launch("preflight", "--cpu", check=78)
    assert "ERROR   a file can't be written, read and deleted at s3://lab/rank" in done.stdout
    assert "check address, credentials and rights" in done.stdout and "Traceback" not in done.stdout
    assert bundle.launch("run", "--foreground", "--cpu", check=78)
