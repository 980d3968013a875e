"""The system gives the number of a process that has ended to another one, and nobody may be taken for the other."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from campc_harness import processes
from tests.harness.attempts import Attempt, Bundle

Make = Callable[..., Bundle]
NEXT = Path("/proc/sys/kernel/ns_last_pid")
pytestmark = [
    pytest.mark.timeout(400),
    pytest.mark.skipif(not os.access(NEXT, os.W_OK), reason="choosing the next process's number is the superuser's"),
]


def tries(number: int) -> Iterator[None]:
    """Sees to it that the next process gets `number`, as often as others on the machine take it first."""
    for _ in range(50):
        NEXT.write_text(str(number - 1))
        yield
    pytest.skip(f"the number {number} is taken")


def test_an_attempt_does_not_end_as_the_one_that_had_its_number(bundle: Make) -> None:
    one = bundle("slow.py", params={})
    killed = one.start(BEFORE="60")
    killed.until_event("hello")
    killed.kill()
    assert killed.wait() == -signal.SIGKILL
    attempt: Attempt | None = None
    for _ in tries(killed.process.pid):
        attempt = one.start()
        if attempt.process.pid == killed.process.pid:
            break
        assert attempt.wait() == 0
    assert attempt is not None
    assert attempt.wait() == 0 and attempt.events("hello"), attempt.text()
    assert killed.process.poll() == -signal.SIGKILL


def test_a_group_that_has_ended_is_not_signalled_again(tmp_path: Path) -> None:
    command, stranger = ["sleep", "60"], None
    ended = processes.spawn(command, cwd=tmp_path, env=os.environ, output=subprocess.DEVNULL)
    processes.send(ended, signal.SIGTERM, group=True)
    assert ended.wait(90) == -signal.SIGTERM
    for _ in tries(ended.pid):
        stranger = processes.spawn(command, cwd=tmp_path, env=os.environ, output=subprocess.DEVNULL)
        if stranger.pid == ended.pid:
            break
        stranger.kill()
        stranger.wait(90)
    assert stranger is not None
    processes.send(ended, signal.SIGKILL, group=True)
    stranger.terminate()
    assert stranger.wait(90) == -signal.SIGTERM, "not the signal that was meant for the ended one"


def test_what_an_ended_leader_left_behind_is_still_signalled(tmp_path: Path) -> None:
    read, write = os.pipe()
    leader = processes.spawn(
        ["sh", "-c", "sleep 60 & exit 0"], cwd=tmp_path, env=os.environ, output=subprocess.DEVNULL, keep=(write,)
    )
    os.close(write)
    assert leader.wait(90) == 0
    processes.send(leader, signal.SIGKILL, group=True)
    assert os.read(read, 1) == b"", "the one left behind held the other end"
    os.close(read)
