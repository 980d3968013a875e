"""Bundles of small specs, made as `campc build` makes them, less the documents."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from campc.emit.bundle import bundle_files, write_bundle
from campc.emit.schedulers import skypilot, slurm
from campc.emit.work import collect
from campc.pipeline import Compiled, compile_path
from campc.schedule.plan import Plan
from tests.harness.bundles import TRAINER as SCRIPT

SPECS = Path(__file__).parent / "specs"
# What `work/pace` may hold: seconds a step.
SLOW, FAST = "0.25", "0"
REAL = (SPECS / "train.py").read_text(encoding="utf-8")
# Speaks the harness's protocol without torch, so that it starts at once; its pace is the other one's.
TRAINER = SCRIPT.replace('params.get("step_s", 0.01)', 'float(open("pace").read())').replace(
    "predictions.csv", "weights.txt"
)


def plan(path: Path) -> Plan:
    """The plan of a spec, which must be without errors."""
    compiled = compile_path(path)
    assert isinstance(compiled, Compiled), compiled
    assert not compiled.errors, [d.message for d in compiled.errors]
    return compiled.plan


def build(path: Path, out: Path) -> Path:
    """The bundle of a spec, in `out`."""
    made = plan(path)
    work, missing = collect(made.spec)
    assert not missing, missing
    write_bundle(bundle_files(made, work, {}, {**slurm(made), **skypilot(made)}), out)
    return out


def write(folder: Path, name: str, files: Mapping[str, str]) -> Path:
    """Write files into `folder`; the path of the one called `name`."""
    for each, text in files.items():
        (folder / each).parent.mkdir(parents=True, exist_ok=True)
        (folder / each).write_text(text, encoding="utf-8")
    return folder / name


def small(folder: Path, *, script: str = TRAINER, nodes: int = 1, **params: Any) -> Path:
    """The bundle of small.campaign, made in `folder`, with another script, more nodes or parameters."""
    given = ", ".join(f"{name} = {json.dumps(value)}" for name, value in {"steps": 40, **params}.items())
    text = (SPECS / "small.campaign").read_text(encoding="utf-8").replace("{ steps = 40 }", f"{{ {given} }}")
    if nodes > 1:
        text = text.replace('gpu = "Any"', f'gpu = "Any"; gpus = {nodes}; nodes = {nodes}')
        text = text.replace("seed = 1;", f"seed = 1; gpus = {nodes};")
    spec = write(folder, "small.campaign", {"small.campaign": text, "train.py": script})
    return build(spec, folder / "bundle")


def records(root: Path) -> list[dict[str, Any]]:
    """The whole lines of a bundle's record."""
    path = root / "state" / "box" / "ledger.jsonl"
    data = path.read_bytes() if path.exists() else b""
    return [json.loads(line) for line in data[: data.rfind(b"\n") + 1].splitlines()]
