"""Code actions: every certain fix, singly or all at once, allowing a warning in place, dropping a window to a lower tier."""

from __future__ import annotations

from collections.abc import Iterator

from lsprotocol import types as lsp

from campc.commands.fix import chosen
from campc.diagnostic import Diagnostic
from campc.lsp.convert import Converter
from campc.lsp.documents import uri_of
from campc.lsp.moving import Taken, taken
from campc.pipeline import Compiled
from campc.schema import TIERS
from campc.source import Span

FIX_ALL = f"{lsp.CodeActionKind.SourceFixAll.value}.campc"
_SCHEDULE = ("C302", "C307", "C308")
_SYNTAX = ("C101", "C102", "C103")


def actions(compiled: Compiled, uri: str, wanted: lsp.Range, convert: Converter) -> Iterator[lsp.CodeAction]:
    """The actions for what is reported within a range, or is placed there."""
    for diagnostic in compiled.diagnostics:
        if diagnostic.at.source != compiled.source or not _touch(convert.range(diagnostic.at), wanted):
            continue
        shown = [as_diagnostic(diagnostic, convert)]
        if diagnostic.fix is not None:
            changes: dict[str, list[lsp.TextEdit]] = {}
            for edit in diagnostic.fix.edits:
                changes.setdefault(_uri(edit.at, compiled, uri), []).append(
                    lsp.TextEdit(convert.range(edit.at), edit.text)
                )
            yield lsp.CodeAction(
                _capital(diagnostic.fix.message),
                lsp.CodeActionKind.QuickFix,
                shown,
                is_preferred=True,
                edit=lsp.WorkspaceEdit(changes),
            )
        if diagnostic.severity == "warning" and diagnostic.code != "C214":
            yield _allow(diagnostic, uri, shown, convert)
        if diagnostic.code in _SCHEDULE:
            yield from _drops(compiled, diagnostic, uri, shown, convert)
    yield from _lower(compiled, uri, wanted, convert)
    yield from _fix_all(compiled, uri, convert)


def of_kind(kind: str, wanted: str) -> bool:
    """Whether a kind of action is one that was asked for, or lies below it: ``source.fixAll.campc`` below ``source``."""
    return not wanted or (kind + ".").startswith(wanted + ".")


def as_diagnostic(diagnostic: Diagnostic, convert: Converter) -> lsp.Diagnostic:
    """A diagnostic as the protocol has it; the help stands below the message."""
    text = diagnostic.message if not diagnostic.help else f"{diagnostic.message}\nhelp: {diagnostic.help}"
    related = [
        lsp.DiagnosticRelatedInformation(lsp.Location(_path_uri(note.at), convert.range(note.at)), note.message)
        for note in diagnostic.related
        if note.at.source.path is not None
    ]
    unused = diagnostic.code == "C212"
    return lsp.Diagnostic(
        convert.range(diagnostic.at),
        text,
        severity=lsp.DiagnosticSeverity.Error if diagnostic.severity == "error" else lsp.DiagnosticSeverity.Warning,
        code=diagnostic.code,
        source="campc",
        tags=[lsp.DiagnosticTag.Unnecessary] if unused else None,
        related_information=related or None,
    )


def _fix_all(compiled: Compiled, uri: str, convert: Converter) -> Iterator[lsp.CodeAction]:
    """Every certain fix of the file at once, wherever the cursor is; fixes that reach into other files are left to be made singly."""
    here = [
        d
        for d in compiled.diagnostics
        if d.fix is not None and all(s == compiled.source for s in (d.at.source, *(e.at.source for e in d.fix.edits)))
    ]
    edits, fixed = chosen(here)
    if fixed:
        yield lsp.CodeAction(
            f"Make every certain fix of this file ({len(fixed)})",
            FIX_ALL,
            [as_diagnostic(d, convert) for d in here if d in fixed],
            edit=lsp.WorkspaceEdit({uri: [lsp.TextEdit(convert.range(e.at), e.text) for e in edits[compiled.source]]}),
        )


def _path_uri(span: Span) -> str:
    assert span.source.path is not None
    return uri_of(span.source.path)


def _uri(span: Span, compiled: Compiled, uri: str) -> str:
    return uri if span.source == compiled.source else _path_uri(span)


def _touch(one: lsp.Range, other: lsp.Range) -> bool:
    return one.start.line <= other.end.line and other.start.line <= one.end.line


def _allow(diagnostic: Diagnostic, uri: str, shown: list[lsp.Diagnostic], convert: Converter) -> lsp.CodeAction:
    source = diagnostic.at.source
    line = source.line(diagnostic.at.line)
    indent = line[: len(line) - len(line.lstrip())]
    start = source.line_start(diagnostic.at.line)
    start += source.text[start : start + 1] == "\ufeff"
    text = f"{indent}# campc: allow {diagnostic.code} because REASON\n"
    edit = lsp.TextEdit(convert.range(source.span(start, start)), text)
    return lsp.CodeAction(
        f"Allow {diagnostic.code} here, with a reason",
        lsp.CodeActionKind.QuickFix,
        shown,
        edit=lsp.WorkspaceEdit({uri: [edit]}),
    )


def _drops(
    compiled: Compiled, diagnostic: Diagnostic, uri: str, shown: list[lsp.Diagnostic], convert: Converter
) -> Iterator[lsp.CodeAction]:
    """For a lot that does not fit: put the windows that would have to go into the lowest tier, where a gate can drop them."""
    from campc.checks.rules.fit import smallest_drop

    for account in compiled.plan.accounts.values():
        if (
            account.overrun
            and account.usable_end is not None
            and compiled.plan.spec.lots[account.lot].head.line == diagnostic.at.line
        ):
            for name in smallest_drop(compiled.plan, account):
                yield from _move(compiled, name, "exploratory", uri, shown, convert)


def _lower(compiled: Compiled, uri: str, wanted: lsp.Range, convert: Converter) -> Iterator[lsp.CodeAction]:
    for window in compiled.plan.spec.windows.values():
        if (
            window.at.source == compiled.source
            and _touch(convert.range(window.at), wanted)
            and wanted.start.line == window.at.line - 1
        ):
            place = TIERS.index(window.tier)
            if place + 1 < len(TIERS):
                yield from _move(compiled, window.name, TIERS[place + 1], uri, None, convert)


def _move(
    compiled: Compiled, name: str, tier: str, uri: str, shown: list[lsp.Diagnostic] | None, convert: Converter
) -> Iterator[lsp.CodeAction]:
    """Moving a window behind the others of a tier; none in a text with faults of syntax, where it may not end where it seems to."""
    spec = compiled.plan.spec
    window = spec.windows.get(name)
    if window is None or window.tier == tier or window.at.source != compiled.source:
        return
    if any(d.code in _SYNTAX and d.at.source == compiled.source for d in compiled.diagnostics):
        return
    goal = spec.tiers.get(tier)
    moved = taken(window.at, compiled.file.comments)
    edits = [
        lsp.TextEdit(convert.range(moved.place), ""),
        _put(moved, goal.at if goal is not None else None, tier, convert),
    ]
    yield lsp.CodeAction(
        f"Move {name} to tier {tier}", lsp.CodeActionKind.RefactorRewrite, shown, edit=lsp.WorkspaceEdit({uri: edits})
    )


def _put(moved: Taken, goal: Span | None, tier: str, convert: Converter) -> lsp.TextEdit:
    """The edit that writes an item before the closing brace of a block, or into a new block at the end of the text."""
    source = moved.place.source
    if goal is None:
        end = source.span(len(source.text), len(source.text))
        gap = "" if source.text.endswith("\n") else "\n"
        return lsp.TextEdit(convert.range(end), f"{gap}\ntier {tier} {{\n{moved.lines}\n}}\n")
    brace = source.span(goal.end - 1, goal.end - 1)
    before = source.text[goal.start : brace.start]
    if brace.line == goal.line and moved.item is not None:
        between = "" if before.rstrip().endswith(("{", ";")) else ";"
        gap = "" if before[-1:].isspace() and not between else " "
        return lsp.TextEdit(convert.range(brace), f"{between}{gap}{moved.item} ")
    begun = source.line_start(brace.line)
    if brace.line > goal.line and not source.text[begun : brace.start].strip():
        return lsp.TextEdit(convert.range(source.span(begun, begun)), f"{moved.lines}\n")
    return lsp.TextEdit(convert.range(brace), f"\n{moved.lines}\n")


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
