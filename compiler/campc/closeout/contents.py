"""Paths inside delivered files that mean nothing on another machine: absolute ones, and ones into temporary folders.

What counts is a *value* that is such a path: a JSON string, a YAML scalar, a cell, a line of text. Prose that only mentions one is left alone.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from attrs import frozen

__all__ = ["ForeignPath", "foreign_paths"]

TEXT = frozenset(".json .jsonl .ndjson .yaml .yml .toml .txt .md .csv .tsv .ini .cfg .conf .xml .html .py .sh".split())
MOST_BYTES = 64 * 1024**2
"""Of one file that are searched."""
_MACHINE = "home root tmp var mnt media srv opt usr etc dev proc workspace workspaces scratch Users private Volumes kaggle gpfs lustre nfs efs fsx"
_USUAL = "data datasets content models model checkpoints outputs output runs run work shared notebooks app"
_REST = r"[^\0\n\"'<>|]*"
# A label such as /billing/refund is no path: a root that every machine has, or depth, tells them apart.
_ABSOLUTE = re.compile(
    r"(?:file://)?(?:"
    rf"/(?:{_MACHINE.replace(' ', '|')})(?:/{_REST})?"
    rf"|/(?:{_USUAL.replace(' ', '|')})/{_REST}"
    r"|(?:/[\w.+@%=~ -]+){3,}/?"
    rf"|~[\w-]*/{_REST}"
    rf"|[A-Za-z]:[\\/]{_REST}"
    rf"|\\\\[\w.-]+\\{_REST}"
    r")"
)
_TEMPORARY = re.compile(r"(?:^|[/\\])(?:tmp|temp|Temp|var/folders|dev/shm)[/\\]|^/tmp$", re.ASCII)
_SCALAR = re.compile(
    r"""^\s*(?:-\s+)*(?:[\w."'-]+(?:\s*=\s*|:\s+))?(?P<quote>["']?)(?P<value>[^"'].*?)(?P=quote)\s*[,;]?\s*$"""
)


@frozen
class ForeignPath:
    """A value that is a path of the machine it was made on."""

    value: str
    where: str
    """``line 3``, or the way to it in a JSON tree: ``$.base.path``."""
    temporary: bool

    def __str__(self) -> str:
        kind = "a path into a temporary folder" if self.temporary else "an absolute path"
        return f"{self.where} is {kind}: {self.value[:120]}"


def foreign_paths(path: Path, *, most: int = 5) -> list[ForeignPath]:
    """The first ``most`` such values of a JSON, YAML or text file; none for a file of another kind, or one that can't be read."""
    if path.suffix.lower() not in TEXT:
        return []
    try:
        with path.open("rb") as stream:
            text = stream.read(MOST_BYTES).decode("utf-8")
    except (OSError, UnicodeDecodeError):
        return []
    found: list[ForeignPath] = []
    for where, value in _values(path.suffix.lower(), text):
        if _ABSOLUTE.fullmatch(value.strip()):
            found.append(ForeignPath(value.strip(), where, bool(_TEMPORARY.search(value))))
            if len(found) == most:
                break
    return found


def _values(suffix: str, text: str) -> Iterator[tuple[str, str]]:
    if suffix == ".json":
        try:
            yield from _in_tree(json.loads(text))
            return
        except (ValueError, RecursionError):
            pass
    for number, line in enumerate(text.splitlines(), 1):
        if suffix in (".jsonl", ".ndjson"):
            try:
                yield from ((f"line {number}, {where}", value) for where, value in _in_tree(json.loads(line)))
                continue
            except (ValueError, RecursionError):
                pass
        if suffix in (".csv", ".tsv"):
            for cell in re.split(r"[,\t]", line):
                yield f"line {number}", cell.strip().strip("\"'")
        elif not line.startswith("#!"):
            match = _SCALAR.match(line)
            if match:
                yield f"line {number}", match["value"]


def _in_tree(tree: Any) -> Iterator[tuple[str, str]]:
    """Every string of a JSON tree with the way to it, without recursion: the tree may be deep."""
    todo: list[tuple[str, Any]] = [("$", tree)]
    while todo:
        where, value = todo.pop()
        if isinstance(value, str):
            yield where, value
        elif isinstance(value, dict):
            todo.extend((f"{where}.{key}", item) for key, item in reversed(value.items()))
        elif isinstance(value, list):
            todo.extend((f"{where}[{index}]", item) for index, item in reversed(list(enumerate(value))))
