"""Which of a lot's windows start, wait or are given up while it runs: what the agenda says, done."""

from __future__ import annotations

import signal
from collections.abc import Callable

from campc_harness import agenda
from campc_harness.bundle import Bundle
from campc_harness.courier import Courier
from campc_harness.horizon import Horizon
from campc_harness.ledger import Ledger
from campc_harness.plan import Window
from campc_harness.progress import Progress
from campc_harness.task import Host, Task


class Dispatcher:
    """Starts windows and gives them up.

    Args:
        tasks: the windows that run; those started are put there.
        progress: the records so far.
        say: prints one line for people.
    """

    def __init__(
        self,
        bundle: Bundle,
        ledger: Ledger,
        tasks: list[Task],
        horizon: Horizon,
        courier: Courier,
        progress: Callable[[], Progress],
        say: Callable[[str], None],
    ) -> None:
        self._bundle = bundle
        self._plan = bundle.plan
        self._ledger = ledger
        self._tasks = tasks
        self._horizon = horizon
        self._courier = courier
        self._progress = progress
        self._say = say
        self._said: set[str] = set()

    def over(self) -> frozenset[str]:
        """Windows of this lot that are over; a last one counts again once something ran after it."""
        progress = self._progress()
        own = self._bundle.windows
        latest = max((progress.window(w.name).ended or 0.0 for w in own if not w.last and not w.brings_home), default=0)
        return frozenset(
            window.name
            for window in own
            if (state := progress.window(window.name)).over
            and not (window.last and state.state != "skipped" and (state.ended or 0.0) < latest)
        )

    def pending(self) -> list[Window]:
        """Windows of this lot that neither are over nor run, in the planned order."""
        over, running = self.over(), self._running()
        return [window for window in self._bundle.windows if window.name not in over | running]

    def _running(self) -> frozenset[str]:
        return frozenset(task.window.name for task in self._tasks)

    def give_up(self) -> None:
        """Give up what was decided against and what waits for something that failed."""
        own = {window.name for window in self._bundle.windows}
        running = self._running()
        for name, skip in agenda.given_up(self._plan, self._progress()).items():
            if name not in own:
                continue
            if name in running:
                if skip.by == "skip":
                    continue
            else:
                self._skip(name, skip)
        for task in self._tasks:
            state = self._progress().window(task.window.name)
            if state.state == "skipped" and state.by == "person" and task.window.name not in self._said:
                self._said.add(task.window.name)
                task.leave(signal.SIGTERM, "skipped")

    def _skip(self, name: str, skip: agenda.Skip) -> None:
        self._ledger.append("window", window=name, state="skipped", reason=skip.reason, by=skip.by)
        self._say(f"{name}: not run ({skip.reason})")

    def start(self, host: Host) -> None:
        """Start what may start now. What doesn't fit with all the rest waits for the rest; what can't fit is given up."""
        pending = self.pending()
        left = self._horizon.left()
        unfit = self._horizon.unfit(pending, [task.window for task in self._tasks], left)
        home = sum(self._horizon.needs(window) for window in pending if window.brings_home)
        for window in pending:
            if window.name in unfit and left is not None and self._horizon.needs(window) + home > left:
                self._skip(window.name, agenda.Skip("time", unfit[window.name]))
        over, running = self.over(), self._running()
        ready = agenda.ready(self._plan, self._progress(), self._bundle.lot.name, running, over, frozenset(unfit))
        if not ready and not running:
            self._unblock(unfit)
        for window in ready:
            if agenda.by_hand(self._plan, window):
                self._ledger.append("window", window=window.name, state="recorded", reason="by hand", by="launcher")
                self._say(f"{window.name}: has no command, taken as done by hand")
            else:
                self._say(f"{window.name}: starts")
                if window.brings_home:
                    self._courier.recall()
                self._tasks.append(Task(host, window))

    def _unblock(self, unfit: dict[str, str]) -> None:
        """Nothing runs and nothing can start: unless a gate waits, give up what is in the way, lest the machine idle."""
        pending = self.pending()
        if any(agenda.undecided(self._plan, self._progress(), window) for window in pending):
            return
        for window in pending:
            if window.name in unfit or not window.brings_home:
                reason = unfit.get(window.name, "what it waits for will not come")
                self._skip(window.name, agenda.Skip("time" if window.name in unfit else "failure", reason))

    def deadline(self, window: Window) -> float | None:
        """Unix time at which a window's run must have left, or None."""
        return self._horizon.deadline(window, self.pending())

    def overdue(self) -> None:
        """End what still runs when the time that bringing results home takes has begun, by whichever clock is earlier."""
        left = self._horizon.left()
        if left is None:
            return
        home = sum(self._horizon.needs(window) for window in self.pending() if window.brings_home)
        for task in self._tasks:
            if not task.window.brings_home and left < home:
                task.overdue()
