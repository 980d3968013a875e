"""What a gate gives up, and what is left then."""

from __future__ import annotations

from campc.report.whatif import drops, needed_runs
from campc.schedule.make import make_plan
from tests.reports import specs

CHAIN = (
    specs.HEAD.format(name="chain")
    + """
lot box { package = three_days; starts = 2026-12-01 09:00 }
tier essential {
  window pilot   { kind = pilot; on = box; takes = 2h; run = control }
  window control { kind = train; on = box; takes = 4h; after = pilot; run = control }
}
tier useful {
  window early  { kind = other; takes = 1h }
  window rank16 { kind = train; on = box; takes = 5h; after = pilot; run = rank16 }
  window only   { kind = evaluate; on = box; takes = 1h; after = rank16 }
}
tier exploratory {
  window both { kind = evaluate; on = box; takes = 1h; after = [rank16, control] }
  window home { kind = retrieve; on = box; takes = 1h; last = true }
}
gate g { after = pilot; when = control.accuracy > 0; otherwise = reduce; drops = [rank16] }
gate again { after = pilot; when = control.accuracy > 0.1; otherwise = reduce; drops = [rank16] }
gate stopping { after = control; when = control.accuracy > 0; otherwise = stop }
"""
)


def test_what_follows_a_dropped_window_goes_too_unless_it_has_others() -> None:
    plan = specs.plan_of(CHAIN)
    first, second = drops(plan, make_plan)
    assert first.windows == ("rank16", "only")
    assert first.runs == {"rank16"}
    assert first.plan is not None and first.plan is second.plan
    assert set(first.plan.placements) == {"pilot", "control", "early", "both", "home"}
    assert first.end == 8 * specs.HOUR
    assert plan.end == 14 * specs.HOUR


def test_what_is_over_by_then_and_what_comes_last_stays() -> None:
    tiers = CHAIN.replace("drops = [rank16] }", "drops = [useful, exploratory] }", 1)
    first, _ = drops(specs.plan_of(tiers), make_plan)
    assert "home" not in first.windows
    assert set(first.windows) == {"rank16", "only", "both"}  # early is over when the pilot ends


def test_the_runs_that_an_outcome_needs() -> None:
    plan = specs.plan_of(specs.SMALL)
    assert needed_runs(plan.spec.outcomes["adopt"].when) == {"control", "rank16"}
    assert needed_runs(None) == frozenset()
