"""How times of a plan are said in messages."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from campc.schedule.plan import Gpu, Plan
from campc.source import Span
from campc.values.quantities import format_duration


def moment(plan: Plan, seconds: Fraction) -> str:
    """A moment of the plan: local date and time, or T+ in a relative plan."""
    instant = plan.instant(seconds)
    if instant is None:
        return f"T{'-' if seconds < 0 else '+'}{format_duration(abs(seconds))}" if seconds else "T+0"
    local = instant.utc.astimezone(plan.spec.zone)
    return local.strftime("%Y-%m-%d %H:%M") + (local.strftime(":%S") if local.second else "")


def gpu_names(gpus: Sequence[Gpu], plan: Plan) -> str:
    """GPUs in a row in words: ``the GPU of box``, ``GPU 1 of pair``, ``GPUs 0 to 3 of pair``."""
    lot = gpus[0][0]
    package = plan.spec.package_of(plan.spec.lots.get(lot))
    if package is not None and package.gpus == 1:
        return f"the GPU of {lot}"
    low, high = gpus[0][1], gpus[-1][1]
    return f"GPU {low} of {lot}" if low == high else f"GPUs {low} to {high} of {lot}"


def listed(words: Sequence[str]) -> str:
    """Words in a row: ``a``, ``a and b``, ``a, b and c``."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def head(span: Span) -> Span:
    """The first line of a place."""
    return span.first_line


def plural(count: int, word: str) -> str:
    """A count with its word: ``1 window``, ``2 windows``."""
    return f"{count:,} {word}{'' if count == 1 else 's'}"


__all__ = ["format_duration", "gpu_names", "head", "listed", "moment", "plural"]
