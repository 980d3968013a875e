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
