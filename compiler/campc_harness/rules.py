"""Stop and watch rules inside a training process, on raw values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from campc_harness.conditions import Facts, describe, evaluate, needs_supervisor, terms


@dataclass(frozen=True)
class Fired:
    """A rule that holds: its name, the values that it rests on in words, and why it was written."""

    name: str
    values: str
    because: str


ELSEWHERE = Fired("of another rank", "it holds there", "")
"""A rule that holds on another rank, which tells the details."""


class Rule:
    """One `stop` or `watch` and its count of consecutive observations.

    Args:
        rule: the entry of campaign.json.
    """

    def __init__(self, rule: Mapping[str, Any]) -> None:
        self.name = str(rule["name"])
        self.condition: Mapping[str, Any] = rule["when"]
        self.because = str(rule.get("because") or self.condition.get("text", ""))
        self._from_steps = rule.get("from_steps") or 0
        self._from_s = rule.get("from_s") or 0.0
        self._for_count = rule.get("for_count") or 1
        self._for_s = rule.get("for_s")
        named = list(terms(self.condition["expr"]))
        self.metrics = frozenset(term[1] for term in named if term[0] in ("metric", "best"))
        self.builtins = frozenset(term[1] for term in named if term[0] == "builtin")
        self._count = 0
        self._since: float | None = None
        self._step = -1
        self._holding = False

    def observe(self, facts: Facts, step: int, elapsed: float) -> Fired | None:
        """Take one observation; `Fired` where the rule now holds as long as it must.

        Several observations in one step are one, which holds if any of them does. Unknown counts as not holding.

        Args:
            facts: what is known.
            step: the current step.
            elapsed: seconds of the run so far, over all attempts.
        """
        if step < self._from_steps or elapsed < self._from_s:
            return None
        holds = evaluate(self.condition, facts) is True
        if step != self._step:
            self._step, self._holding = step, False
            if not holds:
                self._count, self._since = 0, None
        if not holds or self._holding:
            return None
        self._holding = True
        self._count += 1
        self._since = elapsed if self._since is None else self._since
        long_enough = elapsed - self._since >= self._for_s if self._for_s else self._count >= self._for_count
        if not long_enough:
            return None
        return Fired(self.name, describe(self.condition, facts), self.because)

    def state_dict(self) -> list[Any]:
        """The count, for a checkpoint."""
        return [self._count, self._since]

    def load_state_dict(self, state: list[Any]) -> None:
        """Go on counting from a checkpoint's."""
        self._count, self._since = int(state[0]), state[1]


class Rules:
    """All rules of a run that the training process evaluates itself.

    Args:
        entries: of campaign.json; those that only the supervisor can evaluate are left to it.
    """

    def __init__(self, entries: tuple[Mapping[str, Any], ...]) -> None:
        self._rules = [Rule(entry) for entry in entries if not needs_supervisor(entry["when"])]
        self._by_metric: dict[str, list[Rule]] = {}
        for rule in self._rules:
            for metric in rule.metrics:
                self._by_metric.setdefault(metric, []).append(rule)
        self._timed = [rule for rule in self._rules if not rule.metrics]
        self.metrics = frozenset(self._by_metric)
        self.builtins = frozenset(name for rule in self._rules for name in rule.builtins)

    def about(self, names: Mapping[str, Any]) -> list[Rule]:
        """Rules that name one of these metrics."""
        if self.metrics.isdisjoint(names):
            return []
        return [rule for rule in self._rules if not rule.metrics.isdisjoint(names)]

    @property
    def timed(self) -> list[Rule]:
        """Rules that name no metric: observed at step boundaries."""
        return self._timed

    def state_dict(self) -> dict[str, list[Any]]:
        """The counts, by rule."""
        return {rule.name: rule.state_dict() for rule in self._rules}

    def load_state_dict(self, state: Mapping[str, list[Any]]) -> None:
        """Go on counting; rules that the checkpoint doesn't know start anew."""
        for rule in self._rules:
            if rule.name in state:
                rule.load_state_dict(state[rule.name])
