"""The identifiers that a table holds: of the corpus, what was expected; of a deliverable, what came out.

CSV (and TSV), JSON lines and JSON are read, also gzipped. Rows are data rows; of a JSON object, its keys are the identifiers.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

from attrs import frozen

__all__ = ["Compared", "Table", "compare", "read_table"]

MOST_BYTES = 16 * 1024**3
"""Uncompressed; more is refused, so that a small archive cannot keep the reader busy for ever."""
_CSV_FIELD = 64 * 1024**2


@frozen
class Table:
    """Rows of one or several files. ``ids`` is None where they name no identifier, and ``why`` says so."""

    rows: int | None
    ids: Counter[str] | None
    why: str | None = None


@frozen
class Compared:
    """A deliverable's identifiers against the corpus's, as counts; ``example`` is one of those that are missing."""

    missing: int
    duplicate: int
    foreign: int
    example: str | None


def compare(expected: Counter[str], found: Counter[str]) -> Compared:
    """Count identifiers of ``expected`` that aren't in ``found``, surplus rows in ``found``, and those that nobody expected."""
    missing = [name for name in expected if name not in found]
    return Compared(
        missing=len(missing),
        duplicate=found.total() - len(found),
        foreign=sum(name not in expected for name in found),
        example=missing[0] if missing else None,
    )


def read_table(files: Sequence[Path], field: str | None) -> Table:
    """The rows of all ``files`` together and their identifiers, in the column or field ``field`` (else ``id``).

    A file that is no table, or is broken, gives a table without rows and a reason, never an error.
    """
    rows = 0
    ids: Counter[str] | None = Counter()
    why = None
    for path in files:
        try:
            with _open(path) as stream:
                for name in _identifiers(path, stream, field):
                    rows += 1
                    if name is None:
                        ids, why = None, why or f"row {rows} of {path.name} has no `{field or 'id'}`"
                    elif ids is not None:
                        ids[name] += 1
        except _NotATable as fault:
            return Table(None, None, str(fault))
        except (OSError, EOFError, ValueError, csv.Error, RecursionError) as fault:
            return Table(None, None, f"{path.name} can't be read as {_form(path)}: {_short(fault)}")
    return Table(rows, ids, why)


class _NotATable(Exception):
    pass


def _form(path: Path) -> str:
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] == ".gz":
        suffixes.pop()
    return suffixes[-1].lstrip(".") if suffixes else ""


def _open(path: Path) -> IO[str]:
    raw: IO[bytes] = gzip.open(path) if path.suffix.lower() == ".gz" else path.open("rb")  # type: ignore[assignment]
    return io.TextIOWrapper(io.BufferedReader(_Limited(raw)), encoding="utf-8-sig", newline="")


class _Limited(io.RawIOBase):
    """A stream that ends with an error once more than ``MOST_BYTES`` came out of it."""

    def __init__(self, raw: IO[bytes]) -> None:
        self._raw = raw
        self._left = MOST_BYTES

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._raw.read(len(buffer))
        self._left -= len(data)
        if self._left < 0:
            raise OSError(f"it holds more than {MOST_BYTES:,} bytes")
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        self._raw.close()
        super().close()


def _identifiers(path: Path, stream: IO[str], field: str | None) -> Iterator[str | None]:
    form = _form(path)
    if form in ("csv", "tsv"):
        return _of_csv(stream, field, "\t" if form == "tsv" else ",")
    if form in ("jsonl", "ndjson"):
        return (_of_row(json.loads(line), field) for line in stream if line.strip())
    if form == "json":
        return _of_json(json.load(stream), field)
    if form == "txt":
        # A list of identifiers, one a line, is a table of one column.
        return (line.strip() for line in stream if line.strip())
    raise _NotATable(f"rows are counted in CSV, TSV, JSON, JSON lines and text, and {path.name} is none of these")


def _of_csv(stream: IO[str], field: str | None, delimiter: str) -> Iterator[str | None]:
    csv.field_size_limit(_CSV_FIELD)
    table = csv.reader(stream, delimiter=delimiter, strict=True)
    head = next(table, [])
    column = _column(head, field)
    for row in table:
        if row:
            yield row[column] if column is not None and column < len(row) else None


def _column(head: Sequence[str], field: str | None) -> int | None:
    for name in (field, "id"):
        if name in head:
            return head.index(name)
    return None


def _of_json(tree: Any, field: str | None) -> Iterator[str | None]:
    if isinstance(tree, list):
        return (_of_row(row, field) for row in tree)
    if isinstance(tree, dict):
        return iter(tree)
    raise ValueError("it is neither a list of rows nor an object of them")


def _of_row(row: Any, field: str | None) -> str | None:
    if isinstance(row, (str, int)) and not isinstance(row, bool):
        return str(row)
    if isinstance(row, Mapping):
        for name in (field, "id"):
            if name in row and isinstance(row[name], (str, int, float)):
                return str(row[name])
    return None


def _short(fault: BaseException) -> str:
    return str(fault).split("\n", 1)[0][:200] or type(fault).__name__
