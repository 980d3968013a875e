"""``campaign.json``: the checked plan as the harness and the closeout read it, and the hash of its meaning."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from campc.schedule.arithmetic import interval_seconds
from campc.schedule.plan import Account, Placement, Plan
from campc.schema.conditions import Condition
from campc.schema.market import Package
from campc.schema.results import Budget
from campc.schema.rules import Gate, Stop, Watch
from campc.schema.spec import Spec
from campc.schema.work import Checkpoint, Run
from campc.values.money import Money, MoneyRate
from campc.values.quantities import Duration, Size, Steps, plain

SCHEMA = 1
LOWER_IS_BETTER = ("loss", "error", "perplexity")


def canonical(value: Any) -> bytes:
    """JSON with sorted keys and no spaces: the same bytes for the same meaning."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode()


def plan_hash(plan: Plan) -> str:
    """SHA-256 of the resolved plan in its canonical form: what the spec means, not how it is laid out, and not what the files hold that it names."""
    content = _content(plan)
    content.pop("allowances")
    return hashlib.sha256(canonical(content)).hexdigest()


def campaign_json(plan: Plan, version: str, configurations: Mapping[str, Mapping[int | None, str]]) -> dict[str, Any]:
    """The content of ``campaign.json``. ``configurations`` holds each run's configuration hash by seed."""
    content = _content(plan)
    for run in content["runs"]:
        run["ids"] = [
            {
                "id": identifier(run["name"], seed if run["seeds"] else None, digest),
                "seed": seed,
                "config_sha256": digest,
            }
            for seed, digest in configurations[run["name"]].items()
        ]
    ids = {run["name"]: [i["id"] for i in run["ids"]] for run in content["runs"]}
    for window in content["windows"]:
        window["run_ids"] = ids.get(window["run"], [])
    return {"schema": SCHEMA, "campc": version, "plan_hash": plan_hash(plan), **content}


def identifier(run: str, seed: int | None, digest: str) -> str:
    """A run's identifier: its name, its seed where it has several, and 8 hexadecimal digits of its configuration's hash."""
    return f"{run}-{digest[:8]}" if seed is None else f"{run}-{seed}-{digest[:8]}"


def _content(plan: Plan) -> dict[str, Any]:
    spec = plan.spec
    campaign = spec.campaign
    return {
        "campaign": {
            "name": campaign.name,
            "question": campaign.question,
            "decision": campaign.decision,
            "if_negative": campaign.if_negative,
            "owner": campaign.owner,
            "timezone": campaign.timezone,
            "currency": campaign.currency,
            "deadline": None if campaign.deadline is None else campaign.deadline.iso(spec.zone),
            "start": _iso(plan, Fraction(0)),
            "secrets": list(campaign.secrets),
            "requirements": None if campaign.requirements is None else f"work/{campaign.requirements}",
            "image": campaign.image,
            "files": list(campaign.files),
            "rates": {currency: money.to_json() for currency, money in (campaign.rates or {}).items()},
            "rates_source": campaign.rates_source,
        },
        "lots": [_lot(plan, account) for account in plan.accounts.values()],
        "windows": [_window(plan, placement) for placement in plan.placements.values()],
        "runs": [_run(spec, run) for run in spec.runs.values()],
        "corpora": [
            {
                "name": c.name,
                "path": c.path,
                "sha256": c.sha256,
                "rows": None if c.rows is None else int(c.rows),
                "ids": c.ids,
                "frozen": None if c.frozen is None else str(c.frozen),
                "region": c.region,
                "sample": c.sample,
            }
            for c in spec.corpora.values()
        ],
        "stops": [_rule(rule) for rule in spec.stops.values()],
        "watches": [_rule(rule) for rule in spec.watches.values()],
        "gates": [_gate(gate) for gate in spec.gates.values()],
        "outcomes": [
            {"name": o.name, "when": _condition(o.when), "conclude": o.conclude} for o in spec.outcomes.values()
        ],
        "unknowns": [
            {"name": u.name, "question": u.question, "settled_by": u.settled_by} for u in spec.unknowns.values()
        ],
        "deliverables": [
            {
                "name": d.name,
                "of": list(d.of),
                "path": d.path,
                "kind": d.kind,
                "accept": _condition(d.accept),
                "reload": d.reload,
                "base": d.base if d.base is not None else _common_base(spec, d.of),
                "tier": _tier_of(spec, d.of),
            }
            for d in spec.deliverables.values()
        ],
        "expenses": [
            {"name": e.name, "amount": _money(e.amount), "covers": e.covers, "estimate": e.estimate}
            for e in spec.expenses.values()
        ],
        "ratios": [
            {
                "name": r.name,
                "cost": r.cost,
                "per": list(r.per),
                "distinct": r.distinct,
                "expect": r.expect,
                "if_none": r.if_none,
            }
            for r in spec.ratios.values()
        ],
        "budget": None
        if spec.budget is None
        else {"limit": _money(spec.budget.limit), "alert": _money(alert_amount(spec.budget))},
        "preflight": None
        if spec.preflight is None
        else {
            "quota": spec.preflight.quota,
            "capacity": spec.preflight.capacity,
            "staged": spec.preflight.staged,
            "budget_alert": spec.preflight.budget_alert,
            "dry_run": spec.preflight.dry_run,
        },
        "shutdown": None
        if spec.shutdown is None
        else {
            "command": spec.shutdown.command,
            "when": spec.shutdown.when,
            "elsewhere": spec.shutdown.elsewhere,
            "hold_s": _seconds(spec.shutdown.hold),
        },
        "cleanup": [{"paths": list(c.paths), "after_s": _seconds(c.after)} for c in spec.cleanups],
        "notify": [{"command": n.command, "on": list(n.on)} for n in spec.notifies],
        "allowances": [{"code": a.code, "reason": a.reason, "line": a.line} for a in spec.allowances],
    }


def alert_amount(budget: Budget) -> Money | None:
    """The alert as money: a share is one of the limit."""
    match budget.alert:
        case None:
            return None
        case Money() as amount:
            return amount
        case share:
            return None if budget.limit is None else budget.limit * share.fraction


def _iso(plan: Plan, seconds: Fraction | None) -> str | None:
    instant = None if seconds is None else plan.instant(seconds)
    return None if instant is None else instant.iso(plan.spec.zone)


def _seconds(duration: Duration | None) -> int | float | None:
    return None if duration is None else plain(duration.seconds)


def _bytes(size: Size | None) -> int | float | None:
    return None if size is None else plain(size.bytes)


def _money(money: Money | None) -> dict[str, str] | None:
    return None if money is None else money.to_json()


def _number(value: Fraction | None) -> int | float | None:
    return None if value is None else plain(value)


def _condition(condition: Condition | None) -> dict[str, Any] | None:
    return None if condition is None else condition.to_json()


def _package(package: Package) -> dict[str, Any]:
    price = package.price
    rate = None
    if isinstance(price, MoneyRate):
        rate = {
            "money": {"amount": str(float(price.money.amount)), "currency": price.money.currency},
            "per_s": plain(price.per.seconds),
            "increment_s": plain(package.increment.seconds),
            "minimum_s": _seconds(package.minimum),
        }
    return {
        "name": package.name,
        "vendor": package.vendor,
        "gpu": package.gpu,
        "gpus": package.gpus,
        "nodes": package.nodes,
        "memory_bytes": _bytes(package.memory),
        "price": price.to_json() if isinstance(price, Money) else None,
        "rate": rate,
        "duration_s": _seconds(package.duration),
        "region": package.region,
        "disk_bytes": _bytes(package.disk),
        "interruptible": package.interruptible,
        "interruptions_per_s": None if package.interruptions is None else float(package.interruptions.per_second),
        "notice_s": _seconds(package.notice),
        "ends_early_s": _seconds(package.ends_early),
        "tax": package.tax,
        "source": package.source,
    }


def _lot(plan: Plan, account: Account) -> dict[str, Any]:
    lot = plan.spec.lots[account.lot]
    package = plan.spec.package_of(lot)
    return {
        "name": lot.name,
        "package": None if package is None else _package(package),
        "start_s": plain(account.start),
        "start": _iso(plan, account.start),
        "usable_end_s": _number(account.usable_end),
        "usable_end": _iso(plan, account.usable_end),
        "keep_free_s": _seconds(lot.keep_free),
        "order": lot.order,
        "price": _money(account.price),
    }


def _window(plan: Plan, placement: Placement) -> dict[str, Any]:
    window = placement.window
    takes = window.takes
    assert takes is not None
    return {
        "name": window.name,
        "tier": window.tier,
        "kind": window.kind,
        "lot": window.on.lot if window.on is not None else None,
        "gpus": [index for _, index in placement.gpus],
        "after": list(window.after),
        "start_s": plain(placement.start),
        "end_s": plain(placement.end),
        "start": _iso(plan, placement.start),
        "end": _iso(plan, placement.end),
        "takes": {
            "low_s": plain(takes.low.seconds),
            "likely_s": plain(takes.likely.seconds),
            "high_s": plain(takes.high.seconds),
        },
        "assumed": window.basis is None,
        "basis": window.basis,
        "last": window.last,
        "run": window.run,
        "limit_steps": None if window.limit is None else window.limit.count,
        "tolerance": 0 if window.tolerance is None else plain(window.tolerance.fraction),
        "to": window.to,
        "command": window.command,
        "slack_s": _number(placement.slack),
        "critical": placement.critical,
    }


def _run(spec: Spec, run: Run) -> dict[str, Any]:
    return {
        "name": run.name,
        "seeds": list(run.seeds),
        "seed": run.seed,
        "script": None if run.script is None else f"work/{run.script}",
        "args": list(run.args),
        "env": dict(run.env),
        "params": dict(run.params),
        "corpus": run.corpus,
        "steps": None if run.steps is None else run.steps.count,
        "variant_of": run.variant_of,
        "change": dict(run.change),
        "because": run.because,
        "role": "control" if run.is_control else "variant",
        "from": run.from_,
        "recover": run.recover,
        "memory_bytes": _bytes(run.memory),
        "gpus": run.gpus,
        "processes": run.ranks,
        "metrics": list(run.metrics),
        "kind": run.kind,
        "base": run.base,
        "checkpoint": None if run.checkpoint is None else _checkpoint(spec, run, run.checkpoint),
    }


def _checkpoint(spec: Spec, run: Run, policy: Checkpoint) -> dict[str, Any]:
    return {
        "every_s": _number(interval_seconds(spec, run)) if isinstance(policy.every, Duration) else None,
        "every_steps": policy.every.count if isinstance(policy.every, Steps) else None,
        "to": policy.to,
        "keep": policy.keep,
        "keep_best": None
        if policy.keep_best is None
        else {"metric": policy.keep_best, "direction": direction(policy.keep_best)},
        "size_bytes": _bytes(policy.size),
        "write_s": _seconds(policy.write),
        "restore_s": _seconds(policy.restore),
        "may_lose_s": _seconds(policy.may_lose),
        "outside": policy.is_outside,
        "storage_bytes": _bytes(policy.storage),
    }


def direction(metric: str) -> str:
    """Whether a metric is better when it is lower (loss, error, perplexity in its last part) or higher."""
    last = metric.rsplit(".", 1)[-1].lower()
    return "min" if any(word in last for word in LOWER_IS_BETTER) else "max"


def _rule(rule: Stop | Watch) -> dict[str, Any]:
    return {
        "name": rule.name,
        "when": _condition(rule.when),
        "from_steps": rule.from_.count if isinstance(rule.from_, Steps) else None,
        "from_s": _seconds(rule.from_) if isinstance(rule.from_, Duration) else None,
        "for_count": rule.for_ if isinstance(rule.for_, int) else None,
        "for_s": _seconds(rule.for_) if isinstance(rule.for_, Duration) else None,
        "runs": list(rule.runs),
        "because": rule.because,
    }


def _gate(gate: Gate) -> dict[str, Any]:
    return {
        "name": gate.name,
        "after": gate.after,
        "question": gate.question,
        "when": _condition(gate.when),
        "otherwise": gate.otherwise,
        "drops": {"tiers": list(gate.drops.tiers), "windows": list(gate.drops.windows)},
        "enough": _condition(gate.enough),
        "wait_s": _seconds(gate.wait),
        "if_silent": gate.if_silent,
    }


def _common_base(spec: Spec, runs: tuple[str, ...]) -> str | None:
    bases = {spec.runs[name].base for name in runs if name in spec.runs}
    return bases.pop() if len(bases) == 1 else None


def _tier_of(spec: Spec, runs: tuple[str, ...]) -> str | None:
    """The highest tier in which one of the runs is executed; None where none is."""
    from campc.schema.work import TIERS

    tiers = {window.tier for window in spec.windows.values() if window.run in runs}
    return next((tier for tier in TIERS if tier in tiers), None)
