"""`campaign.json` as typed, frozen values: the checked plan that a bundle carries.

Standard library only. What the compiler left unknown is None here, never zero; unknown fields are passed over, so that
a newer compiler may add one, but another `schema` number is refused.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from campc_harness.decoding import PlanError as PlanError
from campc_harness.decoding import decode

SCHEMA = 1
_Thing = TypeVar("_Thing", "Lot", "Window", "RunPlan", "Gate")
Tree = Mapping[str, Any]


@dataclass(frozen=True)
class Money:
    """An amount as decimal text, with its ISO 4217 currency."""

    amount: str
    currency: str


@dataclass(frozen=True)
class About:
    """The campaign block. `start` and `deadline` are ISO 8601, or None where the plan is relative."""

    name: str
    question: str
    decision: str
    if_negative: str | None = None
    owner: str | None = None
    timezone: str = "UTC"
    currency: str | None = None
    deadline: str | None = None
    start: str | None = None
    secrets: tuple[str, ...] = ()
    requirements: str | None = None
    image: str | None = None
    files: tuple[str, ...] = ()


@dataclass(frozen=True)
class Package:
    """What the vendor sold. Memory and disk in bytes, times in seconds."""

    name: str
    gpu: str
    gpus: int = 1
    nodes: int = 1
    vendor: str | None = None
    memory_bytes: int | None = None
    price: Money | None = None
    rate: Tree | None = None
    duration_s: float | None = None
    region: str | None = None
    disk_bytes: int | None = None
    interruptible: bool = False
    interruptions_per_s: float | None = None
    notice_s: float | None = None
    ends_early_s: float | None = None


@dataclass(frozen=True)
class Lot:
    """One machine, or one cluster. Seconds count from the campaign's start; `usable_end_s` None: it has no end."""

    name: str
    package: Package
    start_s: float = 0
    usable_end_s: float | None = None
    start: str | None = None
    usable_end: str | None = None
    keep_free_s: float | None = None
    order: str | None = None
    price: Money | None = None


@dataclass(frozen=True)
class Takes:
    """How long a window takes, in seconds: low, likely, high."""

    low_s: float
    likely_s: float
    high_s: float


@dataclass(frozen=True)
class Window:
    """One row of the schedule; `lot` None: people's time."""

    name: str
    tier: str
    kind: str
    takes: Takes
    start_s: float
    end_s: float
    lot: str | None = None
    gpus: tuple[int, ...] = ()
    after: tuple[str, ...] = ()
    last: bool = False
    run: str | None = None
    run_ids: tuple[str, ...] = ()
    limit_steps: int | None = None
    tolerance: float | None = None
    to: str | None = None
    command: str | None = None
    start: str | None = None
    end: str | None = None

    @property
    def brings_home(self) -> bool:
        """Whether it always runs: after a stopped run, a gate's stop, a deadline or a crash too."""
        return self.last or self.kind in ("retrieve", "transfer")


@dataclass(frozen=True)
class Identity:
    """One identifier of a run: `NAME-HASH` or `NAME-SEED-HASH`."""

    id: str
    seed: int | None = None
    config_sha256: str | None = None


@dataclass(frozen=True)
class Checkpoint:
    """A run's checkpoint policy; sizes in bytes, times in seconds."""

    to: str
    every_s: float | None = None
    every_steps: int | None = None
    keep: int = 2
    keep_best: Tree | None = None
    size_bytes: int | None = None
    write_s: float | None = None
    restore_s: float | None = None
    outside: bool = False
    storage_bytes: int | None = None


@dataclass(frozen=True)
class RunPlan:
    """One configuration; `script` is below the bundle, `memory_bytes` is the peak of one GPU."""

    name: str
    ids: tuple[Identity, ...]
    script: str
    args: tuple[str, ...] = ()
    env: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    params: Tree = dataclasses.field(default_factory=dict)
    corpus: str | None = None
    steps: int | None = None
    variant_of: str | None = None
    from_: str | None = None
    recover: str = "resume"
    memory_bytes: int | None = None
    gpus: int = 1
    processes: int | None = None
    metrics: tuple[str, ...] = ()
    base: str | None = None
    checkpoint: Checkpoint | None = None

    @property
    def ranks(self) -> int:
        """Processes on one machine: as declared, else one a GPU."""
        return self.processes or self.gpus or 1


@dataclass(frozen=True)
class Corpus:
    """Frozen data: `path` is looked up below `work/`, then as it stands."""

    name: str
    path: str
    sha256: str | None = None
    rows: int | None = None
    ids: str | None = None
    sample: str | None = None


@dataclass(frozen=True)
class Rule:
    """A stop or watch rule."""

    name: str
    when: Tree
    from_steps: int | None = None
    from_s: float | None = None
    for_count: int | None = None
    for_s: float | None = None
    runs: tuple[str, ...] = ()
    because: str | None = None


@dataclass(frozen=True)
class Drops:
    """What a gate's `reduce` gives up."""

    tiers: tuple[str, ...] = ()
    windows: tuple[str, ...] = ()


@dataclass(frozen=True)
class Gate:
    """A decision point after a window."""

    name: str
    after: str
    when: Tree
    otherwise: str
    question: str | None = None
    drops: Drops = dataclasses.field(default_factory=Drops)
    enough: Tree | None = None
    wait_s: float = 3600
    if_silent: str = "reduce"


@dataclass(frozen=True)
class Deliverable:
    """A file that must come out; `path` is below the run's outputs."""

    name: str
    of: tuple[str, ...]
    path: str
    kind: str | None = None
    accept: Tree | None = None
    reload: str | None = None
    base: str | None = None
    tier: str | None = None


@dataclass(frozen=True)
class Expense:
    """Something paid besides the rental."""

    name: str
    amount: Money
    covers: str | None = None
    estimate: bool = True


@dataclass(frozen=True)
class Budget:
    """The limit, and the amount at which somebody is told."""

    limit: Money
    alert: Money | None = None


@dataclass(frozen=True)
class Preflight:
    """Evidence that was given before, and whether a rehearsal is required."""

    quota: str | None = None
    capacity: str | None = None
    staged: str | None = None
    budget_alert: str | None = None
    dry_run: bool = False


@dataclass(frozen=True)
class Shutdown:
    """How the machine is given back, and how long it is held for results that could not be copied."""

    command: str
    when: str = "always"
    elsewhere: str | None = None
    hold_s: float = 7200


@dataclass(frozen=True)
class Cleanup:
    """Globs below the work or outputs folder that are deleted a while after the end."""

    paths: tuple[str, ...]
    after_s: float = 0


@dataclass(frozen=True)
class Notify:
    """A command that is run with each of these ledger events on its standard input."""

    command: str
    on: tuple[str, ...] = ("stop", "watch", "gate", "deadline", "crash", "done")


@dataclass(frozen=True, eq=False)
class Plan:
    """The whole of `campaign.json` that a rented machine needs; two are the same only if they are one object."""

    schema: int
    plan_hash: str
    campaign: About
    lots: tuple[Lot, ...] = ()
    windows: tuple[Window, ...] = ()
    runs: tuple[RunPlan, ...] = ()
    corpora: tuple[Corpus, ...] = ()
    stops: tuple[Rule, ...] = ()
    watches: tuple[Rule, ...] = ()
    gates: tuple[Gate, ...] = ()
    deliverables: tuple[Deliverable, ...] = ()
    expenses: tuple[Expense, ...] = ()
    budget: Budget | None = None
    preflight: Preflight | None = None
    shutdown: Shutdown | None = None
    cleanup: tuple[Cleanup, ...] = ()
    notify: tuple[Notify, ...] = ()
    campc: str | None = None

    def lot(self, name: str) -> Lot:
        """The lot called `name`."""
        return _named(self.lots, name, "lot")

    def window(self, name: str) -> Window:
        """The window called `name`."""
        return _named(self.windows, name, "window")

    def run(self, name: str) -> RunPlan:
        """The run called `name`."""
        return _named(self.runs, name, "run")

    def gate(self, name: str) -> Gate:
        """The gate called `name`."""
        return _named(self.gates, name, "gate")


def read_plan(bundle: Path) -> Plan:
    """Read `campaign.json` of a bundle.

    Raises:
        PlanError: it isn't there, isn't JSON, has another schema, or a field is missing or of the wrong type.
    """
    path = bundle / "campaign.json"
    try:
        tree = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise PlanError(f"campaign.json can't be read ({error.strerror}): run this inside a bundle") from error
    except (ValueError, RecursionError) as error:
        raise PlanError(f"campaign.json isn't JSON ({error}): build the bundle again") from error
    if not isinstance(tree, dict) or "schema" not in tree:
        raise PlanError("campaign.json has no `schema`: build the bundle again")
    if tree["schema"] != SCHEMA:
        raise PlanError(
            f"campaign.json has schema {tree['schema']}, this harness reads {SCHEMA}: "
            "use the campc_harness folder that was built with it"
        )
    plan: Plan = decode(Plan, tree, "")
    return plan


def _named(things: tuple[_Thing, ...], name: str, kind: str) -> _Thing:
    for thing in things:
        if thing.name == name:
            return thing
    known = ", ".join(thing.name for thing in things) or "none"
    raise PlanError(f"there is no {kind} called {name!r} (there are: {known})")
