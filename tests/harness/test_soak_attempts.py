"""Attempts killed at random moments, over and over: nothing that was reported durable is lost, no resumption is wrong."""

from __future__ import annotations

import os
import random
import signal
import time
from collections.abc import Callable

import pytest

from tests.harness.attempts import Bundle

Make = Callable[..., Bundle]
pytestmark = pytest.mark.timeout(0)
KILLS = int(os.environ.get("CAMPC_SOAK_KILLS", "1000"))
STEPS = {"steps": 60}
SIGNALS = (signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGUSR1)


def soak(make: Make, kills: int, seed: int) -> dict[str, int]:
    """Kill until `kills` are done; counts of what went wrong."""
    twin = make(params=STEPS, name="twin")
    twin.complete()
    wanted = (twin.outputs / "digest.txt").read_text()
    draw, done, round_ = random.Random(seed), 0, 0
    counts = {"kills": 0, "lost commits": 0, "wrong resumptions": 0, "orphans": 0, "runs": 0}
    while done < kills:
        round_ += 1
        one = make(params=STEPS, name=f"run{round_}", checkpoint={"every_steps": draw.choice([1, 3, 7])})
        durable = 0
        while True:
            attempt = one.start(PAUSE="0.004", EVALUATE="0.02", number=len(one.attempts) + 1)
            if done < kills and draw.random() < 0.8:
                time.sleep(draw.uniform(0.05, 0.8))
                number = draw.choice(SIGNALS)
                if attempt.process.poll() is None:
                    done += 1
                    attempt.kill() if number is signal.SIGKILL else attempt.signal(number)
            code = attempt.wait()
            resumed = attempt.events("resume")
            if resumed and resumed[0]["step"] < durable:
                counts["lost commits"] += 1
            durable = max([durable, *(event["step"] for event in attempt.events("checkpoint"))])
            attempt.close()
            if code == 0:
                break
            # Before Run.start has caught the signals, they kill as they do anywhere.
            assert code in (75, -signal.SIGKILL) or not attempt.events("hello"), attempt.text()
        counts["runs"] += 1
        counts["wrong resumptions"] += (one.outputs / "digest.txt").read_text() != wanted
        counts["orphans"] += sum(_alive(attempt.process.pid) for attempt in one.attempts)
    counts["kills"] = done
    return counts


def _alive(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


def check(counts: dict[str, int]) -> None:
    print(counts)
    assert not counts["lost commits"] and not counts["wrong resumptions"] and not counts["orphans"]


def test_a_few_kills(bundle: Make) -> None:
    check(soak(bundle, 8, seed=11))


@pytest.mark.soak
def test_a_thousand_kills(bundle: Make) -> None:
    check(soak(bundle, KILLS, seed=12))
