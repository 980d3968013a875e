"""``campc check``."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from campc.codes import CODES
from campc.collecting import uncollected
from campc.commands.inputs import Input, inputs
from campc.commands.output import written
from campc.diagnostic import Diagnostic
from campc.pipeline import compile_source, is_catalog, worst
from campc.records import define
from campc.render import FORMATS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace

OK, FAULTS, COULD_NOT_RUN = 0, 1, 2


@define
class Options:
    """What the command was asked for."""

    paths: list[str]
    stdin_filename: str | None = None
    format_: str = "text"
    select: list[str] | None = None
    ignore: list[str] | None = None
    strict: bool = False
    fix: bool = False
    diff: bool = False
    color: str = "auto"


def plain_options(given: Sequence[str]) -> Options | None:
    """The options of arguments that need no parser: paths, ``--strict``, ``--format=F``. None for all others.

    Importing and setting up argparse takes a seventh of the time of a small check.
    """
    options = Options([])
    for word in given:
        if not word.startswith("-") or word == "-":
            options.paths.append(word)
        elif word == "--strict":
            options.strict = True
        elif word.startswith("--format=") and word[9:] in FORMATS:
            options.format_ = word[9:]
        else:
            return None
    return options


def check(options: Options | Namespace) -> int:
    """Check files; print what is wrong; 0 no errors, 1 faults, 2 where something could not be read."""
    with uncollected():
        return _check(options)


def _check(options: Options | Namespace) -> int:
    selected, ignored = _codes(options.select), _codes(options.ignore)
    wrong = [code for code in [*selected, *ignored] if not any(known.startswith(code) for known in CODES)]
    if wrong:
        return _refuse(options, f"there is no code {wrong[0]}; `campc explain` lists them")
    diagnostics: list[Diagnostic] = []
    names: list[str] = []
    unreadable = False
    for item in inputs(options.paths, options.stdin_filename):
        names.append(item.name)
        if item.source is None:
            unreadable = True
            diagnostics.extend(item.unread)
            continue
        diagnostics.extend(d for d in _compile(item) if _wanted(d.code, selected, ignored))
    if not names:
        return _refuse(options, f"no .campaign files in {', '.join(options.paths) or 'this folder'}")
    diagnostics = list(dict.fromkeys(diagnostics))
    if options.diff or options.fix:
        from campc.commands.fix import apply_fixes

        diagnostics = apply_fixes(diagnostics, diff=options.diff)
    status = COULD_NOT_RUN if unreadable else worst(diagnostics, strict=options.strict)
    return written(_render(options, diagnostics, names), status)


def _compile(item: Input) -> Sequence[Diagnostic]:
    assert item.source is not None
    compiled = compile_source(item.source)
    if item.searched and is_catalog(compiled.file):
        compiled = compile_source(item.source, catalog=True)
    return compiled.diagnostics


def _codes(given: list[str] | None) -> list[str]:
    return [code.strip().upper() for text in given or () for code in text.split(",") if code.strip()]


def _wanted(code: str, selected: list[str], ignored: list[str]) -> bool:
    return (not selected or code.startswith(tuple(selected))) and not (ignored and code.startswith(tuple(ignored)))


def _refuse(options: Options | Namespace, message: str) -> int:
    if options.format_ == "json":
        from campc.render.json import render_failure

        sys.stdout.write(render_failure(message))
    else:
        sys.stderr.write(f"campc: {message}\n")
    return COULD_NOT_RUN


def _render(options: Options | Namespace, diagnostics: Sequence[Diagnostic], names: Sequence[str]) -> str:
    count = len(names)
    match options.format_:
        case "json":
            from campc.render.json import render_json

            return render_json(diagnostics, count)
        case "sarif":
            from campc.render.sarif import render_sarif

            return render_sarif(diagnostics, count)
        case "github":
            from campc.render.github import render_github

            return render_github(diagnostics, count)
        case "gitlab":
            from campc.render.gitlab import render_gitlab

            return render_gitlab(diagnostics, count)
        case "junit":
            from campc.render.junit import render_junit

            return render_junit(diagnostics, names, strict=options.strict)
    from campc.render.text import Style, render_concise, render_text

    style = Style(colour(options.color))
    return (render_concise if options.format_ == "concise" else render_text)(diagnostics, count, style)


def colour(choice: str) -> bool:
    """Whether to colour: as asked; else on a terminal, unless NO_COLOR is set."""
    if choice != "auto":
        return choice == "always"
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
