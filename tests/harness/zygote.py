"""Forks attempts from a process that has torch imported already: real processes, started in milliseconds.

Runs as `python -m tests.harness.zygote FD`; requests and answers are JSON datagrams on the socket FD.
"""

from __future__ import annotations

import atexit
import contextlib
import importlib
import json
import os
import runpy
import select
import socket
import subprocess
import sys
import threading
import time
import traceback
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
WARNINGS = ("error", "ignore:This DataLoader will create")


class Forked:
    """A forked process, with the parts of `subprocess.Popen` that tests use."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        # Exit code, or minus the signal, or None while it runs.
        self.returncode: int | None = None

    def poll(self) -> int | None:
        """The same."""
        return self.returncode

    def wait(self, timeout: float) -> int:
        """Exit code; raises `TimeoutExpired`."""
        end = time.monotonic() + timeout
        while (code := self.returncode) is None:
            if time.monotonic() > end:
                raise subprocess.TimeoutExpired("attempt", timeout)
            time.sleep(0.005)
        return code

    def send_signal(self, number: int) -> None:
        """Send a signal to it alone."""
        if self.returncode is None:
            os.kill(self.pid, number)


class Zygote:
    """The test process's end.

    Args:
        modules: imported before anything is forked.
        warnings: filters, as for `python -W`.
    """

    def __init__(self, *modules: str, warnings: tuple[str, ...] = WARNINGS) -> None:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._socket = ours
        # Only those that run: the system gives the number of one that has ended to another.
        self._running: dict[int, Forked] = {}
        self._answers: list[Forked] = []
        self._answered = threading.Condition()
        environment = {**os.environ, "PYTHONPATH": f"{ROOT / 'compiler'}:{ROOT}", "OMP_NUM_THREADS": "1"}
        options = [part for warning in warnings for part in ("-W", warning)]
        self._process = subprocess.Popen(
            [
                sys.executable,
                "-X",
                "faulthandler",
                *options,
                "-m",
                "tests.harness.zygote",
                str(theirs.fileno()),
                *modules,
            ],
            env=environment,
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
        )
        theirs.close()
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()

    def start(self, script: str, arguments: list[str], environment: dict[str, str], handles: dict[int, int]) -> Forked:
        """Fork a process that runs `script`; `handles` maps its descriptors to ours (1 and 2 among them)."""
        request = {"script": script, "arguments": arguments, "environment": environment, "handles": list(handles)}
        with self._answered:
            socket.send_fds(self._socket, [json.dumps(request).encode()], list(handles.values()))
            while not self._answers:
                if not self._answered.wait(60):
                    raise AssertionError("the zygote doesn't answer")
            return self._answers.pop()

    def close(self) -> None:
        """End it."""
        self._socket.shutdown(socket.SHUT_RDWR)
        self._process.wait(60)
        self._listener.join(10)
        self._socket.close()

    def _listen(self) -> None:
        while message := self._socket.recv(65536):
            answer: dict[str, Any] = json.loads(message)
            with self._answered:
                if "started" in answer:
                    forked = self._running[answer["started"]] = Forked(answer["started"])
                    self._answers.append(forked)
                    self._answered.notify_all()
                else:
                    self._running.pop(answer["ended"]).returncode = answer["code"]


def serve(link: socket.socket) -> tuple[str, list[str]] | None:
    """Answer requests; returns in every forked child, with what it is to run, and None at the end."""
    while True:
        ready, _, _ = select.select([link], [], [], 0.01)
        with contextlib.suppress(ChildProcessError):
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid:
                link.send(json.dumps({"ended": pid, "code": os.waitstatus_to_exitcode(status)}).encode())
        if not ready:
            continue
        message, handles, _, _ = socket.recv_fds(link, 262144, 16)
        if not message:
            return None
        request = json.loads(message)
        pid = os.fork()
        if pid:
            for handle in handles:
                os.close(handle)
            link.send(json.dumps({"started": pid}).encode())
            continue
        os.setpgid(0, 0)
        link.close()
        _take(handles, request["handles"])
        os.environ.clear()
        os.environ.update(request["environment"])
        return request["script"], request["arguments"]


def _take(handles: list[int], wanted: list[int]) -> None:
    # By way of high numbers, so that none is overwritten before it is copied.
    high = [os.dup2(handle, 200 + index) for index, handle in enumerate(handles)]
    for handle in handles:
        os.close(handle)
    for handle, number in zip(high, wanted, strict=True):
        os.dup2(handle, number)
        os.close(handle)


def main() -> None:
    """Import what every attempt needs, then fork."""
    import torch
    import torch.utils.data

    for module in sys.argv[2:]:
        importlib.import_module(module)
    weight = torch.nn.Parameter(torch.zeros(1))
    optimizer = torch.optim.AdamW([weight])
    torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 10)
    link = socket.socket(fileno=int(sys.argv[1]))
    task = serve(link)
    if task is None:
        link.close()
        return
    script, arguments = task
    sys.argv = [script, *arguments]
    sys.path.insert(0, str(Path(script).parent))
    code = 0
    try:
        runpy.run_path(script, run_name="__main__")
    except SystemExit as leave:
        code = leave.code if isinstance(leave.code, int) else 0 if leave.code is None else 1
    except BaseException:
        traceback.print_exc()
        code = 1
    # As Python ends, but for taking apart the modules, which takes torch a second.
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    main()
