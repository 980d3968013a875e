"""The end of a launch: results brought home, leftovers removed, the machine given back."""

from __future__ import annotations

import subprocess
import time
from typing import TYPE_CHECKING

from campc_harness import cleanup
from campc_harness.actions import homes
from campc_harness.bundle import python, setting
from campc_harness.exits import DEADLINE, DONE, INTERRUPTED, MISCONFIGURED, STOPPED

if TYPE_CHECKING:
    from campc_harness.launcher import Launcher

_FIRST_RETRY_S, _LONGEST_RETRY_S = 5.0, 60.0
_WITHOUT_SHUTDOWN_S = 90.0


def finish(launcher: Launcher, code: int) -> int:
    """Pack, copy, clean up and shut down as far as this end asks for it; the exit code."""
    launcher.courier.recall()
    if launcher.crew is not None:
        launcher.crew.over(INTERRUPTED if launcher.interrupted else code)
    by_hand = (launcher.interrupted or "").startswith("stop:")
    if launcher.interrupted and not by_hand:
        launcher.mirror.last(state="interrupted")
        launcher.notifier.wait(2.0)
        return INTERRUPTED
    home = _bring_home(launcher, hold=not by_hand and code != MISCONFIGURED)
    if home:
        code = _settle(launcher, code)
    if by_hand:
        launcher.mirror.last(state="stopped", keep=True)
        return INTERRUPTED
    if code != MISCONFIGURED:
        _cleanup(launcher)
    kept = bool(_kept(launcher, code))
    launcher.mirror.last(state="ended", keep=kept, home=home)
    _shutdown(launcher, code, home)
    launcher.mirror.last(state="ended", keep=kept, home=home)
    launcher.notifier.wait(10.0)
    launcher.ledger.close()
    return code


def _bring_home(launcher: Launcher, hold: bool) -> bool:
    """Pack and copy; where a copy fails, try again until the machine has been held long enough. Whether it is home."""
    bundle = launcher.bundle
    shutdown = bundle.plan.shutdown
    patience = setting("CAMPC_HOLD_S", shutdown.hold_s if shutdown else _WITHOUT_SHUTDOWN_S) if hold else 0.0
    end = time.monotonic() + patience
    pause = _FIRST_RETRY_S
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
        launcher.mirror.tick(state="holding")
        time.sleep(min(pause, max(0.0, end - time.monotonic())))
        pause = min(2 * pause, _LONGEST_RETRY_S)


def _settle(launcher: Launcher, code: int) -> int:
    """What could not be brought home in its own window and is home now, counts as done."""
    for window in launcher.bundle.windows:
        if window.kind == "retrieve" and not window.command and launcher.progress.window(window.name).state == "failed":
            launcher.ledger.append(
                "window", window=window.name, state="finished", outcome="done", reason="brought home at the end"
            )
            code = launcher.code()
    return code


def _cleanup(launcher: Launcher) -> None:
    """Remove what the plan says may go; what is to stay for a while is removed by a process that waits for it."""
    bundle = launcher.bundle
    if any(rule.after_s <= 0 for rule in bundle.plan.cleanup):
        for name in cleanup.remove(bundle, lambda rule: rule.after_s <= 0):
            launcher.ledger.append("note", reason="cleanup", text=f"removed {name}")
    if any(rule.after_s > 0 for rule in bundle.plan.cleanup):
        cleanup.later(bundle)


def _kept(launcher: Launcher, code: int) -> str:
    """Why the machine is kept whatever the plan says; empty where it isn't."""
    if launcher.keep_machine:
        return "--keep-machine"
    if code == MISCONFIGURED:
        return "a configuration error is to be mended"
    gates = [state.name for state in launcher.progress.gates.values() if state.result == "revisit"]
    return f"the plan is to be revisited (gate {gates[0]})" if gates else ""


def _shutdown(launcher: Launcher, code: int, home: bool) -> None:
    """Give the machine back, if the plan says so for this end."""
    bundle = launcher.bundle
    shutdown = bundle.plan.shutdown
    if shutdown is None:
        return
    over = code in (DONE, STOPPED)
    wanted = {"always": True, "finished": over, "deadline": code == DEADLINE}.get(shutdown.when, False)
    why = _kept(launcher, code) or ("" if wanted else f"it goes when {shutdown.when}")
    if why:
        launcher.ledger.append("note", reason="not shut down", text=f"the machine is kept: {why}")
        return
    if not home:
        text = "results could not be copied away within the hold; the machine goes now"
        launcher.notifier.tell(launcher.ledger.append("note", reason="hold over", text=text), everyone=True)
        launcher.notifier.wait(10.0)
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
