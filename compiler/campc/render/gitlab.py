"""Diagnostics as GitLab's code quality report."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

from campc.diagnostic import Diagnostic
from campc.render.json import dumped


def render_gitlab(diagnostics: Sequence[Diagnostic], files: int) -> str:
    """A list of issues, each with a fingerprint that stays when lines move."""
    seen: dict[str, int] = {}
    return dumped([_issue(d, seen) for d in diagnostics])


def _issue(diagnostic: Diagnostic, seen: dict[str, int]) -> dict[str, Any]:
    name = diagnostic.at.source.name
    key = "\0".join((diagnostic.code, name, diagnostic.message))
    seen[key] = seen.get(key, 0) + 1
    return {
        "description": f"{diagnostic.message}" + (f" ({diagnostic.help})" if diagnostic.help else ""),
        "check_name": f"{diagnostic.code} {diagnostic.name}",
        "fingerprint": hashlib.sha256(f"{key}\0{seen[key]}".encode("utf-8", "surrogateescape")).hexdigest(),
        "severity": "major" if diagnostic.severity == "error" else "minor",
        "location": {"path": name, "lines": {"begin": diagnostic.at.line, "end": diagnostic.at.end_line}},
    }
