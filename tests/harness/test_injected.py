"""Faults injected into real processes: afterwards no committed checkpoint is lost, and the results are the undisturbed ones."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from campc_harness.ledger import read
from tests.harness import bundles
from tests.harness.attempts import Bundle
from tests.harness.bundles import campaign, executes, run, window

Make = Callable[..., Bundle]
pytestmark = pytest.mark.timeout(400)
STEPS = {"steps": 40}
SCRIPTS = Path(__file__).resolve().parent / "scripts"


def digest(bundle: Bundle) -> str:
    return (bundle.outputs / "digest.txt").read_text()


def undisturbed(bundle: Make, **plan: Any) -> str:
    twin = bundle(name="twin", **plan)
    twin.complete()
    return digest(twin)


@pytest.mark.parametrize("point", ["data", "before the manifest", "before the rename", "after the rename"])
def test_killed_at_each_point_of_a_commit(bundle: Make, point: str) -> None:
    wanted = undisturbed(bundle, params=STEPS)
    one = bundle("dies.py", params=STEPS)
    attempt = one.start(DIE_AT=point, DIE_STEP=15)
    assert attempt.wait() == -signal.SIGKILL, attempt.text()
    told = [event["step"] for event in attempt.events("checkpoint")]
    assert told == [5, 10]
    assert one.committed() == [5, 10, *([15] if point == "after the rename" else [])]
    last = one.complete()
    assert last.events("resume")[0]["step"] == (15 if point == "after the rename" else 10)
    assert last.events("quarantine") == [] and not list(one.checkpoints.glob(".inflight-*/step-*"))
    assert digest(one) == wanted


@pytest.fixture
def volume(tmp_path: Path) -> Iterator[Path]:
    """A file system of its own, with a quota of 600 KiB for its owner."""
    tools = [
        shutil.which(name, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin") for name in ("mkfs.btrfs", "btrfs")
    ]
    if None in tools or os.geteuid() != 0:
        pytest.skip("needs btrfs-progs, and the right to mount")
    image, place = tmp_path / "image", tmp_path / "volume"
    place.mkdir()
    with open(image, "wb") as stream:
        stream.truncate(128 << 20)
    make, control = map(str, tools)
    steps = [
        [make, "-q", str(image)],
        ["mount", "-o", "loop", str(image), str(place)],
        [control, "quota", "enable", str(place)],
        [control, "qgroup", "limit", "600K", str(place)],
    ]
    try:
        for step in steps:
            if subprocess.run(step, capture_output=True, check=False).returncode != 0:
                pytest.skip(f"{step[0]} is refused here")
        yield place
    finally:
        subprocess.run(["umount", str(place)], check=False, capture_output=True)


def test_a_quota_stops_the_run_with_its_reason_and_keeps_what_is_saved(bundle: Make, volume: Path) -> None:
    wanted = undisturbed(bundle, params=STEPS)
    one = bundle(params=STEPS)
    attempt = one.start(CAMPC_CHECKPOINTS=volume / "run", HOLD=12)
    attempt.until_event("checkpoint", 2)
    fill(volume / "filler")
    attempt.release()
    assert attempt.wait() == 76, attempt.text()
    record = attempt.exit()
    assert record is not None and record.stop is None and "Disk quota exceeded" in record.reason
    durable = attempt.events("checkpoint")[-1]["step"]
    assert durable in steps_at(volume / "run")
    again = one.start(CAMPC_CHECKPOINTS=volume / "run")
    assert again.wait() == 76 and "Disk quota exceeded" in again.text() and "Traceback" not in again.text()
    (volume / "filler").unlink()
    os.sync()
    last = one.complete(CAMPC_CHECKPOINTS=volume / "run")
    assert last.events("resume")[0]["step"] >= durable
    assert digest(one) == wanted


def fill(path: Path) -> None:
    with open(path, "wb", buffering=0) as stream:
        for size in (65536, 4096):
            try:
                while stream.write(b"x" * size):
                    os.fsync(stream.fileno())
            except OSError:
                continue


def steps_at(place: Path) -> list[int]:
    return sorted(int(path.name[5:]) for path in place.glob("step-*"))


def test_a_place_that_becomes_read_only(bundle: Make, tmp_path: Path) -> None:
    place = tmp_path / "small"
    place.mkdir()
    if os.system(f"mount -t tmpfs -o size=1m tmpfs {place} 2>/dev/null") != 0:
        pytest.skip("needs the right to mount a tmpfs")
    try:
        wanted = undisturbed(bundle, params=STEPS)
        one = bundle(params=STEPS)
        attempt = one.start(CAMPC_CHECKPOINTS=place / "run", HOLD=12)
        attempt.until_event("checkpoint", 2)
        assert os.system(f"mount -o remount,ro {place}") == 0
        attempt.release()
        assert attempt.wait() not in (0, 75), attempt.text()
        assert "Read-only file system" in attempt.text()
        durable = attempt.events("checkpoint")[-1]["step"]
        assert durable in steps_at(place / "run")
        refused = one.start(CAMPC_CHECKPOINTS=place / "run")
        assert refused.wait() == 78 and "Read-only file system" in refused.text()
        assert "Traceback" not in refused.text()
        assert os.system(f"mount -o remount,rw {place}") == 0
        last = one.complete(CAMPC_CHECKPOINTS=place / "run")
        assert last.events("resume")[0]["step"] == durable
        assert digest(one) == wanted
    finally:
        os.system(f"umount {place}")


def test_two_resumptions_in_one_epoch(bundle: Make) -> None:
    wanted = undisturbed(bundle, params={"epochs": 2})
    one = bundle(params={"epochs": 2, "workers": 2}, checkpoint={"every_steps": 1})
    resumed = []
    for least in (3, 7):
        attempt = one.start(HOLD=least + 2)
        attempt.until(
            lambda attempt=attempt, least=least: any(e["step"] >= least for e in attempt.events("checkpoint"))
        )
        attempt.kill()
        attempt.wait()
        resumed += attempt.events("resume")
    last = one.complete()
    steps = [event["step"] for event in (*resumed, *last.events("resume"))]
    assert 0 == steps[0] < 3 <= steps[1] < 7 <= steps[2] < 13, "an epoch has 13 steps"
    assert digest(one) == wanted


def test_a_run_that_is_killed_after_ten_thousand_steps(bundle: Make) -> None:
    one = bundle("count.py", params={"steps": 10_150}, checkpoint={"every_steps": 100})
    attempt = one.start(WAIT_AT=10_050)
    attempt.until(lambda: 10_000 in one.committed())
    attempt.kill()
    attempt.wait()
    assert one.committed()[-2:] == [9_900, 10_000]
    last = one.complete()
    assert last.events("resume")[0]["step"] == 10_000
    assert one.committed() == [10_100, 10_150] and digest(one) == "10150"


def torch_bundle(folder: Path, *more: dict[str, Any], **params: Any) -> bundles.Bundle:
    control = run("control", params={**STEPS, **params}, steps=40)
    windows = [executes("control", "train", control), *more]
    bundle = bundles.Bundle(folder, campaign(runs=[control], windows=windows), OMP_NUM_THREADS="1")
    shutil.copy(SCRIPTS / "trainer.py", folder / "work/train.py")
    shutil.copy(SCRIPTS / "pace.py", folder / "work")
    return bundle


def test_a_rerun_takes_nothing_from_its_run(tmp_path: Path) -> None:
    again = window("again", "rerun", run="control", run_ids=["control-0badcafe"], after=["control"])
    bundle = torch_bundle(tmp_path, again)
    bundle.foreground(timeout=120)
    assert [record["step"] for record in bundle.records("resume")] == [0, 0]
    folder = tmp_path / "runs/control-0badcafe"
    first, second = (folder / name / "digest.txt" for name in ("outputs", "again/outputs"))
    assert first.read_bytes() == second.read_bytes()
    places = sorted(path.name for path in (tmp_path / "checkpoints/control-0badcafe").iterdir())
    assert places == ["again", "control"]


HELPER = "import helper\n"


def test_an_imported_module_that_was_edited_is_found_before_anything_runs(tmp_path: Path) -> None:
    bundle = torch_bundle(tmp_path, hold=8)
    work = tmp_path / "work"
    (work / "train.py").write_text(HELPER + (work / "train.py").read_text())
    (work / "helper.py").write_text("SCALE = 1\n")
    names = sorted(path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.is_file())
    hashes = {name: hashlib.sha256((tmp_path / name).read_bytes()).hexdigest() for name in names}
    (tmp_path / "MANIFEST.sha256").write_text("".join(f"{hashes[name]}  {name}\n" for name in names))
    launch = bundle.start()
    bundle.until(lambda: bundle.records("checkpoint"), patience=60)
    launch.send_signal(signal.SIGTERM)
    assert launch.wait(60) == 75
    (work / "helper.py").write_text("SCALE = 2\n")
    refused = bundle.foreground(check=78)
    assert "work/helper.py was changed since the bundle was built" in refused.stdout
    assert len(bundle.records("start")) == 1
    (work / "helper.py").write_text("SCALE = 1\n")
    bundle.foreground(timeout=120)
    assert bundle.records("resume")[-1]["step"] > 0


def test_a_ledger_that_a_crash_tore_goes_on(tmp_path: Path) -> None:
    control = run("control", params={"hold_at": 8})
    bundle = bundles.Bundle(tmp_path, campaign(runs=[control], windows=[executes("control", "train", control)]))
    started = bundle.start()
    bundle.until(lambda: [r for r in bundle.records("checkpoint") if r["step"] == 5])
    for name in ("keeper", "launcher"):
        os.kill(int((tmp_path / f"state/box/{name}.lock").read_text()), signal.SIGKILL)
    started.wait(90)
    bundle.until(lambda: not bundle.processes(), patience=60)
    os.truncate(bundle.ledger, bundle.ledger.stat().st_size - 20)
    known = read(bundle.ledger)
    assert known.torn
    bundle.foreground()
    found = read(bundle.ledger)
    assert not found.torn and not found.damage
    assert found.records[: len(known.records)] == known.records, "nothing that was whole is lost"
    assert "torn last line" in [record.reason for record in found.records]
    assert bundle.records("resume")[-1]["step"] >= 5 and bundle.states() == {"control": "finished"}
    lines = bundle.ledger.read_bytes().splitlines()
    assert all(json.loads(line)["seq"] == number for number, line in enumerate(lines, 1))
