"""The axis of time: round moments by the zone's clock, and idle stretches drawn short."""

from __future__ import annotations

import datetime as dt
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from campc.report import words
from campc.report.axis import BREAK_SHARE, axis
from campc.values.instants import Instant, zone

HOUR = 3600.0


def labels(start: Instant | None, hours: float, name: str = "Europe/Paris") -> list[str]:
    place = zone(name)
    assert place is not None
    scale = axis([(0, hours * HOUR)], 0, hours * HOUR, 0, 680)
    return [tick.label.replace(words.NBSP, " ") for tick in scale.ticks(start, place)]


def test_days_begin_at_local_midnight_on_both_sides_of_a_clock_change() -> None:
    start = Instant(dt.datetime(2027, 3, 27, 8, tzinfo=dt.UTC))  # 09:00 in Paris, the day before the clocks go forward
    assert labels(start, 72) == ["27 Mar 12:00", "28 Mar", "12:00", "29 Mar", "12:00", "30 Mar"]


def test_a_relative_plan_counts_from_its_launch() -> None:
    assert labels(None, 10)[:3] == ["T+0", "T+1 h", "T+2 h"]


def test_seconds_are_marked_where_the_plan_lasts_seconds() -> None:
    assert labels(None, 10 / HOUR)[:3] == ["T+0", "T+1 s", "T+2 s"]


def test_work_of_minutes_on_a_lot_of_days_keeps_its_room() -> None:
    scale = axis([(0, 300)], 0, 72 * HOUR, 0, 680)
    assert scale.x(300) > 680 * (1 - BREAK_SHARE) - 1
    assert scale.x(72 * HOUR) == 680
    assert len(scale.breaks) == 1


def test_without_long_idle_stretches_the_axis_is_even() -> None:
    scale = axis([(0, 48 * HOUR)], 0, 72 * HOUR, 0, 720)
    assert scale.breaks == ()
    assert abs(scale.x(36 * HOUR) - 360) < 0.01


@given(
    st.lists(st.tuples(st.integers(0, 10**7), st.integers(1, 10**6)), min_size=1, max_size=12),
    st.integers(0, 10**7),
)
def test_time_never_runs_backwards(starts: list[tuple[int, int]], tail: int) -> None:
    busy = [(float(start), float(start + length)) for start, length in starts]
    low, high = min(start for start, _ in busy), max(end for _, end in busy) + tail
    scale = axis(busy, low, high, 128, 672)
    moments = sorted({low, high, *(moment for pair in busy for moment in pair)})
    places = [scale.x(moment) for moment in moments]
    assert places == sorted(places)
    assert 128 <= places[0] <= places[-1] <= 672.0001
    paris = zone("Europe/Paris")
    assert paris is not None
    ticks = [tick.x for tick in scale.ticks(Instant(dt.datetime(2026, 12, 1, tzinfo=dt.UTC)), paris)]
    assert ticks == sorted(ticks)
    assert all(right - left >= 40 for left, right in pairwise(ticks))
