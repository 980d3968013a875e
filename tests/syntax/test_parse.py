"""The tree of what is well written: every form of the language once, its places, and the table behind it."""

from fractions import Fraction
from pathlib import Path

import pytest

from campc.resources import resource
from campc.source import Source, Span
from campc.syntax import generate, tables, tree
from campc.syntax.parse import parse
from campc.syntax.read import LARGEST, decode, read
from campc.syntax.tree import (
    Attribute,
    Binary,
    Block,
    Call,
    Index,
    Is,
    Let,
    ListOf,
    Literal,
    MapOf,
    Name,
    RangeOf,
    Unary,
    Use,
)
from campc.values.quantities import Duration, Offset

ROOT = Path(__file__).parents[2]
SPECS = sorted([*ROOT.glob("specs/**/*.campaign"), *ROOT.glob("tests/cases/**/*.campaign")])


def items(text: str) -> tuple[tree.Item, ...]:
    file, faults = parse(Source("x", text))
    assert not faults, faults
    return file.items


def value(text: str) -> tree.Expr:
    """The value of an attribute that stands inside a block."""
    block = items(f"b {{ a = {text} }}")[0]
    assert isinstance(block, Block) and isinstance(block.body[0], Attribute)
    return block.body[0].value


def plain(expr: object) -> object:
    """An expression without its places, as nested tuples."""
    match expr:
        case Literal():
            return expr.value
        case Name():
            return expr.text
        case Binary():
            return expr.operator, plain(expr.left), plain(expr.right)
        case Unary():
            return expr.operator, plain(expr.operand)
        case Is():
            return "is not" if expr.negated else "is", plain(expr.operand), expr.what
        case RangeOf():
            return "..", plain(expr.low), plain(expr.likely), plain(expr.high)
        case ListOf():
            return [plain(item) for item in expr.items]
        case MapOf():
            return {entry.key: plain(entry.value) for entry in expr.entries}
        case Index():
            return expr.of.text, plain(expr.low), plain(expr.high)
        case Call():
            return expr.function, *(plain(argument) for argument in expr.arguments)
    return expr


def hours(count: int) -> Duration:
    return Duration(Fraction(3600 * count))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1 + 2 * 3 - 4 / 5", ("-", ("+", 1, ("*", 2, 3)), ("/", 4, 5))),
        ("(1 + 2) * 3", ("*", ("+", 1, 2), 3)),
        ("- - 3", ("-", ("-", 3))),
        ("a - 1", ("-", "a", 1)),
        ("a -1", ("-", "a", 1)),
        ("a or b and not c", ("or", "a", ("and", "b", ("not", "c")))),
        ("not (a < 1) and b >= 2", ("and", ("not", ("<", "a", 1)), (">=", "b", 2))),
        ("not not a", ("not", ("not", "a"))),
        ("a.b - c.d >= 0.01", (">=", ("-", "a.b", "c.d"), Fraction(1, 100))),
        ("a == 1 or b != 2", ("or", ("==", "a", 1), ("!=", "b", 2))),
        ("loss is finite", ("is", "loss", "finite")),
        ("loss is not finite or x is missing", ("or", ("is not", "loss", "finite"), ("is", "x", "missing"))),
        ("1h .. 2h", ("..", hours(1), None, hours(2))),
        ("1h..2h..3h", ("..", hours(1), hours(2), hours(3))),
        ("2 * 1h .. 3h", ("..", ("*", 2, hours(1)), None, hours(3))),
        ('[1, a, "x", [2,],]', [1, "a", "x", [2]]),
        ("[]", []),
        ("{}", {}),
        ("[1h .. 2h, 3h]", [("..", hours(1), None, hours(2)), hours(3)]),
        ('{ a = 1, "b c" = [2], let = 3, true = { x = 1 }, }', {"a": 1, "b c": [2], "let": 3, "true": {"x": 1}}),
        ("[\n1,\n2\n]", [1, 2]),
        ("(1 +\n 2)", ("+", 1, 2)),
        ("{\n a = 1, # one\n b = 2\n}", {"a": 1, "b": 2}),
        ("box[0]", ("box", 0, 0)),
        ("box[0..1]", ("box", 0, 1)),
        ("box[n .. n + 1]", ("box", "n", ("+", "n", 1))),
        ("mean(a.loss)", ("mean", "a.loss")),
        ("max(a, b,) - min(c)", ("-", ("max", "a", "b"), ("min", "c"))),
        ("true", True),
        ("orx", "orx"),
        ("nothing.is_finite", "nothing.is_finite"),
        ("use", "use"),
        ("-3d", ("-", Duration(Fraction(259_200)))),
        ("60GB / 0.5GB/s > 2min", (">", ("/", 60, 1), 2)),
    ],
)
def test_expression(text: str, expected: object) -> None:
    if text.startswith("60GB"):
        assert isinstance(value(text), Binary)
    else:
        assert plain(value(text)) == expected


def test_items() -> None:
    use, let, block, other = items(
        'use "a.campaign"; let x = 3d\nrun "a b" { not = 1; window w { }; }\r\n\r\ncheckpoint {\r\n}\r\n'
    )
    assert isinstance(use, Use) and use.path == "a.campaign"
    assert isinstance(let, Let) and let.name == "x"
    assert isinstance(block, Block) and block.label is not None and block.label.text == "a b" and block.label.quoted
    assert [type(item) for item in block.body] == [Attribute, Block]
    assert isinstance(other, Block) and other.label is None and other.body == ()
    assert items("") == items("\n;;\n # nothing\n") == ()


def test_signs_before_a_time_in_starts() -> None:
    block = items("window w { starts = +12h; takes = -2h }\nwindow v { starts = -1h30min }")
    first, second = block
    assert isinstance(first, Block) and isinstance(second, Block)
    starts, takes = first.body
    assert isinstance(starts, Attribute) and isinstance(takes, Attribute) and isinstance(second.body[0], Attribute)
    assert starts.value == Literal(Offset(hours(12)), starts.value.at) and starts.value.at.text == "+12h"
    assert plain(takes.value) == ("-", hours(2))
    assert plain(second.body[0].value) == Offset(Duration(Fraction(-5400)))


def test_places() -> None:
    text = "tier t {\n  window w { takes = 2 * (1h + x) ; on = box[0] }\n}"
    tier = items(text)[0]
    assert isinstance(tier, Block)
    window = tier.body[0]
    assert isinstance(window, Block) and window.head.text == "window w"
    assert (window.at.line, window.at.column, window.at.end_column) == (2, 3, 50)
    takes = window.body[0]
    assert isinstance(takes, Attribute) and takes.at.text == "takes = 2 * (1h + x)" and takes.name_at.text == "takes"
    assert (
        isinstance(takes.value, Binary)
        and takes.value.right.at.text == "(1h + x)"
        and takes.value.operator_at.text == "*"
    )


def test_comments_and_code_points() -> None:
    file, faults = parse(Source("x", '# 😀 one\r\na { b = "#😀" } # two\n   # three'))
    assert not faults
    assert [(c.text, c.at.line, c.at.column, c.alone) for c in file.comments] == [
        ("# 😀 one", 1, 1, True), ("# two", 2, 16, False), ("# three", 3, 4, True),
    ]  # fmt: skip


def test_broken_things_still_count() -> None:
    file, faults = parse(Source("x", "run a { steps = 3days; script = ; x 1 }\nlet y = \nrun b { c = 1 ] }\nuse x"))
    assert [fault.code for fault in faults] == ["C103", "C101", "C101", "C101", "C101", "C101"]
    run, let, other, use = file.items
    assert isinstance(run, Block) and [item.name for item in run.body if isinstance(item, Attribute)] == [
        "steps",
        "script",
        "x",
    ]
    assert isinstance(let, Let) and let.name == "y" and isinstance(let.value, tree.Broken)
    assert isinstance(other, Block) and other.label is not None and other.label.text == "b"
    assert isinstance(use, Use) and use.path is None


@pytest.mark.parametrize("path", SPECS, ids=lambda path: str(path.relative_to(ROOT)))
def test_specs_parse(path: Path) -> None:
    source, unread = read(path)
    assert not unread
    _, faults = parse(source)
    assert all(f"#! {fault.code}" in source.line(fault.at.line) for fault in faults)


def test_the_table_is_that_of_the_grammar() -> None:
    grammar = (resource("grammar") / "campaign.lark").read_text(encoding="utf-8")
    table = generate.build(grammar)
    assert generate.module(table) == Path(tables.__file__ or "").read_text(encoding="utf-8"), (
        "run python -m campc.syntax.generate"
    )


def test_the_grammar_has_no_conflicts(caplog: pytest.LogCaptureFixture) -> None:
    import logging

    from lark import Lark, logger

    grammar = (resource("grammar") / "campaign.lark").read_text(encoding="utf-8")
    level = logger.level
    logger.setLevel(logging.DEBUG)
    try:
        with caplog.at_level(logging.DEBUG):
            Lark(grammar, parser="lalr", lexer="basic", debug=True, maybe_placeholders=False)
    finally:
        logger.setLevel(level)
    assert "Shift/Reduce" not in caplog.text


def test_a_newer_grammar_is_read_afresh(monkeypatch: pytest.MonkeyPatch) -> None:
    from campc.syntax import automaton

    assert automaton._current() is None
    monkeypatch.setattr(tables, "CHECKSUM", 0)
    fresh = automaton._current()
    assert fresh is not None and fresh.actions == tables.ACTIONS


def test_a_clean_install_needs_no_lark_to_parse() -> None:
    import subprocess
    import sys

    script = "import sys; from campc.source import Source; from campc.syntax.parse import parse; parse(Source('x', 'a { b = 1 }')); print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=ROOT / "compiler"
    )
    assert not {"lark", "jinja2", "weasyprint", "numpy", "torch"} & set(done.stdout.split())


def test_reading_files(tmp_path: Path) -> None:
    good = tmp_path / "good.campaign"
    good.write_bytes(b"\xef\xbb\xbfa {\r\n b = 3days\r\n}\r\n")
    source, faults = read(good, "good.campaign")
    assert not faults and source.name == "good.campaign" and source.text.startswith("a {")
    (fault,) = parse(source)[1]
    assert (fault.at.line, fault.at.column, fault.at.end_column) == (2, 6, 11)

    (tmp_path / "latin").write_bytes(b'a = 1\nb = "caf\xe9"\n')
    (tmp_path / "wide").write_bytes("a = 1".encode("utf-16"))
    (tmp_path / "nul").write_bytes(b"a = 1\nb = \0")
    (tmp_path / "large").write_bytes(b" " * (LARGEST + 1))
    (tmp_path / "empty").write_bytes(b"")
    told = {name: read(tmp_path / name, name)[1] for name in ("latin", "wide", "nul", "large", "empty", "missing", ".")}
    assert not told.pop("empty")
    assert all([fault.code for fault in faults] == ["C104"] for faults in told.values())
    assert (told["latin"][0].at.line, told["latin"][0].at.column) == (2, 9)
    assert (told["nul"][0].at.line, told["nul"][0].at.column) == (2, 5)
    assert "folder" in told["."][0].message and "does not exist" in told["missing"][0].message
    assert [fault.code for fault in read("a\0b", "odd")[1]] == ["C104"]
    assert decode(b"a = 1", "x")[0] == Source("x", "a = 1")


def test_carriage_returns_alone() -> None:
    file, faults = parse(Source("x", "a { b = 1 }\r"))
    assert [fault.code for fault in faults] == ["C101"] and len(file.items) == 1


def test_deep_nesting_is_one_fault() -> None:
    for text in (
        "[" * 100_000,
        "x = " + "[" * 100_000 + "]" * 100_000,
        "a {" * 100_000,
        "x = " + "(" * 100_000,
        "x = " + "{" * 100_000,
    ):
        _, faults = parse(Source("x", text))
        assert [fault.code for fault in faults] == ["C101"]
        assert "100 deep" in faults[0].message
    for text in (
        "b { x = " + "1 + " * 100_000 + "1 }",
        "b { x = " + "-" * 100_000 + "1 }",
        "b { x = " + "not " * 100_000 + "y }",
    ):
        _, faults = parse(Source("x", text))
        assert [fault.code for fault in faults] == ["C101"]
    assert value("[" * 90 + "]" * 90)
    assert value(" + ".join("1" * 90))


def test_spans_of_a_source() -> None:
    source = Source("x", "ab\ncd")
    assert Span(source, 3, 5).line == 2
