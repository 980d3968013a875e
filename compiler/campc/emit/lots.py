"""What a scheduler has to know of a lot, in plain numbers."""

from __future__ import annotations

from fractions import Fraction
from math import ceil

from attrs import frozen

from campc.schedule.plan import Plan
from campc.schema.market import Package
from campc.schema.work import Run

_ZERO = Fraction(0)
_SHORTEST_NOTICE_S = Fraction(120)
"""What the supervisor gives an attempt to leave, where nothing is known of its checkpoints."""


@frozen
class LotTerms:
    """One lot: numbers of one machine (``_a_node``), bytes, seconds."""

    name: str
    nodes: int
    gpu: str | None
    gpus_a_node: int
    memory: int | None
    """Host memory that one machine needs at least: as much as its GPUs have, since what is saved passes through it."""
    gpu_memory: int | None
    disk: int | None
    length: Fraction
    """From its start to its usable end; where nothing bounds it, to the end of its windows, each as long as it may take."""
    notice: Fraction
    """How long before the end a run must hear of it, to write a checkpoint and leave."""
    interruptible: bool
    interruptions: Fraction | None
    vendor: str | None
    region: str | None
    runs: tuple[Run, ...]
    """The runs that are executed on it."""


def terms(plan: Plan, name: str) -> LotTerms:
    """The terms of a lot; what its package leaves open is None."""
    spec = plan.spec
    package = spec.package_of(spec.lots[name])
    assert package is not None
    nodes = int(package.nodes)
    gpus = ceil(package.gpus / nodes)
    memory = None if package.memory is None else int(package.memory.bytes)
    executed = {p.window.run for p in plan.on_lot(name) if p.window.run is not None}
    runs = tuple(run for run in spec.runs.values() if run.name in executed)
    return LotTerms(
        name=name,
        nodes=nodes,
        gpu=package.gpu,
        gpus_a_node=gpus,
        memory=None if memory is None else memory * gpus,
        gpu_memory=memory,
        disk=None if package.disk is None else int(package.disk.bytes),
        length=_length(plan, name),
        notice=_notice(package, runs),
        interruptible=package.interruptible,
        interruptions=None if package.interruptions is None else Fraction(package.interruptions.per_second),
        vendor=package.vendor,
        region=package.region,
        runs=runs,
    )


def _length(plan: Plan, name: str) -> Fraction:
    account = plan.accounts[name]
    if account.usable_end is not None:
        return max(account.usable_end - account.start, _ZERO)
    late = _ZERO
    for placement in plan.chain(name):
        takes = placement.window.takes
        if takes is not None:
            late += takes.high.seconds - takes.likely.seconds
    return account.reserved + late


def _notice(package: Package, runs: tuple[Run, ...]) -> Fraction:
    """The vendor's notice, or more where the checkpoints need more: three times their write and a minute."""
    needs = [_SHORTEST_NOTICE_S]
    if package.notice is not None:
        needs.append(package.notice.seconds)
    for run in runs:
        if run.checkpoint is not None and run.checkpoint.write is not None:
            needs.append(3 * run.checkpoint.write.seconds + 60)
    return max(needs)
