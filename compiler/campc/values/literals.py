"""What is written out, read exactly: numbers and all that begins like one, and strings.

Both readers return a value, or a ``NotAValue`` that says what is wrong and, where it can be told, what was meant.
"""

from __future__ import annotations

import datetime as dt
import re
from fractions import Fraction
from typing import Final, TypeAlias

from attrs import frozen

from campc.values.currencies import DECIMALS
from campc.values.instants import Clock, Date
from campc.values.money import Money, MoneyRate
from campc.values.quantities import Duration, EventRate, Share, Size, SizeRate, Steps

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
_DATE = re.compile(r"(\d{4})-(\d\d)-(\d\d)(?:(?:T|[ \t]+)(\d\d):(\d\d)(?::(\d\d))?(Z|([+-])(\d\d):(\d\d))?)?", re.ASCII)


@frozen
class NotAValue:
    """Why a text is no value: ``message`` without its end mark, ``instead`` the text to write, ``start`` and ``end`` the
    part of the text that is at fault (all of it where ``end`` is None)."""

    message: str
    instead: str | None = None
    start: int = 0
    end: int | None = None
    help: str | None = None


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
            f"{_shown(text)} is too long or too large a number",
            help=f"a number has at most {MOST_DIGITS} digits, and a power of ten from -{MOST_EXPONENT} to {MOST_EXPONENT}",
        )
    return Fraction(digits)


def read_literal(text: str) -> Written | NotAValue:
    """A literal that begins like a number: a number, duration, size, rate, amount of money, share, count of steps, date."""
    if _NUMBER.fullmatch(text):
        return read_number(text)
    if text[4:5] == "-":
        return _read_date(text)
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
    return number if isinstance(number, NotAValue) else NotAValue(f"{_shown(text)} is not a value")


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
        f"{_shown(text)} is not a number", help="a text stands in quotes; a number is written 12, 1_000, 0.5 or 2e-4"
    )


def _read_date(text: str) -> Written | NotAValue:
    match = _DATE.fullmatch(text)
    if match is None:
        return _not_a_date(text)
    year, month, day, hour, minute, second, offset, sign, offset_hours, offset_minutes = match.groups()
    try:
        date = dt.date(int(year), int(month), int(day))
    except ValueError:
        return NotAValue(
            f"{text[:10]} is not a day: {_reason(int(year), int(month))}",
            help="write a day of the calendar, year-month-day",
        )
    if hour is None:
        return Date(date)
    if int(hour) > 23 or int(minute) > 59 or int(second or 0) > 59:
        return NotAValue(
            f"{text} is not a time of day", help="hours go from 00 to 23, minutes and seconds from 00 to 59"
        )
    local = dt.datetime(date.year, date.month, date.day, int(hour), int(minute), int(second or 0))
    if offset is None:
        return Clock(local)
    if offset == "Z":
        return Clock(local, 0)
    if int(offset_hours) > 23 or int(offset_minutes) > 59:
        return NotAValue(f"{offset} is not an offset from UTC", help="an offset is written +01:00, or Z for UTC itself")
    seconds = int(offset_hours) * 3600 + int(offset_minutes) * 60
    return Clock(local, -seconds if sign == "-" else seconds)


def _reason(year: int, month: int) -> str:
    if year < 1:
        return "years begin with 0001"
    if not 1 <= month <= 12:
        return "months go from 01 to 12"
    last = (
        (dt.date(year + month // 12, month % 12 + 1, 1) - dt.timedelta(days=1)).day
        if (year, month) < (9999, 12)
        else 31
    )
    return f"that month has {last} days"


def _not_a_date(text: str) -> NotAValue:
    loose = re.fullmatch(
        r"(\d{4})-(\d{1,2})-(\d{1,2})(?:(?:[Tt]|[ \t]+)(\d{1,2}):(\d{2})(?::(\d{2}))?([Zz]|[+-]\d{1,2}(?::?\d{2})?)?)?",
        text,
        re.ASCII,
    )
    shown = "2026-12-01, 2026-12-01 09:00 or 2026-12-01T09:00:30+01:00"
    if loose is None:
        return NotAValue(f"{_shown(text)} is not a date or a time", help=f"write it as {shown}")
    year, month, day, hour, minute, second, offset = loose.groups()
    instead = f"{year}-{month:0>2}-{day:0>2}"
    if hour is not None:
        instead += f"{'T' if 'T' in text else ' '}{hour:0>2}:{minute}" + (f":{second}" if second else "")
        if offset in ("Z", "z"):
            instead += "Z"
        elif offset:
            figures = offset[1:].replace(":", "")
            figures = f"{figures:0>2}00" if len(figures) <= 2 else f"{figures:0>4}"
            instead += f"{offset[0]}{figures[:2]}:{figures[2:]}"
    read = _read_date(instead) if _DATE.fullmatch(instead) else None
    good = read is not None and not isinstance(read, NotAValue)
    return NotAValue(
        f"{text} is not how a date is written", instead if good else None, help=None if good else f"write it as {shown}"
    )


_ESCAPE = re.compile(r"\\(?:u\{([^}\"\n]*)\}|(.|\n|$))", re.DOTALL)
_PLAIN_ESCAPES = {'"': '"', "\\": "\\", "n": "\n", "t": "\t"}


def read_string(text: str) -> str | NotAValue:
    """The text that a string literal, with its quotes, stands for.

    Of one in three quotes, a line break after the opening quotes, the indent that all lines with text have in common, and a
    last line of nothing but spaces are left out; its line ends count as ``\\n``.
    """
    if not text.startswith('"""'):
        return text[1:-1] if "\\" not in text else _unescape(text[1:-1], 1)
    body = text[3:-3]
    if "\\" in body:
        faulty = _unescape(body, 3)
        if isinstance(faulty, NotAValue):
            return faulty
    dedented = _dedent(body)
    return _unescape(dedented, 3) if "\\" in dedented else dedented


def _unescape(body: str, offset: int) -> str | NotAValue:
    pieces, at = [], 0
    for match in _ESCAPE.finditer(body):
        pieces.append(body[at : match.start()])
        at = match.end()
        code, plain = match.groups()
        place = offset + match.start()
        if plain is not None:
            if plain not in _PLAIN_ESCAPES:
                what = "a backslash at the end of a line" if plain in ("\n", "\r", "") else f"\\{plain}"
                return NotAValue(
                    f"{what} is not an escape",
                    None,
                    place,
                    offset + match.end(),
                    help='escapes are \\" \\\\ \\n \\t \\u{1F600}; a backslash itself is written \\\\',
                )
            pieces.append(_PLAIN_ESCAPES[plain])
            continue
        number = int(code, 16) if re.fullmatch(r"[0-9a-fA-F]{1,6}", code) else -1
        if not 0 < number <= 0x10FFFF or 0xD800 <= number <= 0xDFFF:
            return NotAValue(
                f"{match[0]} is not a character",
                None,
                place,
                offset + match.end(),
                help="write the number of a Unicode character in hexadecimal, for example \\u{1F600}",
            )
        pieces.append(chr(number))
    pieces.append(body[at:])
    return "".join(pieces)


def _dedent(body: str) -> str:
    lines = body.replace("\r\n", "\n").split("\n")
    first_on_own_line = len(lines) > 1 and not lines[0].strip(" \t")
    if first_on_own_line:
        del lines[0]
    if len(lines) > 1 and not lines[-1].strip(" \t"):
        del lines[-1]
        # the line break before the closing quotes belongs to their indent
    counted = lines if first_on_own_line else lines[1:]
    margins = [line[: len(line) - len(line.lstrip(" \t"))] for line in counted if line.strip(" \t")]
    margin = _common(margins)
    kept = [line[len(margin) :] if line.startswith(margin) else line.lstrip(" \t") for line in counted]
    return "\n".join(kept if first_on_own_line else [*lines[:1], *kept])


def _common(margins: list[str]) -> str:
    if not margins:
        return ""
    low, high = min(margins), max(margins)
    size = next((i for i, (a, b) in enumerate(zip(low, high, strict=False)) if a != b), min(len(low), len(high)))
    return low[:size]


def _shown(text: str) -> str:
    return text if len(text) <= 40 else f"{text[:37]}…"
