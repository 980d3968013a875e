"""Regular expressions that every supported Python reads alike.

Before Python 3.11.5, a possessive quantifier after a group could match wrongly, and `campc check` never ended.
"""

import re
from pathlib import Path

import pytest

from campc.syntax.lexer import _scanner

ROOT = Path(__file__).resolve().parents[2]
POSSESSIVE_GROUP = re.compile(r"(?<!\\)\)(?:[*+?]|\{[0-9,]+\})\+")
FILES = [ROOT / "grammar" / "campaign.lark", *sorted((ROOT / "compiler" / "campc" / "syntax").glob("*.py"))]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_no_possessive_quantifier_after_a_group(path: Path) -> None:
    assert POSSESSIVE_GROUP.findall(path.read_text(encoding="utf-8")) == []


def test_nor_in_the_scanner_as_it_is_put_together() -> None:
    assert POSSESSIVE_GROUP.findall(_scanner().pattern) == []


def test_what_the_check_looks_for_is_found() -> None:
    assert POSSESSIVE_GROUP.search(r"(?:a|b)*+c") and POSSESSIVE_GROUP.search(r"(a)?+")
    assert not POSSESSIVE_GROUP.search(r"\)*+") and not POSSESSIVE_GROUP.search(r"[a-z]*+")
