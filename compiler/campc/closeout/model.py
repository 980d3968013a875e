"""The closeout: what a finished campaign came to, as plain values. The document and the JSON are functions of it.

Times are Unix seconds (UTC), lengths of time are seconds, sizes are bytes. None means that nobody declared, recorded or measured it, and is shown
as unknown; it never stands for zero. A plan without dates begins at its first launch: its planned times count from there.
"""

from __future__ import annotations

from typing import Literal

from attrs import frozen

from campc.values.money import Money

WindowState = Literal["done", "stopped", "failed", "dropped", "skipped", "unfinished", "not recorded", "not started"]
"""``dropped``: given up at a gate. ``skipped``: by a person, or because its time no longer fitted. ``unfinished``: began, and no end is recorded.
``not recorded``: people's time that nobody wrote down."""

Reload = Literal["not declared", "not run", "passed", "failed"]
"""``not run``: nothing of a bundle is executed unless the reader asks for it."""


@frozen(kw_only=True)
class OutcomeResult:
    """One declared answer, tested on the last values of the metrics."""

    name: str
    condition: str
    """As the author wrote it."""
    conclude: str
    holds: bool | None
    """None: undecided, because a metric that it needs is missing."""
    values: tuple[tuple[str, float | None], ...] = ()
    """Each ``RUN.METRIC`` that it names with its last value (of a run with seeds, the mean); None where it is missing."""
    found: str | None = None
    """One phrase for the first page: ``rank 16 gained 0.003, needed 0.01``."""
    missing: tuple[str, ...] = ()
    """Why it is undecided, one phrase a missing metric: ``rank32 stopped at step 1,200: the loss isn't finite``."""


@frozen(kw_only=True)
class CostLine:
    """One amount that was spent or committed."""

    what: str
    """The lot or the expense."""
    covers: str | None = None
    amount: Money
    kind: Literal["rental", "expense"]
    estimate: bool = False
    recorded: bool = False
    """True where it was recorded on the way, False where it stood in the plan."""


@frozen(kw_only=True)
class CostResult:
    """What the campaign cost, one amount a currency; currencies are added only at a rate that the spec declares."""

    rental: tuple[Money, ...]
    expenses: tuple[Money, ...]
    total: tuple[Money, ...]
    lines: tuple[CostLine, ...] = ()
    planned_total: tuple[Money, ...] = ()
    limit: Money | None = None
    """The budget's."""
    tax: str = "unknown"
    """``included``, ``excluded``, ``unknown``, or ``mixed``."""
    rates: tuple[str, ...] = ()
    """Each declared rate in words, with its source."""


@frozen(kw_only=True)
class RatioResult:
    """A declared ratio of cost to accepted, useful results."""

    name: str
    cost_of: Literal["rental", "expenses", "total"]
    cost: tuple[Money, ...]
    per: tuple[str, ...]
    distinct: Literal["corpus", "run"]
    count: int
    """Distinct corpora or runs with an accepted deliverable."""
    value: Money | None
    """None where undefined, or where the cost has several currencies."""
    expected_count: int | None = None
    expected_value: Money | None = None
    if_none: str
    """The declared words for a count of zero."""
    reasons: tuple[str, ...] = ()
    """Why nothing counts, where nothing does."""

    @property
    def defined(self) -> bool:
        """Whether anything counts; with nothing accepted a ratio is neither zero nor infinite."""
        return self.count > 0


@frozen(kw_only=True)
class DeliverableResult:
    """One deliverable of one run (of one seed), as found in the package."""

    name: str
    run: str
    run_id: str
    kind: str
    path: str
    tier: str | None = None
    accepted: bool
    reasons: tuple[str, ...] = ()
    """Why it is rejected; empty where it is accepted."""
    condition: str | None = None
    """Its acceptance check; None where none was declared, and only existence was tested."""
    files: int | None = None
    size: int | None = None
    rows: int | None = None
    sha256: str | None = None
    reload: Reload = "not declared"
    reload_detail: str | None = None
    base: str | None = None


@frozen(kw_only=True)
class WindowResult:
    """One window of the plan, as planned and as it went."""

    name: str
    tier: str
    kind: str
    lot: str | None
    """None: people's time."""
    gpus: tuple[int, ...] = ()
    run: str | None = None
    state: WindowState
    planned_start: float
    planned_end: float
    actual_start: float | None = None
    actual_end: float | None = None
    low: float | None = None
    high: float | None = None
    """The range that it was estimated to take."""
    assumed: bool = True
    explanation: str | None = None
    """Why it differs, from the ledger: a stop's reason, a retry's, what somebody recorded."""

    @property
    def planned(self) -> float:
        """How long it was to take."""
        return self.planned_end - self.planned_start

    @property
    def actual(self) -> float | None:
        """How long it took; None where that isn't known."""
        return None if self.actual_start is None or self.actual_end is None else self.actual_end - self.actual_start

    @property
    def deviation(self) -> float | None:
        """How much longer it took than planned."""
        return None if self.actual is None else self.actual - self.planned


@frozen(kw_only=True)
class AttemptResult:
    """One start of one run."""

    run: str
    run_id: str
    window: str
    lot: str
    number: int
    start: float | None
    end: float | None
    outcome: str
    """``done``, ``stopped``, ``interrupted``, ``deadline``, ``crash``, ``hang``, ``misconfigured``; ``lost`` where no end is recorded."""
    cause: str | None = None
    from_step: int | None = None
    to_step: int | None = None
    lost: float | None = None
    """Work that had to be done again, with the time to restore."""
    lost_steps: int | None = None


@frozen(kw_only=True)
class StopResult:
    """A rule that fired, or something else that ended or disturbed a run."""

    time: float
    event: str
    """``stop``, ``watch``, ``interrupted``, ``deadline``, ``crash`` or ``hang``."""
    run_id: str | None = None
    window: str | None = None
    rule: str | None = None
    step: int | None = None
    value: str | None = None
    reason: str | None = None


@frozen(kw_only=True)
class Losses:
    """Work lost to interruptions, expected and observed."""

    interruptions: int
    lost: float | None
    expected_interruptions: float | None = None
    expected_lost: float | None = None


@frozen(kw_only=True)
class RerunResult:
    """One metric of a rerun of one run (of one seed), beside the first run's."""

    window: str
    run: str
    run_id: str
    metric: str
    first: float | None
    again: float | None
    tolerance: float
    """How far the second may lie from the first, as a share of the first."""
    holds: bool | None
    """None where one of the two is missing."""


@frozen(kw_only=True)
class LotResult:
    """One lot: what was bought, used and given back."""

    name: str
    package: str | None
    gpu: str | None = None
    gpus: int = 1
    order: str | None = None
    price: Money | None = None
    start: float | None = None
    usable_end: float | None = None
    last_end: float | None = None
    """The end of the last recorded work on it."""
    used: float | None = None
    """GPU-seconds that windows occupied."""
    idle: float | None = None
    """GPU-seconds between its start and its last work, that no window occupied."""
    uncommitted: float | None = None
    """Seconds from the last work to the usable end."""
    energy_kwh: float | None = None
    released: float | None = None
    release_evidence: str | None = None
    """What answered when it was released."""
    machines: tuple[str, ...] = ()


@frozen(kw_only=True)
class Series:
    """A metric of one run, in the order of its steps; a non-finite value is kept."""

    run: str
    run_id: str
    metric: str
    points: tuple[tuple[int, float], ...]


@frozen(kw_only=True)
class DecisionResult:
    """A gate's result, a skip, an amendment or a note."""

    time: float
    kind: Literal["gate", "decide", "skip", "amendment", "note"]
    name: str | None = None
    choice: str | None = None
    because: str | None = None
    by: str | None = None
    values: tuple[tuple[str, float | None], ...] = ()
    dropped: tuple[str, ...] = ()


@frozen(kw_only=True)
class CopyResult:
    """A place that results were copied to."""

    to: str
    time: float | None = None
    ok: bool
    detail: str | None = None


@frozen(kw_only=True)
class Measured:
    """A value that the next campaign can state instead of assuming it."""

    what: str
    """``write of a checkpoint``, ``window control``."""
    assumed: str | None
    """As the plan had it, in words; None where the plan didn't say."""
    measured: str
    held: bool | None = None
    """Whether the estimate held; None where there was none to hold."""
    spec: str
    """The line to write: ``write = 95s``."""
    place: str | None = None
    """The block that it belongs into: ``checkpoint``, ``window control``."""
    basis: str | None = None
    """What it rests on: ``median of 12 saves``."""


@frozen(kw_only=True)
class UnknownResult:
    """Something that the plan did not know."""

    name: str
    question: str
    settled_by: str | None
    settled: bool
    how: str | None = None
    """How it was settled, or why it is still open."""


@frozen(kw_only=True)
class LedgerCheck:
    """What verifying a ledger's chain of hashes found."""

    lot: str
    lines: int
    intact: bool
    torn_tail: bool = False
    damage: tuple[str, ...] = ()
    """Each fault with its line."""
    head: str | None = None
    """SHA-256 of the last line."""


@frozen(kw_only=True)
class ManifestEntry:
    """A file of the package."""

    path: str
    size: int
    sha256: str
    verified: bool


@frozen(kw_only=True)
class Environment:
    """What a machine said of itself."""

    lot: str
    machine: str | None = None
    items: tuple[tuple[str, str], ...] = ()


@frozen(kw_only=True)
class Closeout:
    """All that the closeout document shows."""

    campaign: str
    question: str | None
    decision: str | None
    if_negative: str | None
    owner: str | None = None
    timezone: str = "UTC"
    deadline: float | None = None
    plan_hash: str
    plan_intact: bool
    """Whether the bundle's plan still has this hash."""
    verdict: str
    """The answer in the words of the outcome that holds, of ``if_negative``, or what is undecided and why."""
    answered_by: str | None
    """The outcome that holds; None where none does."""
    undecided: bool
    outcomes: tuple[OutcomeResult, ...] = ()
    costs: CostResult
    ratios: tuple[RatioResult, ...] = ()
    deliverables: tuple[DeliverableResult, ...] = ()
    windows: tuple[WindowResult, ...] = ()
    attempts: tuple[AttemptResult, ...] = ()
    stops: tuple[StopResult, ...] = ()
    losses: Losses
    lots: tuple[LotResult, ...] = ()
    series: tuple[Series, ...] = ()
    reruns: tuple[RerunResult, ...] = ()
    decisions: tuple[DecisionResult, ...] = ()
    copies: tuple[CopyResult, ...] = ()
    keeper: str | None = None
    """Who keeps the files."""
    still_costs: tuple[str, ...] = ()
    """Storage and other things that go on costing, in words."""
    measured: tuple[Measured, ...] = ()
    unknowns: tuple[UnknownResult, ...] = ()
    ledgers: tuple[LedgerCheck, ...] = ()
    manifest: tuple[ManifestEntry, ...] = ()
    package_intact: bool | None = None
    """Whether every file of the package has the hash in its manifest; None where there is no package."""
    environments: tuple[Environment, ...] = ()
    bases: tuple[tuple[str, str], ...] = ()
    """Run and exact revision of its base model."""
    rehearsal: str | None = None
    """What the rehearsal of this plan said; None where none is recorded."""
    remarks: tuple[str, ...] = ()
    """What a reader must know before trusting the rest: a damaged ledger, a lot that ran out, a missing package."""
    campc: str = ""
    """The version that made it."""

    @property
    def planned(self) -> float:
        """From the first planned start to the last planned end."""
        if not self.windows:
            return 0.0
        return max(w.planned_end for w in self.windows) - min(w.planned_start for w in self.windows)

    @property
    def observed(self) -> float | None:
        """From the first to the last recorded moment of a window; None where nothing is recorded."""
        starts = [w.actual_start for w in self.windows if w.actual_start is not None]
        ends = [w.actual_end for w in self.windows if w.actual_end is not None]
        moments = [*starts, *ends]  # of one recorded by hand the end alone may be known, of one that runs the start
        return max(moments) - min(moments) if starts and ends else None

    @property
    def accepted(self) -> int:
        """How many deliverables are accepted."""
        return sum(d.accepted for d in self.deliverables)

    @property
    def essential_accepted(self) -> bool:
        """Whether every deliverable of the essential tier is accepted, and there is one."""
        essential = [d for d in self.deliverables if d.tier == "essential"]
        return bool(essential) and all(d.accepted for d in essential)
