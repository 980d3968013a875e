"""Numbers and times as people read them."""

from __future__ import annotations

import datetime as dt
import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from campc.report import words
from campc.values.instants import Instant, zone
from campc.values.money import Money


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [
        (0, "0 s"),
        (Fraction(2, 5), "0.4 s"),
        (59, "59 s"),
        (60, "1 min"),
        (125, "2 min 5 s"),
        (3600, "1 h"),
        (23_400, "6 h 30 min"),
        (172_800, "48 h"),
        (-7200, "−2 h"),
        (2_592_000, "720 h"),
        (359_999, "99 h 59 min 59 s"),
        (3_599_999, "1,000 h"),
        (None, "unknown"),
    ],
)
def test_lengths_of_time(seconds: int | None, expected: str) -> None:
    assert words.span(seconds).replace(words.NBSP, " ") == expected


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [(None, "unknown"), (0, "as planned"), (5400, "+1.5 h"), (-32_400, "−9 h"), (1.44, "+1.4 s"), (-1500, "−25 min")],
)
def test_deviations(seconds: float | None, expected: str) -> None:
    assert words.signed(seconds).replace(words.NBSP, " ") == expected


def test_a_share_is_never_rounded_to_certainty() -> None:
    assert words.percent(Fraction(9999, 10_000)) == "> 99%"
    assert words.percent(Fraction(1, 10_000)) == "< 1%"
    assert words.percent(Fraction(1, 10_000), 1) == "< 0.1%"
    assert words.percent(None) == "unknown"
    assert words.chance(1.0) == "> 99.9%"
    assert words.chance(0.0) == "< 0.1%"
    assert words.chance(0.97) == "97%"


def test_metrics_that_are_not_numbers_are_named() -> None:
    assert words.figure(math.nan) == "not a number"
    assert words.figure(-math.inf) == "minus infinite"
    assert words.figure(None) == "missing"
    assert words.figure(0.000012345) == "1.234 × 10^−5"


def test_currencies_are_not_added() -> None:
    values = (Money(Fraction("12.5"), "EUR"), Money(Fraction("47.14"), "USD"))
    assert words.amounts(values).replace(words.NBSP, " ") == "12.50 EUR + 47.14 USD"
    assert words.amounts(()) == "none declared"


def test_the_offset_is_that_of_the_day() -> None:
    paris = zone("Europe/Paris")
    assert paris is not None
    summer = Instant(dt.datetime(2026, 7, 1, 12, tzinfo=dt.UTC))
    assert words.zone_name(summer, paris, "Europe/Paris") == "Europe/Paris, UTC+02:00"
    winter = Instant(dt.datetime(2026, 12, 1, 12, tzinfo=dt.UTC))
    assert words.zone_name(summer, paris, "Europe/Paris", winter) == "Europe/Paris, UTC+02:00, later UTC+01:00"
    assert words.when(summer, paris).replace(words.NBSP, " ") == "1 Jul 14:00"


@given(st.integers(min_value=-(10**9), max_value=10**9))
def test_every_length_can_be_said(seconds: int) -> None:
    text = words.span(seconds)
    assert text
    assert "60 s" not in text.split(words.NBSP)
    assert words.about(seconds)


@given(st.lists(st.text(min_size=1, max_size=5), max_size=8), st.integers(min_value=2, max_value=5))
def test_a_listing_counts_what_it_leaves_out(names: list[str], count: int) -> None:
    text = words.few(names, count, "window")
    if len(names) > count:
        assert f"{len(names) - count + 1}{words.NBSP}more window" in text
