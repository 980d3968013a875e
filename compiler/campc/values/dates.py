"""Dates and times as they are written."""

from __future__ import annotations

import datetime as dt
import re

from campc.values.instants import Clock, Date
from campc.values.reading import NotAValue, shown

_DATE = re.compile(r"(\d{4})-(\d\d)-(\d\d)(?:(?:T|[ \t]+)(\d\d):(\d\d)(?::(\d\d))?(Z|([+-])(\d\d):(\d\d))?)?", re.ASCII)


def read_date(text: str) -> Date | Clock | NotAValue:
    """A date, or a date and time: ``2026-12-01``, ``2026-12-01 09:00``, ``2026-12-01T09:00:30+01:00``."""
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
    forms = "2026-12-01, 2026-12-01 09:00 or 2026-12-01T09:00:30+01:00"
    if loose is None:
        return NotAValue(f"{shown(text)} is not a date or a time", help=f"write it as {forms}")
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
    read = read_date(instead) if _DATE.fullmatch(instead) else None
    good = read is not None and not isinstance(read, NotAValue)
    return NotAValue(
        f"{text} is not how a date is written", instead if good else None, help=None if good else f"write it as {forms}"
    )
