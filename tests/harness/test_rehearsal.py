"""The dry run on a script that trains for real, and on scripts with the faults that it is there to find."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from campc_harness import longest
from campc_harness.longest import records, with_longest
from tests.harness.attempts import SCRIPTS
from tests.harness.bundles import Bundle, campaign, executes, run, window

SCRIPT = """
import random
import torch
from campc_harness import Run

torch.set_num_threads(1)

class Rows(torch.utils.data.Dataset):
    def __len__(self):
        return 40
    def __getitem__(self, index):
        return torch.tensor([float(index), 1.0]) AUGMENT

with Run.start() as run:
    torch.manual_seed(run.seed)
    model = torch.nn.Sequential(torch.nn.Linear(2, 8), torch.nn.Dropout(0.5), torch.nn.Linear(8, 1))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    run.track(TRACKED)
    for step, batch in run.batches(Rows(), batch_size=4, steps=run.params["steps"]):
        loss = model(batch).pow(2).mean()
        run.check(loss=loss)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        run.log(loss=loss)
        EXTRA
    (run.outputs / "predictions.csv").write_text("id,label\\n1,2\\n")
"""


def bundle_of(
    path: Path, tracked: str = "model=model, optimizer=optimizer", augment: str = "", extra: str = "pass"
) -> Bundle:
    control = run("control", params={"steps": 20})
    plan = campaign(
        runs=[control],
        windows=[executes("control", "train", control), window("home", "retrieve", last=True, to="home")],
        preflight={"dry_run": True},
    )
    bundle = Bundle(path, plan, OMP_NUM_THREADS="1")
    script = SCRIPT.replace("TRACKED", tracked).replace("AUGMENT", augment).replace("EXTRA", extra)
    (path / "work/train.py").write_text(script)
    return bundle


@pytest.mark.timeout(180)
def test_an_honest_script_passes_and_its_measurements_are_told(tmp_path: Path) -> None:
    bundle = bundle_of(tmp_path, augment="+ torch.rand(2)")
    done = bundle.launch("rehearse", "--cpu", check=0, timeout=120)
    assert "passed" in done.stdout
    assert "checkpoint { size = " in done.stdout and "; write = " in done.stdout and "; restore = " in done.stdout
    assert "a step " in done.stdout
    record = bundle.records("rehearsal")[0]
    assert record["passed"] and record["plan_hash"] == "ab" * 32
    assert not list((tmp_path / "checkpoints").glob("*")), "a rehearsal leaves no checkpoints behind"
    bundle.foreground()
    assert bundle.states()["control"] == "finished"


@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    ("script", "ranks", "params"),
    [
        ("infer.py", 1, {"ids": 120}),
        ("infer.py", 2, {"ids": 120}),
        ("craft.py", 1, {"epochs": 10, "workers": 2}),
        ("own_loader.py", 1, {"kind": "sampler"}),
        ("own_loader.py", 1, {"kind": "stream"}),
        ("ddp.py", 2, {"steps": 20}),
        ("fsdp.py", 2, {"steps": 20}),
        ("hf_trainer.py", 2, {"steps": 20}),
        ("lightning_module.py", 1, {"steps": 20}),
        ("lightning_module.py", 2, {"steps": 20}),
    ],
)
def test_every_kind_of_loop_is_rehearsed_from_its_middle(
    tmp_path: Path, script: str, ranks: int, params: dict[str, Any]
) -> None:
    for framework in {"hf_trainer.py": ["transformers"], "lightning_module.py": ["lightning"]}.get(script, []):
        pytest.importorskip(framework)
    control = run("control", params=params, processes=ranks)
    bundle = Bundle(
        tmp_path, campaign(runs=[control], windows=[executes("control", "train", control)]), OMP_NUM_THREADS="1"
    )
    shutil.copy(SCRIPTS / script, tmp_path / "work/train.py")
    shutil.copy(SCRIPTS / "pace.py", tmp_path / "work")
    done = bundle.launch("rehearse", "--cpu", check=0, timeout=250)
    assert "passed" in done.stdout
    for rank in range(ranks):
        lines = (tmp_path / f"state/box/rehearsal/control/resume/digest-{rank}.jsonl").read_text().splitlines()
        points = [(line["point"], line["step"]) for line in map(json.loads, lines)]
        assert points == [("restored", 3), *(("step", step) for step in (4, 5, 6)), ("end", 6)]


@pytest.mark.timeout(180)
@pytest.mark.parametrize(
    ("fault", "found"),
    [
        ({"augment": "+ __import__('time').time() % 7"}, "another content"),
        ({"extra": "1 / 0"}, "ZeroDivisionError"),
    ],
    ids=["augmentation from the clock", "a script that fails"],
)
def test_what_would_go_wrong_is_named(tmp_path: Path, fault: dict[str, str], found: str) -> None:
    bundle = bundle_of(tmp_path, **fault)
    done = bundle.launch("rehearse", "--cpu", check=1, timeout=120)
    assert "FAILED" in done.stdout
    assert json.loads((tmp_path / "rehearsal.json").read_text())["passed"] is False
    assert found in done.stdout
    refused = bundle.launch("run", "--foreground", "--cpu", check=78)
    assert "./launch.sh rehearse" in refused.stdout


@pytest.mark.timeout(180)
@pytest.mark.parametrize(
    ("extra", "line"),
    [
        (
            "__import__('os')._exit(0)",
            "the first attempt wrote no checkpoint: rank 0 ended with exit code 0 without saying that it was done",
        ),
        ("__import__('time').sleep(600)", "the first attempt wrote no checkpoint: it took longer than 3 s"),
        (
            "assert step != 4, 'four'",
            "the resumed attempt ended as crash: rank 0 ended with exit code 1; its last line: AssertionError: four (see",
        ),
        (
            "model.register_buffer('late', torch.ones(1))",
            "ended as misconfigured: model can't be restored from the checkpoint: Error(s) in loading state_dict for "
            'Sequential: Unexpected key(s) in state_dict: "late". (see state/',
        ),
    ],
    ids=["leaves", "hangs", "fails after the checkpoint", "could not be restored"],
)
def test_how_an_attempt_ended_is_said_once(tmp_path: Path, extra: str, line: str) -> None:
    bundle = bundle_of(tmp_path, extra=extra)
    bundle.environment.update({"CAMPC_REHEARSAL_S": "3"} if "sleep" in extra else {})
    done = bundle.launch("rehearse", "--cpu", check=1, timeout=120)
    assert line in done.stdout and done.stdout.count("its last line") <= 1


@pytest.mark.timeout(180)
def test_the_stacks_of_an_attempt_that_hangs_go_into_its_log(tmp_path: Path) -> None:
    hanging = "if step == 3 and __import__('os').environ['CAMPC_ATTEMPT'] == '1': __import__('time').sleep(600)"
    bundle = bundle_of(tmp_path, extra=hanging)
    bundle.environment.update(CAMPC_HANG_S="10", CAMPC_GRACE_S="2")
    record = {"plan_hash": "ab" * 32, "passed": True, "machine": "here", "runs": {}}
    (tmp_path / "rehearsal.json").write_text(json.dumps(record))
    bundle.foreground(timeout=120)
    assert len(bundle.records("hang")) == 1
    log = (tmp_path / "state/box/logs/control.1.log").read_text()
    assert "Current thread" in log and "train.py" in log and "State: S (sleeping)" in log
    assert bundle.records("done")[0]["window"] == "control"


@pytest.mark.timeout(180)
def test_a_run_that_is_to_recover_by_a_rerun_begins_anew(tmp_path: Path) -> None:
    crash = "if step == 13 and __import__('os').environ['CAMPC_ATTEMPT'] == '1': __import__('os')._exit(3)"
    bundle = bundle_of(tmp_path, extra=crash)
    tree = json.loads((tmp_path / "campaign.json").read_text())
    tree["runs"][0]["recover"] = "rerun"
    (tmp_path / "campaign.json").write_text(json.dumps(tree))
    record = {"plan_hash": "ab" * 32, "passed": True, "machine": "here", "runs": {}}
    (tmp_path / "rehearsal.json").write_text(json.dumps(record))
    bundle.foreground(timeout=120)
    assert [record["step"] for record in bundle.records("resume")] == [0, 0]
    assert len(bundle.records("crash")) == 1 and bundle.records("checkpoint")[-1]["step"] == 20
    assert bundle.states()["control"] == "finished"


def test_records_of_a_table_may_hold_line_ends(tmp_path: Path) -> None:
    table = tmp_path / "rows.csv"
    table.write_bytes(b'id,text\r\n1,"a ""b""\nc"\r\n2,d')
    assert list(records(table)) == [b"id,text\r\n", b'1,"a ""b""\nc"\r\n', b"2,d"]


def test_the_longest_records_go_behind_the_sample(tmp_path: Path) -> None:
    whole, sample, target = (tmp_path / f"{name}.jsonl" for name in ("whole", "sample", "target"))
    lengths = [3, 50, 7, 90, 4, 90, 5]
    lines = [json.dumps({"id": index, "text": "x" * length}) for index, length in enumerate(lengths)]
    whole.write_text("".join(line + "\n" for line in lines))
    sample.write_text(f"{lines[0]}\n{lines[3]}")  # one of the longest is in it already, and its last line has no end
    assert with_longest(sample, whole, target, count=3) == 2
    assert target.read_text().splitlines() == [lines[0], lines[3], lines[1], lines[5]]
    header = tmp_path / "whole.csv"
    header.write_text("id,a column with a very long name\n1,a\n2,bb\n")
    small = tmp_path / "sample.csv"
    small.write_text("id,a column with a very long name\n1,a\n")
    assert with_longest(small, header, tmp_path / "target.csv", count=1) == 1
    assert (tmp_path / "target.csv").read_text() == header.read_text()


def test_where_records_are_not_known_the_sample_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.parquet").write_bytes(b"x")
    (tmp_path / "a.csv").write_bytes(b"a\n1\n")
    target = tmp_path / "target"
    assert with_longest(tmp_path / "a.parquet", tmp_path / "a.parquet", target) is None
    assert with_longest(tmp_path / "a.csv", tmp_path / "a.parquet", target) is None
    assert with_longest(tmp_path / "a.csv", tmp_path, target) is None
    monkeypatch.setattr(longest, "LIMIT_BYTES", 2)
    assert with_longest(tmp_path / "a.csv", tmp_path / "a.csv", target) is None
    assert not target.exists()


READS = """
import json
from campc_harness import Run

with Run.start() as run:
    rows = [json.loads(line) for line in open(run.corpus)]
    assert (run.corpus.parent / "labels.txt").exists()
    print("LONGEST", max(len(row["text"]) for row in rows), "OF", len(rows), flush=True)
    for step in run.steps(10):
        run.log(loss=1 / step)
"""


@pytest.mark.timeout(180)
def test_a_rehearsal_meets_the_longest_records(tmp_path: Path) -> None:
    control = run("control", corpus="tickets")
    corpus = {"name": "tickets", "path": "tickets.jsonl", "sample": "sample.jsonl", "sha256": None}
    plan = campaign(runs=[control], corpora=[corpus], windows=[executes("control", "train", control)])
    bundle = Bundle(tmp_path, plan, OMP_NUM_THREADS="1")
    work = tmp_path / "work"
    (work / "train.py").write_text(READS)
    (work / "labels.txt").write_text("")
    lines = [json.dumps({"id": index, "text": "x" * (index * 37 % 100)}) + "\n" for index in range(100)]
    (work / "tickets.jsonl").write_text("".join(lines))
    (work / "sample.jsonl").write_text("".join(lines[:2]))
    before = sorted(path.name for path in work.iterdir())
    done = bundle.launch("rehearse", "--cpu", check=0, timeout=120)
    assert "its sample, and 32 of the longest records of tickets.jsonl" in done.stdout
    logs = [path.read_text() for path in (tmp_path / "state/box/rehearsal/control").glob("*.log")]
    assert len(logs) == 3 and all("LONGEST 99 OF 34" in text for text in logs)
    assert sorted(path.name for path in work.iterdir()) == before


@pytest.mark.timeout(180)
@pytest.mark.parametrize("sample", [None, "sample.bin"])
def test_a_rehearsal_says_what_it_reads_instead(tmp_path: Path, sample: str | None) -> None:
    control = run("control", corpus="tickets")
    corpus = {"name": "tickets", "path": "tickets.bin", "sample": sample, "sha256": None}
    plan = campaign(runs=[control], corpora=[corpus], windows=[executes("control", "train", control)])
    bundle = Bundle(tmp_path, plan, OMP_NUM_THREADS="1")
    (tmp_path / "work/train.py").write_text(
        READS.replace("json.loads(line)", "{'text': line}").replace("labels.txt", "")
    )
    for name in ("tickets.bin", "sample.bin"):
        (tmp_path / "work" / name).write_text("x" * 5000)
    said = bundle.launch("rehearse", "--cpu", check=0, timeout=120).stdout
    if sample is None:
        assert "reads all 5KiB of tickets.bin three times" in said and 'say sample = "…"' in said
        assert said.index("reads all") < said.index("passed")
    else:
        assert "its sample alone, without the longest records of tickets.bin: its records can't be told apart" in said
