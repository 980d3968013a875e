"""The whole compiler on one screen: text → tree → spec → plan → diagnostics. The command line and the language server both call it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from functools import partial

from campc.checks.allow import Allowed, apply_allowances
from campc.checks.run import check_plan
from campc.checks.there import is_there
from campc.collecting import uncollected
from campc.diagnostic import Diagnostic
from campc.records import evolve, frozen
from campc.resolve.resolve import resolve
from campc.schedule.make import make_plan
from campc.schedule.plan import Plan
from campc.source import Source
from campc.syntax.parse import parse
from campc.syntax.read import read as read_source
from campc.syntax.tree import File

TYPE_CHECKING = False
if TYPE_CHECKING:
    from campc.memory import Memory

Read = Callable[[str | os.PathLike[str], str], tuple[Source, tuple[Diagnostic, ...]]]
"""Reads the file at a path under a name to show, or says why it can't; an editor answers with its unsaved text."""

Parse = Callable[[Source], tuple[File, tuple[Diagnostic, ...]]]
"""The tree of a text, and its faults."""

Exists = Callable[[Source, str], bool]
"""Tells whether a path or glob that a file names is there."""


@frozen
class Compiled:
    """A plan, what is wrong with it, and which warnings were allowed."""

    file: File
    plan: Plan
    diagnostics: tuple[Diagnostic, ...]
    allowed: tuple[Allowed, ...]

    @property
    def source(self) -> Source:
        """The root file's text."""
        return self.file.source

    @property
    def errors(self) -> tuple[Diagnostic, ...]:
        """What stops a build."""
        return tuple(d for d in self.diagnostics if d.severity == "error")


def compile_source(
    source: Source,
    *,
    read: Read = read_source,
    exists: Exists | None = is_there,
    catalog: bool = False,
    memory: Memory | None = None,
) -> Compiled:
    """Compile a text. ``catalog``: it may be a file that others use, and needs no campaign. ``memory``: of how it was compiled before; the
    result is the same without."""
    with uncollected():
        return _compile(source, read, exists, catalog, memory)


def _compile(source: Source, read: Read, exists: Exists | None, catalog: bool, memory: Memory | None) -> Compiled:
    parsed = memory.texts.parse if memory is not None else parse
    file, syntax = parsed(source)
    load = partial(_load, read, parsed)
    resolved = resolve(file, load, catalog=catalog, memory=memory.resolved if memory is not None else None)
    recall = memory.recall if memory is not None else None
    if recall is not None:
        recall.begin()
    plan = evolve(make_plan(resolved.spec, recall), exists=exists)
    unread = [*syntax, *_not_misquoted(syntax, resolved.diagnostics)]
    kept, allowed = apply_allowances(resolved.spec, [*unread, *check_plan(plan, unread, recall)])
    once = {(d.order, d.message): d for d in reversed(kept)}
    return Compiled(file, plan, tuple(sorted(once.values(), key=lambda d: d.order)), tuple(allowed))


def _not_misquoted(syntax: Iterable[Diagnostic], found: Iterable[Diagnostic]) -> list[Diagnostic]:
    """What was found, without what stands behind the first quote of a line whose quotes don't pair: what is text there isn't known."""
    odd = {(d.at.source, d.at.line) for d in syntax if d.code == "C102" and d.at.text == '"'}
    kept = []
    for fault in found:
        line = fault.at.source.line(fault.at.line) if (fault.at.source, fault.at.line) in odd else ""
        if '"' not in line[: fault.at.column - 1]:
            kept.append(fault)
    return kept


def compile_path(
    path: str | os.PathLike[str], name: str | None = None, *, read: Read = read_source, catalog: bool = False
) -> Compiled | tuple[Diagnostic, ...]:
    """Compile a file; only its diagnostics where it can't be read at all."""
    source, unread = read(path, name if name is not None else str(path))
    return unread or compile_source(source, read=read, catalog=catalog)


def _load(read: Read, parsed: Parse, path: str, name: str) -> tuple[File | None, tuple[Diagnostic, ...]]:
    source, unread = read(path, name)
    return (None, unread) if unread else parsed(source)


def is_catalog(file: File) -> bool:
    """Whether a file holds only what may be used by others, and something of it."""
    from campc.resolve.gather import MAY_BE_USED
    from campc.syntax.tree import Block, Let, Use

    items = file.items
    return bool(items) and all(
        isinstance(i, (Use, Let)) or (isinstance(i, Block) and i.kind in MAY_BE_USED) for i in items
    )


def worst(diagnostics: Iterable[Diagnostic], *, strict: bool = False) -> int:
    """The exit status for some diagnostics: 1 where there are errors (``strict``: or warnings), else 0."""
    return int(any(strict or d.severity == "error" for d in diagnostics))
