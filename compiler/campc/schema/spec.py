"""A whole spec, resolved: every name found, every value exact, every default in place."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Iterator, Mapping, Sequence

from campc.records import evolve, field, frozen
from campc.schema.campaign import Campaign, Corpus, Outcome, Unknown
from campc.schema.market import Lot, Package
from campc.schema.node import Node
from campc.schema.operation import Cleanup, Notify, Preflight, Shutdown
from campc.schema.results import Budget, Deliverable, Expense, Ratio
from campc.schema.rules import Gate, Stop, Watch
from campc.schema.work import Checkpoint, Run, Tier, Window
from campc.source import Source, Span


@frozen
class Allowance:
    """``# campc: allow CODE because REASON``: the warning that it accepts, and the lines that it speaks of."""

    code: str
    reason: str
    at: Span
    lines: tuple[int, ...]

    @property
    def line(self) -> int:
        """The first line of the item that it speaks of."""
        return self.lines[-1]


@frozen(kw_only=True, eq=False)
class Spec:
    """All that a root file and the files that it uses declare. Things with names are looked up by name, in the order of declaration."""

    source: Source
    sources: tuple[Source, ...] = ()
    """The root file, then the used ones."""
    campaign: Campaign
    declared: bool = True
    """False where the file has no campaign block; a placeholder stands in its place then."""
    zone: dt.tzinfo = dt.UTC
    outcomes: Mapping[str, Outcome] = field(factory=dict)
    unknowns: Mapping[str, Unknown] = field(factory=dict)
    corpora: Mapping[str, Corpus] = field(factory=dict)
    packages: Mapping[str, Package] = field(factory=dict)
    lots: Mapping[str, Lot] = field(factory=dict)
    tiers: Mapping[str, Tier] = field(factory=dict)
    windows: Mapping[str, Window] = field(factory=dict)
    runs: Mapping[str, Run] = field(factory=dict)
    """With what they inherit from ``variant_of`` in place."""
    own_runs: Mapping[str, Run] = field(factory=dict)
    """As they are written."""
    checkpoint: Checkpoint | None = None
    stops: Mapping[str, Stop] = field(factory=dict)
    watches: Mapping[str, Watch] = field(factory=dict)
    gates: Mapping[str, Gate] = field(factory=dict)
    deliverables: Mapping[str, Deliverable] = field(factory=dict)
    expenses: Mapping[str, Expense] = field(factory=dict)
    ratios: Mapping[str, Ratio] = field(factory=dict)
    budget: Budget | None = None
    preflight: Preflight | None = None
    shutdown: Shutdown | None = None
    cleanups: tuple[Cleanup, ...] = ()
    notifies: tuple[Notify, ...] = ()
    lets: Mapping[str, tuple[Span, bool]] = field(factory=dict)
    """Each ``let`` with its place and whether it was used."""
    allowances: tuple[Allowance, ...] = ()
    faulty: frozenset[tuple[str, str]] = frozenset()
    """Kind and name of blocks of which something needed is broken or missing, and was reported."""
    _broken: Mapping[str, tuple[Node, ...]] = field(init=False, repr=False)
    _windows_on: Mapping[str, list[Window]] = field(init=False, repr=False)
    _windows_of: Mapping[str | None, list[Window]] = field(init=False, repr=False)
    _used_runs: Mapping[str, Run] = field(init=False, repr=False)

    @_broken.default
    def _find_broken(self) -> Mapping[str, tuple[Node, ...]]:
        groups: dict[str, Iterable[Node]] = {kind: group.values() for kind, group in self._groups()}
        groups[""] = self._unnamed()
        found = {kind: tuple(node for node in group if node.broken) for kind, group in groups.items()}
        return {kind: nodes for kind, nodes in found.items() if nodes}

    @_windows_on.default
    def _find_windows_on(self) -> Mapping[str, list[Window]]:
        found: dict[str, list[Window]] = {}
        for window in self.windows.values():
            if window.on is not None:
                found.setdefault(window.on.lot, []).append(window)
        return found

    @_windows_of.default
    def _find_windows_of(self) -> Mapping[str | None, list[Window]]:
        found: dict[str | None, list[Window]] = {}
        for window in self.windows.values():
            found.setdefault(window.run, []).append(window)
        return found

    @_used_runs.default
    def _find_used_runs(self) -> Mapping[str, Run]:
        return {name: run for name, run in self.runs.items() if name in self._windows_of}

    def package_of(self, lot: Lot | None) -> Package | None:
        """The package of a lot, where both are known."""
        return self.packages.get(lot.package) if lot is not None and lot.package is not None else None

    def lot_of(self, window: Window) -> Lot | None:
        """The lot that a window is on; None for people's time."""
        return self.lots.get(window.on.lot) if window.on is not None else None

    def run_of(self, window: Window) -> Run | None:
        """The run that a window executes."""
        return self.runs.get(window.run) if window.run is not None else None

    def windows_on(self, lot: str) -> Iterator[Window]:
        """The windows on a lot, in the file's order."""
        return iter(self._windows_on.get(lot, ()))

    def windows_of(self, run: str) -> Sequence[Window]:
        """The windows that execute a run, in the file's order."""
        return self._windows_of.get(run, ())

    def used_runs(self) -> Mapping[str, Run]:
        """The runs that some window executes, in the order of declaration."""
        return self._used_runs

    def with_windows(self, windows: Mapping[str, Window]) -> Spec:
        """The same spec with other windows: for what-if schedules."""
        return evolve(self, windows=windows)

    def blocks(self) -> Iterator[Node]:
        """Every declared block, kind by kind."""
        campaign, *others = self._unnamed()
        if self.declared:
            yield campaign
        for _, group in self._groups():
            yield from group.values()
        yield from others

    def broken(self, kind: str) -> Sequence[Node]:
        """The blocks of a kind with attributes that could not be read; kind by kind, the empty one stands for all without names."""
        return self._broken.get(kind, ())

    def named(self, kind: str) -> Mapping[str, Node]:
        """The blocks of a kind that have names."""
        return next(group for named, group in self._groups() if named == kind)

    @property
    def is_broken(self) -> bool:
        """Whether an attribute of any block could not be read."""
        return bool(self._broken)

    def _groups(self) -> tuple[tuple[str, Mapping[str, Node]], ...]:
        return (
            ("outcome", self.outcomes), ("unknown", self.unknowns), ("corpus", self.corpora), ("package", self.packages), ("lot", self.lots),
            ("tier", self.tiers), ("window", self.windows), ("run", self.own_runs), ("stop", self.stops), ("watch", self.watches),
            ("gate", self.gates), ("deliverable", self.deliverables), ("expense", self.expenses), ("ratio", self.ratios),
        )  # fmt: skip

    def _unnamed(self) -> Iterator[Node]:
        yield self.campaign
        for single in (self.checkpoint, self.budget, self.preflight, self.shutdown):
            if single is not None:
                yield single
        yield from self.cleanups
        yield from self.notifies
