"""From a spec to its plan."""

from __future__ import annotations

from fractions import Fraction

from campc.records import frozen
from campc.schedule.account import account, costs
from campc.schedule.arithmetic import checkpoint_row
from campc.schedule.conflicts import conflicts
from campc.schedule.links import critical, link, order, slacks
from campc.schedule.packages import compare
from campc.schedule.place import Placed, place
from campc.schedule.plan import Account, CheckpointRow, Conflict, Costs, PackageRow, Placement, Plan, RatioRow
from campc.schedule.timeline import Term, campaign_start, lot_term
from campc.schema.results import Ratio
from campc.schema.spec import Spec
from campc.values.instants import Instant
from campc.values.money import Money

TYPE_CHECKING = False
if TYPE_CHECKING:
    from campc.recall import Recall


def make_plan(spec: Spec, recall: Recall | None = None) -> Plan:
    """Place the windows, keep the lots' accounts, and add up what it costs. Faults in the spec leave gaps, never raise.

    ``recall``: of earlier plans of the same file.
    """
    if recall is None:
        timetable = _timetable(spec)
        return _plan(spec, timetable, _packages(spec, timetable), _checkpoints(spec), _ratios(spec, timetable))
    timetable = recall.of_spec("timetable", _timetable, spec)
    return _plan(
        spec,
        timetable,
        recall.of_spec("packages", _packages, spec, timetable),
        recall.of_spec("checkpoints", _checkpoints, spec),
        recall.of_spec("ratios", _ratios, spec, timetable),
    )


@frozen
class _Timetable:
    start: Instant | None
    terms: dict[str, Term]
    placed: dict[str, Placed]
    placements: dict[str, Placement]
    accounts: dict[str, Account]
    conflicts: tuple[Conflict, ...]
    costs: Costs


def _timetable(spec: Spec) -> _Timetable:
    start = campaign_start(spec)
    terms = {name: lot_term(spec, lot, start) for name, lot in spec.lots.items()}
    placed = place(spec, terms, start)
    planned = order(placed)
    link(placed, planned)
    slack = slacks(placed, terms, planned)
    on_chain = critical(placed)
    placements = {
        item.window.name: Placement(
            item.window,
            item.interval,
            item.gpus,
            item.fixed,
            slack[item.window.name],
            item.window.name in on_chain,
            tuple(item.predecessors),
        )
        for item in planned
    }
    by_lot: dict[str, list[Placed]] = {name: [] for name in terms}
    for item in placed.values():
        if item.window.on is not None:
            by_lot[item.window.on.lot].append(item)
    accounts = {name: account(spec, name, term, by_lot[name]) for name, term in terms.items()}
    money = costs(spec, accounts.values())
    return _Timetable(start, terms, placed, placements, accounts, conflicts(placements), money)


def _packages(spec: Spec, timetable: _Timetable) -> tuple[PackageRow, ...]:
    return compare(spec, timetable.terms, timetable.start, timetable.placed)


def _checkpoints(spec: Spec) -> dict[str, CheckpointRow]:
    return {name: row for name, run in spec.used_runs().items() if (row := checkpoint_row(spec, run)) is not None}


def _ratios(spec: Spec, timetable: _Timetable) -> tuple[RatioRow, ...]:
    return tuple(ratio_row(spec, ratio, timetable.costs) for ratio in spec.ratios.values())


def _plan(
    spec: Spec,
    timetable: _Timetable,
    packages: tuple[PackageRow, ...],
    checkpoints: dict[str, CheckpointRow],
    ratios: tuple[RatioRow, ...],
) -> Plan:
    return Plan(
        spec=spec,
        start=timetable.start,
        placements=timetable.placements,
        accounts=timetable.accounts,
        conflicts=timetable.conflicts,
        costs=timetable.costs,
        ratios=ratios,
        packages=packages,
        checkpoints=checkpoints,
    )


def can_be_accepted(spec: Spec, ratio: Ratio) -> bool:
    """Whether something that a ratio counts could ever be accepted: a deliverable with an acceptance check, of a run that some window executes."""
    if ratio.expect == 0:
        return False
    for name in ratio.per:
        deliverable = spec.deliverables.get(name)
        if deliverable is None or "accept" in deliverable.broken or "of" in deliverable.broken:
            return True
        if deliverable.accept is not None:
            return True
    return not ratio.per


def countable(spec: Spec, ratio: Ratio) -> int:
    """How many distinct corpora (or runs) the ratio's deliverables could bring; a run without a corpus counts by itself."""
    used = spec.used_runs()
    found: set[tuple[str, str]] = set()
    for name in ratio.per:
        deliverable = spec.deliverables.get(name)
        for run_name in deliverable.of if deliverable is not None else ():
            run = used.get(run_name)
            if run is not None:
                found.add(
                    ("corpus", run.corpus)
                    if ratio.distinct == "corpus" and run.corpus is not None
                    else ("run", run_name)
                )
    return len(found)


def cost_of(costs_: Costs, which: str | None) -> tuple[Money, ...]:
    """The cost that a ratio names: rental, expenses or total."""
    return {"rental": costs_.rental, "expenses": costs_.expenses, "total": costs_.total}.get(which or "", ())


def ratio_row(spec: Spec, ratio: Ratio, money: Costs) -> RatioRow:
    """A ratio as it is planned: its cost over the expected number."""
    if not can_be_accepted(spec, ratio):
        return RatioRow(ratio.name, False, None, ratio.expect)
    count = ratio.expect if ratio.expect is not None else countable(spec, ratio)
    amounts = cost_of(money, ratio.cost)
    if len(amounts) != 1 or not count:
        return RatioRow(ratio.name, bool(count), None, count or None)
    return RatioRow(ratio.name, True, amounts[0] * Fraction(1, count), count)
