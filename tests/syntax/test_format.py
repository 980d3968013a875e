"""The one style: it changes nothing but looks, and a second time nothing at all."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from campc.emit.campaign_json import plan_hash
from campc.pipeline import compile_source
from campc.source import Source
from campc.syntax import tree
from campc.syntax.format import format
from campc.syntax.parse import parse
from campc.syntax.read import read

FOLDER = Path(__file__).parent
ROOT = FOLDER.parents[1]
SPECS = sorted(
    [*ROOT.glob("specs/**/*.campaign"), *ROOT.glob("tests/cases/**/*.campaign"), *FOLDER.glob("format/*.campaign")]
)
COMPILED = [path for path in SPECS if path.parent != FOLDER / "format"]


def bare(node: object) -> object:
    """A tree without its places."""
    if isinstance(node, tuple):
        return tuple(bare(part) for part in node)
    if type(node).__module__ == tree.__name__:
        fields = [
            name
            for name in type(node).__match_args__
            if name not in ("source", "comments", "head") and not name.endswith("at") and name != "__weakref__"
        ]
        return (type(node).__name__, *(bare(getattr(node, name)) for name in fields))
    return node


def check(text: str) -> str:
    source = Source("x", text)
    before, faults = parse(source)
    once = format(source)
    if faults:
        assert once == text
        return once
    after, none = parse(Source("x", once))
    assert not none, (once, none)
    assert bare(after.items) == bare(before.items)
    assert sorted(c.text for c in after.comments) == sorted(c.text.rstrip() for c in before.comments)
    assert format(Source("x", once)) == once
    assert not once or (once.endswith("\n") and not once.endswith("\n\n"))
    if '"""' not in text:
        assert all(line == line.rstrip() for line in once.split("\n"))
    return once


@pytest.mark.parametrize("path", SPECS, ids=lambda path: str(path.relative_to(ROOT)))
def test_specs_survive(path: Path) -> None:
    check(path.read_bytes().decode())


@pytest.mark.parametrize("path", COMPILED, ids=lambda path: str(path.relative_to(ROOT)))
def test_the_meaning_stays(path: Path) -> None:
    source, unread = read(path)
    assert not unread
    before = compile_source(source, catalog="catalogs" in path.parts)
    after = compile_source(Source(source.name, format(source), path), catalog="catalogs" in path.parts)
    assert plan_hash(after.plan) == plan_hash(before.plan)
    assert [fault.code for fault in after.diagnostics] == [fault.code for fault in before.diagnostics]
    assert [allowed.allowance.code for allowed in after.allowed] == [
        allowed.allowance.code for allowed in before.allowed
    ]


@pytest.mark.parametrize("path", sorted(FOLDER.glob("format/*.campaign")), ids=lambda path: path.stem)
def test_style(path: Path) -> None:
    assert check(path.read_bytes().decode()) == path.with_suffix(".expected").read_text(encoding="utf-8")


def test_broken_files_stay_as_they_are() -> None:
    for path in FOLDER.glob("broken/*.campaign"):
        check(path.read_bytes().decode())


def test_line_ends_and_empty_files() -> None:
    assert check("a = 1\r\n\r\n\r\n\r\nb = 2") == "a = 1\n\nb = 2\n"
    assert check("") == check("\n\n ;;\n") == ""
    assert check("# only this") == "# only this\n"


names = st.sampled_from(["a", "bc", "loss", "not_so", "use", "let", "eval.loss", "long_name_of_a_thing"])
words = st.sampled_from(["a", "bc", "loss", "and", "true", "is", "x1", "long_name_of_a_thing"])
literals = st.sampled_from(
    [
        "1",
        "0.5",
        "3d",
        "3 d",
        "1h30min",
        "47.14 USD",
        "0.5GB/s",
        "1 per  24h",
        "80%",
        "2026-12-01 09:00",
        '"x # y"',
        '"{\\"}"',
        "true",
        '"""\n  a\n   b\n  """',
        '"' + "long " * 20 + '"',
    ]
)
spaces = st.sampled_from(["", " ", " ", "  ", "\t"])
breaks = st.sampled_from(["", "", " ", "\n", "\n\n  ", " # note \n", "\n# one\n  # two\n"])


@st.composite
def values(draw: st.DrawFn, depth: int = 3) -> str:
    kind = draw(st.integers(0, 9 if depth else 2))
    if kind <= 1:
        return draw(literals)
    if kind == 2:
        return draw(names)
    inner = values(depth - 1)
    if kind in (3, 4):
        parts = draw(st.lists(inner, max_size=4))
        comma = draw(st.sampled_from(["", ","])) if parts else ""
        between = [f"{part}{draw(breaks)}" for part in parts]
        return f"[{draw(breaks)}{(',' + draw(breaks)).join(between)}{comma}{draw(breaks)}]"
    if kind in (5, 6):
        keys = draw(st.lists(st.sampled_from(["a", "rank", '"b c"', "true", "let"]), max_size=4))
        entries = [f"{key}{draw(spaces)}={draw(spaces)}{draw(inner)}{draw(breaks)}" for key in keys]
        return f"{{{draw(breaks)}{(',' + draw(breaks)).join(entries)}{draw(breaks)}}}"
    if kind == 7:
        operator = draw(st.sampled_from(["+", "-", "*", "/", " and ", " or "]))
        return f"({draw(breaks)}{draw(inner)}{draw(breaks)}{operator}{draw(breaks)}{draw(inner)}{draw(breaks)})"
    if kind == 8:
        return f"{draw(names.filter(lambda n: n not in ('use', 'let')))}({draw(breaks)}{draw(inner)}{draw(breaks)})"
    return f"{draw(st.sampled_from(['box', 'lot']))}[{draw(breaks)}0{draw(spaces)}..{draw(breaks)}{draw(st.sampled_from(['1', 'n + 1']))}]"


@st.composite
def items(draw: st.DrawFn, depth: int = 2, top: bool = True) -> str:
    if depth and draw(st.booleans()):
        body = "".join(draw(st.lists(items(depth - 1, False), max_size=4)))
        opening = draw(st.sampled_from(["", " ", "\n", " # of it\n", "\n\n"]))
        head = draw(st.sampled_from(["run", "lot", "tier"])) + draw(st.sampled_from(["", " x", " long", ' "q r"']))
        text = f"{head}{draw(spaces)}{{{opening}{body}}}"
    else:
        sign = draw(st.sampled_from(["", "", "-", "- ", "not "]))
        text = f"{'let ' if top else ''}{draw(words)}{draw(spaces)}={draw(spaces)}{sign}{draw(values())}"
    return text + draw(st.sampled_from(["\n", ";", "; ", "\n\n\n", " # said\n", ";# said\n", "\n  # alone\n"]))


@settings(max_examples=300)
@given(st.lists(items(), max_size=6).map("".join))
def test_any_file(text: str) -> None:
    check(text)
