"""The work: tier, window, run, checkpoint."""

from __future__ import annotations

from collections.abc import Mapping

from campc.records import field, frozen
from campc.schema.node import Node, block
from campc.schema.types import (
    Arguments,
    Boolean,
    ClockOrOffset,
    DurationOrSteps,
    DurationType,
    FilePath,
    Gpus,
    Metric,
    Metrics,
    Reference,
    ShareType,
    SizeType,
    StepsType,
    Text,
    TextValues,
    Values,
    Whole,
    WholeNumbers,
    Word,
    attribute,
)
from campc.values.instants import Instant
from campc.values.quantities import Duration, Offset, Range, Share, Size, Steps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


TIERS = ("essential", "useful", "exploratory")
WINDOW_KINDS = (
    "prepare", "setup", "stage", "data_check", "pilot", "train", "rerun", "infer", "evaluate", "transfer", "retrieve", "review", "other",
)  # fmt: skip
GPU_KINDS = ("pilot", "train", "rerun")
BRING_HOME_KINDS = ("retrieve", "transfer")


@frozen
class GpuSet:
    """GPUs of a lot: ``low`` to ``high``, both included; all of them where these are None."""

    lot: str
    low: int | None = None
    high: int | None = None

    def __str__(self) -> str:
        if self.low is None:
            return self.lot
        return f"{self.lot}[{self.low}]" if self.low == self.high else f"{self.lot}[{self.low}..{self.high}]"


@block(
    "tier",
    name="word",
    example="tier essential {\n  window control { kind = train; on = box; takes = 10h; run = control }\n}",
)
class Tier(Node):
    """Windows in order of worth: `essential`, `useful` or `exploratory`, each at most once. A window may not come after one of a lower tier."""


@block(
    "window",
    inside=("tier",),
    example="window control { kind = train; on = box; takes = 8h .. 10h .. 14h; after = pilot; run = control }",
)
class Window(Node):
    """One row of the schedule."""

    tier: str = field(default="essential")
    order: int = field(default=0)
    """Its place among the windows of the file."""
    kind: str | None = attribute(
        Word(WINDOW_KINDS),
        "What sort of work it is; `pilot`, `train` and `rerun` need `on` and `run`.",
        required=True,
        example="train",
    )
    takes: Range[Duration] | None = attribute(
        DurationType(ranged=True),
        "How long it takes, write, transfer and restore time included; a range is low .. likely .. high, and of two the likely one is the mean.",
        required=True,
        example="8h .. 10h .. 14h",
    )
    basis: str | None = attribute(
        Text(),
        "What the time rests on; without it, the plan calls it assumed.",
        example='"measured 2026-11-20, same GPU"',
    )
    on: GpuSet | None = attribute(
        Gpus(), "The lot or GPUs that it occupies; without it, it is people's time and occupies none.", example="box"
    )
    after: tuple[str, ...] = attribute(
        Reference(("window",), many=True),
        "The windows that must have ended before it starts.",
        value=(),
        example="[setup, check]",
    )
    starts: Instant | Offset | None = attribute(
        ClockOrOffset(),
        "Where it must stand; an offset counts from its lot's start, or from the campaign's where it is on none.",
    )
    last: bool = attribute(
        Boolean(),
        "After every other window on its lot, whichever tiers run; its time is always kept for it.",
        default="false",
        value=False,
    )
    run: str | None = attribute(
        Reference(("run",)), "The run that it executes; required for `pilot`, `train` and `rerun`."
    )
    limit: Steps | None = attribute(StepsType(), "How many steps a pilot makes.")
    tolerance: Share | None = attribute(
        ShareType(), "How far a rerun's last metrics may lie from the first's.", default="0%", example="2%"
    )
    to: str | None = attribute(Text(), "Where a `transfer` or `retrieve` puts the results.", example='"s3://lab/rank"')
    command: str | None = attribute(
        Text(),
        "What the launcher runs, for the kinds without a run on a lot. Without one, `data_check` verifies the corpora, `retrieve` packs and copies to "
        "`to`, and the rest is only recorded as done by hand.",
        example='"bash setup.sh"',
    )


@block(
    "checkpoint",
    name="none",
    inside=("", "run"),
    once=True,
    example="""
checkpoint {
  every    = 20min
  to       = "s3://lab/checkpoints"
  keep     = 2
  size     = 60GB
  write    = 2min
  restore  = 3min
  may_lose = 30min
}
""",
)
class Checkpoint(Node):
    """The policy of recovery points: at top level for all runs; inside a run, instead of that one, for it and its variants."""

    every: Duration | Steps | None = attribute(
        DurationOrSteps(), "How often a checkpoint is written.", required=True, example="20min"
    )
    to: str | None = attribute(
        Text(), "Path or URL that they are written to.", required=True, example='"s3://lab/checkpoints"'
    )
    keep: int = attribute(Whole(), "How many of the newest ones are kept.", default="2", value=2)
    keep_best: str | None = attribute(Metric(), "The metric whose best checkpoint is kept as well.")
    size: Size | None = attribute(SizeType(), "How large one is.", example="60GB")
    write: Duration | None = attribute(DurationType(), "The observed time of one write.", example="2min")
    restore: Duration | None = attribute(DurationType(zero=True), "The observed time to restore one.", example="3min")
    may_lose: Duration | None = attribute(DurationType(), "How much work may be lost.", example="30min")
    outside: bool | None = attribute(
        Boolean(), "Whether `to` survives the machine.", default='true for a URL such as "s3://…", else false'
    )
    storage: Size | None = attribute(SizeType(), "How much room `to` has.", example="1TB")

    @property
    def is_outside(self) -> bool:
        """Whether the checkpoints survive the machine, by declaration or by being at a URL."""
        if self.outside is not None:
            return self.outside
        return self.to is not None and "://" in self.to and not self.to.startswith("file://")


@block(
    "run",
    example="""
run control {
  script  = "train.py"
  params  = { rank = 8, lr = 2e-4 }
  metrics = [loss, eval.accuracy]
}
""",
)
class Run(Node):
    """One configuration with one identifier: `NAME-` (`NAME-SEED-` where it has seeds) and 8 hexadecimal digits of the SHA-256 of its canonical
    configuration. A correction gets a new one."""

    script: str | None = attribute(
        FilePath(),
        "The training script, relative to the file; a variant inherits it.",
        required=True,
        example='"train.py"',
    )
    args: tuple[Any, ...] = attribute(Arguments(), "Arguments of the script.", value=(), example='["--fast"]')
    env: Mapping[str, str] = attribute(TextValues(), "Environment variables of the run.", value={})
    params: Mapping[str, Any] = attribute(Values(), "The parameters that the script reads.", value={})
    seed: int | None = attribute(
        Whole(minimum=0), "The seed of every random choice; for several, `seeds` instead.", example="1"
    )
    seeds: tuple[int, ...] = attribute(
        WholeNumbers(), "Several seeds: one run after another in one window, whose `takes` covers all.", value=()
    )
    corpus: str | None = attribute(Reference(("corpus",)), "The corpus that it reads.")
    steps: Steps | None = attribute(StepsType(), "How many steps it makes.", example="2000 steps")
    variant_of: str | None = attribute(
        Reference(("run",)),
        "The run that it is compared with and inherits from: all but `because`, `role` and `change`; its own `checkpoint` too.",
    )
    change: Mapping[str, Any] = attribute(
        Values(), "What it changes of the inherited `params`.", value={}, example="{ rank = 16 }"
    )
    because: str | None = attribute(Text(), "Why the variant is tried.", example='"isolates the rank"')
    role: str | None = attribute(
        Word(("control", "variant")), "What it is in the comparison.", default="control unless `variant_of`"
    )
    from_: str | None = attribute(Reference(("run",)), "A run whose last checkpoint it starts from.", name="from")
    recover: str = attribute(
        Word(("resume", "rerun")),
        "Whether it goes on from its checkpoint after an interruption, or from the start.",
        default="resume",
        value="resume",
    )
    memory: Size | None = attribute(SizeType(), "The peak of memory of one GPU.", example="20GB")
    gpus: int = attribute(Whole(), "How many GPUs it uses.", default="1", value=1)
    processes: int | None = attribute(Whole(), "How many processes it has.", default="one a GPU")
    metrics: tuple[str, ...] = attribute(
        Metrics(),
        "The names of the metrics that it reports; none listed means unknown. Words of conditions, such as `missing` and `nan`, name none.",
        value=(),
    )
    kind: str = attribute(Word(("full", "adapter", "inference")), "What it produces.", default="full", value="full")
    base: str | None = attribute(
        Text(), "The exact revision of the base model.", example='"example/base-8b@3f9c2d1a7b60"'
    )
    checkpoint: Checkpoint | None = field(default=None)
    """Its own, its parent's, or the file's policy."""

    @property
    def is_control(self) -> bool:
        """Whether it is what variants are compared with."""
        return self.role == "control" if self.role is not None else self.variant_of is None

    @property
    def ranks(self) -> int:
        """How many processes it has."""
        return self.processes if self.processes is not None else self.gpus
