"""The record: its chain, what tears it, what changes it."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from campc_harness.ledger import Ledger, numbers, read
from campc_harness.redact import Redactor
from tests.harness.bundles import ROOT


def filled(path: Path, count: int = 5) -> Ledger:
    ledger = Ledger(path, "box", "here")
    for step in range(count):
        ledger.append("metric", run_id="r", window="w", attempt=1, step=step, values={"loss": float(step)})
    ledger.sync()
    return ledger


def test_each_line_holds_the_hash_of_the_one_before(tmp_path: Path) -> None:
    path = tmp_path / "ledger.jsonl"
    filled(path)
    found = read(path)
    assert [record.seq for record in found.records] == [1, 2, 3, 4, 5]
    assert not found.damage and not found.torn
    assert found.records[2].more["values"] == {"loss": 2.0}


def test_a_torn_last_line_is_set_aside_and_recorded(tmp_path: Path) -> None:
    path = tmp_path / "ledger.jsonl"
    filled(path)
    whole = path.read_bytes()
    path.write_bytes(whole + whole.splitlines()[0][:40])
    assert read(path).torn and not read(path).damage
    Ledger(path, "box", "here").append("note", text="goes on")
    found = read(path)
    assert [record.reason for record in found.records[-2:]] == ["torn last line", None]
    assert not found.torn and not found.damage
    assert [aside.read_bytes() for aside in tmp_path.glob("*.torn-*")] == [whole.splitlines()[0][:40]]


def test_another_change_is_reported_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "ledger.jsonl"
    filled(path)
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([lines[0], lines[1].replace(b'"step": 1', b'"step": 9'), *lines[2:]]))
    assert [damage.line for damage in read(path).damage] == [3]
    path.write_bytes(b"".join([*lines[:2], *lines[3:]]))
    assert [damage.line for damage in read(path).damage] == [3]
    path.write_bytes(b"".join([*lines[:2], b"\0\0\0\n", *lines[3:]]))
    assert [damage.line for damage in read(path).damage] == [3, 4]


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.floats(0, 1, exclude_max=True), st.integers(1, 255))
def test_any_flipped_byte_is_noticed(tmp_path: Path, share: float, mask: int) -> None:
    path = tmp_path / "ledger.jsonl"
    path.unlink(missing_ok=True)
    filled(path).close()
    whole = bytearray(path.read_bytes())
    place = int(share * len(whole))
    whole[place] ^= mask
    path.write_bytes(whole)
    found = read(path)
    # The last line has no successor that would vouch for it: there only its own form speaks.
    last = len(whole) - len(bytes(whole[:-1]).rsplit(b"\n", 1)[-1]) - 1
    assert found.damage or found.torn or place >= last


def test_several_processes_write_one_chain(tmp_path: Path) -> None:
    path = tmp_path / "ledger.jsonl"
    code = (
        "import sys; from pathlib import Path; from campc_harness.ledger import Ledger\n"
        "ledger = Ledger(Path(sys.argv[1]), 'box', sys.argv[2])\n"
        "for step in range(100): ledger.append('metric', step=step)\n"
    )
    writers = [
        subprocess.Popen([sys.executable, "-c", code, str(path), name], env={"PYTHONPATH": str(ROOT / "compiler")})
        for name in "abc"
    ]
    assert [writer.wait(60) for writer in writers] == [0, 0, 0]
    found = read(path)
    assert len(found.records) == 300 and not found.damage and not found.torn


def test_what_is_not_finite_is_spelled_out(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger.jsonl", "box", "here")
    ledger.append("metric", values={"a": float("nan"), "b": float("-inf"), "c": 1.0})
    line = (tmp_path / "ledger.jsonl").read_text()
    assert '"nan"' in line and "NaN" not in line
    values = numbers(read(tmp_path / "ledger.jsonl").records[0].more["values"])
    assert values["a"] != values["a"] and values["b"] == float("-inf") and values["c"] == 1.0


def test_an_unknown_event_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no event 'party'"):
        Ledger(tmp_path / "ledger.jsonl", "box", "here").append("party")


@given(st.text(), st.dictionaries(st.text(), st.text() | st.floats() | st.none()))
@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_text_makes_one_whole_line(tmp_path: Path, text: str, values: dict[str, object]) -> None:
    path = tmp_path / "ledger.jsonl"
    path.unlink(missing_ok=True)
    ledger = Ledger(path, "box", "here")
    ledger.append("note", text=text, values=values)
    ledger.append("note", text="after it")
    assert len(read(path).records) == 2 and not read(path).damage
    json.loads(path.read_bytes().splitlines()[0])


def test_secrets_are_masked_in_text_and_bytes() -> None:
    redactor = Redactor(["TOKEN", "SHORT", "UNSET"], {"TOKEN": "s3cr3t-value", "SHORT": "ab"})
    assert redactor.text("a s3cr3t-value b ab") == "a [secret] b ab"
    assert redactor.data(b"x s3cr3t-value") == b"x [secret]"
    assert redactor.found(b"..s3cr3t-value..") and not redactor.found(b"ab")


def test_a_full_disk_loses_measurements_and_nothing_else(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=3m", "tmpfs", str(disk)], capture_output=True).returncode:
        pytest.skip("a small disk can't be mounted here")
    try:
        ledger = Ledger(disk / "ledger.jsonl", "box", "here")
        ledger.keep_reserve()
        ledger.append("note", text="begins")
        with open(disk / "ballast", "wb", buffering=0) as stream, contextlib.suppress(OSError):
            while True:
                stream.write(b"x" * 4096)
        while not ledger.lost:
            ledger.append("metric", values={"loss": 1.0}, text="x" * 2000)
        for step in range(1000):
            ledger.append("checkpoint", step=step)
        ledger.append("stop", reason="no room")
        found = read(disk / "ledger.jsonl")
        assert found.records[-1].event == "stop" and not found.damage and not found.torn
        ledger.close()
    finally:
        subprocess.run(["umount", str(disk)], check=True)
