"""What an attempt knows from outside: environment variables and campaign.json, or, by hand, a local folder."""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from campc_harness.errors import Misconfigured

MODES = ("run", "rehearse")
PHASES = ("", "first", "resume", "twin")


@dataclass(frozen=True)
class Policy:
    """When checkpoints are made and how many are kept.

    Attributes:
        every_s: seconds between two, or None.
        every_steps: steps between two, or None.
        keep: newest ones that are kept.
        best_metric: metric whose best checkpoint is kept too, or None.
        best_direction: `max` or `min`.
        storage_bytes: room at the destination, where it was declared.
        outside: whether the destination is to outlive the machine.
    """

    every_s: float | None = None
    every_steps: int | None = None
    keep: int = 2
    best_metric: str | None = None
    best_direction: str = "max"
    storage_bytes: int | None = None
    outside: bool = False


@dataclass(frozen=True)
class Context:
    """One rank of one attempt. Paths are absolute; `checkpoints` may be a URL."""

    launched: bool
    run_id: str
    name: str
    window: str
    plan_hash: str
    params: Mapping[str, Any]
    seed: int
    outputs: Path
    checkpoints: str
    policy: Policy
    attempt: int = 1
    nonce: str = ""
    attempt_dir: Path | None = None
    bundle: Path | None = None
    start_from: str | None = None
    corpus: Mapping[str, Any] | None = None
    corpus_file: Path | None = None
    stops: tuple[Mapping[str, Any], ...] = ()
    watches: tuple[Mapping[str, Any], ...] = ()
    rank: int = 0
    world: int = 1
    local_rank: int = 0
    local_world: int = 1
    report_fd: int | None = None
    life_fd: int | None = None
    deadline: float | None = None
    limit_steps: int | None = None
    mode: str = "run"
    phase: str = ""
    rehearsal_steps: int = 6
    skip: frozenset[int] = field(default_factory=frozenset)

    @property
    def rehearsing(self) -> bool:
        """Whether this attempt belongs to a rehearsal."""
        return self.mode == "rehearse"


def by_hand(
    defaults: Mapping[str, Any], *, seed: int, folder: str | os.PathLike[str] | None, policy: Policy
) -> Context:
    """The context of a script that nobody launched: everything lies in `folder`.

    Without `folder` it is `campc-runs/SCRIPT-HASH` below the working directory, where the hash is that of `defaults` and
    `seed`: other parameters are another run.

    Raises:
        Misconfigured: a parameter is called by no text, or is an object that no other process has.
    """
    script = Path(sys.argv[0] or "script").stem or "script"
    for name, value in defaults.items():
        if not isinstance(name, str) or " at 0x" in repr(value):
            raise Misconfigured(
                f"defaults: {name!r} is {value!r}, which isn't the same in every process, so that nothing would be resumed; "
                "names are text, and values are numbers, text, lists and the like"
            )
    canonical = json.dumps([dict(defaults), seed], sort_keys=True, default=repr).encode()
    digest = hashlib.sha256(canonical).hexdigest()
    run_id = f"{script}-{digest[:8]}"
    home = Path(folder) if folder is not None else Path("campc-runs") / run_id
    home = home.resolve()
    return Context(
        launched=False,
        run_id=run_id,
        name=script,
        window="by-hand",
        plan_hash=digest,
        params=dict(defaults),
        seed=seed,
        outputs=home / "outputs",
        checkpoints=str(home / "checkpoints"),
        policy=policy,
        attempt_dir=home,
        **_ranks(os.environ),
    )


def launched(environ: Mapping[str, str], defaults: Mapping[str, Any]) -> Context:
    """The context that a supervisor describes, as docs/bundle-format.md says.

    Raises:
        Misconfigured: a variable or an entry of campaign.json is missing or isn't what it should be.
    """
    bundle = Path(_required(environ, "CAMPC_BUNDLE"))
    campaign = _campaign(bundle)
    name, run_id = _required(environ, "CAMPC_RUN"), _required(environ, "CAMPC_RUN_ID")
    run = _entry(campaign, "runs", name)
    if run_id not in [entry["id"] for entry in run["ids"]]:
        known = ", ".join(entry["id"] for entry in run["ids"])
        raise Misconfigured(f"CAMPC_RUN_ID is {run_id!r}; run {name!r} of this plan has {known}")
    mode, phase = environ.get("CAMPC_MODE", "run") or "run", environ.get("CAMPC_PHASE", "")
    if mode not in MODES or phase not in PHASES:
        raise Misconfigured(f"CAMPC_MODE {mode!r} with CAMPC_PHASE {phase!r} is none of {MODES} with {PHASES}")
    corpus = _entry(campaign, "corpora", run["corpus"]) if run.get("corpus") else None
    attempt_dir = environ.get("CAMPC_ATTEMPT_DIR")
    seed = environ.get("CAMPC_SEED", "")
    return Context(
        launched=True,
        run_id=run_id,
        name=name,
        window=_required(environ, "CAMPC_WINDOW"),
        plan_hash=str(campaign.get("plan_hash", "")),
        params={**defaults, **(run.get("params") or {})},
        seed=_integer(environ, "CAMPC_SEED") or 0 if seed else 0,
        outputs=Path(_required(environ, "CAMPC_OUTPUTS")),
        checkpoints=_required(environ, "CAMPC_CHECKPOINTS"),
        policy=_policy(run.get("checkpoint")),
        attempt=_integer(environ, "CAMPC_ATTEMPT") or 1,
        nonce=environ.get("CAMPC_NONCE", ""),
        attempt_dir=Path(attempt_dir) if attempt_dir else None,
        bundle=bundle,
        start_from=environ.get("CAMPC_FROM") or None,
        corpus=corpus,
        corpus_file=Path(environ["CAMPC_CORPUS"]) if environ.get("CAMPC_CORPUS") else None,
        stops=_rules(campaign, "stops", name),
        watches=_rules(campaign, "watches", name),
        report_fd=_integer(environ, "CAMPC_REPORT_FD"),
        life_fd=_integer(environ, "CAMPC_LIFE_FD"),
        deadline=_float(environ, "CAMPC_DEADLINE"),
        limit_steps=_integer(environ, "CAMPC_LIMIT_STEPS"),
        mode=mode,
        phase=phase,
        rehearsal_steps=_integer(environ, "CAMPC_REHEARSAL_STEPS") or 6,
        skip=_skip(environ),
        **_ranks(environ),
    )


def corpus_path(context: Context) -> Path | None:
    """Where the corpus lies: below the bundle's `work/`, else as the path stands; in a rehearsal its sample, if any."""
    if context.corpus is None:
        return None
    if context.corpus_file is not None:
        return context.corpus_file
    stated = str(context.corpus["path"])
    if context.rehearsing and context.corpus.get("sample"):
        stated = str(context.corpus["sample"])
    if context.bundle is not None and (context.bundle / "work" / stated).exists():
        return context.bundle / "work" / stated
    return Path(stated)


def _campaign(bundle: Path) -> dict[str, Any]:
    path = bundle / "campaign.json"
    try:
        raw = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise Misconfigured(f"can't read campaign.json in CAMPC_BUNDLE: {error.strerror}") from error
    except ValueError as error:
        raise Misconfigured(f"campaign.json isn't JSON: {error}") from error
    if not isinstance(raw, dict) or raw.get("schema") != 1:
        raise Misconfigured("campaign.json is not of schema 1, the one that this harness reads")
    return raw


def _entry(campaign: Mapping[str, Any], section: str, name: str) -> Mapping[str, Any]:
    for entry in campaign.get(section) or ():
        if entry["name"] == name:
            found: Mapping[str, Any] = entry
            return found
    raise Misconfigured(f"campaign.json has no {name!r} in {section}")


def _rules(campaign: Mapping[str, Any], section: str, run: str) -> tuple[Mapping[str, Any], ...]:
    return tuple(rule for rule in campaign.get(section) or () if not rule.get("runs") or run in rule["runs"])


def _policy(checkpoint: Mapping[str, Any] | None) -> Policy:
    if checkpoint is None:
        return Policy(every_s=600.0)
    best = checkpoint.get("keep_best") or {}
    return Policy(
        every_s=checkpoint.get("every_s") if checkpoint.get("every_steps") is None else None,
        every_steps=checkpoint.get("every_steps"),
        keep=int(checkpoint.get("keep") or 2),
        best_metric=best.get("metric"),
        best_direction=best.get("direction") or "max",
        storage_bytes=checkpoint.get("storage_bytes"),
        outside=bool(checkpoint.get("outside")),
    )


def _ranks(environ: Mapping[str, str]) -> dict[str, Any]:
    return {
        "rank": _integer(environ, "RANK") or 0,
        "world": _integer(environ, "WORLD_SIZE") or 1,
        "local_rank": _integer(environ, "LOCAL_RANK") or 0,
        "local_world": _integer(environ, "LOCAL_WORLD_SIZE") or 1,
    }


def _required(environ: Mapping[str, str], name: str) -> str:
    value = environ.get(name, "")
    if not value:
        raise Misconfigured(f"the environment variable {name} is not set")
    return value


def _integer(environ: Mapping[str, str], name: str) -> int | None:
    value = environ.get(name, "")
    try:
        return int(value) if value else None
    except ValueError:
        raise Misconfigured(f"the environment variable {name} must be a whole number, not {value!r}") from None


def _float(environ: Mapping[str, str], name: str) -> float | None:
    value = environ.get(name, "")
    try:
        return float(value) if value else None
    except ValueError:
        raise Misconfigured(f"the environment variable {name} must be a number, not {value!r}") from None


def _skip(environ: Mapping[str, str]) -> frozenset[int]:
    value = environ.get("CAMPC_SKIP_CHECKPOINTS", "")
    try:
        return frozenset(int(step) for step in value.split(",") if step.strip())
    except ValueError:
        raise Misconfigured(f"CAMPC_SKIP_CHECKPOINTS must be steps with commas between, not {value!r}") from None
