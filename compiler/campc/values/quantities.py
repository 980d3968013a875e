"""Exact quantities: durations, sizes, rates, shares, counts of steps, ranges.

Every one holds a ``Fraction``, so that sums and quotients of what an author wrote carry no rounding.
"""

from __future__ import annotations

from fractions import Fraction

from campc.records import frozen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Generic, TypeVar


MINUTE, HOUR, DAY, WEEK = 60, 3600, 86_400, 604_800


@frozen(order=True)
class Duration:
    """Elapsed time, in seconds; may be negative in between, never in a plan."""

    seconds: Fraction

    def __add__(self, other: Duration) -> Duration:
        return Duration(self.seconds + other.seconds)

    def __sub__(self, other: Duration) -> Duration:
        return Duration(self.seconds - other.seconds)

    def __str__(self) -> str:
        return format_duration(self.seconds)


@frozen(order=True)
class Size:
    """An amount of data, in bytes."""

    bytes: Fraction

    def __str__(self) -> str:
        return format_size(self.bytes)


@frozen(order=True)
class SizeRate:
    """Data over time, in bytes a second."""

    bytes_per_second: Fraction

    def __str__(self) -> str:
        return f"{format_size(self.bytes_per_second)}/s"


@frozen(order=True)
class EventRate:
    """Events over time, in events a second."""

    per_second: Fraction

    def __str__(self) -> str:
        return f"1 per {format_duration(1 / self.per_second)}" if self.per_second else "0 per h"


@frozen(order=True)
class Share:
    """A part of a whole: 80% is 4/5."""

    fraction: Fraction

    def __str__(self) -> str:
        return f"{format_number(self.fraction * 100)}%"


@frozen(order=True)
class Steps:
    """A count of training steps."""

    count: int

    def __str__(self) -> str:
        return f"{self.count:,} step{'s' if self.count != 1 else ''}"


@frozen
class Offset:
    """A signed time from the start of a lot, or of the campaign: ``+12h``, ``-2h``."""

    by: Duration

    def __str__(self) -> str:
        sign = "-" if self.by.seconds < 0 else "+"
        return f"{sign}{compact_duration(abs(self.by.seconds))}"


if TYPE_CHECKING:
    T = TypeVar("T")

    class _Of(Generic[T]):
        """Has a parameter, as far as the type checker goes."""
else:

    class _Of:
        def __class_getitem__(cls, of):
            return cls


@frozen
class Range(_Of["T"]):
    """Low, likely and high estimate of one quantity."""

    low: T
    likely: T
    high: T


def format_number(value: Fraction) -> str:
    """A rational as a short decimal: at most four decimals, no trailing zeros, thousands apart."""
    if value.denominator == 1:
        return f"{value.numerator:,}"
    text = f"{float(value):,.4f}".rstrip("0").rstrip(".")
    return text if text not in ("0", "-0") else f"{float(value):.3g}"


def format_duration(seconds: Fraction | int) -> str:
    """Time for people: ``48 h``, ``6 h 30 min``, ``90 s``, ``-2 h``; whole hours are not turned into days."""
    if seconds < 0:
        return f"-{format_duration(-seconds)}"
    parted = seconds.denominator
    hours, rest = divmod(seconds.numerator, HOUR * parted)
    minutes, rest = divmod(rest, MINUTE * parted)
    parts = []
    if hours:
        parts.append(f"{hours:,} h")
    if minutes:
        parts.append(f"{minutes} min")
    if rest or not parts:
        parts.append(f"{format_number(Fraction(rest, parted))} s")
    return " ".join(parts)


def compact_duration(seconds: Fraction | int) -> str:
    """Time as the language writes it: ``3d``, ``1h30min``, ``90s``."""
    value = Fraction(seconds)
    if value == 0:
        return "0s"
    if value % WEEK == 0:
        return f"{value // WEEK}w"
    if value % DAY == 0:
        return f"{value // DAY}d"
    if value < HOUR * 2 and value.denominator == 1 and value % MINUTE:
        return f"{value}s"
    parts = []
    for unit, length in (("h", HOUR), ("min", MINUTE)):
        count, value = divmod(value, length)
        if count:
            parts.append(f"{count}{unit}")
    if value:
        parts.append(f"{format_number(value)}s")
    return "".join(parts)


def format_size(size: Fraction | int) -> str:
    """Data for people: decimal units, or binary ones where these are whole and the decimal ones are not."""
    value = Fraction(size)
    for unit, factor in (("TB", 10**12), ("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if value >= factor:
            quotient = value / factor
            if quotient.denominator > 1000:
                for binary, power in (("TiB", 40), ("GiB", 30), ("MiB", 20), ("KiB", 10)):
                    if value >= 1 << power and (value / (1 << power)).denominator == 1:
                        return f"{format_number(value / (1 << power))} {binary}"
            text = f"{float(quotient):,.2f}".rstrip("0").rstrip(".")
            return f"{text} {unit}"
    return f"{format_number(value)} B"


def plain(value: Fraction) -> int | float:
    """A rational as JSON has it: an integer where whole."""
    return value.numerator if value.denominator == 1 else float(value)
