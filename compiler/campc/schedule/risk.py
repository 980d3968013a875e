"""How likely each tier ends in time: a seeded Monte Carlo over ranges and interruptions. The only place of the plan with floats."""

from __future__ import annotations

import random
from collections.abc import Callable

from campc.schedule.plan import Placement, Plan, Risk, TierRisk
from campc.schema.spec import Spec
from campc.schema.work import TIERS, Window

SAMPLES = 20_000
MOST_DRAWS = 3_000_000
"""Long plans get fewer samples, so that a plan is printed in seconds."""
SEED = 20_240_229


def risk(plan: Plan) -> Risk | None:
    """The risk of a plan; None where every time is single and nothing interrupts, or where it can't be placed in full.

    Times are drawn from a triangular distribution (low, likely, high); the planned order is kept on every GPU; an interruption costs every/2 + restore,
    and comes at the package's rate while a window with a checkpointed run is on the machine.
    """
    spec = plan.spec
    ranged = any(w.takes is not None and w.takes.low != w.takes.high for w in spec.windows.values())
    losses = {name: loss for name, p in plan.placements.items() if (loss := _loss(plan, p)) is not None}
    if not (ranged or losses) or not plan.placements or len(plan.placements) < len(spec.windows):
        return None
    samples = max(1000, min(SAMPLES, MOST_DRAWS // len(plan.placements)))
    ends = _simulate(plan, losses, samples)
    tiers = []
    for tier in TIERS:
        names = [name for name, p in plan.placements.items() if p.window.tier == tier]
        if not names:
            continue
        latest = sorted(max(ends[name][i] for name in names) for i in range(samples))
        in_time = sum(
            all(ends[name][i] <= _usable(plan, plan.placements[name]) for name in names) for i in range(samples)
        )
        tiers.append(TierRisk(tier, in_time / samples, _quantile(latest, 0.5), _quantile(latest, 0.9)))
    return Risk(samples, "triangular", tuple(tiers))


def _usable(plan: Plan, placement: Placement) -> float:
    on = placement.window.on
    end = None if on is None else plan.accounts[on.lot].usable_end
    return float("inf") if end is None else float(end)


def _loss(plan: Plan, placement: Placement) -> tuple[float, float] | None:
    """Interruptions a second, and seconds that one costs; None where nothing interrupts the window."""
    window = placement.window
    package = plan.spec.package_of(plan.spec.lot_of(window))
    if package is None or not package.interruptible or package.interruptions is None or window.run is None:
        return None
    row = plan.checkpoints.get(window.run)
    cost = (
        float(placement.interval.length) / 2 if row is None or row.expected_loss is None else float(row.expected_loss)
    )
    return float(package.interruptions.per_second), cost


def _simulate(plan: Plan, losses: dict[str, tuple[float, float]], samples: int) -> dict[str, list[float]]:
    random_ = random.Random(SEED)
    ends: dict[str, list[float]] = {}
    for name, placement in plan.placements.items():
        draw = _draw(plan.spec, placement.window, random_)
        before = [ends[n] for n in placement.predecessors if n in ends]
        on = placement.window.on
        floor = (
            float(placement.start)
            if placement.fixed or not before
            else (float(plan.accounts[on.lot].start) if on is not None else 0.0)
        )
        loss = losses.get(name)
        column = []
        for i in range(samples):
            begin = max([floor, *(b[i] for b in before)])
            length = draw()
            if loss is not None:
                length += _poisson(random_, loss[0] * length) * loss[1]
            column.append(begin + length)
        ends[name] = column
    return ends


def _draw(spec: Spec, window: Window, random_: random.Random) -> Callable[[], float]:
    assert window.takes is not None
    low, likely, high = (float(part.seconds) for part in (window.takes.low, window.takes.likely, window.takes.high))
    if low == high:
        return lambda: likely
    return lambda: random_.triangular(low, high, likely)


def _poisson(random_: random.Random, mean: float) -> int:
    """A Poisson count, by summing exponential gaps."""
    count, time = 0, random_.expovariate(1.0)
    while time < mean:
        count += 1
        time += random_.expovariate(1.0)
    return count


def _quantile(ordered: list[float], share: float) -> float:
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]
