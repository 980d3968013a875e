"""C504, C505, C507 to C509: whether the work can conclude."""

from __future__ import annotations

from collections.abc import Iterator

from campc.checks.facts import any_broken, broken_kinds, campaign_line
from campc.checks.registry import rule
from campc.checks.words import head, listed
from campc.diagnostic import Diagnostic
from campc.schedule.plan import Plan
from campc.schema.spec import Spec
from campc.schema.work import GPU_KINDS


@rule("C504", absence=True)
def essential_incomplete(plan: Plan) -> Iterator[Diagnostic]:
    """The essential tier lacks its control, its data check or its rerun verification.

    What is dropped first, when time runs short, must not be what the answer stands on: the control that variants are compared with, the check that the
    data are the frozen ones, and one run done twice, which says how far results scatter by themselves.

    Bad:
        tier essential { window control { kind = train; on = box; takes = 10h; run = control } }

    Good:
        tier essential {
          window check   { kind = data_check; on = box; takes = 1h }
          window control { kind = train; on = box; takes = 10h; after = check; run = control }
          window again   { kind = rerun; on = box; takes = 10h; after = control; run = control }
        }
    """
    spec = plan.spec
    if not spec.declared or not spec.used_runs() or any_broken(spec, "window", "kind", "run"):
        return
    essential = [w for w in spec.windows.values() if w.tier == "essential"]
    kinds = {w.kind for w in essential}
    controls = [run.name for run in spec.used_runs().values() if run.is_control]
    lacks, adds = [], []
    unsaid = any(w.kind in GPU_KINDS and w.run is None for w in essential)  # C312 says so.
    if controls and not unsaid and not any(w.run in controls and w.kind not in ("pilot", "rerun") for w in essential):
        lacks.append(f"its control ({listed(controls)})")
        adds.append(f"a window with run = {controls[0]}")
    if "data_check" not in kinds:
        lacks.append("a data check")
        adds.append("a window with kind = data_check")
    if "rerun" not in kinds:
        lacks.append("a rerun verification")
        adds.append(f"a window with kind = rerun; run = {controls[0] if controls else next(iter(spec.used_runs()))}")
    if lacks:
        tier = spec.tiers.get("essential")
        yield Diagnostic(
            "C504",
            tier.head if tier is not None else campaign_line(spec),
            f"the essential tier lacks {listed(lacks)}",
            help=f"add {listed(adds)} to tier essential",
        )


@rule("C505", absence=True)
def pilot_without_gate(plan: Plan) -> Iterator[Diagnostic]:
    """A pilot that decides nothing: no gate comes after it.

    A pilot is worth its time where it can change what follows: go on, give up an optional variant, or look at the question again. A gate says beforehand
    on which result.

    Bad:
        tier essential {
          window pilot   { kind = pilot; on = box; takes = 4h; run = control; limit = 500 steps }
          window control { kind = train; on = box; takes = 10h; after = pilot; run = control }
        }

    Good:
        tier essential {
          window pilot   { kind = pilot; on = box; takes = 4h; run = control; limit = 500 steps }
          window control { kind = train; on = box; takes = 10h; after = pilot; run = control }
        }
        gate promising { after = pilot; when = control.loss < 3; otherwise = stop }
    """
    spec = plan.spec
    if any_broken(spec, "gate", "after") or any_broken(spec, "window", "after"):
        return
    before_a_gate = _with_all_before(spec, {gate.after for gate in spec.gates.values() if gate.after is not None})
    for window in spec.windows.values():
        if window.kind == "pilot" and window.name not in before_a_gate:
            run = spec.run_of(window)
            metric = run.metrics[0] if run is not None and run.metrics else "loss"
            optional = next((tier for tier in ("exploratory", "useful") if tier in spec.tiers), None)
            then = f"reduce; drops = {optional}" if optional is not None else "stop"
            example = f"when = {window.run or 'RUN'}.{metric} < …; otherwise = {then}"
            yield Diagnostic(
                "C505",
                head(window.at),
                f"{window.name} is a pilot, and no gate stands behind it",
                help=f"add gate NAME {{ after = {window.name}; {example} }}",
            )


def _with_all_before(spec: Spec, names: set[str]) -> set[str]:
    """Some windows, and all that they come after, directly or not."""
    found: set[str] = set()
    stack = [name for name in names if name in spec.windows]
    while stack:
        name = stack.pop()
        if name not in found:
            found.add(name)
            stack.extend(before for before in spec.windows[name].after if before in spec.windows)
    return found


@rule("C507", absence=True)
def no_negative_conclusion(plan: Plan) -> Iterator[Diagnostic]:
    """Nothing says what a negative result concludes.

    That no variant meets the threshold is an answer, too, and often the one that saves money: say beforehand what follows from it.

    Bad:
        campaign ranks { question = "Does rank 16 beat rank 8?"; decision = "Adopt 16 from +1 point."; currency = USD }

    Good:
        campaign ranks {
          question    = "Does rank 16 beat rank 8?"
          decision    = "Adopt 16 from +1 point."
          if_negative = "Keep rank 8."
          currency    = USD
        }
    """
    campaign = plan.spec.campaign
    if plan.spec.declared and campaign.if_negative is None and "if_negative" not in campaign.broken:
        yield Diagnostic(
            "C507",
            campaign_line(plan.spec),
            "the campaign doesn't say what a negative result concludes",
            help='add if_negative = "…", as in "Keep rank 8, and do not buy the 30-day package."',
        )


@rule("C508")
def corpus_not_frozen(plan: Plan) -> Iterator[Diagnostic]:
    """A corpus has no hash: it isn't frozen.

    Two runs are comparable on the same bytes only. The hash is checked before the first run and stands in every run's identifier.

    Bad:
        corpus tickets { path = "tickets.jsonl" }

    Good:
        corpus tickets { path = "tickets.jsonl"; sha256 = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08" }
    """
    for corpus in plan.spec.corpora.values():
        if corpus.sha256 is None and "sha256" not in corpus.broken and ("corpus", corpus.name) not in plan.spec.faulty:
            path = corpus.path or "FILE"
            yield Diagnostic(
                "C508",
                corpus.head,
                f"corpus {corpus.name} has no hash, so nothing tells whether two runs read the same data",
                help=f'add sha256 = "…", as `sha256sum {path}` prints it',
            )


@rule("C509", absence=True)
def no_outcome(plan: Plan) -> Iterator[Diagnostic]:
    """The decision is prose only: no `outcome` tests it.

    An outcome states the decision as a condition on results, before they are known. The closeout then answers the question by the rule, not by taste.

    Bad:
        campaign ranks { question = "Does rank 16 beat rank 8?"; decision = "Adopt 16 from +1 point."; if_negative = "Keep 8." }

    Good:
        campaign ranks { question = "Does rank 16 beat rank 8?"; decision = "Adopt 16 from +1 point."; if_negative = "Keep 8." }
        run eight   { script = "train.py"; params = { rank = 8 }; metrics = [accuracy] }
        run sixteen { variant_of = eight; change = { rank = 16 } }
        outcome adopt { when = sixteen.accuracy - eight.accuracy >= 0.01; conclude = "Adopt rank 16." }
    """
    spec = plan.spec
    if not spec.declared or spec.outcomes or "outcome" in broken_kinds(spec):
        return
    variants = [run for run in spec.runs.values() if run.variant_of is not None]
    example = 'outcome adopt { when = VARIANT.METRIC - CONTROL.METRIC >= 0.01; conclude = "…" }'
    if variants:
        metric = next((m for m in variants[0].metrics if "loss" not in m), None) or "METRIC"
        example = f'outcome adopt {{ when = {variants[0].name}.{metric} - {variants[0].variant_of}.{metric} >= 0.01; conclude = "…" }}'
    yield Diagnostic(
        "C509", campaign_line(spec), "no outcome tests the decision: it is prose only", help=f"add {example}"
    )
