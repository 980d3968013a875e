"""Signals, latched; the supervisor's life; the deadline.

A signal's number goes through a wake-up pipe to a thread as soon as the kernel delivers it, so it counts also while the
main thread is inside a long C call. The flag stays set: further signals change nothing.
"""

from __future__ import annotations

import atexit
import contextlib
import faulthandler
import os
import selectors
import signal
import threading
from collections.abc import Callable
from types import FrameType

from campc_harness import clock

CAUGHT = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2)


class Latch:
    """Catches the signals that ask for the end, from `install` to `remove`.

    Args:
        life: read end of a pipe that closes when the supervisor dies; this process group is killed then. None: no pipe.
        arrived: called in the main thread when a signal was caught or `alarm` was given; it may raise.
    """

    def __init__(self, life: int | None, arrived: Callable[[], None]) -> None:
        self._life = life
        self._arrived = arrived
        self._owner = os.getpid()
        self._previous: dict[int, object] = {}
        self._read = self._write = -1
        self._thread: threading.Thread | None = None
        self._wakeup_before = -1
        self._deadline: float | None = None
        self._begun = clock.read()
        self.caught: str | None = None
        self.late = False
        self.heard: Callable[[], None] = lambda: None

    def install(self) -> None:
        """Catch from here on. Must be called in the main thread."""
        self._read, self._write = os.pipe()
        os.set_blocking(self._write, False)
        self._wakeup_before = signal.set_wakeup_fd(self._write, warn_on_full_buffer=False)
        for number in CAUGHT:
            self._previous[number] = signal.signal(number, self._handle)
        with contextlib.suppress(AttributeError, OSError, RuntimeError, ValueError):
            # What the supervisor sends to an attempt that hangs; without a real standard error there is no dump.
            faulthandler.register(signal.SIGQUIT, all_threads=True, chain=False)
        os.register_at_fork(after_in_child=self._forget)
        # Python gives caught signals back to the system before it takes its modules apart, which takes torch a second.
        atexit.register(self._ending)
        self._thread = threading.Thread(target=self._watch, name="campc-signals", daemon=True)
        self._thread.start()

    def remove(self) -> None:
        """Give the signals back to whoever had them."""
        atexit.unregister(self._ending)
        for number, handler in self._previous.items():
            signal.signal(number, handler)  # type: ignore[arg-type]
        self._previous.clear()
        signal.set_wakeup_fd(self._wakeup_before)
        faulthandler.unregister(signal.SIGQUIT)
        with contextlib.suppress(OSError):
            os.write(self._write, b"\0")

    def set_deadline(self, at: float | None) -> None:
        """Latch `late` at Unix time `at`, as this process's start knew it or as the wall clock says now, if that is sooner."""
        self._deadline = at
        with contextlib.suppress(OSError):
            os.write(self._write, b"\xff")

    @property
    def set(self) -> bool:
        """Whether the attempt was asked to end."""
        return self.caught is not None or self.late

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if os.getpid() != self._owner:
            return
        self._latch(number)
        self._arrived()

    def _latch(self, number: int) -> None:
        if self.caught is None and not self.late:
            self.caught = signal.Signals(number).name
            self.heard()

    def _watch(self) -> None:
        selector = selectors.DefaultSelector()
        selector.register(self._read, selectors.EVENT_READ)
        if self._life is not None:
            selector.register(self._life, selectors.EVENT_READ)
        while True:
            for key, _ in selector.select(self._timeout()):
                content = os.read(key.fd, 512)
                if key.fd == self._life and not content:
                    _die()
                if key.fd == self._read and (b"\0" in content or not content):
                    return
                if key.fd == self._read:
                    for number in content:
                        if number in CAUGHT:
                            self._latch(number)
            if self._deadline is not None and not self.late and self.left(self._deadline) <= 0:
                if self.caught is None:
                    self.late = True
                    self.heard()
                    # Wakes the main thread out of a system call, as a signal from outside would.
                    signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGUSR2)
                self._deadline = None

    def _timeout(self) -> float | None:
        if self._deadline is None or self.late:
            return None
        # Not longer: a clock that was set wakes nobody.
        return max(0.0, min(self.left(self._deadline), 5.0))

    def left(self, deadline: float) -> float:
        """Seconds until Unix time `deadline`; of two clocks' answers the sooner."""
        return clock.remaining(deadline, self._begun, clock.read())

    def _ending(self) -> None:
        if os.getpid() == self._owner:
            ignore()

    def _forget(self) -> None:
        # A forked child shares the pipe: its signals are not its parent's.
        if os.getpid() != self._owner and self._previous:
            with contextlib.suppress(ValueError, OSError):
                signal.set_wakeup_fd(-1)


def ignore() -> None:
    """Ignore the signals that ask for the end: a data-loader worker ends with the process that it works for."""
    for number in CAUGHT:
        signal.signal(number, signal.SIG_IGN)
    with contextlib.suppress(ValueError):
        signal.set_wakeup_fd(-1)


def _die() -> None:
    # The supervisor is gone and nobody would collect this attempt. Its last checkpoint is durable.
    if os.getpgrp() == os.getpid():
        os.killpg(os.getpgrp(), signal.SIGKILL)
    os.kill(os.getpid(), signal.SIGKILL)
