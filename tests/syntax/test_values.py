"""Literals: exact values, and what is said of those that are none."""

import datetime as dt
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from campc.values.instants import Clock, Date
from campc.values.literals import read_literal
from campc.values.money import Money, MoneyRate
from campc.values.quantities import Duration, EventRate, Share, Size, SizeRate, Steps
from campc.values.reading import NotAValue
from campc.values.strings import read_string
from campc.values.suggest import closest


def seconds(count: int | Fraction) -> Duration:
    return Duration(Fraction(count))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("12", Fraction(12)),
        ("0", Fraction(0)),
        ("1_000", Fraction(1000)),
        ("0.5", Fraction(1, 2)),
        ("2e-4", Fraction(2, 10_000)),
        ("1.5E+3", Fraction(1500)),
        ("8.0", Fraction(8)),
        ("90s", seconds(90)),
        ("20min", seconds(1200)),
        ("1h30min", seconds(5400)),
        ("3d", seconds(259_200)),
        ("3 d", seconds(259_200)),
        ("2w", seconds(1_209_600)),
        ("1.5h", seconds(5400)),
        ("1d2h3min4.5s", seconds(Fraction(93_784_500, 1000))),
        ("1_000s", seconds(1000)),
        ("512MiB", Size(Fraction(512 << 20))),
        ("6GB", Size(Fraction(6 * 10**9))),
        ("1.5TB", Size(Fraction(15 * 10**11))),
        ("24 GB", Size(Fraction(24 * 10**9))),
        ("7B", Size(Fraction(7))),
        ("0.5GB/s", SizeRate(Fraction(5 * 10**8))),
        ("60MB/min", SizeRate(Fraction(10**6))),
        ("1 per 24h", EventRate(Fraction(1, 86_400))),
        ("3 per d", EventRate(Fraction(3, 86_400))),
        ("2.49 USD per h", MoneyRate(Money(Fraction(249, 100), "USD"), seconds(3600))),
        ("47.14 USD", Money(Fraction(4714, 100), "USD")),
        ("8EUR", Money(Fraction(8), "EUR")),
        ("1_200 JPY", Money(Fraction(1200), "JPY")),
        ("80%", Share(Fraction(4, 5))),
        ("2.5 %", Share(Fraction(1, 40))),
        ("500 steps", Steps(500)),
        ("1 step", Steps(1)),
        ("1e3 steps", Steps(1000)),
        ("2026-12-01", Date(dt.date(2026, 12, 1))),
        ("2026-12-01 09:00", Clock(dt.datetime(2026, 12, 1, 9))),
        ("2026-12-01T09:00:30+01:00", Clock(dt.datetime(2026, 12, 1, 9, 0, 30), 3600)),
        ("2026-12-01 09:00-05:30", Clock(dt.datetime(2026, 12, 1, 9), -19_800)),
        ("2026-12-01T09:00Z", Clock(dt.datetime(2026, 12, 1, 9), 0)),
    ],
)
def test_value(text: str, value: object) -> None:
    assert read_literal(text) == value


@pytest.mark.parametrize(
    ("text", "instead"),
    [
        (".5", "0.5"),
        ("5.", "5"),
        ("007", "7"),
        ("00.5", "0.5"),
        ("2_", "2"),
        ("1__0", "1_0"),
        ("0x10", "16"),
        ("3days", "3d"),
        ("3 days", "3d"),
        ("2 hrs", "2h"),
        ("5m", "5min"),
        ("1h 30min", "1h30min"),
        ("1h30m", "1h30min"),
        ("2hours30minutes", "2h30min"),
        ("3day", "3d"),
        ("007d", "7d"),
        ("4 mni", "4 min"),
        ("47.14 USDD", "47.14 USD"),
        ("8 eur", "8 EUR"),
        ("$47.14", "47.14 USD"),
        ("€8", "8 EUR"),
        ("8€", "8 EUR"),
        ("8 £", "8 GBP"),
        ("2.49 USD/h", "2.49 USD per h"),
        ("2.49 usd per hour", "2.49 USD per h"),
        ("2 USD per hour", "2 USD per h"),
        ("1 per 24hours", "1 per 24h"),
        ("0.5gb/s", "0.5GB/s"),
        ("0.5GB/sec", "0.5GB/s"),
        ("24gb", "24GB"),
        ("24G", "24GB"),
        ("24Gi", "24GiB"),
        ("512mib", "512MiB"),
        ("500 setps", "500 steps"),
        ("3 epochs", "3 steps"),
        ("80 percent", "80%"),
        ("2026-1-5", "2026-01-05"),
        ("2026-12-01 9:00", "2026-12-01 09:00"),
        ("2026-12-01T09:00+0100", "2026-12-01T09:00+01:00"),
        ("2026-12-01T09:00+1", "2026-12-01T09:00+01:00"),
        ("01.12.2026", "2026-12-01"),
        ("1.2.3", '"1.2.3"'),
    ],
)
def test_did_you_mean(text: str, instead: str) -> None:
    read = read_literal(text)
    assert isinstance(read, NotAValue)
    assert read.instead == instead


@pytest.mark.parametrize(
    "text",
    [
        "1e999999999", "9" * 5000, "1e309", "1e-309", "3 parsecs", "250ms", "30min1h", "1h1h", "1.5h30min", "1h30parsecs",
        "2026-13-01", "2026-02-30", "0000-01-01", "2026-12-01 24:00", "2026-12-01 09:60", "2026-12-01T09:00+25:00", "9999-12-32",
        "2026-12-01T", "12:00", "1 per", "1 per 0h", "1 per box", "3d per h", "1.5 steps", "1e-400 steps", "12abc34", "1_000_d", "8USD9",
        "1GB/2s", "80%%", "0xZZ", "1e", "1e+", "3 USD per 2 EUR",
    ],
)  # fmt: skip
def test_no_value_and_a_reason(text: str) -> None:
    read = read_literal(text)
    assert isinstance(read, NotAValue)
    assert read.message
    assert len(read.message) < 120
    assert (
        read.instead
        or read.help
        or "divides" in read.message
        or "whole" in read.message
        or "not a value" in read.message
    )


@given(st.text(alphabet="0123456789.eE+-_:TZ %€$dhmins/perGBUSD", min_size=1, max_size=24).map(lambda t: "1" + t))
def test_never_raises(text: str) -> None:
    read = read_literal(text)
    if isinstance(read, NotAValue) and read.instead and not read.instead.startswith('"'):
        again = read_literal(read.instead)
        assert not isinstance(again, NotAValue) or again.instead != read.instead


@given(st.integers(0, 10**12), st.integers(0, 6))
def test_numbers_are_exact(number: int, decimals: int) -> None:
    text = f"{number // 10**decimals}.{number % 10**decimals:0{decimals}}" if decimals else str(number)
    assert read_literal(text) == Fraction(number, 10**decimals)
    assert read_literal(f"{text} USD") == Money(Fraction(number, 10**decimals), "USD")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('""', ""),
        (r'"a \"quoted\" word"', 'a "quoted" word'),
        (r'"\\ \n \t \u{1F600} \u{e9}"', "\\ \n \t \U0001f600 é"),
        ('"""one"""', "one"),
        ('"""\n  one\n    two\n  """', "one\n  two"),
        ('"""\n  one\n\n  two\n"""', "one\n\ntwo"),
        ('"""one\n   two\n   three"""', "one\ntwo\nthree"),
        ('"""\r\n  one\r\n  two\r\n  """', "one\ntwo"),
        ('"""\n\tone\n\t\ttwo\n"""', "one\n\ttwo"),
        ('"""\n  a "quoted" word, \\"\\"\\" \\n\n"""', 'a "quoted" word, """ \n'),
        ('"""\n"""', ""),
        ('""""""', ""),
    ],
)
def test_string(text: str, value: str) -> None:
    assert read_string(text) == value


@pytest.mark.parametrize(
    ("text", "at"),
    [(r'"ab \q"', r"\q"), (r'"\u{110000}"', r"\u{110000}"), (r'"\u{d800}"', r"\u{d800}"), (r'"\u{}"', r"\u{}"), (r'"x\u1"', r"\u"),
     ('"""\n a\\\n b"""', "\\\n"), (r'"\u{0}"', r"\u{0}"), ('"""a \\x"""', "\\x")],
)  # fmt: skip
def test_escape_that_is_none(text: str, at: str) -> None:
    read = read_string(text)
    assert isinstance(read, NotAValue)
    assert text[read.start : read.end] == at


@pytest.mark.parametrize(
    ("word", "candidates", "meant"),
    [
        ("packge", ["package", "campaign", "lot"], "package"),
        ("duraton", ["duration", "disk"], "duration"),
        ("USDD", ["USD", "EUR"], "USD"),
        ("keepfree", ["keep_free", "keep"], "keep_free"),
        ("Keep-Free", ["keep_free", "keep"], "keep_free"),
        ("acuracy", ["loss", "accuracy"], "accuracy"),
        ("gpu", ["gpus", "disk"], "gpus"),
        ("Europe/Pari", ["Europe/Paris", "Europe/Prague"], "Europe/Paris"),
        ("teh", ["the", "then"], "the"),
        ("exact", ["exact_match", "loss"], "exact_match"),
        ("x", ["y", "z"], None),
        ("banana", ["package", "lot"], None),
        ("", ["a"], None),
        ("q" * 1000, ["q" * 999], None),
    ],
)
def test_closest(word: str, candidates: list[str], meant: str | None) -> None:
    assert closest(word, candidates) == meant
