"""The plan: a resolved spec with its schedule, accounts and costs. Everything that is printed is a function of it.

Times are exact seconds from the campaign's start (``Fraction``). Unknown is None, never zero.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction

from campc.records import field, frozen
from campc.schema.spec import Spec
from campc.schema.work import Window
from campc.source import Source
from campc.values.instants import Instant
from campc.values.money import Money

Gpu = tuple[str, int]
"""A lot's name and the index of a GPU in it."""


@frozen
class Interval:
    """A half-open interval of time, in seconds from the campaign's start."""

    start: Fraction
    end: Fraction

    @property
    def length(self) -> Fraction:
        return self.end - self.start

    def __and__(self, other: Interval) -> Interval | None:
        start, end = max(self.start, other.start), min(self.end, other.end)
        return Interval(start, end) if start < end else None


@frozen
class Placement:
    """Where a window stands, as likely."""

    window: Window
    interval: Interval
    gpus: tuple[Gpu, ...]
    fixed: bool
    """True where the author said when it starts."""
    slack: Fraction | None
    """How far its end could move, the order kept, before a usable end is passed; None where nothing bounds it."""
    critical: bool
    """On the chain that sets the latest end on its lot."""
    predecessors: tuple[str, ...] = ()
    """What it cannot start before: its ``after``, what stands before it on its GPUs, and all of its lot where it is last."""

    @property
    def name(self) -> str:
        return self.window.name

    @property
    def start(self) -> Fraction:
        return self.interval.start

    @property
    def end(self) -> Fraction:
        return self.interval.end


@frozen
class Conflict:
    """Two placements that hold the same GPUs at the same time; ``second`` starts later, or stands later in the file."""

    first: Placement
    second: Placement
    gpus: tuple[Gpu, ...]
    shared: Interval


@frozen
class Account:
    """A lot's account."""

    lot: str
    package: str | None
    start: Fraction
    end: Fraction | None
    usable_end: Fraction | None
    """None for a lot billed by time without ``ends``."""
    last_end: Fraction
    """The end of the last window on it; its start where there is none."""
    reserved: Fraction
    uncommitted: Fraction | None
    overrun: Fraction
    busy: Fraction
    """GPU-seconds that are occupied."""
    price: Money | None
    complete: bool
    """False where a window on it could not be placed (its faults were reported): then overrun and margin say nothing."""


@frozen
class PackageRow:
    """The schedule placed again on one lot of a package, begun at the same time."""

    package: str
    covers: bool
    reserved: Fraction
    uncommitted: Fraction | None
    overrun: Fraction
    price: Money | None
    chosen: bool
    """Whether a lot of the spec is of this package."""


@frozen
class Costs:
    """One amount a currency, sorted; one amount in all where the campaign's rates reach its currency."""

    rental: tuple[Money, ...]
    expenses: tuple[Money, ...]
    total: tuple[Money, ...]


@frozen
class RatioRow:
    """A declared ratio as it is planned."""

    name: str
    defined: bool
    expected: Money | None
    """None where undefined, where its cost has several currencies, or where no number is expected."""
    count: int | None


@frozen
class CheckpointRow:
    """The arithmetic of one run's checkpoint policy, in seconds and bytes; what isn't known is None."""

    run: str
    every: Fraction | None
    young: float | None
    daly: float | None
    overhead: Fraction | None
    expected_loss: Fraction | None
    room: Fraction | None
    mean_time_between: Fraction | None


@frozen
class TierRisk:
    """How likely a tier ends before the usable end, and the median and 90th percentile of its end in seconds."""

    name: str
    p_finish: float
    p50: float
    p90: float


@frozen
class Risk:
    """A seeded Monte Carlo over the ranges and interruptions."""

    samples: int
    distribution: str
    tiers: tuple[TierRisk, ...]


@frozen(kw_only=True, eq=False)
class Plan:
    """A resolved spec with everything that follows from it."""

    spec: Spec
    start: Instant | None
    """None: relative, it starts at T+0."""
    placements: Mapping[str, Placement]
    """By window, in planned order (start, then the file's); windows that could not be placed are left out."""
    accounts: Mapping[str, Account]
    conflicts: tuple[Conflict, ...]
    costs: Costs
    ratios: tuple[RatioRow, ...] = ()
    packages: tuple[PackageRow, ...] = ()
    checkpoints: Mapping[str, CheckpointRow] = field(factory=dict)
    risk: Risk | None = None
    """Computed where a document is made, not for a check."""
    exists: Callable[[Source, str], bool] | None = field(default=None, repr=False)
    """Whether a path or glob that a file names is there; None where nobody may look, as for an editor's unsaved text."""

    _by_lot: dict[str, list[Placement]] = field(factory=dict, init=False, repr=False)

    def instant(self, seconds: Fraction) -> Instant | None:
        """The absolute time of a moment of the plan; None for a relative plan."""
        return self.start.after(seconds) if self.start is not None else None

    def on_lot(self, lot: str) -> tuple[Placement, ...]:
        """The placements on a lot, in planned order."""
        if not self._by_lot:
            for placement in self.placements.values():
                if placement.window.on is not None:
                    self._by_lot.setdefault(placement.window.on.lot, []).append(placement)
        return tuple(self._by_lot.get(lot, ()))

    def chain(self, lot: str) -> tuple[Placement, ...]:
        """The critical chain of a lot: the windows that make its end as late as it is, in order."""
        on_it = self.on_lot(lot)
        if not on_it:
            return ()
        chain: list[Placement] = []
        current: Placement | None = max(on_it, key=lambda p: p.end)
        while current is not None:
            chain.append(current)
            if current.fixed:
                break
            before = [
                self.placements[n]
                for n in current.predecessors
                if n in self.placements and self.placements[n].end == current.start
            ]
            current = before[0] if before else None
        return tuple(reversed(chain))

    @property
    def end(self) -> Fraction:
        """The end of the last window, from the campaign's start."""
        return max((p.end for p in self.placements.values()), default=Fraction(0))
