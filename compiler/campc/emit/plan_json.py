"""``campc plan --format json``: the schedule and the accounts."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Any

from campc.emit.campaign_json import plan_hash
from campc.schedule.plan import Account, CheckpointRow, PackageRow, Placement, Plan, RatioRow, Risk
from campc.values.money import Money
from campc.values.quantities import plain


def plan_json(plan: Plan, risk: Risk | None = None) -> dict[str, Any]:
    """The plan as JSON has it: times in seconds from the campaign's start, amounts as strings, unknown as null."""
    return {
        "version": 1,
        "campaign": plan.spec.campaign.name,
        "plan_hash": plan_hash(plan),
        "start": iso(plan, Fraction(0)),
        "windows": [_window(plan, placement) for placement in plan.placements.values()],
        "lots": [_lot(account) for account in plan.accounts.values()],
        "cost": {
            "rental": amounts(plan.costs.rental),
            "expenses": amounts(plan.costs.expenses),
            "total": amounts(plan.costs.total),
        },
        "ratios": [_ratio(row) for row in plan.ratios],
        "packages": [_package(row) for row in plan.packages],
        "checkpoint": [_checkpoint(row) for row in plan.checkpoints.values()],
        "risk": None if risk is None else risk_json(risk),
    }


def iso(plan: Plan, seconds: Fraction | None) -> str | None:
    """A moment of the plan in the campaign's zone; None in a relative plan."""
    instant = None if seconds is None else plan.instant(seconds)
    return None if instant is None else instant.iso(plan.spec.zone)


def amounts(money: Iterable[Money]) -> list[dict[str, str]]:
    """One amount a currency."""
    return [m.to_json() for m in money]


def number(value: Fraction | None) -> int | float | None:
    """An exact number as JSON has it."""
    return None if value is None else plain(value)


def _window(plan: Plan, placement: Placement) -> dict[str, Any]:
    window = placement.window
    return {
        "name": window.name,
        "tier": window.tier,
        "kind": window.kind,
        "lot": window.on.lot if window.on is not None else None,
        "gpus": [index for _, index in placement.gpus],
        "start_s": number(placement.start),
        "end_s": number(placement.end),
        "start": iso(plan, placement.start),
        "end": iso(plan, placement.end),
        "slack_s": number(placement.slack),
        "critical": placement.critical,
        "basis": window.basis,
        "run": window.run,
        "after": list(window.after),
    }


def _lot(account: Account) -> dict[str, Any]:
    return {
        "name": account.lot,
        "package": account.package,
        "start_s": number(account.start),
        "usable_end_s": number(account.usable_end),
        "reserved_s": number(account.reserved),
        "uncommitted_s": number(account.uncommitted),
        "overrun_s": number(account.overrun),
        "busy_gpu_s": number(account.busy),
        "price": None if account.price is None else account.price.to_json(),
    }


def _ratio(row: RatioRow) -> dict[str, Any]:
    return {
        "name": row.name,
        "expected": None if row.expected is None else row.expected.to_json(),
        "defined": row.defined,
        "count": row.count,
    }


def _package(row: PackageRow) -> dict[str, Any]:
    return {
        "name": row.package,
        "lots": 1,
        "covers": row.covers,
        "reserved_s": number(row.reserved),
        "uncommitted_s": number(row.uncommitted),
        "overrun_s": number(row.overrun),
        "price": None if row.price is None else row.price.to_json(),
        "chosen": row.chosen,
    }


def _checkpoint(row: CheckpointRow) -> dict[str, Any]:
    return {
        "run": row.run,
        "every_s": number(row.every),
        "young_s": _whole_if_whole(row.young),
        "daly_s": _whole_if_whole(row.daly),
        "overhead": number(row.overhead),
        "expected_loss_s": number(row.expected_loss),
        "room_bytes": number(row.room),
    }


def _whole_if_whole(value: float | None) -> int | float | None:
    return int(value) if value is not None and value.is_integer() else value


def risk_json(risk: Risk) -> dict[str, Any]:
    """The probabilities of a plan."""
    return {
        "samples": risk.samples,
        "distribution": risk.distribution,
        "tiers": [{"name": t.name, "p_finish": t.p_finish, "p50_s": t.p50, "p90_s": t.p90} for t in risk.tiers],
    }
