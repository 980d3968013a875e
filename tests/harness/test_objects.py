"""Checkpoints in an object store: a real S3 server, stopped and started in the middle."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from campc_harness.errors import Superseded
from campc_harness.manifest import Manifest
from campc_harness.remote import RemoteStorage
from tests.harness.attempts import Attempt, Bundle
from tests.harness.objects import ObjectStore

Make = Callable[..., Bundle]
pytestmark = pytest.mark.timeout(400)
STEPS = {"steps": 40}
URL = "s3://lab/rank/control/train"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[ObjectStore]:
    one = ObjectStore(tmp_path / "objects")
    one.start()
    yield one
    one.stop()


def committed(store: ObjectStore) -> list[int]:
    folder = store.bucket / "rank/control/train"
    return sorted(int(path.parent.name[5:]) for path in folder.glob("step-*/MANIFEST.json"))


def start(bundle: Bundle, store: ObjectStore, **variables: Any) -> Attempt:
    return bundle.start(CAMPC_CHECKPOINTS=URL, **store.environment, **variables)


def digest(bundle: Bundle) -> str:
    return (bundle.outputs / "digest.txt").read_text()


def test_killed_and_resumed_from_objects(bundle: Make, store: ObjectStore) -> None:
    twin, one = bundle(params=STEPS, name="twin"), bundle(params=STEPS)
    twin.complete()
    attempt = start(one, store, HOLD=12)
    attempt.until_event("checkpoint", 2)
    attempt.kill()
    attempt.wait()
    durable = attempt.events("checkpoint")[-1]["step"]
    last = start(one, store)
    assert last.wait() == 0, last.text()
    assert last.events("resume")[0]["step"] >= durable
    assert committed(store) == [35, 40]
    assert digest(one) == digest(twin)


def test_the_store_goes_away_for_a_while(bundle: Make, store: ObjectStore) -> None:
    twin, one = bundle(params=STEPS, name="twin"), bundle(params=STEPS)
    twin.complete()
    attempt = start(one, store, HOLD=7)
    attempt.until_event("checkpoint", 1)
    store.stop()
    attempt.release()
    attempt.until(lambda: any("trying again" in event["text"] for event in attempt.events("note")))
    assert committed(store), "old checkpoints stay"
    store.start()
    assert attempt.wait() == 0, attempt.text()
    assert committed(store)[-1] == 40
    assert digest(one) == digest(twin)


def test_a_store_that_stays_away_is_no_crash(bundle: Make, store: ObjectStore) -> None:
    twin, one = bundle(params=STEPS, name="twin"), bundle(params=STEPS)
    twin.complete()
    training = start(one, store, HOLD=7, PATIENCE="2")
    training.until_event("checkpoint", 1)
    store.stop()
    training.release()
    assert training.wait() == 74, training.text()
    beginning = start(one, store, PATIENCE="2")
    assert beginning.wait() == 74, beginning.text()
    for attempt in (training, beginning):
        record = attempt.exit()
        assert record is not None and record.outcome == "away"
        assert record.reason.startswith(f"the place of the checkpoints can't be used, {URL}: ")
        assert "Traceback" not in attempt.text()
    store.start()
    last = start(one, store)
    assert last.wait() == 0, last.text()
    assert last.events("resume")[0]["step"] >= 5
    assert digest(one) == digest(twin)


def test_a_store_that_is_away_when_asked_to_leave(bundle: Make, store: ObjectStore) -> None:
    one = bundle(params=STEPS)
    attempt = start(one, store, HOLD=7, PATIENCE="2")
    attempt.until_event("checkpoint", 1)
    store.stop()
    attempt.signal(signal.SIGTERM)
    assert attempt.wait() == 74, attempt.text()
    record = attempt.exit()
    assert record is not None and record.outcome == "away" and "Traceback" not in attempt.text()


def test_refused_credentials(bundle: Make, store: ObjectStore) -> None:
    one = bundle(params=STEPS)
    attempt = one.start(CAMPC_CHECKPOINTS=URL, **{**store.environment, "AWS_SECRET_ACCESS_KEY": "wrong"})
    assert attempt.wait() == 78, attempt.text()
    assert "checkpoints can't be kept at s3://lab" in attempt.text() and "Traceback" not in attempt.text()


def test_an_unknown_scheme(bundle: Make) -> None:
    attempt = bundle(params=STEPS).start(CAMPC_CHECKPOINTS="gopher://lab/rank")
    assert attempt.wait() == 78, attempt.text()
    assert "gopher" in attempt.text() and "Traceback" not in attempt.text()


def test_superseded_on_another_machine(bundle: Make, store: ObjectStore) -> None:
    one, other = bundle(params=STEPS), bundle(params=STEPS, name="other")
    stale = start(one, store, HOLD=7)
    stale.until_event("checkpoint", 1)
    stale.signal(signal.SIGSTOP)
    fresh = start(other, store)
    assert fresh.wait() == 0, fresh.text()
    before = sorted(store.bucket.rglob("MANIFEST.json"))
    stale.signal(signal.SIGCONT)
    assert stale.wait() == 78, stale.text()
    assert sorted(store.bucket.rglob("MANIFEST.json")) == before


def test_damage_is_set_aside(bundle: Make, store: ObjectStore) -> None:
    one = bundle(params=STEPS)
    attempt = start(one, store, HOLD=12)
    attempt.until_event("checkpoint", 2)
    attempt.kill()
    attempt.wait()
    older, newest = committed(store)[-2:]
    folder = store.bucket / f"rank/control/train/step-{newest:09d}"
    manifest = json.loads((folder / "MANIFEST.json").read_text())
    (folder / manifest["prefix"] / "rank-00000.bin").write_bytes(b"")
    last = start(one, store)
    assert last.wait() == 0, last.text()
    assert last.events("resume")[0]["step"] == older
    assert last.events("quarantine")[0]["folder"] == f"step-{newest:09d}"
    assert (folder / "quarantined-1.json").exists()


def test_between_data_and_manifest(store: ObjectStore, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in store.environment.items():
        monkeypatch.setenv(name, value)
    first = RemoteStorage(URL)
    first.claim()
    first.write(5, "rank-00000.bin", lambda put: put(memoryview(b"data")))
    manifest = Manifest("run", "train", 1, "", 5, 1, {}, {}, {"prefix": first.prefix()})
    first.commit(5, manifest.encode(), [])
    first.write(10, "rank-00000.bin", lambda put: put(memoryview(b"half")))
    second = RemoteStorage(URL)
    second.claim()
    assert second.committed() == ["step-000000005"]
    folder = store.bucket / "rank/control/train"
    assert not list(folder.glob("step-000000010/**/*.bin")), "what was never committed is cleared away"
    assert list(folder.glob("step-000000005/**/*.bin"))
    with pytest.raises(Superseded):
        first.commit(10, b"{}", [])
    with pytest.raises(Superseded):
        first.delete("step-000000005")
    with pytest.raises(Superseded):
        first.set_aside("step-000000005", "quarantined")
    assert second.committed() == ["step-000000005"]
    second.delete("step-000000005")
    assert second.committed() == [] and not list(folder.glob("step-000000005/**/*.bin"))
