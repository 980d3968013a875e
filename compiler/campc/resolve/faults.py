"""Collecting what is wrong while going on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar

from campc.diagnostic import Diagnostic, Edit, Fix, Note
from campc.records import field, frozen
from campc.source import Span
from campc.values.suggest import closest


@frozen
class Faults:
    """The diagnostics of one resolution, in the order in which they were met."""

    found: list[Diagnostic] = field(factory=list)

    def report(
        self,
        code: str,
        at: Span,
        message: str,
        *,
        help: str | None = None,
        related: Sequence[Note] = (),
        fix: Fix | None = None,
        line_of: Span | None = None,
    ) -> None:
        """Add one. ``line_of`` is the item that the fault belongs to: where ``at`` stands on a later line than it, the item's first line is the
        primary place and ``at`` becomes a second one."""
        notes = tuple(related)
        if line_of is not None and line_of.source == at.source and at.line != line_of.line:
            notes = (Note(at, "here"), *notes)
            at = line_of.first_line
        self.found.append(Diagnostic(code, at, message, notes, help, fix))


@frozen
class Unclear:
    """What may have been declared by blocks that were reported themselves: names of blocks of an unknown kind, and kinds of blocks without a name."""

    names: set[str] = field(factory=set)
    kinds: set[str] = field(factory=set)

    def may_declare(self, kind: str, name: str) -> bool:
        """Whether one of them may be the thing of this kind and name."""
        return name in self.names or kind in self.kinds


class Fault(Exception):
    """A fault met inside an expression; the attribute that holds it reports it. ``code`` None: it was reported before."""

    def __init__(
        self, code: str | None, at: Span, message: str = "", help: str | None = None, fix: Fix | None = None
    ) -> None:
        super().__init__(message)
        self.code = code
        self.at = at
        self.message = message
        self.help = help
        self.fix = fix


def replace(at: Span, text: str, message: str | None = None) -> Fix:
    """A fix that writes something else at a place."""
    return Fix(message or f"write {text}", (Edit(at, text),))


MOST_COMPARED = 20_000
"""Looking for the nearest word takes time; a file with more unknown words than this has another trouble than spelling."""
_guesses: ContextVar[list[int]] = ContextVar("guesses")


@contextmanager
def limited_guesses() -> Iterator[None]:
    """Within this, no more than ``MOST_COMPARED`` pairs of words are compared."""
    token = _guesses.set([MOST_COMPARED])
    try:
        yield
    finally:
        _guesses.reset(token)


def did_you_mean(word: str, candidates: Iterable[str], at: Span) -> tuple[str | None, Fix | None]:
    """Help and fix for a misspelt word: the closest candidate; else the candidates, where they are few; else nothing."""
    left = _guesses.get(None)
    if left is not None and left[0] < 0:
        return None, None
    known = sorted(set(candidates))
    if left is not None:
        left[0] -= len(known)
    guess = closest(word, known)
    if guess is not None:
        return f"did you mean {guess}?", replace(at, guess)
    if 0 < len(known) <= 14:
        return f"known here: {', '.join(known)}", None
    return None, None
