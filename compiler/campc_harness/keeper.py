"""Keeps a launcher alive: outside the terminal, and again when it was killed."""

from __future__ import annotations

import contextlib
import fcntl
import os
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Iterator, Sequence
from pathlib import Path

from campc_harness import processes
from campc_harness.bundle import OWNER, Bundle, python, setting
from campc_harness.exits import INTERRUPTED

BROKEN = 70
_RESTARTS = 20
_LOOKS = 5
_LONGEST_PAUSE_S = 60.0
_FORWARDED = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2)


class Busy(Exception):
    """Another launcher has this lot already; the text says which process."""


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the lock at `path`, which the system lets go of when the process ends, however it ends.

    Raises:
        Busy: somebody else holds it.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        # Somebody who only looks (`holder`) lets go at once; a launcher does not.
        for last in [*[False] * _LOOKS, True]:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except OSError as error:
                if last:
                    owner = os.pread(handle, 64, 0).decode("ascii", "replace").strip()
                    text = f"this lot is being run already, by process {owner or 'unknown'}: see ./launch.sh status"
                    raise Busy(text) from error
                time.sleep(0.1)
        os.ftruncate(handle, 0)
        os.pwrite(handle, f"{os.getpid()}\n".encode(), 0)
        yield
    finally:
        os.close(handle)


def holder(path: Path) -> int | None:
    """The process that holds the lock at `path`, or None; 0 where it is held by an unknown one. Nothing is changed."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
        return None
    except OSError:
        text = os.pread(handle, 64, 0).decode("ascii", "replace").strip()
        return int(text) if text.isdigit() else 0
    finally:
        os.close(handle)


def launcher_lock(bundle: Bundle) -> Path:
    """Held by the launcher of a lot."""
    return bundle.state / "launcher.lock"


def keeper_lock(bundle: Bundle) -> Path:
    """Held by the keeper of a lot's launcher."""
    return bundle.state / "keeper.lock"


def log_path(bundle: Bundle) -> Path:
    """What the launcher says."""
    return bundle.state / "supervisor.log"


def keep(bundle: Bundle, arguments: Sequence[str]) -> int:
    """Run the launcher, and start it again where it was killed or broke; its exit code.

    Raises:
        Busy: there is one already.
    """
    with locked(keeper_lock(bundle)):
        asked: list[int] = []
        child: subprocess.Popen[bytes] | None = None

        def forward(number: int, _: object) -> None:
            asked.append(number)
            if child is not None and child.poll() is None:
                child.send_signal(number)

        for number in _FORWARDED:
            signal.signal(number, forward)
        for count in range(int(setting("CAMPC_RESTARTS", _RESTARTS)) + 1):
            command = [python(), "-m", "campc_harness", "_launch", *arguments, *(["--restart"] if count else [])]
            child = _start(bundle, command)
            if asked:
                child.send_signal(asked[-1])
            code = child.wait()
            if code != BROKEN and code >= 0:
                return code
            processes.sweep({OWNER: str(bundle.state)})
            if asked:
                # Asked to leave before it could listen: whatever it had started is gone, its checkpoints are not.
                return INTERRUPTED
            pause = min(setting("CAMPC_KEEPER_PAUSE_S", 2.0) * 2 ** min(count, 5), _LONGEST_PAUSE_S)
            what = f"signal {-code}" if code < 0 else "a fault of its own"
            _say(f"the supervisor was ended by {what}; it is started again in {pause:.0f} s")
            time.sleep(pause)
        return _last_resort(bundle, arguments)


def _last_resort(bundle: Bundle, arguments: Sequence[str]) -> int:
    """The launcher can't be kept alive: bring home what there is, and give the machine back if the plan says `always`."""
    _say("the supervisor can't be kept alive: results are brought home as they are")
    environment = bundle.environment()
    subprocess.run(
        [python(), "-m", "campc_harness", "pack", "--lot", bundle.lot.name],
        cwd=bundle.root,
        env=environment,
        stdin=subprocess.DEVNULL,
        check=False,
    )
    shutdown = bundle.plan.shutdown
    if shutdown is not None and shutdown.when == "always" and "--keep-machine" not in arguments:
        subprocess.run(
            ["/bin/sh", "-c", shutdown.command], cwd=bundle.root, env=environment, stdin=subprocess.DEVNULL, check=False
        )
    return BROKEN


def detach(bundle: Bundle, arguments: Sequence[str]) -> None:
    """Keep the launcher in a session of its own, which the end of the terminal does not touch."""
    pid = os.fork()
    if pid:
        os.waitpid(pid, 0)
        return
    os.setsid()
    if os.fork():
        os._exit(0)
    code = BROKEN
    try:
        log_path(bundle).parent.mkdir(parents=True, exist_ok=True)
        log = os.open(log_path(bundle), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        null = os.open(os.devnull, os.O_RDONLY)
        for handle, target in ((null, 0), (log, 1), (log, 2)):
            os.dup2(handle, target)
        code = keep(bundle, arguments)
    except Busy as error:
        _say(str(error))
        code = 1
    except Exception:
        traceback.print_exc()
    finally:
        os._exit(code)


def wait_started(bundle: Bundle, after: int, patience_s: float = 20.0) -> bool:
    """Whether the launcher has written to the ledger beyond its first `after` bytes; waits a while for it."""
    end = time.monotonic() + patience_s
    while time.monotonic() < end:
        with contextlib.suppress(OSError):
            if bundle.ledger.stat().st_size > after:
                return True
        time.sleep(0.05)
    return False


def _start(bundle: Bundle, command: list[str]) -> subprocess.Popen[bytes]:
    environment = {name: value for name, value in bundle.environment().items() if name != OWNER}
    # A session of its own: Ctrl-C must reach it once, through the keeper, and not a second time from the terminal.
    return subprocess.Popen(command, cwd=bundle.root, env=environment, stdin=subprocess.DEVNULL, start_new_session=True)


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
