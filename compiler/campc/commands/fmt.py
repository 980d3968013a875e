"""``campc fmt``."""

from __future__ import annotations

import sys
from argparse import Namespace

from campc.commands.fix import replace_text, unified
from campc.commands.inputs import inputs
from campc.diagnostic import Diagnostic
from campc.render.text import render_text
from campc.syntax.format import format as formatted
from campc.syntax.parse import parse

OK, FAULTS, COULD_NOT_RUN = 0, 1, 2


def fmt(options: Namespace) -> int:
    """Put files into the one style; standard input to standard output.

    With ``--check`` or ``--diff`` nothing is written, and 1 means that something would change. Files with faults of syntax are left as they are,
    which is told: 1. 2 where a file could not be read or written.
    """
    faults: list[Diagnostic] = []
    status, changed, count = OK, 0, 0
    look = options.check or options.diff
    for item in inputs(options.paths, options.stdin_filename):
        count += 1
        if item.source is None:
            faults.extend(item.unread)
            status = COULD_NOT_RUN
            continue
        _, wrong = parse(item.source)
        faults.extend(wrong)
        text = item.source.text if wrong else formatted(item.source)
        from_stdin = item.path is None or item.name == options.stdin_filename
        differs = text != item.source.text
        changed += differs
        if options.diff:
            sys.stdout.write(unified(item.name, item.source.text, text))
        elif options.check:
            sys.stdout.write(f"would change {item.name}\n" if differs else "")
        elif from_stdin:
            sys.stdout.write(text)
        elif differs and item.path is not None:
            try:
                replace_text(item.path, text)
            except OSError as error:
                sys.stderr.write(f"campc: {item.name} can't be written: {error.strerror}\n")
                status = COULD_NOT_RUN
            else:
                sys.stdout.write(f"changed {item.name}\n")
    if count == 0:
        sys.stderr.write(f"campc: no .campaign files in {', '.join(options.paths) or 'this folder'}\n")
        return COULD_NOT_RUN
    if faults:
        sys.stdout.flush()
        sys.stderr.write(render_text(faults, count))
        status = max(status, FAULTS)
    return max(status, FAULTS) if look and changed else status
