"""Diagnostics as workflow commands of GitHub Actions: annotations on the changed lines."""

from __future__ import annotations

from collections.abc import Sequence

from campc.diagnostic import Diagnostic
from campc.render.text import Style, summary


def render_github(diagnostics: Sequence[Diagnostic], files: int) -> str:
    """One command a line, and the count."""
    lines = [_command(d) for d in diagnostics]
    return "\n".join([*lines, summary(diagnostics, files, Style())])


def _command(diagnostic: Diagnostic) -> str:
    at = diagnostic.at
    properties = {
        "file": at.source.name,
        "line": at.line,
        "col": at.column,
        "endLine": at.end_line,
        "endColumn": at.end_column,
        "title": f"{diagnostic.code} {diagnostic.name}",
    }
    shown = ",".join(f"{key}={_property(str(value))}" for key, value in properties.items())
    text = diagnostic.message if not diagnostic.help else f"{diagnostic.message}\nhelp: {diagnostic.help}"
    return f"::{diagnostic.severity} {shown}::{_data(text)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
