"""C306, C311: what the schedule must hold beside the training itself."""

from __future__ import annotations

from collections.abc import Iterator

from campc.checks.facts import any_broken, campaign_line, executed, rented
from campc.checks.registry import rule
from campc.checks.words import head, listed, moment
from campc.diagnostic import Diagnostic, Note
from campc.schedule.arithmetic import interval_seconds
from campc.schedule.plan import Placement, Plan
from campc.schema.work import BRING_HOME_KINDS, Run, Window

_WORK = ("pilot", "train", "rerun", "infer", "evaluate")


@rule("C306", absence=True)
def nothing_retrieved(plan: Plan) -> Iterator[Diagnostic]:
    """Nothing brings the results home before the machine is taken.

    What lies on the machine at its end is gone. A `retrieve` or `transfer` window after the last work, before the usable end, takes it home; with
    `last = true` its time is always kept.

    Bad:
        tier essential { window control { kind = train; on = box; takes = 10h; run = control } }

    Good:
        tier essential {
          window control { kind = train; on = box; takes = 10h; run = control }
          window home    { kind = retrieve; on = box; takes = 1h; last = true; to = "s3://lab/results" }
        }
    """
    spec = plan.spec
    if not spec.declared or any_broken(spec, "window", "kind", "on", "takes", "starts", "after"):
        return
    home = [p for p in plan.placements.values() if p.window.kind in BRING_HOME_KINDS]
    lots: list[str] = []
    notes: list[Note] = []
    for name, account in plan.accounts.items():
        work = [p for p in plan.on_lot(name) if p.window.kind in _WORK or p.window.run is not None]
        if not work or account.overrun > 0 or not account.complete:
            continue
        last = max(work, key=lambda p: p.end)
        if any(_brings_home(plan, p, last, name) for p in home):
            continue
        lots.append(name)
        early = [p for p in home if p.window.on is not None and p.window.on.lot == name and p.start < last.end]
        notes += [
            Note(head(p.window.at), f"starts at {moment(plan, p.start)}, before {last.name} ends") for p in early[:1]
        ]
        notes.append(Note(head(last.window.at), f"the last work on {name}, until {moment(plan, last.end)}"))
    if lots:
        yield Diagnostic(
            "C306",
            campaign_line(spec),
            f"nothing brings the results home from {listed(lots)} after the last work there",
            tuple(notes[:6]),
            help=f'add window home {{ kind = retrieve; on = {lots[0]}; takes = 1h; last = true; to = "s3://…" }}',
        )


def _brings_home(plan: Plan, home: Placement, last: Placement, lot: str) -> bool:
    """Whether a window brings home what a lot's last work left, in time."""
    usable = plan.accounts[lot].usable_end
    if home.start < last.end or (usable is not None and home.end > usable):
        return False
    if home.window.on is not None and home.window.on.lot == lot:
        return True
    return last.name in _before(plan, home.window)


def _before(plan: Plan, window: Window) -> set[str]:
    """The windows that one comes after, directly or not."""
    found: set[str] = set()
    stack = list(window.after)
    while stack:
        name = stack.pop()
        if name not in found and name in plan.spec.windows:
            found.add(name)
            stack.extend(plan.spec.windows[name].after)
    return found


@rule("C311", absence=True)
def no_recovery_time(plan: Plan) -> Iterator[Diagnostic]:
    """The schedule holds no time for checkpoints, restore or a restart test.

    On a lot that can be interrupted, or in a window longer than the checkpoint interval, checkpoints are written and perhaps restored, and that takes
    time. It is planned for where the policy says what a `write` and a `restore` take, where a pilot of the run stands first, where a window of its own
    tries a restart, or where a rehearsal is required (`dry_run = true`).

    Bad:
        checkpoint { every = 20min; to = "s3://lab/checkpoints" }
        tier essential { window control { kind = train; on = box; takes = 10h; run = control } }

    Good:
        checkpoint { every = 20min; to = "s3://lab/checkpoints"; write = 1min; restore = 2min }
        tier essential { window control { kind = train; on = box; takes = 10h; run = control } }
    """
    spec = plan.spec
    if spec.preflight is not None and (spec.preflight.dry_run or "dry_run" in spec.preflight.broken):
        return
    for lot, package in rented(spec):
        if any(_tries_a_restart(window) for window in spec.windows_on(lot.name)):
            continue
        found = [
            (window, run)
            for window, run in executed(spec, lot.name)
            if window.kind == "train" and not _planned_for(run)
        ]
        if package.interruptible:
            bare = [(window, run) for window, run in found if run.checkpoint is not None]
            at, why = lot.head, f"{lot.name} can be interrupted"
        else:
            bare = [(window, run) for window, run in found if _longer_than_interval(plan, window, run)]
            at, why = (head(bare[0][0].at) if bare else lot.head), ""
        if not bare:
            continue
        unsaid = [f"{word} = …" for word in ("write", "restore") if any(_unsaid(run, word) for _, run in bare)]
        windows = [window for window, _ in bare]
        every = bare[0][1].checkpoint
        assert every is not None
        why = (
            why
            or f"{listed([w.name for w in windows[:4]])} {'is' if len(windows) == 1 else 'are'} longer than one interval of {every.every}"
        )
        yield Diagnostic(
            "C311",
            at,
            f"{why}, and the schedule holds no time for checkpoints, a restore or a restart test",
            tuple(Note(head(w.at), "trains") for w in windows[:3] if head(w.at) != at),
            help=f"say in checkpoint what it takes, {' and '.join(unsaid)}, and count it in `takes`; or require a rehearsal: preflight {{ dry_run = true }}; "
            "or put a pilot first",
        )


def _tries_a_restart(window: Window) -> bool:
    """Whether a window gives time to an early checkpoint and its reload: a pilot, or one that says so by its name."""
    words = ("restart", "restore", "resume", "recover", "checkpoint")
    return window.kind == "pilot" or (
        window.kind in ("setup", "evaluate", "other") and any(word in window.name.lower() for word in words)
    )


def _unsaid(run: Run, word: str) -> bool:
    return run.checkpoint is not None and getattr(run.checkpoint, word) is None


def _planned_for(run: Run) -> bool:
    policy = run.checkpoint
    if policy is None:
        return False
    return bool(policy.broken & {"write", "restore"}) or (policy.write is not None and policy.restore is not None)


def _longer_than_interval(plan: Plan, window: Window, run: Run) -> bool:
    every = interval_seconds(plan.spec, run)
    return every is not None and window.takes is not None and window.takes.likely.seconds > every
