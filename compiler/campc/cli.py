"""The command line: it runs a command, prints what went wrong, and chooses the exit code."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from campc.collecting import uncollected

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

OK, FAULTS, COULD_NOT_RUN = 0, 1, 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; its exit status."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by who started us
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))
    try:
        status = _run(given)
        sys.stdout.flush()
        return status
    except BrokenPipeError:
        # The reader of our output has gone: that is its choice, not a fault.
        _give_output_up()
        return OK
    except KeyboardInterrupt:
        sys.stderr.write("interrupted\n")
        return 130
    except OSError as error:
        if os.environ.get("CAMPC_TRACEBACK"):
            raise
        if error.filename is None:
            _give_output_up()
        what = f"{error.filename}" if error.filename is not None else "the output could not be written"
        sys.stderr.write(f"campc: {what}: {error.strerror or error}\n")
        return COULD_NOT_RUN
    except Exception as error:
        if os.environ.get("CAMPC_TRACEBACK"):
            raise
        what = f"{type(error).__name__}: {error}"
        where = " ".join(given)
        sys.stderr.write(
            f"campc: this is a fault of campc itself, with `campc {where}`: {what}\nset CAMPC_TRACEBACK=1 and run it again to see where\n"
        )
        return COULD_NOT_RUN


def _give_output_up() -> None:
    """What is still to be written goes nowhere, so that ending doesn't fail again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _run(given: list[str]) -> int:
    if given[:1] == ["check"]:
        with uncollected():  # importing makes as many small objects that stay as compiling does
            from campc.commands.check import check, plain_options

            options = plain_options(given[1:])
            if options is not None:
                return check(options)
    from campc.arguments import parser_for

    parsed = parser_for(given).parse_args(given)
    status: int = parsed.run(parsed)
    return status


def run() -> NoReturn:
    """The entry point of the command."""
    status = main()
    if sys.argv[1:2] == ["check"]:
        # All is written, and nothing waits for the end: taking the interpreter apart takes as long as the check.
        sys.stderr.flush()
        os._exit(status)
    raise SystemExit(status)


if __name__ == "__main__":
    run()
