"""Each lot: when it began, what was used of it, and how it was given back."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from campc.closeout.bundle import Bundle
from campc.closeout.costs import money
from campc.closeout.model import CopyResult, LotResult, WindowResult
from campc.closeout.record import Story
from campc.closeout.windows import unix
from campc_harness.ledger import Record
from campc_harness.plan import Lot

__all__ = ["copies_of", "lots_of", "still_costs"]


def lots_of(bundle: Bundle, story: Story, windows: Sequence[WindowResult]) -> tuple[LotResult, ...]:
    """Every lot of the plan, in its order."""
    blocks = {str(block.get("name")): block for block in bundle.blocks("lots")}
    return tuple(
        _lot(
            lot,
            blocks.get(lot.name, {}),
            story,
            [window for window in windows if window.lot == lot.name],
            _lease(bundle, lot.name),
        )
        for lot in bundle.plan.lots
    )


def copies_of(story: Story) -> tuple[CopyResult, ...]:
    """Every attempt to copy results away."""
    found = []
    for record in story.of("copy", "note"):
        if record.event == "copy":
            found.append(
                CopyResult(
                    to=str(record.more.get("to") or "a place that isn't recorded"),
                    time=record.time,
                    ok=True,
                    detail=_copied(record),
                )
            )
        elif record.reason in ("copy failed", "pack failed"):
            place = record.window or "the end of the launch"
            found.append(
                CopyResult(to=f"what {place} copies to", time=record.time, ok=False, detail=_said(record.more))
            )
    return tuple(found)


def still_costs(bundle: Bundle, lots: Sequence[LotResult], copies: Sequence[CopyResult]) -> tuple[str, ...]:
    """What goes on costing as far as the record tells: lots billed by time that weren't released, and storage that holds copies."""
    blocks = {str(block.get("name")): block.get("package") or {} for block in bundle.blocks("lots")}
    found = [
        f"{lot.name} is billed by time, and nothing proves that it was released"
        for lot in lots
        if lot.start is not None and lot.released is None and blocks.get(lot.name, {}).get("rate")
    ]
    places = [copy.to for copy in copies if copy.ok and "://" in copy.to]
    places += [run.checkpoint.to for run in bundle.plan.runs if run.checkpoint and "://" in run.checkpoint.to]
    return (*found, *(f"{place} holds copies until they are deleted" for place in dict.fromkeys(places)))


def _lot(
    lot: Lot, block: Mapping[str, Any], story: Story, windows: Sequence[WindowResult], lease: tuple[float, str] | None
) -> LotResult:
    records = [record for record in story.records if record.lot == lot.name]
    # A rehearsal before the launch may have been made elsewhere: the lot's own time begins with its launch.
    launches = [record.time for record in records if record.event == "launch"]
    first = min(launches or [record.time for record in records], default=None)
    planned = unix(lot.start)
    start = first
    if planned is not None and story.last is not None:
        # A lot with a date is spent when it begins, whether or not anything was launched on it; a lot billed by time, from its first sign of life.
        start = (planned if planned <= story.last else None) if lot.package.rate is None else first
    length = lot.usable_end_s - lot.start_s if lot.usable_end_s is not None else None
    usable_end = unix(lot.usable_end)
    if usable_end is None and start is not None and length is not None:
        usable_end = start + length
    ends = [window.actual_end for window in windows if window.actual_end is not None]
    last_end = max(ends, default=records[-1].time if records else None)
    used = (
        sum((window.actual or 0.0) * (len(window.gpus) or lot.package.gpus) for window in windows) if records else None
    )
    begun = first if start is None else start if first is None else min(start, first)
    idle = None
    if used is not None and begun is not None and last_end is not None:
        idle = max(0.0, lot.package.gpus * (last_end - begun) - used)
    release = next((record for record in reversed(records) if record.event == "released"), None)
    return LotResult(
        name=lot.name,
        package=lot.package.name,
        gpu=lot.package.gpu,
        gpus=lot.package.gpus,
        order=lot.order,
        price=money(block.get("price")),
        start=start,
        usable_end=usable_end,
        last_end=last_end,
        used=used,
        idle=idle,
        uncommitted=max(0.0, usable_end - last_end) if usable_end is not None and last_end is not None else None,
        energy_kwh=_energy(records),
        released=lease[0] if lease else release.time if release else None,
        release_evidence=lease[1] if lease else _evidence(release) if release else _unproven(records),
        machines=tuple(dict.fromkeys(record.machine for record in records if record.machine)),
    )


def _evidence(record: Record) -> str:
    """What answered: the shutdown command on the machine itself, or somebody from outside."""
    inside = record.reason == "shutdown"
    said = _said(record.more) if inside else ": ".join(filter(None, (record.reason, _said(record.more))))
    how = "the shutdown command ended with exit code 0" if inside else "released from outside"
    return f"{how}: {said}" if said else how


def _lease(bundle: Bundle, lot: str) -> tuple[float, str] | None:
    """When the watcher on another machine released a lot, and what it was answered: the strongest proof there is."""
    try:
        lines = (bundle.folder / f"lease-{lot}.jsonl").read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return None
    for line in reversed(lines):
        try:
            tree = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if (
            isinstance(tree, dict)
            and tree.get("event") == "released"
            and tree.get("code") == 0
            and isinstance(tree.get("time"), (int, float))
        ):
            return float(
                tree["time"]
            ), f"released from outside ({tree.get('reason')}): {_said(tree) or 'it answered nothing'}"
    return None


def _unproven(records: Sequence[Record]) -> str | None:
    """What is known of the end of a lot that nothing proves to be released."""
    for record in reversed(records):
        if record.event == "shutdown":
            return "the shutdown command was started, and nothing says that it succeeded"
        if record.event == "note" and record.reason == "not shut down":
            return _said(record.more)
    return None


def _copied(record: Record) -> str | None:
    size, digest = record.more.get("bytes"), record.more.get("sha256")
    words = [f"{size:,} bytes"] if isinstance(size, int) else []
    words += [f"SHA-256 {digest}"] if isinstance(digest, str) else []
    return ", ".join(words) or record.reason


def _said(more: Mapping[str, Any]) -> str | None:
    for key in ("text", "answer", "error", "detail", "command"):
        if isinstance(more.get(key), str) and more[key]:
            return str(more[key])[:500]
    return None


def _energy(records: Sequence[Record]) -> float | None:
    joules = [record.more["energy_j"] for record in records if isinstance(record.more.get("energy_j"), (int, float))]
    return sum(joules) / 3.6e6 if joules else None
