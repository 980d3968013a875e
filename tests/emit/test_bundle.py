"""Bundles: the same bytes twice, nothing foreign overwritten, nothing half written, nothing executed."""

import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from campc.cli import main

ROOT = Path(__file__).resolve().parents[2]
SPEC = """
campaign c { question = "q"; decision = "d"; currency = USD; files = ["extra.txt"] }
package p { gpu = "A"; duration = 3d; price = 1 USD }
lot box { package = p }
run a { script = "train.py"; params = { lr = 1e-3, note = "a 'b' \\"c\\" $(touch x) `touch y`\\nz" }; args = ["$(touch x)", "; touch y"] }
tier essential { window a { kind = train; on = box; takes = 1h; run = a } }
"""


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    folder = tmp_path / "a folder $(touch z)"
    folder.mkdir()
    (folder / "train.py").write_text("print('hello')\n")
    (folder / "extra.txt").write_text("more\n")
    path = folder / "c.campaign"
    path.write_text(SPEC)
    return path


def build(spec: Path, out: Path, *options: str) -> int:
    return main(["build", str(spec), "-o", str(out), "--no-pdf", *options])


def tree(folder: Path) -> dict[str, str]:
    return {
        p.relative_to(folder).as_posix(): hashlib.sha256(p.read_bytes()).hexdigest()
        for p in sorted(folder.rglob("*"))
        if p.is_file()
    }


def test_two_builds_give_the_same_bytes(spec: Path, tmp_path: Path) -> None:
    assert build(spec, tmp_path / "one") == 0
    moved = tmp_path / "elsewhere"
    shutil.copytree(spec.parent, moved)
    assert build(moved / "c.campaign", tmp_path / "two") == 0
    assert tree(tmp_path / "one") == tree(tmp_path / "two")
    text = b"".join(p.read_bytes() for p in (tmp_path / "one").rglob("*") if p.is_file())
    assert str(tmp_path).encode() not in text
    # A short host name may well stand in compressed or encoded bytes by chance; nothing is said by those.
    said = b"\n".join(p.read_bytes() for p in (tmp_path / "one").rglob("*") if p.is_file() and p.suffix != ".pdf")
    said = re.sub(rb"base64,[A-Za-z0-9+/=]+", b"", said)
    assert not re.search(rb"\b" + re.escape(os.uname().nodename.encode()) + rb"\b", said)


def test_the_manifest_lists_every_file(spec: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert build(spec, out) == 0
    done = subprocess.run(
        ["sha256sum", "--check", "--quiet", "MANIFEST.sha256"], cwd=out, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout
    listed = {line.split("  ", 1)[1] for line in (out / "MANIFEST.sha256").read_text().splitlines()}
    assert listed == set(tree(out)) - {"MANIFEST.sha256"}
    assert os.access(out / "launch.sh", os.X_OK)
    assert (out / "work" / "train.py").read_text() == "print('hello')\n"
    assert (out / "work" / "extra.txt").exists()


def test_the_harness_is_carried_byte_for_byte(spec: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert build(spec, out) == 0
    source = ROOT / "compiler" / "campc_harness"
    for path in source.rglob("*.py"):
        assert (out / "campc_harness" / path.relative_to(source)).read_bytes() == path.read_bytes()


def test_hostile_values_stay_values(spec: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert build(spec, out) == 0
    run = json.loads((out / "campaign.json").read_text())["runs"][0]
    assert run["params"]["note"] == "a 'b' \"c\" $(touch x) `touch y`\nz"
    assert run["args"] == ["$(touch x)", "; touch y"]
    subprocess.run([str(out / "launch.sh"), "--help"], cwd=tmp_path, capture_output=True, timeout=60)
    assert not [p for p in tmp_path.rglob("*") if p.name in "xyz"]


def test_a_changed_script_gets_another_identifier(spec: Path, tmp_path: Path) -> None:
    assert build(spec, tmp_path / "one") == 0
    (spec.parent / "train.py").write_text("print('mended')\n")
    assert build(spec, tmp_path / "two") == 0
    one, two = (json.loads((tmp_path / name / "campaign.json").read_text()) for name in ("one", "two"))
    assert one["plan_hash"] == two["plan_hash"]
    assert one["runs"][0]["ids"][0]["id"] != two["runs"][0]["ids"][0]["id"]
    assert one["windows"][0]["run_ids"] == [one["runs"][0]["ids"][0]["id"]]


def test_equal_numbers_give_equal_identifiers(spec: Path, tmp_path: Path) -> None:
    assert build(spec, tmp_path / "one") == 0
    spec.write_text(SPEC.replace("1e-3", "0.0010"))
    assert build(spec, tmp_path / "two") == 0
    assert (tmp_path / "one" / "campaign.json").read_bytes() == (tmp_path / "two" / "campaign.json").read_bytes()


def test_a_foreign_folder_is_left_alone(spec: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "mine"
    out.mkdir()
    (out / "thesis.tex").write_text("years")
    assert build(spec, out) == 2
    assert tree(out) == {"thesis.tex": hashlib.sha256(b"years").hexdigest()}
    assert "holds something else" in capsys.readouterr().err


def test_a_file_in_the_place_is_left_alone(spec: Path, tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("years")
    assert build(spec, tmp_path / "mine") == 2
    assert (tmp_path / "mine").read_text() == "years"


def test_a_bundle_is_replaced_unless_it_was_launched(
    spec: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    assert build(spec, out) == 0
    spec.write_text(SPEC.replace("1e-3", "2e-3"))
    assert build(spec, out) == 0
    assert json.loads((out / "campaign.json").read_text())["runs"][0]["params"]["lr"] == 2e-3
    (out / "state").mkdir()
    (out / "state" / "ledger.jsonl").write_text("a night's work")
    before = tree(out)
    assert build(spec, out) == 2
    assert tree(out) == before
    assert "was launched" in capsys.readouterr().err
    shutil.rmtree(out / "state")
    (out / "notes.txt").write_text("mine")
    assert build(spec, out) == 2
    assert (out / "notes.txt").read_text() == "mine"
    assert sorted(p.name for p in tmp_path.iterdir() if p.name.startswith(".")) == []


def test_faults_and_missing_files_leave_nothing(spec: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (spec.parent / "train.py").unlink()
    assert build(spec, tmp_path / "out") == 1
    err = capsys.readouterr().err
    assert "C608" in err and "train.py isn't there" in err
    assert not (tmp_path / "out").exists()
    spec.write_text(SPEC.replace("takes = 1h", "takes = 100h"))
    (spec.parent / "train.py").write_text("")
    assert build(spec, tmp_path / "out") == 1
    assert not (tmp_path / "out").exists()


def test_a_killed_build_leaves_no_half_bundle(spec: Path, tmp_path: Path) -> None:
    out = tmp_path / "place" / "out"
    for delay in (0.2, 0.4, 0.6):
        process = subprocess.Popen(
            [sys.executable, "-m", "campc", "build", str(spec), "-o", str(out), "--no-pdf"],
            env={**os.environ, "PYTHONPATH": str(ROOT / "compiler")},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        time.sleep(delay)
        process.send_signal(signal.SIGKILL)
        process.wait()
        if out.exists():
            assert (
                subprocess.run(
                    ["sha256sum", "--check", "--quiet", "MANIFEST.sha256"], cwd=out, capture_output=True
                ).returncode
                == 0
            )
    assert build(spec, out) == 0
