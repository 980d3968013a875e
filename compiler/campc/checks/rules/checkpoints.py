"""C514 to C516, C518, C520: whether an interruption costs the interval or the run."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from campc.checks.facts import executed, packages_of, policies, rented
from campc.checks.registry import rule
from campc.checks.words import head, listed, plural
from campc.diagnostic import Diagnostic, Note
from campc.schedule.arithmetic import interval_seconds
from campc.schedule.plan import Plan
from campc.schema.market import Package
from campc.schema.spec import Spec
from campc.schema.work import Checkpoint, Run
from campc.values.quantities import Duration, compact_duration, format_duration, format_size


def _every(spec: Spec, policy: Checkpoint, runs: list[Run]) -> tuple[Fraction, str] | None:
    """The longest interval that a policy means, in seconds and in words."""
    if isinstance(policy.every, Duration):
        return policy.every.seconds, f"{policy.every}"
    known = [(seconds, run.name) for run in runs if (seconds := interval_seconds(spec, run)) is not None]
    if not known:
        return None
    seconds, name = max(known, key=lambda item: item[0])
    return seconds, f"{policy.every}, about {format_duration(round(seconds))} in {name},"


@rule("C514")
def loses_too_much(plan: Plan) -> Iterator[Diagnostic]:
    """The checkpoint interval exceeds the work that may be lost.

    At an interruption everything since the last checkpoint is lost: up to one interval, half of it on average. The interval follows from the loss that
    is acceptable, not the other way round.

    Bad:
        checkpoint { every = 2h; to = "s3://lab/checkpoints"; may_lose = 1h }

    Good:
        checkpoint { every = 45min; to = "s3://lab/checkpoints"; may_lose = 1h }
    """
    for policy, runs in policies(plan.spec):
        every = _every(plan.spec, policy, runs)
        if policy.may_lose is None or every is None:
            continue
        over = every[0] - policy.may_lose.seconds
        if over > 0:
            yield Diagnostic(
                "C514",
                head(policy.place("every")),
                f"a checkpoint every {every[1]} can lose that much work, and {policy.may_lose} may be lost: {format_duration(_short(over))} too much",
                (Note(head(policy.place("may_lose")), f"{policy.may_lose} may be lost"),),
                help=f"write every = {compact_duration(policy.may_lose.seconds)} or less",
            )


def _short(seconds: Fraction) -> Fraction:
    return seconds if seconds.denominator == 1 else Fraction(max(1, round(seconds)))


@rule("C515")
def checkpoints_inside(plan: Plan) -> Iterator[Diagnostic]:
    """Checkpoints live on the rented machine only.

    When the machine is taken, they are taken with it. A checkpoint is a recovery point once it lies somewhere that outlives the machine.

    Bad:
        checkpoint { every = 20min; to = "checkpoints" }
        tier essential { window control { kind = train; on = box; takes = 10h; run = control } }

    Good:
        checkpoint { every = 20min; to = "s3://lab/checkpoints" }
        tier essential { window control { kind = train; on = box; takes = 10h; run = control } }
    """
    spec = plan.spec
    for policy, runs in policies(spec):
        if policy.to is None or policy.broken & {"to", "outside"} or policy.is_outside:
            continue
        if runs and any(packages_of(spec, run) for run in runs):
            said = policy.wrote("outside")
            yield Diagnostic(
                "C515",
                head(policy.place("to")),
                f'checkpoints go to "{policy.to}", which is {"declared not to be" if said else "on the rented machine, not"} outside it: '
                "they are lost with the machine",
                help='write to = "s3://…", or another URL; or outside = true, where that folder survives the machine, as a network disk does',
            )


@rule("C516", absence=True)
def interruptible_without_checkpoint(plan: Plan) -> Iterator[Diagnostic]:
    """A lot can be interrupted, and a run on it has no checkpoint.

    Interruptible machines are cheap because they are taken away. Without a checkpoint an interruption costs the run, not the interval. A run that says
    `recover = rerun` begins again on purpose, and needs none.

    Bad:
        package spot { gpu = "A100"; duration = 3d; price = 120 USD; interruptible = true; interruptions = 1 per 24h }
        lot machine { package = spot; starts = 2026-12-01 09:00 }
        tier essential { window control { kind = train; on = machine; takes = 10h; run = control } }

    Good:
        package spot { gpu = "A100"; duration = 3d; price = 120 USD; interruptible = true; interruptions = 1 per 24h }
        lot machine { package = spot; starts = 2026-12-01 09:00 }
        checkpoint { every = 20min; to = "s3://lab/checkpoints" }
        tier essential { window control { kind = train; on = machine; takes = 10h; run = control } }
    """
    spec = plan.spec
    for lot, package in rented(spec):
        if not package.interruptible:
            continue
        bare = {
            run.name: window
            for window, run in executed(spec, lot.name)
            if run.checkpoint is None and run.recover != "rerun" and not _unknown(run)
        }
        if bare:
            often = (
                ""
                if package.interruptions is None
                else f", about once in {format_duration(1 / package.interruptions.per_second)}"
            )
            yield Diagnostic(
                "C516",
                lot.head,
                f"{lot.name} can be interrupted{often}, and {listed(list(bare))} {'writes' if len(bare) == 1 else 'write'} no checkpoint",
                (
                    Note(head(package.place("interruptible")), "it can be interrupted"),
                    *(Note(head(w.at), f"runs {w.run}") for w in list(bare.values())[:2]),
                ),
                help='add checkpoint { every = 20min; to = "s3://…" }; or recover = rerun in a run that is to begin again each time',
            )


def _unknown(run: Run) -> bool:
    return bool(run.broken & {"variant_of", "recover"})


@rule("C518")
def checkpoints_do_not_fit(plan: Plan) -> Iterator[Diagnostic]:
    """The checkpoints that are kept do not fit where they go.

    Room is needed for those that are kept, for the best one where that is kept, too, and for the one that is being written. A full disk ends the run.

    Bad:
        checkpoint { every = 20min; to = "s3://lab/checkpoints"; keep = 3; size = 60GB; storage = 200GB }

    Good:
        checkpoint { every = 20min; to = "s3://lab/checkpoints"; keep = 2; size = 60GB; storage = 200GB }
    """
    spec = plan.spec
    for policy, runs in policies(spec):
        if policy.size is None or policy.broken & {"keep", "keep_best", "storage", "to", "outside"}:
            continue
        count = policy.keep + (policy.keep_best is not None) + 1
        room = policy.size.bytes * count
        parts = f"{policy.keep} kept{', the best' if policy.keep_best is not None else ''} and 1 being written"
        needs = f"checkpoints need {format_size(room)}: {plural(count, 'time')} {policy.size}, {parts}"
        disk = _smallest_disk(spec, policy, runs)
        if policy.storage is not None and room > policy.storage.bytes:
            limit, has = policy.storage.bytes, f"`storage` holds {policy.storage}"
            at, notes = policy.place("storage"), (Note(head(policy.place("size")), f"{policy.size} each"),)
        elif disk is not None and disk.disk is not None and room > disk.disk.bytes:
            limit, has = disk.disk.bytes, f"the disk of {disk.name} holds {disk.disk}"
            at, notes = policy.place("size"), (Note(head(disk.place("disk")), f"{disk.disk}"),)
        else:
            continue
        fits = int(limit // policy.size.bytes) - count + policy.keep
        help_ = (
            f"write keep = {fits}"
            if fits >= 1
            else f"two of them must fit at least: {format_size(policy.size.bytes * 2)}"
        )
        yield Diagnostic(
            "C518",
            head(at),
            f"{needs}; {has}: {_about(room - limit)} too little",
            notes,
            help=f"{help_}, or give them more room",
        )


def _about(size: Fraction) -> str:
    """A difference of decimal and binary sizes, to three digits where it is exact in neither."""
    said = format_size(size)
    return said if len(said) < 12 else format_size(Fraction(float(f"{float(size):.3g}")))


def _smallest_disk(spec: Spec, policy: Checkpoint, runs: list[Run]) -> Package | None:
    """The package with the least disk that a policy writes to; None where it writes elsewhere, or no disk is known."""
    if policy.to is None or policy.is_outside:
        return None
    known = [package for run in runs for package in packages_of(spec, run) if package.disk is not None]
    return min(known, key=lambda package: package.disk.bytes if package.disk is not None else Fraction(0), default=None)


@rule("C520", absence=True)
def long_run_without_checkpoint(plan: Plan) -> Iterator[Diagnostic]:
    """More than an hour of training, and no checkpoint.

    Machines fail without being interruptible. With a checkpoint a failure costs the interval; without one it costs the window.

    Bad:
        tier essential { window control { kind = train; on = box; takes = 10h; run = control } }

    Good:
        checkpoint { every = 20min; to = "s3://lab/checkpoints" }
        tier essential { window control { kind = train; on = box; takes = 10h; run = control } }
    """
    spec = plan.spec
    interruptible = {lot.name for lot, package in rented(spec) if package.interruptible}
    for window in spec.windows.values():
        run = spec.run_of(window)
        if window.kind != "train" or run is None or run.checkpoint is not None or window.takes is None or _unknown(run):
            continue
        if window.on is not None and window.on.lot in interruptible:
            continue  # C516 says it of the lot.
        if window.takes.likely.seconds > 3600:
            yield Diagnostic(
                "C520",
                head(window.at),
                f"{window.name} trains for {window.takes.likely} and writes no checkpoint: a failure near its end costs all of it",
                help='add checkpoint { every = 20min; to = "s3://…" }',
            )
