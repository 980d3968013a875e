"""A signal that comes while Python takes its modules apart, after the run has ended, does not turn a good end into a death."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

COMPILER = Path(__file__).resolve().parents[2] / "compiler"
SCRIPT = """
import os, sys, time
from campc_harness.signals import Latch

class Slow:
    def __del__(self, write=os.write, sleep=time.sleep):
        write(1, b"ending\\n")
        sleep(0.5)

slow = Slow()
latch = Latch(None, int)
latch.install()
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGUSR1, signal.SIGHUP])
@pytest.mark.parametrize("given_back", [False, True])
def test_while_modules_are_taken_apart(number: signal.Signals, given_back: bool) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", SCRIPT + ("latch.remove()\n" if given_back else "")],
        stdout=subprocess.PIPE,
        env={"PYTHONPATH": str(COMPILER), "PATH": os.environ["PATH"]},
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"ending\n"
    process.send_signal(number)
    assert process.wait(60) == (-number if given_back else 0)
    process.stdout.close()
