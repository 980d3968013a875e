"""Rules fixed before the trials: stop, watch, gate."""

from __future__ import annotations

from fractions import Fraction

from campc.records import frozen
from campc.schema.conditions import Condition
from campc.schema.node import Node, block
from campc.schema.types import (
    ConditionType,
    DurationOrCount,
    DurationOrSteps,
    DurationType,
    Reference,
    Text,
    Word,
    attribute,
)
from campc.values.quantities import Duration, Steps


@block("stop", example='stop nan { when = loss is not finite; because = "the run has diverged" }')
class Stop(Node):
    """A rule that ends a run."""

    when: Condition | None = attribute(
        ConditionType("run"),
        "The condition, on metrics, `best.METRIC`, and built-ins of the running run.",
        required=True,
    )
    from_: Steps | Duration | None = attribute(
        DurationOrSteps(), "Steps or time before it applies.", name="from", example="1000 steps"
    )
    for_: int | Duration = attribute(
        DurationOrCount(),
        "How many observations in a row, or for how long.",
        name="for",
        default="1",
        value=1,
        example="3",
    )
    runs: tuple[str, ...] = attribute(
        Reference(("run",), many=True), "The runs that it applies to.", default="all", value=(), example="[control]"
    )
    because: str | None = attribute(
        Text(), "The reason that stands in the ledger.", required=True, example='"the run has diverged"'
    )


@block("watch", example="watch slow { when = gpu_utilisation < 50%; for = 10min }")
class Watch(Node):
    """A rule that warns."""

    when: Condition | None = attribute(
        ConditionType("run"), "The condition, as for `stop`.", required=True, example="gpu_utilisation < 50%"
    )
    from_: Steps | Duration | None = attribute(
        DurationOrSteps(), "Steps or time before it applies.", name="from", example="10min"
    )
    for_: int | Duration = attribute(
        DurationOrCount(),
        "How many observations in a row, or for how long.",
        name="for",
        default="1",
        value=1,
        example="10min",
    )
    runs: tuple[str, ...] = attribute(
        Reference(("run",), many=True), "The runs that it applies to.", default="all", value=(), example="[control]"
    )
    because: str | None = attribute(Text(), "The reason that stands in the ledger.")


@frozen
class Drops:
    """What a gate gives up: tiers and windows."""

    tiers: tuple[str, ...] = ()
    windows: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.tiers or self.windows)


@block(
    "gate",
    example="""
gate promising {
  after     = pilot
  when      = control.eval.accuracy >= 0.5
  otherwise = reduce
  drops     = exploratory
}
""",
)
class Gate(Node):
    """A decision point. It takes no time; every window that comes after its `after`, directly or not, waits for it. What follows a dropped window
    goes on without it where its `after` has others left, else is dropped too."""

    after: str | None = attribute(
        Reference(("window",)), "The window that it stands behind.", required=True, example="pilot"
    )
    question: str | None = attribute(Text(), "What is to be decided.")
    when: Condition | None = attribute(
        ConditionType("results"), "The condition to go on.", required=True, example="control.eval.accuracy >= 0.5"
    )
    otherwise: str | None = attribute(
        Word(("reduce", "revisit", "stop")), "What is done where it does not hold.", required=True
    )
    drops: Drops = attribute(
        Reference(("tier", "window"), many=True),
        "Tiers or windows that `reduce` gives up.",
        value=Drops(),
        example="[exploratory]",
    )
    enough: Condition | None = attribute(
        ConditionType("results"),
        "The condition under which the question is answered already: conclude early.",
        example="control.eval.accuracy >= 0.99",
    )
    wait: Duration = attribute(
        DurationType(),
        "How long the lot waits for people where the metrics don't decide.",
        default="1h",
        value=Duration(Fraction(3600)),
    )
    if_silent: str = attribute(
        Word(("continue", "reduce", "stop")), "What is done where nobody answers.", default="reduce", value="reduce"
    )
