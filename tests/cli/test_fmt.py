"""``campc fmt`` as a command: what it writes, and what it leaves alone."""

import io
import os
from pathlib import Path

import pytest

from campc.cli import main

UGLY = 'campaign   c{question="q";decision = "d"}\n\n\n\nlot box { package=p }\npackage p {\n gpu="A"\n duration   = 3d\n price = 1 USD }\n'


def test_a_file_is_rewritten_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    spec = tmp_path / "a.campaign"
    spec.write_text(UGLY)
    spec.chmod(0o640)
    assert main(["fmt", str(spec)]) == 0
    text = spec.read_text()
    assert text != UGLY and "  duration = 3d\n" in text
    assert spec.stat().st_mode & 0o777 == 0o640
    assert "changed" in capsys.readouterr().out
    assert main(["fmt", str(spec)]) == 0
    assert capsys.readouterr().out == ""
    assert spec.read_text() == text
    assert os.listdir(tmp_path) == ["a.campaign"]


def test_check_and_diff_write_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    spec = tmp_path / "a.campaign"
    spec.write_text(UGLY)
    assert main(["fmt", "--check", str(tmp_path)]) == 1
    assert "would change" in capsys.readouterr().out
    assert main(["fmt", "--diff", str(spec)]) == 1
    assert "+  duration = 3d" in capsys.readouterr().out
    assert spec.read_text() == UGLY
    assert main(["fmt", str(spec)]) == 0
    assert main(["fmt", "--check", str(tmp_path)]) == 0


def test_a_broken_file_is_left_as_it_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    spec = tmp_path / "a.campaign"
    broken = UGLY + "lot {{{\n"
    spec.write_text(broken)
    assert main(["fmt", str(spec)]) == 1
    assert spec.read_text() == broken
    assert "C10" in capsys.readouterr().err


def test_standard_input(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(UGLY.encode())))
    assert main(["fmt", "-"]) == 0
    out = capsys.readouterr().out
    assert out.startswith('campaign c { question = "q"; decision = "d" }\n')


def test_crlf_and_byte_order_mark_are_kept_readable(tmp_path: Path) -> None:
    spec = tmp_path / "a.campaign"
    spec.write_bytes(b"\xef\xbb\xbf" + UGLY.replace("\n", "\r\n").encode())
    assert main(["fmt", str(spec)]) == 0
    once = spec.read_bytes()
    assert once.startswith(b"\xef\xbb\xbf")
    assert main(["fmt", "--check", str(spec)]) == 0
    assert main(["check", "--select", "C1,C2", "--ignore", "C212", str(spec)]) == 0


def test_missing_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fmt", str(tmp_path / "nothing.campaign")]) == 2
    assert "does not exist" in capsys.readouterr().err
