"""What several rules ask of a spec: who is on which lot, which policy holds for whom, what is bound from the start."""

from __future__ import annotations

from collections.abc import Iterator

from campc.schedule.account import summed
from campc.schedule.plan import Plan
from campc.schema.market import Lot, Package
from campc.schema.results import Budget
from campc.schema.spec import Spec
from campc.schema.work import Checkpoint, Run, Window
from campc.source import Span
from campc.values.money import Money


def campaign_line(spec: Spec) -> Span:
    """Where a warning about something that the whole file lacks stands."""
    return spec.campaign.head


def broken_kinds(spec: Spec) -> frozenset[str]:
    """The kinds of blocks of which one could not be read as it was meant."""
    return frozenset(kind for kind, _ in spec.faulty)


def any_broken(spec: Spec, kind: str, *attributes: str) -> bool:
    """Whether a block of a kind was lost, or one of its attributes could not be read."""
    lost = any(k == kind and name not in spec.named(kind) for k, name in spec.faulty)
    return lost or any(not node.broken.isdisjoint(attributes) for node in spec.broken(kind))


def clock_unknown(spec: Spec, *lots: str | None) -> bool:
    """Whether something that windows' places in time rest on could not be read: the campaign's clock, or the starts of these lots (of all, where
    none is named; None is people's time)."""
    if not spec.declared or spec.campaign.broken & {"starts", "timezone"}:
        return True
    return any("starts" in lot.broken for lot in spec.lots.values() if not lots or lot.name in lots)


def executed(spec: Spec, lot: str) -> Iterator[tuple[Window, Run]]:
    """The windows on a lot that execute a run, with the run."""
    for window in spec.windows_on(lot):
        run = spec.run_of(window)
        if run is not None:
            yield window, run


def rented(spec: Spec) -> Iterator[tuple[Lot, Package]]:
    """The lots of known packages."""
    for lot in spec.lots.values():
        package = spec.package_of(lot)
        if package is not None and ("package", package.name) not in spec.faulty:
            yield lot, package


def packages_of(spec: Spec, run: Run) -> list[Package]:
    """The packages of the lots that a run is executed on."""
    lots = {w.on.lot for w in spec.windows_of(run.name) if w.on is not None}
    return [package for lot, package in rented(spec) if lot.name in lots]


def policies(spec: Spec) -> list[tuple[Checkpoint, list[Run]]]:
    """Each checkpoint policy that is written, with the executed runs that it holds for."""
    written = [spec.checkpoint, *(run.checkpoint for run in spec.own_runs.values())]
    holds_for: dict[int, list[Run]] = {}
    for run in spec.used_runs().values():
        holds_for.setdefault(id(run.checkpoint), []).append(run)
    return [(policy, holds_for.get(id(policy), [])) for policy in written if policy is not None]


def in_budget(plan: Plan, budget: Budget, *, from_the_start: bool = False) -> Money | None:
    """What is committed, in the budget's currency; None where that can't be said. ``from_the_start``: without what is billed as time goes by."""
    if budget.limit is None:
        return None
    spec = plan.spec
    if from_the_start:
        lump = {lot.name for lot, package in rented(spec) if isinstance(package.price, Money)}
        amounts = [a.price for name, a in plan.accounts.items() if name in lump and a.price is not None]
        amounts += [e.amount for e in spec.expenses.values() if e.amount is not None]
    else:
        amounts = list(plan.costs.total)
    total = summed(spec, [*amounts, Money(budget.limit.amount * 0, budget.limit.currency)])
    return total[0] if len(total) == 1 and total[0].currency == budget.limit.currency else None
