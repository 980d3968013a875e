"""From a spec to its plan."""

from __future__ import annotations

from fractions import Fraction

from campc.schedule.account import account, costs
from campc.schedule.arithmetic import checkpoint_row
from campc.schedule.packages import compare
from campc.schedule.place import conflicts, critical, link, order, place, slacks
from campc.schedule.plan import Costs, Placement, Plan, RatioRow
from campc.schedule.timeline import campaign_start, lot_term
from campc.schema.results import Ratio
from campc.schema.spec import Spec
from campc.values.money import Money


def make_plan(spec: Spec) -> Plan:
    """Place the windows, keep the lots' accounts, and add up what it costs. Faults in the spec leave gaps, never raise."""
    start = campaign_start(spec)
    terms = {name: lot_term(spec, lot, start) for name, lot in spec.lots.items()}
    placed = place(spec, terms, start)
    link(spec, placed)
    slack = slacks(placed, terms)
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
        for item in order(placed)
    }
    accounts = {name: account(spec, name, term, placed) for name, term in terms.items()}
    money = costs(spec, accounts.values())
    rows = {name: row for name, run in spec.used_runs().items() if (row := checkpoint_row(spec, run)) is not None}
    return Plan(
        spec=spec,
        start=start,
        placements=placements,
        accounts=accounts,
        conflicts=conflicts(placements),
        costs=money,
        ratios=tuple(ratio_row(spec, ratio, money) for ratio in spec.ratios.values()),
        packages=compare(spec, terms, start, placed),
        checkpoints=rows,
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
