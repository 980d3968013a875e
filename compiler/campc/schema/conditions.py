"""Conditions as data: what `stop`, `watch`, `gate`, `outcome` and `accept` test."""

from __future__ import annotations

from fractions import Fraction

from campc.records import frozen
from campc.source import Span
from campc.values.quantities import plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeAlias


Expression: TypeAlias = "tuple[Any, ...]"
"""A nested tuple: operator, then operands, as the bundle's format describes."""

BUILTINS_RUN: dict[str, str] = {
    "checkpoint_age": "time since the last checkpoint that was verified, and that outlives the machine where `to` is to (a duration)",
    "truncated_inputs": "how many inputs were cut to fit (a count)",
    "disk_free": "free room where the outputs go (a size)",
    "gpu_utilisation": "how busy the GPUs are (a share)",
    "data_wait": "the share of time that training waits for data (a share)",
    "spend": "money committed and spent so far (money)",
    "step": "the number of steps done (steps)",
}
BUILTINS_FILE: dict[str, str] = {
    "bytes": "size of the file, or of all files, in bytes",
    "rows": "how many rows the files have",
    "files": "how many files there are",
    "missing_ids": "identifiers of the corpus that have no row",
    "duplicate_ids": "identifiers that have more than one row",
}
FUNCTIONS = ("mean", "min", "max", "std")


@frozen
class MetricUse:
    """A metric that a condition names; ``run`` where it says whose."""

    metric: str
    run: str | None
    at: Span
    best: bool = False


@frozen(eq=False)
class Condition:
    """A condition: its text as the author wrote it, its expression, and the metrics and built-ins that it names."""

    text: str
    expression: Expression
    at: Span
    metrics: tuple[MetricUse, ...]
    builtins: frozenset[str]

    def to_json(self) -> dict[str, Any]:
        """``{"text", "expr"}`` of the bundle's format."""
        return {"text": self.text, "expr": _listed(self.expression)}

    def tests_finite(self) -> bool:
        """Whether it asks if something is finite."""
        return _contains(self.expression, "finite")


def _listed(part: Any) -> Any:
    if isinstance(part, tuple):
        return [_listed(inner) for inner in part]
    if isinstance(part, Fraction):
        return plain(part)
    return part


def _contains(part: Any, operator: str) -> bool:
    return isinstance(part, tuple) and (part[:1] == (operator,) or any(_contains(inner, operator) for inner in part))
