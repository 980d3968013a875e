"""An attempt that runs on other nodes, alone or beside this one, as the launcher on node 0 sees it."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Mapping
from dataclasses import replace

from campc_harness.crew import Crew
from campc_harness.supervisor import Attempt, Report
from campc_harness.verdicts import Ending

_PEERS_S, _OTHERS_S = 15.0, 120.0


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
            if now - self._alone_at > _PEERS_S:
                self.signal(signal.SIGTERM)
                self._alone_at = now
            return None
        self._crew.end(*self._who)
        return ending


class Others:
    """The nodes other than this one that have a share of a window.

    Args:
        window: its name.
        shares: how many of its processes each node has, this one (0) perhaps among them.
    """

    def __init__(self, crew: Crew, window: str, shares: Mapping[int, int]) -> None:
        self._crew = crew
        self._window = window
        self._shares = shares
        self._ended_here: Ending | None = None
        self._alone_at: float | None = None
        self.here = 0 in shares
        self.first = min(shares)

    def missing(self) -> list[int]:
        """Those that aren't connected."""
        return self._crew.missing(self._shares)

    def refusal(self) -> str | None:
        """Why nothing can be run there, with what to do; None where it can."""
        if self.here or self._crew.shares_disk(self.first):
            return None
        text = f"it has GPUs of node {self.first} alone, from whose own disk nothing would come home"
        return f"{text}: put the bundle on a disk that all nodes share, or use GPUs of node 0"

    def begin(self, run_id: str | None, number: int, **facts: object) -> tuple[str, int]:
        """Have them start their share of an attempt; where all find its first rank."""
        address = self._crew.address(self.first)
        told = address if len(self._shares) > 1 else None
        port = self._crew.begin(self._window, number, self._shares, run_id=run_id, address=told, **facts)
        return address, port

    def end(self, number: int) -> None:
        """Have them end what is left of an attempt."""
        self._crew.end(self._window, number)

    def attempt(self, number: int, on_report: Callable[[Report], None]) -> Abroad:
        """The attempt that they run alone."""
        return Abroad(self._crew, self._window, number, on_report)

    def poll(self, attempt: Attempt) -> Ending | None:
        """How an attempt ended here and there; None as long as some of it runs."""
        number = attempt.job.attempt
        ending = self._ended_here or attempt.poll()
        verdict = self._crew.verdict(self._window, number)
        now = time.monotonic()
        if ending is None:
            if verdict is not None and verdict.outcome != "done":
                # The ranks here may be leaving by themselves: a stop is agreed across all of them.
                self._alone_at = self._alone_at or now
                if now - self._alone_at > _PEERS_S:
                    attempt.signal(signal.SIGTERM)
            return None
        if ending.outcome == "done" and (verdict is None or verdict.outcome != "done"):
            self._alone_at = self._alone_at or now
            if verdict is None and now - self._alone_at < _OTHERS_S:
                self._ended_here = ending
                return None
            ending = Ending("crash", 1, verdict.reason if verdict else "other nodes did not end")
        elif ending.outcome == "crash" and verdict is not None and verdict.outcome == "away":
            ending = verdict  # which the ranks here died of
        elif ending.outcome == "crash" and verdict is not None and verdict.outcome == "crash":
            ending = replace(ending, reason=f"{ending.reason}; {verdict.reason}")
        self._alone_at = self._ended_here = None
        self.end(number)
        return ending
