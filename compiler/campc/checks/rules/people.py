"""C315, C316: the machine that waits for people, and people who wait for the answer."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from fractions import Fraction

from campc.checks.facts import any_broken, clock_unknown
from campc.checks.registry import rule
from campc.checks.words import head, listed, moment
from campc.diagnostic import Diagnostic, Note
from campc.schedule.plan import Interval, Placement, Plan
from campc.schema.work import GPU_KINDS
from campc.values.quantities import Duration, Offset, format_duration


@rule("C315")
def idle_while_people_work(plan: Plan) -> Iterator[Diagnostic]:
    """The machine is paid and idle while only people work.

    People's time costs the lot nothing before it begins, and everything while it runs. What can be done beforehand is done beforehand.

    Bad:
        tier essential {
          window prepare { kind = prepare; takes = 4h }
          window control { kind = train; on = box; takes = 10h; after = prepare; run = control }
        }

    Good:
        tier essential {
          window prepare { kind = prepare; takes = 4h; starts = -4h }
          window control { kind = train; on = box; takes = 10h; after = prepare; run = control }
        }
    """
    if clock_unknown(plan.spec) or any_broken(plan.spec, "window", "on", "starts", "takes", "after"):
        return
    found: dict[str, list[tuple[str, Interval, list[Placement]]]] = {}
    people = [p for p in plan.placements.values() if p.window.on is None and p.window.kind not in GPU_KINDS]
    for name, account in plan.accounts.items():
        if account.price is None:
            continue
        for gap, at_work in _people_in(_idle(plan, name), people):
            found.setdefault(at_work[0].name, []).append((name, gap, at_work))
    for number, (first, gaps) in enumerate(found.items()):
        window = plan.placements[first].window
        parts = []
        for lot, gap, at_work in gaps:
            alone = _covered(gap, at_work)
            parts.append(
                f"{lot} is paid and idle for {format_duration(alone)} from {moment(plan, max(gap.start, at_work[0].start))}, while only "
                f"{listed([p.name for p in at_work])} {'goes' if len(at_work) == 1 else 'go'} on"
            )
        yield Diagnostic(
            "C315",
            head(window.at),
            "; ".join(parts),
            tuple(Note(head(p.window.at), "goes on meanwhile, too") for _, _, at_work in gaps for p in at_work[1:3]),
            help="; ".join(dict.fromkeys(_what_saves_it(plan, *waiting) for waiting in gaps))
            if number < _MOST_HELPED
            else None,
        )


_MOST_HELPED = 40
"""For how many it is looked up which start would save the time; where there are more, nobody reads them."""


def _people_in(gaps: list[Interval], people: list[Placement]) -> Iterator[tuple[Interval, list[Placement]]]:
    """The gaps that people's windows reach into, with these; both come in order of their start."""
    waiting = deque(people)
    at_work: list[Placement] = []
    for gap in gaps:
        while waiting and waiting[0].start < gap.end:
            at_work.append(waiting.popleft())
        at_work = [p for p in at_work if p.end > gap.start]
        if at_work:
            yield gap, list(at_work)


def _idle(plan: Plan, lot: str) -> list[Interval]:
    """When no window holds any of a lot's GPUs, from its start to the end of its last window."""
    reached = plan.accounts[lot].start
    gaps = []
    for placement in plan.on_lot(lot):
        if placement.start > reached:
            gaps.append(Interval(reached, placement.start))
        reached = max(reached, placement.end)
    return gaps


def _covered(gap: Interval, placements: list[Placement]) -> Fraction:
    """How much of a gap some placements fill, together."""
    total, reached = Fraction(0), gap.start
    for placement in placements:
        shared = placement.interval & gap
        if shared is not None and shared.end > reached:
            total += shared.end - max(reached, shared.start)
            reached = shared.end
    return total


def _what_saves_it(plan: Plan, lot: str, gap: Interval, at_work: list[Placement]) -> str:
    """The ``starts`` by which the machine needn't wait, where there is one."""
    following = next((p for p in plan.on_lot(lot) if p.start == gap.end), None)
    if following is not None and following.fixed:
        waits_for = [plan.placements[n].end for n in following.window.after if n in plan.placements]
        earliest = max([gap.start, *waits_for])
        if earliest < gap.end:
            return f"{following.name} has a start of its own; it could stand at {moment(plan, earliest)}, or wherever it fits without `starts`"
    chain = [at_work[0]]
    while not chain[0].fixed:
        before = [plan.placements[n] for n in chain[0].window.after if n in plan.placements]
        before = [p for p in before if p.window.on is None and p.end == chain[0].start]
        if not before:
            break
        chain.insert(0, before[0])
    root = chain[0]
    if not any(plan.placements[n].window.on is not None for n in root.window.after if n in plan.placements):
        # All that people do until the machine's next window moves ahead together.
        moved = [*chain, *at_work[1:]]
        starts = [f"starts = {Offset(Duration(p.start - gap.length))} in {p.name}" for p in moved]
        return f"write {listed(starts)}: {lot} then needn't wait, and {format_duration(gap.length)} of it are regained"
    return f"put windows on {lot} there that don't wait for {listed([p.name for p in at_work])}, or begin a second lot after it"


@rule("C316")
def after_deadline(plan: Plan) -> Iterator[Diagnostic]:
    """The answer comes after the campaign's deadline.

    The answer is there when the last essential window has ended. If somebody needs it earlier, the plan answers nobody.

    Bad:
        campaign ranks { question = "q"; decision = "d"; if_negative = "n"; currency = USD; deadline = 2026-12-01 18:00 }
        tier essential { window control { kind = train; on = box; takes = 10h; run = control } }

    Good:
        campaign ranks { question = "q"; decision = "d"; if_negative = "n"; currency = USD; deadline = 2026-12-01 20:00 }
        tier essential { window control { kind = train; on = box; takes = 10h; run = control } }
    """
    spec = plan.spec
    deadline = spec.campaign.deadline
    if deadline is None or plan.start is None or clock_unknown(spec):
        return
    needed = [p for p in plan.placements.values() if p.window.tier == "essential"] or list(plan.placements.values())
    last = max(needed, key=lambda p: p.end, default=None)
    if last is None:
        return
    late = last.end - (deadline.timestamp - plan.start.timestamp)
    if late > 0:
        at = last.end - late
        begins = min((p.start for p in needed), default=Fraction(0))
        essential = "the last essential window" if last.window.tier == "essential" else "the last window"
        yield Diagnostic(
            "C316",
            head(spec.campaign.place("deadline")),
            f"the answer is needed by {moment(plan, at)}, and {last.name}, {essential}, ends at {moment(plan, last.end)}: {format_duration(late)} late",
            (Note(head(last.window.at), f"ends at {moment(plan, last.end)}"),),
            help=f"begin at {moment(plan, begins - late)} instead of {moment(plan, begins)}, or take {format_duration(late)} out of what the answer needs",
        )
