"""Starting processes that cannot outlive their supervisor, and finding those that tried."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO

_PR_SET_PDEATHSIG = 1


def spawn(
    argv: Sequence[str],
    *,
    cwd: Path,
    env: Mapping[str, str],
    output: int | IO[bytes],
    keep: Sequence[int] = (),
    errors: int | IO[bytes] = subprocess.STDOUT,
) -> subprocess.Popen[bytes]:
    """Start `argv` in a process group of its own; the kernel kills it when the calling thread ends.

    Args:
        output: where its standard output goes (standard error too, unless `errors` says otherwise).
        keep: file descriptors that it inherits.

    Raises:
        OSError: it cannot be started.
    """
    parent = os.getpid()
    prctl = getattr(ctypes.CDLL(None, use_errno=True), "prctl", None)

    def prepare() -> None:
        os.setpgid(0, 0)
        if prctl is not None:
            prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
            # The parent may have died between fork and prctl: then no signal will ever come.
            if os.getppid() != parent:
                os._exit(1)

    return subprocess.Popen(
        list(argv),
        cwd=cwd,
        env=dict(env),
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=errors,
        pass_fds=tuple(keep),
        preexec_fn=prepare,
    )


def send(process: subprocess.Popen[bytes], number: int, *, group: bool = False) -> None:
    """Send a signal to a process, or to its whole group; one that has ended already is passed over."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        runs = process.poll() is None
        if group and (runs or _leaderless(process.pid)):
            os.killpg(process.pid, number)
        elif runs:
            os.kill(process.pid, number)


def _leaderless(group: int) -> bool:
    """Whether no process has the number of an ended group leader: then the system hasn't given it to a stranger."""
    try:
        os.kill(group, 0)
    except ProcessLookupError:
        return True
    return False


def carrying(environment: Mapping[str, str]) -> Iterator[int]:
    """Processes (but this one) that were started with all of `environment` in their environment; Linux only."""
    wanted = {f"{name}={value}".encode("utf-8", "surrogateescape") for name, value in environment.items()}
    for entry in Path("/proc").glob("[0-9]*"):
        pid = int(entry.name)
        if pid == os.getpid():
            continue
        try:
            have = set((entry / "environ").read_bytes().split(b"\0"))
        except OSError:
            continue
        if wanted <= have:
            yield pid


def sweep(environment: Mapping[str, str]) -> list[int]:
    """Kill every process that `carrying` finds, and say which."""
    killed = []
    for pid in carrying(environment):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGKILL)
            killed.append(pid)
    return killed


def where(pid: int) -> str:
    """What the kernel says of a process that hangs: its state, and where in the kernel it waits."""
    parts = []
    for name in ("comm", "wchan", "syscall"):
        with contextlib.suppress(OSError):
            parts.append(f"{name}={Path(f'/proc/{pid}/{name}').read_text(encoding='utf-8', errors='replace').strip()}")
    with contextlib.suppress(OSError):
        status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8", errors="replace")
        parts += [line.replace("\t", " ") for line in status.splitlines() if line.startswith(("State", "Threads"))]
    return ", ".join(parts) or "gone"
