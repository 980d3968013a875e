"""The Pygments lexer: no sign of a spec is left over, and each kind of sign has its colour."""

from pathlib import Path

import pytest

pytest.importorskip("pygments", reason="Pygments is not installed")

from pygments.token import Comment, Error, Keyword, Name, Number, Operator, String, Text, _TokenType

from campc.pygments_lexer import CampaignLexer

ROOT = Path(__file__).resolve().parents[2]
SPECS = sorted([*(ROOT / "specs").rglob("*.campaign"), *(ROOT / "tests" / "cases").glob("*.campaign")])


def tokens(text: str) -> list[tuple[_TokenType, str]]:
    return [(kind, value) for kind, value in CampaignLexer(ensurenl=False, stripnl=False).get_tokens(text) if value]


@pytest.mark.parametrize("path", SPECS, ids=lambda path: path.stem)
def test_nothing_is_left_over(path: Path) -> None:
    text = path.read_text(encoding="utf-8").replace("\r\n", "\n").removeprefix("\ufeff")
    found = tokens(text)
    assert "".join(value for _, value in found) == text
    assert not [value for kind, value in found if kind in Error]
    if path.is_relative_to(ROOT / "specs"):
        assert not [value for kind, value in found if kind is Text]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("run control {", [(Keyword.Type, "run"), (Name.Class, "control")]),
        ("checkpoint {", [(Keyword.Type, "checkpoint")]),
        ('use "a.campaign"', [(Keyword.Namespace, "use"), (String.Double, '"')]),
        ("let hours = 10", [(Keyword.Declaration, "let"), (Name.Constant, "hours"), (Operator, "="), (Number, "10")]),
        ("takes = 1h30min", [(Name.Attribute, "takes"), (Operator, "="), (Number, "1"), (Keyword.Pseudo, "h"), (Number, "30"), (Keyword.Pseudo, "min")]),
        ("a = 2026-12-01 09:00", [(Name.Attribute, "a"), (Operator, "="), (String.Other, "2026-12-01 09:00")]),
        ("a = 0.5GB/s", [(Name.Attribute, "a"), (Operator, "="), (Number, "0.5"), (Keyword.Pseudo, "GB/s")]),
        ("a == 2e-4", [(Name, "a"), (Operator, "=="), (Number, "2e-4")]),
        ("orx or notable", [(Name, "orx"), (Operator.Word, "or"), (Name, "notable")]),
        ("best.eval.loss", [(Name, "best.eval.loss")]),
        ("mean(a.loss)", [(Name.Builtin, "mean")]),
        ("# campc: allow C512 because so", [(Comment.Single, "# "), (Comment.Special, "campc: allow")]),
        (r'"a \"b\" {path}', [(String.Double, '"'), (String.Double, "a "), (String.Escape, r"\"")]),
    ],
)  # fmt: skip
def test_colours(text: str, wanted: list[tuple[_TokenType, str]]) -> None:
    found = [(kind, value) for kind, value in tokens(text) if value.strip()]
    assert found[: len(wanted)] == wanted


def test_a_string_that_is_never_closed_ends_with_its_line() -> None:
    assert (Name.Attribute, "b") in tokens('a = "open\nb = 1\n')


def test_pygments_finds_it_by_name() -> None:
    """The entry point as the project declares it; what Pygments reads once campc is installed."""
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    module, _, name = project["entry-points"]["pygments.lexers"]["campaign"].partition(":")
    assert (module, name) == (CampaignLexer.__module__, CampaignLexer.__name__)
