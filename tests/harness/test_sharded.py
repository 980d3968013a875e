"""A model sharded with FSDP: saved by two ranks, resumed by two and by one, started from and exported."""

from __future__ import annotations

import hashlib
import os
import pickle
import signal
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from campc_harness import dealt
from campc_harness.errors import Damaged
from campc_harness.export import export
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
    attempts = pair(one, HOLD=8)
    attempts[0].until_event("checkpoint", 1)
    for attempt in attempts:
        attempt.kill()
    for attempt in attempts:
        attempt.wait()
    attempts = pair(one, HOLD=12)
    attempts[0].until_event("metric", 1)
    attempts[0].signal(signal.SIGTERM)
    for attempt in attempts:
        assert attempt.wait() == 75, attempt.text()
    assert attempts[0].events("resume")[0]["step"] > 0
    for world in (1, 2):
        record = attempts[0].exit()
        assert record is not None and one.committed()[-1] == record.step
        attempts = pair(one, world, **({"HOLD": 18} if world == 1 else {}))
        if world == 1:
            attempts[0].until_event("metric", 1)
            attempts[0].signal(signal.SIGTERM)
        for attempt in attempts:
            assert attempt.wait() == (75 if world == 1 else 0), attempt.text()
    assert digest(one, 0) == digest(twin, 0)


@pytest.mark.parametrize("source", ["sharded", "whole"])
def test_a_run_starts_from_the_weights_of_another(bundle: Make, source: str) -> None:
    first = bundle("fsdp.py", params={"steps": 6, "whole": source == "whole"}, name="first")
    for attempt in pair(first, 2 if source == "sharded" else 1):
        assert attempt.wait() == 0, attempt.text()
    trained = digest(first, 0)
    for target, world, how in (
        ("sharded", 2, "CAMPC_FROM"),
        ("sharded", 1, "WEIGHTS"),
        ("sharded", 2, "WEIGHTS"),
        ("whole", 1, "CAMPC_FROM"),
        ("whole", 2, "CAMPC_FROM"),
    ):
        # Gradients of zero and no decay: what it ends with are the weights that it began with.
        params = {"steps": 2, "whole": target == "whole", "frozen": True}
        other = bundle("fsdp.py", params=params, name=f"{target}-{world}-{how}")
        attempts = pair(other, world, **{how: first.checkpoints})
        for attempt in attempts:
            assert attempt.wait() == 0, attempt.text()
        assert digest(other, world - 1) == trained, other.root.name
        notes = [note["text"] for note in attempts[0].events("note")]
        assert (how == "WEIGHTS") == ("starts from the weights of step-000000006" not in notes)
        assert not list(other.root.rglob("weights*"))


@pytest.mark.parametrize("whole", [True, False])
def test_weights_that_do_not_fit_are_refused_on_every_rank(bundle: Make, whole: bool) -> None:
    first = bundle("fsdp.py", params={"steps": 2, "whole": whole}, name="first")
    for attempt in pair(first, 1):
        assert attempt.wait() == 0, attempt.text()
    other = bundle("fsdp.py", params={"steps": 2, "width": 4}, name="other")
    for attempt in pair(other, CAMPC_FROM=first.checkpoints):
        assert attempt.wait() == 78, attempt.text()
        assert "the weights of model in step-000000002 don't fit" in attempt.text() or attempt.rank


def test_damage_to_a_part_is_seen_before_it_is_started_from(bundle: Make) -> None:
    first = bundle("fsdp.py", params={"steps": 7}, name="first")
    for attempt in pair(first):
        assert attempt.wait() == 0, attempt.text()
    (first.checkpoints / "step-000000007" / "rank-00001.bin").write_bytes(b"")
    other = bundle("fsdp.py", params={"steps": 2}, name="other")
    attempts = pair(other, CAMPC_FROM=first.checkpoints)
    for attempt in attempts:
        assert attempt.wait() == 0, attempt.text()
    assert "starts from the weights of step-000000005" in [note["text"] for note in attempts[0].events("note")]


def test_export_puts_the_weights_together(bundle: Make, tmp_path: Path) -> None:
    one = bundle("fsdp.py", params={"steps": 4})
    for attempt in pair(one):
        assert attempt.wait() == 0, attempt.text()
    target = tmp_path / "model.safetensors"
    assert export(str(one.checkpoints), target) == ["0.weight", "0.bias", "2.weight", "2.bias"]
    found = hashlib.sha256()
    loaded = load_file(target)
    for name in ("0.weight", "0.bias", "2.weight", "2.bias"):
        found.update(bytes(loaded[name].flatten().view(torch.uint8).tolist()))
    assert found.hexdigest() == digest(one, 0)


def test_a_description_that_would_run_code_is_refused(tmp_path: Path) -> None:
    content = torch.frombuffer(bytearray(pickle.dumps(os.system)), dtype=torch.uint8)
    with pytest.raises(Damaged, match=r"names posix\.system, which describes no tensor"):
        dealt.parse({dealt.METADATA: content})
    with pytest.raises(Damaged, match="isn't one of a sharded model"):
        dealt.write({"../escaped": content}, tmp_path)
