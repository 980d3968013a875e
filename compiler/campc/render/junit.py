"""Diagnostics as JUnit XML, for a build server's test report: a suite a file, a case a diagnostic."""

from __future__ import annotations

import re
from collections.abc import Sequence
from xml.etree import ElementTree as xml

from campc.diagnostic import Diagnostic

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What no XML 1.0 document may hold, escaped or not: https://www.w3.org/TR/xml/#charsets"""
_UNREAD = "C104"


def render_junit(diagnostics: Sequence[Diagnostic], names: Sequence[str], *, strict: bool = False) -> str:
    """A report on the files ``names`` and on those that they use.

    An error is a failure, as is a warning where ``strict``; any other warning is a case that passed, with its text as output. A file that can't
    be read is an error of its case. A file without diagnostics has one case, which passed.
    """
    suites: dict[str, list[Diagnostic]] = {name: [] for name in names}
    for diagnostic in diagnostics:
        suites.setdefault(diagnostic.at.source.name, []).append(diagnostic)
    root = xml.Element("testsuites", name="campc check")
    for name, found in suites.items():
        suite = xml.SubElement(root, "testsuite", name=_clean(name))
        for diagnostic in found:
            _case(suite, diagnostic, strict)
        if not found:
            xml.SubElement(suite, "testcase", classname=_clean(name), name="no faults", file=_clean(name))
        _count(suite)
    _count(root)
    xml.indent(root, " ")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{xml.tostring(root, encoding="unicode")}\n'


def _case(suite: xml.Element, diagnostic: Diagnostic, strict: bool) -> None:
    at = diagnostic.at
    name = _clean(at.source.name)
    case = xml.SubElement(
        suite,
        "testcase",
        classname=name,
        name=f"{diagnostic.code} {diagnostic.name}, line {at.line}",
        file=name,
        line=str(at.line),
    )
    lines = [f"{at.source.name}:{at.line}:{at.column}: {diagnostic.severity}[{diagnostic.code}] {diagnostic.message}"]
    lines += [f"{note.at.source.name}:{note.at.line}:{note.at.column}: {note.message}" for note in diagnostic.related]
    if diagnostic.help:
        lines.append(f"help: {diagnostic.help}")
    if diagnostic.severity == "error" or strict:
        verdict = "error" if diagnostic.code == _UNREAD else "failure"
        told = xml.SubElement(case, verdict, type=diagnostic.code, message=_clean(diagnostic.message))
    else:
        told = xml.SubElement(case, "system-out")
    told.text = _clean("\n".join(lines))


def _count(element: xml.Element) -> None:
    for plural, tag in (("tests", "testcase"), ("failures", "failure"), ("errors", "error")):
        element.set(plural, str(sum(1 for _ in element.iter(tag))))


def _clean(text: str) -> str:
    return _NOT_XML.sub("\ufffd", text)
