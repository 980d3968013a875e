"""The record as a table and as JSON lines."""

import itertools
import json
from argparse import Namespace
from pathlib import Path
from typing import Any

import pytest

from campc.closeout.closing import close
from campc.commands.ledger import command
from tests.closeout.scene import HOUR, chain, positive, put


def options(bundle: Path, **more: Any) -> Namespace:
    return Namespace(**{"bundle": bundle, "json": False, "event": None, "run_id": None, **more})


def test_a_table_in_the_campaign_s_own_time(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bundle = positive().write(tmp_path / "bundle")
    assert command(options(bundle)) == 0
    head, *rows = capsys.readouterr().out.splitlines()
    assert head.split() == ["seq", "time", "event", "window", "run", "step", "what"]
    assert rows[0].split()[:4] == ["1", "2026-12-01", "09:00:00", "launch"]
    assert any("gate" in row and "continue, after_pilot, control.loss = 0.5" in row for row in rows)
    assert len({len(row) for row in [head, *rows]}) > 1 and len(rows) == 60


def test_json_lines_and_a_selection(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bundle = positive().write(tmp_path / "bundle")
    assert command(options(bundle, json=True, event=["done"], run_id="wider-00000002")) == 0
    (line,) = capsys.readouterr().out.splitlines()
    assert json.loads(line)["metrics"] == {"loss": 0.1, "eval.accuracy": 0.814}
    assert command(options(bundle / "package", json=True)) == 0
    assert len(capsys.readouterr().out.splitlines()) == 60


def test_damage_is_told_with_its_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    scene = positive()
    scene.packed = False
    scene.say(12, "note", reason="note", text="\x1b[2Jgone\nnext")
    bundle = scene.write(tmp_path / "bundle", break_ledger=lambda raw: raw.replace(b"0.814", b"0.999") + b'{"torn')
    assert command(options(bundle)) == 1
    said = capsys.readouterr()
    assert "the ledger of box: line " in said.err and "its last line is torn" in said.err
    assert "\x1b" not in said.out and " [2Jgone next, note" in said.out


def test_what_is_no_bundle(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    put(tmp_path, {"x": b""})
    assert command(options(tmp_path)) == 2
    assert "is not a bundle" in capsys.readouterr().err


def test_a_clock_that_was_set_back_leaves_lengths_and_order_as_they_were(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    scene = positive()
    scene.packed = False
    for line in scene.lines:
        if line["event"] == "launch":
            line["boot"] = "b"
    plain = close(scene.write(tmp_path / "plain"), reload=False)

    def back(raw: bytes) -> bytes:
        lines = [json.loads(line) for line in raw.splitlines()]
        for line in lines:
            line["time"] -= 10 * HOUR if line["mono"] >= 20 * HOUR else 0
        return chain(lines, in_order=True)

    bundle = scene.write(tmp_path / "back", break_ledger=back)
    assert close(bundle, reload=False).windows == plain.windows
    assert command(options(bundle, json=True)) == 0
    printed = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [line["seq"] for line in printed] == list(range(1, len(printed) + 1))
    assert any(later["time"] < earlier["time"] for earlier, later in itertools.pairwise(printed)), "as it was written"
