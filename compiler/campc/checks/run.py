"""All rules, and running them."""

from __future__ import annotations

from campc.checks.registry import Rule
from campc.checks.rules import cost, fit, machine, overlap
from campc.diagnostic import Diagnostic
from campc.schedule.plan import Plan

ALL_RULES: tuple[Rule, ...] = (
    overlap.windows_overlap,
    fit.overrun,
    overlap.before_lot,
    overlap.before_dependency,
    overlap.gpu_index,
    fit.reserve_short,
    fit.pessimistic,
    machine.after_lower_tier,
    machine.run_too_large,
    machine.incomplete_gpu_window,
    machine.no_usable_end,
    cost.undefined_ratio,
    cost.no_fallback,
    cost.mixed_currencies,
    cost.over_budget,
)


def check_plan(plan: Plan) -> tuple[Diagnostic, ...]:
    """What the rules find in a plan, rule by rule."""
    return tuple(diagnostic for rule in ALL_RULES for diagnostic in rule.check(plan))
