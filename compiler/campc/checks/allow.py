"""Warnings that were accepted in place, with a reason."""

from __future__ import annotations

from collections.abc import Iterable

from campc.checks.run import HIDES_THE_REST
from campc.diagnostic import Diagnostic
from campc.records import frozen
from campc.schema.spec import Allowance, Spec
from campc.source import Source


@frozen
class Allowed:
    """A warning and the allowance that accepts it."""

    diagnostic: Diagnostic
    allowance: Allowance


def apply_allowances(spec: Spec, diagnostics: Iterable[Diagnostic]) -> tuple[list[Diagnostic], list[Allowed]]:
    """Take out the warnings that are allowed where they stand; an allowance that allows nothing is reported as C214."""
    kept: list[Diagnostic] = []
    allowed: list[Allowed] = []
    by_place = {(a.at.source.name, a.code, line): a for a in spec.allowances for line in a.lines}
    used: set[Allowance] = set()
    for diagnostic in diagnostics:
        allowance = by_place.get((diagnostic.at.source.name, diagnostic.code, diagnostic.at.line))
        if allowance is None or diagnostic.severity == "error":
            kept.append(diagnostic)
        else:
            used.add(allowance)
            allowed.append(Allowed(diagnostic, allowance))
    faulty = _faulty_lines(spec, kept) if spec.allowances else set()
    partly_unread = any(d.code in HIDES_THE_REST for d in kept)
    partly_placed = any(node.broken for node in (*spec.windows.values(), *spec.lots.values()))
    for allowance in spec.allowances:
        if allowance in used or partly_unread or any((allowance.at.source, line) in faulty for line in allowance.lines):
            continue
        if partly_placed and allowance.code.startswith(("C3", "C4")):
            continue
        if allowance.code == "C608" and allowance.at.source.file is None:
            continue  # whether its files are there can't be said of a text that is in no folder
        if allowance.at.source is spec.source:
            kept.append(
                Diagnostic(
                    "C214",
                    allowance.at,
                    f"this allows {allowance.code}, and no {allowance.code} is found there",
                    help=f"take it away; or, where {allowance.code} is still reported, move it to the line before that one",
                )
            )
    return kept, allowed


def _faulty_lines(spec: Spec, found: list[Diagnostic]) -> set[tuple[Source, int]]:
    """Lines that are themselves at fault: a warning may be missing there for that reason."""
    lines = {(d.at.source, d.at.line) for d in found if d.severity == "error"}
    lines.update((node.head.source, node.head.line) for node in spec.blocks() if node.broken)
    return lines
