"""Every code has a page; its bad example gives the code and no other error, its good one no error and not the code."""

import pytest

from campc.checks.examples import complete
from campc.checks.explain import code_named, explain_code, overview, pages
from campc.cli import main
from campc.codes import CODES

from .compiling import compile_text

OFFERS = 'package offer { gpu = "A100"; duration = 3d; price = 120 USD }\n'
THERE = {"train.py"}


def found(fragment: str) -> tuple[set[str], set[str]]:
    """All codes, and those of errors, of a page's example."""
    compiled = compile_text(
        complete(fragment), used={"catalogs/offers.campaign": OFFERS}, exists=lambda source, path: path in THERE
    )
    return {d.code for d in compiled.diagnostics}, {d.code for d in compiled.diagnostics if d.severity == "error"}


def test_every_code_has_a_page() -> None:
    assert list(pages()) == sorted(CODES)


@pytest.mark.parametrize("code", sorted(CODES))
def test_a_bad_example_has_the_fault(code: str) -> None:
    page = pages()[code]
    if code == "C104":
        assert not page.bad.strip()  # no text can show what is no text
        return
    codes, errors = found(page.bad)
    assert code in codes
    assert errors <= {code}


@pytest.mark.parametrize("code", sorted(CODES))
def test_a_good_example_has_it_no_more(code: str) -> None:
    codes, errors = found(pages()[code].good)
    assert code not in codes
    assert not errors


@pytest.mark.parametrize("code", sorted(CODES))
def test_a_page_says_why(code: str) -> None:
    page = pages()[code]
    assert page.title.endswith(".")
    assert len(page.why) > 60, "a page says why it matters"
    text = explain_code(CODES[code])
    assert code in text and page.title in text
    assert all(len(line) <= 160 for line in text.splitlines())


def test_a_code_is_found_by_number_and_name() -> None:
    info = CODES["C301"]
    assert code_named("c301") is code_named("301") is code_named("gpu-windows-overlap") is info
    assert code_named("C999") is None
    assert len(overview().splitlines()) == len(CODES) + 2


def test_explain_is_a_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "c301", "no-budget"]) == 0
    told = capsys.readouterr().out
    assert "C301 gpu-windows-overlap is an error" in told and "# campc: allow C405 because REASON" in told
    assert main(["explain"]) == 0
    assert "C706 W shutdown-from-inside-only" in capsys.readouterr().out
    assert main(["explain", "C999"]) == 2
    assert "there is no code C999" in capsys.readouterr().err
