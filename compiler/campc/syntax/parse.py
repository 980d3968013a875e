"""Text into a tree, and all that is wrong with its syntax. It never raises, whatever the text."""

from __future__ import annotations

from campc.collecting import uncollected
from campc.diagnostic import Diagnostic
from campc.source import Source
from campc.syntax.brackets import pair
from campc.syntax.lexer import MOST_FAULTS, tokenize
from campc.syntax.tree import File

__all__ = ["MOST_FAULTS", "parse"]


def parse(source: Source) -> tuple[File, tuple[Diagnostic, ...]]:
    """The tree of a source, and its faults (C101 to C103) in the order of their places.

    What could not be read is left out, or stands in the tree as ``Broken`` under its name.
    """
    with uncollected():
        return _parse(source)


def _parse(source: Source) -> tuple[File, tuple[Diagnostic, ...]]:
    from campc.syntax.parser import Parser

    tokens, faults = tokenize(source)
    paired = pair(tokens)
    if paired is None:
        from campc.syntax.mend import mend

        tokens, unpaired = mend(tokens)
        faults += unpaired
        paired = pair(tokens)
        if paired is None:
            return File(source, (), tuple(tokens.comments)), tuple(faults[:MOST_FAULTS])
    parser = Parser(paired)
    items = parser.run()
    faults += parser.diagnostics
    faults += parser.build.diagnostics
    return File(source, items, tuple(tokens.comments)), tuple(in_order(faults)[:MOST_FAULTS])


def in_order(faults: list[Diagnostic]) -> list[Diagnostic]:
    """Faults in the order of their places, without those that only follow from others."""
    return sorted(_without_echoes(faults), key=lambda fault: fault.order) if faults else []


def _without_echoes(faults: list[Diagnostic]) -> list[Diagnostic]:
    """Leaves out what stands before an odd quote on its line: where it is the last of them, an earlier one was forgotten."""
    quotes = {fault.at.line: fault.at.start for fault in faults if fault.code == "C102" and fault.at.text == '"'}
    if not quotes:
        return faults
    return [fault for fault in faults if fault.code != "C101" or fault.at.start >= quotes.get(fault.at.line, 0)]
