"""Running it: preflight, shutdown, cleanup, notify."""

from __future__ import annotations

from fractions import Fraction

from campc.schema.node import Node, block
from campc.schema.types import Boolean, DurationType, Text, Texts, Word, Words, attribute
from campc.values.quantities import Duration

EVENTS = (
    "launch", "preflight", "rehearsal", "start", "resume", "checkpoint", "metric", "watch", "stop", "interrupted", "deadline", "crash", "hang",
    "done", "gate", "decide", "skip", "expense", "window", "note", "pack", "copy", "shutdown", "released",
)  # fmt: skip
DEFAULT_EVENTS = ("stop", "watch", "gate", "deadline", "crash", "done")


@block(
    "preflight",
    name="none",
    once=True,
    example="""
preflight {
  quota    = "4 RTX 4090 in eu-west, confirmed by Ana on 2026-11-20"
  capacity = "reserved, order A-2291"
  dry_run  = true
}
""",
)
class Preflight(Node):
    """What was confirmed before the money is spent; each text is the evidence: who confirmed what, for which accelerator and region, and when."""

    quota: str | None = attribute(
        Text(), "That the account may use this accelerator in this region.", example='"confirmed by Ana, 2026-11-20"'
    )
    capacity: str | None = attribute(Text(), "That the machine will be there.", example='"reserved, order A-2291"')
    staged: str | None = attribute(
        Text(), "That the data lies near the machine.", example='"s3://lab/tickets, eu-west, 2026-11-20"'
    )
    budget_alert: str | None = attribute(
        Text(), "That the vendor's budget alert is set.", example='"set at 40 USD, 2026-11-20"'
    )
    dry_run: bool = attribute(
        Boolean(),
        "Whether a rehearsal of this very plan is required before it is launched.",
        default="false",
        value=False,
    )


@block("shutdown", name="none", once=True, example='shutdown { command = "sudo poweroff"; when = always }')
class Shutdown(Node):
    """How the machine is released at the end."""

    command: str | None = attribute(
        Text(), "The command that shuts the machine down.", required=True, example='"sudo poweroff"'
    )
    when: str = attribute(
        Word(("finished", "deadline", "always")), "After which end.", default="always", value="always"
    )
    elsewhere: str | None = attribute(
        Text(),
        "The command that releases the machine from outside, for the watcher on another machine.",
        example='"cloud release box"',
    )
    hold: Duration = attribute(
        DurationType(),
        "How long the machine is kept, at the longest, for results that could not be copied away.",
        default="2h",
        value=Duration(Fraction(7200)),
    )


@block("cleanup", name="optional", example='cleanup { paths = ["cache/*"]; after = 0s }')
class Cleanup(Node):
    """Intermediate files that are deleted. Never a checkpoint or a deliverable."""

    paths: tuple[str, ...] = attribute(
        Texts(paths=True), "Globs under a run's work or outputs folder.", required=True, value=(), example='["cache/*"]'
    )
    after: Duration | None = attribute(
        DurationType(zero=True), "How long after the run ended.", required=True, example="1h"
    )


@block(
    "notify",
    name="optional",
    example='notify { command = "mail -s campaign ana@example.org"; on = [stop, crash, done] }',
)
class Notify(Node):
    """A command that is run with the event as JSON on its standard input."""

    command: str | None = attribute(Text(), "The command.", required=True, example='"mail -s campaign ana@example.org"')
    on: tuple[str, ...] = attribute(
        Words(EVENTS),
        "The events that it is run for.",
        default="[stop, watch, gate, deadline, crash, done]",
        value=DEFAULT_EVENTS,
    )
