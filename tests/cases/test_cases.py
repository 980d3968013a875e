"""Specs that say in comments what must come out of them.

    ... #! C301         an error or warning of this code begins on this line
    ... #! not C502     this code must be reported nowhere in the file
    #= /json/path VALUE what the plan as JSON holds there; items of lists are found by their name (or run); ~3.5 compares to within 0.1%

Errors must match exactly; warnings that a case doesn't name are ignored; nothing is reported twice on one line.
"""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from campc.cli import main

CASES = sorted(Path(__file__).parent.glob("*.campaign"))


def look_up(value: Any, path: str) -> Any:
    for key in path.strip("/").split("/"):
        if isinstance(value, list):
            named = [v for v in value if isinstance(v, dict) and key in (v.get("name"), v.get("run"))]
            value = named[0] if named else value[int(key)]
        else:
            value = value[key]
    return value


def codes_after(pattern: str, line: str) -> set[str]:
    found = re.search(pattern + r" ((?:C\d+ ?)+)", line)
    return set(found[1].split()) if found else set()


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_a_case_is_found_as_it_says(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = path.read_text(encoding="utf-8").splitlines()
    wanted = {(code, number) for number, line in enumerate(lines, 1) for code in codes_after("#!", line)}
    unwanted = {code for line in lines for code in codes_after("#! not", line)}

    status = main(["check", "--format", "json", str(path)])
    report = json.loads(capsys.readouterr().out)
    found = [(d["code"], d["range"]["start"]["line"]) for d in report["diagnostics"]]
    errors = {(d["code"], d["range"]["start"]["line"]) for d in report["diagnostics"] if d["severity"] == "error"}

    assert wanted <= set(found)
    assert errors <= wanted
    assert len(found) == len(set(found)), "reported twice on one line"
    assert not unwanted & {code for code, _ in found}
    assert status == (1 if errors else 0)

    values = [match for line in lines if (match := re.match(r"#= (\S+) (.+)", line))]
    if not values:
        return
    main(["plan", "--format", "json", str(path)])
    plan = json.loads(capsys.readouterr().out)
    for match in values:
        got, want = look_up(plan, match[1]), match[2]
        assert got == (pytest.approx(float(want[1:]), rel=1e-3) if want.startswith("~") else json.loads(want)), match[1]
