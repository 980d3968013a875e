"""Inference: every id gets one row, whatever happens."""

from __future__ import annotations

import csv
import json
import random
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from campc_harness.digests import compare
from tests.harness.attempts import Attempt, Bundle
from tests.harness.objects import ObjectStore
from tests.harness.test_ranks import pair

Make = Callable[..., Bundle]
pytestmark = pytest.mark.timeout(400)
PARAMS = {"ids": 120}


def rows(bundle: Bundle) -> list[dict[str, str]]:
    with open(bundle.outputs / "predictions.csv", newline="") as stream:
        return list(csv.DictReader(stream))


def complete(found: list[dict[str, str]]) -> bool:
    return [row["id"] for row in found] == [f"ticket {number}" for number in range(120)]


def test_every_id_has_its_row(bundle: Make) -> None:
    one = bundle("infer.py", params=PARAMS)
    one.complete()
    assert complete(rows(one))
    assert rows(one)[100] == {"id": "ticket 100", "length": "10", "answer": 'yes, "maybe"'}


def test_json_lines(bundle: Make) -> None:
    one = bundle("infer.py", params={"ids": 3, "output": "deep/rows.jsonl"})
    one.complete()
    found = [json.loads(line) for line in (one.outputs / "deep/rows.jsonl").read_text().splitlines()]
    assert found[0] == {"id": "ticket 0", "length": 8, "answer": 'yes, "maybe"'}


def test_kills_and_another_number_of_ranks(bundle: Make) -> None:
    one = bundle("infer.py", params=PARAMS, checkpoint={"every_steps": 2})
    draw = random.Random(4)
    for world in (1, 2):
        attempts: list[Attempt] = pair(one, world, PAUSE="0.02", HOLD=14)
        attempts[0].until_event("checkpoint", 2)
        time.sleep(draw.uniform(0, 0.1))
        for attempt in attempts:
            attempt.kill()
        for attempt in attempts:
            attempt.wait()
    for attempt in pair(one, 3):
        assert attempt.wait() == 0, attempt.text()
    assert one.attempts[-1].events("resume")[0]["items"] >= 24
    assert complete(rows(one))


def test_a_signal_commits_what_was_emitted(bundle: Make) -> None:
    one = bundle("infer.py", params=PARAMS, checkpoint={"every_steps": 1000})
    attempt = one.start(HOLD=6)
    attempt.until_event("metric")
    attempt.signal(signal.SIGTERM)
    assert attempt.wait() == 75, attempt.text()
    record = attempt.exit()
    assert record is not None and record.step > 0
    last = one.complete()
    assert last.events("resume")[0]["items"] == 4 * record.step
    assert complete(rows(one))


def test_a_superseded_attempt_adds_no_rows(bundle: Make) -> None:
    one = bundle("infer.py", params=PARAMS, checkpoint={"every_steps": 2})
    stale = one.start(HOLD=4)
    stale.until_event("checkpoint")
    stale.signal(signal.SIGSTOP)
    one.complete()
    before = sorted((one.checkpoints / "items").iterdir())
    stale.signal(signal.SIGCONT)
    assert stale.wait() == 78, stale.text()
    assert sorted((one.checkpoints / "items").iterdir()) == before


def test_an_id_that_is_left_out(bundle: Make) -> None:
    attempt = bundle("infer.py", params={**PARAMS, "forget": "ticket 13"}).start()
    assert attempt.wait() == 1
    assert "1 ids of the batch got no row, first 'ticket 13'" in attempt.text()


def test_a_row_with_the_id_of_another(bundle: Make) -> None:
    attempt = bundle("infer.py", params={**PARAMS, "mistake": "ticket 13"}).start()
    assert attempt.wait() == 1
    assert "emit('ticket 13', …): its row says that its id is 'ticket 14'; leave `id` out" in attempt.text()


def test_rehearsed(bundle: Make) -> None:
    one = bundle("infer.py", params=PARAMS)
    verdict = compare(*one.rehearse())
    assert verdict.equal, verdict.differences


@pytest.fixture
def store(tmp_path: Path) -> Iterator[ObjectStore]:
    one = ObjectStore(tmp_path / "objects")
    one.start()
    yield one
    one.stop()


def test_parts_in_an_object_store(bundle: Make, store: ObjectStore) -> None:
    one = bundle("infer.py", params=PARAMS, checkpoint={"every_steps": 2})
    variables = {"CAMPC_CHECKPOINTS": "s3://lab/infer", **store.environment}
    attempt = one.start(HOLD=6, **variables)
    attempt.until_event("checkpoint", 2)
    attempt.kill()
    attempt.wait()
    last = one.complete(**variables)
    assert last.events("resume")[0]["items"] >= 16
    assert complete(rows(one))
