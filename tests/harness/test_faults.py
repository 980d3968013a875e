"""Damage to checkpoints: whatever happens to one, the one before it counts and nothing is lost."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.harness.attempts import Bundle

Make = Callable[..., Bundle]
pytestmark = pytest.mark.timeout(400)
STEPS = {"steps": 40}


def digest(bundle: Bundle) -> str:
    return (bundle.outputs / "digest.txt").read_text()


def truncate(folder: Path) -> None:
    path = folder / "rank-00000.bin"
    os.truncate(path, path.stat().st_size - 1)


def lengthen(folder: Path) -> None:
    with open(folder / "rank-00000.bin", "ab") as stream:
        stream.write(b"\0")


def flip(folder: Path) -> None:
    path = folder / "rank-00000.bin"
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def empty(folder: Path) -> None:
    (folder / "rank-00000.bin").write_bytes(b"")


def lose_state(folder: Path) -> None:
    (folder / "state-00000.json").unlink()


def lose_manifest(folder: Path) -> None:
    (folder / "MANIFEST.json").unlink()


def tear_manifest(folder: Path) -> None:
    path = folder / "MANIFEST.json"
    path.write_bytes(path.read_bytes()[:-40])


def shift(folder: Path) -> None:
    """A bit of where a tensor lies: all hashes of its file are right."""
    path = folder / "MANIFEST.json"
    manifest = json.loads(path.read_text())
    entries = manifest["tensors"]["rank-00000.bin"]
    last = max(entries, key=lambda entry: entry["offset"] if entry["bytes"] <= 64 else 0)
    last["offset"] ^= 4
    path.write_text(json.dumps(manifest))


def cover(folder: Path) -> None:
    """A folder where a file was."""
    (folder / "rank-00000.bin").unlink()
    (folder / "rank-00000.bin").mkdir()


def cover_manifest(folder: Path) -> None:
    (folder / "MANIFEST.json").unlink()
    (folder / "MANIFEST.json").mkdir()


def other_run(folder: Path) -> None:
    path = folder / "MANIFEST.json"
    manifest = json.loads(path.read_text())
    del manifest["sha256"]
    path.write_text(json.dumps({**manifest, "run_id": "control-ffffffff"}))


@pytest.mark.parametrize(
    "damage",
    [
        truncate,
        lengthen,
        flip,
        empty,
        lose_state,
        lose_manifest,
        tear_manifest,
        shift,
        cover,
        cover_manifest,
        other_run,
    ],
)
def test_a_damaged_checkpoint_is_set_aside(bundle: Make, damage: Callable[[Path], None]) -> None:
    one = bundle(params=STEPS)
    attempt = one.start(HOLD=12)
    attempt.until_event("checkpoint", 2)
    attempt.kill()
    attempt.wait()
    assert len(one.committed()) == 2
    older, newest = one.committed()
    damage(one.checkpoints / f"step-{newest:09d}")
    last = one.complete()
    assert last.events("resume")[0]["step"] == older
    assert last.events("quarantine")[0]["folder"] == f"step-{newest:09d}"
    assert (one.checkpoints / f"quarantined-step-{newest:09d}-1").is_dir(), "its bytes are kept"
    twin = bundle(params=STEPS, name="twin")
    twin.complete()
    assert digest(one) == digest(twin)


def unreadable(folder: Path) -> None:
    """A file whose every read is an input/output error, as on a disk with a bad block."""
    (folder / "MANIFEST.json").rename(folder / "hidden")
    (folder / "MANIFEST.json").symlink_to("/proc/self/mem")


def test_what_the_disk_cannot_read_is_passed_over_but_never_for_nothing(bundle: Make) -> None:
    one = bundle(params=STEPS)
    attempt = one.start(HOLD=12)
    attempt.until_event("checkpoint", 2)
    attempt.kill()
    attempt.wait()
    older, newest = one.committed()
    for step in (older, newest):
        unreadable(one.checkpoints / f"step-{step:09d}")
    lost = one.start()
    assert lost.wait() == 1 and not lost.events("resume"), "it does not begin anew"
    assert f"step-{older:09d} can't be read: [Errno 5]" in lost.text()
    (one.checkpoints / f"step-{older:09d}/hidden").rename(one.checkpoints / f"step-{older:09d}/MANIFEST.json")
    last = one.complete()
    assert last.events("resume")[0]["step"] == older
    assert any("passed over" in event["text"] for event in last.events("note"))
    assert (one.checkpoints / f"superseded-step-{newest:09d}-1").is_dir()
    twin = bundle(params=STEPS, name="twin")
    twin.complete()
    assert digest(one) == digest(twin)


def test_a_checkpoint_that_two_attempts_died_from_is_passed_over(bundle: Make) -> None:
    one = bundle(params=STEPS)
    attempt = one.start(HOLD=12)
    attempt.until_event("checkpoint", 2)
    attempt.kill()
    attempt.wait()
    older, newest = one.committed()
    last = one.complete(CAMPC_SKIP_CHECKPOINTS=str(newest))
    assert last.events("resume")[0]["step"] == older
    assert any("passed over" in event["text"] for event in last.events("note"))
    assert (one.checkpoints / f"superseded-step-{newest:09d}-1").is_dir()


def test_a_superseded_attempt_commits_nothing(bundle: Make) -> None:
    one = bundle(params=STEPS)
    stale = one.start(HOLD=8)
    stale.until_event("checkpoint", 1)
    stale.signal(signal.SIGSTOP)
    fresh = one.complete()
    before = {path: path.stat().st_mtime_ns for path in one.checkpoints.glob("step-*")}
    assert fresh.exit() is not None
    stale.signal(signal.SIGCONT)
    assert stale.wait() == 78, stale.text()
    assert "a newer attempt has claimed this run" in stale.text()
    assert {path: path.stat().st_mtime_ns for path in one.checkpoints.glob("step-*")} == before


def test_a_disk_without_room(bundle: Make, tmp_path: Path) -> None:
    place = tmp_path / "small"
    place.mkdir()
    if os.system(f"mount -t tmpfs -o size=64k tmpfs {place} 2>/dev/null") != 0:
        pytest.skip("needs the right to mount a tmpfs")
    try:
        one = bundle(params=STEPS)
        attempt = one.start(CAMPC_CHECKPOINTS=place / "run")
        assert attempt.wait() == 0, attempt.text()
        filler = place / "filler"
        filler.write_bytes(b"x" * (os.statvfs(place).f_bavail * os.statvfs(place).f_frsize - 4096))
        kept = sorted(path.name for path in (place / "run").glob("step-*"))
        attempt = one.start(CAMPC_CHECKPOINTS=place / "run", CAMPC_SKIP_CHECKPOINTS="40,35")
        assert attempt.wait() == 76, attempt.text()
        record = attempt.exit()
        assert record is not None and record.stop is None and "room" in record.reason
        assert len(attempt.events("checkpoint_failed")) >= 1
        assert kept[-1] in [path.name for path in (place / "run").glob("step-*")], "the last good one stays"
    finally:
        os.system(f"umount {place}")


def test_a_full_disk_costs_measurements_alone(bundle: Make, tmp_path: Path) -> None:
    place = tmp_path / "small"
    place.mkdir()
    if os.system(f"mount -t tmpfs -o size=256k tmpfs {place} 2>/dev/null") != 0:
        pytest.skip("needs the right to mount a tmpfs")
    try:
        one = bundle(params={"steps": 300}, checkpoint={"every_steps": 100})
        attempt = one.start(PAUSE="0.01", CAMPC_ATTEMPT_DIR=place)
        attempt.until_event("metric", 2)
        with open(place / "filler", "wb", buffering=0) as stream:
            for size in (4096, 1):
                try:
                    while stream.write(b"x" * size):
                        pass
                except OSError:
                    continue
        assert attempt.wait() == 0, attempt.text()
        record = attempt.exit()
        assert record is not None and record.outcome == "done"
        assert attempt.events("metric")[-1]["step"] == 300
        assert [note["text"][:38] for note in attempt.events("note")] == ["raw metrics are no longer written: [Er"]
    finally:
        os.system(f"umount {place}")


def test_an_unfinished_checkpoint_counts_for_nothing(bundle: Make) -> None:
    one = bundle(params=STEPS)
    attempt = one.start(HOLD=8)
    attempt.until_event("checkpoint", 1)
    attempt.kill()
    attempt.wait()
    inflight = next(one.checkpoints.glob(".inflight-*"))
    half = inflight / "step-000000039"
    half.mkdir()
    (half / "rank-00000.bin").write_bytes(b"half of it")
    last = one.complete()
    assert last.events("resume")[0]["step"] == one.attempts[0].events("checkpoint")[-1]["step"]
    assert not half.exists()


def test_killed_inside_writes_of_a_larger_state(bundle: Make) -> None:
    one = bundle("large.py", params=STEPS, checkpoint={"every_steps": 1})
    seen = 0
    for pause in (0.0, 0.07, 0.13):
        attempt = one.start(HOLD=seen + 12)
        attempt.until_event("checkpoint", 2)
        time.sleep(pause)
        attempt.kill()
        attempt.wait()
        durable = max(event["step"] for event in attempt.events("checkpoint"))
        assert durable > seen
        seen = durable
    last = one.complete()
    assert last.events("resume")[0]["step"] >= seen, "a checkpoint that was reported durable is never lost"
    assert last.events("quarantine") == []
