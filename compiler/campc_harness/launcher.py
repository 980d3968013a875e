"""The lot's windows, in the planned order, from wherever an earlier start left them."""

from __future__ import annotations

import contextlib
import os
import selectors
import shutil
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

from campc_harness import clock, processes
from campc_harness.bundle import CREW_FILE, LIVE_FILE, OWNER, STOP_FILE, Bundle, read_json, write_json
from campc_harness.courier import Courier
from campc_harness.crew import Crew, cluster
from campc_harness.dispatch import Dispatcher
from campc_harness.exits import DEADLINE, DONE, INTERRUPTED, MISCONFIGURED, STOPPED
from campc_harness.gatekeeper import Gatekeeper
from campc_harness.horizon import Horizon
from campc_harness.latch import ASKING, latched
from campc_harness.ledger import Ledger, Record, read
from campc_harness.mirror import Mirror
from campc_harness.notify import Notifier
from campc_harness.plan import Identity, Window
from campc_harness.progress import Progress, Tail
from campc_harness.standout import said
from campc_harness.task import Host, Task
from campc_harness.watch import Watcher

_TICK_S = 0.25
_LIVE_EVERY_S = 1.0
_LOOK_S = 2.0
_TELL_EVERY_S = 60.0
_WORST_FIRST = (MISCONFIGURED, 1, DEADLINE, STOPPED)


@dataclass(frozen=True)
class Options:
    """How a launch was asked for: `restart` after its supervisor was lost, `say` prints one line for people."""

    restart: bool = False
    keep_machine: bool = False
    say: Callable[[str], None] = print


class Launcher:
    """Runs one lot on this machine. The caller holds the launcher's lock."""

    def __init__(self, bundle: Bundle, options: Options) -> None:
        self.bundle = bundle
        self.plan = bundle.plan
        self.redactor = bundle.redactor()
        self.ledger = Ledger(bundle.ledger, bundle.lot.name, bundle.machine, self.redactor.text)
        self.tasks: list[Task] = []
        self.interrupted: str | None = None
        self.keep_machine = options.keep_machine
        self.mirror = Mirror(
            bundle, {"lot": bundle.lot.name, "plan_hash": bundle.plan.plan_hash, "keep": options.keep_machine}
        )
        self.courier = Courier(bundle)
        self._mirror_soon = False
        self._say = options.say
        self._restart = options.restart
        self._tail = Tail(bundle.ledger)
        self._progress = Progress()
        self._asked = 0
        self._reading = clock.read()
        self._live_at = 0.0
        self._looked = (0, 0.0)
        self._told_at = time.monotonic()
        self.horizon = Horizon(bundle, lambda: self.progress)
        self._gatekeeper = Gatekeeper(bundle, self.ledger, lambda: self.progress, self._say)
        several = cluster().nodes > 1
        self.crew = Crew(cluster(), self.plan.plan_hash, bundle.state / CREW_FILE) if several else None
        self._wake = -1
        self._watcher = Watcher(self)
        self._dispatcher = Dispatcher(
            bundle, self.ledger, self.tasks, self.horizon, self.courier, lambda: self.progress, self._say
        )
        self._host = Host(
            bundle,
            self.ledger,
            self.redactor,
            lambda: self.progress,
            self._dispatcher.deadline,
            self._number,
            self._watcher.energy,
            self.crew,
        )
        self.notifier = Notifier(self.plan.notify, bundle.root, bundle.environment())
        self.ledger.listen(self._heard)

    @property
    def progress(self) -> Progress:
        """The records so far, those of other processes included."""
        for record in self._tail.new():
            self._progress.take(record)
        return self._progress

    def run(self) -> int:
        """Run until nothing is left to do; the exit code is that of the worst end of a window."""
        self._begin()
        selector = selectors.DefaultSelector()
        with latched() as self._wake:
            while not self._tick():
                self._wait(selector)
        self.ledger.sync()
        return self.code()

    def _begin(self) -> None:
        self.ledger.keep_reserve()
        found = read(self.bundle.ledger)
        lost = processes.sweep({OWNER: str(self.bundle.state)})
        now = clock.read()
        for run in self.progress.runs.values():
            for attempt in run.attempts:
                if attempt.outcome is None and attempt.ended is None:
                    who = {"run_id": attempt.run_id, "window": run.window, "attempt": attempt.number}
                    self.ledger.append(
                        "interrupted", **who, step=attempt.step, reason="its supervisor was lost", code=0, lost=True
                    )
        self.ledger.append(
            "launch",
            plan_hash=self.plan.plan_hash,
            boot=now.boot,
            pid=os.getpid(),
            cpu=self.bundle.cpu,
            restart=self._restart,
            usable_end=self.horizon.usable_end(),
        )
        for damage in found.damage:
            text = f"ledger line {damage.line} {damage.text}"
            self._note("ledger damaged", text)
        if lost:
            self._note("survivors killed", f"{len(lost)} processes of an earlier launch were still there")
        hashes = {str(record.more.get("plan_hash")) for record in self.progress.launches}
        if len(hashes) > 1:
            self._note("plan changed", f"earlier launches had another plan: {', '.join(sorted(hashes))}")
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self.bundle.state / STOP_FILE)

    def _heard(self, record: Record) -> None:
        self.notifier.tell(record)
        if record.event in ("crash", "hang"):
            self._say(f"{record.window}: attempt {record.attempt} died ({record.reason})")
        elif record.event == "note" and record.reason in ("quarantine", "checkpoint_failed"):
            self._say(f"{record.window}: {said(record)}")
        self._mirror_soon = self._mirror_soon or record.event not in ("metric", "watch")

    def _note(self, reason: str, text: str) -> None:
        self.ledger.append("note", reason=reason, text=text)
        self._say(text)

    def _tick(self) -> bool:
        """One turn; whether everything is over."""
        self._clock()
        self._requests()
        if self.crew is not None:
            self.crew.tick()
        for task in self.tasks:
            task.poll()
        for task in [task for task in self.tasks if task.outcome is not None]:
            self.tasks.remove(task)
            self._say(f"{task.window.name}: {task.outcome}" + (f" ({task.reason})" if task.reason else ""))
            if task.outcome == "interrupted" and self.progress.window(task.window.name).state != "skipped":
                self.interrupted = self.interrupted or task.reason or "interrupted"
            elif task.window.run and any(not window.brings_home for window in self._dispatcher.pending()):
                self.courier.send()
        self._watcher.tick()
        if not self.interrupted:
            self._dispatcher.overdue()
        self._mirror()
        if not self.interrupted and self._due():
            self._gatekeeper.look(self._dispatcher.over())
            self._dispatcher.give_up()
            self._dispatcher.start(self._host)
        self._live()
        if self.tasks:
            return False
        return bool(self.interrupted) or not self._dispatcher.pending()

    def _due(self) -> bool:
        """Whether to look at the agenda again: something was recorded, or a while has passed."""
        last = self.progress.last
        seq, now = (last.seq if last else 0), time.monotonic()
        if seq == self._looked[0] and now - self._looked[1] < _LOOK_S:
            return False
        self._looked = (seq, now)
        return True

    def _number(self, window: Window, identity: Identity | None) -> int:
        return self.progress.attempts.get(window.name, 0) + 1

    def _mirror(self) -> None:
        """Keep what lies beside the checkpoints current: soon where something other than a measurement was recorded."""
        if self.mirror.tick(self._mirror_soon, usable_end=self.horizon.usable_end(), state="running"):
            self._mirror_soon = False
        if self.mirror.trouble:
            self._note("mirror", self.mirror.trouble)
            self.mirror.trouble = None

    def _clock(self) -> None:
        now = clock.read()
        ahead = clock.jump(self._reading, now)
        if abs(ahead) > 2.0:
            self._note("clock jump", f"the wall clock went {'ahead' if ahead > 0 else 'back'} by {abs(ahead):.0f} s")
        self._reading = now

    def _requests(self) -> None:
        with contextlib.suppress(BlockingIOError):
            for number in os.read(self._wake, 4096):
                if number in ASKING:
                    self._signalled(number)
        request = self.bundle.state / STOP_FILE
        if request.exists() and not self.interrupted:
            why = str(read_json(request).get("reason") or "stopped by hand")
            self.interrupted = f"stop: {why}"
            for task in self.tasks:
                task.leave(signal.SIGTERM, why)

    def _signalled(self, number: int) -> None:
        name = signal.Signals(number).name
        self._asked += 1
        if self._asked >= 3 and number == signal.SIGINT:
            self._say("forced: what was not committed is lost")
            for task in self.tasks:
                task.kill()
            return
        self.interrupted = self.interrupted or name
        if self.tasks:
            self._say(f"{name}: the run saves a checkpoint and leaves" + (" (still at it)" if self._asked > 1 else ""))
        for task in self.tasks:
            task.leave(number, name)

    def _wait(self, selector: selectors.BaseSelector) -> None:
        handles = {self._wake, *(handle for task in self.tasks for handle in task.descriptors())}
        handles |= set(self.crew.descriptors()) if self.crew is not None else set()
        for key in list(selector.get_map().values()):
            if key.fd not in handles:
                selector.unregister(key.fd)
        for handle in handles - set(selector.get_map()):
            selector.register(handle, selectors.EVENT_READ)
        selector.select(_TICK_S)

    def _live(self) -> None:
        now = time.monotonic()
        if now - self._live_at < _LIVE_EVERY_S:
            return
        self._live_at = now
        self._progress_line(now)
        with contextlib.suppress(OSError):
            write_json(self.bundle.state / LIVE_FILE, self._watcher.picture())

    def _progress_line(self, now: float) -> None:
        """A line that is overwritten on a terminal, now and then a plain one elsewhere."""
        terminal = sys.stdout.isatty()
        if not self.tasks or now - self._told_at < (1.0 if terminal else _TELL_EVERY_S):
            return
        self._told_at = now
        parts = [text for task in self.tasks if (text := task.progress_text())]
        if not parts:
            return
        if terminal:
            sys.stdout.write("\r\x1b[K" + "  |  ".join(parts)[: shutil.get_terminal_size().columns - 1])
            sys.stdout.flush()
        else:
            self._say("  |  ".join(parts))

    def code(self) -> int:
        """The exit code: that of the worst end of a window."""
        if self.interrupted:
            return INTERRUPTED
        outcomes = {self.progress.window(window.name).outcome for window in self.bundle.windows}
        found = {
            {"misconfigured": MISCONFIGURED, "failed": 1, "deadline": DEADLINE, "stop": STOPPED}.get(str(word), DONE)
            for word in outcomes
        }
        return next((code for code in _WORST_FIRST if code in found), DONE)
