"""What an attempt is started with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Job:
    """What an attempt runs, and with which patience (seconds).

    Attributes:
        argv: the command of each rank.
        cwd: its working folder.
        env: the environment of all ranks, complete.
        ranks: how many processes; `first_rank` and `world` differ from 0 and `ranks` on a cluster only, where `nodes`
            take part and this is the one of number `node` among them.
        proof: whether done needs `exit-RANK.json` (a command needs exit code 0 only).
        log: what they print goes there.
        log_limit: bytes after which the log is begun anew; the one before is kept as `….old`.
        folder: where `exit-RANK.json` is left.
        torchrun: whether torchrun starts the ranks.
        hang_s: without a sign of life for so long, the attempt is ended; None: never.
        grace_s: between asking an attempt to leave and killing it.
    """

    window: str
    attempt: int
    argv: tuple[str, ...]
    cwd: Path
    env: Mapping[str, str]
    log: Path
    folder: Path
    ranks: int = 1
    first_rank: int = 0
    world: int = 1
    nodes: int = 1
    node: int = 0
    master: tuple[str, int] = ("127.0.0.1", 29500)
    gpus: tuple[str, ...] | None = None
    run_id: str | None = None
    proof: bool = True
    torchrun: bool = False
    log_limit: int = 64 << 20
    hang_s: float | None = 900.0
    grace_s: float = 120.0
