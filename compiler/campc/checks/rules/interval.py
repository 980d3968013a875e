"""C517, C519: what a checkpoint costs, against the notice and against interruptions."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from campc.checks.facts import packages_of, policies
from campc.checks.registry import rule
from campc.checks.words import head
from campc.diagnostic import Diagnostic, Note
from campc.schedule.plan import CheckpointRow, Plan
from campc.schema.market import Package
from campc.schema.spec import Spec
from campc.schema.work import Checkpoint, Run
from campc.values.money import Money, MoneyRate
from campc.values.quantities import Steps, compact_duration, format_duration, format_size

_FAR = 2
_MOST_OVERHEAD = Fraction(1, 10)


@rule("C517")
def notice_too_short(plan: Plan) -> Iterator[Diagnostic]:
    """A checkpoint takes longer to write than the notice before the machine is taken.

    At the warning the run writes one last checkpoint. If that doesn't fit, everything since the one before is lost each time.

    Bad:
        package spot { gpu = "A100"; duration = 3d; price = 120 USD; interruptible = true; notice = 30s }
        lot machine { package = spot; starts = 2026-12-01 09:00 }
        checkpoint { every = 20min; to = "s3://lab/checkpoints"; size = 60GB; write = 60GB / 0.5GB/s }
        tier essential { window control { kind = train; on = machine; takes = 10h; run = control } }

    Good:
        package spot { gpu = "A100"; duration = 3d; price = 120 USD; interruptible = true; notice = 2min }
        lot machine { package = spot; starts = 2026-12-01 09:00 }
        checkpoint { every = 20min; to = "s3://lab/checkpoints"; size = 60GB; write = 60GB / 1GB/s }
        tier essential { window control { kind = train; on = machine; takes = 10h; run = control } }
    """
    for policy, runs in policies(plan.spec):
        if policy.write is None:
            continue
        known = [package for run in runs for package in packages_of(plan.spec, run) if package.notice is not None]
        package = min(known, key=lambda p: p.notice.seconds if p.notice is not None else Fraction(0), default=None)
        if package is None or package.notice is None or policy.write < package.notice:
            continue
        write, notice = policy.write.seconds, package.notice.seconds
        over = write - notice
        by = f"{format_duration(over)} too long" if over else "nothing is left to finish in"
        if policy.size is not None and notice:
            rate = f"{format_size(policy.size.bytes)} in {format_duration(notice)} would take more than {format_size(policy.size.bytes / notice)}/s"
            help_ = f"{rate}, and {format_duration(write)} is {format_size(policy.size.bytes / write)}/s: write it faster, or make it smaller"
        else:
            help_ = f"a write must take less than {format_duration(notice)}: make it faster or smaller, or take a package with a longer notice"
        yield Diagnostic(
            "C517",
            head(policy.place("write")),
            f"a checkpoint takes {format_duration(write)} to write, and {package.name} gives {format_duration(notice)} of notice: {by}",
            (Note(head(package.place("notice")), f"{format_duration(notice)} of notice"),),
            help=help_,
        )


@rule("C519")
def interval_far_from_optimum(plan: Plan) -> Iterator[Diagnostic]:
    """The checkpoint interval is far from its optimum, or writing takes more than a tenth of the time.

    Short intervals cost writes, long ones cost work that is done again. Young's and Daly's formulas weigh both: the optimum is near √(2 · write · mean
    time between interruptions). A factor of two on either side costs little; beyond, it is worth a change.

    Bad:
        package spot { gpu = "A100"; duration = 3d; price = 120 USD; interruptible = true; interruptions = 1 per 24h }
        lot machine { package = spot; starts = 2026-12-01 09:00 }
        checkpoint { every = 5h; to = "s3://lab/checkpoints"; write = 2min; restore = 3min }
        tier essential { window control { kind = train; on = machine; takes = 30h; run = control } }

    Good:
        package spot { gpu = "A100"; duration = 3d; price = 120 USD; interruptible = true; interruptions = 1 per 24h }
        lot machine { package = spot; starts = 2026-12-01 09:00 }
        checkpoint { every = 75min; to = "s3://lab/checkpoints"; write = 2min; restore = 3min }
        tier essential { window control { kind = train; on = machine; takes = 30h; run = control } }
    """
    spec = plan.spec
    for policy, runs in policies(spec):
        rows = [(run, plan.checkpoints[run.name]) for run in runs if run.name in plan.checkpoints]
        judged = [(_badness(row), run, row) for run, row in rows]
        if not judged or policy.write is None:
            continue
        badness, run, row = max(judged, key=lambda item: item[0])
        if badness <= 1 or row.every is None:
            continue
        yield Diagnostic("C519", head(policy.place("every")), _what(policy, row), help=_costs(spec, policy, run, row))


def _badness(row: CheckpointRow) -> float:
    """How far a row is beyond what is acceptable; over 1 is too far."""
    found = 0.0
    if row.every is not None and row.daly is not None and row.daly > 0:
        ratio = float(row.every) / row.daly
        found = max(ratio, 1 / ratio) / _FAR
    if row.overhead is not None:
        found = max(found, float(row.overhead / _MOST_OVERHEAD))
    return found


def _what(policy: Checkpoint, row: CheckpointRow) -> str:
    assert row.every is not None and policy.write is not None
    every = f"{policy.every}" + (
        f", about {format_duration(round(row.every))}," if isinstance(policy.every, Steps) else ""
    )
    parts = []
    if row.daly is not None and row.mean_time_between is not None:
        ratio = float(row.every) / row.daly
        if max(ratio, 1 / ratio) > _FAR:
            factor = f"{ratio:.1f} times longer" if ratio > 1 else f"{1 / ratio:.1f} times shorter"
            parts.append(
                f"a checkpoint every {every} is {factor} than the optimum of {_round_time(row.daly)}, with writes of {policy.write} and an interruption "
                f"every {format_duration(round(row.mean_time_between))}"
            )
    if row.overhead is not None and row.overhead > _MOST_OVERHEAD:
        share = f"{float(row.overhead) * 100:.1f}%"
        rest = "" if parts else f": {policy.write} for each {every}, and 10% is the most that is worth it"
        parts.append(f"writing takes {share} of the time{rest}")
    return "; ".join(parts)


def _round_time(seconds: float) -> str:
    return format_duration(_rounded(seconds))


def _rounded(seconds: float) -> Fraction:
    """To whole minutes, or to whole seconds where it is short."""
    step = 60 if seconds >= 600 else 1
    return Fraction(max(1, round(seconds / step)) * step)


def _costs(spec: Spec, policy: Checkpoint, run: Run, row: CheckpointRow) -> str:
    assert row.every is not None and policy.write is not None
    least = _rounded(float(policy.write.seconds * 9) + 0.5)
    if row.daly is None or row.mean_time_between is None:
        return (
            f"write every = {compact_duration(least)} or more, which brings it to 10% or less; or make a write faster"
        )
    best = _rounded(row.daly)
    length = sum(
        (
            w.takes.likely.seconds
            for w in spec.windows.values()
            if w.run == run.name and w.takes is not None and w.kind != "pilot"
        ),
        Fraction(0),
    )
    if not length or best == _rounded(float(row.every)):
        return f"the optimum is {format_duration(best)}; a faster or smaller write costs less"
    restore = policy.restore.seconds if policy.restore is not None else Fraction(0)
    sold = next(iter(packages_of(spec, run)), None)

    def loss(every: Fraction) -> str:
        assert policy.write is not None and row.mean_time_between is not None
        writes = length * policy.write.seconds / (every + policy.write.seconds)
        again = length / row.mean_time_between * (every / 2 + restore)
        return f"{_hours(writes + again)}{_worth(sold, writes + again)}"

    now = f"every = {compact_duration(best)} loses about {loss(best)} of {run.name}'s {format_duration(length)}; as it is, {loss(row.every)}"
    limit = policy.may_lose
    return now + (f"; `may_lose` allows {limit}" if limit is not None and limit.seconds < best else "")


def _hours(seconds: Fraction) -> str:
    return f"{float(seconds) / 3600:.1f} h" if seconds >= 360 else f"{float(seconds) / 60:.1f} min"


def _worth(package: Package | None, seconds: Fraction) -> str:
    """What that time is worth: its part of the lot's price, or what is billed for it."""
    if package is not None:
        match package.price:
            case Money() as price if package.duration is not None:
                return f" ({price * (seconds / package.duration.seconds)} of the lot's price)"
            case MoneyRate() as rate:
                return f" ({rate.money * (seconds / rate.per.seconds)})"
    return ""
