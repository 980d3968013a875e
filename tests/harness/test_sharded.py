"""A model sharded with FSDP: saved by two ranks, resumed by two and by one."""

from __future__ import annotations

import signal
from collections.abc import Callable

import pytest

from tests.harness.attempts import Bundle
from tests.harness.test_ranks import digest, pair

Make = Callable[..., Bundle]
pytestmark = pytest.mark.timeout(400)
STEPS = {"steps": 24}


def test_resumed_by_as_many_ranks_and_by_fewer(bundle: Make) -> None:
    twin = bundle("fsdp.py", params=STEPS, name="twin")
    for attempt in pair(twin):
        assert attempt.wait() == 0, attempt.text()
    one = bundle("fsdp.py", params=STEPS)
    attempts = pair(one, PAUSE="0.05")
    attempts[0].until_event("checkpoint", 1)
    for attempt in attempts:
        attempt.kill()
    for attempt in attempts:
        attempt.wait()
    attempts = pair(one, PAUSE="0.05")
    attempts[0].until_event("metric", 1)
    attempts[0].signal(signal.SIGTERM)
    for attempt in attempts:
        assert attempt.wait() == 75, attempt.text()
    assert attempts[0].events("resume")[0]["step"] > 0
    for world in (1, 2):
        record = attempts[0].exit()
        assert record is not None and one.committed()[-1] == record.step
        attempts = pair(one, world, **({"PAUSE": "0.05"} if world == 1 else {}))
        if world == 1:
            attempts[0].until_event("metric", 1)
            attempts[0].signal(signal.SIGTERM)
        for attempt in attempts:
            assert attempt.wait() == (75 if world == 1 else 0), attempt.text()
    assert digest(one, 0) == digest(twin, 0)
