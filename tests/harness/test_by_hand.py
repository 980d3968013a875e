"""A script that nobody launched works in a folder of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

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


def by_hand(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    (folder / "study.py").write_text(SCRIPT)
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
