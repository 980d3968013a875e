"""What an editor may offer at a place, marked ``|`` here."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from campc.source import Source
from campc.syntax.complete import Place, place


def at(text: str) -> Place:
    offset = text.index("|")
    return place(Source("x", text[:offset] + text[offset + 1 :]), offset)


@pytest.mark.parametrize(
    ("text", "blocks", "attribute", "word", "expected"),
    [
        ("|", (), None, "", {"WORD", "USE", "LET"}),
        ("pack|age", (), None, "pack", {"WORD"}),
        ("run a {\n  st| \n}", (("run", "a"),), None, "st", {"WORD"}),
        ("run a {\n  steps = 5\n  |", (("run", "a"),), None, "", {"WORD", "BRACE_CLOSE"}),
        ('tier t { window "w x" { kind = tr|', (("tier", "t"), ("window", "w x")), "kind", "tr", {"WORD", "LITERAL"}),
        ("lot box { package = | }", (("lot", "box"),), "package", "", {"WORD", "LITERAL", "MAP_OPEN"}),
        ("lot box { package = p |", (("lot", "box"),), "package", "", {"END", "PLUS", "BRACE_CLOSE"}),
        ("run a { metrics = [loss,\n  ev|", (("run", "a"),), "metrics", "ev", {"WORD", "BRACKET_CLOSE"}),
        ("run a { params = { |", (("run", "a"),), "params", "", {"WORD", "MAP_CLOSE"}),
        ("stop s { when = loss is |", (("stop", "s"),), "when", "", {"WORD", "NOT"}),
        ("let x = 2 * |", (), "x", "", {"LITERAL", "MINUS"}),
        ("run a { x = 1 }\nrun b { y| = 2 }", (("run", "b"),), None, "y", {"WORD"}),
        ("run a { x = [ }\n |", (("run", "a"),), "x", "", set()),
    ],
)
def test_place(text: str, blocks: object, attribute: str | None, word: str, expected: set[str]) -> None:
    found = at(text)
    assert (found.blocks, found.attribute, found.word) == (blocks, attribute, word)
    assert expected <= found.expected


def test_keys_strings_and_comments() -> None:
    found = at("run a { params = { rank = | } }")
    assert (found.attribute, found.key) == ("params", "rank")
    assert at('run a { script = "tr|ain.py" }').in_text
    assert at('run a { script = "tr|').in_text
    assert at("run a { # no|te\n}").in_text
    assert not at('run a { script = "x"; | }').in_text
    assert at("run con|trol {").replace.text == "control"


@given(st.text(alphabet='ab ={}[]();,"#\n1.', max_size=60), st.integers(0, 60))
def test_never_raises(text: str, offset: int) -> None:
    found = place(Source("x", text), min(offset, len(text)))
    assert 0 <= found.replace.start <= found.replace.end <= len(text)
