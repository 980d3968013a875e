"""Placement as properties: what must hold of every schedule, whatever the windows are."""

import itertools
from fractions import Fraction

from hypothesis import given, settings
from hypothesis import strategies as st

from campc.pipeline import compile_source
from campc.schedule.plan import Gpu, Plan
from campc.source import Source

TIERS = ("essential", "useful", "exploratory")
HOUR = 3600


@st.composite
def specs(draw: st.DrawFn, fixed: bool = False) -> str:
    """A spec of a few windows on a lot of four GPUs and in people's time."""
    count = draw(st.integers(1, 9))
    tiers = draw(st.lists(st.sampled_from(TIERS), min_size=count, max_size=count))
    by_tier: dict[str, list[str]] = {tier: [] for tier in TIERS}
    last: set[int] = set()
    for index in range(count):
        tier = tiers[index]
        attributes = [f"takes = {draw(st.integers(1, 12))}h"]
        on = draw(st.sampled_from(["", "box", "box[0]", "box[1]", "box[0..1]", "box[1..2]", "box[2..3]"]))
        attributes.append("kind = evaluate" if on else "kind = review")
        if on:
            attributes.append(f"on = {on}")
        earlier = [i for i in range(index) if TIERS.index(tiers[i]) <= TIERS.index(tier) and i not in last]
        after = draw(st.lists(st.sampled_from(earlier), unique=True, max_size=3)) if earlier else []
        if after:
            attributes.append(f"after = [{', '.join(f'w{i}' for i in after)}]")
        if fixed and draw(st.booleans()):
            attributes.append(f"starts = +{draw(st.integers(0, 40))}h")
        elif on and draw(st.integers(0, 9)) == 0:
            attributes.append("last = true")
            last.add(index)
        by_tier[tier].append(f"  window w{index} {{ {'; '.join(attributes)} }}\n")
    tiers_text = "".join(f"tier {tier} {{\n{''.join(rows)}}}\n" for tier, rows in by_tier.items() if rows)
    return (
        'campaign c { question = "q"; decision = "d"; currency = USD }\n'
        'package p { gpu = "A"; gpus = 4; duration = 3d; price = 100 USD }\n'
        f"lot box {{ package = p; starts = 2026-12-01 00:00 }}\n{tiers_text}"
    )


def plan_of(text: str) -> Plan:
    return compile_source(Source("test.campaign", text)).plan


@given(specs())
def test_no_gpu_is_held_twice_and_nothing_starts_too_early(text: str) -> None:
    plan = plan_of(text)
    assert set(plan.placements) == set(plan.spec.windows)
    assert plan.conflicts == ()
    for placement in plan.placements.values():
        assert placement.start >= 0
        for name in placement.window.after:
            assert plan.placements[name].end <= placement.start
        if placement.window.last:
            others = [p for p in plan.on_lot("box") if not p.window.last]
            assert all(p.end <= placement.start for p in others)


@given(specs(fixed=True))
def test_accounts_add_up(text: str) -> None:
    plan = plan_of(text)
    account = plan.accounts["box"]
    on_it = plan.on_lot("box")
    end = max((p.end for p in on_it), default=Fraction(0))
    assert account.usable_end == 72 * HOUR
    assert account.reserved == max(end, 0)
    assert account.uncommitted == max(72 * HOUR - end, 0)
    assert account.overrun == max(end - 72 * HOUR, 0)
    if not plan.conflicts:
        assert account.busy == sum(p.interval.length * len(p.gpus) for p in on_it)
    held = {(g, hour) for p in on_it for g in p.gpus for hour in range(int(p.start // HOUR), int(p.end // HOUR))}
    assert account.busy == len(held) * HOUR
    assert account.price is not None and account.price.rounded == "100.00"


@given(specs(fixed=True))
def test_each_window_waits_for_what_is_before_it_on_its_gpus_and_a_last_one_for_its_lot(text: str) -> None:
    """Directly, or behind what it waits for."""
    plan = plan_of(text)
    latest: dict[Gpu, str] = {}
    wanted: dict[str, set[str]] = {}
    found: dict[str, set[str]] = {}
    for placement in plan.placements.values():
        needed = {latest[gpu] for gpu in placement.gpus if gpu in latest} | set(placement.window.after)
        assert needed <= set(placement.predecessors) | {placement.name}
        if placement.window.last:
            needed |= {p.name for p in plan.on_lot("box") if p.end <= placement.start}
        wanted[placement.name] = needed.union(*(wanted.get(name, ()) for name in needed))
        direct = set(placement.predecessors)
        found[placement.name] = direct.union(*(found.get(name, ()) for name in direct))
        latest.update(dict.fromkeys(placement.gpus, placement.name))
    assert found == wanted


@given(specs(fixed=True))
def test_conflicts_are_exactly_the_pairs_that_share_a_gpu_and_time(text: str) -> None:
    plan = plan_of(text)
    placed = list(plan.placements.values())
    wanted = {
        frozenset((a.name, b.name))
        for i, a in enumerate(placed)
        for b in placed[i + 1 :]
        if set(a.gpus) & set(b.gpus) and a.start < b.end and b.start < a.end
    }
    assert {frozenset((c.first.name, c.second.name)) for c in plan.conflicts} == wanted
    for conflict in plan.conflicts:
        assert conflict.first.fixed and conflict.second.fixed
        assert conflict.first.start <= conflict.second.start
        assert conflict.shared == conflict.first.interval & conflict.second.interval
        assert set(conflict.gpus) == set(conflict.first.gpus) & set(conflict.second.gpus)
    turns = [(c.second.start, c.second.window.order, c.first.window.order) for c in plan.conflicts]
    assert turns == sorted(turns)


@given(specs())
def test_slack_is_what_it_says(text: str) -> None:
    """Lengthening a window by its slack, the order kept, just fits; critical windows have the least slack on the lot."""
    plan = plan_of(text)
    end = plan.accounts["box"].last_end
    for placement in plan.placements.values():
        if placement.slack is not None and placement.critical:
            assert placement.slack <= 72 * HOUR - end
    chain = plan.chain("box")
    for before, after in itertools.pairwise(chain):
        assert before.end == after.start
    if chain:
        assert chain[-1].end == end
        assert all(p.critical for p in chain)


@given(specs(fixed=True))
@settings(max_examples=30)
def test_the_same_text_gives_the_same_plan(text: str) -> None:
    first, second = plan_of(text), plan_of(text)
    assert [(p.name, p.interval, p.slack, p.critical) for p in first.placements.values()] == [
        (p.name, p.interval, p.slack, p.critical) for p in second.placements.values()
    ]


def test_a_gap_before_a_fixed_window_is_used() -> None:
    plan = plan_of(
        'campaign c { question = "q"; decision = "d" }\npackage p { gpu = "A"; duration = 3d; price = 1 USD }\n'
        "lot box { package = p; starts = 2026-12-01 00:00 }\ntier essential {\n"
        "  window fixed { kind = setup; on = box; takes = 2h; starts = +4h }\n"
        "  window long  { kind = setup; on = box; takes = 5h }\n"
        "  window short { kind = setup; on = box; takes = 3h }\n}\n"
    )
    assert plan.placements["long"].start == 6 * HOUR
    assert plan.placements["short"].start == 0


def test_slack_of_a_chain_and_of_people() -> None:
    plan = plan_of(
        'campaign c { question = "q"; decision = "d" }\npackage p { gpu = "A"; duration = 3d; price = 1 USD }\n'
        "lot box { package = p; starts = 2026-12-01 00:00 }\ntier essential {\n"
        "  window a { kind = setup; on = box; takes = 20h }\n"
        "  window b { kind = setup; on = box; takes = 28h; after = a }\n"
        "  window read { kind = review; takes = 1h; after = a }\n"
        "  window sign { kind = review; takes = 1h; after = b }\n}\n"
    )
    assert plan.placements["a"].slack == plan.placements["b"].slack == 24 * HOUR
    assert plan.placements["read"].slack is None and plan.placements["sign"].slack is None
    assert plan.placements["b"].critical and not plan.placements["read"].critical


def test_time_billed_lots() -> None:
    plan = plan_of(
        'campaign c { question = "q"; decision = "d" }\npackage p { gpu = "A"; price = 2.50 USD per h; increment = 1h; minimum = 4h }\n'
        "lot short { package = p; starts = 2026-12-01 00:00 }\nlot long { package = p; starts = 2026-12-01 00:00 }\n"
        "budget { limit = 100 USD }\ntier essential {\n"
        "  window a { kind = setup; on = short; takes = 1h }\n  window b { kind = setup; on = long; takes = 9h1min }\n}\n"
    )
    short, long = plan.accounts["short"], plan.accounts["long"]
    assert short.usable_end is None and short.uncommitted is None and short.overrun == 0
    assert short.price is not None and short.price.rounded == "10.00"
    assert long.price is not None and long.price.rounded == "25.00"


def test_a_cluster_of_thousands_of_gpus_is_reckoned_with_in_parts() -> None:
    text = (
        'campaign c { question = "q"; decision = "d" }\npackage p { gpu = "A"; gpus = 4000; duration = 3d; price = 1 USD }\n'
        "lot box { package = p; starts = 2026-12-01 00:00 }\ntier essential {\n"
        "  window a { kind = setup; on = box[0..2999]; takes = 4h; starts = +0h }\n"
        "  window b { kind = setup; on = box[1000..3999]; takes = 4h; starts = +2h }\n"
        "  window c { kind = setup; on = box[500]; takes = 1h }\n}\n"
    )
    plan = plan_of(text)
    (conflict,) = plan.conflicts
    assert conflict.gpus == tuple(("box", index) for index in range(1000, 3000))
    assert plan.accounts["box"].busy == (1000 * 4 + 2000 * 6 + 1000 * 4 + 1) * HOUR
    assert plan.placements["c"].start == 4 * HOUR and plan.placements["c"].predecessors == ("a",)
    assert len(plan.placements["b"].gpus) == 3000


def test_last_windows_of_two_lots_that_wait_for_one_another_are_placed_all_the_same() -> None:
    plan = plan_of(
        'campaign c { question = "q"; decision = "d" }\npackage p { gpu = "A"; duration = 3d; price = 1 USD }\n'
        "lot one { package = p; starts = 2026-12-01 00:00 }\nlot two { package = p; starts = 2026-12-01 00:00 }\n"
        "tier essential {\n"
        "  window a { kind = other; on = one; takes = 1h; last = true }\n"
        "  window b { kind = other; on = two; takes = 2h; last = true }\n"
        "  window c { kind = other; on = one; takes = 3h; after = b }\n"
        "  window d { kind = other; on = two; takes = 4h; after = a }\n"
        "  window e { kind = other; on = two; takes = 5h }\n"
        "  window f { kind = other; on = two; takes = 1h; last = true; after = d }\n}\n"
    )
    starts = {name: placement.start / HOUR for name, placement in plan.placements.items()}
    assert starts == {"e": 0, "a": 0, "d": 5, "b": 9, "f": 11, "c": 11}
    assert plan.placements["f"].predecessors == ("d", "b")


def test_of_many_last_windows_each_waits_for_the_one_before() -> None:
    rows = "".join(f"  window w{i} {{ kind = other; on = box; takes = 1min; last = true }}\n" for i in range(2000))
    plan = plan_of(
        'campaign c { question = "q"; decision = "d" }\npackage p { gpu = "A"; duration = 3d; price = 1 USD }\n'
        "lot box { package = p; starts = 2026-12-01 00:00 }\ntier essential {\n"
        f"  window first {{ kind = other; on = box; takes = 1h }}\n{rows}}}\n"
    )
    assert [p.predecessors for p in plan.placements.values()] == [
        (), ("first",), *((f"w{i}",) for i in range(1999)),
    ]  # fmt: skip
