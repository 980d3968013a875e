"""What is kept beside the checkpoints, so that a replacement machine goes on and a watcher elsewhere can see a heartbeat.

`TO/state-LOT/ledger.jsonl` is the record as far as it was mirrored, `TO/state-LOT/heartbeat.json` the sign of life.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import time
from collections.abc import Mapping
from typing import Any

from campc_harness.bundle import Bundle, python, read_json, setting, write_json
from campc_harness.copying import CopyError, deliver, fetch
from campc_harness.ledger import Ledger, read

HEARTBEAT = "heartbeat.json"
_EVERY_S = 30.0
_SOON_S = 5.0
_LONGEST_S = 120.0


def place(bundle: Bundle) -> str | None:
    """Where the mirror is: the first checkpoint folder that survives the machine, else the first one."""
    policies = [bundle.plan.run(window.run).checkpoint for window in bundle.windows if window.run]
    known = [policy for policy in policies if policy is not None]
    chosen = next((policy for policy in known if policy.outside), known[0] if known else None)
    return None if chosen is None else f"{bundle.to(chosen.to)}/state-{bundle.lot.name}"


def put(bundle: Bundle) -> None:
    """Mirror the record and the heartbeat once.

    Raises:
        CopyError: the place can't be written.
    """
    to = place(bundle)
    if to is None:
        return
    for name in ("ledger.jsonl", HEARTBEAT):
        if (bundle.state / name).exists():
            deliver(bundle.state / name, to, name)


def adopt(bundle: Bundle) -> int:
    """Take over the mirrored record where nothing was launched on this machine; how many records it holds.

    Only a sound record of this very plan is taken. What this machine recorded before (a preflight, a rehearsal) is
    written behind it.
    """
    to = place(bundle)
    own = read(bundle.ledger).records
    if to is None or any(record.event == "launch" for record in own):
        return 0
    temporary = bundle.state / ".mirrored"
    bundle.state.mkdir(parents=True, exist_ok=True)
    try:
        if not fetch(to, "ledger.jsonl", temporary):
            return 0
        found = read(temporary)
        hashes = {record.more.get("plan_hash") for record in found.records if record.event == "launch"}
        if found.damage or hashes != {bundle.plan.plan_hash}:
            return 0
        data = temporary.read_bytes()
        temporary.write_bytes(data[: data.rfind(b"\n") + 1])
        os.replace(temporary, bundle.ledger)
    finally:
        with contextlib.suppress(FileNotFoundError):
            temporary.unlink()
    ledger = Ledger(bundle.ledger, bundle.lot.name, bundle.machine, bundle.redactor().text)
    ledger.append(
        "note", reason="goes on", text=f"{len(found.records)} records were taken over from beside the checkpoints"
    )
    for record in own:
        ledger.append(record.event, window=record.window, reason=record.reason, **record.more)
    ledger.close()
    return len(found.records)


class Mirror:
    """Keeps the mirror current. A copy to a URL is a process of its own: the network must not hold up the launcher."""

    def __init__(self, bundle: Bundle, facts: Mapping[str, Any]) -> None:
        self._bundle = bundle
        self._facts = dict(facts)
        self._beat = int(read_json(bundle.state / HEARTBEAT).get("beat") or 0)
        self._process: subprocess.Popen[bytes] | None = None
        self._at = float("-inf")
        self._failing = False
        self.trouble: str | None = None

    def tick(self, soon: bool = False, **facts: Any) -> bool:
        """Mirror again if it is time, sooner where something mattered (`soon`); whether it was begun."""
        self._collect()
        now = time.monotonic()
        every = setting("CAMPC_HEARTBEAT_S", _EVERY_S)
        to = place(self._bundle)
        if self._process is not None or to is None or now - self._at < (min(every, _SOON_S) if soon else every):
            return False
        self._at = now
        self._facts.update(facts)
        self._write_heartbeat()
        if "://" in to:
            self._process = subprocess.Popen(
                [python(), "-m", "campc_harness", "_mirror", "--lot", self._bundle.lot.name],
                cwd=self._bundle.root,
                env=self._bundle.environment(),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
            )
            return True
        try:
            put(self._bundle)
            self._failing = False
        except CopyError as error:
            self._fail(str(error))
        return True

    def last(self, **facts: Any) -> None:
        """Mirror the end of a launch, and wait for it."""
        if place(self._bundle) is None:
            return
        if self._process is not None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(_LONGEST_S)
            self._collect()
        self._facts.update(facts)
        self._write_heartbeat()
        with contextlib.suppress(CopyError):
            put(self._bundle)

    def _write_heartbeat(self) -> None:
        self._beat += 1
        tree = {**self._facts, "beat": self._beat, "time": round(time.time(), 3), "machine": self._bundle.machine}
        with contextlib.suppress(OSError):
            write_json(self._bundle.state / HEARTBEAT, tree)

    def _collect(self) -> None:
        process = self._process
        if process is None:
            return
        if process.poll() is None:
            if time.monotonic() - self._at > _LONGEST_S:
                process.kill()
            return
        assert process.stderr is not None
        said = process.stderr.read().decode("utf-8", "replace").strip()
        process.stderr.close()
        self._process = None
        if process.returncode == 0:
            self._failing = False
        else:
            self._fail(said.splitlines()[-1][:300] if said else "the mirror beside the checkpoints can't be written")

    def _fail(self, text: str) -> None:
        """Say it once, not at every attempt."""
        if not self._failing:
            self.trouble = text
        self._failing = True
