"""Every example of the language reference is in the language: it is read, with attributes that exist and values of their type."""

import re
import shutil
from pathlib import Path

import pytest

from campc.pipeline import Compiled, compile_path, compile_source
from campc.schema import BLOCKS
from campc.source import Source

ROOT = Path(__file__).resolve().parents[2]
# What isn't about the rest of a file that an example doesn't show.
OWN = {"C101", "C102", "C103", "C104", "C201", "C202", "C204", "C207", "C208", "C211"}
PAGES = [ROOT / "docs" / "language.md", ROOT / "docs" / "source" / "syntax.md"]
EXAMPLES = [
    pytest.param(example, id=f"{page.name}-{number}")
    for page in PAGES
    for number, example in enumerate(re.findall(r"```campaign\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL))
]


def faults(text: str) -> list[str]:
    compiled = compile_source(Source("example.campaign", text, None))
    return [f"{found.code} {found.message}" for found in compiled.diagnostics if found.code in OWN]


def placed(kind: str, body: str) -> str:
    """A block with this body, where its kind may stand."""
    info = BLOCKS[kind]
    name = {"required": " x", "optional": " x", "none": "", "word": " essential"}[info.name]
    written = f"{kind}{name} {{ {body} }}"
    return written if "" in info.inside else {"tier": f"tier essential {{ {written} }}"}[info.inside[0]]


@pytest.mark.parametrize("example", EXAMPLES)
def test_an_example_is_read(example: str) -> None:
    # A window stands in a tier, also where the reference shows it alone.
    text = f"tier essential {{\n{example}}}\n" if example.startswith("window") else example
    assert faults(text) == []


@pytest.mark.parametrize(
    ("kind", "name"), [(kind, name) for kind, info in BLOCKS.items() for name in info.attributes], ids=str
)
def test_an_attributes_example_has_its_type(kind: str, name: str) -> None:
    example = BLOCKS[kind].attributes[name].shown_example
    assert faults(placed(kind, f"{name} = {example}")) == []


def test_a_wrong_example_would_be_noticed() -> None:
    assert faults(placed("lot", "keep_free = 3 USD"))
    assert faults(placed("window", "takez = 3h"))


def test_the_whole_example_compiles(tmp_path: Path) -> None:
    text = re.findall(r"```campaign\n(.*?)```", PAGES[1].read_text(encoding="utf-8"), re.DOTALL)[0]
    shutil.copytree(ROOT / "specs" / "catalogs", tmp_path / "catalogs")
    (tmp_path / "rank.campaign").write_text(text, encoding="utf-8")
    compiled = compile_path(tmp_path / "rank.campaign")
    assert isinstance(compiled, Compiled)
    assert [f"{found.code} {found.message}" for found in compiled.errors] == []
