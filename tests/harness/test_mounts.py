"""Places of checkpoints: told apart by their mounts, read back where an fsync proves little, counted where they survive."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from campc_harness import storage
from campc_harness.bundle import open_bundle
from campc_harness.mounts import file_system, mounted, needs_reading_back, survives
from campc_harness.preflight import preflight
from campc_harness.storage import LocalStorage
from tests.harness import bundles
from tests.harness.attempts import Bundle
from tests.harness.objects import RCLONE
from tests.harness.test_ranks import pair

Make = Callable[..., Bundle]
pytestmark = pytest.mark.timeout(400)

TABLE = """\
22 1 259:2 / / rw,relatime shared:1 - ext4 /dev/nvme0n1p2 rw
25 22 0:5 / /dev/shm rw,nosuid shared:4 master:2 - tmpfs tmpfs rw
31 22 0:41 / /mnt/nfs rw,relatime - nfs4 filer:/export rw,vers=4.2
32 22 0:42 / /mnt/my\\040data rw,relatime shared:9 - fuse.s3fs s3fs rw,user_id=0
33 22 0:43 / /mnt/données rw,relatime - virtiofs share rw
34 31 259:3 /scratch /mnt/nfs/scratch rw,relatime - xfs /dev/sdb1 rw
35 22 0:44 / /mnt/twice rw,relatime - ext4 /dev/sdc1 rw
36 35 0:45 / /mnt/twice rw,relatime - lustre mds:/work rw
37 22 0:46 / /mnt/a-dash rw - - cifs //filer/share rw
a line that isn't one
"""


@pytest.mark.parametrize(
    ("place", "mount", "kind", "reads_back"),
    [
        ("/home/me/checkpoints", "/", "ext4", False),
        ("/dev/shm/x", "/dev/shm", "tmpfs", False),
        ("/mnt/nfs", "/mnt/nfs", "nfs4", True),
        ("/mnt/nfs/a/b", "/mnt/nfs", "nfs4", True),
        ("/mnt/nfsx", "/", "ext4", False),
        ("/mnt/my data/run", "/mnt/my data", "fuse.s3fs", True),
        ("/mnt/données/run", "/mnt/données", "virtiofs", True),
        ("/mnt/nfs/scratch/run", "/mnt/nfs/scratch", "xfs", False),
        ("/mnt/twice/run", "/mnt/twice", "lustre", True),
    ],
)
def test_the_mount_of_a_folder_is_told(place: str, mount: str, kind: str, reads_back: bool) -> None:
    assert mounted(TABLE, Path(place)) == (mount, kind)
    assert needs_reading_back(kind) is reads_back


def test_a_machine_that_does_not_tell_its_mounts(tmp_path: Path) -> None:
    assert mounted("", Path("/x")) == ("", "")
    assert file_system(tmp_path, str(tmp_path / "none")) == ""


@pytest.fixture
def in_memory() -> Iterator[Path]:
    if file_system("/dev/shm") != "tmpfs":
        pytest.skip("/dev/shm isn't in memory here")
    folder = Path(tempfile.mkdtemp(dir="/dev/shm"))
    yield folder
    shutil.rmtree(folder)


def test_memory_does_not_survive(in_memory: Path, tmp_path: Path) -> None:
    assert not survives(str(in_memory / "not/there/yet")) and not survives(f"file://{in_memory}")
    assert survives("s3://lab/x") and survives(str(tmp_path)) == (file_system(tmp_path) != "tmpfs")


@pytest.mark.parametrize("kind", ["nfs4", "fuse.gcsfuse"])
def test_what_a_network_mount_lost_is_found_before_the_commit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    monkeypatch.setattr(storage, "file_system", lambda place: kind)
    place = LocalStorage(tmp_path)
    number = place.claim()

    def lossy(put: Callable[[memoryview], None]) -> None:
        put(memoryview(b"a" * 1000))
        path = tmp_path / f".inflight-{number:06d}/step-000000001/data.part"
        os.truncate(path, 500)  # what a server may do to what it had acknowledged

    with pytest.raises(OSError, match="data reads back differently than it was written"):
        place.write(1, "data", lossy)
    assert place.committed() == []
    place.write(1, "data", lambda put: put(memoryview(b"a" * 1000)))
    assert place.commit(1, b"{}", []) == "step-000000001"


@pytest.fixture
def fuse(tmp_path: Path) -> Iterator[Path]:
    """A folder that is really mounted through FUSE, over another one."""
    if not (RCLONE and shutil.which("fusermount3") and os.access("/dev/fuse", os.W_OK)):
        pytest.skip("needs rclone, fusermount3 and /dev/fuse")
    behind, mount = tmp_path / "behind", tmp_path / "mount"
    behind.mkdir()
    mount.mkdir()
    command = [RCLONE, "mount", str(behind), str(mount), "--vfs-cache-mode", "writes", "--config", "/dev/null"]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        end = time.monotonic() + 20
        while not file_system(mount).startswith("fuse"):
            if server.poll() is not None or time.monotonic() > end:
                pytest.skip("a FUSE mount can't be made here")
            time.sleep(0.05)
        yield mount
    finally:
        subprocess.run(["fusermount3", "-uz", str(mount)], check=False, capture_output=True)
        server.terminate()
        server.wait(20)


def test_killed_and_resumed_on_a_fuse_mount(bundle: Make, fuse: Path) -> None:
    assert file_system(fuse / "run") == "fuse.rclone" and survives(str(fuse))
    twin, one = bundle(params={"steps": 20}, name="twin"), bundle(params={"steps": 20})
    twin.complete()
    attempt = one.start(HOLD=8, CAMPC_CHECKPOINTS=fuse / "run")
    attempt.until_event("checkpoint", 1)
    attempt.kill()
    attempt.wait()
    last = one.complete(CAMPC_CHECKPOINTS=fuse / "run")
    assert last.events("resume")[0]["step"] > 0 and not last.events("quarantine")
    assert (one.outputs / "digest.txt").read_text() == (twin.outputs / "digest.txt").read_text()


def age_rule(seconds: float) -> dict[str, object]:
    expr = [">", ["builtin", "checkpoint_age"], ["number", seconds]]
    return {"name": "unsaved", "when": {"text": "checkpoint_age > x", "expr": expr}, "runs": []}


def test_age_counts_no_checkpoint_that_is_to_survive_and_does_not(bundle: Make, in_memory: Path) -> None:
    plan = {"params": {"steps": 24}, "watches": [age_rule(6)], "checkpoint": {"outside": True, "every_steps": 2}}
    lost = bundle(name="lost", **plan).complete(PAUSE="0.3", CAMPC_CHECKPOINTS=in_memory / "run")
    assert len(lost.events("checkpoint")) == 12
    assert {event["outside"] for event in lost.events("checkpoint")} == {False}
    assert [event["name"] for event in lost.events("watch")] == ["unsaved"]
    kept = bundle(name="kept", **plan).complete()
    assert {event["outside"] for event in kept.events("checkpoint")} == {True}
    assert kept.events("watch") == []


@pytest.mark.parametrize("world", [1, 2])
def test_what_cannot_be_read_back_is_kept_and_counts_as_no_recovery_point(bundle: Make, world: int) -> None:
    plan = {"params": {"steps": 20}, "watches": [age_rule(1.0)], "checkpoint": {"outside": True, "every_steps": 2}}
    one = bundle("unreadable.py", **plan)
    attempts = pair(one, world, PAUSE="0.1")
    for attempt in attempts:
        assert attempt.wait() == 0, attempt.text()
    first = attempts[0]
    assert one.committed() == [18, 20]
    assert {(event["verified"], event["outside"]) for event in first.events("checkpoint")} == {(False, False)}
    [note] = [event["text"] for event in first.events("note")]
    assert note.endswith("can't be read back: what is written there counts as no recovery point")
    assert [event["name"] for event in first.events("watch")] == ["unsaved"]


def test_preflight_names_a_place_that_does_not_survive(tmp_path: Path, in_memory: Path) -> None:
    run = bundles.run("control")
    run["checkpoint"] = {**run["checkpoint"], "to": str(in_memory), "outside": True}
    plan = bundles.campaign(runs=[run], windows=[bundles.executes("train", "train", run)])
    launched = open_bundle(bundles.Bundle(tmp_path / "bundle", plan).root, cpu=True)
    found = [finding for finding in preflight(launched) if "outlive" in finding.what]
    assert [finding.level for finding in found] == ["error"] and str(in_memory) in found[0].what
