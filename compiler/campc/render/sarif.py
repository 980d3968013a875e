"""Diagnostics as SARIF 2.1.0, for code scanning."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any
from urllib.parse import quote

import campc
from campc.codes import CODES
from campc.diagnostic import Diagnostic
from campc.render.json import dumped
from campc.source import Span

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"


def render_sarif(diagnostics: Sequence[Diagnostic], files: int) -> str:
    """One run with the rules that were broken and the results."""
    codes = sorted({d.code for d in diagnostics})
    driver = {
        "name": "campc",
        "version": campc.__version__,
        "semanticVersion": campc.__version__,
        "rules": [_rule(code) for code in codes],
    }
    # One result a line: readable, and json's quick encoder does not indent.
    lines = ",\n".join(_line(_result(d, codes)) for d in diagnostics)
    run = f'{{"tool": {_line({"driver": driver})}, "columnKind": "unicodeCodePoints", "results": [\n{lines}\n]}}'
    return f'{{"$schema": "{SCHEMA}", "version": "2.1.0", "runs": [\n{run}\n]}}\n'


def _line(value: Any) -> str:
    return dumped(value, indent=None).rstrip("\n")


def _rule(code: str) -> dict[str, Any]:
    info = CODES[code]
    return {
        "id": code,
        "name": "".join(word.capitalize() for word in info.name.split("-")),
        "shortDescription": {"text": info.summary},
        "defaultConfiguration": {"level": info.severity},
    }


def _result(diagnostic: Diagnostic, codes: Sequence[str]) -> dict[str, Any]:
    text = diagnostic.message if not diagnostic.help else f"{diagnostic.message}\nHelp: {diagnostic.help}"
    result: dict[str, Any] = {
        "ruleId": diagnostic.code,
        "ruleIndex": codes.index(diagnostic.code),
        "level": diagnostic.severity,
        "message": {"text": text},
        "locations": [_location(diagnostic.at)],
    }
    if diagnostic.related:
        result["relatedLocations"] = [
            {"id": i, **_location(note.at), "message": {"text": note.message}}
            for i, note in enumerate(diagnostic.related, 1)
        ]
    if diagnostic.fix is not None:
        changes: dict[str, list[dict[str, Any]]] = {}
        for edit in diagnostic.fix.edits:
            replacement = {"deletedRegion": _region(edit.at), "insertedContent": {"text": edit.text}}
            changes.setdefault(edit.at.source.name, []).append(replacement)
        result["fixes"] = [
            {
                "description": {"text": diagnostic.fix.message},
                "artifactChanges": [
                    {"artifactLocation": {"uri": uri(name)}, "replacements": replacements}
                    for name, replacements in changes.items()
                ],
            }
        ]
    return result


def _location(span: Span) -> dict[str, Any]:
    return {"physicalLocation": {"artifactLocation": {"uri": uri(span.source.name)}, "region": _region(span)}}


def _region(span: Span) -> dict[str, int]:
    source = span.source
    (line, column), (end_line, end_column) = source.position(span.start), source.position(span.end)
    return {"startLine": line, "startColumn": column, "endLine": end_line, "endColumn": end_column}


@lru_cache(maxsize=64)
def uri(name: str) -> str:
    """A file's name as a relative reference."""
    return quote("stdin" if name == "-" else name, safe="/!$&'()*+,;=@~-._", errors="surrogateescape")
