"""Which steps evaluate, as `run.every` and `run.evaluation` tell over time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class Evaluations:
    """Knows, of each interval that `run.every` was asked about, whether its steps evaluate; at first that they may."""

    def __init__(self) -> None:
        self._evaluates: dict[int, bool | None] = {}
        self._true_here: set[int] = set()
        self._evaluated_here = False

    def asked(self, interval: int, *, true: bool) -> None:
        """`run.every(interval)` was called, with this answer."""
        self._evaluates.setdefault(interval, None)
        if true:
            self._true_here.add(interval)

    def begun(self) -> None:
        """`run.evaluation` was entered."""
        self._evaluated_here = True

    def step_ended(self) -> None:
        """Learn from the step that ended."""
        for interval in self._true_here:
            if self._evaluates[interval] is None or self._evaluated_here:
                self._evaluates[interval] = self._evaluated_here
        self._true_here.clear()
        self._evaluated_here = False

    def due(self, step: int) -> bool:
        """Whether `step` may evaluate."""
        return any(evaluates is not False and step % interval == 0 for interval, evaluates in self._evaluates.items())

    def state_dict(self) -> dict[int, bool | None]:
        """What is known, for a checkpoint."""
        return dict(self._evaluates)

    def load_state_dict(self, state: Mapping[int, Any]) -> None:
        """Go on from a checkpoint."""
        self._evaluates = dict(state)
