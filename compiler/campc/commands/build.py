"""``campc build``."""

from __future__ import annotations

import hashlib
import sys
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path

import attrs

from campc import report
from campc.report.page import Paper
from campc.commands.check import colour
from campc.commands.inputs import inputs
from campc.diagnostic import Diagnostic
from campc.emit.bundle import BundleError, bundle_files, write_bundle
from campc.emit.campaign_json import plan_hash
from campc.emit.work import Work, collect
from campc.pipeline import Compiled, compile_source
from campc.render.text import Style, render_text
from campc.schedule.risk import risk

OK, FAULTS, COULD_NOT_RUN = 0, 1, 2


def build(options: Namespace) -> int:
    """Write a bundle: 0 written, 1 faults in the spec (nothing is written), 2 it could not be written."""
    if options.file != "-" and Path(options.file).is_dir():
        sys.stderr.write(f"campc: {options.file} is a folder: name one .campaign file\n")
        return COULD_NOT_RUN
    item = next(iter(inputs([options.file], None)))
    if item.source is None:
        sys.stderr.write(render_text(item.unread, 1))
        return COULD_NOT_RUN
    compiled = compile_source(item.source)
    work, missing = collect(compiled.plan.spec)
    found = [*(d for d in compiled.diagnostics if d.code != "C608"), *missing]
    if missing or compiled.errors or (options.strict and found):
        sys.stderr.write(render_text(found, 1, Style(colour("auto") and sys.stderr.isatty())))
        sys.stderr.write("nothing was built\n")
        return FAULTS
    _tell_warnings(found)
    made = attrs.evolve(compiled.plan, risk=risk(compiled.plan))
    compiled = attrs.evolve(compiled, plan=made)
    out = options.output if options.output is not None else Path("build") / made.spec.campaign.name
    try:
        files = bundle_files(
            made, work, documents(compiled, work, options.paper, pdf=not options.no_pdf), schedulers(compiled)
        )
        write_bundle(files, out)
    except BundleError as error:
        sys.stderr.write(f"campc: {error}\n")
        return COULD_NOT_RUN
    sys.stdout.write(f"built {out}: {len(files)} files, plan {plan_hash(made)[:12]}\n")
    sys.stdout.write(f"read {out / 'plan.html'}; on the rented machine: ./launch.sh --help\n")
    return OK


def _tell_warnings(found: Sequence[Diagnostic]) -> None:
    if found:
        count = len(found)
        sys.stderr.write(
            f"{count} warning{'s' if count > 1 else ''}: `campc check` shows {'them' if count > 1 else 'it'}\n"
        )


def documents(compiled: Compiled, work: Work, paper: Paper, *, pdf: bool) -> dict[str, bytes]:
    """The plan as HTML, PDF, calendar and table. Where no PDF can be made, what to do is said, and the rest is there."""
    made = compiled.plan
    hashes = {"plan": plan_hash(made), "spec": hashlib.sha256(made.spec.source.text.encode()).hexdigest()}
    hashes.update({f"corpus {c.name}": c.sha256 for c in made.spec.corpora.values() if c.sha256 is not None})
    allowed = [(a.diagnostic.code, a.diagnostic.message, a.allowance.reason) for a in compiled.allowed]
    page = report.plan_page(made, allowed=allowed, hashes=hashes, paper=paper, identifiers=work.identifiers(made.spec))
    files = {
        "plan.html": page.encode(),
        "plan.csv": report.plan_csv(made).encode(),
        "plan.ics": report.plan_ics(made).encode(),
    }
    if pdf:
        try:
            files["plan.pdf"] = report.pdf(page)
        except report.PdfUnavailable as error:
            sys.stderr.write(f"no plan.pdf: {error}\n")
    return files


def schedulers(compiled: Compiled) -> dict[str, bytes]:
    """One file a lot for each scheduler that may start the bundle."""
    from campc.emit.schedulers import skypilot, slurm

    return {**slurm(compiled.plan), **skypilot(compiled.plan)}
