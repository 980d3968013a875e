"""`campc closeout` as it is typed."""

import json
from pathlib import Path

import pytest

from campc.cli import main
from campc.commands.closeout import hash_of, write_all
from tests.closeout.scene import HASH, Scene, positive, put

ROOT = Path(__file__).resolve().parents[2]
DIGITS = ROOT / "specs" / "digits" / "digits.campaign"
# WeasyPrint leaves the file of its colour profile to the garbage collector.
pytestmark = pytest.mark.filterwarnings("ignore:unclosed file .*sRGB2014.icc:ResourceWarning")
FILES = ("closeout.html", "closeout.pdf", "closeout.json")


def test_three_files_a_summary_and_exit_0(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bundle = positive().write(tmp_path / "bundle")
    assert main(["closeout", str(bundle), "--reload"]) == 0
    said = capsys.readouterr().out
    assert (
        said.startswith("width: Adopt the wider network.\n")
        and "cost: 47.14 USD rental; expenses: none recorded\n" in said
    )
    assert (
        "accepted: 4 of 4 deliverables, 2 reloaded\n" in said
        and "per_run: 23.57 USD each (47.14 USD rental, 2 runs)\n" in said
    )
    assert all(str(bundle / name) in said for name in FILES)
    assert (bundle / "closeout.pdf").read_bytes().startswith(b"%PDF-") and "Adopt the wider network." in (
        bundle / "closeout.html"
    ).read_text()
    tree = json.loads((bundle / "closeout.json").read_text())
    assert (tree["schema"], tree["plan_hash"], tree["accepted"], tree["essential_accepted"]) == (1, HASH, 4, True)
    assert tree["costs"]["rental"] == [{"amount": "47.14", "currency": "USD"}]
    page = (bundle / "closeout.html").read_text()
    assert "Reruns beside their runs" in page and page.count(">agrees<") == 2
    assert not list(bundle.glob(".closeout*"))


def test_what_was_not_tried_is_not_accepted_and_says_what_to_type(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bundle = positive().write(tmp_path / "bundle")
    out = tmp_path / "new" / "folder"
    assert main(["closeout", str(bundle), "-o", str(out)]) == 1
    said = capsys.readouterr().out
    assert "not verified: model of control-00000001, model of wider-00000002" in said and "--reload" in said
    assert all((out / name).is_file() for name in FILES) and not (bundle / "closeout.html").exists()


def test_the_same_bytes_again(tmp_path: Path) -> None:
    bundle = positive().write(tmp_path / "bundle")
    for name in ("one", "two"):
        assert main(["closeout", str(bundle), "--reload", "-o", str(tmp_path / name)]) == 0
    for name in FILES:
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes(), name


def test_where_it_can_t_run_it_says_why_in_one_line_and_writes_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    put(tmp_path / "damaged", {"campaign.json": b"{"})
    Scene().write(tmp_path / "never")
    (tmp_path / "file").write_text("x")
    for place, said in (
        ("none", "no such folder"),
        ("file", "is a file"),
        ("damaged", "isn't JSON"),
        ("never", "nothing was run"),
    ):
        assert main(["closeout", str(tmp_path / place)]) == 2
        err = capsys.readouterr().err
        assert said in err and err.count("\n") == 1 and "Traceback" not in err
    assert not list(tmp_path.rglob("closeout*"))


def test_a_place_that_can_t_be_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bundle = positive().write(tmp_path / "bundle")
    (tmp_path / "file").write_text("x")
    assert main(["closeout", str(bundle), "-o", str(tmp_path / "file")]) == 2
    assert "can't be written" in capsys.readouterr().err


def test_the_spec_must_still_be_the_plan_that_ran(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    scene = positive()
    assert main(["closeout", str(scene.write(tmp_path / "other")), "--spec", str(DIGITS)]) == 2
    err = capsys.readouterr().err
    assert HASH in err and hash_of(DIGITS) in err and "the plan has changed" in err
    scene.plan["plan_hash"] = scene.lines[0]["plan_hash"] = hash_of(DIGITS)
    assert main(["closeout", str(scene.write(tmp_path / "same")), "--spec", str(DIGITS), "--reload"]) == 0


def test_a_spec_with_errors_has_no_plan(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bundle = positive().write(tmp_path / "bundle")
    (tmp_path / "broken.campaign").write_text("campaign x {")
    for name, said in (("broken.campaign", "so it has no plan to compare"), ("none.campaign", "none.campaign")):
        assert main(["closeout", str(bundle), "--spec", str(tmp_path / name)]) == 2
        assert said in capsys.readouterr().err


def test_text_that_no_document_can_hold(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    scene = positive()
    scene.plan["campaign"]["question"] = "Is \ud800 <script>alert(1)</script> \x00\u202e better?"
    scene.say(20, "note", reason="note", text="\udfff\x1b[2J & more")
    bundle = scene.write(tmp_path / "bundle")
    model = bundle / "runs/control-00000001/outputs/model.bin"
    model.unlink()
    model.mkdir()
    (model / "caf\udce9").write_bytes(b"")
    assert main(["closeout", str(bundle), "--reload"]) == 1
    assert "model.bin/caf\ufffd is empty" in capsys.readouterr().out
    page = (bundle / "closeout.html").read_text(encoding="utf-8")
    assert "<script>alert" not in page and "\x1b" not in page and "Is \ufffd &lt;script&gt;" in page
    json.loads((bundle / "closeout.json").read_text(encoding="utf-8"))


def test_nothing_is_half_written(tmp_path: Path) -> None:
    put(tmp_path, {"closeout.html": b"old"})
    with pytest.raises(OSError):
        write_all(tmp_path, {"closeout.json": b"{}", "missing/closeout.html": b"new"})
    assert (tmp_path / "closeout.html").read_bytes() == b"old" and not (tmp_path / "closeout.json").exists()


def test_a_rerun_that_differs_in_the_sixth_digit_shows_it(tmp_path: Path) -> None:
    scene = positive()
    scene.plan["windows"][4]["tolerance"] = 0
    for line in scene.lines:
        if line["event"] == "done" and line["window"] == "rerun":
            line["metrics"] = {"loss": 0.1, "eval.accuracy": 0.8000001}
    bundle = scene.write(tmp_path / "bundle")
    assert main(["closeout", str(bundle), "--reload"]) == 0
    page = (bundle / "closeout.html").read_text()
    assert "0.8000001" in page and page.count(">differs<") == 1
