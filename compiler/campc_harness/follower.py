"""A node other than the first one of a lot: runs its share of whatever attempt node 0 begins."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import socket
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

from campc_harness import agenda, jobs, processes
from campc_harness.bundle import CREW_FILE, OWNER, Bundle
from campc_harness.crew import Line, Message, cluster
from campc_harness.exits import INTERRUPTED
from campc_harness.job import Job
from campc_harness.latch import latched
from campc_harness.ledger import Ledger
from campc_harness.plan import PlanError
from campc_harness.reports import Recorder
from campc_harness.supervisor import Attempt, Report
from campc_harness.torchrun import attempt_of
from campc_harness.verdicts import Ending

_TICK_S = 0.25
_LONELY_S = 1800.0
_PARTING_S = 60.0


class Follower:
    """Follows node 0 until it says that everything is over, or this machine is to be left."""

    def __init__(self, bundle: Bundle, say: Callable[[str], None] = print) -> None:
        self._bundle = bundle
        self._place = cluster()
        self._say = say
        self._redactor = bundle.redactor()
        self._ledger = Ledger(bundle.ledger, bundle.lot.name, bundle.machine, self._redactor.text)
        self._line: Line | None = None
        self._attempts: dict[tuple[str, int], Attempt] = {}
        self._waiting: dict[str, Message] = {}
        self._asked_at: float | None = None
        self._alone_since = time.monotonic()
        self._code: int | None = None

    def run(self) -> int:
        """Follow; the exit code is that of node 0's launch, or 75 where this machine was to be left before."""
        processes.sweep({OWNER: str(self._bundle.state)})
        self._ledger.append("launch", plan_hash=self._bundle.plan.plan_hash, pid=os.getpid(), node=self._place.rank)
        with latched() as wake:
            while self._code is None:
                self._signals(wake)
                self._talk()
                self._mind()
                handles = [wake, *(one for attempt in self._attempts.values() for one in attempt.descriptors())]
                if self._line is not None:
                    handles.append(self._line.socket.fileno())
                select.select(handles, [], [], _TICK_S)
        self._ledger.close()
        return self._code

    def _talk(self) -> None:
        if self._line is None:
            self._connect()
            return
        for message in self._line.receive():
            self._obey(message)
        self._line.flush()
        if self._line.closed:
            # Without node 0 nobody collects these ranks, and their peers are gone.
            self._say("node 0 is gone")
            self._line, self._alone_since = None, time.monotonic()
            self._waiting.clear()
            self._kill()

    def _connect(self) -> None:
        if time.monotonic() - self._alone_since > _LONELY_S:
            self._code = INTERRUPTED
            return
        try:
            line = Line(socket.create_connection((self._place.address, self._place.port), timeout=2.0))
        except OSError:
            time.sleep(0.5)
            return
        token = ""
        with contextlib.suppress(OSError):
            token = (self._bundle.state.parent / CREW_FILE).read_text(encoding="ascii")
        line.send({"node": self._place.rank, "key": self._bundle.plan.plan_hash, "token": token})
        self._line = line

    def _obey(self, message: Message) -> None:
        word = message.get("do")
        if word == "over":
            self._code = int(message.get("code") or 0)
            self._kill()
            return
        who = str(message.get("window")), int(message.get("attempt") or 0)
        if word == "signal" and who in self._attempts:
            number = int(message.get("number") or signal.SIGTERM)
            if number == signal.SIGKILL:
                self._attempts[who].kill()
            else:
                self._attempts[who].signal(number)
        elif word == "signal" and int(self._waiting.get(who[0], {}).get("attempt") or 0) == who[1]:
            del self._waiting[who[0]]
            self._tell(who, Ending("interrupted", INTERRUPTED, "it had not begun yet"))
        elif word == "start":
            self._waiting[who[0]] = message
            for (window, _), attempt in self._attempts.items():
                if window == who[0]:
                    attempt.kill()  # what it could still save, its peers have given up

    def _begin(self) -> None:
        """Start what node 0 asked for, where nothing of an earlier attempt is in its way."""
        busy = {window for window, _ in self._attempts}
        for name in self._waiting.keys() - busy:
            message = self._waiting.pop(name)
            number = int(message.get("attempt") or 0)
            try:
                self._start(message, name, number)
            except (PlanError, OSError, LookupError, TypeError, ValueError, StopIteration) as error:
                self._tell((name, number), Ending("crash", 1, f"can't start: {error}"))

    def _start(self, message: Message, name: str, number: int) -> None:
        window = self._bundle.plan.window(name)
        run_id = None if message.get("run_id") is None else str(message["run_id"])
        job = self._job(message, number)
        if job.proof:
            Path(job.env["CAMPC_OUTPUTS"]).mkdir(parents=True, exist_ok=True)
        self._ledger.append("start", window=window.name, run_id=run_id, attempt=number, ranks=job.ranks)
        recorder = Recorder(self._ledger, window.name, run_id, number)

        def take(report: Report) -> None:
            recorder.take(report)
            if job.first_rank == 0 and self._line is not None:
                self._line.send({"did": "report", "window": name, "attempt": number, "report": dict(report)})

        self._attempts[name, number] = attempt_of(job)(job, take, self._redactor)
        self._say(f"{window.name}: attempt {number} starts here")

    def _job(self, message: Message, number: int) -> Job:
        window = self._bundle.plan.window(str(message["window"]))
        if not agenda.runs_script(self._bundle.plan, window):
            return jobs.command_job(self._bundle, window, message.get("run_id"), number)
        run = self._bundle.plan.run(window.run or "")
        deadline, address = message.get("deadline"), message.get("address")
        return jobs.run_job(
            self._bundle,
            window,
            run,
            next(item for item in run.ids if item.id == message["run_id"]),
            number,
            deadline=float(deadline) if deadline is not None else None,
            skip=[int(step) for step in message.get("skip") or ()],
            write_s=run.checkpoint.write_s if run.checkpoint else None,
            master=(str(address), int(message["port"])) if address else None,
        )

    def _mind(self) -> None:
        for who, attempt in list(self._attempts.items()):
            ending = attempt.poll()
            if ending is not None:
                del self._attempts[who]
                window, number = who
                word = {"stopped": "stop", "misconfigured": "stop"}.get(ending.outcome, ending.outcome)
                self._ledger.append(word, window=window, attempt=number, reason=ending.reason or None, code=ending.code)
                self._say(f"{window}: attempt {number} ended here: {ending.outcome} {ending.reason}".rstrip())
                self._tell(who, ending)
        self._begin()
        lonely = self._line is None or (self._asked_at is not None and time.monotonic() - self._asked_at > _PARTING_S)
        if self._asked_at is not None and lonely and not self._attempts:
            self._code = INTERRUPTED

    def _kill(self) -> None:
        for attempt in self._attempts.values():
            attempt.kill()

    def _tell(self, who: tuple[str, int], ending: Ending) -> None:
        if self._line is not None:
            self._line.send({"did": "end", "window": who[0], "attempt": who[1], **asdict(ending)})

    def _signals(self, wake: int) -> None:
        with contextlib.suppress(BlockingIOError):
            for number in os.read(wake, 4096):
                self._asked_at = self._asked_at or time.monotonic()
                for attempt in self._attempts.values():
                    attempt.signal(number)
                if not self._attempts and self._line is None:
                    self._code = INTERRUPTED
