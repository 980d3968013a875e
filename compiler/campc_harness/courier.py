"""Brings results home while the campaign goes on: after each run, not only at the end."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess

from campc_harness.actions import homes
from campc_harness.bundle import Bundle, python


class Courier:
    """Packs and copies in a process of its own, one at a time, behind everything else that wants the machine."""

    def __init__(self, bundle: Bundle) -> None:
        self._bundle = bundle
        self._process: subprocess.Popen[bytes] | None = None

    def send(self) -> None:
        """Pack and copy now, unless that is being done already or there is nowhere to copy to."""
        if self.busy() or not homes(self._bundle):
            return
        log = self._bundle.state / "logs" / "courier.log"
        log.parent.mkdir(parents=True, exist_ok=True)
        with open(log, "ab") as output:
            self._process = subprocess.Popen(
                [python(), "-m", "campc_harness", "pack", "--lot", self._bundle.lot.name],
                cwd=self._bundle.root,
                env=self._bundle.environment(),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
        with contextlib.suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, self._process.pid, 10)

    def busy(self) -> bool:
        """Whether it is under way."""
        return self._process is not None and self._process.poll() is None

    def recall(self) -> None:
        """End it: something else is about to bring results home."""
        if self._process is not None and self._process.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
        self._process = None
