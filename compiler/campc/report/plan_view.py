"""What several parts of the plan document ask of a plan."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from fractions import Fraction

from attrs import frozen

from campc.report import words
from campc.report.gantt_model import Clockwork
from campc.schedule.plan import Account, PackageRow, Placement, Plan
from campc.schema.market import Lot, Package
from campc.schema.rules import Gate
from campc.schema.spec import Spec
from campc.schema.work import Window
from campc.values.money import Money, MoneyRate


@frozen(eq=False)
class PlanView:
    """A plan with the words for its moments and names."""

    plan: Plan

    @property
    def spec(self) -> Spec:
        return self.plan.spec

    @property
    def zone(self) -> dt.tzinfo:
        return self.plan.spec.zone

    @property
    def clock(self) -> Clockwork:
        start, deadline = self.plan.start, self.spec.campaign.deadline
        at = float(deadline.timestamp - start.timestamp) if start is not None and deadline is not None else None
        return Clockwork(start, self.zone, at)

    @property
    def zone_words(self) -> str:
        """``Europe/Paris, UTC+01:00``; of a relative plan, what its times count from."""
        if self.plan.start is None:
            return "relative to the first launch, T+0"
        ends = [account.usable_end for account in self.accounts if account.usable_end is not None]
        last = self.plan.instant(max([self.plan.end, *ends]))
        return words.zone_name(self.plan.start, self.zone, self.spec.campaign.timezone or "UTC", last)

    def when(self, seconds: Fraction, year: bool = False) -> str:
        """A moment of the plan: local, or relative."""
        instant = self.plan.instant(seconds)
        return words.relative(seconds) if instant is None else words.when(instant, self.zone, year)

    def clock_only(self, seconds: Fraction, beside: Fraction | None) -> str:
        """A moment, without its day where the moment beside it is on the same."""
        instant = self.plan.instant(seconds)
        other = self.plan.instant(beside) if beside is not None else None
        if instant is None:
            return words.relative(seconds)
        same = other is not None and words.date(instant, self.zone) == words.date(other, self.zone)
        return words.clock(instant, self.zone) if same else words.when(instant, self.zone)

    def package(self, lot: str) -> Package | None:
        return self.spec.package_of(self.spec.lots.get(lot))

    def prepaid(self, lot: Lot) -> bool:
        """Whether the lot has one price for its period."""
        package = self.spec.package_of(lot)
        return package is not None and isinstance(package.price, Money)

    @property
    def all_prepaid(self) -> bool:
        return bool(self.spec.lots) and all(self.prepaid(lot) for lot in self.spec.lots.values())

    @property
    def accounts(self) -> Sequence[Account]:
        return tuple(self.plan.accounts.values())

    @property
    def fits(self) -> bool:
        return not any(account.overrun for account in self.accounts)

    @property
    def assumed(self) -> tuple[Window, ...]:
        """Windows whose time rests on nothing that was said."""
        return tuple(window for window in self.spec.windows.values() if window.basis is None)

    @property
    def ranged(self) -> bool:
        """Whether any time is a range."""
        return any(
            window.takes is not None and window.takes.low != window.takes.high for window in self.spec.windows.values()
        )  # fmt: skip

    @property
    def short(self) -> tuple[str, ...]:
        """Lots that leave less than they are to keep free."""
        lots = self.spec.lots
        return tuple(
            a.lot for a in self.accounts if a.uncommitted is not None and a.uncommitted < lots[a.lot].keep_free.seconds
        )

    @property
    def before_deadline(self) -> Fraction | None:
        """How long before the deadline the last window ends; None without a deadline, or without dates."""
        deadline, end = self.spec.campaign.deadline, self.plan.instant(self.plan.end)
        return deadline.timestamp - end.timestamp if deadline is not None and end is not None else None

    @property
    def late(self) -> bool:
        """Whether the answer comes after the deadline."""
        return self.before_deadline is not None and self.before_deadline < 0

    def gates_after(self, window: str) -> tuple[Gate, ...]:
        return tuple(gate for gate in self.spec.gates.values() if gate.after == window)

    def people(self) -> tuple[Placement, ...]:
        """The windows that occupy no GPU."""
        return tuple(placement for placement in self.plan.placements.values() if placement.window.on is None)

    def next_package(self) -> PackageRow | None:
        """The cheapest package that leaves more time than the chosen one."""
        chosen = [row for row in self.plan.packages if row.chosen and row.uncommitted is not None]
        if not chosen:
            return None
        have = max(row.uncommitted or Fraction(0) for row in chosen)
        currency = {row.price.currency for row in chosen if row.price is not None}
        larger = [
            row
            for row in self.plan.packages
            if row.covers
            and not row.chosen
            and row.price is not None
            and row.price.currency in currency
            and (row.uncommitted or 0) > have
        ]
        return min(larger, key=lambda row: row.price.amount if row.price is not None else Fraction(0), default=None)

    def idle_before_work(self) -> tuple[tuple[str, Fraction], ...]:
        """Lots that are paid while only people work, from their start to the first window on them, and for how long."""
        found = []
        for account in self.accounts:
            first = min((placement.start for placement in self.plan.on_lot(account.lot)), default=None)
            if first is None or first <= account.start:
                continue
            working = [p for p in self.people() if p.start < first and p.end > account.start]
            if working:
                found.append((account.lot, first - account.start))
        return tuple(found)


def gpu_words(window: Window, package: Package | None) -> str:
    """``box``, ``box, GPU 0``, ``box, GPUs 0–1``; ``people`` for none."""
    if window.on is None:
        return "people"
    many = package is not None and package.gpus > 1
    if window.on.low is None:
        return f"{window.on.lot}, all {package.gpus} GPUs" if many and package is not None else window.on.lot
    if window.on.low == window.on.high:
        return f"{window.on.lot}, GPU {window.on.low}"
    return f"{window.on.lot}, GPUs {window.on.low}–{window.on.high}"


def package_words(package: Package | None) -> str:
    """``RTX 4090 for 3 days``, ``2 × B200, billed by time``."""
    if package is None:
        return words.UNKNOWN
    many = f"{package.gpus} × " if package.gpus > 1 else ""
    gpu = f"{many}{package.gpu or words.UNKNOWN}"
    if package.nodes > 1:
        gpu += f" in {package.nodes} machines"
    if isinstance(package.price, MoneyRate):
        return f"{gpu}, billed by time at {words.money(package.price)}"
    return f"{gpu} for {words.days(package.duration.seconds)}" if package.duration is not None else gpu


def tax_words(taxes: set[str]) -> str:
    """What the packages say of tax."""
    if taxes == {"included"}:
        return "tax included"
    if taxes == {"excluded"}:
        return "tax not included"
    return "tax not stated" if taxes <= {"unknown"} else "tax stated for some packages only"
