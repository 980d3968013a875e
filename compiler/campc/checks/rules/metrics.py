"""C510, C513: conditions on metrics that nobody reports."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from functools import cached_property
from itertools import islice

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

_MOST_COMPARED = 200_000
"""How many pairs of words are compared to find the metrics that were meant: far more than anybody misspells."""
_MOST_LISTED, _FIRST = 100, 20
"""How many metrics a message lists, and how many of more than these."""


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
    reports = _Reports(plan.spec)
    for outcome in plan.spec.outcomes.values():
        if outcome.when is not None:
            yield from _of_results(reports, "C510", f"outcome {outcome.name}", outcome, (("when", outcome.when),))


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
    reports = _Reports(spec)
    for kind, rules in (("stop", spec.stops), ("watch", spec.watches)):
        for each in rules.values():
            if each.when is not None and "runs" not in each.broken:
                applies = reports.of(each.runs) if each.runs else reports.of_all
                yield from _of_runs(f"{kind} {each.name}", each, "when", each.when, applies)
    for deliverable in spec.deliverables.values():
        if deliverable.accept is not None and "of" not in deliverable.broken:
            applies = reports.of(deliverable.of)
            yield from _of_runs(f"deliverable {deliverable.name}", deliverable, "accept", deliverable.accept, applies)
    for gate in spec.gates.values():
        conditions = [(word, c) for word, c in (("when", gate.when), ("enough", gate.enough)) if c is not None]
        yield from _of_results(reports, "C513", f"gate {gate.name}", gate, conditions)


class _Reports:
    """What runs report, gathered once for all the conditions on them."""

    def __init__(self, spec: Spec) -> None:
        self._spec = spec
        self._gathered: dict[tuple[str, ...], _Reported] = {}
        self._all: _Reported | None = None
        self._left = [_MOST_COMPARED]

    def of(self, names: tuple[str, ...]) -> _Reported:
        """What those of some runs report that there are."""
        found = self._gathered.get(names)
        if found is None:
            runs = [self._spec.runs[name] for name in names if name in self._spec.runs]
            found = self._gathered[names] = _Reported(runs, self._left)
        return found

    def may_hold(self, run: str, metric: str) -> bool:
        """Whether a run may report a metric; of one that isn't known, that can't be said."""
        return run not in self._spec.runs or self.of((run,)).may_hold(metric)

    @property
    def of_all(self) -> _Reported:
        """What all runs report."""
        if self._all is None:
            self._all = _Reported(list(self._spec.runs.values()), self._left)
        return self._all


class _Reported:
    """What some runs report. ``left``: how many pairs of words may still be compared to find what was meant."""

    def __init__(self, runs: list[Run], left: list[int]) -> None:
        self._left = left
        self.names = [run.name for run in runs]
        self.known = list(dict.fromkeys(m for run in runs for m in run.metrics))
        """The metrics that are listed, in order."""
        self._runs = runs
        self._listed = frozenset(self.known)
        self._any = any("metrics" in run.broken or not run.metrics for run in runs)
        self._meant: dict[str, str | None] = {}

    @cached_property
    def notes(self) -> tuple[Note, ...]:
        """Where the first of them say what they report."""
        wrote = islice((run for run in self._runs if run.wrote("metrics")), 3)
        return tuple(Note(run.place("metrics"), "reports these") for run in wrote)

    @cached_property
    def _last(self) -> dict[str, str]:
        return {name.rpartition(".")[2]: name for name in reversed(self.known)}

    @cached_property
    def words(self) -> str:
        """The metrics that are listed; of very many, the first."""
        if len(self.known) <= _MOST_LISTED:
            return listed(self.known)
        return listed([*self.known[:_FIRST], f"{len(self.known) - _FIRST:,} more"])

    def may_hold(self, metric: str) -> bool:
        """Whether one of the runs may report a metric."""
        return self._any or metric in self._listed

    def meant(self, metric: str) -> str | None:
        """The known metric that a misspelt one is nearest to, as a whole or by its last part."""
        if metric not in self._meant:
            guess = self._closest(metric, self.known)
            if guess is None and "." not in metric:
                part = metric if metric in self._last else self._closest(metric, self._last)
                guess = self._last[part] if part is not None else None
            self._meant[metric] = guess
        return self._meant[metric]

    def _closest(self, metric: str, known: Collection[str]) -> str | None:
        if self._left[0] < 0:
            return None
        self._left[0] -= len(known)
        return closest(metric, known)


def _of_results(
    reports: _Reports, code: str, who: str, node: Node, conditions: Iterable[tuple[str, Condition]]
) -> Iterator[Diagnostic]:
    """Metrics of named runs that these don't report, attribute by attribute."""
    for word, condition in conditions:
        wrong = [use for use in condition.metrics if use.run is not None and not reports.may_hold(use.run, use.metric)]
        if wrong:
            runs = reports.of(tuple(dict.fromkeys(use.run for use in wrong if use.run is not None)))
            names = [f"{use.run}.{use.metric}" for use in _once(wrong)]
            yield _reported(code, node, word, f"{who} needs {listed(names)}", wrong, runs)


def _of_runs(who: str, node: Node, word: str, condition: Condition, runs: _Reported) -> Iterator[Diagnostic]:
    """Metrics that none of some runs reports."""
    wrong = [use for use in condition.metrics if runs.names and not runs.may_hold(use.metric)]
    if wrong:
        yield _reported("C513", node, word, f"{who} names {listed([use.metric for use in _once(wrong)])}", wrong, runs)


def _once(uses: Iterable[MetricUse]) -> list[MetricUse]:
    return list({(use.run, use.metric): use for use in uses}.values())


def _reported(code: str, node: Node, word: str, said: str, wrong: list[MetricUse], runs: _Reported) -> Diagnostic:
    known, names = runs.known, runs.names
    if len(names) == 1:
        message = f"{said}, and {names[0]} reports only {runs.words}"
    else:
        whose = listed(names) if len(names) <= 4 else f"the {len(names)} runs"
        message = f"{said}, and {whose} report only {runs.words}"
    guesses = {use.metric: runs.meant(use.metric) for use in wrong}
    meant = {metric: guess for metric, guess in guesses.items() if guess is not None}
    unknown = [metric for metric in guesses if metric not in meant]
    helps = [f"did you mean {listed(list(dict.fromkeys(meant.values())))}?"] if meant else []
    if unknown:
        whole = f": metrics = [{', '.join([*known, *unknown])}]" if len(known) <= _MOST_LISTED else ""
        helps.append(f"add {listed(unknown)} to `metrics`, if the script reports it{whole}")
    fix = None
    if not unknown and all(use.at.text.endswith(use.metric) for use in wrong):
        edits = [Edit(use.at.near(use.at.end - len(use.metric), use.at.end), meant[use.metric]) for use in wrong]
        fix = Fix(f"write {listed(list(dict.fromkeys(meant.values())))}", tuple(edits))
    at = node.place(word)
    primary: Span = wrong[0].at if wrong[0].at.line == at.line else head(at)
    return Diagnostic(code, primary, message, runs.notes, help=" ".join(helps), fix=fix)
