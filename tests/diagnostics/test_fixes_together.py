"""Fixes that are certain stay so when they are all made at once: nothing is declared twice by them."""

import pytest

from campc.commands.fix import chosen, edited

from .compiling import compile_text

HEAD = 'campaign c { question = "q?"; decision = "d" }\nlot box { package = p; starts = 2026-12-01 09:00 }\n'


@pytest.mark.parametrize(
    ("text", "mended"),
    [
        ("tier essential { window a { kind = other; tkaes = 1h; takess = 2h } }", "takes = 1h; takess = 2h"),
        ("tier essential { window a { kind = other; takes = 1h; takess = 2h } }", "takes = 1h; takess = 2h"),
        ("tier essential { }\ntier esential { }", "tier esential"),
        ("tier esential { }\ntier essential { }", "tier esential"),
        ("tier esential { }\ntier esential { }", "tier essential { }\ntier esential { }"),
        ("teir essential { }\ntier esential { }", "tier essential { }\ntier esential { }"),
        ("tier essential { window a { kind = other; takes = 1h; strats = +12h } }", "starts = +12h"),
        ('package p { gpu = "A"; gpuu = 4; duration = 3d }', "gpuu = 4"),
        ('package p { gpuu = "A"; gpus = 4; duration = 3d }', 'gpu = "A"; gpus = 4'),
    ],
)
def test_no_name_is_given_twice(text: str, mended: str) -> None:
    compiled = compile_text(HEAD + text + "\n")
    edits, fixed = chosen(d for d in compiled.diagnostics if d.fix is not None)
    after = edited(compiled.source.text, edits[compiled.source]) if fixed else compiled.source.text
    assert mended in after
    before = {d.code for d in compiled.diagnostics if d.severity == "error"}
    assert {d.code for d in compile_text(after).diagnostics if d.severity == "error"} <= before


def test_an_offset_under_a_misspelt_name_is_one_fault() -> None:
    text = HEAD + "tier essential { window a { kind = other; takes = 1h; strats = +12h } }\n"
    found = [d.message for d in compile_text(text).diagnostics if d.severity == "error" and d.code < "C203"]
    assert found == ["a window has no attribute strats"]


@pytest.mark.parametrize(
    "text",
    [
        'run a { scr-ipt = "t.py" }',
        'run a { scr-i-pt: "t.py" }',
        'tier "essential {\n  window a { kind = other; takes = 1h }\n}',
        'campaign d { files = ["a.py", "b.py\nquestion = "q" }',
        "tier essential { window a { ki-nd = other; takes = 1h } }",
    ],
)
def test_fixes_come_to_an_end(text: str) -> None:
    """What a fix leaves is mended by it, and isn't mended again and again."""
    now, seen = HEAD + text + "\n", set[str]()
    while now not in seen and len(seen) < 9:
        seen.add(now)
        compiled = compile_text(now)
        edits, fixed = chosen(d for d in compiled.diagnostics if d.fix is not None)
        assert not fixed or edited(now, edits[compiled.source]) not in seen
        now = edited(now, edits[compiled.source]) if fixed else now
    assert len(seen) < 5
