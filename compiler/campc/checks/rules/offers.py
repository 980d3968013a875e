"""C314, C407: another package of the catalog would do."""

from __future__ import annotations

from collections.abc import Iterator

from campc.checks.facts import rented
from campc.checks.registry import rule
from campc.checks.words import head, listed
from campc.diagnostic import Diagnostic, Note
from campc.schedule.packages import same_model
from campc.schedule.plan import PackageRow, Plan
from campc.schema.market import Lot, Package
from campc.schema.work import Run
from campc.values.money import Money
from campc.values.quantities import format_duration


@rule("C314")
def needless_nodes(plan: Plan) -> Iterator[Diagnostic]:
    """A run spans several machines though one that is known would hold it.

    Several machines add their network, and one more thing that can fail. Where one machine holds the run, it is simpler and usually faster.

    Bad:
        package cluster { gpu = "A100"; gpus = 8; nodes = 2; duration = 7d; price = 1500 USD }
        package machine { gpu = "A100"; gpus = 8; duration = 7d; price = 1700 USD }
        lot wide { package = cluster; starts = 2026-12-01 09:00 }
        run large { script = "train.py"; gpus = 8 }
        tier essential { window large { kind = train; on = wide; takes = 10h; run = large } }

    Good:
        package cluster { gpu = "A100"; gpus = 8; nodes = 2; duration = 7d; price = 1500 USD }
        package machine { gpu = "A100"; gpus = 8; duration = 7d; price = 1700 USD }
        lot wide { package = machine; starts = 2026-12-01 09:00 }
        run large { script = "train.py"; gpus = 8 }
        tier essential { window large { kind = train; on = wide; takes = 10h; run = large } }
    """
    spec = plan.spec
    seen: set[tuple[str, str]] = set()
    if all(package.nodes < 2 for package in spec.packages.values()):
        return
    for window in spec.windows.values():
        run, package = spec.run_of(window), spec.package_of(spec.lot_of(window))
        if (
            run is None
            or package is None
            or "gpus" in run.broken
            or package.broken & {"gpus", "nodes"}
            or package.nodes < 2
        ):
            continue
        each = -(-package.gpus // package.nodes)
        if run.gpus <= each or run.gpus > package.gpus:
            continue
        holding = [p for p in spec.packages.values() if p.nodes == 1 and p.gpus >= run.gpus and _holds(p, run, package)]
        if holding and (run.name, package.name) not in seen:
            seen.add((run.name, package.name))
            best = min(holding, key=lambda p: (same_model(p.gpu or "") != same_model(package.gpu or ""), p.gpus))
            yield Diagnostic(
                "C314",
                head(window.at),
                f"run {run.name} needs {run.gpus} GPUs and spans {-(-run.gpus // each)} machines of {package.name}, and {best.name} has {best.gpus} in one",
                (
                    Note(head(package.place("nodes")), f"{package.gpus} GPUs in {package.nodes} machines"),
                    Note(best.head, "one machine"),
                ),
                help=f"write package = {best.name} in the lot ({best.price}); several machines add their network, and one more thing that can fail",
            )


def _holds(package: Package, run: Run, instead_of: Package) -> bool:
    if ("memory" in package.broken) or package.gpu is None:
        return False
    if run.memory is not None and package.memory is not None:
        return package.memory.bytes >= run.memory.bytes
    return same_model(package.gpu) == same_model(instead_of.gpu or "") and not _smaller(package, instead_of)


def _smaller(package: Package, than: Package) -> bool:
    return package.memory is not None and than.memory is not None and package.memory.bytes < than.memory.bytes


@rule("C407")
def cheaper_package(plan: Plan) -> Iterator[Diagnostic]:
    """A cheaper package that is known covers the same schedule, with what is to be kept free.

    The same GPU, the same work, less money: the rest of a longer period is no reason to fill it.

    Bad:
        package three { gpu = "RTX 4090"; duration = 3d; price = 47.14 USD }
        package seven { gpu = "RTX 4090"; duration = 7d; price = 110 USD }
        lot machine { package = seven; starts = 2026-12-01 09:00; keep_free = 12h }
        tier essential { window control { kind = train; on = machine; takes = 40h; run = control } }

    Good:
        package three { gpu = "RTX 4090"; duration = 3d; price = 47.14 USD }
        package seven { gpu = "RTX 4090"; duration = 7d; price = 110 USD }
        lot machine { package = three; starts = 2026-12-01 09:00; keep_free = 12h }
        tier essential { window control { kind = train; on = machine; takes = 40h; run = control } }
    """
    spec = plan.spec
    groups: dict[str, list[tuple[Lot, Package]]] = {}
    for lot, package in rented(spec):
        if package.gpu is not None:
            groups.setdefault(same_model(package.gpu), []).append((lot, package))
    for model, group in groups.items():
        accounts = [plan.accounts[lot.name] for lot, _ in group]
        prices = [account.price for account in accounts if account.price is not None]
        worked = any(plan.on_lot(lot.name) for lot, _ in group)
        if (
            len(prices) < len(group)
            or len({p.currency for p in prices}) != 1
            or not worked
            or any(not a.complete or a.overrun > 0 for a in accounts)
        ):
            continue
        paid = Money(sum((p.amount for p in prices), 0 * prices[0].amount), prices[0].currency)
        begin, end = min(a.start for a in accounts), max(a.last_end for a in accounts)
        cheaper = [
            row
            for row in plan.packages
            if row.covers and row.price is not None and row.price.currency == paid.currency and row.price.amount < paid.amount
            and same_model(spec.packages[row.package].gpu or "") == model
            and begin + row.reserved <= end
            and _as_good(plan, row, [package for _, package in group], [lot.name for lot, _ in group])
        ]  # fmt: skip
        if not cheaper:
            continue
        best = min(cheaper, key=lambda row: row.price.amount if row.price is not None else paid.amount)
        assert best.price is not None
        names = [lot.name for lot, _ in group]
        free = "" if best.uncommitted is None else f", with {format_duration(best.uncommitted)} free"
        one = "one lot of " if len(group) > 1 else ""
        yield Diagnostic(
            "C407",
            group[0][0].head,
            f"{listed(names)} {'costs' if len(names) == 1 else 'cost'} {paid}, and {one}{best.package} covers the same schedule for {best.price}{free}: "
            f"{Money(paid.amount - best.price.amount, paid.currency)} less",
            (
                Note(spec.packages[best.package].head, f"{best.price}"),
                *(Note(lot.head, "this one, too") for lot, _ in group[1:3]),
            ),
            help=f"write package = {best.package}"
            if len(group) == 1
            else f"put all windows on one lot of {best.package}",
        )


def _as_good(plan: Plan, row: PackageRow, instead_of: list[Package], lots: list[str]) -> bool:
    """Whether a package's terms are no worse than those of the packages that are rented: for memory that no run states, and interruptions."""
    package = plan.spec.packages[row.package]
    if package.interruptible and not all(p.interruptible for p in instead_of):
        return False
    unstated = any(
        run.memory is None
        for name in lots
        for w in plan.spec.windows_on(name)
        if (run := plan.spec.run_of(w)) is not None
    )
    return not (unstated and any(_smaller(package, p) for p in instead_of))
