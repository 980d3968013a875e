"""What `launch.sh` can be asked for: one short function a command, which imports only what it needs."""

from __future__ import annotations

import argparse
import os
import signal
import sys
import traceback
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from campc_harness import keeper
from campc_harness.bundle import STOP_FILE, Bundle, open_bundle, write_json
from campc_harness.exits import DONE, INTERRUPTED, MISCONFIGURED
from campc_harness.latch import ASKING
from campc_harness.ledger import Ledger
from campc_harness.plan import PlanError

Arguments = argparse.Namespace


def bundle_of(arguments: Arguments) -> Bundle:
    """The bundle that is meant: `CAMPC_BUNDLE`, else the folder that holds this package."""
    root = os.environ.get("CAMPC_BUNDLE") or Path(__file__).resolve().parents[1]
    return open_bundle(Path(root), arguments.lot or os.environ.get("CAMPC_LOT") or None, arguments.cpu)


def run(arguments: Arguments) -> int:
    """Launch the lot, or go on with it."""
    from campc_harness import mirror, rehearse

    for number in ASKING:
        # Nothing has been started yet: an interrupted look around is an interruption like any other.
        signal.signal(number, lambda *_: sys.exit(INTERRUPTED))
    bundle = bundle_of(arguments)
    for lock in (keeper.keeper_lock(bundle), keeper.launcher_lock(bundle)):
        pid = keeper.holder(lock)
        if pid is not None:
            raise keeper.Busy(f"this lot is being run already, by process {pid or 'unknown'}: see ./launch.sh status")
    adopted = 0 if arguments.fresh or bundle.node else mirror.adopt(bundle)
    if adopted:
        print(f"goes on from the record beside the checkpoints: {adopted} records of an earlier machine")
    if bundle.plan.preflight and bundle.plan.preflight.dry_run and not bundle.node:
        machine = rehearse.passed_before(bundle)
        if machine is None:
            print("the plan requires a rehearsal of this very plan first: ./launch.sh rehearse", file=sys.stderr)
            return MISCONFIGURED
        print(f"rehearsed on {machine}")
    if not _look(bundle, only_problems=True) and not arguments.anyway:
        print("not launched; mend this, or launch with --anyway", file=sys.stderr)
        return MISCONFIGURED
    if arguments.launcher != "own":
        os.environ["CAMPC_LAUNCHER"] = arguments.launcher
    passed = ["--lot", bundle.lot.name]
    passed += ["--cpu"] if bundle.cpu else []
    passed += ["--keep-machine"] if arguments.keep_machine else []
    if arguments.foreground:
        return keeper.keep(bundle, passed)
    before = bundle.ledger.stat().st_size if bundle.ledger.exists() else 0
    keeper.detach(bundle, passed)
    if not keeper.wait_started(bundle, before):
        print(f"the launcher didn't start; see {keeper.log_path(bundle).relative_to(bundle.root)}", file=sys.stderr)
        return 1
    print(f"{bundle.plan.campaign.name} runs on {bundle.lot.name}, and goes on when this terminal closes")
    print("  ./launch.sh logs --follow    ./launch.sh status    ./launch.sh stop")
    return DONE


def launch(arguments: Arguments) -> int:
    """The launcher itself, as its keeper starts it."""
    from campc_harness import finish
    from campc_harness.follower import Follower
    from campc_harness.launcher import Launcher, Options

    bundle = bundle_of(arguments)
    try:
        with keeper.locked(keeper.launcher_lock(bundle)):
            if bundle.node:
                return Follower(bundle, _say).run()
            launcher = Launcher(bundle, Options(arguments.restart, arguments.keep_machine, _say))
            code = launcher.run()
            return finish.finish(launcher, code)
    except keeper.Busy:
        raise
    except Exception:
        traceback.print_exc()
        return keeper.BROKEN


def exec_(arguments: Arguments) -> int:
    """Run a script that can't be changed."""
    from campc_harness import wrap

    command = arguments.argv[1:] if arguments.argv[:1] == ["--"] else arguments.argv
    if not command:
        raise PlanError("say what to run: exec -- CMD …")
    return wrap.wrap(command, arguments.checkpoints)


def mirror_(arguments: Arguments) -> int:
    """Mirror the record and the heartbeat beside the checkpoints."""
    from campc_harness import mirror
    from campc_harness.copying import CopyError

    try:
        mirror.put(bundle_of(arguments))
    except CopyError as error:
        print(error, file=sys.stderr)
        return 1
    return DONE


def rank(arguments: Arguments) -> int:
    """Become a rank that torchrun started."""
    from campc_harness import torchrun

    return torchrun.become_rank(arguments.argv[1:] if arguments.argv[:1] == ["--"] else arguments.argv)


def cleanup_(arguments: Arguments) -> int:
    """Wait, and remove what the plan says may go then."""
    from campc_harness import cleanup

    cleanup.wait_and_remove(bundle_of(arguments))
    return DONE


def do(arguments: Arguments) -> int:
    """What the launcher does itself for a window."""
    from campc_harness.actions import perform

    bundle = bundle_of(arguments)
    return perform(bundle, bundle.plan.window(arguments.window))


def preflight_(arguments: Arguments) -> int:
    """Look at everything that can be known before."""
    return DONE if _look(bundle_of(arguments), only_problems=False) else MISCONFIGURED


def rehearse_(arguments: Arguments) -> int:
    """The dry run."""
    from campc_harness import rehearse

    return DONE if rehearse.rehearse(bundle_of(arguments), _say) else 1


def status_(arguments: Arguments) -> int:
    """What ran, runs and waits."""
    from campc_harness import page, status

    bundle = bundle_of(arguments)
    shown = status.status(bundle)
    if not arguments.html:
        print(status.text(shown))
        return DONE
    path = bundle.state / "status.html"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(page.page(shown), encoding="utf-8")
    print(path.relative_to(bundle.root))
    return DONE


def logs(arguments: Arguments) -> int:
    """What the launcher and the running windows say."""
    from campc_harness import show

    return show.logs(bundle_of(arguments), arguments.window, arguments.follow)


def ledger(arguments: Arguments) -> int:
    """The record, as a table or as JSON lines."""
    from campc_harness import show

    return show.ledger(bundle_of(arguments), arguments.json)


def decide(arguments: Arguments) -> int:
    """Decide a gate."""
    bundle = bundle_of(arguments)
    gate = bundle.plan.gate(arguments.gate)
    record = {"gate": gate.name, "result": arguments.result, "reason": arguments.because, "window": gate.after}
    _ledger(bundle).append("decide", **record)
    print(f"gate {gate.name}: {arguments.result}")
    return DONE


def skip(arguments: Arguments) -> int:
    """Give up a window."""
    bundle = bundle_of(arguments)
    window = bundle.plan.window(arguments.window)
    _ledger(bundle).append("skip", window=window.name, reason=arguments.because)
    print(f"{window.name} will not be run")
    return DONE


def stop(arguments: Arguments) -> int:
    """Save, pack, and end; a later launch goes on."""
    bundle = bundle_of(arguments)
    if keeper.holder(keeper.launcher_lock(bundle)) is None:
        print("nothing runs on this lot")
        return DONE
    write_json(bundle.state / STOP_FILE, {"reason": arguments.because or "stopped by hand"})
    print("asked: the run saves a checkpoint and leaves, results are packed; ./launch.sh goes on later")
    return DONE


def pack(arguments: Arguments) -> int:
    """Pack the results and copy them home."""
    from campc_harness.actions import homes, pack_and_copy

    bundle = bundle_of(arguments)
    places = [arguments.to] if arguments.to else homes(bundle)
    return pack_and_copy(bundle, _ledger(bundle), places, None)


def record_(arguments: Arguments) -> int:
    """Write down what the harness cannot see."""
    from campc_harness import recording

    bundle = bundle_of(arguments)
    recording.record(bundle, _ledger(bundle), arguments)
    print("recorded")
    return DONE


def _look(bundle: Bundle, only_problems: bool) -> bool:
    from campc_harness import preflight

    findings = preflight.preflight(bundle)
    for finding in findings:
        if not only_problems or finding.level != "ok":
            print(finding.line())
    errors = [finding for finding in findings if finding.level == "error"]
    texts = [f"{finding.what}: {finding.do}" for finding in findings if finding.level != "ok"]
    _ledger(bundle).append("preflight", reason="failed" if errors else "passed", findings=texts)
    if not only_problems:
        warnings = sum(finding.level == "warning" for finding in findings)
        print(f"{len(errors)} error{'s'[: len(errors) != 1]}, {warnings} warning{'s'[: warnings != 1]}")
    return not errors


def _ledger(bundle: Bundle) -> Ledger:
    return Ledger(bundle.ledger, bundle.lot.name, bundle.machine, bundle.redactor().text)


def _say(text: str) -> None:
    fresh = "\r\x1b[K" if sys.stdout.isatty() else ""
    print(f"{fresh}{datetime.now():%Y-%m-%d %H:%M:%S} {text}", flush=True)


COMMANDS: dict[str, Callable[[Arguments], int]] = {
    "run": run,
    "preflight": preflight_,
    "rehearse": rehearse_,
    "status": status_,
    "logs": logs,
    "decide": decide,
    "record": record_,
    "skip": skip,
    "stop": stop,
    "pack": pack,
    "ledger": ledger,
    "exec": exec_,
    "_launch": launch,
    "_do": do,
    "_mirror": mirror_,
    "_cleanup": cleanup_,
    "_rank": rank,
}
