"""Two ranks: they agree on signals, saves and stops at one step, whichever of them it came to."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.harness.attempts import Attempt, Bundle, free_port

Make = Callable[..., Bundle]
pytestmark = pytest.mark.timeout(400)
STEPS = {"steps": 60}
NOT_FINITE = {"text": "loss is not finite", "expr": ["not", ["finite", ["metric", "loss"]]]}


def pair(bundle: Bundle, world: int = 2, **variables: Any) -> list[Attempt]:
    """All ranks of one attempt."""
    port, number = free_port(), len(bundle.attempts) + 1
    return [
        bundle.start(rank=rank, number=number, WORLD_SIZE=world, LOCAL_WORLD_SIZE=world, MASTER_PORT=port, **variables)
        for rank in range(world)
    ]


def digest(bundle: Bundle, rank: int) -> str:
    return (bundle.outputs / f"digest-{rank}.txt").read_text()


def test_a_signal_to_one_rank_ends_both_at_one_step(bundle: Make) -> None:
    twin, one = bundle("ranks.py", params=STEPS, name="twin"), bundle("ranks.py", params=STEPS)
    for attempt in pair(twin):
        assert attempt.wait() == 0, attempt.text()
    for told, hold in ((1, 8), (0, 23)):
        attempts = pair(one, HOLD=hold)
        attempts[0].until_event("metric")
        attempts[told].signal(signal.SIGTERM)
        records = []
        for attempt in attempts:
            assert attempt.wait() == 75, attempt.text()
            records.append(attempt.exit())
        assert records[0] is not None and records[1] is not None and records[0].step == records[1].step
        assert one.committed()[-1] == records[0].step
    for attempt in pair(one):
        assert attempt.wait() == 0, attempt.text()
    assert [digest(one, rank) for rank in (0, 1)] == [digest(twin, rank) for rank in (0, 1)]


def test_kill_one_rank_and_resume(bundle: Make) -> None:
    twin, one = bundle("ranks.py", params=STEPS, name="twin"), bundle("ranks.py", params=STEPS)
    for attempt in pair(twin):
        assert attempt.wait() == 0, attempt.text()
    attempts = pair(one, PAUSE="0.02", HOLD=12)
    attempts[0].until_event("checkpoint", 1)
    time.sleep(0.05)
    for attempt in reversed(attempts):
        attempt.kill()
    for attempt in attempts:
        attempt.wait()
    for attempt in pair(one):
        assert attempt.wait() == 0, attempt.text()
    assert one.attempts[-1].events("resume")[0]["step"] > 0
    assert [digest(one, rank) for rank in (0, 1)] == [digest(twin, rank) for rank in (0, 1)]


@pytest.mark.parametrize("where", [0, 1])
def test_a_stop_on_one_rank_stops_both(bundle: Make, where: int) -> None:
    stops = [{"name": "finite", "when": NOT_FINITE, "runs": [], "because": ""}]
    one = bundle("ranks.py", params={**STEPS, "poison": 12, "where": where}, stops=stops)
    for attempt in pair(one):
        assert attempt.wait() == 76, attempt.text()
        record = attempt.exit()
        assert record is not None and record.step == 11
        assert (record.stop == "finite") == (attempt.rank == where)


def test_a_stop_on_what_one_rank_logs_stops_both_at_the_boundary(bundle: Make) -> None:
    grade = {"text": "grade is not finite", "expr": ["not", ["finite", ["metric", "grade"]]]}
    stops = [{"name": "graded", "when": grade, "runs": [], "because": ""}]
    one = bundle("ranks.py", params={**STEPS, "late": 12, "where": 0}, stops=stops)
    for attempt in pair(one):
        assert attempt.wait() == 76, attempt.text()
        record = attempt.exit()
        assert record is not None and record.step == 12
        assert (record.stop == "graded") == (attempt.rank == 0)


def test_damage_to_one_ranks_part_sets_the_whole_aside(bundle: Make) -> None:
    one = bundle("ranks.py", params=STEPS)
    attempts = pair(one, HOLD=12)
    attempts[0].until_event("checkpoint", 2)
    for attempt in attempts:
        attempt.kill()
    for attempt in attempts:
        attempt.wait()
    older, newest = one.committed()
    (one.checkpoints / f"step-{newest:09d}" / "rank-00001.bin").write_bytes(b"")
    for attempt in pair(one):
        assert attempt.wait() == 0, attempt.text()
        assert attempt.events("resume")[0]["step"] == older


def test_another_number_of_ranks_goes_on(bundle: Make) -> None:
    one = bundle("ranks.py", params=STEPS)
    attempts = pair(one, HOLD=8)
    attempts[0].until_event("checkpoint", 1)
    attempts[0].signal(signal.SIGTERM)
    for attempt in attempts:
        assert attempt.wait() == 75, attempt.text()
    alone = one.complete()
    assert alone.events("resume")[0]["step"] == one.attempts[0].events("checkpoint")[-1]["step"]


def test_a_signal_in_an_evaluation_of_two_ranks_keeps_its_state(bundle: Make) -> None:
    one = bundle("ranks.py", params={**STEPS, "evaluate": 10}, checkpoint={"every_steps": 1000})
    attempts = pair(one, EVALUATE="300")
    attempts[0].until(lambda: any(beat["phase"] == "evaluate" for beat in attempts[0].events("beat")))
    for attempt in attempts:
        attempt.signal(signal.SIGTERM, release=False)
    attempts[0].until(lambda: one.committed() == [10])
    attempts[0].release()
    for attempt in attempts:
        assert attempt.wait() == 75, attempt.text()
        record = attempt.exit()
        assert record is not None and record.step == 10
    assert one.committed() == [10]


@pytest.mark.parametrize(("fault", "code"), [("ro", 78), ("full", 76)])
def test_what_keeps_rank_0_from_its_claim_ends_all_alike(bundle: Make, tmp_path: Path, fault: str, code: int) -> None:
    place = tmp_path / "small"
    place.mkdir()
    options = "size=64k,nr_inodes=4" if fault == "full" else "ro"
    if os.system(f"mount -t tmpfs -o {options} tmpfs {place} 2>/dev/null") != 0:
        pytest.skip("needs the right to mount a tmpfs")
    try:
        one = bundle("ranks.py", params=STEPS)
        for attempt in pair(one, CAMPC_CHECKPOINTS=place / "a/b/c/d"):
            assert attempt.wait() == code, attempt.text()
            assert "Traceback" not in attempt.text()
    finally:
        os.system(f"umount {place}")


def test_ranks_that_see_different_places_are_told_so(bundle: Make) -> None:
    one = bundle("impatient.py", params=STEPS)
    port = free_port()
    attempts = [
        one.start(rank=rank, number=1, WORLD_SIZE=2, MASTER_PORT=port, CAMPC_CHECKPOINTS=one.root / f"place-{rank}")
        for rank in (0, 1)
    ]
    for attempt in attempts:
        assert attempt.wait() == 78, attempt.text()
        record = attempt.exit()
        assert (
            record is not None and "let `to` be a folder on a disk that all machines of the lot share" in record.reason
        )


@pytest.mark.parametrize("script", ["ranks.py", "fsdp.py"])
def test_where_one_rank_has_no_memory_for_a_copy_all_write_in_pieces(bundle: Make, script: str) -> None:
    twin, short = bundle(script, params=STEPS, name="twin"), bundle("short_of_memory.py", params=STEPS, name="short")
    for attempt in pair(twin):
        assert attempt.wait() == 0, attempt.text()
    attempts = pair(short, SCRIPT=script, HOLD=12)
    attempts[0].until_event("checkpoint", 2)
    for attempt in attempts:
        attempt.kill()
    for attempt in attempts:
        attempt.wait()
    attempts = pair(short, SCRIPT=script, HOLD=23)
    attempts[0].until_event("metric")
    attempts[1].signal(signal.SIGTERM)
    for attempt in attempts:
        assert attempt.wait() == 75, attempt.text()
    attempts = pair(short, SCRIPT=script)
    for attempt in attempts:
        assert attempt.wait() == 0, attempt.text()
        assert attempt.events("resume")[0]["step"] > 0
    [note] = [event["text"] for attempt in attempts for event in attempt.events("note")]
    assert "on every rank: training waits for each checkpoint" in note
    assert [digest(short, rank) for rank in (0, 1)] == [digest(twin, rank) for rank in (0, 1)]


def test_without_memory_a_signal_in_an_evaluation_of_two_ranks_waits_for_its_end(bundle: Make) -> None:
    one = bundle("short_of_memory.py", params={**STEPS, "evaluate": 10}, checkpoint={"every_steps": 4})
    attempts = pair(one, EVALUATE="300")
    attempts[0].until(lambda: any(beat["phase"] == "evaluate" for beat in attempts[0].events("beat")))
    for attempt in attempts:
        attempt.signal(signal.SIGTERM)
    for attempt in attempts:
        assert attempt.wait() == 75, attempt.text()
        record = attempt.exit()
        assert record is not None and record.step == 10
    assert one.committed() == [8, 10]
