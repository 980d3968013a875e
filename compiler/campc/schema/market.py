"""What is bought: package and lot."""

from __future__ import annotations

from fractions import Fraction

from campc.schema.node import Node, block
from campc.schema.types import (
    Boolean,
    ClockOrOffset,
    ClockType,
    DurationType,
    EventRateType,
    PriceType,
    Reference,
    SizeType,
    Text,
    Whole,
    Word,
    attribute,
)
from campc.values.instants import Instant
from campc.values.money import Money, MoneyRate
from campc.values.quantities import Duration, EventRate, Offset, Size


@block(
    "package",
    example="""
package rtx4090_3d {
  vendor   = "IteraGPU"
  gpu      = "RTX 4090"
  memory   = 24GB
  duration = 3d
  price    = 47.14 USD
  source   = "catalog"
}
""",
)
class Package(Node):
    """What a vendor sells: either a period at one price, or time by the hour."""

    gpu: str | None = attribute(Text(), "The model of GPU.", required=True, example='"RTX 4090"')
    gpus: int = attribute(Whole(), "How many GPUs one lot has.", default="1", value=1, example="8")
    nodes: int = attribute(Whole(), "How many machines they sit in.", default="1", value=1, example="1")
    memory: Size | None = attribute(SizeType(), "Memory of one GPU.")
    price: Money | MoneyRate | None = attribute(
        PriceType(),
        "Money: the lot's price for its whole `duration`, never multiplied by `gpus` and never shown per hour. Or money per time, for a lot billed "
        "by time: it costs its reserved time rounded up to `increment`, has no usable end unless the lot has `ends`, and leaves no tail.",
        required=True,
    )
    duration: Duration | None = attribute(
        DurationType(), "How long the period is. Required where the price is for a period.", example="3d"
    )
    increment: Duration = attribute(
        DurationType(), "What billed time is rounded up to.", default="1s", value=Duration(Fraction(1)), example="1h"
    )
    minimum: Duration | None = attribute(DurationType(), "The shortest time that is billed.", example="1h")
    vendor: str | None = attribute(Text(), "Who sells it.", example='"IteraGPU"')
    region: str | None = attribute(Text(), "Where the machine stands.", example='"eu-west"')
    disk: Size | None = attribute(SizeType(), "Room on the machine's disk.", example="500GB")
    interruptible: bool = attribute(
        Boolean(), "Whether the vendor may take the machine away.", default="false", value=False
    )
    interruptions: EventRate | None = attribute(EventRateType(), "How often that happens.")
    notice: Duration | None = attribute(
        DurationType(zero=True), "Time between the warning and the kill.", example="2min"
    )
    ends_early: Duration = attribute(
        DurationType(zero=True),
        "How long before the end the machine is taken.",
        default="0s",
        value=Duration(Fraction(0)),
        example="30min",
    )
    tax: str = attribute(
        Word(("included", "excluded", "unknown")),
        "Whether the price includes tax; undeclared tax isn't computed.",
        default="unknown",
        value="unknown",
    )
    source: str | None = attribute(Text(), "Where and when the price was read.", example='"catalog, 2026-11-20"')


@block("lot", example="lot box { package = rtx4090_3d; starts = 2026-12-01 09:00; keep_free = 6h }")
class Lot(Node):
    """One package bought: one machine, or one cluster of `nodes`. Two lots are two machines: they do not merge their memories, and they do not
    shorten a run. A lot with a price is spent when it begins."""

    package: str | None = attribute(Reference(("package",)), "The package that is bought.", required=True)
    starts: Instant | Offset | None = attribute(
        ClockOrOffset(),
        "When it begins; an offset counts from the campaign's start.",
        default="the campaign's start",
        example="2026-12-01 09:00",
    )
    ends: Instant | None = attribute(
        ClockType(),
        "When it ends, where the vendor fixes that.",
        default="start + the package's duration",
        example="2026-12-04 11:30",
    )
    order: str | None = attribute(Text(), "The order's reference.", example='"A-2291"')
    keep_free: Duration = attribute(
        DurationType(zero=True),
        "Time to leave uncommitted before the usable end.",
        default="0s",
        value=Duration(Fraction(0)),
        example="6h",
    )
