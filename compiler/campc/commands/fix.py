"""``campc check --fix`` and ``--diff``."""

from __future__ import annotations

import difflib
import os
import sys
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

from campc.diagnostic import Diagnostic, Edit
from campc.source import Source


def apply_fixes(diagnostics: Sequence[Diagnostic], *, diff: bool) -> list[Diagnostic]:
    """Apply the certain fixes to their files, or print as a diff what they would change; what is left to be reported.

    Of fixes that overlap, the first is taken; a second run takes the next.
    """
    edits, fixed = chosen([d for d in diagnostics if d.fix is not None and all(e.at.source.path for e in d.fix.edits)])
    for source, wanted in edits.items():
        text = edited(source.text, wanted)
        if diff:
            sys.stdout.write(unified(source.name, source.text, text))
        elif source.path is not None:
            replace_text(source.path, text)
    if diff or not fixed:
        return list(diagnostics)
    sys.stderr.write(f"fixed {len(fixed)} fault{'s' if len(fixed) > 1 else ''}\n")
    return [d for d in diagnostics if d not in fixed]


def chosen(diagnostics: Iterable[Diagnostic]) -> tuple[dict[Source, list[Edit]], set[Diagnostic]]:
    """The edits, by file, of fixes that can be made at once, and the faults that they mend: of fixes that overlap, the first."""
    edits: dict[Source, list[Edit]] = {}
    fixed: set[Diagnostic] = set()
    for diagnostic in diagnostics:
        wanted = diagnostic.fix.edits if diagnostic.fix is not None else ()
        if wanted and not any(_overlap(e, other) for e in wanted for other in edits.get(e.at.source, ())):
            for edit in wanted:
                edits.setdefault(edit.at.source, []).append(edit)
            fixed.add(diagnostic)
    return edits, fixed


def _overlap(one: Edit, other: Edit) -> bool:
    if one.at.start == one.at.end or other.at.start == other.at.end:
        return one.at.start <= other.at.end and other.at.start <= one.at.end
    return one.at.start < other.at.end and other.at.start < one.at.end


def edited(text: str, edits: Sequence[Edit]) -> str:
    """A text with edits made in it, none of which overlap."""
    for edit in sorted(edits, key=lambda e: e.at.start, reverse=True):
        text = text[: edit.at.start] + edit.text + text[edit.at.end :]
    return text


def unified(name: str, before: str, after: str) -> str:
    """A unified diff of two texts of one file."""
    lines = difflib.unified_diff(
        before.splitlines(keepends=True), after.splitlines(keepends=True), f"a/{name}", f"b/{name}"
    )
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


def replace_text(path: str | os.PathLike[str], text: str) -> None:
    """Write a file's new text in one step, its mode and a byte-order mark kept. A link is written through."""
    real = Path(os.path.realpath(path))
    marked = real.read_bytes()[:3] == b"\xef\xbb\xbf" and not text.startswith("\ufeff")
    mark = b"\xef\xbb\xbf" if marked else b""
    mode = real.stat().st_mode
    handle, name = tempfile.mkstemp(prefix=f".{real.name}.", dir=real.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(mark + text.encode())
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, mode & 0o7777)
        os.replace(name, real)
    except BaseException:
        os.unlink(name)
        raise
