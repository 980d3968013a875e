"""Signals that ask for the end, turned into bytes of a pipe: none interrupts what runs, none is lost."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Iterator

ASKING = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2)


@contextlib.contextmanager
def latched() -> Iterator[int]:
    """The read end of a pipe that gets the number of each such signal, as one byte; it never blocks."""
    read, write = os.pipe()
    os.set_blocking(read, False)
    os.set_blocking(write, False)
    wakeup = signal.set_wakeup_fd(write, warn_on_full_buffer=False)
    before = {number: signal.signal(number, lambda *_: None) for number in ASKING}
    try:
        yield read
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        signal.set_wakeup_fd(wakeup)
        os.close(read)
        os.close(write)
