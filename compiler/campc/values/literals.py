"""What is written out, read exactly: numbers and all that begins like one.

The readers return a value, or a ``NotAValue`` that says what is wrong and, where it can be told, what was meant.
"""

from __future__ import annotations

import re
from fractions import Fraction

from campc.values.currencies import DECIMALS
from campc.values.dates import read_date
from campc.values.instants import Clock, Date
from campc.values.money import Money, MoneyRate
from campc.values.quantities import Duration, EventRate, Share, Size, SizeRate, Steps
from campc.values.reading import NotAValue, shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final, TypeAlias


Written: TypeAlias = (
    Fraction | Duration | Size | SizeRate | EventRate | Money | MoneyRate | Share | Steps | Date | Clock
)
"""What a literal that begins with a digit may be."""

TIME_UNITS: Final = {"w": 604_800, "d": 86_400, "h": 3600, "min": 60, "s": 1}
SIZE_UNITS: Final = {
    "B": 1,
    "kB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12, "PB": 10**15,
    "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40, "PiB": 1 << 50,
}  # fmt: skip
MOST_DIGITS, MOST_EXPONENT = 60, 308

_OTHER_TIME_UNITS = {
    "sec": "s", "secs": "s", "second": "s", "seconds": "s",
    "m": "min", "mn": "min", "mins": "min", "minute": "min", "minutes": "min",
    "hr": "h", "hrs": "h", "hour": "h", "hours": "h",
    "day": "d", "days": "d", "wk": "w", "wks": "w", "week": "w", "weeks": "w",
}  # fmt: skip
_SYMBOLS = {"$": "USD", "€": "EUR", "£": "GBP", "¥": "JPY"}
_NUMBER = re.compile(r"(?:0|[1-9][0-9]*(?:_[0-9]+)*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?(?![\w.])")
_PARTS = re.compile(r"([0-9][0-9_]*(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)[ \t]*([^\W\d_]+|%)")


def read_number(text: str) -> Fraction | NotAValue:
    """A plain number: ``12``, ``1_000``, ``0.5``, ``2e-4``."""
    if text.isdecimal() and text.isascii() and len(text) <= 15 and (text[0] != "0" or text == "0"):
        return Fraction(int(text))
    if not _NUMBER.fullmatch(text):
        return _not_a_number(text)
    digits = text.replace("_", "")
    mantissa, _, exponent = digits.lower().partition("e")
    if len(mantissa) > MOST_DIGITS or len(exponent) > 5 or abs(int(exponent or 0)) > MOST_EXPONENT:
        return NotAValue(
            f"{shown(text)} is too long or too large a number",
            help=f"a number has at most {MOST_DIGITS} digits, and a power of ten from -{MOST_EXPONENT} to {MOST_EXPONENT}",
        )
    return Fraction(digits)


def read_literal(text: str) -> Written | NotAValue:
    """A literal that begins like a number: a number, duration, size, rate, amount of money, share, count of steps, date."""
    if _NUMBER.fullmatch(text):
        return read_number(text)
    if text[4:5] == "-":
        return read_date(text)
    left, per, right = _split_per(text)
    if per:
        return _read_rate(text, left, per, right)
    match = _PARTS.fullmatch(text)
    if match is None:
        return _read_compound(text) if text[-1:].isalpha() and text[0].isdigit() else _read_odd(text)
    number, unit = match.groups()
    value = read_number(number)
    known = unit in TIME_UNITS or unit in SIZE_UNITS or unit in DECIMALS or unit in ("%", "steps", "step")
    if not known:
        return _unknown_unit(text, number, unit)
    if isinstance(value, NotAValue):
        return NotAValue(value.message, value.instead and value.instead + text[len(number) :], help=value.help)
    if unit in TIME_UNITS:
        return Duration(value * TIME_UNITS[unit])
    if unit in SIZE_UNITS:
        return Size(value * SIZE_UNITS[unit])
    if unit in DECIMALS:
        return Money(value, unit)
    if unit == "%":
        return Share(value / 100)
    if value.denominator != 1:
        return NotAValue(f"{text} is not a whole number of steps", help="steps are counted in whole numbers")
    return Steps(value.numerator)


def _split_per(text: str) -> tuple[str, str, str]:
    if "/" in text:
        left, _, right = text.rpartition("/")
        return left, "/", right
    match = re.search(r"[ \t]+per\b[ \t]*", text)
    return (text[: match.start()], "per", text[match.end() :]) if match else (text, "", "")


def _read_rate(text: str, left: str, per: str, right: str) -> Written | NotAValue:
    if not right:
        return NotAValue(f"{text} does not say per what time", help="write, for example, 1 per 24h or 2.49 USD per h")
    amount = read_literal(left)
    between = "/" if per == "/" and not isinstance(amount, Money) else " per "
    time = Duration(Fraction(TIME_UNITS[right])) if right in TIME_UNITS else _read_time(right)
    if isinstance(amount, NotAValue):
        meant = right if isinstance(time, Duration) else time
        return NotAValue(
            amount.message, f"{amount.instead}{between}{meant}" if amount.instead and meant else None, help=amount.help
        )
    if not isinstance(time, Duration) or (per == "/" and right[0].isdigit()):
        return NotAValue(
            f"{right} is not a time",
            f"{left}{between}{time}" if isinstance(time, str) else None,
            help=None if isinstance(time, str) else "a rate is per a time: s, min, h, d, w, or for example 24h",
        )
    if time.seconds == 0:
        return NotAValue(f"{text} divides by a time of zero", help="a rate is per a time above zero, for example 24h")
    if isinstance(amount, Size):
        return SizeRate(amount.bytes / time.seconds)
    if isinstance(amount, Money) and per == "per":
        return MoneyRate(amount, time)
    if isinstance(amount, Fraction) and per == "per":
        return EventRate(amount / time.seconds)
    if isinstance(amount, Money):
        return NotAValue(f"{text} is not how money per time is written", f"{left} per {right}")
    return NotAValue(
        f"{left} per time is not a rate",
        help="a rate is a size, a number of events or money per time: 0.5GB/s, 1 per 24h, 2.49 USD per h",
    )


def _read_time(text: str) -> Duration | str | None:
    """What a rate is per: a time, or the text that was meant, or None."""
    read = read_literal(text if text[0].isdigit() else f"1{text}")
    if isinstance(read, NotAValue):
        return _OTHER_TIME_UNITS.get(text.lower()) if text.isalpha() else read.instead
    return read if isinstance(read, Duration) else None


def _read_compound(text: str) -> Written | NotAValue:
    """``1h30min``, or what was meant to be like it."""
    parts = _PARTS.findall(text)
    joined = "".join(f"{number}{unit}" for number, unit in parts)
    if len(parts) < 2 or joined != re.sub(r"[ \t]", "", text):
        return _read_odd(text)
    seconds, last, instead, strange = Fraction(0), len(TIME_UNITS), "", ""
    order = list(reversed(TIME_UNITS))
    descending = True
    for position, (number, unit) in enumerate(parts):
        known = unit if unit in TIME_UNITS else _OTHER_TIME_UNITS.get(unit.lower(), "")
        value = read_number(number)
        if isinstance(value, NotAValue):
            return value
        if not known:
            strange = strange or unit
            continue
        if value.denominator != 1 and position < len(parts) - 1:
            descending = False
        descending = descending and order.index(known) < last
        last = order.index(known)
        seconds += value * TIME_UNITS[known]
        instead += f"{number}{known}"
    if strange:
        return NotAValue(
            f"{text} is not a time: {strange} is not a unit of time",
            help="units of time are w, d, h, min and s; write 1h30min",
        )
    if not descending:
        return NotAValue(
            f"{text} is not a time", help="the units go from large to small, each once, whole but for the last: 1h30min"
        )
    if instead != text:
        return NotAValue(f"{text} is not how a time is written", instead)
    return Duration(seconds)


def _unknown_unit(text: str, number: str, unit: str) -> NotAValue:
    """A number with a unit that does not exist."""
    from campc.values.suggest import closest

    space = " " if " " in text or "\t" in text else ""
    meant = _OTHER_TIME_UNITS.get(unit.lower())
    if meant:
        return NotAValue(f"{unit} is not a unit of time", f"{number}{meant}")
    if unit.lower() in ("ms", "us", "ns", "µs"):
        return NotAValue(f"{unit} is not a unit of time", help="the smallest unit is the second; write 0.25s")
    if unit.lower() in ("k", "kb"):
        return NotAValue(f"{unit} is not a unit of size", f"{number}kB", help="kB is 1000 bytes, KiB is 1024")
    lowered = {known.lower(): known for known in SIZE_UNITS}
    if unit.lower() in lowered and unit.lower() != "b":
        return NotAValue(f"{unit} is not a unit of size", f"{number}{lowered[unit.lower()]}")
    if unit in ("M", "G", "T", "P", "Gi", "Mi", "Ti", "Gb", "Mb", "Tb", "g", "t"):
        return NotAValue(f"{unit} is not a unit of size", f"{number}{unit[0].upper()}{'i' if 'i' in unit else ''}B")
    if unit.lower() in ("byte", "bytes", "b"):
        return NotAValue(f"{unit} is not a unit of size", f"{number}B")
    if unit.upper() in DECIMALS:
        return NotAValue(f"{unit} is not a currency", f"{number} {unit.upper()}")
    if unit.lower() in ("epoch", "epochs", "iter", "iters", "iterations", "batches", "updates"):
        return NotAValue(f"{unit} is not a unit", f"{number} steps", help="training is counted in steps")
    if unit.lower() in ("percent", "pct"):
        return NotAValue(f"{unit} is not a unit", f"{number}%")
    named = {"dollar": "USD", "euro": "EUR", "pound": "GBP", "yen": "JPY", "franc": "CHF"}.get(
        unit.lower().removesuffix("s")
    )
    if named:
        return NotAValue(f"{unit} is not a currency code", f"{number} {named}")
    if unit.isupper() and len(unit) >= 3:
        near = closest(unit, DECIMALS)
        return NotAValue(
            f"{unit} is not a currency",
            f"{number} {near}" if near else None,
            help=None if near else "currencies have their three letters of ISO 4217, such as USD or EUR",
        )
    near = closest(unit, [*SIZE_UNITS, *TIME_UNITS, *_OTHER_TIME_UNITS, "steps"])
    if near:
        near = _OTHER_TIME_UNITS.get(near, near)
        return NotAValue(f"{unit} is not a unit", f"{number}{' ' if near == 'steps' else space}{near}")
    return NotAValue(
        f"{unit} is not a unit",
        help="units are s min h d w, B kB MB GB TB KiB MiB GiB TiB, steps, %, or a currency such as USD",
    )


def _read_odd(text: str) -> NotAValue:
    """Something that begins like a number and is none of the forms."""
    symbol = re.fullmatch(r"([$€£¥])?[ \t]*([0-9][0-9_]*(?:\.[0-9]+)?)[ \t]*([$€£¥])?", text)
    if symbol and (symbol[1] or symbol[3]):
        currency = _SYMBOLS[symbol[1] or symbol[3]]
        return NotAValue("money is written with the currency's three letters", f"{symbol[2]} {currency}")
    gpus = re.fullmatch(r"([0-9]+):([0-9]+)", text)
    if gpus and len(gpus[2]) == 1:
        return NotAValue(f"{text} is not a value", f"{gpus[1]}..{gpus[2]}", help="both ends of a range are included")
    half = re.fullmatch(r"([0-9]+)h([0-5]?[0-9])", text)
    if half:
        return NotAValue(f"{text} is not a time", f"{text}min")
    if re.fullmatch(r"[0-9]{1,2}:[0-9]{2}(:[0-9]{2})?", text):
        return NotAValue(f"{text} is a time without its date", help=f"write the day as well: 2026-12-01 {text:0>5}")
    day = re.fullmatch(r"([0-9]{1,2})\.([0-9]{1,2})\.([0-9]{4})", text)
    if day and int(day[2]) <= 12:
        return NotAValue(f"{text} is not how a date is written", f"{day[3]}-{day[2]:0>2}-{day[1]:0>2}")
    if re.fullmatch(r"[0-9]+(\.[0-9]+){2,}", text):
        return NotAValue(f"{text} is not a number", f'"{text}"', help="text stands in quotes")
    with_unit = re.fullmatch(r"([0-9._]+)([ \t]*)([^\W\d_]+|%)", text)
    if with_unit:
        number = read_number(with_unit[1])
        if isinstance(number, NotAValue):
            instead = number.instead
            return NotAValue(
                number.message, f"{instead}{with_unit[2]}{with_unit[3]}" if instead else None, help=number.help
            )
    number = read_number(text)
    return number if isinstance(number, NotAValue) else NotAValue(f"{shown(text)} is not a value")


def _not_a_number(text: str) -> NotAValue:
    if re.fullmatch(r"\.[0-9]+", text):
        return NotAValue(f"{text} is not a number", f"0{text}", help="a digit stands before the point")
    if re.fullmatch(r"[0-9_]+\.", text):
        return NotAValue(f"{text} is not a number", text[:-1], help="digits stand after the point, or there is none")
    if re.fullmatch(r"0[0-9_]*[0-9](\.[0-9]+)?", text):
        return NotAValue(
            f"{text} is not a number", re.sub(r"^[0_]+(?=[0-9])", "", text), help="a number has no zeros in front"
        )
    if re.fullmatch(r"[0-9_]+", text):
        return NotAValue(
            f"{text} is not a number", re.sub(r"_+", "_", text).strip("_"), help="_ stands between two digits only"
        )
    if re.fullmatch(r"0[xXbBoO][0-9a-fA-F]+", text):
        return NotAValue(
            f"{text} is not a number", str(int(text, 0)) if len(text) < 20 else None, help="numbers are decimal"
        )
    return NotAValue(
        f"{shown(text)} is not a number", help="a text stands in quotes; a number is written 12, 1_000, 0.5 or 2e-4"
    )
