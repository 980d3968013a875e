"""Removes what a plan says may go after the end: never a checkpoint, never a deliverable, never outside its folders."""

from __future__ import annotations

import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from campc_harness.bundle import Bundle, python
from campc_harness.ledger import Ledger
from campc_harness.plan import Cleanup


def remove(bundle: Bundle, applies: Callable[[Cleanup], bool]) -> Iterator[str]:
    """Remove what the rules that apply name, and say what was removed, below the bundle."""
    kept = list(_kept(bundle))
    for rule in bundle.plan.cleanup:
        if not applies(rule):
            continue
        for base in [bundle.work, *sorted((bundle.root / "runs").glob("**/outputs"))]:
            for pattern in rule.paths:
                for path in sorted(base.glob(pattern)) if base.is_dir() else ():
                    if _may_go(path, base, kept):
                        _remove(path)
                        yield str(path.relative_to(bundle.root))


def later(bundle: Bundle) -> None:
    """Start a process that waits, and then removes; it outlives this one."""
    subprocess.Popen(
        [python(), "-m", "campc_harness", "_cleanup", "--lot", bundle.lot.name],
        cwd=bundle.root,
        env={**bundle.environment(), "CAMPC_OWNER": ""},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def wait_and_remove(bundle: Bundle) -> None:
    """Wait for each rule in turn, remove what it names, and record it."""
    began = time.monotonic()
    for after in sorted({rule.after_s for rule in bundle.plan.cleanup if rule.after_s > 0}):
        time.sleep(max(0.0, began + after - time.monotonic()))
        ledger = Ledger(bundle.ledger, bundle.lot.name, bundle.machine, bundle.redactor().text)
        for name in remove(bundle, lambda rule, due=after: rule.after_s == due):  # type: ignore[misc]
            ledger.append("note", reason="cleanup", text=f"removed {name}")
        ledger.close()


def _kept(bundle: Bundle) -> Iterator[Path]:
    """What is never removed: deliverables, checkpoints, scripts."""
    for item in bundle.plan.deliverables:
        yield from (bundle.root / "runs").glob(f"**/outputs/{item.path}")
    for run in bundle.plan.runs:
        yield bundle.root / run.script
        if run.checkpoint and "://" not in run.checkpoint.to:
            yield bundle.root / run.checkpoint.to


def _may_go(path: Path, base: Path, kept: list[Path]) -> bool:
    """Whether `path` lies in its folder, and neither is, holds, nor lies in something that is kept."""
    where = path.parent.resolve() / path.name
    if where == base.resolve() or not where.is_relative_to(base.resolve()):
        return False
    keep = [item.resolve() for item in kept]
    return not any(item == where or item.is_relative_to(where) or where.is_relative_to(item) for item in keep)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
