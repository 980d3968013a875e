"""What a pull request changes: windows, end, cost, packages, tiers and rules, in three forms and four exit statuses."""

import json
import re
import shutil
from argparse import Namespace
from fractions import Fraction
from pathlib import Path

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis.strategies import text
from markdown_it import MarkdownIt

from campc.cli import main
from campc.commands.diff import command
from campc.commands.diff_markdown import code as code_of
from campc.commands.diff_markdown import markdown
from campc.diff import Change, Difference

ROOT = Path(__file__).resolve().parents[2]
SPEC = (ROOT / "specs" / "schedule.campaign").read_text(encoding="utf-8").replace("limit = 60 USD", "limit = 200 USD")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    shutil.copytree(ROOT / "specs" / "catalogs", tmp_path / "catalogs")
    return tmp_path


def spec(folder: Path, name: str, *changes: tuple[str, str]) -> Path:
    words = SPEC
    for old, new in changes:
        assert old in words, old
        words = words.replace(old, new)
    path = folder / f"{name}.campaign"
    path.write_text(words, encoding="utf-8")
    return path


def told(
    old: Path,
    new: Path,
    capsys: pytest.CaptureFixture[str],
    *,
    form: str = "text",
    most: str | None = None,
    label: list[str] | None = None,
) -> tuple[int, str, str]:
    code = command(Namespace(old=old, new=new, format_=form, max_increase=most, label=label))
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


def test_the_page_shows_what_is_printed(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    page = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
    (shown,) = re.findall(r"```text\n\$ campc (diff .*?)\n(.*?)```", page, re.DOTALL)
    monkeypatch.chdir(folder)
    spec(folder, "rank", SEVEN_DAYS, LONGER)
    shutil.copytree(folder / "catalogs", folder / "main" / "catalogs")
    spec(folder / "main", "rank")
    assert main(shown[0].split()) == 3
    assert capsys.readouterr().out == shown[1]


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


def test_a_limit_in_another_currency_is_converted_where_a_rate_is_declared(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rated = ("currency    = USD", 'currency = USD; rates = { EUR = 1.25 USD }; rates_source = "ECB, 20 November 2026"')
    old, new = spec(folder, "a", rated), spec(folder, "b", rated, SEVEN_DAYS)
    assert [told(old, new, capsys, most=most)[0] for most in ("50 EUR", "51 EUR", "51 CHF")] == [3, 2, 3]


def test_cheaper_never_exceeds(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = told(spec(folder, "a", SEVEN_DAYS), spec(folder, "b"), capsys, most="0USD")
    assert code == 2 and "costs 62.86 USD less" in out


def test_json_says_the_same(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = told(spec(folder, "a"), spec(folder, "b", LONGER), capsys, form="json")
    tree = json.loads(out)
    assert code == 2 and tree["same"] is False
    assert tree["end"] == {
        "old_s": 172800, "new_s": 180000, "difference_s": 7200, "later_s": 7200,
        "old": "2026-12-03T09:00:00+01:00", "new": "2026-12-03T11:00:00+01:00",
    }  # fmt: skip
    jsonschema.Draft202012Validator(json.loads((ROOT / "docs/schemas/diff.schema.json").read_text())).validate(tree)
    assert {
        "section": "window",
        "name": "control",
        "what": "takes",
        "old": "10 h",
        "new": "12 h",
        "difference": "+2 h",
    } in tree["changes"]
    assert tree["old"]["plan_hash"] != tree["new"]["plan_hash"]


def rendered(markdown: str) -> tuple[list[list[str]], set[str]]:
    """The rows of its tables, each cell as its text, and the kinds of everything that is in it."""
    rows: list[list[str]] = []
    kinds, inside = set(), False
    for token in MarkdownIt("commonmark", {"html": True, "maxNesting": 100}).enable("table").parse(markdown):
        kinds |= {token.type, *(child.type for child in token.children or ())}
        if token.type == "tr_open":
            rows.append([])
        elif token.type in ("th_open", "td_open", "th_close", "td_close"):
            inside = token.type.endswith("open")
        elif token.type == "inline" and inside:
            rows[-1].append("".join(child.content for child in token.children or ()))
    return rows, kinds


def test_markdown_says_first_what_it_comes_to(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    gone = ("  window evaluate { kind = evaluate; on = box; takes = 2h; after = [rank16, rerun] }\n", "")
    new = spec(folder, "b", SEVEN_DAYS, LONGER, gone, ("budget { limit = 200 USD; alert = 48 USD }", ""))
    code, out, _ = told(spec(folder, "a"), new, capsys, form="markdown", most="10USD", label=["before it", "after it"])
    assert code == 3
    lines = out.splitlines()
    assert lines[0] == "### Plan of `adapter_rank`"
    assert lines[2] == "**The plan changes: it ends when it did and costs 62.86 USD more.**"
    assert lines[4] == "❌ It costs more than 10.00 USD more, which is the limit."
    for row in (
        "| ends | 2026-12-03 09:00, after 48 h | 2026-12-03 09:00, after 48 h | — |",
        "| costs | 47.14 USD | 110.00 USD | +62.86 USD |",
        "| lot `box` package | `rtx4090_3d` | `rtx4090_7d` |  |",
        "| window `control` takes | 10 h | 12 h | +2 h |",
        "| window `evaluate` | `evaluate, essential, box, 2 h` | *gone* |  |",
        "| budget limit | 200.00 USD | *not set* |  |",
    ):
        assert row in lines, out
    assert lines[-1].startswith("<sub>`before it` `") and " → `after it` `" in lines[-1]


HOSTILE = (
    "a | b", "\\| c \\\\| d \\", "<b>@all</b><img src=x onerror=alert(1)>", "</details><!--", "[x](javascript:1) ![i](https://e.example/i)",
    "https://evil.example www.evil.example a@evil.example", "# now", "`rm` ``x`` ```", "`", "\u202eback",
    "*a* _b_ ~~c~~ $d$ :tada: #1", "x\n\n| y | z |\n", " www.evil.example ",
)  # fmt: skip


def inert(words: str) -> None:
    """A comment in which all that a spec or a bundle can say is these words."""
    changes = (Change("run", words, words, words, words, words), Change("stop", words, "added", None, words))
    found = Difference(changes, Fraction(3600), Fraction(7200), (), ())
    out = markdown(words, "It changes.", found, names=(code_of(words), code_of(words)), faults=[words], most=None)
    rows, kinds = rendered(out)
    assert [len(row) for row in rows] == [4] * 6 and rows[3] == ["What changes", "before", "after", "difference"], out
    assert not kinds & {"link_open", "image", "html_block", "fence"}
    # Of backslashes before a bar one may be added.
    shown = "".join(letter if letter.isprintable() else "\ufffd" for letter in " ".join(words.split()))
    if len(shown) < 200 and shown.isascii():
        assert rows[5][2].strip().replace("\\", "") == shown.replace("\\", "")


@pytest.mark.parametrize("words", HOSTILE)
def test_nothing_means_anything_in_markdown(words: str) -> None:
    inert(words)


@settings(max_examples=40)
@given(text(alphabet="\\|`<>*_[]()#@$~!&: \n\tab1.", max_size=40))
def test_nothing_means_anything_in_markdown_whatever_it_is(words: str) -> None:
    inert(words)


def test_a_hostile_spec(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    hostile = ('"Adopt rank 16."', '"Adopt | <b>@all</b> [x](javascript:1)\\n# now `rm`"')
    code, out, _ = told(spec(folder, "a"), spec(folder, "b", hostile), capsys, form="markdown")
    assert code == 2
    rows, kinds = rendered(out)
    assert rows[-1][2] == "Adopt | <b>@all</b> [x](javascript:1) # now `rm`" and "link_open" not in kinds


def test_a_long_comment_is_cut(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    many = "".join(f'unknown u{i} {{ question = "{"why " * 100}{i}"; settled_by = pilot }}\n' for i in range(200))
    code, out, _ = told(
        spec(folder, "a"), spec(folder, "b", ("unknown speed", f"{many}unknown speed")), capsys, form="markdown"
    )
    assert code == 2 and len(out) < 65_000 and "… and 80 changes more: `campc diff` prints them all." in out


def test_a_bundle_stands_beside_its_spec(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "train.py").write_text("")
    (folder / "tickets.jsonl").write_text("")
    old = spec(folder, "a")
    assert main(["build", str(old), "-o", str(tmp_path / "bundle"), "--no-pdf"]) == 0
    capsys.readouterr()
    assert told(tmp_path / "bundle", old, capsys)[0] == 0
    code, out, _ = told(tmp_path / "bundle", spec(folder, "b", LONGER), capsys)
    assert code == 2 and "  ~ control: takes 10 h → 12 h (+2 h)" in out.splitlines()


def test_another_start_ends_later(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    later = ("starts = 2026-12-01 09:00", "starts = 2026-12-02 09:00")
    code, out, _ = told(spec(folder, "a"), spec(folder, "b", later), capsys)
    assert code == 2
    assert out.splitlines()[1] == "The plan changes: it ends 24 h later and costs the same."
    assert "  ~ 2026-12-03T09:00:00+01:00 → 2026-12-04T09:00:00+01:00 (+24 h)" in out.splitlines()


def test_what_mends_an_overrun_is_a_difference(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    longer = ("takes = 10h; after = pilot", "takes = 50h; after = pilot")
    code, _, err = told(spec(folder, "a", longer), spec(folder, "b"), capsys)
    assert code == 2 and "a.campaign: C302" in err


def test_an_overrun_stands_in_the_comment(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    longer = ("takes = 10h; after = pilot", "takes = 50h; after = pilot")
    code, out, _ = told(spec(folder, "a"), spec(folder, "b", longer), capsys, form="markdown")
    assert code == 1 and "\n- `C302 box needs 88 h, the package lasts 72 h: 16 h over`\n" in out


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
    assert told(good, good, capsys, label=["one"])[0] == 1
    code, out, err = told(good, folder / "none.campaign", capsys, form="json")
    assert (code, err) == (1, "") and "none.campaign" in json.loads(out)["failure"]


def test_bad_arguments_are_not_taken_for_a_difference(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        main(["diff", "one.campaign"])
    assert left.value.code == 1 and "required: NEW" in capsys.readouterr().err
