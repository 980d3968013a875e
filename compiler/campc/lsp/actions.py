"""Code actions: every certain fix, singly or all at once, allowing a warning in place, dropping a window to a lower tier."""

from __future__ import annotations

from collections.abc import Iterator

from lsprotocol import types as lsp

from campc.commands.fix import chosen
from campc.diagnostic import Diagnostic
from campc.lsp.convert import Converter
from campc.lsp.documents import uri_of
from campc.pipeline import Compiled
from campc.schema import TIERS
from campc.source import Span

FIX_ALL = f"{lsp.CodeActionKind.SourceFixAll.value}.campc"
_SCHEDULE = ("C302", "C307", "C308")


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
        if diagnostic.severity == "warning":
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
    spec = compiled.plan.spec
    window = spec.windows.get(name)
    if window is None or window.tier == tier or window.at.source != compiled.source:
        return
    source = window.at.source
    start, end = source.line_start(window.at.line), window.at.end
    alone = not source.text[start : window.at.start].strip()
    rest = source.text[end : end + 1]
    taken = source.span(start if alone else window.at.start, end + (rest == "\n" and alone))
    goal = spec.tiers.get(tier)
    edits = [lsp.TextEdit(convert.range(taken), "")]
    if goal is not None and goal.at.text.endswith("}"):
        place = goal.at.end - 1
        one_line = goal.at.line == goal.at.end_line
        before = source.text[goal.at.start : place].rstrip().endswith("{")
        text = (
            f" {window.at.text} "
            if one_line and before
            else f"; {window.at.text} "
            if one_line
            else f"  {window.at.text}\n"
        )
        edits.append(lsp.TextEdit(convert.range(source.span(place, place)), text))
    else:
        size = len(source.text)
        gap = "" if source.text.endswith("\n") else "\n"
        edits.append(
            lsp.TextEdit(convert.range(source.span(size, size)), f"{gap}\ntier {tier} {{\n  {window.at.text}\n}}\n")
        )
    yield lsp.CodeAction(
        f"Move {name} to tier {tier}", lsp.CodeActionKind.RefactorRewrite, shown, edit=lsp.WorkspaceEdit({uri: edits})
    )


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
