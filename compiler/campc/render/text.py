"""Diagnostics for people: the sentence, the place with its line, the second place, and what to write instead."""

from __future__ import annotations

from collections.abc import Sequence

from campc.diagnostic import Diagnostic
from campc.records import frozen
from campc.source import Source, Span

_TAB = 4
_MOST_COLUMNS = 160


@frozen
class Style:
    """How parts are coloured: nothing at all, or with ANSI escapes."""

    colour: bool = False

    def _wrap(self, code: str, text: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self.colour and text else text

    def severity(self, severity: str, text: str) -> str:
        return self._wrap("1;31" if severity == "error" else "1;33", text)

    def strong(self, text: str) -> str:
        return self._wrap("1", text)

    def frame(self, text: str) -> str:
        return self._wrap("34", text)

    def second(self, text: str) -> str:
        return self._wrap("36", text)

    def help(self, text: str) -> str:
        return self._wrap("32", text)


def render_text(diagnostics: Sequence[Diagnostic], files: int, style: Style | None = None) -> str:
    """All diagnostics, and a count at the end."""
    style = style or Style()
    parts = [render_one(d, style) for d in diagnostics]
    parts.append(summary(diagnostics, files, style))
    return "\n".join(parts)


def summary(diagnostics: Sequence[Diagnostic], files: int, style: Style) -> str:
    """The count: ``2 errors, 1 warning in 1 file``."""
    errors = sum(d.severity == "error" for d in diagnostics)
    warnings = len(diagnostics) - errors
    where = f"in {files} file{'s' if files != 1 else ''}"
    if not diagnostics:
        return style.help("no faults") + f" {where}\n"
    counts = []
    if errors:
        counts.append(style.severity("error", f"{errors} error{'s' if errors > 1 else ''}"))
    if warnings:
        counts.append(style.severity("warning", f"{warnings} warning{'s' if warnings > 1 else ''}"))
    return f"{', '.join(counts)} {where}\n"


def render_one(diagnostic: Diagnostic, style: Style) -> str:
    """One diagnostic as a paragraph."""
    at = diagnostic.at
    source = at.source
    places: list[tuple[Span, str, bool]] = [(at, diagnostic.label or "", True)]
    if diagnostic.related:
        places += [(note.at, note.message, False) for note in diagnostic.related]
        # As a reader meets them in the file; other files come after it.
        places.sort(key=lambda place: (place[0].source != source, place[0].source.name, place[0].start))
    positions = [span.source.position(span.start) for span, _, _ in places]
    width = len(str(max(positions)[0]))
    head = style.severity(diagnostic.severity, f"{diagnostic.severity}[{diagnostic.code}]")
    lines = [f"{head}: {style.strong(printable(diagnostic.message))}"]
    lines.append(f"{' ' * width}{style.frame('-->')} {printable(source.name)}:{at.line}:{at.column}")
    bar = style.frame("|")
    lines.append(f"{' ' * width} {bar}")
    previous: tuple[Source, int] | None = None
    for (span, text, primary), (line, column) in zip(places, positions, strict=True):
        if previous is not None:
            if span.source != previous[0]:
                lines.append(f"{' ' * width}{style.frame(':::')} {printable(span.source.name)}:{line}:{column}")
            elif abs(line - previous[1]) > 1:
                lines.append(style.frame(f"{'.' * min(3, width)}"))
        shown, marked = _place(span, line, column, text, primary, diagnostic.severity, width, style)
        if previous is None or (span.source, line) != previous:
            lines.append(shown)
        lines.append(marked)
        previous = span.source, line
    if diagnostic.help:
        lines.append(f"{' ' * width} {bar}")
        lines.append(f"{' ' * width} {style.frame('=')} {style.help('help')}: {printable(diagnostic.help)}")
    return "\n".join(lines) + "\n"


def _place(
    span: Span, line: int, column: int, text: str, primary: bool, severity: str, width: int, style: Style
) -> tuple[str, str]:
    """The line of a place, and the line that marks it below."""
    source_line = span.source.line(line)
    end_line, end_column = span.source.position(span.end)
    first = column - 1
    last = min(end_column - 1 if end_line == line else len(source_line), len(source_line))
    cut = 0
    if len(source_line) > _MOST_COLUMNS:
        cut = max(0, min(first - 40, len(source_line) - _MOST_COLUMNS))
        source_line = source_line[cut : cut + _MOST_COLUMNS]
        first, last = first - cut, min(last - cut, len(source_line))
    before, marked = source_line[:first], source_line[first:last]
    shown = f"{'…' if cut else ''}{_expand(source_line)}"
    indent = " " * (_columns(_expand(before)) + (1 if cut else 0))
    mark = ("^" if primary else "-") * max(1, _columns(_expand(marked)))
    note = f"{mark} {printable(text)}" if text else mark
    painted = style.severity(severity, note) if primary else style.second(note)
    return (
        f"{style.frame(f'{line:>{width}} |')} {shown}".rstrip(),
        f"{' ' * width} {style.frame('|')} {indent}{painted}",
    )


def _expand(text: str) -> str:
    if text.isprintable():
        return text
    return "".join(" " * _TAB if c == "\t" else c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)


def _columns(text: str) -> int:
    """How many columns of a terminal a text takes."""
    if text.isascii():
        return len(text)
    import unicodedata

    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def printable(text: str) -> str:
    """A text without anything that a terminal would act on."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else " " if c in "\n\t" else "\N{REPLACEMENT CHARACTER}" for c in text)


def render_concise(diagnostics: Sequence[Diagnostic], files: int, style: Style | None = None) -> str:
    """One line a diagnostic: ``file:line:column: error[C301] message``."""
    style = style or Style()
    lines = [
        f"{printable(d.at.source.name)}:{d.at.line}:{d.at.column}: {style.severity(d.severity, f'{d.severity}[{d.code}]')} {printable(d.message)}"
        for d in diagnostics
    ]
    return "\n".join([*lines, summary(diagnostics, files, style)])
