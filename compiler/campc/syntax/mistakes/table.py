"""The table of mistakes, and how one is told."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from campc.diagnostic import Diagnostic, Fix
from campc.records import frozen
from campc.source import Span
from campc.syntax.automaton import BRACE_CLOSE, BRACE_OPEN, END, END_OF_FILE
from campc.syntax.lexer import one_line
from campc.syntax.situation import Situation, advice, expected, found


@frozen
class Finding:
    """What to say of a fault. ``resume`` is the token to go on at where it could be mended; else the rest of the item is
    given up. ``at`` is its place where that is not the token itself; up to the token ``quiet_until`` nothing more is told."""

    message: str
    help: str | None = None
    fix: Fix | None = None
    resume: int | None = None
    at: Span | None = None
    quiet_until: int = -1


Recogniser: TypeAlias = Callable[[Situation], Finding | None]
MISTAKES: list[tuple[Recogniser, tuple[str, ...]]] = []
"""Each recogniser with its bad examples, in the order in which they are asked."""


def mistake(*bad: str) -> Callable[[Recogniser], Recogniser]:
    """Enters a recogniser into the table; it must know each of the bad examples."""

    def enter(recogniser: Recogniser) -> Recogniser:
        MISTAKES.append((recogniser, bad))
        return recogniser

    return enter


def tell(situation: Situation) -> int | None:
    """Reports the fault; the index to go on at where it could be mended, else None."""
    finding = next((known for recogniser, _ in MISTAKES if (known := recogniser(situation)) is not None), None)
    if finding is None:
        finding = Finding(f"{found(situation)} stands where {expected(situation.parser)} could", advice(situation))
    situation.parser.diagnostics.append(
        Diagnostic(
            "C101",
            finding.at or situation.span(),
            one_line(finding.message),
            situation.around,
            None if finding.help is None else one_line(finding.help),
            finding.fix,
        )
    )
    situation.parser.handled = max(situation.index, finding.resume or 0, finding.quiet_until)
    return finding.resume


def brace_on_line(s: Situation) -> int | None:
    """The index of the brace that follows in the item, if one does."""
    at = s.index
    while s.kinds[at] not in (BRACE_OPEN, END, END_OF_FILE, BRACE_CLOSE):
        at += 1
    return at if s.kinds[at] == BRACE_OPEN else None


def as_name(text: str) -> str:
    """A text with all that cannot stand in a name made ``_``."""
    return "".join(c if c.isascii() and c.isalnum() else "_" for c in text)


def short(text: str) -> str:
    """A text cut to what a message can hold."""
    return text if len(text) <= 60 else f"{text[:57]}…"
