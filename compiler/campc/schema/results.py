"""What comes out and what it costs: deliverable, expense, ratio, budget."""

from __future__ import annotations

from campc.schema.conditions import Condition
from campc.schema.node import Node, block
from campc.schema.types import (
    Boolean,
    ConditionType,
    FilePath,
    MoneyType,
    Reference,
    ShareOrMoney,
    Text,
    Whole,
    Word,
    attribute,
)
from campc.values.money import Money
from campc.values.quantities import Share


@block(
    "deliverable",
    example="""
deliverable predictions {
  of     = [control, variant]
  path   = "predictions.jsonl"
  kind   = predictions
  accept = rows > 0 and missing_ids == 0
}
""",
)
class Deliverable(Node):
    """Something that must come out. An existing, non-empty file is always required; with `reload`, accepted means reloaded in a new process, from
    another folder, without the training folder or temporary folders."""

    of: tuple[str, ...] = attribute(
        Reference(("run",), many=True),
        "The runs that produce it.",
        required=True,
        value=(),
        example="[control, variant]",
    )
    path: str | None = attribute(
        FilePath(inside=True),
        "The file, folder or glob, relative to the run's outputs.",
        required=True,
        example='"predictions.jsonl"',
    )
    kind: str = attribute(
        Word(("predictions", "analysis", "model", "adapter", "raw", "other")),
        "What it is.",
        default="other",
        value="other",
        example="predictions",
    )
    accept: Condition | None = attribute(
        ConditionType("file"),
        "The condition to accept it, on `bytes rows files missing_ids duplicate_ids` (counts; a size means its bytes) and the run's last metrics.",
    )
    reload: str | None = attribute(
        Text(), "The command that loads it again; `{path}` stands for the file.", example='"python reload.py {path}"'
    )
    base: str | None = attribute(
        Text(), "The exact revision of the base model.", default="its run's", example='"example/base-8b@3f9c2d1a7b60"'
    )


@block("expense", example='expense storage { amount = 8.00 USD; covers = "object storage, 30 days" }')
class Expense(Node):
    """Money beside the rental. Never added to the rental's price silently."""

    amount: Money | None = attribute(MoneyType(), "How much.", required=True, example="8.00 USD")
    covers: str | None = attribute(Text(), "What for.", required=True, example='"object storage, 30 days"')
    estimate: bool = attribute(
        Boolean(), "Whether it is an estimate; estimates count as committed.", default="true", value=True
    )


@block(
    "ratio",
    example="""
ratio per_corpus {
  cost    = rental
  per     = predictions
  expect  = 2
  if_none = "State the rental incurred and why each corpus was rejected."
}
""",
)
class Ratio(Node):
    """Cost against useful result. With nothing accepted it is undefined: never zero, never infinite."""

    cost: str | None = attribute(Word(("rental", "expenses", "total")), "Which cost.", required=True)
    per: tuple[str, ...] = attribute(
        Reference(("deliverable",), many=True),
        "The deliverables that count.",
        required=True,
        value=(),
        example="predictions",
    )
    distinct: str = attribute(
        Word(("corpus", "run")),
        "What is counted once: five reruns of one corpus are one corpus.",
        default="corpus",
        value="corpus",
    )
    expect: int | None = attribute(Whole(minimum=0), "How many are expected.")
    if_none: str | None = attribute(
        Text(),
        "What is reported when none is accepted.",
        required=True,
        example='"State the cost incurred and why each was rejected."',
    )


@block("budget", name="none", once=True, example="budget { limit = 100 USD; alert = 80% }")
class Budget(Node):
    """What may be spent."""

    limit: Money | None = attribute(MoneyType(), "The most that may be committed.", required=True)
    alert: Share | Money | None = attribute(ShareOrMoney(), "When to warn: a share of the limit, or an amount.")
