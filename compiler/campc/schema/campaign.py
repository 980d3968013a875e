"""The question: campaign, outcome, unknown, corpus."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from campc.schema.conditions import Condition
from campc.schema.node import Node, block
from campc.schema.types import (
    ClockType,
    ConditionType,
    CurrencyType,
    DateType,
    FilePath,
    Rates,
    Reference,
    Text,
    Texts,
    Whole,
    Zone,
    attribute,
)
from campc.values.instants import Date, Instant
from campc.values.money import Money


@block(
    "campaign",
    once=True,
    example="""
campaign rank_ablation {
  question    = "Does adapter rank 16 beat rank 8 on the frozen ticket corpus?"
  decision    = "Adopt rank 16 if exact match rises by at least 1.0 point."
  if_negative = "Keep rank 8, and do not buy the 30-day package."
  timezone    = "Europe/Paris"
  currency    = USD
}
""",
)
class Campaign(Node):
    """The question that the money is spent on. One in the root file."""

    question: str | None = attribute(Text(), "What is to be settled, as one question.", required=True)
    decision: str | None = attribute(Text(), "What will be done on which result.", required=True)
    if_negative: str | None = attribute(Text(), "What a negative result concludes.")
    owner: str | None = attribute(Text(), "Who answers for the campaign.")
    timezone: str | None = attribute(
        Zone(),
        "The zone of times that are written without an offset, and of the documents.",
        default='"UTC"',
        value="UTC",
    )
    currency: str | None = attribute(
        CurrencyType(), "The currency that totals are given in.", default="the packages' currency, where they agree"
    )
    rates: Mapping[str, Money] | None = attribute(Rates(), "What one unit of a currency is worth in another.")
    rates_source: str | None = attribute(
        Text(), "Where and when the rates were read.", example='"ECB reference rate, 2026-11-20"'
    )
    starts: Instant | None = attribute(
        ClockType(),
        "When the campaign begins, people's work included. With no absolute start anywhere the plan is relative: it starts at T+0, and its "
        "clock at the first launch.",
        default="the earliest lot's start",
    )
    deadline: Instant | None = attribute(ClockType(), "By when the answer is needed.", example="2026-12-05 18:00")
    files: tuple[str, ...] = attribute(
        Texts(paths=True),
        "Paths and globs to put into the bundle beside the scripts.",
        value=(),
        example='["data/*.json", "model.py"]',
    )
    requirements: str | None = attribute(
        FilePath(), "A pip requirements file that the rented machine needs.", example='"requirements.txt"'
    )
    image: str | None = attribute(
        Text(), "The container image that the work runs in.", example='"example/train:2026-11"'
    )
    secrets: tuple[str, ...] = attribute(
        Texts(),
        "Names of environment variables that must be set on the machine; their values are never written.",
        value=(),
        example='["HF_TOKEN"]',
    )


@block(
    "outcome",
    example="""
outcome adopt {
  when     = variant.eval.accuracy - control.eval.accuracy >= 0.01
  conclude = "Adopt the variant."
}
""",
)
class Outcome(Node):
    """An answer, tested on results. In the file's order the first that holds is the answer; where none does, it is `if_negative`. Where a
    metric that it needs is missing because its run was dropped or stopped, it is undecided, and the closeout says so."""

    when: Condition | None = attribute(
        ConditionType("results"),
        "The condition on `RUN.METRIC`: the metric's last value, and for a run with seeds their mean.",
        required=True,
    )
    conclude: str | None = attribute(
        Text(), "What is concluded where the condition holds.", required=True, example='"Adopt the variant."'
    )


@block(
    "unknown",
    example='unknown gpu_speed { question = "How many steps an hour does this GPU make?"; settled_by = pilot }',
)
class Unknown(Node):
    """Something that isn't known yet. The plan lists them; the closeout says which are settled."""

    question: str | None = attribute(Text(), "What isn't known.", required=True)
    settled_by: str | None = attribute(Reference(("window",)), "The window whose result settles it.")


@block(
    "corpus",
    example="""
corpus tickets {
  path   = "data/tickets.jsonl"
  sha256 = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
  rows   = 12000
  ids    = "id"
}
""",
)
class Corpus(Node):
    """Frozen data: the same bytes for every run that is compared."""

    path: str | None = attribute(
        FilePath(), "The file or folder, relative to the spec; or a URL.", required=True, example='"data/tickets.jsonl"'
    )
    sha256: str | None = attribute(
        Text(),
        "SHA-256 of the file in hexadecimal; of a folder, of its sorted list of hashes and names.",
        example='"9f86d0818…"',
    )
    rows: Fraction | None = attribute(Whole(), "How many rows it has.", example="12000")
    ids: str | None = attribute(Text(), "The name of the column or field that identifies a row.", example='"id"')
    frozen: Date | None = attribute(DateType(), "The day it was frozen.")
    region: str | None = attribute(Text(), "The region that it is stored in.", example='"eu-west"')
    sample: str | None = attribute(
        FilePath(), "The path of a small part of it, for rehearsal and pilot.", example='"data/tickets-200.jsonl"'
    )
