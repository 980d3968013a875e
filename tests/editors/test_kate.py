"""Kate's colours: the definition is sound, and KSyntaxHighlighting, where it is installed, colours by it."""

import os
import re
import shutil
import subprocess
import xml.etree.ElementTree as ElementTree
from html.parser import HTMLParser
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DEFINITION = ROOT / "editors" / "kate" / "campaign.xml"
TOOL = next(
    (found for name in ("kate-syntax-highlighter", "ksyntaxhighlighter6") if (found := shutil.which(name))), None
)
TEXT = """use "a.campaign"
let hours = 10
lot box { starts = 2026-12-01 09:00; keep_free = 1h30min } # campc: allow C302 because x
note = \"\"\"
# "no comment" \\"\"\"
\"\"\"
tier "x" { when = loss is not finite }
"""


class Styles(HTMLParser):
    """The style in which each word stands."""

    def __init__(self) -> None:
        super().__init__()
        self.style = ""
        self.words: dict[str, str] = {}
        self.text = ""

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.style = dict(attributes).get("style") or "" if tag == "span" else ""

    def handle_endtag(self, tag: str) -> None:
        self.style = ""

    def handle_data(self, data: str) -> None:
        self.text += data
        for word in data.split():
            self.words.setdefault(word, self.style)


def styles(path: Path, home: Path) -> Styles:
    assert TOOL is not None
    folder = home / "org.kde.syntax-highlighting" / "syntax"
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(DEFINITION, folder)
    environment = {**os.environ, "XDG_DATA_HOME": str(home), "QT_QPA_PLATFORM": "offscreen", "LC_ALL": "C.UTF-8"}
    done = subprocess.run([TOOL, str(path)], env=environment, capture_output=True, text=True, timeout=60, check=True)
    assert "Campaign" in done.stdout and not done.stderr, done.stderr
    found = Styles()
    found.feed(done.stdout.split("<pre>")[1])
    return found


def test_the_definition_is_sound() -> None:
    language = ElementTree.parse(DEFINITION).getroot()
    assert language.get("extensions") == "*.campaign"
    contexts = {context.get("name") for context in language.iter("context")}
    kinds = {kind.get("name") for kind in language.iter("itemData")}
    lists = {words.get("name") for words in language.iter("list")}
    for rule in language.findall(".//context/*"):
        assert rule.get("context", "#stay").lstrip("#") in contexts | {"stay", "pop"}
        assert rule.get("attribute") in kinds
        if rule.tag == "RegExpr":
            re.compile(rule.get("String", ""))
        if rule.tag == "keyword":
            assert rule.get("String") in lists


@pytest.mark.skipif(
    TOOL is None, reason="KSyntaxHighlighting is not installed: apt-get install libkf5syntaxhighlighting-tools"
)
def test_each_kind_has_its_colour(tmp_path: Path) -> None:
    spec = tmp_path / "c.campaign"
    spec.write_text(TEXT, encoding="utf-8")
    found = styles(spec, tmp_path)
    assert found.text.strip("\n") == TEXT.strip("\n")
    word = found.words
    assert word["use"] == word["let"] == word["is"]
    assert word["hours"] == word["starts"] == word["when"]
    assert word["10"] == word["1h30min"] == word["2026-12-01"]
    assert word['"a.campaign"'] == word['"no'] == word['comment"'] == word['"x"']
    assert word["loss"] == word["finite"] == ""
    kinds = [word[w] for w in ("use", "box", "hours", "=", "10", '"a.campaign"', "because", "loss")]
    assert len(set(kinds)) == len(kinds)
