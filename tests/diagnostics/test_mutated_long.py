"""Specs changed at random: checking never raises, says the same each time, and points into the text."""

import re
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from campc.checks.examples import complete
from campc.checks.explain import pages
from campc.codes import CODES
from campc.commands.fix import edited
from campc.diagnostic import Diagnostic
from campc.source import Span

from .compiling import compile_text

HERE = Path(__file__).parent
SPECS = [
    *(path.read_text(encoding="utf-8") for path in sorted(HERE.glob("**/*.campaign"))),
    *(path.read_text(encoding="utf-8") for path in sorted((HERE.parent / "cases").glob("*.campaign"))),
    *(complete(page.bad) for page in pages().values()),
]
TOKEN = re.compile(r'"[^"\n]*"|[A-Za-z_][A-Za-z0-9_.]*|[0-9][^\s;,}\])]*|\S|\n')
WORDS = sorted({word for spec in SPECS for word in TOKEN.findall(spec)})
ODD = [
    "",
    "0",
    "-1",
    "1e999",
    "0s",
    "1000000d",
    "0%",
    "[]",
    "{ }",
    '""',
    '"/"',
    '"../x"',
    "true",
    "+1h",
    "2026-02-30",
    "é",
    "\0",
    "(",
    "}",
    "}}",
]


@st.composite
def mutated(draw: st.DrawFn) -> str:
    """A spec with a few of its words left out, doubled, exchanged or replaced."""
    parts = re.split(f"({TOKEN.pattern})", draw(st.sampled_from(SPECS)))
    words = [n for n in range(1, len(parts), 2) if parts[n].strip()]
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.sampled_from(words))
        match draw(st.sampled_from(["drop", "double", "exchange", "word", "odd"])):
            case "drop":
                parts[at] = ""
            case "double":
                parts[at] = f"{parts[at]} {parts[at]}"
            case "exchange":
                other = draw(st.sampled_from(words))
                parts[at], parts[other] = parts[other], parts[at]
            case "word":
                parts[at] = draw(st.sampled_from(WORDS))
            case _:
                parts[at] = draw(st.sampled_from(ODD))
    return "".join(parts)


def places(diagnostic: Diagnostic) -> list[Span]:
    edits = diagnostic.fix.edits if diagnostic.fix is not None else ()
    return [diagnostic.at, *(note.at for note in diagnostic.related), *(edit.at for edit in edits)]


@settings(max_examples=15000, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(mutated())
def test_a_changed_spec_is_told_what_is_wrong(text: str) -> None:
    first, second = compile_text(text), compile_text(text)
    assert first.diagnostics == second.diagnostics
    for diagnostic in first.diagnostics:
        assert diagnostic.code in CODES
        assert diagnostic.message.strip()
        for span in places(diagnostic):
            assert 0 <= span.start <= span.end <= len(span.source.text)
    said = [(d.code, d.at, d.message) for d in first.diagnostics]
    assert len(said) == len(set(said))
    from_rules = [(d.code, d.at.line) for d in first.diagnostics if d.code >= "C3"]
    assert len(from_rules) == len(set(from_rules))


@settings(max_examples=4000, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(mutated())
def test_a_fix_mends_what_it_is_for(text: str) -> None:
    for diagnostic in compile_text(text).diagnostics:
        if diagnostic.fix is None:
            continue
        mended = compile_text(edited(text, diagnostic.fix.edits))
        again = [(d.code, d.message) for d in mended.diagnostics if d.at.start == diagnostic.at.start]
        assert (diagnostic.code, diagnostic.message) not in again
