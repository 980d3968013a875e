"""A manifest's own hash: whatever byte of it is damaged, it is found out or means the same."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest

from campc_harness import manifest as manifests
from campc_harness.errors import Damaged
from campc_harness.manifest import FileFacts, Manifest
from campc_harness.memory import Slot
from campc_harness.storage import LocalStorage

WHOLE = Manifest(
    run_id="control-0123abcd",
    window="train",
    attempt=2,
    plan_hash="f" * 64,
    step=40,
    world=1,
    files={"rank-00000.bin": FileFacts(192, ("a" * 64,), 192), "state-00000.json": FileFacts(9, ("b" * 64,), 9)},
    tensors={
        "rank-00000.bin": [
            ("objects.model.weight", Slot(0, 32, (2, 4), "float32")),
            ("objects.model.bias", Slot(64, 32, (8,), "float32")),
            ("objects.model.steps", Slot(128, 8, (), "int64")),
        ]
    },
    facts={"best": 0.25, "data": {"position": 8, "1": 2}, "finished": None, "metrics": {"loss": 0.5}, "prefix": ""},
)


def test_every_flipped_bit_is_found_out() -> None:
    raw = WHOLE.encode()
    sound = manifests.parse(raw)
    assert sound == WHOLE
    found = 0
    for place in range(len(raw)):
        for bit in range(8):
            damaged = bytearray(raw)
            damaged[place] ^= 1 << bit
            try:
                read = manifests.parse(bytes(damaged))
            except Damaged:
                found += 1
                continue
            # White space, or the name of the hash itself, which is then a fact that nobody knows.
            facts = {name: value for name, value in read.facts.items() if name in sound.facts}
            assert dataclasses.replace(read, facts=facts) == sound, (place, bit)
    assert found > 6 * len(raw)


def test_keys_that_are_no_text_hash_as_a_reader_has_them() -> None:
    place = {"data": {10: (1, 2), 9: None, 100: float("nan")}}
    read = manifests.parse(dataclasses.replace(WHOLE, facts=place).encode())
    assert list(read.facts["data"]) == ["10", "100", "9"] and read.facts["data"]["10"] == [1, 2]


def test_a_manifest_of_an_earlier_version_is_read() -> None:
    document = json.loads(WHOLE.encode())
    del document["sha256"]
    assert manifests.parse(json.dumps(document).encode()) == WHOLE


@pytest.mark.parametrize("raw", [b"", b"[]", b"null", b"1", b"\xff\xfe", b"[" * 100_000, b'{"a":' * 100_000])
def test_what_is_no_manifest_is_damage(raw: bytes) -> None:
    with pytest.raises(Damaged):
        manifests.parse(raw)


def test_names_of_others_among_the_claims(tmp_path: Path) -> None:
    for name in (
        ".claim-000001 (conflicting copy)",
        ".claim-",
        ".claim-x",
        ".claim-\u00b2",
        ".inflight-",
        ".inflight-a",
    ):
        (tmp_path / name).mkdir()
    assert [LocalStorage(tmp_path).claim(), LocalStorage(tmp_path).claim()] == [1, 2]
    assert (tmp_path / ".inflight-a").is_dir() and not (tmp_path / ".inflight-000001").exists()
