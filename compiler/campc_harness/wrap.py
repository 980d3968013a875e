"""`python -m campc_harness exec -- CMD …`: a script that can't be changed gets signals, deadline, ledger and restarts.

Inside an attempt it speaks for the command to the supervisor; by hand it supervises the command itself, with a ledger in
`campc-exec/`. The command's checkpoints are its own; `--checkpoints FOLDER` says where they appear, so that an attempt
that has written one counts as progress.

In a rehearsal the command is killed when it has saved something, and begun again until it saves once more or ends.
"""

from __future__ import annotations

import contextlib
import json
import os
import platform
import select
import shlex
import signal
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from campc_harness import clock, exits, processes
from campc_harness.bundle import setting
from campc_harness.job import Job
from campc_harness.ledger import Ledger
from campc_harness.redact import Redactor
from campc_harness.supervisor import Attempt
from campc_harness.verdicts import Ending

_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2)
_TRIES = 3
_TICK_S = 0.2
_LOOK_S = 3.0
_DEADLINE_MARGIN_S = 30.0
# A rehearsal takes a checkpoint for whole when nothing has changed for a while, or at the latest.
_QUIET_S, _LATEST_S = 1.0, 15.0
_GRACE_S = 10.0


def wrap(command: Sequence[str], checkpoints: str | None) -> int:
    """Run `command` under the harness; the exit code."""
    if os.environ.get("CAMPC_ATTEMPT_DIR"):
        return _Inside(command, checkpoints).run()
    return _by_hand(command, Path(checkpoints) if checkpoints else None)


class _Inside:
    """Speaks the protocol of an attempt for a command that does not know it."""

    def __init__(self, command: Sequence[str], checkpoints: str | None) -> None:
        self._command = command
        self._folder = Path(checkpoints) if checkpoints else None
        self._rank = int(os.environ.get("RANK", "0"))
        report = os.environ.get("CAMPC_REPORT_FD", "")
        self._report = int(report) if report else None
        deadline = os.environ.get("CAMPC_DEADLINE", "")
        self._deadline = float(deadline) if deadline else None
        self._begun = clock.read()
        self._asked: int | None = None
        self._late = False
        self._commits = 0
        self._phase = os.environ.get("CAMPC_PHASE", "") if os.environ.get("CAMPC_MODE") == "rehearse" else ""
        self._changes: tuple[float, float] | None = None
        self._enough_at: float | None = None

    def run(self) -> int:
        """Run the command to its end and leave this rank's exit record."""
        for number in _SIGNALS:
            signal.signal(number, self._ask)
        said = {"wrapped": True, "saves": self._folder is not None}
        self._send("hello", pid=os.getpid(), python=platform.python_version(), torch=None, device="unknown", **said)
        self._send("resume", step=0, **{"from": None})
        seen = _newest(self._folder)
        environment = {
            name: value for name, value in os.environ.items() if name not in ("CAMPC_REPORT_FD", "CAMPC_LIFE_FD")
        }
        process = processes.spawn(self._command, cwd=Path.cwd(), env=environment, output=1, errors=2)
        used, looked, told = -1, 0.0, False
        while process.poll() is None:
            time.sleep(_TICK_S)
            if time.monotonic() - looked > _LOOK_S:
                looked, ticks = time.monotonic(), _ticks(process.pid)
                if ticks != used:
                    used = ticks
                    self._send("beat", step=self._commits, phase="train")
            seen = self._progress(seen)
            self._late = self._late or self._over()
            if (self._asked or self._late or self._enough_at) and not told:
                told = True
                processes.send(process, self._asked or signal.SIGTERM, group=True)
            if self._enough_at and time.monotonic() > self._enough_at + _GRACE_S:
                processes.send(process, signal.SIGKILL, group=True)
        self._progress(seen, ended=True)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        return self._leave(process.returncode)

    def _over(self) -> bool:
        if self._deadline is None:
            return False
        left = clock.remaining(self._deadline, self._begun, clock.read())
        return left < setting("CAMPC_MARGIN_S", _DEADLINE_MARGIN_S)

    def _leave(self, code: int) -> int:
        ended = f"exit code {code}" if code >= 0 else f"signal {-code}"
        if self._enough_at:
            return self._record(exits.DONE, "")
        if self._asked or self._late:
            # Whatever it answers to the signal: it was asked to leave, and it has left.
            word = exits.INTERRUPTED if self._asked else exits.DEADLINE
            why = f"asked by {signal.Signals(self._asked).name}" if self._asked else "the deadline is reached"
            return self._record(word, f"{why}; the command ended with {ended}")
        if code in exits.OUTCOMES and code != exits.AWAY:  # which is for the harness to say
            return self._record(code, "" if code == exits.DONE else f"the command ended with {ended}")
        return code if 0 < code < 256 else 1

    def _record(self, code: int, reason: str) -> int:
        record = exits.ExitRecord(
            attempt=int(os.environ.get("CAMPC_ATTEMPT", "1")),
            nonce=os.environ.get("CAMPC_NONCE", ""),
            rank=self._rank,
            code=code,
            outcome=exits.OUTCOMES[code],
            reason=reason,
            stop=None,
            step=self._commits,
        )
        exits.write_exit(os.environ["CAMPC_ATTEMPT_DIR"], record)
        return code

    def _ask(self, number: int, _: object) -> None:
        self._asked = self._asked or number

    def _progress(self, seen: tuple[float, str], ended: bool = False) -> tuple[float, str]:
        newest = _newest(self._folder)
        if not self._phase:
            if newest > seen:
                self._saved(newest[1])
            return newest
        now = time.monotonic()
        if newest > seen:
            self._changes = (self._changes[0] if self._changes else now, now)
        if self._changes is not None and self._commits == 0:
            first, last = self._changes
            if ended or now - last >= _QUIET_S or now - first >= _LATEST_S:
                self._saved(newest[1], ended=ended)
                self._enough_at = now if self._phase != "first" and not ended else None
        return newest

    def _saved(self, path: str, **more: bool) -> None:
        self._commits = max(self._commits + 1, int(time.time()))
        self._send("checkpoint", step=self._commits, bytes=None, write_s=None, verified=False, path=path, **more)

    def _send(self, event: str, **fields: Any) -> None:
        if self._report is None:
            return
        with contextlib.suppress(OSError):
            os.write(self._report, (json.dumps({"event": event, "rank": self._rank, **fields}) + "\n").encode())


def _newest(folder: Path | None) -> tuple[float, str]:
    """When something last changed in the folder of checkpoints, and what."""
    found = [(0.0, "")]
    if folder is not None:
        with contextlib.suppress(OSError):
            found += [(entry.stat().st_mtime, entry.name) for entry in os.scandir(folder)]
    return max(found)


def _by_hand(command: Sequence[str], checkpoints: Path | None) -> int:
    """Supervise `command` from a terminal or a job script: a log, a ledger, restarts as long as it makes progress."""
    home = Path("campc-exec").resolve()
    ledger = Ledger(home / "ledger.jsonl", "by-hand", platform.node() or "unknown")
    asked: list[int] = []
    for number in _SIGNALS:
        signal.signal(number, lambda received, _: asked.append(received))
    ledger.append("launch", command=shlex.join(command), pid=os.getpid())
    ending = Ending("crash", 1, "")
    attempt, fruitless, seen = 0, 0, _newest(checkpoints)
    while fruitless < _TRIES:
        attempt += 1
        job = Job(
            window="exec",
            attempt=attempt,
            argv=tuple(command),
            cwd=Path.cwd(),
            env=os.environ,
            log=home / f"exec.{attempt}.log",
            folder=home / "attempts" / str(attempt),
            proof=False,
            hang_s=None,
            grace_s=setting("CAMPC_GRACE_S", 120.0),
        )
        ledger.append("start", window="exec", attempt=attempt, command=True)
        try:
            ending = _attend(Attempt(job, lambda _: None, Redactor(())), asked, job.log)
        except OSError as error:
            ending = Ending("crash", 127, f"it can't be started: {error.strerror}")
        if asked:
            # As inside a bundle: whatever it answers to the signal, it was asked to leave, and it has left.
            ended = ending.reason or "the command ended with exit code 0"
            reason = f"asked by {signal.Signals(asked[0]).name}; {ended}"
            ending = Ending("interrupted", exits.INTERRUPTED, reason)
        ledger.append(ending.outcome, window="exec", attempt=attempt, reason=ending.reason or None, code=ending.code)
        if ending.outcome != "crash" or asked:
            break
        print(f"campc: {ending.reason}", flush=True)
        before, seen = seen, _newest(checkpoints)
        fruitless = 0 if seen > before else fruitless + 1
        if fruitless < _TRIES:
            time.sleep(setting("CAMPC_PAUSE_S", 5.0) * 3 ** max(0, fruitless - 1))
    ledger.close()
    return ending.code if 0 <= ending.code < 256 else 1


def _attend(attempt: Attempt, asked: Sequence[int], log: Path) -> Ending:
    told, shown = 0, 0
    while True:
        ending = attempt.poll()
        shown = _echo(log, shown)
        if ending is not None:
            return ending
        if len(asked) > told:
            attempt.signal(asked[told])
            told += 1
        with contextlib.suppress(InterruptedError):
            select.select(attempt.descriptors(), [], [], _TICK_S)


def _echo(log: Path, shown: int) -> int:
    with contextlib.suppress(OSError), open(log, "rb") as stream:
        stream.seek(shown)
        data = stream.read()
        os.write(1, data)
        return shown + len(data)
    return shown


def _ticks(group: int) -> int:
    """Processor time, in clock ticks, that the processes of a group have used; a group that hangs uses none."""
    total = 0
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError, IndexError, ValueError):
            fields = (entry / "stat").read_text(encoding="ascii", errors="replace").rsplit(")", 1)[1].split()
            if int(fields[2]) == group:
                total += sum(int(fields[index]) for index in (11, 12, 13, 14))
    return total
