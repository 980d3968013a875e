"""Everything that can be known before the first paid hour of training: each finding says what to do."""

from __future__ import annotations

import hashlib
import importlib.metadata
import importlib.util
import os
import re
import shutil
import sys
import time
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

from campc_harness import destinations, gpu
from campc_harness.actions import verify_corpus
from campc_harness.agenda import hours
from campc_harness.bundle import Bundle
from campc_harness.crew import cluster
from campc_harness.findings import GIB, Finding, size_text
from campc_harness.ledger import read
from campc_harness.plan import RunPlan
from campc_harness.progress import progress_of
from campc_harness.status import project


def preflight(bundle: Bundle) -> list[Finding]:
    """Look at everything; nothing is left behind."""
    found: list[Finding] = []
    for look in (
        _python,
        _files,
        _gpus,
        _secrets,
        _requirements,
        _corpora,
        destinations.places,
        destinations.room,
        _memory,
        _time,
        _shutdown,
    ):
        found += look(bundle)
    return found


def _python(bundle: Bundle) -> Iterator[Finding]:
    # launch.sh takes no Python that is older than 3.10.
    yield Finding("ok", f"Python {'.'.join(map(str, sys.version_info[:3]))}")
    if importlib.util.find_spec("torch") is None:
        yield Finding("error", "torch isn't installed for this Python", "pip install torch, or set CAMPC_PYTHON")
    else:
        yield Finding("ok", f"torch {importlib.metadata.version('torch')}")


def _files(bundle: Bundle) -> Iterator[Finding]:
    missing = [run.script for run in bundle.plan.runs if not (bundle.root / run.script).is_file()]
    for script in sorted(set(missing)):
        yield Finding("error", f"{script} isn't in the bundle", "copy the whole bundle again")
    manifest = bundle.root / "MANIFEST.sha256"
    if not manifest.is_file():
        yield Finding("warning", "the bundle has no MANIFEST.sha256", "copy the whole bundle again to be sure of it")
        return
    changed = list(_changed(bundle.root, manifest))
    for name, what in changed[:10]:
        yield Finding("error", f"{name} {what} since the bundle was built", "copy the bundle again, or build it anew")
    if not changed and not missing:
        yield Finding("ok", "the bundle is as it was built")


def _changed(root: Path, manifest: Path) -> Iterator[tuple[str, str]]:
    for line in manifest.read_text(encoding="utf-8").splitlines():
        digest, _, name = line.partition("  ")
        path = root / name
        if not path.is_file():
            yield name, "has gone"
        elif hashlib.sha256(path.read_bytes()).hexdigest() != digest:
            yield name, "was changed"


def _gpus(bundle: Bundle) -> Iterator[Finding]:
    package = bundle.lot.package
    each = max(1, package.gpus // max(1, package.nodes))
    if package.nodes != cluster().nodes:
        yield Finding(
            "warning",
            f"the lot has {package.nodes} machines, and this launch is told of {cluster().nodes}",
            f"on each: CAMPC_NODES={package.nodes} CAMPC_NODE_RANK=… CAMPC_MASTER_ADDR=… ./launch.sh (0 is the first one's rank)",
        )
    if bundle.cpu:
        yield Finding("ok", "runs on CPUs, as --cpu says")
        return
    found = gpu.gpus() or gpu.gpus_by_torch()
    if len(found) < each:
        have = "no GPU" if not found else f"{len(found)} GPU{'s'[: len(found) != 1]}"
        yield Finding("error", f"{have} visible, ordered: {each}", "ask the vendor, or give --cpu to run without")
        return
    yield Finding("ok", f"{len(found)} × {found[0].name}")
    for index, item in enumerate(found[:each]):
        if _plain(package.gpu) not in _plain(item.name) and _plain(item.name) not in _plain(package.gpu):
            yield Finding("warning", f"GPU {index} is a {item.name}, ordered was {package.gpu}", "ask the vendor")
        if package.memory_bytes and item.memory_bytes < 0.9 * package.memory_bytes:
            yield Finding(
                "error",
                f"GPU {index} has {size_text(item.memory_bytes)}, ordered were {size_text(package.memory_bytes)}",
                "ask the vendor",
            )
        if item.used_bytes > 2 * GIB:
            yield Finding(
                "warning", f"{size_text(item.used_bytes)} of GPU {index} are in use already", "end what uses it"
            )


def _secrets(bundle: Bundle) -> Iterator[Finding]:
    for name in bundle.plan.campaign.secrets:
        if not os.environ.get(name):
            yield Finding("error", f"the secret {name} isn't set", f"export {name}=… before launch.sh")
        else:
            yield Finding("ok", f"secret {name} is set")


def _requirements(bundle: Bundle) -> Iterator[Finding]:
    name = bundle.plan.campaign.requirements
    if not name:
        return
    path = bundle.root / name
    if not path.is_file():
        yield Finding("error", f"{name} isn't in the bundle", "copy the whole bundle again")
        return
    missing = []
    for line in path.read_text(encoding="utf-8").splitlines():
        match = re.match(r"\s*([A-Za-z0-9][A-Za-z0-9._-]*)\s*(?:\[[^\]]*\])?\s*(==\s*([^\s;#]+))?", line)
        if not match or line.lstrip().startswith(("#", "-")):
            continue
        try:
            version = importlib.metadata.version(match[1])
        except importlib.metadata.PackageNotFoundError:
            missing.append(match[1])
            continue
        if match[3] and version != match[3]:
            missing.append(f"{match[1]} (is {version}, wanted {match[3]})")
    if missing:
        yield Finding("error", f"not installed: {', '.join(missing)}", f"pip install -r {name}")
    else:
        yield Finding("ok", f"everything of {name} is installed")


def _corpora(bundle: Bundle) -> Iterator[Finding]:
    for corpus in bundle.plan.corpora:
        problems = list(verify_corpus(bundle, corpus))
        for problem in problems:
            yield Finding("error", f"corpus {corpus.name}: {problem}", "the plan rests on the frozen data")
        if not problems:
            yield Finding("ok", f"corpus {corpus.name} is there" + (" and unchanged" if corpus.sha256 else ""))


def _memory(bundle: Bundle) -> Iterator[Finding]:
    sizes = [
        (run.checkpoint.size_bytes, run) for run in bundle.plan.runs if run.checkpoint and run.checkpoint.size_bytes
    ]
    if not sizes:
        return
    largest: tuple[int, RunPlan] = max(sizes, key=lambda item: item[0])
    free = host_memory()
    if free is not None and free < largest[0]:
        yield Finding(
            "warning",
            f"{size_text(free)} of host memory are free, a checkpoint of {largest[1].name} stages {size_text(largest[0])}",
            "it is written in pieces then, and training waits until it is written",
        )
    elif free is not None:
        yield Finding("ok", f"{size_text(free)} of host memory are free for staging")


def host_memory() -> int | None:
    """Free host memory in bytes, within the limit of the control group; None where it can't be told."""
    values = []
    try:
        text = Path("/proc/meminfo").read_text(encoding="ascii")
        match = re.search(r"MemAvailable:\s+(\d+) kB", text)
        values += [int(match[1]) * 1024] if match else []
        limit = Path("/sys/fs/cgroup/memory.max").read_text(encoding="ascii").strip()
        used = int(Path("/sys/fs/cgroup/memory.current").read_text(encoding="ascii"))
        values += [int(limit) - used] if limit.isdigit() else []
    except (OSError, ValueError):
        pass
    return min(values) if values else None


def _time(bundle: Bundle) -> Iterator[Finding]:
    progress = progress_of(read(bundle.ledger).records)
    lot = bundle.lot
    if progress.first is not None:
        projection = project(bundle, progress, {})
        left, needed = (projection.left_s, projection.needed_s) if projection else (None, 0.0)
        what = "what remains takes"
    elif lot.usable_end:
        end = datetime.fromisoformat(lot.usable_end.replace("Z", "+00:00")).timestamp()
        left, needed = end - time.time(), max((window.end_s for window in bundle.windows), default=0.0) - lot.start_s
        what = "the windows take"
    else:
        return
    if left is None:
        return
    if left <= 0:
        yield Finding("error", f"the lot's usable time ended {hours(-left)} ago", "build the plan with a new start")
    elif left < needed:
        yield Finding(
            "warning", f"{hours(left)} are left in the lot, {what} {hours(needed)}", "some will not be started"
        )
    else:
        yield Finding("ok", f"{hours(left)} are left in the lot, {what} {hours(needed)}")


def _shutdown(bundle: Bundle) -> Iterator[Finding]:
    shutdown = bundle.plan.shutdown
    if shutdown is None:
        yield Finding("warning", "nothing shuts the machine down at the end", "release it by hand")
        return
    inside = Path("/.dockerenv").exists() or Path("/run/.containerenv").exists()
    word = shutdown.command.split()[0] if shutdown.command.split() else ""
    if inside and word in ("shutdown", "poweroff", "halt", "systemctl", "sudo"):
        yield Finding(
            "warning",
            f"`{shutdown.command}` can't end the machine from inside a container",
            "use the vendor's command, and `elsewhere` for the watcher",
        )
    elif word and shutil.which(word) is None and not (bundle.root / word).exists():
        yield Finding("warning", f"`{word}`, which is to shut the machine down, isn't installed", "install it")


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]|nvidia|geforce", "", name.lower())
