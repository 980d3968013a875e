"""Time that can be trusted on a rented machine: the wall clock, held against the clock that runs on through sleep."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Reading:
    """Both clocks at one moment: `wall` in Unix seconds, `mono` in seconds since `boot`, an identifier of the boot."""

    wall: float
    mono: float
    boot: str


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
