"""How fast a test's training goes, and where it waits for what the test does to it.

A test must not hope to be quicker than the process that it kills: it lets the process wait. HOLD=N holds training from step N
of the run on, until the file `go` lies in the attempt's folder, which `Attempt.signal` puts there, or until the process is
ended. In a bundle, params {"hold": N} hold the first attempt, which goes on when a signal has reached it.
"""

import functools
import os
import signal
import time
from pathlib import Path

ASKING = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2)
LONG_S = 300.0
asked = []


def pace(step, params=None):
    """Called at the end of each step's body, with the run's parameters where a bundle's may hold it."""
    time.sleep(float(os.environ.get("PAUSE", "0")))
    hold = os.environ.get("HOLD")
    if params and "hold" in params and os.environ["CAMPC_ATTEMPT"] == "1":
        hold = params["hold"]
        if not asked:
            listen()
    if hold is not None and step >= int(hold):
        wait(LONG_S)


def evaluate():
    """An evaluation of EVALUATE seconds, or until the test lets it go on."""
    wait(float(os.environ.get("EVALUATE", "0")))


def wait(seconds):
    """Nap so long, or until the test lets go."""
    go = Path(os.environ["CAMPC_ATTEMPT_DIR"]) / "go"
    end = time.monotonic() + seconds
    while time.monotonic() < end and not any(asked) and not go.exists():
        time.sleep(0.01)


def listen():
    """Hear of signals beside the harness, whose handlers stand already."""
    asked.append(0)
    for number in ASKING:
        signal.signal(number, functools.partial(_both, signal.getsignal(number)))


def _both(before, number, frame):
    before(number, frame)
    asked.append(number)
