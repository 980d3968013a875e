"""What a pull request changes: windows, end, cost, packages, tiers and rules, in three forms and four exit statuses."""

import json
import shutil
from argparse import Namespace
from pathlib import Path

import pytest

from campc.cli import main
from campc.commands.diff import command

ROOT = Path(__file__).resolve().parents[2]
SPEC = (ROOT / "specs" / "schedule.campaign").read_text(encoding="utf-8").replace("limit = 60 USD", "limit = 200 USD")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    shutil.copytree(ROOT / "specs" / "catalogs", tmp_path / "catalogs")
    return tmp_path


def spec(folder: Path, name: str, *changes: tuple[str, str]) -> Path:
    text = SPEC
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new)
    path = folder / f"{name}.campaign"
    path.write_text(text, encoding="utf-8")
    return path


def told(
    old: Path, new: Path, capsys: pytest.CaptureFixture[str], *, form: str = "text", most: str | None = None
) -> tuple[int, str, str]:
    code = command(Namespace(old=old, new=new, format_=form, max_increase=most))
    said = capsys.readouterr()
    return code, said.out, said.err


SEVEN_DAYS = ("package = rtx4090_3d", "package = rtx4090_7d")
LONGER = ("takes = 10h; after = pilot", "takes = 12h; after = pilot")


def test_the_same(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = told(spec(folder, "a"), spec(folder, "b", ("# An illustrative", "# Another")), capsys)
    assert code == 0 and out.endswith("The two plans are the same.\n")


def test_what_it_comes_to_stands_first(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    changes = (SEVEN_DAYS, LONGER, ("exact_match < 0.2", "exact_match < 0.3"), ("tier useful", "tier exploratory"))
    code, out, _ = told(spec(folder, "a"), spec(folder, "b", *changes), capsys)
    assert code == 2
    lines = out.splitlines()
    assert lines[1] == "The plan changes: it ends 2 h later and costs 62.86 USD more."
    for line in (
        "  ~ 48 h → 50 h (+2 h)",
        "  ~ rental: 47.14 USD → 110.00 USD (+62.86 USD)",
        "  ~ box: package rtx4090_3d → rtx4090_7d",
        "  ~ box: uncommitted 24 h → 118 h (+94 h)",
        "  ~ control: takes 10 h → 12 h (+2 h)",
        "  ~ rank32: tier useful → exploratory",
        "  ~ rank16, rerun, evaluate, rank32, home: starts 2 h later",
        "  ~ weak: when eval.exact_match < 0.2 → eval.exact_match < 0.3",
    ):
        assert line in lines, out


def test_added_removed_and_inherited(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    changes = (
        ("lr = 2e-4", "lr = 1e-4"),
        ("  window evaluate { kind = evaluate; on = box; takes = 2h; after = [rank16, rerun] }\n", ""),
        (
            'stop truncated { when = truncated_inputs > 0; because = "A cut ticket is not the frozen corpus." }',
            'stop late { when = step > 9; because = "x" }',
        ),
    )
    code, out, _ = told(spec(folder, "a"), spec(folder, "b", *changes), capsys)
    assert code == 2
    for line in (
        "  ~ control, rank16, rank32: params.lr 0.0002 → 0.0001",
        "  − evaluate: evaluate, essential, box, 2 h",
        "  − truncated: truncated_inputs > 0",
        "  + late: step > 9",
    ):
        assert line in out.splitlines(), out


@pytest.mark.parametrize(("most", "code"), [("10USD", 3), ("62.86 USD", 2), ("62.85USD", 3), ("1000 EUR", 3)])
def test_a_limit_on_the_increase(folder: Path, capsys: pytest.CaptureFixture[str], most: str, code: int) -> None:
    assert told(spec(folder, "a"), spec(folder, "b", SEVEN_DAYS), capsys, most=most)[0] == code


def test_cheaper_never_exceeds(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = told(spec(folder, "a", SEVEN_DAYS), spec(folder, "b"), capsys, most="0USD")
    assert code == 2 and "costs 62.86 USD less" in out


def test_json_says_the_same(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = told(spec(folder, "a"), spec(folder, "b", LONGER), capsys, form="json")
    tree = json.loads(out)
    assert (
        code == 2 and tree["same"] is False and tree["end"] == {"old_s": 172800, "new_s": 180000, "difference_s": 7200}
    )
    assert {
        "section": "window",
        "name": "control",
        "what": "takes",
        "old": "10 h",
        "new": "12 h",
        "difference": "+2 h",
    } in tree["changes"]
    assert tree["old"]["plan_hash"] != tree["new"]["plan_hash"]


def test_markdown_is_one_table_whatever_the_spec_says(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    hostile = ('"Adopt rank 16."', '"Adopt | <b>@all</b> [x](javascript:1)\\n# now `rm`"')
    code, out, _ = told(spec(folder, "a"), spec(folder, "b", hostile), capsys, form="markdown")
    assert code == 2
    (row,) = [line for line in out.splitlines() if line.startswith("| outcome")]
    assert row.count(" | ") == 4 and "\\| \\<b\\>@\u200ball" in row and "\\[x\\](javascript:1) \\# now \\`rm\\`" in row


def test_an_overrun_is_told_and_is_an_error(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    longer = ("takes = 10h; after = pilot", "takes = 50h; after = pilot")
    code, out, err = told(spec(folder, "a"), spec(folder, "b", longer), capsys)
    assert code == 1 and "  ~ box: uncommitted 24 h → 16 h over (−40 h)" in out.splitlines()
    assert "C302" in err


def test_what_can_t_be_compared(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    good = spec(folder, "a")
    for bad, said in (
        (folder / "none.campaign", "none.campaign"),
        (folder, "is not a bundle"),
        (spec(folder, "b", ("package = rtx4090_3d", "package = ")), "C101"),
    ):
        code, out, err = told(good, bad, capsys)
        assert (code, out) == (1, "") and said in err and "Traceback" not in err
    assert told(good, good, capsys, most="ten dollars")[0] == 1


def test_bad_arguments_are_not_taken_for_a_difference(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        main(["diff", "one.campaign"])
    assert left.value.code == 1 and "required: NEW" in capsys.readouterr().err
