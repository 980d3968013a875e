"""Where checkpoints and results go, looked at beforehand: that it can be written, has room, and outlives what it is to outlive."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

from campc_harness.actions import homes
from campc_harness.agenda import runs_script
from campc_harness.bundle import Bundle
from campc_harness.copying import CopyError, probe
from campc_harness.findings import GIB, Finding, size_text
from campc_harness.jobs import spans_nodes
from campc_harness.mounts import file_system, needs_reading_back, same_disk, survives


def places(bundle: Bundle) -> Iterator[Finding]:
    """A real write, read and delete at each place, and whether it is where it is said to be."""
    named = [run.checkpoint.to for run in bundle.plan.runs if run.checkpoint] + homes(bundle)
    for place in dict.fromkeys(named):
        try:
            probe(bundle.to(place))
        except CopyError as error:
            yield Finding("error", str(error), "check address, credentials and rights of `to`")
        else:
            yield Finding("ok", f"{place}: written, read back, deleted")
    for place in dict.fromkeys(
        run.checkpoint.to for run in bundle.plan.runs if run.checkpoint and run.checkpoint.outside
    ):
        yield from _outside(bundle, place)
    if bundle.lot.package.nodes > 1:
        yield from _shared(bundle)


def _shared(bundle: Bundle) -> Iterator[Finding]:
    """Whether checkpoints that several machines write together can be in one place."""
    wide = [window.run for window in bundle.windows if runs_script(bundle.plan, window) and spans_nodes(bundle, window)]
    runs = [run for run in bundle.plan.runs if run.name in wide]
    for place in dict.fromkeys(run.checkpoint.to if run.checkpoint else "checkpoints" for run in runs):
        folder = bundle.to(place)
        if survives(folder) and ("://" in folder or needs_reading_back(file_system(folder))):
            continue
        yield Finding(
            "warning",
            f"the ranks of several machines keep their checkpoints at {place}, which seems to be on this machine alone",
            "let `to` be a folder on a disk that all machines of the lot share, or a URL",
        )


def _outside(bundle: Bundle, place: str) -> Iterator[Finding]:
    """Whether checkpoints that are to outlive the machine do."""
    folder = bundle.to(place)
    if not survives(folder):
        yield Finding(
            "error",
            f"{place} is to outlive the machine, and lies in its memory: no checkpoint there counts as a recovery point",
            "mount the volume or network disk that it is to be on, or give another `to`",
        )
    elif ("://" not in folder or folder.startswith("file://")) and same_disk(folder.removeprefix("file://"), "/"):
        yield Finding(
            "warning",
            f"{place} is to outlive the machine, and is on the disk of its own system",
            "see that the volume is mounted there, unless that disk itself is kept",
        )


def room(bundle: Bundle) -> Iterator[Finding]:
    """Whether the checkpoints that are kept have room, and the bundle some."""
    needed: dict[str, int] = {}
    for window in bundle.windows:
        run = bundle.plan.run(window.run) if window.run else None
        if run is None or run.checkpoint is None or not run.checkpoint.size_bytes or "://" in run.checkpoint.to:
            continue
        kept = run.checkpoint.keep + (1 if run.checkpoint.keep_best else 0) + 1
        needed[run.checkpoint.to] = needed.get(run.checkpoint.to, 0) + kept * run.checkpoint.size_bytes * max(
            1, len(window.run_ids)
        )
    for place, total in needed.items():
        folder = Path(bundle.to(place))
        while not folder.exists():
            folder = folder.parent
        free = shutil.disk_usage(folder).free
        if free < total:
            yield Finding(
                "error",
                f"{place} has {size_text(free)} free, checkpoints need {size_text(total)}",
                "free room, or lower `keep`",
            )
        else:
            yield Finding("ok", f"{place} has {size_text(free)} free, checkpoints need {size_text(total)}")
    free = shutil.disk_usage(bundle.root).free
    if free < GIB:
        yield Finding("warning", f"only {size_text(free)} are free where the bundle lies", "free room")
