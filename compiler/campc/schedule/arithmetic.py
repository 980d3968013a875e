"""Checkpoint arithmetic: optimal intervals, overhead, expected loss, room.

Young, J. W. (1974): A first order approximation to the optimum checkpoint interval. Communications of the ACM 17 (9).
Daly, J. T. (2006): A higher order estimate of the optimum checkpoint interval for restart dumps. Future Generation Computer Systems 22 (3), eq. 37.
"""

from __future__ import annotations

import math
from fractions import Fraction

from campc.schedule.plan import CheckpointRow
from campc.schema.spec import Spec
from campc.schema.work import Run
from campc.values.quantities import Duration, Steps


def young(write: float, mean_time: float) -> float:
    """Young's optimum interval √(2·w·M), in the unit of both arguments."""
    return math.sqrt(2 * write * mean_time)


def daly(write: float, mean_time: float) -> float:
    """Daly's optimum √(2·w·M)·[1 + ⅓·√(w/2M) + (1/9)·(w/2M)] − w for w < 2M, else M."""
    if write >= 2 * mean_time:
        return mean_time
    ratio = write / (2 * mean_time)
    return math.sqrt(2 * write * mean_time) * (1 + math.sqrt(ratio) / 3 + ratio / 9) - write


def mean_time_between(spec: Spec, run: str) -> Fraction | None:
    """The mean time between interruptions of the lots that a run is on; the shortest, of several."""
    rates = []
    for window in spec.windows_of(run):
        package = spec.package_of(spec.lot_of(window))
        if package is not None and package.interruptions is not None:
            rates.append(package.interruptions.per_second)
    return 1 / max(rates) if rates else None


def interval_seconds(spec: Spec, run: Run) -> Fraction | None:
    """The checkpoint interval; of one in steps, takes / steps each, where both are known."""
    policy = run.checkpoint
    if policy is None:
        return None
    match policy.every:
        case Duration(seconds=seconds):
            return seconds
        case Steps(count=count):
            of_run = [(w.kind, w.takes.likely.seconds) for w in spec.windows_of(run.name) if w.takes is not None]
            takes = [time for kind, time in of_run if kind == "train"] or [t for kind, t in of_run if kind == "rerun"]
            if not takes or run.steps is None:
                return None
            return takes[0] / (run.steps.count * max(1, len(run.seeds))) * count
    return None


def checkpoint_row(spec: Spec, run: Run) -> CheckpointRow | None:
    """The arithmetic of a run's policy; None where it has none."""
    policy = run.checkpoint
    if policy is None:
        return None
    every = interval_seconds(spec, run)
    write = policy.write.seconds if policy.write is not None else None
    restore = policy.restore.seconds if policy.restore is not None else None
    mean_time = mean_time_between(spec, run.name)
    known = write is not None and mean_time is not None
    room = None
    if policy.size is not None:
        room = policy.size.bytes * (policy.keep + (policy.keep_best is not None) + 1)
    return CheckpointRow(
        run=run.name,
        every=every,
        young=young(float(write), float(mean_time)) if known and write is not None and mean_time is not None else None,
        daly=daly(float(write), float(mean_time)) if known and write is not None and mean_time is not None else None,
        overhead=write / (every + write) if write is not None and every is not None else None,
        expected_loss=every / 2 + restore if every is not None and restore is not None else None,
        room=room,
        mean_time_between=mean_time,
    )
