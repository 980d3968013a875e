"""Small bundles for tests: a campaign.json made by hand, a training script of the standard library, the real harness."""

from __future__ import annotations

import atexit
import json
import os
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import jinja2

from tests.harness.attempts import STALL_S

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "compiler" / "campc_harness"
TEMPLATE = ROOT / "templates" / "launch.sh.j2"

# Speaks the protocol of docs/bundle-format.md by itself. What it is to do wrong stands in params.
TRAINER = """
import json, os, signal, sys, time
env = os.environ
rank, world = int(env["RANK"]), int(env["WORLD_SIZE"])
attempt = int(env["CAMPC_ATTEMPT"])
campaign = json.load(open(os.path.join(env["CAMPC_BUNDLE"], "campaign.json")))
run = next(r for r in campaign["runs"] if r["name"] == env["CAMPC_RUN"])
params = run["params"]
fd = int(env["CAMPC_REPORT_FD"])
asked = []
for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2):
    signal.signal(number, lambda n, f: asked.append(n))

def report(event, **fields):
    os.write(fd, (json.dumps({"event": event, "rank": rank, **fields}) + "\\n").encode())

def leave(code, outcome, reason, stop=None, step=0):
    path = os.path.join(env["CAMPC_ATTEMPT_DIR"], f"exit-{rank}.json")
    with open(path + ".new", "w") as stream:
        json.dump({"attempt": attempt, "nonce": env["CAMPC_NONCE"], "rank": rank, "code": code, "outcome": outcome,
                   "reason": reason, "stop": stop, "step": step}, stream)
    os.replace(path + ".new", path)
    sys.exit(code)

steps = int(env["CAMPC_LIMIT_STEPS"] or run["steps"])
store = os.path.join(env["CAMPC_CHECKPOINTS"], f"at-{rank}")
os.makedirs(os.path.dirname(store), exist_ok=True)
report("hello", pid=os.getpid(), python=sys.version.split()[0], torch=None, device="cpu")
start = int(open(store).read()) if os.path.exists(store) else 0
report("resume", step=start, **{"from": f"step-{start:09d}" if start else None})
print("args", json.dumps(sys.argv[1:]), "secret", env.get("TOKEN", ""), flush=True)
if params.get("children"):
    import subprocess
    subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
if attempt <= params.get("away_attempts", 0):
    leave(74, "away", "the place is away")
if params.get("misconfigured"):
    leave(78, "misconfigured", "the base is missing")

def save(step):
    with open(store + ".new", "w") as stream:
        stream.write(str(step))
    os.replace(store + ".new", store)
    report("checkpoint", step=step, bytes=10, stage_s=0.0, write_s=0.001, verified=True)

for step in range(start + 1, steps + 1):
    time.sleep(params.get("step_s", 0.01))
    report("beat", step=step, phase="train")
    loss = 1.0 / step
    if step == params.get("nan_at"):
        report("metric", step=step, values={"loss": "nan"})
        leave(76, "stopped", f"stop rule broken holds at step {step}: loss = nan (it never recovers)", "broken", step)
    report("metric", step=step, values={"loss": loss})
    if step == params.get("hold_at") and attempt == params.get("hold_attempt", 1):
        while not asked and not os.path.exists(os.path.join(env["CAMPC_BUNDLE"], "go")):
            time.sleep(0.01)
    if asked:
        save(step)
        leave(75, "interrupted", "asked by " + signal.Signals(asked[0]).name, step=step)
    if env["CAMPC_DEADLINE"] and time.time() > float(env["CAMPC_DEADLINE"]) - 0.3:
        save(step)
        leave(77, "deadline", "the deadline is reached", step=step)
    if step % params.get("save_every", 5) == 0:
        save(step)
    if step == params.get("crash_at") and attempt <= params.get("crash_attempts", 99):
        os._exit(3)
    if step == params.get("hang_at") and attempt == 1:
        time.sleep(600)
    if step == params.get("vanish_at"):
        os._exit(0)
report("metric", step=steps, values={"eval.accuracy": params.get("accuracy", 0.9)})
with open(os.path.join(env["CAMPC_OUTPUTS"], "predictions.csv"), "w") as stream:
    stream.write("id,label\\n1,2\\n")
save(steps)
leave(0, "done", "", step=steps)
"""


def window(name: str, kind: str, **more: Any) -> dict[str, Any]:
    """One window of campaign.json; an hour on the lot `box` unless `more` says otherwise."""
    likely = more.pop("takes", 3600)
    return {
        "name": name,
        "tier": "essential",
        "kind": kind,
        "lot": "box",
        "gpus": [0],
        "after": [],
        "start_s": 0,
        "end_s": likely,
        "takes": {"low_s": likely, "likely_s": likely, "high_s": likely},
        "last": False,
        "run": None,
        "run_ids": [],
        "limit_steps": None,
        "command": None,
        "to": None,
        **more,
    }


def run(name: str, **more: Any) -> dict[str, Any]:
    """One run of campaign.json."""
    return {
        "name": name,
        "ids": [{"id": f"{name}-0badcafe", "seed": None, "config_sha256": "0badcafe" * 8}],
        "script": "work/train.py",
        "args": [],
        "env": {},
        "params": {},
        "corpus": None,
        "steps": 20,
        "from": None,
        "recover": "resume",
        "gpus": 1,
        "processes": None,
        "metrics": ["loss", "eval.accuracy"],
        "checkpoint": {"to": "checkpoints", "every_s": None, "every_steps": 5, "keep": 2, "outside": False},
        **more,
    }


def executes(name: str, kind: str, of: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    """A window that executes a run."""
    return window(name, kind, run=of["name"], run_ids=[identity["id"] for identity in of["ids"]], **more)


def campaign(**sections: Any) -> dict[str, Any]:
    """campaign.json with one lot of three days; `lot` and `about` are merged into it and into the campaign."""
    lot = {
        "name": "box",
        "package": {
            "name": "small",
            "gpu": "RTX 4090",
            "gpus": 1,
            "nodes": 1,
            "price": {"amount": "47.14", "currency": "USD"},
            "duration_s": 259200,
            "interruptible": False,
        },
        "start_s": 0,
        "usable_end_s": 259200,
        "start": None,
        "usable_end": None,
        "price": {"amount": "47.14", "currency": "USD"},
        **sections.pop("lot", {}),
    }
    about = {
        "name": "test",
        "question": "Does it work?",
        "decision": "Use it.",
        "timezone": "UTC",
        "secrets": [],
        **sections.pop("about", {}),
    }
    empty: dict[str, Any] = {
        name: []
        for name in (
            "windows",
            "runs",
            "corpora",
            "stops",
            "watches",
            "gates",
            "deliverables",
            "expenses",
            "cleanup",
            "notify",
            "outcomes",
            "unknowns",
            "ratios",
        )
    }
    return {
        "schema": 1,
        "campc": "0",
        "plan_hash": "ab" * 32,
        "campaign": about,
        "lots": [lot],
        "budget": None,
        "preflight": None,
        "shutdown": None,
        **empty,
        **sections,
    }


class Bundle:
    """A bundle in a temporary folder, and what a person does with it."""

    def __init__(self, root: Path, tree: Mapping[str, Any], **environment: str) -> None:
        self.root = root
        (root / "work").mkdir(parents=True)
        (root / "campaign.json").write_text(json.dumps(tree, indent=2, sort_keys=True) + "\n", encoding="utf-8")
        (root / "work" / "train.py").write_text(TRAINER, encoding="utf-8")
        shutil.copytree(PACKAGE, root / "campc_harness")
        template = jinja2.Environment(keep_trailing_newline=True).from_string(TEMPLATE.read_text(encoding="utf-8"))
        launch = root / "launch.sh"
        launch.write_text(template.render(campaign=shlex.quote(tree["campaign"]["name"])), encoding="utf-8")
        launch.chmod(0o755)
        self.environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("CAMPC_")},
            "CAMPC_PYTHON": sys.executable,
            "CAMPC_PAUSE_S": "0.05",
            "CAMPC_KEEPER_PAUSE_S": "0.1",
            **environment,
        }

    def launch(
        self, *arguments: str, check: int | None = None, timeout: float = 150
    ) -> subprocess.CompletedProcess[str]:
        """Run launch.sh to its end; `check` is the exit code that it must have."""
        done = subprocess.run(
            ["./launch.sh", *arguments],
            cwd=self.root,
            env=self.environment,
            text=True,
            timeout=timeout,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
        )
        assert check is None or done.returncode == check, f"exit {done.returncode}:\n{done.stdout}\n{self.logs()}"
        return done

    def foreground(self, check: int = 0, timeout: float = 150) -> subprocess.CompletedProcess[str]:
        """Launch on the CPU and wait for the end."""
        return self.launch("run", "--foreground", "--cpu", check=check, timeout=timeout)

    def start(self) -> subprocess.Popen[bytes]:
        """Launch on the CPU in the foreground, without waiting."""
        with open(self.root / "launch.out", "ab") as output:
            process = subprocess.Popen(
                ["./launch.sh", "run", "--foreground", "--cpu"],
                cwd=self.root,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
        # A test that fails must not leave a campaign running behind it.
        atexit.register(_end, process)
        return process

    def ranks(self) -> list[int]:
        """Process numbers of the ranks that run now, as the launcher shows them."""
        try:
            tasks = json.loads((self.root / "state" / "box" / "live.json").read_text())["tasks"]
        except (OSError, ValueError):
            return []
        return [pid for task in tasks for pid in task["pids"]]

    @property
    def ledger(self) -> Path:
        """The record of the lot `box`."""
        return self.root / "state" / "box" / "ledger.jsonl"

    def records(self, event: str | None = None) -> list[dict[str, Any]]:
        """Records of one kind of event, or all; whole lines only."""
        if not self.ledger.exists():
            return []
        data = self.ledger.read_bytes()
        lines = data[: data.rfind(b"\n") + 1].splitlines()
        found = [json.loads(line) for line in lines]
        return [record for record in found if event in (None, record["event"])]

    def states(self) -> dict[str, str]:
        """The last state of each window."""
        return {record["window"]: record["state"] for record in self.records("window")}

    def logs(self) -> str:
        """All that attempts and the launcher printed."""
        files = sorted((self.root / "state").rglob("*.log"))
        return "\n".join(f"== {path.name}\n{path.read_text(errors='replace')}" for path in files)

    def until(self, holds: Callable[[], object], patience: float = 90) -> None:
        """Wait until `holds()` is true."""
        end = time.monotonic() + patience
        while time.monotonic() < end:
            if holds():
                time.sleep(STALL_S)
                return
            time.sleep(0.05)
        raise AssertionError(f"not within {patience} s:\n{self.logs()}\n" + "\n".join(map(str, self.records())))

    def processes(self) -> list[int]:
        """Every process of an attempt of this bundle, on whichever node."""
        mark = f"CAMPC_OWNER={self.root}/state/box"
        marks = {f"{mark}{node}".encode() for node in ("", "/node-1")}
        found = []
        for entry in Path("/proc").glob("[0-9]*"):
            try:
                if not marks.isdisjoint((entry / "environ").read_bytes().split(b"\0")):
                    found.append(int(entry.name))
            except OSError:
                continue
        return found


def _end(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        process.terminate()
        process.wait(90)
