"""The plan document: its first half page, ten sections and appendix."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from campc.report import words
from campc.report.blocks import Document
from campc.report.page import Paper, render
from campc.report.plan_cover import cover
from campc.report.plan_design import rules, runs
from campc.report.plan_launch import Allowed, appendix, preflight, risk, unknowns
from campc.report.plan_money import budget, deliverables, packages
from campc.report.plan_timeline import timeline, windows
from campc.report.plan_view import PlanView
from campc.report.whatif import Replan, drops
from campc.schedule.plan import Plan


def plan_page(
    plan: Plan,
    *,
    allowed: Iterable[Allowed] = (),
    hashes: Mapping[str, str] | None = None,
    paper: Paper = "a4",
    identifiers: Mapping[str, tuple[str, ...]] | None = None,
) -> str:
    """The plan as one self-contained HTML page.

    ``allowed`` are the accepted warnings (code, message, reason). ``hashes`` are what an auditor compares, by name; ``plan`` stands on every page.
    ``identifiers`` are the runs' identifiers, by run, where they are known.
    """
    document = plan_document(plan, allowed=allowed, hashes=hashes, identifiers=identifiers)
    return render(document, "plan.html.j2", paper)


def plan_document(
    plan: Plan,
    *,
    allowed: Iterable[Allowed] = (),
    hashes: Mapping[str, str] | None = None,
    identifiers: Mapping[str, tuple[str, ...]] | None = None,
    replan: Replan | None = None,
) -> Document:
    """The plan as sections of finished text. ``replan`` places a spec again; the compiler's own is used where it is left out."""
    if replan is None:
        from campc.schedule.make import make_plan as replan
    view, digests = PlanView(plan), dict(hashes or {})
    given_up = drops(plan, replan)
    name = plan.spec.campaign.name
    return Document(
        title=f"{words.spelled(name)}: campaign plan",
        running_head=f"Plan of {words.spelled(name)}",
        description=words.sentence(plan.spec.campaign.question) or f"The plan of the campaign {name}.",
        stamp=f"Plan {digests['plan'][:12]}" if "plan" in digests else "Plan",
        cover=cover(view, given_up, plan.risk),
        sections=(
            timeline(view),
            windows(view),
            runs(view, dict(identifiers or {}), given_up),
            packages(view),
            rules(view),
            risk(view, plan.risk),
            budget(view),
            deliverables(view),
            preflight(view),
            unknowns(view),
            appendix(view, tuple(allowed), digests),
        ),
    )
