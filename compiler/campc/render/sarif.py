"""Diagnostics as SARIF 2.1.0, for code scanning."""

from __future__ import annotations

from collections.abc import Sequence
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
    log = {
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "campc",
                        "version": campc.__version__,
                        "semanticVersion": campc.__version__,
                        "rules": [_rule(code) for code in codes],
                    }
                },
                "columnKind": "unicodeCodePoints",
                "results": [_result(d, codes) for d in diagnostics],
            }
        ],
    }
    return dumped(log)


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
    return {"startLine": span.line, "startColumn": span.column, "endLine": span.end_line, "endColumn": span.end_column}


def uri(name: str) -> str:
    """A file's name as a relative reference."""
    return quote("stdin" if name == "-" else name, safe="/!$&'()*+,;=@~-._", errors="surrogateescape")
