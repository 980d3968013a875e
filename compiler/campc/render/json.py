"""Diagnostics as JSON: the contract that tools read."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from campc.diagnostic import Diagnostic
from campc.source import Span


def dumped(value: Any, *, indent: int | None = 1) -> str:
    """A value as JSON, indented unless ``indent`` is None; all of it as ASCII where it holds bytes of a file's name that are no UTF-8."""
    text = json.dumps(value, ensure_ascii=False, indent=indent)
    try:
        text.encode()
    except UnicodeEncodeError:
        text = json.dumps(value, indent=indent)
    return text + "\n"


def range_of(span: Span) -> dict[str, dict[str, int]]:
    """A place as lines and columns from 1; a column is a code point."""
    source = span.source
    (line, column), (end_line, end_column) = source.position(span.start), source.position(span.end)
    return {"start": {"line": line, "column": column}, "end": {"line": end_line, "column": end_column}}


def entry(diagnostic: Diagnostic) -> dict[str, Any]:
    """One diagnostic."""
    fix = diagnostic.fix
    return {
        "code": diagnostic.code,
        "name": diagnostic.name,
        "severity": diagnostic.severity,
        "message": diagnostic.message,
        "file": diagnostic.at.source.name,
        "range": range_of(diagnostic.at),
        "related": [
            {"file": n.at.source.name, "range": range_of(n.at), "message": n.message} for n in diagnostic.related
        ],
        "help": diagnostic.help,
        "fix": None
        if fix is None
        else {"message": fix.message, "edits": [{"range": range_of(e.at), "text": e.text} for e in fix.edits]},
    }


def render_json(diagnostics: Sequence[Diagnostic], files: int) -> str:
    """All diagnostics, with counts."""
    errors = sum(d.severity == "error" for d in diagnostics)
    head = {"version": 1, "files": files, "errors": errors, "warnings": len(diagnostics) - errors}
    # One diagnostic a line: readable, and json's quick encoder does not indent.
    lines = ",\n".join(dumped(entry(d), indent=None).rstrip("\n") for d in diagnostics)
    return f'{json.dumps(head)[:-1]}, "diagnostics": [\n{lines}\n]}}\n'


def render_failure(message: str) -> str:
    """What could not be begun, such as bad arguments: no diagnostics, and the reason."""
    report = {"version": 1, "files": 0, "errors": 0, "warnings": 0, "diagnostics": [], "failure": message}
    return dumped(report)
