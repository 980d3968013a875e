"""The arguments of the commands, and which function each of them is."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NoReturn

import campc
from campc.render import FORMATS

OK, FAULTS, COULD_NOT_RUN = 0, 1, 2


class _Help(argparse.HelpFormatter):
    """Asks for the width of the terminal without shutil, which brings three compressors along."""

    def __init__(self, prog: str) -> None:
        columns = os.environ.get("COLUMNS", "")
        try:
            width = int(columns) if columns.isdigit() else os.get_terminal_size(1).columns
        except OSError:
            width = 0
        super().__init__(prog, width=(width or 80) - 2)


class _Parser(argparse.ArgumentParser):
    """Bad arguments end with exit 2, and as JSON where JSON was asked for."""

    misused = COULD_NOT_RUN

    def __init__(self, **options: Any) -> None:
        super().__init__(formatter_class=_Help, **options)

    def error(self, message: str) -> NoReturn:
        if _wants_json(sys.argv[1:]):
            from campc.render.json import render_failure

            sys.stdout.write(render_failure(message))
        else:
            sys.stderr.write(f"campc: {message}\n{self.format_usage()}")
        raise SystemExit(self.misused)


def parser_for(given: Sequence[str]) -> argparse.ArgumentParser:
    parser = _Parser(prog="campc", description="Compiles a campaign of GPU work into a checked plan.")
    parser.add_argument("--version", action="version", version=f"campc {campc.__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True, prog="campc")
    asked = given[0] if given and given[0] in COMMANDS else None
    for name, (summary, declare) in COMMANDS.items():
        if asked in (None, name):
            declare(commands.add_parser(name, help=summary, description=summary))
    return parser


def parse(given: Sequence[str]) -> argparse.Namespace:
    """The arguments of a command, whose paths may stand on both sides of an option. Ends the process where they are wrong."""
    parser = parser_for(given)
    parsed, rest = parser.parse_known_args(given)
    if rest and (not hasattr(parsed, "paths") or any(word.startswith("-") and word != "-" for word in rest)):
        parser.error(f"unrecognized arguments: {' '.join(rest)}")
    if rest:
        parsed.paths = [*parsed.paths, *rest]
    return parsed


def _declare_check(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "paths", nargs="*", metavar="PATH", help="files and folders; - is standard input (default: this folder)"
    )
    parser.add_argument("--stdin-filename", metavar="NAME", help="the name of what comes from standard input")
    parser.add_argument("--format", choices=FORMATS, default="text", dest="format_", help="how to print what is found")
    parser.add_argument(
        "--select", action="append", metavar="CODE", help="report only these codes (C3 stands for all that begin so)"
    )
    parser.add_argument("--ignore", action="append", metavar="CODE", help="don't report these codes")
    parser.add_argument("--strict", action="store_true", help="exit 1 for warnings, too")
    parser.add_argument("--fix", action="store_true", help="apply the fixes that are certain")
    parser.add_argument("--diff", action="store_true", help="print what --fix would change, and change nothing")
    parser.add_argument(
        "--color",
        choices=("auto", "always", "never"),
        default="auto",
        help="colour (default: on a terminal, unless NO_COLOR is set)",
    )
    parser.set_defaults(run=_check)


def _check(options: argparse.Namespace) -> int:
    from campc.commands.check import check

    return check(options)


def _declare_plan(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE")
    parser.add_argument("--format", choices=("text", "json", "markdown", "csv", "ics"), default="text", dest="format_")
    parser.set_defaults(run=_plan)


def _plan(options: argparse.Namespace) -> int:
    from campc.commands.plan import plan

    return plan(options)


def _declare_build(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE")
    parser.add_argument(
        "-o", "--output", type=Path, metavar="DIR", help="the folder to write (default: build/CAMPAIGN)"
    )
    parser.add_argument("--strict", action="store_true", help="refuse to build with warnings")
    parser.add_argument("--paper", choices=("a4", "letter"), default="a4", help="paper of the PDF")
    parser.add_argument("--no-pdf", action="store_true", help="leave the PDF out")
    parser.set_defaults(run=_build)


def _build(options: argparse.Namespace) -> int:
    from campc.commands.build import build

    return build(options)


def _declare_closeout(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("bundle", type=Path, metavar="BUNDLE")
    parser.add_argument("-o", "--output", type=Path, metavar="DIR", help="where to write (default: into the bundle)")
    parser.add_argument(
        "--reload", action="store_true", help="run the deliverables' reload commands: code of the bundle runs then"
    )
    parser.add_argument(
        "--spec", type=Path, metavar="FILE", help="the spec, to see that it is still the plan that was built"
    )
    parser.add_argument(
        "--timeout", type=float, default=600.0, metavar="SECONDS", help="the most that one reload may take"
    )
    parser.set_defaults(run=_closeout)


def _closeout(options: argparse.Namespace) -> int:
    from campc.commands.closeout import closeout

    return closeout(
        options.bundle, out=options.output, reload=options.reload, spec=options.spec, timeout_s=options.timeout
    )


def _declare_verify(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "package", type=Path, metavar="PACKAGE", help="package/, package.tar.gz, or a bundle that has one"
    )
    parser.add_argument("--digest", metavar="SHA256", help="the manifest's or the archive's digest, as it was noted")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(run=_verify)


def _verify(options: argparse.Namespace) -> int:
    from campc.commands.verify import command

    return command(options)


def _declare_ledger(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("bundle", type=Path, metavar="BUNDLE", help="a bundle, or an unpacked package")
    parser.add_argument("--json", action="store_true", help="print one JSON object a line")
    parser.add_argument("--event", action="append", metavar="EVENT", help="only these events")
    parser.add_argument("--run", metavar="RUN_ID", dest="run_id", help="only this run's")
    parser.set_defaults(run=_ledger)


def _ledger(options: argparse.Namespace) -> int:
    from campc.commands.ledger import command

    return command(options)


def _declare_diff(parser: argparse.ArgumentParser) -> None:
    assert isinstance(parser, _Parser)
    parser.misused = FAULTS  # 2 says that the plans differ
    parser.add_argument("old", type=Path, metavar="OLD", help="a spec, or a bundle")
    parser.add_argument("new", type=Path, metavar="NEW", help="a spec, or a bundle")
    parser.add_argument("--format", choices=("text", "markdown", "json"), default="text", dest="format_")
    parser.add_argument("--label", action="append", metavar="NAME", help="what to call OLD and, given again, NEW")
    parser.add_argument("--max-increase", metavar="MONEY", help="exit 3 where it costs more than this more: 10USD")
    parser.set_defaults(run=_diff)


def _diff(options: argparse.Namespace) -> int:
    from campc.commands.diff import command

    return command(options)


def _declare_explain(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("codes", nargs="*", metavar="CODE", help="one or more codes (default: a list of all)")
    parser.set_defaults(run=_explain)


def _explain(options: argparse.Namespace) -> int:
    from campc.commands.explain import explain

    return explain(options)


def _declare_fmt(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "paths", nargs="*", metavar="PATH", help="files and folders; - is standard input (default: this folder)"
    )
    parser.add_argument("--stdin-filename", metavar="NAME", help="the name of what comes from standard input")
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 where something would change")
    parser.add_argument("--diff", action="store_true", help="write nothing; print what would change")
    parser.set_defaults(run=_fmt)


def _fmt(options: argparse.Namespace) -> int:
    from campc.commands.fmt import fmt

    return fmt(options)


def _declare_new(parser: argparse.ArgumentParser) -> None:
    from campc.new import add_arguments

    add_arguments(parser)
    parser.set_defaults(run=_new)


def _new(options: argparse.Namespace) -> int:
    from campc.new import command

    return command(options)


def _declare_lsp(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--stdio", action="store_true", help="serve on standard input and output (the default)")
    parser.add_argument("--tcp", metavar="HOST:PORT", help="serve on a port, for one client")
    parser.set_defaults(run=_lsp)


def _lsp(options: argparse.Namespace) -> int:
    try:
        from campc.lsp.server import serve
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("pygls", "lsprotocol", "cattrs"):
            raise
        sys.stderr.write("campc: the language server needs pygls: pip install 'campc[lsp]'\n")
        return COULD_NOT_RUN
    if options.tcp is not None and not options.tcp.rpartition(":")[2].isdigit():
        sys.stderr.write(f"campc: --tcp takes HOST:PORT, and {options.tcp} is none\n")
        return COULD_NOT_RUN
    return serve(tcp=options.tcp)


COMMANDS: dict[str, tuple[str, Callable[[argparse.ArgumentParser], None]]] = {
    "check": ("find what would cost days, in a second", _declare_check),
    "plan": ("print the schedule and the account", _declare_plan),
    "build": ("write the bundle that runs on the rented machine", _declare_build),
    "closeout": ("say what came out and what it cost", _declare_closeout),
    "verify": ("verify a package that was brought home, again", _declare_verify),
    "ledger": ("print the record of a campaign", _declare_ledger),
    "diff": ("say what changes from one plan to another", _declare_diff),
    "explain": ("print what a code means", _declare_explain),
    "fmt": ("put specs into the one style", _declare_fmt),
    "lsp": ("serve editors", _declare_lsp),
    "new": ("write a first spec", _declare_new),
}


def _wants_json(given: Sequence[str]) -> bool:
    return "--format=json" in given or "--format json" in " ".join(given)
