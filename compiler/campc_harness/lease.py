"""The watcher: runs on any other machine, and releases a rented one that has fallen silent or whose time is over.

    python lease.py BUNDLE --lot box
    python lease.py --heartbeat s3://lab/rank/state-box --command "vendor release 1234"

It reads the heartbeat that the harness leaves beside the checkpoints, and runs the plan's `elsewhere` when the heartbeat
stays away or the lot is over. What the command answered is recorded in `lease-LOT.jsonl`, and beside the heartbeat.
Standard library only, in one file; a URL other than file:// needs fsspec, or the command line tool `aws` for s3://.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_PATIENCE_S = 900.0
_INTERVAL_S = 60.0
_COMMAND_LIMIT_S = 600.0


@dataclass(frozen=True)
class Watch:
    """What is watched, and what is done.

    Attributes:
        place: folder or URL with `heartbeat.json`.
        command: what releases the machine from outside.
        patience_s: silence after which it is released.
        interval_s: between two looks.
        record: file that takes what happened, a JSON object a line.
    """

    lot: str
    place: str
    command: str
    patience_s: float
    interval_s: float
    record: Path


class Lease:
    """Decides, look by look, whether the machine must be released. Only the beat counts, not the other machine's clock."""

    def __init__(self, patience_s: float, now: float) -> None:
        self._patience_s = patience_s
        self._seen: Any = None
        self._since = now

    def judge(self, heartbeat: dict[str, Any], now: float, wall: float) -> str | None:
        """`kept` or `ended` where nothing is left to watch, a reason to release, or None to go on watching.

        Args:
            heartbeat: as it was read, empty where it could not be.
            now: seconds of a clock that only goes forward.
            wall: Unix time.
        """
        beat = (heartbeat.get("machine"), heartbeat.get("beat"))
        if heartbeat and beat != self._seen:
            self._seen, self._since = beat, now
        state = heartbeat.get("state")
        if state in ("ended", "stopped") and heartbeat.get("keep"):
            return "kept"
        end = heartbeat.get("usable_end")
        if isinstance(end, (int, float)) and wall > end:
            return "the lot is over"
        if now - self._since > self._patience_s:
            silence = f"no heartbeat for {(now - self._since) / 60:.0f} min"
            return f"it has ended and is still there ({silence})" if state == "ended" else silence
        return None


def watch(what: Watch, say: Callable[[str], None] = print) -> int:
    """Look until there is nothing left to watch; 0 where the machine was released or is kept on purpose."""
    lease = Lease(what.patience_s, time.monotonic())
    while True:
        verdict = lease.judge(read_heartbeat(what.place), time.monotonic(), time.time())
        if verdict in ("kept", "ended"):
            say(f"{what.lot}: the machine is {verdict}; nothing to watch")
            return 0
        if verdict is not None:
            return release(what, verdict, say)
        time.sleep(what.interval_s)


def release(what: Watch, reason: str, say: Callable[[str], None]) -> int:
    """Run the command, several times if it must be, and record what it answered; 0 where it succeeded."""
    code = 1
    for attempt in range(1, 6):
        say(f"{what.lot}: {reason}: releasing the machine")
        code, answer = run(what.command)
        line = {
            "time": round(time.time(), 3),
            "lot": what.lot,
            "event": "released" if code == 0 else "note",
            "reason": reason,
            "command": what.command,
            "code": code,
            "answer": answer,
            "attempt": attempt,
        }
        with open(what.record, "a", encoding="utf-8") as stream:
            stream.write(json.dumps(line, sort_keys=True, ensure_ascii=False) + "\n")
            stream.flush()
            os.fsync(stream.fileno())
        leave_word(what.place, line)
        say(f"{what.lot}: it answered {code}: {answer or '(nothing)'}")
        if code == 0:
            return 0
        time.sleep(min(what.interval_s * attempt, 300.0))
    return code


def run(command: str) -> tuple[int, str]:
    """Exit code of a command, and the end of what it printed."""
    try:
        done = subprocess.run(
            ["/bin/sh", "-c", command],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=_COMMAND_LIMIT_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return 124, f"no answer within {_COMMAND_LIMIT_S:.0f} s"
    return done.returncode, done.stdout.decode("utf-8", "replace").strip()[-1000:]


def read_heartbeat(place: str) -> dict[str, Any]:
    """The heartbeat at a folder or URL; empty where there is none, or it can't be reached now."""
    try:
        tree = json.loads(_read(f"{place.rstrip('/')}/heartbeat.json"))
    except Exception:
        return {}
    return tree if isinstance(tree, dict) else {}


def leave_word(place: str, line: dict[str, Any]) -> None:
    """Leave beside the heartbeat what was done, where that can be written."""
    content = json.dumps(line, sort_keys=True, indent=2, ensure_ascii=False) + "\n"
    try:
        if "://" not in place or place.startswith("file://"):
            (Path(place.removeprefix("file://")) / "released.json").write_text(content, encoding="utf-8")
            return
        import fsspec

        with fsspec.open(f"{place.rstrip('/')}/released.json", "w") as stream:
            stream.write(content)
    except Exception as error:
        print(f"(what was done could not be left at {place}: {error})", file=sys.stderr)


def _read(address: str) -> bytes:
    if "://" not in address or address.startswith("file://"):
        return Path(address.removeprefix("file://")).read_bytes()
    try:
        import fsspec
    except ImportError:
        if address.startswith("s3://") and shutil.which("aws"):
            return subprocess.run(["aws", "s3", "cp", address, "-"], capture_output=True, check=True, timeout=60).stdout
        raise
    with fsspec.open(address, "rb") as stream:
        content: bytes = stream.read()
    return content


def from_bundle(bundle: Path, lot: str | None) -> tuple[str, str | None, str | None]:
    """Lot, place of the heartbeat and releasing command, as a bundle's campaign.json says.

    Raises:
        ValueError: there is no such lot, or the file is none.
    """
    tree = json.loads((bundle / "campaign.json").read_text(encoding="utf-8"))
    names = [item["name"] for item in tree["lots"]]
    if lot is None and len(names) > 1:
        raise ValueError(f"say which lot: --lot NAME (of {', '.join(names)})")
    lot = lot or names[0]
    if lot not in names:
        raise ValueError(f"there is no lot {lot!r} (there are {', '.join(names)})")
    used = {window["run"] for window in tree["windows"] if window["lot"] == lot and window.get("run")}
    ordered = [window["run"] for window in tree["windows"] if window["run"] in used]
    policies = {run["name"]: run["checkpoint"] for run in tree["runs"] if run.get("checkpoint")}
    known = [policies[name] for name in ordered if name in policies]
    chosen = next((policy for policy in known if policy.get("outside")), known[0] if known else None)
    place = None
    if chosen:
        to = chosen["to"].rstrip("/")
        place = f"{to if '://' in to else bundle / to}/state-{lot}"
    return lot, place, (tree.get("shutdown") or {}).get("elsewhere")


def main(arguments: list[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="lease.py", description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("bundle", nargs="?", help="folder with campaign.json")
    parser.add_argument("--lot")
    parser.add_argument("--heartbeat", help="folder or URL with heartbeat.json, instead of the plan's")
    parser.add_argument("--command", help="releases the machine, instead of the plan's `elsewhere`")
    parser.add_argument("--patience", type=float, default=_PATIENCE_S, help="seconds of silence (default %(default)g)")
    parser.add_argument(
        "--interval", type=float, default=_INTERVAL_S, help="seconds between looks (default %(default)g)"
    )
    given = parser.parse_args(arguments)
    lot, place, command = given.lot or "lot", given.heartbeat, given.command
    if given.bundle:
        try:
            lot, planned, elsewhere = from_bundle(Path(given.bundle), given.lot)
        except (OSError, ValueError, KeyError) as error:
            print(f"lease.py: {given.bundle} is no bundle to watch: {error}", file=sys.stderr)
            return 78
        place, command = place or planned, command or elsewhere
    if not place or not command:
        what = "no heartbeat: give --heartbeat" if not place else "no `elsewhere` in its shutdown block: give --command"
        print(f"lease.py: the plan has {what}", file=sys.stderr)
        return 78
    record = Path(f"lease-{lot}.jsonl")
    try:
        return watch(Watch(lot, place, command, given.patience, given.interval, record))
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
