"""Compiling a text in a test: without a disk, or in a folder."""

from collections.abc import Callable, Mapping
from pathlib import Path

from attrs import evolve, frozen

from campc.checks.allow import Allowed, apply_allowances
from campc.checks.run import check_plan
from campc.diagnostic import Diagnostic
from campc.resolve.resolve import resolve
from campc.schedule.make import make_plan
from campc.schedule.plan import Plan
from campc.source import Source
from campc.syntax.parse import parse
from campc.syntax.tree import File


@frozen
class Compiled:
    plan: Plan
    diagnostics: tuple[Diagnostic, ...]
    allowed: tuple[Allowed, ...]


def compile_text(
    text: str,
    *,
    name: str = "test.campaign",
    used: Mapping[str, str] | None = None,
    exists: Callable[[Source, str], bool] | None = None,
) -> Compiled:
    """A text compiled in memory; ``used`` are the files beside it."""

    def load(path: Path, shown: str) -> tuple[File | None, tuple[Diagnostic, ...]]:
        content = (used or {}).get(path.as_posix())
        if content is None:
            nothing = Source(shown, "")
            return None, (Diagnostic("C104", nothing.span(0, 0), f"{shown} does not exist"),)
        return parse(Source(shown, content, path))

    file, syntax = parse(Source(name, text))
    resolved = resolve(file, load)
    plan = evolve(make_plan(resolved.spec), exists=exists)
    before = (*syntax, *resolved.diagnostics)
    kept, allowed = apply_allowances(resolved.spec, [*before, *check_plan(plan, before)])
    return Compiled(plan, tuple(sorted(kept, key=lambda d: d.order)), tuple(allowed))
