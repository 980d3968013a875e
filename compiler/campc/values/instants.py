"""Dates and times: as written, and resolved in a zone to absolute instants."""

from __future__ import annotations

import datetime as dt
from fractions import Fraction

from campc.records import frozen


@frozen
class Date:
    """A calendar day as written."""

    day: dt.date

    def __str__(self) -> str:
        return self.day.isoformat()


@frozen
class Clock:
    """A date and time as written: local to the campaign's zone, or with its own offset from UTC (in seconds)."""

    local: dt.datetime
    offset_s: int | None = None

    def __str__(self) -> str:
        return self.local.isoformat(" ") + ("" if self.offset_s is None else format_offset(self.offset_s))


@frozen
class Instant:
    """An absolute point in time: whole microseconds since 1970 in UTC, shown in a zone."""

    utc: dt.datetime
    """Aware, in UTC."""

    @property
    def timestamp(self) -> Fraction:
        """Seconds since 1970."""
        delta = self.utc - dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
        return Fraction(delta.days * 86_400 + delta.seconds) + Fraction(delta.microseconds, 1_000_000)

    def after(self, seconds: Fraction) -> Instant:
        """The instant so much elapsed time later."""
        whole = seconds.denominator == 1
        microseconds = seconds.numerator * 1_000_000 if whole else round(seconds * 1_000_000)
        return Instant(self.utc + dt.timedelta(microseconds=microseconds))

    def iso(self, zone: dt.tzinfo) -> str:
        """ISO 8601 in a zone, with its offset."""
        return self.utc.astimezone(zone).isoformat()


class LocalTimeError(ValueError):
    """A local time that does not exist, or exists twice; ``choices`` are the two readings with offsets."""

    def __init__(self, missing: bool, choices: tuple[str, str]) -> None:
        super().__init__("missing" if missing else "ambiguous")
        self.missing = missing
        self.choices = choices


def zone(name: str) -> dt.tzinfo | None:
    """The IANA zone of that name, or None."""
    if name == "UTC":  # what most machines run on needs no data
        return dt.UTC
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

    if not name or name.startswith(("/", ".")) or "\0" in name:
        return None
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return None


def resolve(clock: Clock, local_zone: dt.tzinfo) -> Instant:
    """The instant that a written date and time means.

    Raises LocalTimeError where clocks were put forward over it or back over it.
    """
    try:
        if clock.offset_s is not None:
            offset = dt.timezone(dt.timedelta(seconds=clock.offset_s))
            return Instant(clock.local.replace(tzinfo=offset).astimezone(dt.UTC))
        first = clock.local.replace(tzinfo=local_zone, fold=0)
        second = clock.local.replace(tzinfo=local_zone, fold=1)
        before, after = first.utcoffset(), second.utcoffset()
        if before == after or before is None or after is None:
            return Instant(first.astimezone(dt.UTC))
        # A time in the gap comes back from UTC as another local time; one that exists twice comes back as itself.
        missing = first.astimezone(dt.UTC).astimezone(local_zone).replace(tzinfo=None) != clock.local
    except OverflowError as error:
        raise ValueError("too far from now") from error
    texts = tuple(f"{clock.local.isoformat('T')}{format_offset(int(o.total_seconds()))}" for o in (before, after))
    raise LocalTimeError(missing, (texts[0], texts[1]))


def format_offset(seconds: int) -> str:
    """An offset from UTC: ``+01:00``."""
    sign = "-" if seconds < 0 else "+"
    hours, rest = divmod(abs(seconds), 3600)
    return f"{sign}{hours:02d}:{rest // 60:02d}"
