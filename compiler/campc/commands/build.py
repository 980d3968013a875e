"""``campc build``."""

from __future__ import annotations

import sys
from argparse import Namespace
from pathlib import Path

from campc.bundling import make_bundle
from campc.commands.check import colour
from campc.commands.inputs import one_input
from campc.emit.bundle import BundleError, write_bundle
from campc.emit.campaign_json import plan_hash
from campc.pipeline import compile_source
from campc.render.text import Style, render_text

OK, FAULTS, COULD_NOT_RUN = 0, 1, 2


def build(options: Namespace) -> int:
    """Write a bundle: 0 written, 1 faults in the spec (nothing is written), 2 it could not be written."""
    item = one_input(options.file)
    if item.source is None:
        sys.stderr.write(render_text(item.unread, 1))
        return COULD_NOT_RUN
    compiled = compile_source(item.source)
    bundle = make_bundle(compiled, paper=options.paper, pdf=not options.no_pdf, strict=options.strict)
    if bundle.faults:
        sys.stderr.write(render_text(bundle.faults, 1, Style(colour("auto") and sys.stderr.isatty())))
        sys.stderr.write("nothing was built\n")
        return FAULTS
    out = options.output if options.output is not None else Path("build") / compiled.plan.spec.campaign.name
    try:
        write_bundle(bundle.files, out)
    except BundleError as error:
        sys.stderr.write(f"campc: {error}\n")
        return COULD_NOT_RUN
    if bundle.warnings:
        count = len(bundle.warnings)
        sys.stderr.write(
            f"{count} warning{'s' if count > 1 else ''}: `campc check` shows {'them' if count > 1 else 'it'}\n"
        )
    if bundle.no_pdf is not None:
        sys.stderr.write(f"no plan.pdf: {bundle.no_pdf}\n")
    sys.stdout.write(f"built {out}: {len(bundle.files)} files, plan {plan_hash(compiled.plan)[:12]}\n")
    sys.stdout.write(f"read {out / 'plan.html'}; on the rented machine: ./launch.sh --help\n")
    return OK
