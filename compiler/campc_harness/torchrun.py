"""An attempt whose ranks torchrun starts, for those who want it: `launch.sh run --launcher torchrun`.

torchrun passes no file descriptors on and turns every exit code into 1. So each rank opens named pipes in the attempt's
folder (`become_rank`), and how it ended is read from its `exit-RANK.json` alone.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Sequence

from campc_harness import processes
from campc_harness.exits import DONE, read_exit
from campc_harness.job import Job
from campc_harness.supervisor import Attempt, Rank, Report

LIFE = "life.fifo"


def report_name(rank: int | str) -> str:
    """Name of the pipe through which a rank reports."""
    return f"report-{rank}.fifo"


class TorchrunAttempt(Attempt):
    """Like `Attempt`, with torchrun between the supervisor and the ranks."""

    def _start_all(self) -> list[Rank]:
        job = self.job
        self._pids: dict[int, int] = {}
        self._life = -1
        for name in [LIFE, *(report_name(job.first_rank + local) for local in range(job.ranks))]:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(job.folder / name)
            os.mkfifo(job.folder / name)
        # Opened for both ways: no open blocks, and a rank that isn't there yet is no end of file.
        self._life = os.open(job.folder / LIFE, os.O_RDWR | os.O_CLOEXEC)
        output_read, output_write = os.pipe()
        environment = {**self.rank_environment(job.first_rank, 0), "CAMPC_REPORT_FD": "", "CAMPC_LIFE_FD": ""}
        try:
            agent = processes.spawn(self._command(), cwd=job.cwd, env=environment, output=output_write)
        finally:
            os.close(output_write)
        os.set_blocking(output_read, False)
        ranks = []
        for local in range(job.ranks):
            number = job.first_rank + local
            report = os.open(job.folder / report_name(number), os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
            ranks.append(Rank(number, agent, report, output_read if local == 0 else -1))
        return ranks

    def _command(self) -> list[str]:
        job = self.job
        return [
            sys.executable,
            "-m",
            "torch.distributed.run",
            f"--nnodes={job.nodes}",
            f"--node-rank={job.node}",
            f"--nproc-per-node={job.ranks}",
            f"--master-addr={job.master[0]}",
            f"--master-port={job.master[1]}",
            "--max-restarts=0",
            "--no-python",
            sys.executable,
            "-m",
            "campc_harness",
            "_rank",
            "--",
            *job.argv,
        ]

    def _heard(self, report: Report) -> None:
        if report["event"] == "hello" and isinstance(report.get("pid"), int):
            self._pids[int(report["rank"])] = int(report["pid"])

    def _send(self, number: int) -> None:
        # torchrun itself gives its ranks 30 seconds after a signal, which a large checkpoint may not be content with.
        if not self._pids:
            processes.send(self._ranks[0].process, number)
        for pid in self._pids.values():
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, number)

    def _code(self, rank: Rank) -> int:
        record = read_exit(self.job.folder, rank.number, attempt=self.job.attempt, nonce=self.nonce)
        if record is not None:
            return record.code
        code: int = rank.process.returncode
        return code if code != DONE else 1

    def _close(self) -> None:
        if self._life >= 0:
            os.close(self._life)
        super()._close()


def become_rank(command: Sequence[str]) -> int:
    """Open this rank's pipes, then become the training script.

    Raises:
        OSError: the pipes aren't there, or the script can't be started.
    """
    folder = os.environ["CAMPC_ATTEMPT_DIR"]
    report = os.open(os.path.join(folder, report_name(os.environ["RANK"])), os.O_WRONLY)
    life = os.open(os.path.join(folder, LIFE), os.O_RDONLY)
    for handle in (report, life):
        os.set_inheritable(handle, True)
    os.environ["CAMPC_REPORT_FD"], os.environ["CAMPC_LIFE_FD"] = str(report), str(life)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.execvp(command[0], list(command))


def attempt_of(job: Job) -> type[Attempt]:
    """Which of the two starts `job`."""
    return TorchrunAttempt if job.torchrun else Attempt
