"""One set of diagnostics in every format: they agree, and each is what its readers take."""

import json
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import jsonschema
import pytest

from campc.cli import main
from campc.diagnostic import Diagnostic, Note
from campc.render.text import Style, render_one
from campc.source import Source

HERE = Path(__file__).parent
SARIF = json.loads((HERE / "sarif-2.1.0-rtm.5.json").read_text())
CASES = sorted((HERE.parent / "cases").glob("*.campaign"))


def run(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> tuple[int, str]:
    status = main([str(argument) for argument in arguments])
    return status, capsys.readouterr().out


@pytest.mark.parametrize("case", CASES, ids=lambda path: path.stem)
def test_formats_agree(case: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, out = run(capsys, "check", "--format", "json", case)
    report = json.loads(out)
    found = [
        (d["code"], d["range"]["start"]["line"], d["range"]["start"]["column"], d["message"])
        for d in report["diagnostics"]
    ]
    assert report["errors"] == sum(d["severity"] == "error" for d in report["diagnostics"])
    assert report["errors"] + report["warnings"] == len(found)
    assert status == (1 if report["errors"] else 0)

    sarif_status, out = run(capsys, "check", "--format", "sarif", case)
    log = json.loads(out)
    jsonschema.validate(log, SARIF, cls=jsonschema.Draft4Validator)
    results = log["runs"][0]["results"]
    assert [_sarif_place(r) for r in results] == [f[:3] for f in found]
    assert all(r["message"]["text"].startswith(f[3]) for r, f in zip(results, found, strict=True))
    assert sarif_status == status

    _, text = run(capsys, "check", case)
    heads = re.findall(r"^(?:error|warning)\[(C\d+)\]: (.*)\n *--> (.+):(\d+):(\d+)$", text, re.MULTILINE)
    assert [(code, int(line), int(column), message) for code, message, _, line, column in heads] == found

    _, concise = run(capsys, "check", "--format", "concise", case)
    lines = re.findall(r"^.+?:(\d+):(\d+): (?:error|warning)\[(C\d+)\] (.*)$", concise, re.MULTILINE)
    assert [(code, int(line), int(column), message) for line, column, code, message in lines] == found

    _, github = run(capsys, "check", "--format", "github", case)
    commands = re.findall(
        r"^::(?:error|warning) file=(.+?),line=(\d+),col=(\d+),.*?,title=(C\d+) ", github, re.MULTILINE
    )
    assert [(code, int(line), int(column)) for _, line, column, code in commands] == [f[:3] for f in found]

    _, gitlab = run(capsys, "check", "--format", "gitlab", case)
    issues = json.loads(gitlab)
    assert [(i["check_name"].split()[0], i["location"]["lines"]["begin"]) for i in issues] == [f[:2] for f in found]
    assert len({i["fingerprint"] for i in issues}) == len(issues)


def _sarif_place(result: dict[str, Any]) -> tuple[str, int, int]:
    region = result["locations"][0]["physicalLocation"]["region"]
    return result["ruleId"], region["startLine"], region["startColumn"]


def test_text_shows_both_places_in_the_order_of_the_file(capsys: pytest.CaptureFixture[str]) -> None:
    _, text = run(capsys, "check", "--select", "C301", HERE.parent / "cases" / "overlap_explicit.campaign")
    first, second = text.index("this one holds it already"), text.index("^^^")
    assert first < second
    assert "6 h in common" in text
    assert "= help: second fits from 2026-12-01 12:00" in text


def test_colour_only_where_it_is_asked_for(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    case = HERE.parent / "cases" / "overlap_explicit.campaign"
    assert "\x1b" not in run(capsys, "check", case)[1]
    assert "\x1b[1;31m" in run(capsys, "check", "--color", "always", case)[1]
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in run(capsys, "check", case)[1]


def test_wide_and_odd_characters_keep_the_carets_in_place(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    spec = tmp_path / "wide.campaign"
    spec.write_text('campaign c { question = "日本"; decision = "d"; owner = 5 }\n')
    _, text = run(capsys, "check", "--select", "C204", spec)
    lines = text.splitlines()
    source = next(line for line in lines if "日本" in line)
    carets = next(line for line in lines if "^" in line)
    # Each of the two ideographs takes two columns.
    assert carets.index("^") == source.index("5") + 2


def test_nothing_that_a_terminal_acts_on_is_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    spec = tmp_path / "escape.campaign"
    spec.write_text('campaign c { question = "q"; decision = "d"; owner = 5 } # \x1b[31m\x07\n')
    for format_ in ("text", "concise"):
        _, text = run(capsys, "check", "--format", format_, spec)
        assert "\x1b" not in text and "\x07" not in text


def _junit(text: str) -> tuple[ElementTree.Element, list[ElementTree.Element]]:
    root = ElementTree.fromstring(text)
    cases = list(root.iter("testcase"))
    for element in (root, *root):
        for plural, tag in (("tests", "testcase"), ("failures", "failure"), ("errors", "error")):
            assert int(element.get(plural, "")) == sum(1 for _ in element.iter(tag))
    return root, cases


def test_junit_has_a_suite_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cases = HERE.parent / "cases"
    missing = tmp_path / "missing.campaign"
    status, text = run(
        capsys, "check", "--format", "junit", cases / "schedule_48_in_72.campaign", cases / "overlap_explicit.campaign", missing
    )  # fmt: skip
    assert status == 2
    root, found = _junit(text)
    assert [Path(suite.get("name", "")).stem for suite in root] == ["schedule_48_in_72", "overlap_explicit", "missing"]
    (failure,) = [case for case in found if case.find("failure") is not None]
    told = failure.find("failure")
    assert told is not None and told.get("type") == "C301" and "6 h in common" in told.get("message", "")
    assert "\nhelp: second fits from 2026-12-01 12:00" in (told.text or "")
    assert failure.get("name", "").startswith("C301 gpu-windows-overlap, line ") and failure.get("line", "").isdigit()
    assert [e.get("type") for e in root.iter("error")] == ["C104"]


def test_junit_warnings_pass_unless_strict(capsys: pytest.CaptureFixture[str]) -> None:
    case = HERE.parent / "cases" / "never_used.campaign"
    status, text = run(capsys, "check", "--format", "junit", case)
    _, found = _junit(text)
    assert status == 0 and found and not list(ElementTree.fromstring(text).iter("failure"))
    assert all("warning[C" in (case.findtext("system-out") or "") for case in found)
    status, text = run(capsys, "check", "--format", "junit", "--strict", case)
    _, strict = _junit(text)
    assert status == 1 and len(list(ElementTree.fromstring(text).iter("failure"))) == len(strict) == len(found)


def test_junit_of_a_clean_file_has_a_case_that_passed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, text = run(capsys, "check", "--format", "junit", "--ignore", "C", HERE.parent / "cases" / "offers.campaign")
    _, found = _junit(text)
    assert status == 0 and [(case.get("name"), len(case)) for case in found] == [("no faults", 0)]


def test_junit_is_xml_whatever_a_spec_says(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    spec = tmp_path / "a<b>&\"'\x01.campaign"
    spec.write_text(
        'campaign c { question = "q"; decision = "d"; \x1b]]>\x07 = 5 }\nlot \u2028\ufffe { package = "<&>" }\n'
    )
    _, text = run(capsys, "check", "--format", "junit", spec)
    root, found = _junit(text)
    assert found and (root[0].get("name") or "").endswith("a<b>&\"'\ufffd.campaign")
    assert not re.search("[\x00-\x08\x0b-\x1f\ufffe]", text)


def test_a_second_place_on_the_same_line_of_another_file_shows_its_line() -> None:
    here, there = Source("here.campaign", "let a = 1\n"), Source("there.campaign", "let b = 2\n")
    fault = Diagnostic("C206", here.span(4, 5), "twice", (Note(there.span(4, 5), "there, too"),))
    text = render_one(fault, Style())
    assert "1 | let a = 1\n  |     ^\n ::: there.campaign:1:5\n1 | let b = 2\n  |     - there, too\n" in text
