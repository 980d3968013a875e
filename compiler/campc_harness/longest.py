"""A rehearsal's corpus: the sample, and the longest records of the whole, which the peak of memory depends on."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from pathlib import Path

LINES = frozenset({".jsonl", ".ndjson", ".txt"})
TABLES = frozenset({".csv", ".tsv"})
COUNT = 32
# Reading more than this would keep a rented machine busy for longer than the rehearsal itself.
LIMIT_BYTES = 8 << 30


def records(path: Path) -> Iterator[bytes]:
    """The records of a text corpus as they stand, line ends included: lines, or of a table rows, whose quotes may hold
    line ends."""
    quoted = path.suffix.lower() in TABLES
    held = b""
    with open(path, "rb") as stream:
        for line in stream:
            held += line
            if quoted and held.count(b'"') % 2:
                continue
            yield held
            held = b""
    if held:
        yield held


def with_longest(sample: Path, corpus: Path, target: Path, count: int = COUNT) -> int | None:
    """Write to `target` the sample and those of the `count` longest records of `corpus` that it lacks; how many.

    None, and nothing is written, where records aren't known: other formats than CSV, TSV, JSON lines and plain lines, two
    different ones, folders, or a corpus of more than `LIMIT_BYTES`.

    Raises:
        OSError: one can't be read, or `target` can't be written.
    """
    kind = sample.suffix.lower()
    if kind not in LINES | TABLES or corpus.suffix.lower() != kind or not (sample.is_file() and corpus.is_file()):
        return None
    if corpus.stat().st_size > LIMIT_BYTES:
        return None
    rows = iter(records(corpus))
    if kind in TABLES:
        next(rows, None)  # the header
    # Of two that are equally long, the first.
    longest = heapq.nlargest(count, ((len(row.rstrip(b"\r\n")), -index, row) for index, row in enumerate(rows)))
    wanted = {row.rstrip(b"\r\n"): None for _, _, row in sorted(longest, key=lambda item: -item[1])}
    with open(target, "wb") as stream:
        row = b"\n"
        for row in records(sample):
            wanted.pop(row.rstrip(b"\r\n"), None)
            stream.write(row)
        if not row.endswith(b"\n"):
            stream.write(b"\n")
        stream.writelines(item + b"\n" for item in wanted)
    return len(wanted)
