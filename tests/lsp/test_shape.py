"""Folding and growing selections, in texts where something is at fault, too."""

from pathlib import Path

import pytest
from lsprotocol import types as lsp

from campc.lsp.convert import Converter
from campc.lsp.structure import folding, selection
from campc.pipeline import compile_source
from campc.source import Source
from campc.syntax.parse import parse

CASES = sorted((Path(__file__).resolve().parents[1] / "cases").glob("*.campaign"))
CONVERT = Converter()


def key(place: lsp.Position) -> tuple[int, int]:
    return place.line, place.character


@pytest.mark.parametrize("case", CASES[::4], ids=lambda path: path.stem)
def test_selections_hold_the_cursor_and_grow(case: Path) -> None:
    text = case.read_text()[:3000]
    for source in (Source("x", text), Source("x", text.replace("=", "", 3).replace("}", "", 1))):
        file, _ = parse(source)
        for offset in range(0, len(source.text), 3):
            here = key(CONVERT.position(source, offset))
            step: lsp.SelectionRange | None = selection(file, offset, CONVERT)
            inner: lsp.Range | None = None
            while step is not None:
                assert key(step.range.start) <= here <= key(step.range.end)
                if inner is not None:
                    assert inner != step.range
                    assert key(step.range.start) <= key(inner.start) and key(inner.end) <= key(step.range.end)
                inner, step = step.range, step.parent


def test_what_begins_and_ends_with_its_block_is_folded_once() -> None:
    file, _ = parse(Source("x", "run a { params = {\n  lr = 1\n} }\nrun b {\n  params = {\n    lr = 1\n  }\n}\n"))
    found = [(fold.start_line, fold.end_line) for fold in folding(file)]
    assert sorted(found) == [(0, 2), (3, 7), (4, 6)]


@pytest.mark.parametrize("end", ["\n", "\r\n"], ids=["LF", "CRLF"])
def test_the_end_of_a_line_is_before_what_ends_it(end: str) -> None:
    text = f"run a {{{end}  script = # a comment{end}  seed = {end}}}{end}"
    places = [(d.at.line, d.at.column) for d in compile_source(Source("x", text)).diagnostics if d.code == "C101"]
    assert places == [(2, 23), (3, 10)]
