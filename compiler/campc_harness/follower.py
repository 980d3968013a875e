"""A node other than the first one of a lot: runs its ranks of whatever attempt node 0 begins."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import socket
import time
from collections.abc import Callable
from pathlib import Path

from campc_harness import jobs, processes
from campc_harness.bundle import OWNER, Bundle
from campc_harness.crew import Line, Message, cluster
from campc_harness.exits import INTERRUPTED
from campc_harness.latch import latched
from campc_harness.ledger import Ledger
from campc_harness.plan import PlanError
from campc_harness.reports import Recorder
from campc_harness.supervisor import Attempt
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
        self._attempt: Attempt | None = None
        self._number = 0
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
                handles = [wake, *(self._attempt.descriptors() if self._attempt else [])]
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
            if self._attempt:
                self._attempt.kill()

    def _connect(self) -> None:
        if time.monotonic() - self._alone_since > _LONELY_S:
            self._code = INTERRUPTED
            return
        try:
            line = Line(socket.create_connection((self._place.address, self._place.port), timeout=2.0))
        except OSError:
            time.sleep(0.5)
            return
        line.send({"node": self._place.rank, "key": self._bundle.plan.plan_hash})
        self._line = line

    def _obey(self, message: Message) -> None:
        word = message.get("do")
        if word == "over" and self._attempt is None:
            self._code = int(message.get("code") or 0)
        elif word == "over" and self._attempt is not None:
            self._code = int(message.get("code") or 0)
            self._attempt.kill()
        elif word == "end" and self._attempt is not None:
            self._attempt.signal(signal.SIGTERM)
        elif word == "start" and self._attempt is None:
            try:
                self._start(message)
            except (PlanError, OSError, KeyError, TypeError, ValueError) as error:
                self._tell(int(message.get("attempt") or 0), Ending("crash", 1, f"can't start: {error}"))

    def _start(self, message: Message) -> None:
        window = self._bundle.plan.window(str(message["window"]))
        run = self._bundle.plan.run(window.run or "")
        identity = next(item for item in run.ids if item.id == message["run_id"])
        self._number = int(message["attempt"])
        deadline = message.get("deadline")
        job = jobs.run_job(
            self._bundle,
            window,
            run,
            identity,
            self._number,
            deadline=float(deadline) if deadline is not None else None,
            skip=[int(step) for step in message.get("skip") or ()],
            port=int(message["port"]),
        )
        Path(job.env["CAMPC_OUTPUTS"]).mkdir(parents=True, exist_ok=True)
        self._ledger.append("start", window=window.name, run_id=identity.id, attempt=self._number, ranks=job.ranks)
        recorder = Recorder(self._ledger, window.name, identity.id, self._number)
        self._attempt = attempt_of(job)(job, recorder.take, self._redactor)
        self._say(f"{window.name}: attempt {self._number} starts here")

    def _mind(self) -> None:
        if self._attempt is not None:
            ending = self._attempt.poll()
            if ending is not None:
                window = self._attempt.job.window
                self._attempt = None
                word = {"stopped": "stop", "misconfigured": "stop"}.get(ending.outcome, ending.outcome)
                self._ledger.append(
                    word, window=window, attempt=self._number, reason=ending.reason or None, code=ending.code
                )
                self._say(f"{window}: attempt {self._number} ended here: {ending.outcome} {ending.reason}".rstrip())
                self._tell(self._number, ending)
        elif self._asked_at is not None and (self._line is None or time.monotonic() - self._asked_at > _PARTING_S):
            self._code = INTERRUPTED

    def _tell(self, attempt: int, ending: Ending) -> None:
        if self._line is not None:
            self._line.send({"did": "end", "attempt": attempt, "outcome": ending.outcome, "reason": ending.reason})

    def _signals(self, wake: int) -> None:
        with contextlib.suppress(BlockingIOError):
            for number in os.read(wake, 4096):
                self._asked_at = self._asked_at or time.monotonic()
                if self._attempt is not None:
                    self._attempt.signal(number)
                elif self._line is None:
                    self._code = INTERRUPTED
