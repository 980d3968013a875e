"""A small campaign that ran, as files: its plan, its ledger, its outputs and its package. Each test bends one thing."""

from __future__ import annotations

import copy
import csv
import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

HOUR = 3600
BEGAN = 1_796_112_000.0
"""2026-12-01 09:00 in Paris."""
IDS = ("a", "b", "c", "d")
CORPUS = "id,text\n" + "".join(f"{name},text {name}\n" for name in IDS)
BASE = "example/base-8b@2f0b3c1d9e8a7b6c5d4e3f2a1b0c9d8e7f6a5b4c"
HASH = "ab" * 32
RELOAD = 'import sys\nsys.exit(0 if open(sys.argv[1], "rb").read().startswith(b"model of ") else "it is no model")\n'


def condition(text: str, *expr: Any) -> dict[str, Any]:
    return {"text": text, "expr": list(expr)}


def gain(run: str, over: str, metric: str = "eval.accuracy") -> dict[str, Any]:
    return condition(
        f"{run}.{metric} - {over}.{metric} >= 0.01",
        ">=", ["-", ["metric", metric, run], ["metric", metric, over]], ["number", 0.01],
    )  # fmt: skip


def window(name: str, kind: str, start: float, length: float, **more: Any) -> dict[str, Any]:
    low, high = more.pop("low", length), more.pop("high", length)
    run = more.get("run")
    return {
        "name": name, "tier": "essential", "kind": kind, "lot": "box", "gpus": [0], "after": [], "start_s": start * HOUR, "end_s": (start + length) * HOUR,
        "start": None, "end": None, "takes": {"low_s": low * HOUR, "likely_s": length * HOUR, "high_s": high * HOUR}, "assumed": True, "basis": None,
        "last": False, "run": None, "run_ids": [f"{run}-0000000{'12'[run == 'wider']}"] if run else [], "limit_steps": None, "tolerance": None,
        "to": None, "command": None, "slack_s": 0, "critical": False, **more,
    }  # fmt: skip


def run(name: str, number: int, **more: Any) -> dict[str, Any]:
    return {
        "name": name, "ids": [{"id": f"{name}-0000000{number}", "seed": None, "config_sha256": f"{number}" * 64}], "script": "work/train.py", "args": [],
        "env": {}, "params": {}, "corpus": "tickets", "steps": 100, "variant_of": None, "change": {}, "because": None, "role": "control", "from": None,
        "recover": "resume", "memory_bytes": None, "gpus": 1, "processes": None, "metrics": ["loss", "eval.accuracy"], "kind": "full", "base": None,
        "checkpoint": {"every_s": 1800, "every_steps": None, "to": "checkpoints", "keep": 2, "keep_best": None, "size_bytes": 1000, "write_s": 40,
                       "restore_s": 60, "may_lose_s": None, "outside": False, "storage_bytes": None},
        **more,
    }  # fmt: skip


def deliverable(name: str, path: str, **more: Any) -> dict[str, Any]:
    return {
        "name": name, "of": ["control", "wider"], "path": path, "kind": "other", "accept": None, "reload": None, "base": None, "tier": "essential", **more,
    }  # fmt: skip


PLAN: dict[str, Any] = {
    "schema": 1,
    "campc": "0.1.0",
    "plan_hash": HASH,
    "campaign": {
        "name": "width", "question": "Is wider better?", "decision": "Adopt it where it gains a point.", "if_negative": "Keep the narrow network.",
        "owner": "the team", "timezone": "Europe/Paris", "currency": "USD", "deadline": None, "start": "2026-12-01T09:00:00+01:00", "secrets": [],
        "requirements": None, "image": None, "files": ["reload.py"], "rates": {}, "rates_source": None,
    },
    "lots": [{
        "name": "box", "package": {"name": "p3d", "vendor": "V", "gpu": "RTX", "gpus": 1, "nodes": 1, "memory_bytes": None,
                                   "price": {"amount": "47.14", "currency": "USD"}, "rate": None, "duration_s": 72 * HOUR, "region": None,
                                   "disk_bytes": None, "interruptible": False, "interruptions_per_s": None, "notice_s": None, "ends_early_s": 0,
                                   "tax": "unknown", "source": None},
        "start_s": 0, "start": "2026-12-01T09:00:00+01:00", "usable_end_s": 72 * HOUR, "usable_end": "2026-12-04T09:00:00+01:00", "keep_free_s": 0,
        "order": None, "price": {"amount": "47.14", "currency": "USD"},
    }],
    "windows": [
        window("prepare", "prepare", 0, 4, lot=None, gpus=[]),
        window("pilot", "pilot", 4, 1, after=["prepare"], run="control", limit_steps=10),
        window("control", "train", 5, 10, after=["pilot"], run="control", low=8, high=14),
        window("wider", "train", 15, 10, after=["control"], run="wider"),
        window("rerun", "rerun", 25, 2, after=["control"], run="control", tolerance=0.01),
        window("home", "retrieve", 27, 2, last=True, to="home"),
    ],
    "runs": [run("control", 1), run("wider", 2, variant_of="control", role="variant")],
    "corpora": [{"name": "tickets", "path": "tickets.csv", "sha256": hashlib.sha256(CORPUS.encode()).hexdigest(), "rows": 4, "ids": "id",
                 "frozen": None, "region": None, "sample": None}],
    "stops": [], "watches": [],
    "gates": [{"name": "after_pilot", "after": "pilot", "question": None,
               "when": condition("control.loss < 1", "<", ["metric", "loss", "control"], ["number", 1]),
               "otherwise": "stop", "drops": {"tiers": [], "windows": []}, "enough": None, "wait_s": 3600, "if_silent": "reduce"}],
    "outcomes": [{"name": "adopt_wider", "when": gain("wider", "control"), "conclude": "Adopt the wider network."}],
    "unknowns": [{"name": "speed", "question": "How fast is a step?", "settled_by": "pilot"}],
    "deliverables": [
        deliverable("predictions", "predictions.csv", kind="predictions", accept=condition(
            "missing_ids == 0 and duplicate_ids == 0", "and", ["==", ["builtin", "missing_ids"], ["number", 0]],
            ["==", ["builtin", "duplicate_ids"], ["number", 0]])),
        deliverable("model", "model.bin", kind="model", reload="python reload.py {path}",
                    accept=condition("eval.accuracy >= 0.5", ">=", ["metric", "eval.accuracy"], ["number", 0.5])),
    ],
    "expenses": [],
    "ratios": [{"name": "per_run", "cost": "rental", "per": ["model"], "distinct": "run", "expect": 2, "if_none": "State the rental, and why."}],
    "budget": {"limit": {"amount": "60.00", "currency": "USD"}, "alert": None},
    "preflight": None, "shutdown": None, "cleanup": [], "notify": [], "allowances": [],
}  # fmt: skip


@dataclass
class Scene:
    """Change what you like, then `write`. Times of ledger lines are hours from the campaign's start."""

    plan: dict[str, Any] = field(default_factory=lambda: copy.deepcopy(PLAN))
    lines: list[dict[str, Any]] = field(default_factory=list)
    outputs: dict[str, bytes] = field(default_factory=dict)
    work: dict[str, bytes] = field(
        default_factory=lambda: {"tickets.csv": CORPUS.encode(), "reload.py": RELOAD.encode()}
    )
    packed: bool = True

    def say(self, hour: float, event: str, **more: Any) -> None:
        self.lines.append({
            "time": BEGAN + hour * HOUR, "mono": hour * HOUR, "lot": "box", "machine": "m1", "run_id": None, "window": None, "attempt": None,
            "event": event, "step": None, "reason": None, **more,
        })  # fmt: skip

    def window(self, name: str, begins: float, ends: float, **more: Any) -> None:
        self.say(begins, "window", window=name, state="started", planned=0)
        self.say(
            ends,
            "window",
            window=name,
            state="finished",
            outcome="done",
            planned=0,
            actual=(ends - begins) * HOUR,
            **more,
        )

    def train(self, name: str, run_id: str, begins: float, ends: float, accuracy: float, loss: float = 0.1) -> None:
        who = {"window": name, "run_id": run_id, "attempt": 1}
        self.say(begins, "window", window=name, state="started", planned=0)
        self.say(begins, "start", **who)
        self.say(begins, "resume", **who, step=0)
        for part in (1, 2, 3, 4):
            at = begins + (ends - begins) * part / 4
            self.say(
                at,
                "metric",
                **who,
                step=25 * part,
                values={"loss": loss * (5 - part), "eval.accuracy": accuracy - 0.01 * (4 - part)},
            )
            self.say(at, "checkpoint", **who, step=25 * part, bytes=1234, stage_s=0.01, write_s=95, verified=True)
        self.say(ends, "done", **who, step=100, outcome="done", metrics={"loss": loss, "eval.accuracy": accuracy})
        self.say(
            ends, "window", window=name, state="finished", outcome="done", planned=0, actual=(ends - begins) * HOUR
        )

    def deliver(
        self, run_id: str, ids: tuple[str, ...] = IDS, model: bytes | None = None, partial: bool = False
    ) -> None:
        folder = f"runs/{run_id}/outputs{'.partial' if partial else ''}"
        self.outputs[f"{folder}/predictions.csv"] = ("id,predicted\n" + "".join(f"{name},1\n" for name in ids)).encode()
        self.outputs[f"{folder}/model.bin"] = b"model of " + run_id.encode() if model is None else model

    def write(self, folder: Path, break_ledger: Callable[[bytes], bytes] | None = None) -> Path:
        """The bundle, with MANIFEST.sha256, the ledger's chain and the package's manifest as they should be."""
        put(folder, {f"work/{name}": content for name, content in self.work.items()})
        put(folder, {"campaign.json": json.dumps(self.plan, indent=2, sort_keys=True).encode() + b"\n"})
        built = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
        put(folder, {"MANIFEST.sha256": "".join(f"{digest(folder / name)}  {name}\n" for name in built).encode()})
        raw = chain(self.lines)
        put(folder, {"state/box/ledger.jsonl": break_ledger(raw) if break_ledger else raw})
        put(folder, self.outputs)
        if self.packed:
            package = {
                "campaign.json": (folder / "campaign.json").read_bytes(),
                "ledger/box.jsonl": raw,
                **self.outputs,
            }
            put(folder / "package", package)
            files = [
                {"path": name, "bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
                for name, content in sorted(package.items())
            ]
            put(
                folder / "package",
                {
                    "manifest.json": json.dumps(
                        {"schema": 1, "plan_hash": self.plan["plan_hash"], "files": files}
                    ).encode()
                },
            )
        return folder


def positive() -> Scene:
    """Everything went well, and the wider network gained 1.4 points. Its second half was interrupted once."""
    scene = Scene()
    scene.say(0, "launch", plan_hash=HASH)
    scene.say(
        30,
        "window",
        window="prepare",
        state="recorded",
        by="person",
        started=BEGAN,
        ended=BEGAN + 4 * HOUR,
        actual=4 * HOUR,
    )
    scene.train("pilot", "control-00000001", 4, 5, 0.6, 0.5)
    scene.say(5, "gate", window="pilot", gate="after_pilot", result="continue", values="control.loss = 0.5", dropped=[])
    scene.train("control", "control-00000001", 5, 14, 0.80)
    scene.train("wider", "wider-00000002", 14, 24, 0.814)
    scene.train("rerun", "control-00000001", 24, 26, 0.801)
    scene.window("home", 26, 27)
    scene.say(27, "pack", window="home", files=5, bytes=900, sha256="cd" * 32)
    scene.say(27, "copy", window="home", to="s3://lab/home/box/package.tar.gz", bytes=900, sha256="cd" * 32)
    scene.say(27.5, "released", reason="the vendor answered 200")
    scene.deliver("control-00000001")
    scene.deliver("wider-00000002")
    return scene


def chain(lines: list[dict[str, Any]], *, in_order: bool = False) -> bytes:
    """The ledger's text, its lines numbered and hashed one after another, as they happened unless they are in order."""
    raw: list[bytes] = []
    prev = "0" * 64
    ordered = lines if in_order else sorted(lines, key=lambda line: float(line["time"]))
    for number, line in enumerate(ordered, 1):
        text = json.dumps({**line, "seq": number, "prev": prev}).encode()
        raw.append(text + b"\n")
        prev = hashlib.sha256(text).hexdigest()
    return b"".join(raw)


def put(folder: Path, files: dict[str, bytes]) -> None:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as stream:
        return list(csv.DictReader(stream))
