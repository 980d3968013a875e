"""C309, C310, C312, C313: tiers, machines, and what a GPU window needs."""

from __future__ import annotations

from collections.abc import Iterator

from campc.checks.registry import rule
from campc.checks.words import head, listed
from campc.diagnostic import Diagnostic, Note
from campc.schedule.plan import Plan
from campc.schedule.timeline import billed_by_time
from campc.schema.work import GPU_KINDS, TIERS


@rule("C309")
def after_lower_tier(plan: Plan) -> Iterator[Diagnostic]:
    """A window comes after one of a lower tier.

    Tiers say what is dropped first. If something essential waits for something useful, dropping the useful part drops the essential one as well.

    Bad:
        tier useful { window extra { kind = evaluate; on = box; takes = 2h } }
        tier essential { window control { kind = train; on = box; takes = 10h; after = extra; run = control } }

    Good:
        tier essential { window control { kind = train; on = box; takes = 10h; run = control } }
        tier useful { window extra { kind = evaluate; on = box; takes = 2h; after = control } }
    """
    spec = plan.spec
    for window in spec.windows.values():
        lower = [
            spec.windows[n]
            for n in window.after
            if n in spec.windows and TIERS.index(spec.windows[n].tier) > TIERS.index(window.tier)
        ]
        if lower:
            names = listed([f"{w.name}, which is {w.tier}" for w in lower])
            yield Diagnostic(
                "C309",
                window.place("after"),
                f"{window.name} is {window.tier} and comes after {names}",
                tuple(Note(head(w.at), f"{w.tier}") for w in lower),
                help=f"move {listed([w.name for w in lower])} into tier {window.tier}, or take it out of `after`",
            )


@rule("C310")
def run_too_large(plan: Plan) -> Iterator[Diagnostic]:
    """A run needs more memory, or more GPUs, than the machine that it is placed on has.

    Two lots are two machines: they do not merge their memories. A run that doesn't fit ends in its first minute, out of memory.

    Bad:
        run big { script = "train.py"; memory = 40GB }
        tier essential { window big { kind = train; on = box; takes = 10h; run = big } }

    Good:
        run big { script = "train.py"; memory = 20GB }
        tier essential { window big { kind = train; on = box; takes = 10h; run = big } }
    """
    spec = plan.spec
    for window in spec.windows.values():
        run, lot = spec.run_of(window), spec.lot_of(window)
        package = spec.package_of(lot)
        if run is None or lot is None or package is None or window.on is None:
            continue
        problems: list[str] = []
        notes: list[Note] = []
        offered = (
            package.gpus if window.on.low is None or window.on.high is None else window.on.high - window.on.low + 1
        )
        if run.memory is not None and package.memory is not None and run.memory.bytes > package.memory.bytes:
            over = type(run.memory)(run.memory.bytes - package.memory.bytes)
            problems.append(
                f"{run.memory} of memory on one GPU, and {package.gpu} in {lot.name} has {package.memory}: {over} too much"
            )
            notes.append(Note(package.place("memory"), f"{package.memory} each"))
        if (
            "gpus" not in run.broken
            and "gpus" not in package.broken
            and run.gpus > offered
            and (window.on.high is None or window.on.high < package.gpus)
        ):
            has = f"{window.on} is {offered} GPU{'s' if offered > 1 else ''}"
            problems.append(f"{run.gpus} GPUs, and {has}: {run.gpus - offered} missing")
            notes.append(Note(package.place("gpus"), f"{package.gpus} in one lot"))
        if problems:
            several = len(spec.lots) > 1
            yield Diagnostic(
                "C310",
                head(window.at),
                f"run {run.name} needs {'; and '.join(problems)}",
                tuple(notes),
                help=_larger(plan, run.name, lot.name)
                + ("; lots are separate machines and don't merge their memories" if several else ""),
            )


def _larger(plan: Plan, run_name: str, lot_name: str) -> str:
    run = plan.spec.runs[run_name]
    fitting = [
        p
        for p in plan.spec.packages.values()
        if p.gpus >= run.gpus
        and (run.memory is None or (p.memory is not None and p.memory.bytes >= run.memory.bytes))
        and p.price is not None
    ]
    if fitting:
        return f"package {fitting[0].name} ({fitting[0].gpus} × {fitting[0].gpu}, {fitting[0].price}) would hold it"
    return "take a package with a larger machine, or make the run smaller"


@rule("C312")
def incomplete_gpu_window(plan: Plan) -> Iterator[Diagnostic]:
    """A window of a GPU kind without `on`, or without `run`.

    A `pilot`, `train` or `rerun` window executes a run on GPUs. Without the one nothing says where, without the other nothing says what.

    Bad:
        tier essential { window control { kind = train; takes = 10h; run = control } }

    Good:
        tier essential { window control { kind = train; on = box; takes = 10h; run = control } }
    """
    for window in plan.spec.windows.values():
        if window.kind not in GPU_KINDS:
            continue
        missing = [
            word
            for word, value in (("on", window.on), ("run", window.run))
            if value is None and word not in window.broken and not window.wrote(word)
        ]
        if missing:
            lots, runs = list(plan.spec.lots), list(plan.spec.runs)
            examples = {
                "on": lots[0] if lots else "LOT",
                "run": window.name if window.name in runs else runs[0] if runs else "RUN",
            }
            yield Diagnostic(
                "C312",
                head(window.at),
                f"{window.name} is a {window.kind} window and has no {' and no '.join(f'`{word}`' for word in missing)}",
                help="add " + "; ".join(f"{word} = {examples[word]}" for word in missing),
            )


@rule("C313")
def no_usable_end(plan: Plan) -> Iterator[Diagnostic]:
    """A lot that ends before it starts, or is billed by time without any bound.

    A lot billed by time runs until somebody ends it. Either the vendor fixes its end, or a budget bounds what it may cost.

    Bad:
        package spot { gpu = "A100"; price = 2.49 USD per h }
        lot machine { package = spot; starts = 2026-12-01 09:00 }
        tier essential { window control { kind = train; on = machine; takes = 10h; run = control } }

    Good:
        package spot { gpu = "A100"; price = 2.49 USD per h }
        lot machine { package = spot; starts = 2026-12-01 09:00; ends = 2026-12-02 09:00 }
        tier essential { window control { kind = train; on = machine; takes = 10h; run = control } }
    """
    spec = plan.spec
    for name, account in plan.accounts.items():
        lot = spec.lots[name]
        package = spec.package_of(lot)
        if package is None or lot.broken & {"starts", "ends"} or ("package", package.name) in spec.faulty:
            continue
        if lot.ends is not None:
            if plan.start is not None and account.end is not None and account.end <= account.start:
                yield Diagnostic(
                    "C313",
                    lot.place("ends"),
                    f"{name} ends before it starts" if account.end < account.start else f"{name} ends as it starts",
                    (Note(lot.place("starts"), "starts here"),) if lot.wrote("starts") else (),
                    help="write an end after the start, or leave `ends` out",
                )
        elif billed_by_time(package) and spec.budget is None:
            yield Diagnostic(
                "C313",
                lot.head,
                f"{name} is billed by time, and neither an end nor a budget bounds it",
                (Note(package.place("price"), f"{package.price}"),),
                help="write ends = DATE in the lot, or add budget { limit = …; alert = 80% }",
            )
