"""A script that nobody launched works in a folder of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.harness.attempts import COMPILER

SCRIPT = """
import sys
import torch
from campc_harness import Run

with Run.start({"steps": 9, "lr": float(sys.argv[1])}, every_steps=3) as run:
    model = torch.nn.Linear(2, 1)
    run.track(model=model)
    for step in run.steps(run.params["steps"]):
        run.log(loss=1 / step)
        if step == 5 and len(sys.argv) > 2:
            raise KeyError("by hand")
    (run.outputs / "done.txt").write_text(f"{run.seed} {run.rank} {run.world} {run.device} {run.remaining}")
"""


def by_hand(folder: Path, *arguments: str, script: str = SCRIPT) -> subprocess.CompletedProcess[str]:
    (folder / "study.py").write_text(script)
    environment = {key: value for key, value in os.environ.items() if not key.startswith("CAMPC_")}
    return subprocess.run(
        [sys.executable, "-W", "error", "study.py", *arguments],
        cwd=folder,
        env={**environment, "PYTHONPATH": str(COMPILER), "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_it_resumes_in_its_own_folder(tmp_path: Path) -> None:
    crashed = by_hand(tmp_path, "0.1", "crash")
    assert crashed.returncode == 1 and "KeyError" in crashed.stderr
    (home,) = (tmp_path / "campc-runs").iterdir()
    assert home.name.startswith("study-")
    assert [path.name for path in sorted((home / "checkpoints").glob("step-*"))] == ["step-000000003"]
    ended = by_hand(tmp_path, "0.1")
    assert ended.returncode == 0, ended.stderr
    assert (home / "outputs" / "done.txt").read_text() == "0 0 1 cpu inf"
    other = by_hand(tmp_path, "0.2")
    assert other.returncode == 0, other.stderr
    assert len(list((tmp_path / "campc-runs").iterdir())) == 2, "other parameters are another run"


REFUSED = """
import decimal
import torch
from campc_harness import Run

class Odd:
    def __init__(self, value):
        self.value = value

    def state_dict(self):
        return {"value": self.value}

    def load_state_dict(self, state):
        self.value = state["value"]

model = torch.nn.Linear(2, 1)
endless = []
endless.append(endless)
with Run.start() as run:
    run.track(model=model)
    if CASE == "kind":
        run.track(odd=Odd(decimal.Decimal("0.1")))
    if CASE == "expanded":
        model.inner = torch.nn.Linear(1, 1)
        model.inner.register_buffer("mask", torch.ones(1).expand(5))
    if CASE == "endless":
        run.track(odd=Odd(endless))
    for step in run.steps(3):
        if CASE == "late" or step == 2:
            run.track(model=model)  # once more, which changes nothing
            run.track(odd=Odd(1))
        print("after", step)
"""


@pytest.mark.parametrize(
    ("case", "text", "steps"),
    [
        ("kind", "odd.value is a Decimal, which a checkpoint doesn't keep", ["1"]),
        (
            "expanded",
            "model.inner.mask is an expanded tensor, into which nothing can be loaded: register a copy",
            ["1"],
        ),
        ("endless", "a tracked state holds itself, or is nested too deeply", ["1"]),
        ("late", "track(odd=…) comes when the loop has begun, and could not be restored: track it before", []),
    ],
)
def test_what_could_not_be_resumed_is_refused_in_the_first_step(
    tmp_path: Path, case: str, text: str, steps: list[str]
) -> None:
    ended = by_hand(tmp_path, script=REFUSED.replace("CASE", repr(case)))
    assert ended.returncode == 78 and text in ended.stderr and "Traceback" not in ended.stderr
    assert [line.split()[1] for line in ended.stdout.splitlines() if line.startswith("after")] == steps


MISUSED = """
import torch
from campc_harness import Run

class Stream(torch.utils.data.IterableDataset):
    def __iter__(self):
        return iter(range(9))

class Endless:
    def __getitem__(self, index):
        return index

with Run.start(DEFAULTS) as run:
    CASE
"""


@pytest.mark.parametrize(
    ("defaults", "case", "text"),
    [
        (
            "{}",
            "list(run.batches(Stream(), 2, steps=1))",
            "needs a dataset with __len__ and __getitem__, not a Stream;",
        ),
        (
            "{}",
            "list(run.batches(Endless(), 2, steps=1))",
            "needs a dataset with __len__ and __getitem__, not a Endless;",
        ),
        ("{}", "list(run.batches(iter([1, 2]), 2, steps=1))", "not a list_iterator;"),
        ("{}", "[run.every(0) for _ in run.steps(2)]", "run.every needs a whole number above zero, not 0"),
        ("{'act': lambda x: x}", "pass", "defaults: 'act' is <function <lambda> at 0x"),
        ("{1: 2, 'a': 3}", "pass", "defaults: 1 is 2, which isn't the same in every process"),
    ],
)
def test_what_is_said_wrongly_is_told_in_one_line(tmp_path: Path, defaults: str, case: str, text: str) -> None:
    ended = by_hand(tmp_path, script=MISUSED.replace("DEFAULTS", defaults).replace("CASE", case))
    assert ended.returncode == 78 and text in ended.stderr and "Traceback" not in ended.stderr
