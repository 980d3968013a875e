"""A window is moved into another tier however both are written, and what is said of it goes along."""

from itertools import product

import pytest
from lsprotocol import types as lsp

from campc.lsp.actions import actions
from campc.lsp.convert import Converter
from campc.pipeline import Compiled, compile_source
from campc.source import Source

URI = "untitled:x"
CONVERT = Converter()
HEAD = """campaign c { question = "q?"; decision = "d"; if_negative = "n"; currency = USD }
package p { gpu = "A100"; duration = 3d; price = 100 USD }
lot box { package = p; starts = 2026-12-01 09:00 }
run control { script = "t.py"; params = { lr = 1 }; metrics = [loss] }
"""
A = "window a { kind = train; on = box; takes = 3h; run = control }"
B = A.replace("window a", "window b")
Z = A.replace("window a", "window z")
LONG = "window a {\n    kind = train # x\n    on = box; takes = 3h\n    run = control\n  }"
ALLOWED = f"# about b\n  # campc: allow C520 because it is short\n  {A} # campc: allow C311 because y"
TAKEN_FROM = [
    f"{{ {A} }}", f"{{ {A}; {B} }}", f"{{ {B}; {A}; }}", f"{{\n  {A} # about a\n  {B}\n}}", f"{{\n  {B}\n  {A}; # about a\n}}",
    f"{{\n  {ALLOWED}\n  {B} }}", f"{{\n  {LONG}\n  {B}\n}}", f"{{\n  {LONG}; {B}\n}}", f"{{ {B}\n  {LONG} }}", f"{{ {A} # end\n}}",
]  # fmt: skip
PUT_INTO = [
    None, "{ }", "{}", f"{{ {Z} }}", f"{{ {Z}; }}", f"{{\n  {Z}\n}}", f"{{\n  {Z} }}", f"{{\n  {Z} # c\n}}", "{ # c\n}", f"{{\n  {Z}\n  # last\n}} # t",
]  # fmt: skip


def applied(text: str, edits: list[lsp.TextEdit]) -> str:
    source = Source("", text)
    places = [(CONVERT.offset(source, e.range.start), CONVERT.offset(source, e.range.end), e.new_text) for e in edits]
    for start, end, new in sorted(places, reverse=True):
        text = text[:start] + new + text[end:]
    return text


def moves(compiled: Compiled) -> list[lsp.CodeAction]:
    line = compiled.source.text.split("window a ")[0].count("\n")
    place = lsp.Range(lsp.Position(line, 0), lsp.Position(line, 0))
    return [action for action in actions(compiled, URI, place, CONVERT) if action.title == "Move a to tier useful"]


def told(compiled: Compiled) -> tuple[list[str], list[str], bool]:
    """What a move mustn't change: faults of form, the comments, and whether an allowance allows nothing."""
    codes = [d.code for d in compiled.diagnostics]
    comments = sorted(comment.text for comment in compiled.file.comments)
    return [code for code in codes if code < "C212"], comments, "C214" in codes


@pytest.mark.parametrize("end", ["\n", "\r\n"], ids=["LF", "CRLF"])
@pytest.mark.parametrize("first", TAKEN_FROM)
def test_a_window_is_moved(first: str, end: str) -> None:
    for second, below, last in product(PUT_INTO, (True, False), ("\n", "")):
        tiers = [f"tier essential {first}"] + ([f"tier useful {second}"] if second is not None else [])
        text = (HEAD + "\n".join(tiers if below else tiers[::-1]) + last).replace("\n", end)
        before = compile_source(Source("x", text))
        [action] = moves(before)
        assert action.edit is not None and action.edit.changes is not None
        after = compile_source(Source("x", applied(text, list(action.edit.changes[URI]))))
        assert told(after) == told(before), after.source.text
        assert after.plan.spec.windows["a"].tier == "useful"


def test_in_a_text_with_faults_of_syntax_nothing_is_moved() -> None:
    text = HEAD + f"tier essential {{ {A} }}\n"
    assert moves(compile_source(Source("x", text)))
    assert not moves(compile_source(Source("x", text + "tier useful { window\n")))


def test_what_allows_nothing_can_t_be_allowed() -> None:
    text = HEAD + f"# campc: allow C502 because nothing\ntier essential {{ {A} }}\n"
    compiled = compile_source(Source("x", text))
    place = lsp.Range(lsp.Position(0, 0), lsp.Position(9, 0))
    titles = [action.title for action in actions(compiled, URI, place, CONVERT)]
    assert "C214" in [d.code for d in compiled.diagnostics]
    assert "Allow C520 here, with a reason" in titles and "Allow C214 here, with a reason" not in titles


def test_an_allowance_stands_behind_a_byte_order_mark() -> None:
    compiled = compile_source(Source("x", "\ufeff" + HEAD))
    place = lsp.Range(lsp.Position(0, 0), lsp.Position(0, 0))
    allowing = [a for a in actions(compiled, URI, place, CONVERT) if a.title.startswith("Allow ")]
    assert allowing
    for action in allowing:
        assert action.edit is not None and action.edit.changes is not None
        assert applied(compiled.source.text, list(action.edit.changes[URI])).startswith("\ufeff# campc: allow ")
