"""C302, C307, C308: what does not fit a lot."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from campc import records
from campc.checks.registry import rule
from campc.checks.words import head, listed, moment
from campc.diagnostic import Diagnostic, Note
from campc.schedule.packages import same_model
from campc.schedule.place import place
from campc.schedule.plan import Account, PackageRow, Plan
from campc.schedule.timeline import lot_term
from campc.schema.work import TIERS, Window
from campc.values.quantities import Duration, Range, compact_duration, format_duration


@rule("C302")
def overrun(plan: Plan) -> Iterator[Diagnostic]:
    """The work on a lot ends after the lot does.

    The machine is taken away at the usable end, whatever still runs. What the last windows would have brought home is lost with it.

    Bad:
        tier essential {
          window control { kind = train; on = box; takes = 40h; run = control }
          window variant { kind = train; on = box; takes = 38h; after = control; run = variant }
        }

    Good:
        tier essential {
          window control { kind = train; on = box; takes = 30h; run = control }
          window variant { kind = train; on = box; takes = 30h; after = control; run = variant }
        }
    """
    for account in plan.accounts.values():
        if account.overrun <= 0 or not account.complete or account.usable_end is None:
            continue
        lot = plan.spec.lots[account.lot]
        length = account.usable_end - account.start
        package = plan.spec.package_of(lot)
        whole = lot.ends is None and package is not None and not package.ends_early.seconds
        what = "the package lasts" if whole else "the lot can be used for"
        holds = f"{what} {format_duration(length)}" if length > 0 else "and is taken away before it begins"
        chain = plan.chain(account.lot)
        shown = [f"{p.name} {format_duration(p.interval.length)}" for p in chain]
        if len(shown) > 8:
            shown = [*shown[:3], f"… {len(shown) - 6} more …", *shown[-3:]]
        advice = [f"the chain is {' → '.join(shown)}"]
        drop = smallest_drop(plan, account)
        if drop:
            kept = without(dict(plan.spec.windows), drop)
            along = [name for name in plan.spec.windows if name not in kept and name not in drop]
            advice.append(
                f"dropping {listed(drop)} would make it fit"
                + (f", and {listed(along)} {'goes' if len(along) == 1 else 'go'} with it" if along else "")
            )
        others = _same_gpu(plan, account)
        covering = [row for row in others if row.covers and row.price is not None]
        if covering:
            best = min(covering, key=lambda row: row.price.amount if row.price is not None else Fraction(0))
            rest = "" if best.uncommitted is None else f" and leave {format_duration(best.uncommitted)} free"
            advice.append(f"{best.package} would cover it for {best.price}{rest}")
        elif others:
            advice.append("no known package of this GPU covers it")
        yield Diagnostic(
            "C302",
            lot.head,
            f"{account.lot} needs {format_duration(account.reserved)}, {holds}: {format_duration(account.overrun)} over",
            tuple(Note(head(p.window.at), f"ends at {moment(plan, p.end)}, after the lot") for p in chain[-1:]),
            help="; ".join(advice),
        )


def _same_gpu(plan: Plan, account: Account) -> list[PackageRow]:
    """The other packages of a lot's GPU model that are compared, in the currency that it is paid in."""
    package = plan.spec.packages[account.package] if account.package is not None else None
    if package is None or package.gpu is None:
        return []
    model = same_model(package.gpu)
    return [
        row
        for row in plan.packages
        if row.package != account.package
        and same_model(plan.spec.packages[row.package].gpu or "") == model
        and (row.price is None or account.price is None or row.price.currency == account.price.currency)
    ]


def smallest_drop(plan: Plan, account: Account) -> list[str]:
    """The fewest windows to drop so that a lot fits, lowest tier first; of equally many, those that free most time. Empty where nothing helps."""
    spec = plan.spec
    terms = {name: lot_term(spec, lot, plan.start) for name, lot in spec.lots.items()}
    dropped: list[str] = []
    windows = dict(spec.windows)
    limit = account.usable_end
    assert limit is not None

    def end_without(names: list[str]) -> Fraction:
        kept = without(windows, names)
        placed = place(records.evolve(spec, windows=kept), terms, plan.start)
        return max(
            (p.interval.end for p in placed.values() if p.window.on is not None and p.window.on.lot == account.lot),
            default=account.start,
        )

    def lost(names: list[str]) -> Fraction:
        kept = without(windows, names)
        return sum(
            (w.takes.likely.seconds for w in windows.values() if w.name not in kept and w.takes is not None),
            Fraction(0),
        )

    for tier in reversed(TIERS):
        candidates = [
            w
            for w in windows.values()
            if w.tier == tier and w.on is not None and w.on.lot == account.lot and not w.last
        ]
        candidates = [
            w for w in candidates if tier != "essential" or w.kind in ("train", "rerun", "infer", "evaluate", "other")
        ]
        if len(candidates) > 40:
            candidates = sorted(candidates, key=lambda w: -(w.takes.likely.seconds if w.takes else 0))[:40]
        while candidates:
            ends = [(end_without([*dropped, w.name]), w.order, w) for w in candidates]
            fitting = [item for item in ends if item[0] <= limit]
            if fitting:
                # Of those that suffice, the one that costs the least work, with what can't go on without it.
                chosen = min(fitting, key=lambda item: (lost([*dropped, item[2].name]), -item[1]))
                return [*dropped, chosen[2].name]
            end, _, best = min(ends, key=lambda item: (item[0], -item[1]))
            if end >= end_without(dropped):
                break
            dropped.append(best.name)
            candidates.remove(best)
    return []


def without(windows: dict[str, Window], names: list[str]) -> dict[str, Window]:
    """The windows that are left when some are dropped: what follows one goes on without it where its ``after`` has others left, else is dropped, too.

    A ``last`` or bring-home window always stays.
    """
    gone = set(names)
    changed = True
    while changed:
        changed = False
        for window in windows.values():
            if window.name in gone or not window.after:
                continue
            stays = window.last or window.kind in ("retrieve", "transfer")
            if not stays and all(name in gone for name in window.after):
                gone.add(window.name)
                changed = True
    return {
        name: records.evolve(window, after=tuple(n for n in window.after if n not in gone))
        for name, window in windows.items()
        if name not in gone
    }


@rule("C307")
def reserve_short(plan: Plan) -> Iterator[Diagnostic]:
    """Less time is left uncommitted than `keep_free` asks for.

    Time left free is what a slow step, a retry or a second look is paid from. The rule compares what is left before the usable end with what was to be kept.

    Bad:
        lot box { package = three_days; starts = 2026-12-01 09:00; keep_free = 12h }
        tier essential { window control { kind = train; on = box; takes = 62h; run = control } }

    Good:
        lot box { package = three_days; starts = 2026-12-01 09:00; keep_free = 12h }
        tier essential { window control { kind = train; on = box; takes = 60h; run = control } }
    """
    for account in plan.accounts.values():
        lot = plan.spec.lots[account.lot]
        if account.overrun > 0 or account.uncommitted is None or not account.complete or "keep_free" in lot.broken:
            continue
        short = lot.keep_free.seconds - account.uncommitted
        if short > 0:
            yield Diagnostic(
                "C307",
                lot.head,
                f"{account.lot} leaves {format_duration(account.uncommitted)} uncommitted, and {format_duration(lot.keep_free.seconds)} were to be kept free: "
                f"{format_duration(short)} short",
                help=f"shorten or drop {format_duration(short)} of windows, or write keep_free = {compact_duration(account.uncommitted)}",
            )


@rule("C308")
def pessimistic(plan: Plan) -> Iterator[Diagnostic]:
    """It fits as likely, but not if every window on the chain takes its high estimate.

    A range says how sure an estimate is. If the high ends add up to more than the lot has, the plan rests on luck.

    Bad:
        tier essential { window control { kind = train; on = box; takes = 50h .. 60h .. 80h; run = control } }

    Good:
        tier essential { window control { kind = train; on = box; takes = 50h .. 60h .. 70h; run = control } }
    """
    spec = plan.spec
    if not any(w.takes is not None and _is_range(w.takes) for w in spec.windows.values()):
        return
    terms = {name: lot_term(spec, lot, plan.start) for name, lot in spec.lots.items()}
    high = {
        name: records.evolve(w, takes=Range(w.takes.high, w.takes.high, w.takes.high)) if w.takes is not None else w
        for name, w in spec.windows.items()
    }
    placed = place(records.evolve(spec, windows=high), terms, plan.start)
    for account in plan.accounts.values():
        if account.overrun > 0 or account.usable_end is None or not account.complete:
            continue
        on_it = [p for p in placed.values() if p.window.on is not None and p.window.on.lot == account.lot]
        end = max((p.interval.end for p in on_it), default=account.start)
        if end > account.usable_end:
            yield Diagnostic(
                "C308",
                plan.spec.lots[account.lot].head,
                f"{account.lot} fits as likely with {format_duration(account.uncommitted or Fraction(0))} free, and is "
                f"{format_duration(end - account.usable_end)} over if every window takes its high estimate",
                help="put a gate behind the pilot that can drop a window, or take a longer package",
            )


def _is_range(takes: Range[Duration]) -> bool:
    return takes.high is not takes.likely and takes.high != takes.likely
