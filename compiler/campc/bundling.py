"""From a compiled spec to the files of its bundle: the command and the Python function share it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import PurePath

import attrs
from attrs import frozen

import campc
from campc import report
from campc.diagnostic import Diagnostic
from campc.emit.bundle import bundle_files, pretty
from campc.emit.campaign_json import campaign_json, plan_hash
from campc.emit.schedulers import skypilot, slurm
from campc.emit.work import Work, collect
from campc.pipeline import Compiled
from campc.report.page import Paper
from campc.schedule.plan import Plan
from campc.schedule.risk import risk


@frozen
class Bundle:
    """What a bundle holds, by path; or the faults for which there is none."""

    files: Mapping[str, bytes]
    faults: tuple[Diagnostic, ...] = ()
    warnings: tuple[Diagnostic, ...] = ()
    no_pdf: report.PdfUnavailable | None = None
    """Why the PDF is missing; the rest is there."""


def make_bundle(compiled: Compiled, *, paper: Paper = "a4", pdf: bool = True, strict: bool = False) -> Bundle:
    """All files of the bundle. Files that the spec names and that aren't there (C608) stop it; ``strict``: so does any warning."""
    work, missing = collect(compiled.plan.spec)
    found = tuple(sorted((*(d for d in compiled.diagnostics if d.code != "C608"), *missing), key=lambda d: d.order))
    if missing or compiled.errors or (strict and found):
        return Bundle({}, found)
    plan = attrs.evolve(compiled.plan, risk=risk(compiled.plan))
    documents, no_pdf = _documents(plan, compiled, work, paper, pdf=pdf)
    return Bundle(bundle_files(plan, work, documents, {**slurm(plan), **skypilot(plan)}), (), found, no_pdf)


def _documents(
    plan: Plan, compiled: Compiled, work: Work, paper: Paper, *, pdf: bool
) -> tuple[dict[str, bytes], report.PdfUnavailable | None]:
    """The plan as HTML, PDF, calendar and table."""
    hashes = {"plan": plan_hash(plan), "spec": hashlib.sha256(plan.spec.source.text.encode()).hexdigest()}
    hashes.update({f"corpus {c.name}": c.sha256 for c in plan.spec.corpora.values() if c.sha256 is not None})
    allowed = [(a.diagnostic.code, a.diagnostic.message, a.allowance.reason) for a in compiled.allowed]
    page = report.plan_page(plan, allowed=allowed, hashes=hashes, paper=paper, identifiers=work.identifiers(plan.spec))
    files = {
        "plan.html": page.encode(),
        "plan.csv": report.plan_csv(plan).encode(),
        "plan.ics": report.plan_ics(plan).encode(),
    }
    if pdf:
        try:
            files["plan.pdf"] = report.pdf(page, attachments=_attachments(plan, work))
        except report.PdfUnavailable as error:
            return files, error
    return files, None


def _attachments(plan: Plan, work: Work) -> dict[str, bytes]:
    """What travels in the PDF: the spec, the files that it uses, and the plan as the harness reads it."""
    files = {"campaign.json": pretty(campaign_json(plan, campc.__version__, work.configurations))}
    for source in dict.fromkeys((plan.spec.source, *plan.spec.sources)):
        files.setdefault(PurePath(source.name).name.removeprefix("-") or "spec.campaign", source.text.encode())
    return files
