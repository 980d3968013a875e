"""``slurm/LOT.sbatch``: a lot as a batch job that saves, is requeued and goes on when the site wants its machine back."""

from __future__ import annotations

import re
import shlex
from fractions import Fraction
from math import ceil

from campc.emit.lots import LotTerms, terms
from campc.emit.render import render
from campc.schedule.plan import Plan

_HOURS_A_RESTART = 4
_FEWEST_RESTARTS = 20
_LARGEST_NOTICE_S = 65535
"""What ``--signal`` takes at most."""


def slurm(plan: Plan) -> dict[str, bytes]:
    """One batch file a lot, by its path in the bundle."""
    return {f"slurm/{name}.sbatch": _batch_file(plan, terms(plan, name)) for name in plan.spec.lots}


def _batch_file(plan: Plan, lot: LotTerms) -> bytes:
    return render(
        "slurm.sbatch.j2",
        options=_options(plan, lot),
        lot=shlex.quote(lot.name),
        file=shlex.quote(f"slurm/{lot.name}.sbatch"),
        most=_restarts(lot),
        nodes=lot.nodes,
    )


def _options(plan: Plan, lot: LotTerms) -> list[str]:
    options = [
        f"--job-name={_word(plan.spec.campaign.name)}-{_word(lot.name)}",
        f"--nodes={lot.nodes}",
        "--ntasks-per-node=1",
        f"--gres=gpu:{lot.gpus_a_node}",
    ]
    if lot.memory is not None:
        options.append(f"--mem={ceil(lot.memory / 2**20)}M")
    if lot.length > 0:
        options.append(f"--time={_time(lot.length)}")
    return [
        *options,
        f"--signal=B:USR1@{min(ceil(lot.notice), _LARGEST_NOTICE_S)}",
        "--requeue",
        "--open-mode=append",
        "--output=slurm-%x.out",
    ]


def _restarts(lot: LotTerms) -> int:
    """How often a lot is started again at most: a cap, so that a site and a run that never agree end."""
    expected = 0 if lot.interruptions is None else ceil(3 * lot.interruptions * lot.length)
    return max(_FEWEST_RESTARTS, ceil(lot.length / (_HOURS_A_RESTART * 3600)), expected)


def _time(seconds: Fraction) -> str:
    """``days-hours:minutes:seconds``; Slurm counts whole minutes, so it is rounded up to one."""
    minutes = ceil(seconds / 60)
    return f"{minutes // 1440}-{minutes % 1440 // 60:02d}:{minutes % 60:02d}:00"


def _word(name: str) -> str:
    """A name as sbatch's options and file name patterns take it literally."""
    return re.sub(r"[^A-Za-z0-9_.-]", "_", name)
