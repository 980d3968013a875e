"""An attempt that runs on other nodes alone, as the launcher on node 0 sees it."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable

from campc_harness.crew import Crew
from campc_harness.supervisor import Report
from campc_harness.verdicts import Ending

PEERS_S = 15.0


class Abroad:
    """Has the same face as `supervisor.Attempt`, while others start the ranks.

    Args:
        crew: the other nodes, who have been told to begin.
        window, attempt: which attempt it is.
        on_report: gets what the first rank reports.
    """

    def __init__(self, crew: Crew, window: str, attempt: int, on_report: Callable[[Report], None]) -> None:
        self._crew = crew
        self._who = window, attempt
        self._on_report = on_report
        self._alone_at: float | None = None
        self.pids: list[int] = []

    def descriptors(self) -> list[int]:
        """Nothing of its own: the crew's connections are watched anyway."""
        return []

    def signal(self, number: int) -> None:
        """Forward a signal to every rank; its node ends those that don't leave."""
        self._crew.signal(*self._who, number)

    def kill(self) -> None:
        """Kill every rank with all that it started."""
        self._crew.signal(*self._who, signal.SIGKILL)

    def poll(self) -> Ending | None:
        """Take what was reported, and say how it ended once nothing is left running."""
        for report in self._crew.reports(*self._who):
            self._on_report(report)
        ending = self._crew.verdict(*self._who)
        if ending is None:
            return None
        now = time.monotonic()
        self._alone_at = self._alone_at or now
        if not self._crew.left(*self._who):
            # Those on further nodes may be leaving by themselves: a stop is agreed across all of them.
            if now - self._alone_at > PEERS_S:
                self.signal(signal.SIGTERM)
                self._alone_at = now
            return None
        self._crew.end(*self._who)
        return ending
