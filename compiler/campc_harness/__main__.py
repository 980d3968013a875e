"""The command line of a bundle: `./launch.sh COMMAND`, which is `python -m campc_harness COMMAND`."""

from __future__ import annotations

import argparse
import errno
import sys
from collections.abc import Sequence
from io import TextIOWrapper

_HELP = """\
Runs this lot's windows in the planned order, going on from where an earlier start left. It detaches from the terminal.

  ./launch.sh                        launch, or go on (--foreground: stay attached; Ctrl-C asks, the third forces)
  ./launch.sh preflight              look at everything that can be known before
  ./launch.sh rehearse               the dry run: a few steps of each run, a kill, a resumption, a comparison
  ./launch.sh status [--html]        what ran, runs and waits, and whether it still fits
  ./launch.sh logs [--follow]        what is printed
  ./launch.sh decide GATE continue|reduce|revisit|stop|conclude --because "…"
  ./launch.sh record expense|window|decision|note …
  ./launch.sh skip WINDOW --because "…"
  ./launch.sh stop                   save a checkpoint, pack, end; a later launch goes on
  ./launch.sh pack                   pack the results and copy them home
  ./launch.sh ledger [--json]        the record
  ./launch.sh exec -- CMD …          run a script that can't be changed

  ./launch.sh export STEP OUT.safetensors   the weights of a checkpoint, for others

--lot NAME says which lot this machine is, where the plan has several; --cpu runs where there is no GPU; --keep-machine never shuts it
down; --anyway launches in spite of the preflight. Each command has its own --help.
"""


def parser() -> argparse.ArgumentParser:
    """The parser of all commands."""
    shared = argparse.ArgumentParser(add_help=False)
    shared.add_argument("--lot", help="which lot this machine is, where the plan has several")
    shared.add_argument("--cpu", action="store_true", help="run on CPUs, where there is no GPU")
    top = argparse.ArgumentParser(
        prog="./launch.sh",
        description=_HELP,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        usage="./launch.sh [COMMAND] …",
    )
    commands = top.add_subparsers(dest="command", metavar="COMMAND", required=True)

    def command(name: str, text: str) -> argparse.ArgumentParser:
        return commands.add_parser(name, help=text, description=text, parents=[shared])

    run = command("run", "launch the lot, or go on with it (the default)")
    run.add_argument("--foreground", action="store_true", help="stay attached to this terminal until the end")
    run.add_argument("--keep-machine", action="store_true", help="never shut the machine down")
    run.add_argument("--launcher", choices=("own", "torchrun"), default="own", help="what starts the ranks")
    run.add_argument("--fresh", action="store_true", help="don't go on from a record that lies beside the checkpoints")
    run.add_argument("--anyway", action="store_true", help="launch although the preflight found errors")
    command("preflight", "look at everything that can be known before the first paid hour")
    command("rehearse", "the dry run of every run, with measured sizes and times")
    shown = command("status", "what ran, runs and waits, and a projection")
    shown.add_argument("--html", action="store_true", help="as one page with curves, state/LOT/status.html")
    logs = command("logs", "what the launcher and the windows print")
    logs.add_argument("window", nargs="?", help="of one window only")
    logs.add_argument("--follow", "-f", action="store_true", help="go on showing it; Ctrl-C ends only this view")
    decide = command("decide", "decide a gate")
    decide.add_argument("gate")
    decide.add_argument("result", choices=("continue", "reduce", "revisit", "stop", "conclude"))
    decide.add_argument("--because", required=True)
    skip = command("skip", "give up a window")
    skip.add_argument("window")
    skip.add_argument("--because", required=True)
    stop = command("stop", "save, pack, end; a later launch goes on")
    stop.add_argument("--because")
    pack = command("pack", "pack the results and copy them home")
    pack.add_argument("--to", help="to this folder or URL instead")
    ledger = command("ledger", "the record as a table")
    ledger.add_argument("--json", action="store_true", help="as JSON lines")
    wrap = command("exec", "exec [--checkpoints FOLDER] -- CMD …: run a script that can't be changed")
    wrap.add_argument("--checkpoints", help="folder in which the command's own checkpoints appear")
    wrap.add_argument("argv", nargs=argparse.REMAINDER, metavar="-- CMD …")
    _record(command("record", "write down what the harness cannot see"))
    launch = commands.add_parser("_launch", parents=[shared])
    launch.add_argument("--keep-machine", action="store_true")
    launch.add_argument("--restart", action="store_true")
    commands.add_parser("_mirror", parents=[shared])
    commands.add_parser("_cleanup", parents=[shared])
    rank = commands.add_parser("_rank", parents=[shared])
    rank.add_argument("argv", nargs=argparse.REMAINDER)
    do = commands.add_parser("_do", parents=[shared])
    do.add_argument("window")
    return top


def _record(record: argparse.ArgumentParser) -> None:
    kinds = record.add_subparsers(dest="what", metavar="WHAT", required=True)
    expense = kinds.add_parser("expense", help="expense NAME 3.50 USD --covers TEXT")
    expense.add_argument("name")
    expense.add_argument("amount")
    expense.add_argument("currency")
    expense.add_argument("--covers", default="")
    expense.add_argument("--estimate", action="store_true")
    window = kinds.add_parser("window", help="window NAME [--started TIME] [--ended TIME]: done by people")
    window.add_argument("name")
    window.add_argument("--started")
    window.add_argument("--ended")
    window.add_argument("--because")
    for name in ("decision", "note"):
        kinds.add_parser(name, help=f"{name} TEXT").add_argument("text")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; the exit code. Faults of the user are told in one line."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):  # whatever the locale: messages hold more than Latin letters
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    given = list(sys.argv[1:] if arguments is None else arguments)
    if given and given[0] == "export":  # needs no bundle, but torch
        from campc_harness import export

        return export.main(given[1:])
    if not given or (given[0].startswith("-") and given[0] not in ("-h", "--help")):
        given.insert(0, "run")
    parsed = parser().parse_args(given)
    from campc_harness.commands import COMMANDS
    from campc_harness.keeper import Busy
    from campc_harness.plan import PlanError

    try:
        return COMMANDS[parsed.command](parsed)
    except PlanError as error:
        print(f"launch.sh: {error}", file=sys.stderr)
        return 78
    except Busy as error:
        print(f"launch.sh: {error}", file=sys.stderr)
        return 1
    except BrokenPipeError:
        sys.stderr.close()
        return 1
    except KeyboardInterrupt:
        return 130
    except OSError as error:
        if parsed.command.startswith("_") or error.errno not in _WRITES:
            raise
        # While something is written to a handle, the system doesn't say where it lies.
        place = f" {error.filename}" if error.filename else ""
        print(f"launch.sh: can't write{place} ({error.strerror}): {_WRITES[error.errno]}", file=sys.stderr)
        return 78


_ELSEWHERE = "the bundle must lie where it can be written to; copy it to such a folder, or mend its permissions"
_ROOM = "free some room first: the record, the results and what is packed of them need it"
_WRITES = {
    errno.EROFS: _ELSEWHERE,
    errno.EACCES: _ELSEWHERE,
    errno.EPERM: _ELSEWHERE,
    errno.ENOSPC: _ROOM,
    errno.EDQUOT: _ROOM,
}


if __name__ == "__main__":
    sys.exit(main())
