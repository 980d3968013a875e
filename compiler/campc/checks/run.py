"""All rules, and running them."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from campc.checks.registry import Rule
from campc.checks.rules import (
    budget,
    checkpoints,
    conclude,
    cost,
    deliverables,
    design,
    fit,
    interval,
    machine,
    metrics,
    offers,
    operation,
    overlap,
    paths,
    people,
    recovery,
    stops,
    used,
)
from campc.diagnostic import Diagnostic
from campc.records import evolve
from campc.schedule.plan import Plan

TYPE_CHECKING = False
if TYPE_CHECKING:
    from campc.recall import Recall

ALL_RULES: tuple[Rule, ...] = (
    used.never_used,
    overlap.windows_overlap,
    fit.overrun,
    overlap.before_lot,
    overlap.before_dependency,
    overlap.gpu_index,
    recovery.nothing_retrieved,
    fit.reserve_short,
    fit.pessimistic,
    machine.after_lower_tier,
    machine.run_too_large,
    recovery.no_recovery_time,
    machine.incomplete_gpu_window,
    machine.no_usable_end,
    offers.needless_nodes,
    people.idle_while_people_work,
    people.after_deadline,
    cost.undefined_ratio,
    cost.no_fallback,
    cost.mixed_currencies,
    cost.over_budget,
    budget.no_budget,
    offers.cheaper_package,
    budget.useless_alert,
    design.no_control,
    design.confounded_variant,
    design.same_configuration,
    conclude.essential_incomplete,
    conclude.pilot_without_gate,
    design.full_grid,
    conclude.no_negative_conclusion,
    conclude.corpus_not_frozen,
    conclude.no_outcome,
    metrics.outcome_without_metric,
    stops.no_stop_on_divergence,
    stops.no_stop_on_lost_recovery,
    metrics.undeclared_metric,
    checkpoints.loses_too_much,
    checkpoints.checkpoints_inside,
    checkpoints.interruptible_without_checkpoint,
    interval.notice_too_short,
    checkpoints.checkpoints_do_not_fit,
    interval.interval_far_from_optimum,
    checkpoints.long_run_without_checkpoint,
    stops.no_stop_on_quality,
    stops.no_stop_on_truncation,
    deliverables.deliverable_without_acceptance,
    deliverables.model_without_reload,
    deliverables.inexact_base,
    paths.unsafe_path,
    deliverables.run_without_deliverable,
    deliverables.nothing_essential_delivered,
    paths.cleanup_deletes_results,
    paths.file_not_there,
    operation.quota_not_confirmed,
    operation.capacity_not_confirmed,
    operation.corpus_far_away,
    operation.no_dry_run,
    operation.machine_left_running,
    operation.shutdown_from_inside_only,
)

HIDES_THE_REST = ("C101", "C102", "C104", "C201", "C210")
"""Faults after which part of what an author wrote is unknown."""


def check_plan(
    plan: Plan, found_before: Iterable[Diagnostic] = (), recall: Recall | None = None
) -> tuple[Diagnostic, ...]:
    """What the rules find in a plan, rule by rule. ``found_before``: the faults of syntax, names and types; where some of them hide part of a file,
    rules that miss something keep still. ``recall``: of checks of earlier plans of the same file."""
    partly_unread = any(fault.code in HIDES_THE_REST for fault in found_before)
    rules = [rule for rule in ALL_RULES if not (rule.absence and partly_unread)]
    if recall is None:
        return tuple(diagnostic for rule in rules for diagnostic in _found(rule, plan))
    return tuple(d for rule in rules for d in recall.of_plan(rule.code, partial(_found, rule), plan))


def _found(rule: Rule, plan: Plan) -> tuple[Diagnostic, ...]:
    return tuple(_once_a_line(rule.check(plan)))


def _once_a_line(found: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Faults of one rule that begin on one line become one: an item that is written on a single line is reported once."""
    lines: dict[tuple[str, int], Diagnostic] = {}
    for fault in found:
        key = (fault.at.source.name, fault.at.line)
        first = lines.get(key)
        lines[key] = fault if first is None else _joined(first, fault)
    return list(lines.values())


def _joined(first: Diagnostic, second: Diagnostic) -> Diagnostic:
    helps = dict.fromkeys(h for h in (first.help, second.help) if h is not None)
    return evolve(
        first,
        message=f"{first.message}; {second.message}",
        related=tuple(dict.fromkeys((*first.related, *second.related))),
        help="; ".join(helps).replace("?; ", "? ") or None,
        fix=first.fix or second.fix,
        label=None,
    )
