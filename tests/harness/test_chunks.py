"""Files that are hashed chunk by chunk: written, verified by several threads, damaged in any place, and as before chunks."""

from __future__ import annotations

import hashlib
import json
import threading
from pathlib import Path
from typing import Any

import pytest
import torch

from campc_harness import manifest as manifests
from campc_harness import memory, pages, state, verified
from campc_harness.checkpoint import Checkpoints
from campc_harness.context import Policy, by_hand
from campc_harness.errors import Damaged
from campc_harness.manifest import FileFacts, facts_of
from campc_harness.memory import Buffers
from campc_harness.pages import in_large_pages
from campc_harness.ranks import Ranks
from campc_harness.storage import LocalStorage, open_storage

CHUNK = 1000


@pytest.fixture(params=[1, 3])
def small(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Small chunks, for one thread and for three."""
    monkeypatch.setattr(manifests, "CHUNK", CHUNK)
    monkeypatch.setattr(verified, "BLOCK", 300)
    monkeypatch.setattr(verified, "PIECE", 700)
    monkeypatch.setattr(verified, "workers", lambda most: request.param)


def checkpoints(folder: Path, place: str) -> tuple[Checkpoints, list[dict[str, Any]]]:
    told: list[dict[str, Any]] = []
    context = by_hand({}, seed=0, folder=folder, policy=Policy(keep=4))
    one = Checkpoints(
        open_storage(place), context, Ranks(0, 1), lambda event, **fields: told.append({"event": event, **fields})
    )
    one.claim()
    return one, told


def save(one: Checkpoints, value: Any, step: int) -> None:
    one.submit(state.stage({"value": value}, step, {}, one.buffers))
    one.wait()


def value(seed: int) -> dict[str, Any]:
    draw = torch.Generator().manual_seed(seed)
    return {
        "long": torch.randint(0, 256, (4321,), dtype=torch.uint8, generator=draw),
        "none": torch.empty(0, 3),
        "scalar": torch.tensor(seed),
        "many": [torch.rand(3, generator=draw) for _ in range(40)],
    }


def equal(left: Any, right: Any) -> bool:
    return state.first_difference(left, right, "value") is None


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("kind", ["folder", "store"])
def test_a_file_of_several_chunks_comes_back(tmp_path: Path, kind: str) -> None:
    one, _ = checkpoints(tmp_path, str(tmp_path / "there") if kind == "folder" else f"memory://{tmp_path.name}")
    save(one, value(1), 10)
    restored = one.restore()
    assert restored is not None and equal(restored.state["value"], value(1))
    facts = restored.manifest.files["rank-00000.bin"]
    assert len(facts.digests) == -(-facts.bytes // CHUNK) > 3 and facts.chunk_bytes == CHUNK


@pytest.mark.usefixtures("small")
def test_the_manifest_holds_the_hash_of_each_chunk(tmp_path: Path) -> None:
    one, _ = checkpoints(tmp_path, str(tmp_path / "there"))
    save(one, value(1), 10)
    folder = tmp_path / "there" / "step-000000010"
    files = json.loads((folder / "MANIFEST.json").read_text())["files"]
    content = (folder / "rank-00000.bin").read_bytes()
    hashes = [hashlib.sha256(content[at : at + CHUNK]).hexdigest() for at in range(0, len(content), CHUNK)]
    assert files["rank-00000.bin"] == {"bytes": len(content), "chunk_bytes": CHUNK, "sha256": hashes}


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("at", [0, 999, 1000, 2500, -1])
def test_a_flipped_bit_in_any_chunk_is_found(tmp_path: Path, at: int) -> None:
    one, told = checkpoints(tmp_path, str(tmp_path / "there"))
    save(one, value(1), 10)
    save(one, value(2), 20)
    path = tmp_path / "there" / "step-000000020" / "rank-00000.bin"
    content = bytearray(path.read_bytes())
    content[at] ^= 16
    path.write_bytes(content)
    restored = one.restore()
    assert restored is not None and equal(restored.state["value"], value(1))
    (quarantine,) = [report for report in told if report["event"] == "quarantine"]
    assert f"from {at % len(content) // CHUNK * CHUNK} on" in quarantine["reason"]
    assert list((tmp_path / "there").glob("quarantined-step-000000020-*"))


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("size", [0, 1000, 1001, 4000])
def test_a_file_that_is_too_short_is_found(tmp_path: Path, size: int) -> None:
    one, told = checkpoints(tmp_path, str(tmp_path / "there"))
    save(one, value(1), 10)
    path = tmp_path / "there" / "step-000000010" / "rank-00000.bin"
    whole = path.stat().st_size
    path.write_bytes(path.read_bytes()[:size])
    assert one.restore() is None
    (quarantine,) = [report for report in told if report["event"] == "quarantine"]
    assert quarantine["reason"] == f"rank-00000.bin has {size} bytes, not {whole}"


@pytest.mark.usefixtures("small")
def test_a_snapshot_without_a_buffer_hashes_to_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = value(3)
    whole = state.stage(kept, 1, {}, Buffers(pinned=False))
    monkeypatch.setattr(memory, "available_memory", lambda: whole.size)
    live = state.stage(kept, 1, {}, Buffers(pinned=False))
    assert whole.buffer is not None and live.buffer is None
    written: dict[str, bytearray] = {"whole": bytearray(), "live": bytearray()}
    facts = verified.hash_while_writing(whole.content(), written["whole"].extend)
    assert verified.hash_while_writing(live.content(), written["live"].extend) == facts
    assert written["whole"] == written["live"] == bytes(whole.content())
    assert verified.hash_while_writing(memoryview(b""), written["whole"].extend).digests == (
        hashlib.sha256(b"").hexdigest(),
    )


@pytest.mark.usefixtures("small")
def test_a_place_that_refuses_ends_the_hashing_too() -> None:
    def refuse(piece: memoryview) -> None:
        raise OSError("full")

    before = threading.active_count()
    for content in (memoryview(bytes(9000)), iter([memoryview(bytes(9000))])):
        with pytest.raises(OSError, match="full"):
            verified.hash_while_writing(content, refuse)
    assert threading.active_count() == before


@pytest.mark.usefixtures("small")
def test_a_checkpoint_with_one_hash_for_a_long_file_is_still_read(tmp_path: Path) -> None:
    one, _ = checkpoints(tmp_path, str(tmp_path / "there"))
    save(one, value(1), 10)
    folder = tmp_path / "there" / "step-000000010"
    manifest = json.loads((folder / "MANIFEST.json").read_text())
    content = (folder / "rank-00000.bin").read_bytes()
    del manifest["sha256"]  # nor had it one of its own then
    manifest["files"]["rank-00000.bin"] = {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    (folder / "MANIFEST.json").write_text(json.dumps(manifest))
    restored = one.restore()
    assert restored is not None and equal(restored.state["value"], value(1))
    content = content[:-1] + bytes([content[-1] ^ 1])
    (folder / "rank-00000.bin").write_bytes(content)
    assert one.restore() is None


@pytest.mark.parametrize(
    "described",
    [
        {"bytes": 2500, "sha256": ["a", "b"], "chunk_bytes": 1000},
        {"bytes": 2500, "sha256": ["a", "b", "c", "d"], "chunk_bytes": 1000},
        {"bytes": 2500, "sha256": [], "chunk_bytes": 0},
        {"bytes": 2500, "sha256": ["a", "b", "c"]},
        {"bytes": 2500},
    ],
)
def test_hashes_that_do_not_cover_the_file_are_damage(described: dict[str, Any]) -> None:
    whole = manifests.Manifest("run", "train", 1, "", 5, 1, {"f": FileFacts(1, ("a",))}, {}, {})
    document = json.loads(whole.encode())
    del document["sha256"]
    document["files"]["f"] = described
    with pytest.raises(Damaged):
        manifests.parse(json.dumps(document).encode())


def test_facts_survive_json() -> None:
    for facts in (FileFacts(2500, ("a", "b", "c"), 1000), FileFacts(0, ("a",), 1), FileFacts(1000, ("a",), 1000)):
        assert facts_of(json.loads(json.dumps(facts.describe()))) == facts


def test_pieces_that_overlap_are_refused(tmp_path: Path) -> None:
    one = LocalStorage(tmp_path)
    for pieces in ([(0, memoryview(bytearray(8))), (4, memoryview(bytearray(8)))], [(0, memoryview(bytearray(20)))]):
        with pytest.raises(ValueError, match="overlap, or lie outside"):
            verified.read_verified(one, "step-000000001", "f", FileFacts(16, ("a",), 16), pieces)


def test_large_pages_change_nothing_that_can_be_read(monkeypatch: pytest.MonkeyPatch) -> None:
    advised: list[tuple[int, int]] = []
    monkeypatch.setattr(pages, "_madvise", lambda: lambda start, size, advice: advised.append((start, size)))
    monkeypatch.setattr(pages, "_handed_back", lambda: False)
    tensor = in_large_pages(torch.empty(pages.LARGE // 4 + 7))
    in_large_pages(torch.empty(100))
    ((start, size),) = advised
    assert start % 4096 == size % 4096 == 0
    assert tensor.data_ptr() <= start and start + size <= tensor.data_ptr() + tensor.numel() * 4
    assert size >= pages.LARGE - 4096


def test_a_rank_takes_its_share_of_the_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.sched_getaffinity", lambda pid: set(range(16)), raising=False)
    for ranks, most, count in (("", 8, 8), ("1", 32, 16), ("4", 8, 4), ("64", 8, 1), ("x", 8, 8)):
        monkeypatch.setenv("LOCAL_WORLD_SIZE", ranks)
        assert memory.workers(most) == count
