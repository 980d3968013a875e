"""Bundles of small specs, made as `campc build` makes them, less the documents."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from campc.emit.bundle import bundle_files, write_bundle
from campc.emit.schedulers import skypilot, slurm
from campc.emit.work import collect
from campc.pipeline import Compiled, compile_path
from campc.schedule.plan import Plan


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
