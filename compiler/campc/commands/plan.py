"""``campc plan``."""

from __future__ import annotations

import json
import sys
from argparse import Namespace

from campc.commands.inputs import one_input
from campc.pipeline import compile_source
from campc.render.text import render_text

OK, FAULTS, COULD_NOT_RUN = 0, 1, 2


def plan(options: Namespace) -> int:
    """Print a plan; also of a spec with faults in its schedule or cost, which are told on standard error."""
    item = one_input(options.file)
    if item.source is None:
        if options.format_ == "json":
            from campc.render.json import render_json

            sys.stdout.write(render_json(item.unread, 1))
        else:
            sys.stderr.write(render_text(item.unread, 1))
        return COULD_NOT_RUN
    compiled = compile_source(item.source)
    made = compiled.plan
    match options.format_:
        case "json":
            from campc.emit.plan_json import plan_json
            from campc.schedule.risk import risk

            sys.stdout.write(json.dumps(plan_json(made, risk(made)), ensure_ascii=False, indent=1) + "\n")
        case "text":
            from campc.emit.plan_text import plan_text

            sys.stdout.write(plan_text(made))
        case other:
            from campc import report

            render = {"markdown": report.plan_markdown, "csv": report.plan_csv, "ics": report.plan_ics}[other]
            sys.stdout.write(render(made))
    if compiled.errors and options.format_ != "json":
        sys.stdout.flush()
        sys.stderr.write("\n" + render_text(compiled.errors, 1))
    return FAULTS if compiled.errors else OK
