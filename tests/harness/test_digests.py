"""A rehearsal's comparison tells an honest script from one that doesn't resume, and says what differed."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from campc_harness.digests import Verdict, compare
from tests.harness.attempts import Bundle

Make = Callable[..., Bundle]
pytestmark = pytest.mark.timeout(400)


def rehearse(make: Make, script: str, **params: object) -> tuple[Verdict, Bundle]:
    one = make(script, params={"steps": 40, **params})
    return compare(*one.rehearse()), one


def test_an_honest_script_passes(bundle: Make) -> None:
    verdict, one = rehearse(bundle, "trainer.py")
    assert verdict.equal and not verdict.notes, verdict.differences
    first, resume, twin = one.attempts
    assert first.events("checkpoint")[0]["step"] == 3
    assert resume.events("resume")[0]["step"] == 3 and resume.events("resume")[0]["restore_s"] > 0
    assert twin.events("resume")[0]["step"] == 0 and not (one.root / "twin" / "step-000000006").exists()
    assert twin.events("timing")[0]["step_s"] > 0
    for attempt in (resume, twin):
        evaluated = [event["step"] for event in attempt.events("metric") if "eval.loss" in event["values"]]
        assert evaluated == [4], "run.every is true once"


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("untracked", "after the last step the resumed state differs from the uninterrupted twin's: model.bias"),
        ("clock", "step 4 of the twin and after resuming: generator torch differs"),
        ("augmentation", "step 4 of the twin and after resuming: the same samples have another content"),
    ],
)
def test_a_dishonest_script_is_found_out(bundle: Make, fault: str, words: str) -> None:
    verdict, _ = rehearse(bundle, "dishonest.py", fault=fault)
    assert not verdict.equal
    assert any(words in difference for difference in verdict.differences), verdict.differences
    advised = any("something else that training depends on began anew" in note for note in verdict.notes)
    assert advised == (fault == "untracked"), verdict.notes


def test_nondeterministic_kernels_fail_no_honest_script(bundle: Make) -> None:
    verdict, _ = rehearse(bundle, "dishonest.py", fault="kernel")
    assert verdict.equal, verdict.differences
    assert "two uninterrupted twins differ" in verdict.notes[0]


def test_the_first_attempt_waits_to_be_killed(bundle: Make) -> None:
    one = bundle(params={"steps": 40})
    attempt = one.start(CAMPC_MODE="rehearse", CAMPC_PHASE="first")
    attempt.until(lambda: (attempt.folder / "digest-0.jsonl").exists())
    attempt.until(lambda: '"end"' in (attempt.folder / "digest-0.jsonl").read_text())
    assert attempt.process.poll() is None
    attempt.signal(15)
    assert attempt.wait() == 75


def test_the_sample_stands_in_for_the_corpus(bundle: Make) -> None:
    corpora = [{"name": "tickets", "path": "tickets.csv", "sample": "few.csv"}]
    one = bundle("corpus.py", corpus="tickets", corpora=corpora)
    (one.root / "work").mkdir()
    for name in ("tickets.csv", "few.csv"):
        (one.root / "work" / name).write_text("id\n")
    one.complete()
    assert json.loads((one.outputs / "corpus.json").read_text()) == str(one.root / "work" / "tickets.csv")
    one.complete(CAMPC_MODE="rehearse", CAMPC_PHASE="twin")
    assert json.loads((one.outputs / "corpus.json").read_text()) == str(one.root / "work" / "few.csv")


def test_missing_digests_are_differences(tmp_path: Path) -> None:
    verdict = compare(tmp_path, tmp_path, tmp_path)
    assert not verdict.equal
    assert verdict.differences[0] == "the first attempt saved nothing"
