"""Warnings that were accepted in place, with a reason."""

from __future__ import annotations

from collections.abc import Iterable

from attrs import frozen

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
    for allowance in spec.allowances:
        if allowance not in used and allowance.at.source is spec.source:
            kept.append(
                Diagnostic(
                    "C214",
                    allowance.at,
                    f"this allows {allowance.code}, and nothing there is warned of with that code",
                    help="take it away",
                )
            )
    return kept, allowed
