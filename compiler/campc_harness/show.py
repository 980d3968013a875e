"""Printing logs and the record."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

from campc_harness import keeper
from campc_harness.bundle import Bundle
from campc_harness.ledger import Record, read
from campc_harness.progress import ENDINGS

_TAIL = 16384


def logs(bundle: Bundle, window: str | None, follow: bool) -> int:
    """Print what the launcher and its windows print; with `follow`, go on until it has ended or Ctrl-C."""
    seen: dict[Path, int] = {}
    try:
        while True:
            for path in _files(bundle, window):
                _show(path, seen)
            if not follow:
                return 0
            if (
                keeper.holder(keeper.launcher_lock(bundle)) is None
                and keeper.holder(keeper.keeper_lock(bundle)) is None
            ):
                for path in _files(bundle, window):
                    _show(path, seen)
                return 0
            time.sleep(0.3)
    except KeyboardInterrupt:
        print("\n(the launcher goes on; ./launch.sh stop ends it)")
        return 0


def ledger(bundle: Bundle, as_json: bool) -> int:
    """Print the record: one line each, or the lines as they are. 1 where it is damaged."""
    reading = read(bundle.ledger)
    if as_json:
        if bundle.ledger.exists():
            data = bundle.ledger.read_bytes()
            print(data[: data.rfind(b"\n") + 1].decode("utf-8", "replace"), end="")
    else:
        for line in table(reading.records):
            print(line)
    for damage in reading.damage:
        print(f"line {damage.line} {damage.text}")
    if reading.torn:
        print("the last line is torn")
    return 1 if reading.damage else 0


def table(records: tuple[Record, ...]) -> Iterator[str]:
    """The records as lines of a table."""
    yield f"{'seq':>6}  {'time':19}  {'event':11}  {'window':14}  {'run':20}  {'step':>8}  what"
    for record in records:
        when = datetime.fromtimestamp(record.time).strftime("%Y-%m-%d %H:%M:%S")
        step = "" if record.step is None else str(record.step)
        yield (
            f"{record.seq:6}  {when}  {record.event:11}  {record.window or '':14}  {record.run_id or '':20}  "
            f"{step:>8}  {_what(record)}"
        ).rstrip()


def _what(record: Record) -> str:
    more = dict(record.more)
    if isinstance(more.get("bytes"), int):
        more["bytes"] = f"{more['bytes']:,} bytes"
    if record.event in ENDINGS | {"start"} and record.attempt is not None:
        more["attempt"] = f"attempt {record.attempt}"
    keys = ("attempt", "state", "result", "stop", "gate", "to", "folder", "values", "text", "bytes", "name", "value")
    parts = [_brief(more[key]) for key in keys if more.get(key) not in (None, "", {}, [])]
    return ", ".join([*parts, *([record.reason] if record.reason else [])])[:200]


def _brief(value: object) -> str:
    if isinstance(value, dict):
        return " ".join(
            f"{key}={item:.5g}" if isinstance(item, float) else f"{key}={item}" for key, item in value.items()
        )
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _files(bundle: Bundle, window: str | None) -> list[Path]:
    found = sorted((bundle.state / "logs").glob("*.log"), key=lambda path: path.stat().st_mtime)
    if window is not None:
        return [path for path in found if path.name.rsplit(".", 2)[0] == window]
    return [keeper.log_path(bundle), *found[-1:]]


def _show(path: Path, seen: dict[Path, int]) -> None:
    if not path.exists():
        return
    size = path.stat().st_size
    if path not in seen:
        seen[path] = max(0, size - _TAIL)
        if size:
            print(f"== {path.name}")
    with open(path, "rb") as stream:
        stream.seek(seen[path])
        data = stream.read(size - seen[path]) if size > seen[path] else b""
    seen[path] += len(data)
    if data:
        print(data.decode("utf-8", "replace"), end="", flush=True)
