"""C510, C513: conditions on metrics that nobody reports."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from campc.checks.registry import rule
from campc.checks.words import head, listed
from campc.diagnostic import Diagnostic, Edit, Fix, Note
from campc.schedule.plan import Plan
from campc.schema.conditions import Condition, MetricUse
from campc.schema.node import Node
from campc.schema.spec import Spec
from campc.schema.work import Run
from campc.source import Span
from campc.values.suggest import closest


@rule("C510")
def outcome_without_metric(plan: Plan) -> Iterator[Diagnostic]:
    """An outcome needs a metric that its run does not report.

    It could never be decided: after all the money is spent, the figure that it compares isn't there.

    Bad:
        run control { script = "train.py"; params = { rank = 8 }; metrics = [loss] }
        outcome adopt { when = control.accuracy >= 0.9; conclude = "Adopt it." }

    Good:
        run control { script = "train.py"; params = { rank = 8 }; metrics = [loss, accuracy] }
        outcome adopt { when = control.accuracy >= 0.9; conclude = "Adopt it." }
    """
    for outcome in plan.spec.outcomes.values():
        if outcome.when is not None:
            yield from _of_results(plan.spec, "C510", f"outcome {outcome.name}", outcome, (("when", outcome.when),))


@rule("C513")
def undeclared_metric(plan: Plan) -> Iterator[Diagnostic]:
    """A condition names a metric that none of the runs it applies to reports.

    A rule on a figure that never comes never fires. A run that lists no `metrics` may report any, and is no fault.

    Bad:
        run control { script = "train.py"; params = { rank = 8 }; metrics = [loss, accuracy] }
        stop weak { when = acuracy < 0.5; because = "too weak to answer anything" }

    Good:
        run control { script = "train.py"; params = { rank = 8 }; metrics = [loss, accuracy] }
        stop weak { when = accuracy < 0.5; because = "too weak to answer anything" }
    """
    spec = plan.spec
    for kind, rules in (("stop", spec.stops), ("watch", spec.watches)):
        for each in rules.values():
            if each.when is not None and "runs" not in each.broken:
                applies = (
                    [spec.runs[name] for name in each.runs if name in spec.runs]
                    if each.runs
                    else list(spec.runs.values())
                )
                yield from _of_runs(f"{kind} {each.name}", each, "when", each.when, applies)
    for deliverable in spec.deliverables.values():
        if deliverable.accept is not None and "of" not in deliverable.broken:
            applies = [spec.runs[name] for name in deliverable.of if name in spec.runs]
            yield from _of_runs(f"deliverable {deliverable.name}", deliverable, "accept", deliverable.accept, applies)
    for gate in spec.gates.values():
        conditions = [(word, c) for word, c in (("when", gate.when), ("enough", gate.enough)) if c is not None]
        yield from _of_results(spec, "C513", f"gate {gate.name}", gate, conditions)


def _of_results(
    spec: Spec, code: str, who: str, node: Node, conditions: Iterable[tuple[str, Condition]]
) -> Iterator[Diagnostic]:
    """Metrics of named runs that these don't report, attribute by attribute."""
    for word, condition in conditions:
        wrong = [
            use
            for use in condition.metrics
            if use.run is not None and not _may_report([spec.runs.get(use.run)], use.metric)
        ]
        if not wrong:
            continue
        runs = [spec.runs[name] for name in dict.fromkeys(use.run for use in wrong) if name is not None]
        names = [f"{use.run}.{use.metric}" for use in _once(wrong)]
        yield _reported(code, node, word, f"{who} needs {listed(names)}", wrong, runs)


def _of_runs(who: str, node: Node, word: str, condition: Condition, runs: list[Run]) -> Iterator[Diagnostic]:
    """Metrics that none of some runs reports."""
    wrong = [use for use in condition.metrics if runs and not _may_report(runs, use.metric)]
    if wrong:
        yield _reported("C513", node, word, f"{who} names {listed([use.metric for use in _once(wrong)])}", wrong, runs)


def _once(uses: Iterable[MetricUse]) -> list[MetricUse]:
    return list({(use.run, use.metric): use for use in uses}.values())


def _may_report(runs: Iterable[Run | None], metric: str) -> bool:
    return any(run is None or "metrics" in run.broken or not run.metrics or metric in run.metrics for run in runs)


def _reported(code: str, node: Node, word: str, said: str, wrong: list[MetricUse], runs: list[Run]) -> Diagnostic:
    known = list(dict.fromkeys(m for run in runs for m in run.metrics))
    names = [run.name for run in runs]
    if len(names) == 1:
        message = f"{said}, and {names[0]} reports only {listed(known)}"
    else:
        whose = listed(names) if len(names) <= 4 else f"the {len(names)} runs"
        message = f"{said}, and {whose} report only {listed(known)}"
    guesses = {use.metric: _meant(use.metric, known) for use in wrong}
    meant = {metric: guess for metric, guess in guesses.items() if guess is not None}
    unknown = [metric for metric in guesses if metric not in meant]
    helps = [f"did you mean {listed(list(dict.fromkeys(meant.values())))}?"] if meant else []
    if unknown:
        helps.append(
            f"add {listed(unknown)} to `metrics`, if the script reports it: metrics = [{', '.join([*known, *unknown])}]"
        )
    fix = None
    if not unknown and all(use.at.text.endswith(use.metric) for use in wrong):
        edits = [Edit(use.at.near(use.at.end - len(use.metric), use.at.end), meant[use.metric]) for use in wrong]
        fix = Fix(f"write {listed(list(dict.fromkeys(meant.values())))}", tuple(edits))
    at = node.place(word)
    primary: Span = wrong[0].at if wrong[0].at.line == at.line else head(at)
    notes = [Note(run.place("metrics"), "reports these") for run in runs if run.wrote("metrics")]
    return Diagnostic(code, primary, message, tuple(notes[:3]), help=" ".join(helps), fix=fix)


def _meant(metric: str, known: list[str]) -> str | None:
    """The known metric that a misspelt one is nearest to, as a whole or by its last part."""
    last = {name.rpartition(".")[2]: name for name in reversed(known)}
    guess = closest(metric, known)
    if guess is None and "." not in metric:
        part = metric if metric in last else closest(metric, list(last))
        guess = last[part] if part is not None else None
    return guess
