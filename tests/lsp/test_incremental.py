"""A text that is compiled again after each edit comes to what it would come to by itself."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lsprotocol import types as lsp

from campc.lsp.context import context
from campc.lsp.convert import Converter
from campc.lsp.documents import Documents
from campc.lsp.hints import hints
from campc.lsp.structure import symbols
from campc.memory import Memory
from campc.pipeline import Compiled, compile_source
from campc.source import Source
from campc.syntax.complete import place
from campc.syntax.parse import parse
from campc.syntax.texts import Texts

ROOT = Path(__file__).resolve().parents[2]
SPECS = sorted([*ROOT.glob("specs/**/*.campaign"), *ROOT.glob("tests/cases/**/*.campaign")])
PIECES = [
    "{", "}", "[", "]", "(", ")", '"', '"""', "'", "#", "\n", "\r\n", ";", "=", ",", "..", ".", " ", "\t", "h", "3", "é", "“x”", "&&", "- ", "$", "\\",
    "\ufeff", "\u00a0", "//", "/*", "take", "takes = ", "2h", "\n  window x { kind = train }", "run a {\n", "run rank-16 {\n}\n", "let x = 3h\n", "}\n",
    "tier useful {\n", "campaign:\n  a: 1\n  b: 2\n", "metrics =\n  - loss\n", "params {a = 1, b = 2}", "http://x/y", "True", "<<<<<<< HEAD\n",
    "# campc: allow C502 because\n", "a b c\n", "+ 2\n", 'use "x"\n', "variant_of = control", "package p { gpu = 1 }\n",
]  # fmt: skip

Edit = tuple[float, int, str, bool]
"""Where, as a share of the text; how many code points go; what comes; whether it is undone afterwards."""
EDITS = st.lists(
    st.tuples(
        st.floats(0, 1),
        st.sampled_from([0, 0, 0, 1, 1, 2, 7, 40]),
        st.sampled_from([*PIECES, "", ""]),
        st.booleans(),
    ),
    min_size=1,
    max_size=12,
)


def versions(text: str, edits: list[Edit]) -> list[str]:
    found = [text]
    for share, gone, come, undone in edits:
        now = found[-1]
        at = round(share * len(now))
        found.append(now[:at] + come + now[at + gone :])
        if undone:
            found.append(now)
    return found


def everything(compiled: Compiled) -> dict[str, Any]:
    """All that a client is told, and what it is made of."""
    plan = compiled.plan
    return {
        "diagnostics": compiled.diagnostics,
        "allowed": compiled.allowed,
        "symbols": symbols(compiled.file, Converter()),
        "hints": list(hints(compiled)),
        "file": compiled.file,
        "placements": [
            (p.name, p.interval, p.gpus, p.fixed, p.slack, p.critical, p.predecessors, p.window.order, p.window.tier)
            for p in plan.placements.values()
        ],
        "accounts": plan.accounts,
        "costs": plan.costs,
        "packages": plan.packages,
        "checkpoints": plan.checkpoints,
        "blocks": [
            (type(n), n.name, n.at, n.head, n.name_at, dict(n.places), dict(n.values_at), n.broken)
            for n in plan.spec.blocks()
        ],
        "runs": {name: (run.params, run.script, run.seeds, run.broken) for name, run in plan.spec.runs.items()},
        "lets": plan.spec.lets,
        "faulty": plan.spec.faulty,
    }


def assert_the_same(texts: list[str], name: str, path: Path | None = None) -> None:
    memory = Memory()
    for text in texts:
        again = everything(compile_source(Source(name, text, path), memory=memory))
        afresh = everything(compile_source(Source(name, text, path)))
        for part, value in afresh.items():
            assert again[part] == value, part


@pytest.mark.parametrize("spec", SPECS, ids=lambda path: str(path.relative_to(ROOT)))
@settings(max_examples=4)
@given(EDITS)
def test_edits(spec: Path, edits: list[Edit]) -> None:
    assert_the_same(versions(spec.read_text(), edits), spec.name, spec)


@given(st.sampled_from(SPECS), EDITS)
@settings(max_examples=150)
def test_trees(spec: Path, edits: list[Edit]) -> None:
    texts = Texts()
    for text in versions(spec.read_text(), edits):
        source = Source("x", text)
        assert texts.parse(source) == parse(source)


HEAD = """campaign c { question = "q?"; decision = "d"; if_negative = "n"; currency = USD }
package p { gpu = "A100"; duration = 3d; price = 100 USD }
let long = 3h
lot box { package = p; starts = 2026-12-01 09:00 }
run control { script = "t.py"; params = { lr = 1 }; metrics = [loss] }
run variant { variant_of = control; change = { lr = 2 } }
stop s { when = loss is not finite }
"""
TIER = """tier essential {
  window a { kind = train; on = box; takes = long; run = control }
  window b { kind = train; on = box; takes = 4h; run = variant; after = a }
}
"""
UNINDENTED = """tier useful {
window c {
kind = train; on = box
takes = 1h; run = variant
}
}
"""
"""Where brackets don't pair, lines that aren't indented are read in another way."""


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("takes = 4h", "takes = "),
        ("takes = 4h", "takes = 4h {"),
        ("takes = 4h", "takes = 4h }"),
        ("takes = 4h", 'takes = "4h'),
        ("takes = 4h", "takes = [4h"),
        ("takes = 4h", "takes = 4"),
        ("after = a", "after = b"),
        ("after = a", "after = none"),
        ("window a", "window z"),
        ("window a", "wndow a"),
        ("window a", "window b"),
        ("tier essential", "tier essentil"),
        ("tier essential {", "tier essential"),
        ("\n}\n", "\n"),
        ("}\n}", "}}"),
        ("}\n}", "}\n\n  window c { kind = train; on = box; takes = 1h; run = control }\n}"),
        ("  window a", "  # campc: allow C314 because\n  window a"),
        ("  window a", "  # campc: allow C314 because so it is\n  window a"),
        ("let long = 3h", "let long = 5h"),
        ("let long = 3h", "let longer = 3h"),
        ("let long = 3h", ""),
        ("let long = 3h", "let loss = 3"),
        ("run control", "run contrl"),
        ("run control {", "run control { checkpoint { every = ; to = 5 };"),
        ("run control {", 'run control { checkpoint { every = 1h; to = "x" };'),
        ("lr = 1", "lr = 1; "),
        ("lr = 1", "rank = 1"),
        ("stop s", "stop s {\n"),
        ("package p {", "package p {\n\n\n"),
        ("package p", "package q"),
        ("lot box", "lot box2"),
        ("starts = 2026-12-01 09:00", "starts = 2026-12-01"),
        ("currency = USD", 'currency = USD; timezone = "Europe/Berlin"'),
        ('"q?"', '"q?\nyes'),
        ('"q?"', '"""q?\nyes"""'),
        ('"q?"', '"""q?'),
        ("run variant", "campaign:\n  a: 1\n  b: 2\nrun variant"),
        ("run variant", "metrics =\n  - a\n  - b\nrun variant"),
        ("run variant", "run rank-16 {\n}\nrun variant"),
        ("run variant", "runs:\n  x = 5\n  y = 6\nrun variant"),
        ("run control {", 'run control { checkpoint { every = 2x; to = "s3://a/b" };'),
        ("  window a", "  window z { kind = train; on = box; takes = 1h; run = control }\n  window a"),
        ("  window a", "  window a { kind = train }\n  window a"),
        ("  window a", "  + 1\n  window a"),
    ],
)
@pytest.mark.parametrize("before", ["", UNINDENTED], ids=["indented", "unindented"])
def test_an_edit_and_back(old: str, new: str, before: str) -> None:
    text = HEAD + before + TIER
    assert old in text
    edited = text.replace(old, new, 1)
    longer = edited.replace("campaign c {", "campaign c {\n ", 1)
    assert_the_same([text, edited, text, edited, longer, edited.replace("lr", "lr2"), text], "x")


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "\n",
        "\r\n",
        "# x",
        "# x\n",
        "\n \n# x",
        "tier",
        ";",
        "\ufeff",
        "\ufeff# x",
        "\ufeff\ufeff",
        "\ufeff\ufeff# x",
        "# campc: allow C701 because so",
    ],
)
def test_a_text_without_items(text: str) -> None:
    assert_the_same([text, HEAD, text, text + "x", text, HEAD + TIER, text], "x")
    documents, uri = Documents(), "untitled:x"
    for each in (HEAD, text, HEAD, text):
        if uri in documents.open:
            documents.change(uri, [lsp.TextDocumentContentChangeWholeDocument(each)], Converter())
        else:
            documents.put(uri, each)
        for _ in range(2):
            for offset in range(len(each) + 1):
                documents.around(uri, offset)
            compiled = documents.compiled(uri)
            assert compiled is not None and compiled.source.text == each


@pytest.mark.parametrize("spec", SPECS[::3], ids=lambda path: str(path.relative_to(ROOT)))
def test_the_lines_around_a_cursor_tell_where_it_is(spec: Path) -> None:
    source, texts = Source("x", spec.read_text()[:4000]), Texts()
    texts.parse(source)
    for offset in {at for at, sign in enumerate(source.text) if sign in "{}=;\n"}:
        for at in (offset, offset + 1):
            here, whole = (place(source, at, *lines) for lines in (texts.around(source, at), ()))
            assert context(source, at, here) == context(source, at, whole), source.position(at)


@pytest.mark.parametrize("path", ["a\0b", "\ud83d", "", "/", "x" * 5000])
def test_paths_that_cant_be_any(path: str, tmp_path: Path) -> None:
    documents, uri = Documents(), (tmp_path / "a.campaign").as_uri()
    for name in (uri, (tmp_path / "b.campaign").as_uri(), "untitled:c"):
        documents.put(name, HEAD.replace("t.py", path) + f'use "{path}"\n' + TIER)
    for name in documents.open:
        compiled = documents.compiled(name)
        assert compiled is not None
        assert ("C104" if "\0" in path else "C210") in {d.code for d in compiled.diagnostics}
        list(documents.related(name))
        assert "C210" in {d.code for d in compile_source(documents.open[name]).diagnostics}


@pytest.mark.parametrize("left", ["\n", "  # c\n\n", ";\n"])
@pytest.mark.parametrize("behind", ["let b = 1h\n", "\tlet b = 1h\n", " run b {\n }\n", "  b = 1\n", "]\n"])
@pytest.mark.parametrize(
    "fault",
    ["run a {\n", "run a {\n run c {\n", "tier useful {\n window a { takes = 1h\n", "let a = [\n", "run a\n}\n"],
)
def test_lines_from_which_the_item_was_taken(left: str, behind: str, fault: str) -> None:
    before, taken = HEAD + "tier useful { window e { kind = review; takes = 1h } }\n", "let a = 2h\n"
    for start, end in (("", ""), (TIER, ""), ("", TIER)):
        whole = start + before + left + taken + behind + end
        blank, broken = (start + part + left + behind + end for part in (before, HEAD + fault))
        assert_the_same([whole, blank, broken, blank, whole], "x")


def test_each_keystroke_of_a_block() -> None:
    text, typed = (
        HEAD + TIER,
        "\n  window c {\n    kind = train; on = box\n    takes = 1h .. 2h # short\n    run = control\n  }",
    )
    at = text.index("takes = 4h")
    at = text.index("\n", at)
    assert_the_same([text[:at] + typed[:size] + text[at:] for size in range(len(typed) + 1)], "x")


def test_used_files_that_are_edited_too(tmp_path: Path) -> None:
    texts = {
        "root.campaign": 'use "more.campaign"\n' + HEAD.replace("let long = 3h\n", "") + TIER,
        "more.campaign": 'let long = 3h\npackage q { gpu = "A100"; duration = 1d; price = 10 USD }\n',
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)

    def read(path: str | os.PathLike[str], name: str) -> tuple[Source, tuple[()]]:
        return Source(str(path), texts[os.path.basename(path)], path), ()

    shared = Texts()
    memories = {name: Memory(shared) for name in texts}
    edits = [
        ("more.campaign", "let long = 3h", "let long = 4h"),
        ("more.campaign", "let long", "\n\nlet long"),
        ("root.campaign", "takes = 4h", "takes = 5h"),
        ("more.campaign", "package q {", "package q { gpus = 0;"),
        ("more.campaign", "package q {", "package {"),
        ("root.campaign", "use ", "# no use "),
        ("root.campaign", "# no use ", "use "),
    ]
    for name, old, new in edits:
        texts[name] = texts[name].replace(old, new, 1)
        for each in texts:
            source = read(tmp_path / each, each)[0]
            again = compile_source(source, read=read, memory=memories[each], catalog=each == "more.campaign")
            afresh = compile_source(source, read=read, catalog=each == "more.campaign")
            assert everything(again) == everything(afresh)
