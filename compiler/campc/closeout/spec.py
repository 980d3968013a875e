"""The spec that a bundle was built from, compiled again: is its plan still the one that ran?"""

from __future__ import annotations

from pathlib import Path

from campc.closeout.bundle import Refused

__all__ = ["plan_hash_of"]


def plan_hash_of(spec: Path) -> str:
    """The hash of the plan that ``spec`` makes now.

    Raises:
        Refused: it can't be read, or has errors.
    """
    from campc.emit.campaign_json import plan_hash
    from campc.pipeline import Compiled, compile_path

    compiled = compile_path(spec)
    if not isinstance(compiled, Compiled):
        raise Refused(f"{spec}: {compiled[0].message}" if compiled else f"{spec} can't be read")
    if compiled.errors:
        count = len(compiled.errors)
        more = "1 error" if count == 1 else f"{count} errors"
        raise Refused(f"{spec} has {more}, so it has no plan to compare: `campc check {spec}` shows them")
    return plan_hash(compiled.plan)
