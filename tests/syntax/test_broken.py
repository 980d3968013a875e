"""Broken files: each with the faults it is to have, in its first line, and what is said of them, in the text beside it.

``CAMPC_GOLDEN=write`` writes the texts anew.
"""

import os
from pathlib import Path

import pytest

from campc.diagnostic import Diagnostic, Edit
from campc.pipeline import compile_source
from campc.source import Source
from campc.syntax.parse import parse

FOLDER = Path(__file__).parent / "broken"
FILES = sorted(FOLDER.glob("*.campaign"))


def read(path: Path) -> Source:
    return Source(path.name, path.read_bytes().decode(), path)


def told(faults: tuple[Diagnostic, ...]) -> str:
    lines = []
    for fault in faults:
        at = fault.at
        lines.append(f"{at.line}:{at.column} to {at.end_line}:{at.end_column}  {fault.code}  {fault.message}")
        lines += [f"    {note.at.line}:{note.at.column}  {note.message}" for note in fault.related]
        if fault.help:
            lines.append(f"    help: {fault.help}")
        if fault.fix:
            lines.append(f"    fix: {fault.fix.message}")
    return "\n".join(lines) + "\n"


def apply(text: str, edits: list[Edit]) -> str:
    for edit in sorted(edits, key=lambda e: (e.at.start, e.at.end), reverse=True):
        text = text[: edit.at.start] + edit.text + text[edit.at.end :]
    return text


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_no_other_error_follows_from_them(path: Path) -> None:
    compiled = compile_source(read(path))
    syntax = ("C101", "C102", "C103")
    assert not [fault for fault in compiled.errors if fault.code not in syntax]


def test_there_are_enough_of_them() -> None:
    assert len(FILES) >= 100


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_the_faults_and_no_others(path: Path) -> None:
    source = read(path)
    _, faults = parse(source)
    expected = source.line(1).removeprefix("# expect: ")
    assert (", ".join(f"{fault.at.line} {fault.code}" for fault in faults) or "nothing") == expected
    assert all(fault.help or fault.fix for fault in faults)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_the_words(path: Path) -> None:
    _, faults = parse(read(path))
    expected = path.with_suffix(".txt")
    if os.environ.get("CAMPC_GOLDEN") == "write":
        expected.write_text(told(faults), encoding="utf-8")
    assert told(faults) == expected.read_text(encoding="utf-8")


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_fix_takes_its_fault_away_and_brings_no_other(path: Path) -> None:
    source = read(path)
    _, faults = parse(source)
    fixes = [fault.fix for fault in faults if fault.fix is not None]
    if not fixes:
        return
    mended = Source(source.name, apply(source.text, [edit for fix in fixes for edit in fix.edits]))
    _, left = parse(mended)
    assert len(left) == len(faults) - len(fixes), told(left)
