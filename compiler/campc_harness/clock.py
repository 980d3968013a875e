"""Time that can be trusted on a rented machine: the wall clock, held against the clock that runs on through sleep."""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path


@dataclass(frozen=True)
class Reading:
    """Both clocks at one moment: `wall` in Unix seconds, `mono` in seconds since `boot`, an identifier of the boot."""

    wall: float
    mono: float
    boot: str


@lru_cache
def boot_id() -> str:
    """An identifier of this boot of this machine; empty where the system has none."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        return ""


def read() -> Reading:
    """Both clocks now."""
    clock = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
    return Reading(time.time(), time.clock_gettime(clock), boot_id())


def remaining(end_wall: float, anchor: Reading, now: Reading) -> float:
    """Seconds until `end_wall`, in Unix seconds; of two answers the one that ends earlier.

    The wall clock gives one. Within the boot of `anchor`, a reading from the start, the other clock gives one too.
    """
    by_wall = end_wall - now.wall
    if anchor.boot != now.boot or not now.boot:
        return by_wall
    return min(by_wall, anchor.mono + (end_wall - anchor.wall) - now.mono)


def jump(before: Reading, after: Reading) -> float:
    """By how many seconds the wall clock went ahead of the other one between two readings of one boot, else 0."""
    if before.boot != after.boot or not after.boot:
        return 0.0
    return (after.wall - before.wall) - (after.mono - before.mono)


class Steady:
    """A clock for lengths of time: it starts with the wall clock, and within a boot runs on whatever that is set to."""

    def __init__(self) -> None:
        self._anchor: Reading | None = None

    def begin(self, at: Reading) -> None:
        """Count from here, unless this boot is known already."""
        if self._anchor is None or not at.boot or at.boot != self._anchor.boot:
            self._anchor = at

    def at(self, wall: float, mono: float | None) -> float:
        """The time of something that was recorded when the clocks stood so."""
        anchor = self._anchor
        if anchor is None or not anchor.boot or mono is None or mono < anchor.mono:
            return wall
        return anchor.wall + (mono - anchor.mono)

    def now(self) -> float:
        """The time now."""
        reading = read()
        known = self._anchor is not None and reading.boot == self._anchor.boot
        return self.at(reading.wall, reading.mono if known else None)
