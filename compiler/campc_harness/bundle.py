"""Where things lie in a bundle, and what its processes are given."""

from __future__ import annotations

import json
import os
import platform
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from campc_harness.crew import cluster
from campc_harness.plan import Corpus, Lot, Plan, PlanError, RunPlan, Window, read_plan
from campc_harness.redact import Redactor

# Marks every process of an attempt, so that none is overlooked when its supervisor was lost.
OWNER = "CAMPC_OWNER"
LIVE_FILE = "live.json"
STOP_FILE = "stop.json"
CREW_FILE = "crew.token"


@dataclass(frozen=True)
class Bundle:
    """A bundle and one of its lots, on this machine.

    Attributes:
        root: absolute folder of the bundle.
        plan: its campaign.json.
        lot: the lot that this machine is.
        cpu: run on CPUs, where there are no GPUs.
        node: which of the lot's machines this is, from 0.
    """

    root: Path
    plan: Plan
    lot: Lot
    cpu: bool = False
    node: int = 0

    @property
    def state(self) -> Path:
        """What is kept of this lot on this machine; nodes other than the first may share its disk."""
        folder = self.root / "state" / self.lot.name
        return folder / f"node-{self.node}" if self.node else folder

    @property
    def ledger(self) -> Path:
        """The record."""
        return self.state / "ledger.jsonl"

    @property
    def work(self) -> Path:
        """The runs' scripts and the campaign's files; runs start there."""
        return self.root / "work"

    @property
    def windows(self) -> tuple[Window, ...]:
        """The lot's own windows in the planned order."""
        return tuple(window for window in self.plan.windows if window.lot == self.lot.name)

    @property
    def machine(self) -> str:
        """A name of this machine, for the record."""
        return os.environ.get("CAMPC_MACHINE") or platform.node() or "unknown"

    def redactor(self) -> Redactor:
        """Takes the values of the campaign's secrets out of what is written."""
        return Redactor(self.plan.campaign.secrets)

    def log(self, window: str, attempt: int) -> Path:
        """What an attempt prints."""
        return self.state / "logs" / f"{window}.{attempt}.log"

    def attempt_folder(self, window: str, attempt: int) -> Path:
        """Where an attempt leaves its `exit-RANK.json`."""
        return self.state / "attempts" / window / str(attempt)

    def outputs(self, run_id: str, window: Window | None) -> Path:
        """Final outputs of a run; of a pilot or a rerun when `window` is one."""
        base = self.root / "runs" / run_id
        apart = window is not None and window.kind in ("pilot", "rerun")
        return (base / window.name if apart and window is not None else base) / "outputs"

    def checkpoints(self, run: RunPlan, run_id: str, window: str) -> str:
        """Folder or URL of a run's checkpoints in one window: `TO/RUN_ID/WINDOW`; below the bundle where relative."""
        return f"{self.to(run.checkpoint.to if run.checkpoint else 'checkpoints')}/{run_id}/{window}"

    def to(self, place: str) -> str:
        """A place as an absolute folder or a URL."""
        return place.rstrip("/") if "://" in place else str(self.root / place)

    def corpus(self, corpus: Corpus, path: str | None = None) -> Path:
        """Where a corpus (or its sample, as `path`) is: below `work/`, else as it stands."""
        below = self.work / (path or corpus.path)
        return below if below.exists() else self.root / (path or corpus.path)

    def environment(self) -> dict[str, str]:
        """What every process of the campaign is started with."""
        paths = [str(self.root), *filter(None, [os.environ.get("PYTHONPATH")])]
        environment = {
            **os.environ,
            "CAMPC_BUNDLE": str(self.root),
            "CAMPC_LOT": self.lot.name,
            OWNER: str(self.state),
            "CAMPC_PYTHON": python(),
            "PYTHONPATH": os.pathsep.join(paths),
            "PYTHONUNBUFFERED": "1",
            "PYTHONFAULTHANDLER": "1",
        }
        if self.cpu:
            environment["CUDA_VISIBLE_DEVICES"] = ""
        return environment


def open_bundle(root: Path, lot: str | None = None, cpu: bool = False) -> Bundle:
    """The bundle at `root`; `lot` may be left out where there is one.

    Raises:
        PlanError: no bundle, or it is not clear which lot.
    """
    plan = read_plan(root)
    if not plan.lots:
        raise PlanError("this campaign has no lot: there is nothing to launch")
    if lot is None and len(plan.lots) > 1:
        names = ", ".join(item.name for item in plan.lots)
        raise PlanError(f"this campaign has several lots: say which machine this is, --lot NAME (of {names})")
    return Bundle(root.resolve(), plan, plan.lot(lot) if lot else plan.lots[0], cpu, cluster().rank)


def write_json(path: Path, tree: Mapping[str, Any]) -> None:
    """Replace a small JSON file in one step."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    temporary.write_text(json.dumps(tree, sort_keys=True, indent=2) + "\n", encoding="utf-8")
    os.replace(temporary, path)


def read_json(path: Path) -> dict[str, Any]:
    """A small JSON file; empty where it isn't there or isn't whole."""
    try:
        tree = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return tree if isinstance(tree, dict) else {}


def setting(name: str, default: float) -> float:
    """A number of seconds from the environment (`CAMPC_HANG_S`, `CAMPC_PAUSE_S`, …), else `default`."""
    try:
        return float(os.environ[name])
    except (KeyError, ValueError):
        return default


def python() -> str:
    """The interpreter that runs this."""
    return sys.executable or "python3"
