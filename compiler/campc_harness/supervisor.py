"""One attempt: the processes of a run or of a command, from their start until nothing of them is left.

The attempt never blocks: `poll` is called by the loop that owns it. How an attempt ended is read from what each rank
left behind (`exit-RANK.json` with this attempt's nonce); an exit code 0 alone proves nothing.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import signal
import subprocess
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from campc_harness import processes
from campc_harness.exits import DONE, read_exit
from campc_harness.job import Job
from campc_harness.redact import Redactor
from campc_harness.verdicts import Ending, last_line, of_command, of_ranks

Report = Mapping[str, Any]
_BLOCK = 65536
_DUMP_S = 2.0
_PEERS_S = 15.0
_SLOW_PHASES = ("load", "evaluate", "save", "warmup")


@dataclass
class Rank:
    """One rank while it runs: its process, the ends of its two pipes, and what is unfinished in them."""

    number: int
    process: subprocess.Popen[bytes]
    report: int
    output: int
    code: int | None = None
    report_rest: bytes = b""
    output_rest: bytes = b""
    last_line: str = ""
    beat: float = field(default_factory=time.monotonic)
    phase: str = "load"


class Attempt:
    """Starts the ranks of `job` at once.

    Args:
        job: what to run.
        on_report: gets every report of the ranks, in the order of each.
        redactor: what they print passes through it.

    Raises:
        OSError: they cannot be started; those that were are killed first.
    """

    def __init__(self, job: Job, on_report: Callable[[Report], None], redactor: Redactor) -> None:
        self.job = job
        self.nonce = secrets.token_hex(16)
        self._on_report = on_report
        self._redactor = redactor
        self._ranks: list[Rank] = []
        self._asked: float | None = None
        self._kill_at: float | None = None
        self._hang: tuple[str, float] | None = None
        self._peers_at: float | None = None
        self._life_read, self._life_write = os.pipe()
        job.folder.mkdir(parents=True, exist_ok=True)
        job.log.parent.mkdir(parents=True, exist_ok=True)
        self._log = open(job.log, "ab", buffering=0)
        try:
            self._ranks += self._start_all()
        except OSError:
            self._close()
            raise

    @property
    def pids(self) -> list[int]:
        """Process numbers of the ranks."""
        return [rank.process.pid for rank in self._ranks]

    def descriptors(self) -> list[int]:
        """What becomes readable when `poll` has something to do."""
        return [handle for rank in self._ranks for handle in (rank.report, rank.output) if handle >= 0]

    def signal(self, number: int) -> None:
        """Forward a signal to every rank, once; after `grace_s` those that are still there are killed."""
        if self._asked is None:
            self._asked = time.monotonic()
            self._kill_at = self._asked + self.job.grace_s
        self._send(number)

    def kill(self) -> None:
        """Kill every rank with all that it started."""
        for rank in self._ranks:
            processes.send(rank.process, signal.SIGKILL, group=True)
        processes.sweep({"CAMPC_NONCE": self.nonce})

    def poll(self) -> Ending | None:
        """Read what came, mind the clock, and say how it ended once nothing is left running."""
        now = time.monotonic()
        for rank in self._ranks:
            ended = rank.code is None and rank.process.poll() is not None
            self._drain(rank)
            if ended:
                rank.code = self._code(rank)
        running = [rank for rank in self._ranks if rank.code is None]
        if running:
            self._mind(running, now)
            return None
        self.kill()
        for rank in self._ranks:
            self._drain(rank, finish=True)
        self._close()
        return self._ending()

    def _start_all(self) -> list[Rank]:
        started: list[Rank] = []
        try:
            for local in range(self.job.ranks):
                started.append(self._start(local))
        except OSError:
            self._ranks += started
            raise
        return started

    def _send(self, number: int) -> None:
        for rank in self._ranks:
            processes.send(rank.process, number, group=not self.job.proof)

    def _code(self, rank: Rank) -> int:
        code: int = rank.process.returncode
        return code

    def _heard(self, report: Report) -> None:
        """Look at a report before it is passed on."""

    def rank_environment(self, number: int, local: int) -> dict[str, str]:
        """The environment of a rank, but for its pipes."""
        return {
            **self.job.env,
            "RANK": str(number),
            "LOCAL_RANK": str(local),
            "WORLD_SIZE": str(self.job.world),
            "LOCAL_WORLD_SIZE": str(self.job.ranks),
            "MASTER_ADDR": self.job.master[0],
            "MASTER_PORT": str(self.job.master[1]),
            "CAMPC_WINDOW": self.job.window,
            "CAMPC_RUN_ID": self.job.run_id or "",
            "CAMPC_ATTEMPT": str(self.job.attempt),
            "CAMPC_NONCE": self.nonce,
            "CAMPC_ATTEMPT_DIR": str(self.job.folder),
        }

    def _start(self, local: int) -> Rank:
        report_read, report_write = os.pipe()
        output_read, output_write = os.pipe()
        number = self.job.first_rank + local
        environment = {
            **self.rank_environment(number, local),
            "CAMPC_REPORT_FD": str(report_write),
            "CAMPC_LIFE_FD": str(self._life_read),
        }
        try:
            process = processes.spawn(
                self.job.argv,
                cwd=self.job.cwd,
                env=environment,
                output=output_write,
                keep=(report_write, self._life_read),
            )
        except BaseException:
            os.close(report_read)
            os.close(output_read)
            raise
        finally:
            os.close(report_write)
            os.close(output_write)
        for handle in (report_read, output_read):
            os.set_blocking(handle, False)
        return Rank(number, process, report_read, output_read)

    def _drain(self, rank: Rank, finish: bool = False) -> None:
        rank.report, data = _read_all(rank.report)
        *lines, rank.report_rest = (rank.report_rest + data).split(b"\n")
        for line in lines:
            self._take(rank, line)
        rank.output, data = _read_all(rank.output)
        text = rank.output_rest + data
        # A secret that straddles two reads must not slip through: an unfinished line waits, unless it is very long.
        cut = len(text) if finish else max(text.rfind(b"\n"), text.rfind(b"\r")) + 1
        if not cut and len(text) > _BLOCK:
            cut = len(text) - self._redactor.longest
        rank.output_rest = text[cut:]
        if cut:
            self._print(rank, text[:cut])

    def _print(self, rank: Rank, data: bytes) -> None:
        data = self._redactor.data(data)
        rank.last_line = last_line(data) or rank.last_line
        if self.job.world > 1:
            data = b"".join(f"[{rank.number}] ".encode() + line for line in data.splitlines(keepends=True))
        # A full disk must not end the run: what it prints is the first thing to do without.
        with contextlib.suppress(OSError):
            self._log.write(data)
            if self._log.tell() > self.job.log_limit:
                self._log.close()
                os.replace(self.job.log, f"{self.job.log}.old")
                self._log = open(self.job.log, "ab", buffering=0)

    def _take(self, rank: Rank, line: bytes) -> None:
        try:
            report = json.loads(line)
        except ValueError:
            return
        if not isinstance(report, dict) or "event" not in report:
            return
        rank.beat = time.monotonic()
        if report["event"] == "beat":
            rank.phase = str(report.get("phase", "train"))
        elif report["event"] == "resume":
            rank.phase = "train"
        report = {**report, "rank": rank.number}
        self._heard(report)
        self._on_report(report)

    def _mind(self, running: list[Rank], now: float) -> None:
        if self._kill_at is not None and now > self._kill_at:
            self.kill()
            self._kill_at = now + 5.0
        if self._hang is not None:
            if self._asked is None and now > self._hang[1]:
                self.signal(signal.SIGTERM)
            return
        gone = [rank for rank in self._ranks if rank.code not in (None, DONE)]
        if gone and self._asked is None:
            # The others may be leaving by themselves: a stop is agreed across ranks.
            self._peers_at = self._peers_at or now + _PEERS_S
            if now > self._peers_at:
                self.signal(signal.SIGTERM)
        if self.job.hang_s is None or self._asked is not None:
            return
        for rank in running:
            patience = self.job.hang_s * (3 if rank.phase in _SLOW_PHASES else 1)
            if now - rank.beat > patience:
                self._begin_hang(rank, now - rank.beat, now)
                return

    def _begin_hang(self, silent: Rank, silence_s: float, now: float) -> None:
        reason = f"rank {silent.number} gave no sign of life for {silence_s:.0f} s, while it was to {silent.phase}"
        self._hang = (reason, now + _DUMP_S)
        for rank in self._ranks:
            if rank.code is None:
                self._print(rank, f"campc: {reason}; {processes.where(rank.process.pid)}\n".encode())
        self._send(signal.SIGQUIT)

    def _ending(self) -> Ending:
        codes = {rank.number: rank.code if rank.code is not None else -9 for rank in self._ranks}
        said = {rank.number: rank.last_line for rank in self._ranks}
        if not self.job.proof:
            first = self.job.first_rank
            return of_command(codes[first], asked=self._asked is not None, said=said[first])
        attempt, folder = self.job.attempt, self.job.folder
        left = {number: read_exit(folder, number, attempt=attempt, nonce=self.nonce) for number in codes}
        return of_ranks(codes, left, self._hang[0] if self._hang else None, said)

    def _close(self) -> None:
        for rank in self._ranks:
            if rank.code is None:
                processes.send(rank.process, signal.SIGKILL, group=True)
                rank.process.wait()
            for handle in (rank.report, rank.output):
                if handle >= 0:
                    os.close(handle)
            rank.report = rank.output = -1
        os.close(self._life_read)
        os.close(self._life_write)
        self._log.close()


def _read_all(handle: int) -> tuple[int, bytes]:
    """Everything that can be read now; the handle, or -1 once the other side is closed."""
    blocks: list[bytes] = []
    while handle >= 0 and len(blocks) < 64:
        try:
            block = os.read(handle, _BLOCK)
        except BlockingIOError:
            break
        if not block:
            os.close(handle)
            handle = -1
        blocks.append(block)
    return handle, b"".join(blocks)
