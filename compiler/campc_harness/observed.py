"""What a rehearsal measured of a run, in the form that a spec takes."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class Observed:
    """What a rehearsal measured of a run: seconds and bytes, None where it was not seen."""

    size_bytes: int | None = None
    write_s: float | None = None
    restore_s: float | None = None
    start_s: float | None = None
    step_s: float | None = None

    def spec(self) -> str:
        """In the form that a spec's checkpoint block takes."""
        parts = []
        if self.size_bytes is not None:
            parts.append(f"size = {size_literal(self.size_bytes)}")
        for name, value in (("write", self.write_s), ("restore", self.restore_s)):
            if value is not None:
                parts.append(f"{name} = {seconds_literal(value)}")
        return "; ".join(parts)


def size_literal(count: int) -> str:
    """Bytes as a size literal of a spec, rounded up."""
    for unit, name in ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")):
        if count >= 10 * unit:
            return f"{-(-count // unit)}{name}"
    return f"{-(-count // 1024)}KiB"


def seconds_literal(seconds: float) -> str:
    """Seconds as a duration literal of a spec, rounded up."""
    if seconds >= 10:
        return f"{int(seconds) + (seconds > int(seconds))}s"
    hundredths = max(1, int(seconds * 100) + (seconds * 100 > int(seconds * 100)))
    return f"{hundredths / 100:g}s"
