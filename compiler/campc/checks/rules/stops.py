"""C511, C512, C521, C522: the four stop rules to have written down before the trials."""

from __future__ import annotations

from collections.abc import Iterator

from campc.checks.facts import any_broken, campaign_line, executed, rented
from campc.checks.registry import rule
from campc.checks.words import listed
from campc.diagnostic import Diagnostic, Note
from campc.schedule.plan import Plan
from campc.schema.conditions import Condition
from campc.schema.spec import Spec

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def _applies(spec: Spec) -> bool:
    """Whether rules are to be expected: something runs, and every stop that is written could be read."""
    return spec.declared and bool(spec.used_runs()) and not any_broken(spec, "stop", "when")


def _conditions(spec: Spec) -> list[Condition]:
    return [stop.when for stop in spec.stops.values() if stop.when is not None]


def _a_metric(spec: Spec, *, quality: bool) -> str:
    """A metric that the runs report: one of quality where there is one, else a loss."""
    known = [metric for run in spec.used_runs().values() for metric in run.metrics]
    chosen = [metric for metric in known if ("loss" in metric) != quality]
    return (chosen or (["eval.accuracy"] if quality else ["loss"]))[0]


@rule("C511", absence=True)
def no_stop_on_divergence(plan: Plan) -> Iterator[Diagnostic]:
    """No stop rule on a non-finite loss.

    A loss that is no number never comes back, and the rest of the window is spent on nothing. Written down before the trials, the rule is nobody's
    judgement.

    Bad:
        tier essential { window control { kind = train; on = box; takes = 10h; run = control } }

    Good:
        stop diverged { when = loss is not finite; because = "it never comes back" }
        tier essential { window control { kind = train; on = box; takes = 10h; run = control } }
    """
    spec = plan.spec
    if not _applies(spec) or any(condition.tests_finite() for condition in _conditions(spec)):
        return
    if all(run.kind == "inference" for run in spec.used_runs().values()):
        return
    metric = _a_metric(spec, quality=False)
    yield Diagnostic(
        "C511",
        campaign_line(spec),
        "no stop rule ends a run whose loss is no longer finite",
        help=f'add stop diverged {{ when = {metric} is not finite; because = "…" }}',
    )


@rule("C512", absence=True)
def no_stop_on_lost_recovery(plan: Plan) -> Iterator[Diagnostic]:
    """No stop rule on a lost recovery point, on a lot that can be interrupted.

    If checkpoints stop arriving, every further hour is one that an interruption takes away. `checkpoint_age` is the time since the last one that was
    written and verified; where `to` is to outlive the machine, one that doesn't isn't counted.

    Bad:
        package spot { gpu = "A100"; duration = 3d; price = 120 USD; interruptible = true }
        lot machine { package = spot; starts = 2026-12-01 09:00 }
        checkpoint { every = 20min; to = "s3://lab/checkpoints" }
        tier essential { window control { kind = train; on = machine; takes = 10h; run = control } }

    Good:
        package spot { gpu = "A100"; duration = 3d; price = 120 USD; interruptible = true }
        lot machine { package = spot; starts = 2026-12-01 09:00 }
        checkpoint { every = 20min; to = "s3://lab/checkpoints" }
        stop unsaved { when = checkpoint_age > 1h; because = "an interruption would cost more than an hour" }
        tier essential { window control { kind = train; on = machine; takes = 10h; run = control } }
    """
    spec = plan.spec
    if not _applies(spec) or any("checkpoint_age" in condition.builtins for condition in _conditions(spec)):
        return
    lots = [(lot, package) for lot, package in rented(spec) if package.interruptible and any(executed(spec, lot.name))]
    if lots:
        names = [lot.name for lot, _ in lots]
        yield Diagnostic(
            "C512",
            campaign_line(spec),
            f"{listed(names)} can be interrupted, and no stop rule ends a run that has lost its recovery point",
            tuple(dict.fromkeys(Note(package.place("interruptible"), "it can be interrupted") for _, package in lots))[
                :2
            ],
            help='add stop unsaved { when = checkpoint_age > 1h; because = "…" }',
        )


@rule("C521", absence=True)
def no_stop_on_quality(plan: Plan) -> Iterator[Diagnostic]:
    """No stop rule on quality.

    A run that is far below anything useful after a fair start will not decide the question. Where to give it up is chosen before the figures are seen.

    Bad:
        stop diverged { when = loss is not finite; because = "it never comes back" }
        tier essential { window control { kind = train; on = box; takes = 10h; run = control } }

    Good:
        stop hopeless { when = eval.accuracy < 0.5; from = 500 steps; because = "below half right, nothing is decided" }
        tier essential { window control { kind = train; on = box; takes = 10h; run = control } }
    """
    spec = plan.spec
    if _applies(spec) and not any(_compares_a_metric(condition.expression) for condition in _conditions(spec)):
        yield Diagnostic(
            "C521",
            campaign_line(spec),
            "no stop rule ends a run whose quality stays below what could decide anything",
            help=f'add stop hopeless {{ when = {_a_metric(spec, quality=True)} < …; from = 500 steps; because = "…" }}',
        )


def _compares_a_metric(part: Any) -> bool:
    if not isinstance(part, tuple):
        return False
    if part[:1] and part[0] in ("<", "<=", ">", ">=", "==", "!=") and any(_names_a_metric(inner) for inner in part[1:]):
        return True
    return any(_compares_a_metric(inner) for inner in part)


def _names_a_metric(part: Any) -> bool:
    return isinstance(part, tuple) and (
        part[:1] in (("metric",), ("best",)) or any(_names_a_metric(inner) for inner in part)
    )


@rule("C522", absence=True)
def no_stop_on_truncation(plan: Plan) -> Iterator[Diagnostic]:
    """No stop rule on truncated input, where there is a corpus.

    If inputs are cut to fit, the run reads another corpus than the frozen one, and its result answers another question.

    Bad:
        corpus tickets { path = "tickets.jsonl"; sha256 = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08" }
        run reader { script = "train.py"; corpus = tickets }
        tier essential { window reader { kind = train; on = box; takes = 10h; run = reader } }

    Good:
        corpus tickets { path = "tickets.jsonl"; sha256 = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08" }
        run reader { script = "train.py"; corpus = tickets }
        stop truncated { when = truncated_inputs > 0; because = "that is not the frozen corpus" }
        tier essential { window reader { kind = train; on = box; takes = 10h; run = reader } }
    """
    spec = plan.spec
    if (
        not _applies(spec)
        or not spec.corpora
        or any("truncated_inputs" in condition.builtins for condition in _conditions(spec))
    ):
        return
    yield Diagnostic(
        "C522",
        campaign_line(spec),
        f"no stop rule ends a run that cuts inputs of {listed(list(spec.corpora)[:4])} to fit",
        help='add stop truncated { when = truncated_inputs > 0; because = "…" }',
    )
