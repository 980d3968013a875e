"""One picture: bundle → story → results → deliverables → costs → `Closeout`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from pathlib import Path

from campc import __version__
from campc.closeout.attempts import attempts_of, losses_of, stops_of
from campc.closeout.bundle import Bundle, Refused, open_bundle, refuse_other_plan
from campc.closeout.clean import clean
from campc.closeout.costs import costs_of, ratios_of
from campc.closeout.deliverables import Corpora, Reloader, deliverables_of
from campc.closeout.lessons import measured_of, unknowns_of
from campc.closeout.lots import copies_of, lots_of, still_costs
from campc.closeout.model import Closeout, DecisionResult, LotResult, OutcomeResult, RerunResult, WindowResult
from campc.closeout.package import Package, read_package
from campc.closeout.record import Story, read_story
from campc.closeout.reloading import Reloaded, isolation, reload
from campc.closeout.results import outcomes_of, reruns_of, results_of, series_of
from campc.closeout.windows import decisions_of, dropped_of, unix, windows_of
from campc.values.quantities import format_duration

__all__ = ["RELOAD_TIMEOUT_S", "close"]

RELOAD_TIMEOUT_S = 600.0
_ENDS = {"stop": "stopped", "revisit": "sent back to be planned again", "conclude": "concluded early"}


def close(
    bundle: Path,
    *,
    reload: bool,
    spec: Path | None = None,
    plan_hash: str | None = None,
    timeout_s: float = RELOAD_TIMEOUT_S,
) -> Closeout:
    """Hold what happened against the plan, and say what was decided, delivered and spent.

    Args:
        bundle: the folder that `campc build` wrote, with what came home in it, or an unpacked package.
        reload: run the deliverables' `reload` commands; without it nothing of the bundle is executed.
        spec: the spec that the bundle was built from: corpora are also looked up beside it.
        plan_hash: the hash of the plan that this spec makes now, which must still be the bundle's.
        timeout_s: the most that one `reload` may take.

    Raises:
        Refused: it is no bundle, nothing was run, or the plan is not the one that ran.
    """
    opened = open_bundle(bundle)
    if plan_hash is not None:
        refuse_other_plan(opened, plan_hash, f"that of {spec or 'the spec'} is")
    story = read_story(opened)
    if not story.records:
        damaged = [f"the ledger of {check.lot}: {check.damage[0]}" for check in story.checks if check.damage]
        why = "; ".join(damaged) or "there is no record in state/ or package/ledger/"
        raise Refused(
            f"{bundle}: nothing was run ({why}); launch it, or bring its package home to {bundle}/package first"
        )
    return clean(_closeout(opened, story, spec, _reloader(opened, timeout_s) if reload else None))


def _closeout(bundle: Bundle, story: Story, spec: Path | None, reloader: Reloader | None) -> Closeout:
    dropped = dropped_of(bundle, story)
    windows = windows_of(bundle, story, dropped)
    attempts = attempts_of(bundle, story)
    results = results_of(bundle, story)
    lots = lots_of(bundle, story, windows)
    package = read_package(bundle)
    corpora = Corpora(
        tuple(folder for folder in (bundle.work, spec.parent if spec else None, bundle.folder) if folder is not None)
    )
    deliverables = deliverables_of(bundle, results, corpora, package.hashes, dropped, reloader)
    costs = costs_of(bundle, story, lots)
    outcomes = outcomes_of(bundle, results, dropped)
    reruns = reruns_of(bundle, results)
    copies = copies_of(story)
    decisions = decisions_of(story)
    verdict, answered_by, undecided = _verdict(bundle, outcomes, decisions)
    campaign = bundle.plan.campaign
    return Closeout(
        campaign=campaign.name,
        question=campaign.question,
        decision=campaign.decision,
        if_negative=campaign.if_negative,
        owner=campaign.owner,
        timezone=campaign.timezone,
        deadline=unix(campaign.deadline),
        plan_hash=bundle.plan.plan_hash,
        plan_intact=True,
        verdict=verdict,
        answered_by=answered_by,
        undecided=undecided,
        outcomes=outcomes,
        costs=costs,
        ratios=ratios_of(bundle, costs, deliverables),
        deliverables=deliverables,
        windows=windows,
        attempts=attempts,
        stops=stops_of(story),
        losses=losses_of(bundle, attempts),
        lots=lots,
        series=series_of(bundle, story),
        reruns=reruns,
        decisions=decisions,
        copies=copies,
        keeper=_keeper(story),
        still_costs=still_costs(bundle, lots, copies),
        measured=measured_of(bundle, story, windows, attempts),
        unknowns=unknowns_of(bundle, windows),
        ledgers=story.checks,
        manifest=package.entries,
        package_intact=package.intact,
        environments=package.environments,
        bases=tuple((run.name, run.base) for run in bundle.plan.runs if run.base),
        rehearsal=_rehearsal(bundle, story),
        remarks=(*story.remarks, *_remarks(bundle, package, lots, windows, reruns)),
        campc=__version__,
    )


def _verdict(
    bundle: Bundle, outcomes: Sequence[OutcomeResult], decisions: Sequence[DecisionResult]
) -> tuple[str, str | None, bool]:
    """The answer, the outcome that gave it, and whether the question is open.

    The first outcome that holds is the answer. Where none does, the negative one is, unless every outcome is undecided.
    """
    answer = next((outcome for outcome in outcomes if outcome.holds), None)
    if answer is not None:
        return answer.conclude, answer.name, False
    undecided = [outcome for outcome in outcomes if outcome.holds is None]
    if outcomes and len(undecided) == len(outcomes):
        ended = [decision for decision in decisions if decision.choice in _ENDS and decision.kind in ("gate", "decide")]
        if ended:
            return f"Undecided: {_ENDS[str(ended[-1].choice)]} at the gate {ended[-1].name}.", None, True
        # What happened stands here, why it did beside each outcome.
        why = "; ".join(dict.fromkeys(reason.partition(": ")[0] for outcome in undecided for reason in outcome.missing))
        return "Undecided" + (f": {why}." if why else "."), None, True
    if not outcomes:
        return "No outcome was declared: the decision is people's.", None, True
    return bundle.plan.campaign.if_negative or "No declared outcome holds.", None, False


def _remarks(
    bundle: Bundle,
    package: Package,
    lots: Sequence[LotResult],
    windows: Sequence[WindowResult],
    reruns: Sequence[RerunResult],
) -> Iterator[str]:
    if bundle.changed:
        more = f", and {len(bundle.changed) - 1} more" if len(bundle.changed) > 1 else ""
        yield f"The bundle is not as it was built: {bundle.changed[0]}{more}."
    if package.intact is None:
        yield "There is no package: nothing proves what came home; `launch.sh pack` makes one."
    elif package.faults:
        more = f", and {len(package.faults) - 1} more" if len(package.faults) > 1 else ""
        yield f"The package is damaged: {package.faults[0]}{more}."
    for lot in lots:
        if lot.usable_end is not None and lot.last_end is not None and lot.last_end > lot.usable_end:
            over = format_duration(Fraction(round(lot.last_end - lot.usable_end)))
            yield f"Work on {lot.name} went on for {over} after its usable end."
        cut = [
            window.name
            for window in windows
            if window.lot == lot.name and window.state in ("not started", "unfinished")
        ]
        late = [
            window.name
            for window in windows
            if window.lot == lot.name and window.state == "skipped" and "time left" in (window.explanation or "")
        ]
        if late:
            yield f"The time of {lot.name} ran out: {', '.join(late)} no longer fitted and was not started."
        elif cut and lot.start is not None:
            yield f"The record of {lot.name} ends before its plan does: {', '.join(cut)}."
    differing = [rerun for rerun in reruns if rerun.holds is False]
    if differing:
        first = differing[0]
        yield (
            f"The rerun {first.window} does not agree with its run: {first.metric} of {first.run_id} was {first.first:.6g} and is now {first.again:.6g}, "
            f"tolerance {first.tolerance:.4g}."
        )


def _keeper(story: Story) -> str | None:
    """Who keeps the files: the last `record note "keeper: NAME"`."""
    texts = [str(record.more.get("text")) for record in story.of("note") if record.reason == "note"]
    names = [text.partition(":")[2].strip() for text in texts if text.lower().startswith("keeper:")]
    return names[-1] if names else None


def _rehearsal(bundle: Bundle, story: Story) -> str | None:
    last = None
    for record in story.of("rehearsal"):
        other = record.more.get("plan_hash")
        if other in (None, bundle.plan.plan_hash):
            where = f" on {record.machine}" if record.machine else ""
            last = f"{'passed' if record.more.get('passed') is True else 'failed'}{where}"
    return last


def _reloader(bundle: Bundle, timeout_s: float) -> Reloader:
    within = isolation()
    files = bundle.plan.campaign.files

    def run(command: str, tops: Sequence[Path], outputs: Path) -> Reloaded:
        return reload(
            command,
            tops,
            outputs=outputs,
            scripts=bundle.work,
            also=files,
            hidden=bundle.folder,
            timeout_s=timeout_s,
            within=within,
        )

    return run
