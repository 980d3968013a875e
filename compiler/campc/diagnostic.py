"""What is wrong, where, and what to write instead: a value, never an exception."""

from __future__ import annotations

from campc.codes import CODES
from campc.records import field, frozen
from campc.source import Span

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

    Severity = Literal["error", "warning"]


@frozen
class Note:
    """A second place that a diagnostic is about."""

    at: Span
    message: str


@frozen
class Edit:
    """Replace what stands at a place."""

    at: Span
    text: str


@frozen
class Fix:
    """Edits that certainly mend the fault."""

    message: str
    edits: tuple[Edit, ...]


@frozen
class Diagnostic:
    """One fault, in one calm sentence with its numbers. Its name and severity are those of its code."""

    code: str
    at: Span
    message: str
    related: tuple[Note, ...] = ()
    help: str | None = None
    fix: Fix | None = None
    label: str | None = field(default=None)
    """A few words to print under the carets."""

    @property
    def name(self) -> str:
        """The fault's name, such as ``gpu-windows-overlap``."""
        return CODES[self.code].name

    @property
    def severity(self) -> Severity:
        """Whether it stops a build."""
        return CODES[self.code].severity

    @property
    def order(self) -> tuple[str, int, int, str]:
        """The key by which diagnostics are sorted: file, place, code."""
        return self.at.source.name, self.at.start, self.at.end, self.code


def removal(at: Span) -> Span:
    """What to take away so that a whole line, or the end of one, is gone, with the blanks before it."""
    text = at.source.text
    start, end = at.start, at.end
    while start > 0 and text[start - 1] in " \t":
        start -= 1
    alone = start == 0 or text[start - 1] == "\n"
    while end < len(text) and text[end] in " \t\r":
        end += 1
    if alone and end < len(text) and text[end] == "\n":
        end += 1
    return at.near(start, end if alone or end == len(text) or text[end] == "\n" else at.end)


def taken_away(at: Span) -> Fix | None:
    """The removal of an item, with its lines or with the `;` behind or before it; None where it shares its lines with something else."""
    source = at.source
    before = source.line(at.line)[: at.column - 1]
    after = source.line(at.end_line)[at.end_column - 1 :]
    behind = after.lstrip()
    if behind.startswith(";"):
        behind = behind[1:].lstrip()
        through = at.near(at.start, at.end + len(after.rstrip()) - len(behind.rstrip()))
        gone = through if behind else removal(through)
    elif not before.strip() and not behind:
        gone = removal(at)
    elif before.rstrip().endswith(";"):
        gone = at.near(at.start - (len(before) - len(before.rstrip()[:-1].rstrip())), at.end)
    else:
        return None
    return Fix("take it away", (Edit(gone, ""),))
