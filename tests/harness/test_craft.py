"""What real scripts do, in real loops: each ends, after faults, with the weights of an uninterrupted twin."""

from __future__ import annotations

import signal
from collections.abc import Callable

import pytest

from tests.harness.attempts import Bundle

Make = Callable[..., Bundle]
pytestmark = pytest.mark.timeout(400)


def digest(bundle: Bundle) -> str:
    return (bundle.outputs / "digest.txt").read_text()


def test_scaler_accumulation_ema_and_two_optimizers(bundle: Make) -> None:
    twin = bundle("craft.py", name="twin", params={"epochs": 10, "workers": 0})
    twin.complete()
    one = bundle("craft.py", params={"epochs": 10, "workers": 4}, checkpoint={"every_steps": 3})
    attempt = one.start(HOLD=8)
    attempt.until_event("checkpoint", 2)
    attempt.kill()
    attempt.wait()
    attempt = one.start(EVALUATE="300")
    attempt.until(lambda: any(beat["phase"] == "evaluate" for beat in attempt.events("beat")))
    attempt.signal(signal.SIGTERM, release=False)
    assert attempt.wait() == 75, attempt.text()
    attempt = one.start(HOLD=14)
    attempt.until_event("checkpoint", 1)
    attempt.signal(signal.SIGUSR1)
    assert attempt.wait() == 75, attempt.text()
    one.complete()
    assert digest(one) == digest(twin)


@pytest.mark.parametrize("kind", ["sampler", "stream"])
def test_loaders_of_the_script(bundle: Make, kind: str) -> None:
    twin, one = (bundle("own_loader.py", name=name, params={"kind": kind}) for name in ("twin", "one"))
    twin.complete()
    attempt = one.start(HOLD=17)
    attempt.until_event("checkpoint", 3)
    attempt.kill()
    attempt.wait()
    attempt = one.start(HOLD=23)
    attempt.until_event("checkpoint", 1)
    attempt.signal(signal.SIGTERM)
    assert attempt.wait() == 75, attempt.text()
    one.complete()
    assert digest(one) == digest(twin)


def test_a_loader_that_cannot_resume_is_refused(bundle: Make) -> None:
    attempt = bundle("own_loader.py", params={"kind": "plain"}).start()
    assert attempt.wait() == 78
    assert "run.data can't resume a DataLoader" in attempt.text() and "Traceback" not in attempt.text()


def test_the_best_is_kept(bundle: Make) -> None:
    best = {"keep_best": {"metric": "score", "direction": "max"}, "every_steps": 4, "keep": 1}
    one = bundle("scores.py", params={"scores": [1, 3, 2, 9, 5, 4, 3, 2, 1, 1]}, checkpoint=best)
    attempt = one.start(PAUSE="0.05", UNTIL="7")
    assert attempt.wait() == 1
    assert one.committed() == [4, 7] or one.committed() == [4], one.committed()
    one.complete()
    assert one.committed() == [4, 10], "a resumed run still knows which was the best"
