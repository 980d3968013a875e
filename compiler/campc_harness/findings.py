"""What preflight found: one thing that was looked at, and what to do about it."""

from __future__ import annotations

from dataclasses import dataclass

GIB = 1 << 30


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at. `level`: `ok`, `warning`, or `error`, which keeps the launcher from starting."""

    level: str
    what: str
    do: str = ""

    def line(self) -> str:
        """One line for people."""
        mark = {"ok": "ok     ", "warning": "warning", "error": "ERROR  "}[self.level]
        return f"{mark} {self.what}" + (f"\n        → {self.do}" if self.do else "")


def size_text(count: float) -> str:
    """Bytes for people."""
    return f"{count / GIB:.1f} GiB" if count >= GIB else f"{count / (1 << 20):.1f} MiB"
