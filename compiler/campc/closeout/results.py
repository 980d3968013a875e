"""What the runs measured: last values, curves, the answers they decide, and how far a rerun agrees."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from attrs import frozen

from campc.closeout.bundle import Bundle
from campc.closeout.model import OutcomeResult, RerunResult, Series
from campc.closeout.record import Story
from campc_harness.conditions import Facts, evaluate, terms
from campc_harness.ledger import numbers
from campc_harness.plan import Plan, Window

__all__ = ["Results", "outcomes_of", "reruns_of", "results_of", "series_of"]

APART = frozenset(("pilot", "rerun"))
MOST_POINTS = 2000
_ENDED = {
    "done": "ended well",
    "stop": "was stopped",
    "deadline": "met its deadline",
    "crash": "crashed",
    "hang": "hung",
    "interrupted": "was interrupted",
}


@frozen
class Results:
    """Last metrics of each run identifier in each window, and how it ended there."""

    metrics: Mapping[tuple[str, str], Mapping[str, float]]
    ended: Mapping[tuple[str, str], tuple[str, str | None, int | None]]
    """Of a run identifier in a window: the event that ended it, its reason, its step."""
    plan: Plan
    configurations: Mapping[str, frozenset[str]]
    """Of a run identifier: the hashes of the configurations that it was started with."""

    def window_of(self, run: str) -> Window | None:
        """The window whose results are the run's own: not a pilot's, not a rerun's."""
        return next((window for window in self.plan.windows if window.run == run and window.kind not in APART), None)

    def finished(self, run: str, run_id: str) -> bool:
        """Whether this identifier ended well in its own window."""
        window = self.window_of(run)
        return window is not None and self.ended.get((run_id, window.name), ("",))[0] == "done"

    def last(self, run: str, run_id: str) -> Mapping[str, float]:
        """The last metrics of an identifier that ended well in its own window; else none."""
        window = self.window_of(run)
        return self.metrics.get((run_id, window.name), {}) if window is not None and self.finished(run, run_id) else {}

    def how_ended(self, run: str, run_id: str) -> str:
        """How an identifier ended in its own window, as the rest of a sentence: ``was stopped at step 60: REASON``."""
        window = self.window_of(run)
        if window is None:
            return "has no window of its own, only pilots or reruns"
        event, reason, step = self.ended.get((run_id, window.name), (None, None, None))
        if event is None:
            return "has no end in the record"
        at = f" at step {step:,}" if step is not None else ""
        return f"{_ENDED.get(event, event)}{at}" + (f": {reason}" if reason else "")


def results_of(bundle: Bundle, story: Story) -> Results:
    """Collect them from the record. The last event of an identifier in a window says how it ended there."""
    metrics: dict[tuple[str, str], dict[str, float]] = {}
    ended: dict[tuple[str, str], tuple[str, str | None, int | None]] = {}
    configurations: dict[str, frozenset[str]] = {}
    for record in story.of("start", "metric", "done", "stop", "interrupted", "deadline", "crash", "hang"):
        if record.run_id is None or record.window is None:
            continue
        key = (record.run_id, record.window)
        if record.event == "start":
            started_with = record.more.get("config_sha256")
            if isinstance(started_with, str):
                configurations[record.run_id] = configurations.get(record.run_id, frozenset()) | {started_with}
            if ended.get(key, ("",))[0] != "done" and not record.more.get("command"):
                ended.pop(key, None)
        elif record.event == "metric":
            metrics.setdefault(key, {}).update(numbers(record.more.get("values")))
        else:
            metrics.setdefault(key, {}).update(numbers(record.more.get("metrics")))
            ended[key] = (record.event, record.reason, record.step)
    return Results(metrics, ended, bundle.plan, configurations)


def outcomes_of(bundle: Bundle, results: Results, dropped: Mapping[str, str]) -> tuple[OutcomeResult, ...]:
    """Each declared outcome, tested on the last metrics of the runs that ended well; ``dropped``: window → why it was given up."""
    runs = {
        run.name: {
            metric: [results.last(run.name, identity.id).get(metric) for identity in run.ids]
            for metric in {name for identity in run.ids for name in results.last(run.name, identity.id)}
        }
        for run in bundle.plan.runs
    }
    facts = Facts(runs=runs)
    return tuple(_outcome(bundle, results, facts, block, dropped) for block in bundle.blocks("outcomes"))


def _outcome(
    bundle: Bundle, results: Results, facts: Facts, block: Mapping[str, object], dropped: Mapping[str, str]
) -> OutcomeResult:
    condition = block["when"]
    assert isinstance(condition, dict)
    values: dict[str, float | None] = {}
    missing: dict[str, None] = {}
    for term in terms(condition["expr"]):
        if term[0] != "metric" or len(term) != 3:
            continue
        _, metric, run = term
        value = _mean(facts.runs.get(run, {}).get(metric, ()))
        values[f"{run}.{metric}"] = value
        if value is None:
            missing.update(dict.fromkeys(_why(bundle, results, run, metric, dropped)))
    holds = evaluate(condition, facts)
    return OutcomeResult(
        name=str(block["name"]),
        condition=str(condition["text"]),
        conclude=str(block["conclude"]),
        holds=holds,
        values=tuple(values.items()),
        found=_found(condition["expr"], values) if holds is not None else None,
        missing=tuple(missing) if holds is None else (),
    )


def _why(bundle: Bundle, results: Results, run: str, metric: str, dropped: Mapping[str, str]) -> list[str]:
    window = results.window_of(run)
    if window is not None and window.name in dropped:
        return [f"{run} was not run: {dropped[window.name]}"]
    ids = next((entry.ids for entry in bundle.plan.runs if entry.name == run), ())
    found = []
    for identity in ids:
        if metric in results.last(run, identity.id):
            continue
        name = run if len(ids) == 1 else f"{run} with seed {identity.seed}"
        if results.finished(run, identity.id):
            found.append(f"{name} ended well and never recorded {metric}")
        else:
            found.append(f"{name} {results.how_ended(run, identity.id)}")
    return found or [f"{run} never recorded {metric}"]


def _found(expr: Sequence[object], values: Mapping[str, float | None]) -> str | None:
    """`wider − control is 0.0142, needed 0.01` where the condition is a difference against a number; else its values."""
    match expr:
        case [(">=" | ">" | "<=" | "<") as sign, ["-", ["metric", m1, r1], ["metric", m2, r2]], ["number", bound]] if (
            m1 == m2
        ):
            left, right = values.get(f"{r1}.{m1}"), values.get(f"{r2}.{m2}")
            if left is not None and right is not None:
                needed = {">=": "at least", ">": "more than", "<=": "at most", "<": "less than"}[str(sign)]
                return f"{r1} is {left - right:+.4g} against {r2} in {m1}, needed {needed} {float(str(bound)):+.4g}"
    return ", ".join(f"{name} = {value:.4g}" for name, value in values.items() if value is not None) or None


def _mean(values: Sequence[float | str | None]) -> float | None:
    known = [value for value in values if isinstance(value, (int, float))]
    return sum(known) / len(known) if known and len(known) == len(values) else None


def reruns_of(bundle: Bundle, results: Results) -> tuple[RerunResult, ...]:
    """The last metrics of each rerun against the first run's, each identifier and metric by itself."""
    found: list[RerunResult] = []
    for window in bundle.plan.windows:
        if window.kind != "rerun" or window.run is None:
            continue
        tolerance = window.tolerance or 0.0
        for run_id in window.run_ids:
            first = results.last(window.run, run_id)
            key = (run_id, window.name)
            again = results.metrics.get(key, {}) if results.ended.get(key, ("",))[0] == "done" else {}
            declared = next((run.metrics for run in bundle.plan.runs if run.name == window.run), ())
            for metric in sorted(set(declared or first) | set(again)) if first or again else sorted(declared):
                one, two = first.get(metric), again.get(metric)
                found.append(
                    RerunResult(
                        window=window.name,
                        run=window.run,
                        run_id=run_id,
                        metric=metric,
                        first=one,
                        again=two,
                        tolerance=tolerance,
                        holds=_agree(one, two, tolerance),
                    )
                )
    return tuple(found)


def _agree(first: float | None, again: float | None, tolerance: float) -> bool | None:
    if first is None or again is None:
        return None
    if not (math.isfinite(first) and math.isfinite(again)):
        return first == again or (math.isnan(first) and math.isnan(again))
    return abs(again - first) <= tolerance * abs(first)


def series_of(bundle: Bundle, story: Story) -> tuple[Series, ...]:
    """The curve of each metric of each run identifier in its own window, thinned to ``MOST_POINTS``; of a repeated step the last value."""
    owner = {identity.id: run.name for run in bundle.plan.runs for identity in run.ids}
    apart = {window.name for window in bundle.plan.windows if window.kind in APART}
    curves: dict[tuple[str, str], dict[int, float]] = {}
    for record in story.of("metric"):
        if record.run_id in owner and record.step is not None and record.window not in apart:
            for metric, value in numbers(record.more.get("values")).items():
                curves.setdefault((record.run_id, metric), {})[record.step] = value
    return tuple(
        Series(run=owner[run_id], run_id=run_id, metric=metric, points=_thin(sorted(points.items())))
        for (run_id, metric), points in sorted(curves.items())
    )


def _thin(points: Sequence[tuple[int, float]]) -> tuple[tuple[int, float], ...]:
    """Evenly thinned; the first, the last and every non-finite value stay."""
    stride = -(-len(points) // MOST_POINTS)
    last = len(points) - 1
    return tuple(
        point
        for index, point in enumerate(points)
        if index % stride == 0 or index == last or not math.isfinite(point[1])
    )
