"""The command line: it runs a command, prints what went wrong, and chooses the exit code."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from campc.collecting import uncollected
from campc.commands.output import give_up, patient

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

OK, FAULTS, COULD_NOT_RUN = 0, 1, 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; its exit status."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    _open_streams()
    try:
        status = _run(given)
        sys.stdout.flush()
        return status
    except BrokenPipeError:
        # The reader of our output has gone: that is its choice, not a fault.
        give_up(sys.stdout)
        return OK
    except KeyboardInterrupt:
        _say("interrupted\n")
        return 130
    except OSError as error:
        if os.environ.get("CAMPC_TRACEBACK"):
            raise
        if error.filename is None:
            give_up(sys.stdout)
        what = f"{error.filename}" if error.filename is not None else "the output could not be written"
        _say(f"campc: {what}: {error.strerror or error}\n")
        return COULD_NOT_RUN
    except Exception as error:
        if os.environ.get("CAMPC_TRACEBACK"):
            raise
        what = f"{type(error).__name__}: {error}"
        where = " ".join(given)
        _say(
            f"campc: this is a fault of campc itself, with `campc {where}`: {what}\nset CAMPC_TRACEBACK=1 and run it again to see where\n"
        )
        return COULD_NOT_RUN


def _open_streams() -> None:
    """Have all that is written be UTF-8, whatever the locale, and come out whole: tools read it, and messages hold more than Latin letters."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:  # closed by who started us
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))
        else:
            setattr(sys, name, patient(stream))
    if sys.stdin is None:
        sys.stdin = open(os.devnull, encoding="utf-8")  # closed, too: then it holds nothing


def _say(text: str) -> None:
    """Say what went wrong; where even that can't be written, the exit status says it alone."""
    try:
        sys.stderr.write(text)
        sys.stderr.flush()
    except OSError:
        give_up(sys.stderr)


def _run(given: list[str]) -> int:
    if given[:1] == ["check"]:
        with uncollected():  # importing makes as many small objects that stay as compiling does
            from campc.commands.check import check, plain_options

            options = plain_options(given[1:])
            if options is not None:
                return check(options)
    from campc.arguments import parse

    parsed = parse(given)
    status: int = parsed.run(parsed)
    return status


def run() -> NoReturn:
    """The entry point of the command."""
    status = main()
    if sys.argv[1:2] == ["check"]:
        # All is written, and nothing waits for the end: taking the interpreter apart takes as long as the check.
        _say("")
        os._exit(status)
    raise SystemExit(status)


if __name__ == "__main__":
    run()
