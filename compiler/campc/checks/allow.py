"""Warnings that were accepted in place, with a reason."""

from __future__ import annotations

from collections.abc import Iterable

from attrs import frozen

from campc.checks.run import HIDES_THE_REST
from campc.diagnostic import Diagnostic
from campc.schema.spec import Allowance, Spec


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
    partly_unread = any(d.code in HIDES_THE_REST for d in kept)
    for allowance in spec.allowances:
        if allowance in used or partly_unread or _stands_on_a_fault(spec, allowance, kept):
            continue
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


def _stands_on_a_fault(spec: Spec, allowance: Allowance, found: list[Diagnostic]) -> bool:
    """Whether what it speaks of is itself at fault: then the warning may be missing for that reason."""
    source = allowance.at.source
    if any(d.severity == "error" and d.at.source is source and d.at.line in allowance.lines for d in found):
        return True
    return any(
        node.broken and node.head.source is source and node.head.line in allowance.lines for node in spec.blocks()
    )
