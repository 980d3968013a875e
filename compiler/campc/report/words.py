"""Numbers, times and lists as people read them: formatted once, here, for every medium.

A no-break space stands between a number and its unit, so that no line ends between them.
"""

from __future__ import annotations

import datetime as dt
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from campc.values.currencies import DECIMALS
from campc.values.instants import Instant
from campc.values.money import Money, MoneyRate
from campc.values.quantities import DAY, HOUR, MINUTE, Duration, Size, Steps, format_size

NBSP = "\u00a0"
MINUS = "\u2212"
UNKNOWN = "unknown"
NOT_STATED = "not stated"
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


# Control characters, halves of surrogate pairs, and the marks that turn the direction of text around: a signed page must not hold what it doesn't show.
_UNSEEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\u202a-\u202e\u2066-\u2069\ufeff\ufffe\uffff]")


def visible(text: str) -> str:
    """The text with a replacement character for each that cannot be seen, whatever a stranger's record holds."""
    return _UNSEEN.sub("\ufffd", text)


def glued(text: str) -> str:
    """The text with no-break spaces: for a number and its unit."""
    return text.replace(" ", NBSP)


def span(seconds: Fraction | float | int | None) -> str:
    """A length of time, exact where it is exact: ``48 h``, ``6 h 30 min``, ``2 min 5 s``, ``0.4 s``."""
    if seconds is None:
        return UNKNOWN
    value = Fraction(seconds)
    if value < 0:
        return f"\u2212{span(-value)}"
    whole = Fraction(round(value)) if value >= MINUTE else value
    hours, rest = divmod(whole, HOUR)
    minutes, left = divmod(rest, MINUTE)
    if hours >= 100:
        minutes, left = round(rest / MINUTE), Fraction(0)
        if minutes == 60:
            hours, minutes = hours + 1, 0
    parts = [f"{hours:,} h"] if hours else []
    if minutes:
        parts.append(f"{minutes} min")
    if left or not parts:
        parts.append(f"{decimal(left, 1)} s")
    return glued(" ".join(parts))


def about(seconds: Fraction | float | None) -> str:
    """A measured length of time, to two or three figures: ``41 h``, ``9.2 h``, ``25 min``, ``1.4 s``."""
    if seconds is None:
        return UNKNOWN
    value = float(seconds)
    if value < 0:
        return f"\u2212{about(-value)}"
    for unit, length in (("h", HOUR), ("min", MINUTE)):
        if value >= length:
            return glued(f"{decimal(value / length, 0 if value >= 20 * length else 1)} {unit}")
    return glued(f"{decimal(value, 0 if value >= 20 else 1)} s")


def signed(seconds: Fraction | float | None) -> str:
    """A deviation: ``+1.5 h``, ``\u22129 h``; ``as planned`` for none."""
    if seconds is None:
        return UNKNOWN
    if seconds == 0:
        return "as planned"
    return about(seconds) if seconds < 0 else f"+{about(seconds)}"


def takes(low: Fraction, likely: Fraction, high: Fraction) -> str:
    """Three estimates of one time, or the one that they are."""
    return span(likely) if low == likely == high else f"{span(low)} / {span(likely)} / {span(high)}"


def decimal(value: Fraction | float, places: int = 2) -> str:
    """A number with thousands apart and at most so many decimals, no trailing zeros."""
    text = f"{float(value):,.{places}f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text == "-0" else text.replace("-", "\u2212")


def figure(value: float | None) -> str:
    """A metric's value: four significant figures, and what isn't finite by its name."""
    if value is None:
        return "missing"
    if math.isnan(value):
        return "not a number"
    if math.isinf(value):
        return "infinite" if value > 0 else "minus infinite"
    text = f"{value:.4g}"
    if "e" in text:
        mantissa, exponent = text.split("e")
        return f"{mantissa} × 10^{int(exponent)}".replace("-", "\u2212")
    return text.replace("-", "\u2212")


def percent(value: Fraction | float | None, places: int = 0) -> str:
    """A share: ``97%``; never rounded to 0% or 100% when it isn't."""
    if value is None:
        return UNKNOWN
    hundredths = float(value) * 100
    text = decimal(hundredths, places)
    if text == "100" and value < 1:
        return "> 99%" if places == 0 else "> 99.9%"
    if text == "0" and value > 0:
        return "< 1%" if places == 0 else "< 0.1%"
    return f"{text}%"


def chance(value: float) -> str:
    """A probability that was found by sampling: never certain."""
    return "> 99.9%" if value > 0.999 else "< 0.1%" if value < 0.001 else percent(value, 1 if value > 0.99 else 0)


def size(value: Size | Fraction | int | None) -> str:
    """An amount of data."""
    if value is None:
        return UNKNOWN
    return glued(format_size(value.bytes if isinstance(value, Size) else value))


def money(value: Money | MoneyRate | None) -> str:
    """An amount, or a rate as it was declared; never one made into the other."""
    if value is None:
        return NOT_STATED
    text = str(value)
    if isinstance(value, MoneyRate):
        amount, unit = text.split(" ", 1)
        whole, _, decimals = amount.partition(".")
        places = DECIMALS.get(value.money.currency, 2)
        text = f"{whole}.{decimals.ljust(places, '0')} {unit}" if places or decimals else f"{whole} {unit}"
    return glued(text)


def amounts(values: Sequence[Money], none: str = "none declared") -> str:
    """Amounts in several currencies, which aren't added."""
    return " + ".join(money(value) for value in values) if values else none


def listing(words: Iterable[str], conjunction: str = "and", none: str = "none") -> str:
    """``a``, ``a and b``, ``a, b and c``."""
    items = list(words)
    if not items:
        return none
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} {conjunction} {items[-1]}"


def few(words: Iterable[str], count: int, thing: str) -> str:
    """A listing of at most so many; where there are more, some of them and how many more."""
    items = list(words)
    if len(items) <= count:
        return listing(items)
    shown = items[: count - 1]
    return f"{', '.join(shown)} and {plural(len(items) - len(shown), f'more {thing}', f'more {thing}s')}"


def plural(count: int, singular: str, several: str | None = None) -> str:
    """``1 window``, ``3 windows``."""
    return glued(f"{count:,} ") + (singular if count == 1 else several or f"{singular}s")


def value(item: Any) -> str:
    """A parameter's value as the language writes it."""
    if isinstance(item, bool):
        return "true" if item else "false"
    if isinstance(item, Fraction):
        return exact(item)
    if isinstance(item, Mapping):
        return "{ " + ", ".join(f"{key} = {value(inner)}" for key, inner in item.items()) + " }" if item else "{ }"
    if isinstance(item, (list, tuple)):
        return "[" + ", ".join(value(inner) for inner in item) + "]"
    if isinstance(item, (Duration, Size, Steps)):
        return glued(str(item))
    return str(item)


def exact(number: Fraction) -> str:
    """A rational as short as it can be without losing anything that an author wrote."""
    if number.denominator == 1:
        return str(number.numerator)
    text = f"{float(number):.10g}"
    return text.replace("e-0", "e-")


def date(instant: Instant, zone: dt.tzinfo, year: bool = False) -> str:
    """``1 Dec``, ``1 Dec 2026``."""
    local = instant.utc.astimezone(zone)
    text = f"{local.day} {MONTHS[local.month - 1]}"
    return glued(f"{text} {local.year}" if year else text)


def clock(instant: Instant, zone: dt.tzinfo) -> str:
    """``09:00``, with seconds where there are any."""
    local = instant.utc.astimezone(zone)
    return f"{local:%H:%M:%S}" if local.second else f"{local:%H:%M}"


def when(instant: Instant, zone: dt.tzinfo, year: bool = False) -> str:
    """``1 Dec 09:00``."""
    return f"{date(instant, zone, year)}{NBSP}{clock(instant, zone)}"


def utc(instant: Instant) -> str:
    """ISO 8601 in UTC, for the appendix."""
    return instant.utc.strftime("%Y-%m-%dT%H:%M:%SZ")


def zone_name(instant: Instant, zone: dt.tzinfo, name: str, until: Instant | None = None) -> str:
    """The zone with the offset that it has at that moment, and the one that it has later: ``Europe/Paris, UTC+01:00, later UTC+02:00``."""
    if name == "UTC":
        return "UTC"
    first = offset(instant, zone)
    last = offset(until, zone) if until is not None else first
    return f"{name}, {first}" + (f", later {last}" if last != first else "")


def offset(instant: Instant, zone: dt.tzinfo) -> str:
    """How far a zone is from UTC at a moment: ``UTC+01:00``."""
    shift = instant.utc.astimezone(zone).utcoffset() or dt.timedelta()
    minutes = int(shift.total_seconds()) // 60
    return f"UTC{'+' if minutes >= 0 else MINUS}{abs(minutes) // 60:02d}:{abs(minutes) % 60:02d}"


def relative(seconds: Fraction | float) -> str:
    """A moment of a plan without dates: ``T+6 h``."""
    return f"T\u2212{span(-seconds)}" if seconds < 0 else f"T+{span(seconds) if seconds else '0'}"


def sentence(text: str | None) -> str:
    """The text with a full stop, unless it ends a sentence already."""
    stripped = (text or "").strip()
    return stripped if not stripped or stripped[-1] in ".!?…" else f"{stripped}."


def spelled(name: str) -> str:
    """A name as words: ``data_check`` is ``data check``."""
    return name.replace("_", " ")


def days(seconds: Fraction) -> str:
    """A package's period: ``3 days``, ``72 h`` where it isn't whole days."""
    return plural(int(seconds / DAY), "day") if seconds % DAY == 0 else span(seconds)
