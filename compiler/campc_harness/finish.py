"""The end of a launch: results brought home, leftovers removed, the machine given back."""

from __future__ import annotations

import contextlib
import shutil
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING

from campc_harness.actions import homes
from campc_harness.bundle import python, setting
from campc_harness.exits import DEADLINE, DONE, INTERRUPTED, MISCONFIGURED, STOPPED

if TYPE_CHECKING:
    from campc_harness.launcher import Launcher

_RETRY_S = 60.0


def finish(launcher: Launcher, code: int, keep_machine: bool) -> int:
    """Pack, copy, clean up and shut down as far as this end asks for it; the exit code."""
    by_hand = (launcher.interrupted or "").startswith("stop:")
    if launcher.interrupted and not by_hand:
        return INTERRUPTED
    home = _bring_home(launcher, hold=not by_hand and code != MISCONFIGURED)
    if by_hand:
        return INTERRUPTED
    if code != MISCONFIGURED:
        _cleanup(launcher)
    _shutdown(launcher, code, keep_machine, home)
    launcher.notifier.wait(10.0)
    launcher.ledger.close()
    return code


def _bring_home(launcher: Launcher, hold: bool) -> bool:
    """Pack and copy; where a copy fails, try again until the machine has been held long enough. Whether it is home."""
    bundle = launcher.bundle
    shutdown = bundle.plan.shutdown
    end = time.monotonic() + (shutdown.hold_s if shutdown and hold else 0.0)
    while True:
        done = subprocess.run(
            [python(), "-m", "campc_harness", "pack", "--lot", bundle.lot.name],
            cwd=bundle.root,
            env=bundle.environment(),
            stdin=subprocess.DEVNULL,
            check=False,
        )
        if done.returncode == 0:
            return True
        if not homes(bundle) or time.monotonic() >= end:
            return False
        time.sleep(min(setting("CAMPC_RETRY_S", _RETRY_S), max(0.0, end - time.monotonic())))


def _cleanup(launcher: Launcher) -> None:
    """Remove what the plan says may go, never a checkpoint or a deliverable."""
    bundle = launcher.bundle
    kept = {item.path for item in bundle.plan.deliverables}
    for rule in bundle.plan.cleanup:
        if rule.after_s > 0:
            launcher.ledger.append(
                "note", reason="cleanup", text=f"{', '.join(rule.paths)} stay for {rule.after_s:.0f} s"
            )
            continue
        for pattern in rule.paths:
            for base in [bundle.work, *sorted((bundle.root / "runs").glob("**/outputs"))]:
                for path in sorted(base.glob(pattern)):
                    if path.is_relative_to(base) and path.relative_to(base).as_posix() not in kept:
                        _remove(path)
            launcher.ledger.append("note", reason="cleanup", text=f"removed {pattern}")


def _shutdown(launcher: Launcher, code: int, keep_machine: bool, home: bool) -> None:
    """Give the machine back, if the plan says so for this end."""
    bundle = launcher.bundle
    shutdown = bundle.plan.shutdown
    if shutdown is None:
        return
    over = code in (DONE, STOPPED)
    wanted = {"always": True, "finished": over, "deadline": code == DEADLINE}.get(shutdown.when, False)
    if keep_machine or code == MISCONFIGURED or not wanted:
        why = "--keep-machine" if keep_machine else "a configuration error" if code == MISCONFIGURED else shutdown.when
        launcher.ledger.append("note", reason="not shut down", text=f"the machine is kept: {why}")
        return
    if not home:
        launcher.ledger.append(
            "note", reason="hold over", text="results could not be copied away; the machine goes now"
        )
    launcher.ledger.append("shutdown", reason=shutdown.when, command=shutdown.command)
    launcher.ledger.sync()
    done = subprocess.run(
        ["/bin/sh", "-c", shutdown.command],
        cwd=bundle.root,
        env=bundle.environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    answer = (done.stdout + done.stderr).decode("utf-8", "replace").strip()[-500:]
    event = "released" if done.returncode == 0 else "note"
    launcher.ledger.append(event, reason="shutdown", text=answer, code=done.returncode)


def _remove(path: Path) -> None:
    with contextlib.suppress(OSError):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()
