"""What a window's attempts are started with: command, folders, environment."""

from __future__ import annotations

import os
import shutil
import socket
from collections.abc import Sequence
from pathlib import Path

from campc_harness.agenda import runs_script
from campc_harness.bundle import Bundle, python, setting
from campc_harness.crew import cluster
from campc_harness.job import Job
from campc_harness.plan import Identity, RunPlan, Window

_FLUSH_S = 120.0


def grace(bundle: Bundle, write_s: float | None = None) -> float:
    """Seconds between asking an attempt to leave and killing it: the notice, where the vendor gives one."""
    notice = bundle.lot.package.notice_s
    patience = max(_FLUSH_S, 3 * write_s + 60) if write_s else _FLUSH_S
    if bundle.lot.package.interruptible and notice:
        patience = min(patience, max(5.0, notice - 5.0))
    return setting("CAMPC_GRACE_S", patience)


def run_job(
    bundle: Bundle,
    window: Window,
    run: RunPlan,
    identity: Identity,
    attempt: int,
    *,
    deadline: float | None,
    skip: Sequence[int] = (),
    mode: str = "run",
    phase: str = "",
    write_s: float | None = None,
    outputs: Path | None = None,
    checkpoints: str | None = None,
    log: Path | None = None,
    folder: Path | None = None,
    master: tuple[str, int] | None = None,
    corpus: Path | None = None,
) -> Job:
    """An attempt of a run: this node's share of it.

    Args:
        deadline: Unix time at which it must have flushed and left, or None.
        skip: checkpoints to pass over.
        mode, phase: see the environment variables of the same names.
        outputs, checkpoints, log, folder: instead of the window's own (a rehearsal has its own).
        corpus: what a rehearsal reads instead of the run's corpus or its sample.
        master: where rank 0 listens for the others; a free port of this machine where it is None.
    """
    # A rehearsal is one machine's affair: it has that machine's share of the ranks.
    of = shares(bundle, window) if mode == "run" else {0: rehearsal_ranks(bundle, window)}
    node = cluster().rank if mode == "run" else 0
    final = bundle.outputs(identity.id, window)
    environment = {
        **bundle.environment(),
        **{str(key): _plain(value) for key, value in run.env.items()},
        "CAMPC_RUN": run.name,
        "CAMPC_SEED": "" if identity.seed is None else str(identity.seed),
        "CAMPC_OUTPUTS": str(outputs or final.with_name("outputs.partial")),
        "CAMPC_CHECKPOINTS": checkpoints or bundle.checkpoints(run, identity.id, window.name),
        "CAMPC_FROM": _from(bundle, run, identity),
        "CAMPC_DEADLINE": "" if deadline is None else f"{deadline:.3f}",
        "CAMPC_LIMIT_STEPS": "" if window.limit_steps is None else str(window.limit_steps),
        "CAMPC_MODE": mode,
        "CAMPC_PHASE": phase,
        "CAMPC_CORPUS": "" if corpus is None else str(corpus),
        "CAMPC_SKIP_CHECKPOINTS": ",".join(map(str, skip)),
    }
    visible = _visible(bundle, window, node if mode == "run" else None)
    if visible is not None:
        environment["CUDA_VISIBLE_DEVICES"] = visible
    if run.ranks > 1:
        environment.setdefault("OMP_NUM_THREADS", "1")
    return Job(
        window=window.name,
        run_id=identity.id,
        attempt=attempt,
        argv=(*_interpreter(run.script), str(bundle.root / run.script), *run.args),
        cwd=bundle.work if bundle.work.is_dir() else bundle.root,
        env=environment,
        log=log or bundle.log(window.name, attempt),
        folder=folder or bundle.attempt_folder(window.name, attempt),
        ranks=of[node],
        first_rank=sum(ranks for other, ranks in of.items() if other < node),
        world=sum(of.values()),
        nodes=len(of),
        node=list(of).index(node),
        torchrun=os.environ.get("CAMPC_LAUNCHER") == "torchrun" and mode == "run" and not run.script.endswith(".sh"),
        master=master or ("127.0.0.1", _free_port()),
        hang_s=setting("CAMPC_HANG_S", 900.0),
        grace_s=grace(bundle, write_s),
    )


def shares(bundle: Bundle, window: Window, nodes: int | None = None) -> dict[int, int]:
    """How many processes of a window each node of its lot has, nodes without any left out.

    A run's ranks are dealt by the GPUs that the window holds on each node. A command is one process, on the first of
    these; what the launcher does itself is done on node 0.

    Args:
        nodes: how many machines take part, where it isn't said by the environment.
    """
    nodes, package = nodes or cluster().nodes, bundle.lot.package
    each = max(1, package.gpus // nodes)
    trains = runs_script(bundle.plan, window)
    if nodes == 1 or not (trains or window.command):
        return {0: max(1, bundle.plan.run(window.run or "").ranks) if trains else 1}
    held = window.gpus or range(max(package.gpus, nodes))
    counts = [sum(min(gpu // each, nodes - 1) == node for gpu in held) for node in range(nodes)]
    if not trains:
        return {next(node for node in range(nodes) if counts[node]): 1}
    ranks = max(1, bundle.plan.run(window.run or "").ranks)
    upto = [-(-ranks * sum(counts[: node + 1]) // sum(counts)) for node in range(nodes)]
    dealt = {node: upto[node] - (upto[node - 1] if node else 0) for node in range(nodes)}
    return {node: count for node, count in dealt.items() if count}


def spans_nodes(bundle: Bundle, window: Window) -> bool:
    """Whether a window holds GPUs of more than one machine of its lot."""
    package = bundle.lot.package
    each = max(1, package.gpus // max(1, package.nodes))
    return package.nodes > 1 and (not window.gpus or len({gpu // each for gpu in window.gpus}) > 1)


def rehearsal_ranks(bundle: Bundle, window: Window) -> int:
    """How many ranks of a window's run one machine of the lot has, at most."""
    return max(shares(bundle, window, bundle.lot.package.nodes).values())


def command_job(bundle: Bundle, window: Window, run_id: str | None, attempt: int) -> Job:
    """An attempt of a window's command, or of what the launcher itself does for a window without one."""
    if window.command:
        argv: tuple[str, ...] = (shutil.which("bash") or "/bin/sh", "-c", window.command)
    else:
        argv = (python(), "-m", "campc_harness", "_do", window.name, "--lot", bundle.lot.name)
    outputs = bundle.outputs(run_id, window) if run_id else bundle.root / "runs" / window.name / "outputs"
    if window.command and not run_id:
        outputs.mkdir(parents=True, exist_ok=True)
    environment = {**bundle.environment(), "CAMPC_OUTPUTS": str(outputs), "CAMPC_RUN": window.run or ""}
    visible = _visible(bundle, window, cluster().rank)
    if visible is not None:
        environment["CUDA_VISIBLE_DEVICES"] = visible
    return Job(
        window=window.name,
        run_id=run_id,
        attempt=attempt,
        argv=argv,
        cwd=bundle.root,
        env=environment,
        log=bundle.log(window.name, attempt),
        folder=bundle.attempt_folder(window.name, attempt),
        proof=False,
        hang_s=None,
        grace_s=setting("CAMPC_GRACE_S", 20.0),
    )


def _interpreter(script: str) -> tuple[str, ...]:
    """What runs a script: bash for `.sh`, else this Python."""
    return (shutil.which("bash") or "/bin/sh",) if script.endswith(".sh") else (python(),)


def _from(bundle: Bundle, run: RunPlan, identity: Identity) -> str:
    """Checkpoints of the run that this one starts from: those of its train window, of the same seed where it has it."""
    if not run.from_:
        return ""
    source = bundle.plan.run(run.from_)
    windows = [window for window in bundle.plan.windows if window.run == source.name]
    windows.sort(key=lambda window: (window.kind != "train", window.kind == "pilot"))
    same = [item for item in source.ids if item.seed == identity.seed] or list(source.ids)
    if not windows or not same:
        return ""
    return bundle.checkpoints(source, same[0].id, windows[0].name)


def _visible(bundle: Bundle, window: Window, node: int | None) -> str | None:
    """The window's GPUs of a node, or as many on whichever it is, as the driver counts them; None: that needs no saying."""
    if bundle.cpu:
        return ""
    if not window.gpus:
        return None
    package, nodes = bundle.lot.package, cluster().nodes
    if node is None:
        each = max(1, package.gpus // max(1, package.nodes))
        local = sorted({gpu % each for gpu in window.gpus})
    else:
        each = max(1, package.gpus // nodes)
        local = [gpu - node * each for gpu in window.gpus if node * each <= gpu < (node + 1) * each]
    outer = [item for item in os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",") if item]
    return ",".join(outer[gpu] if gpu < len(outer) else str(gpu) for gpu in local)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _plain(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)
