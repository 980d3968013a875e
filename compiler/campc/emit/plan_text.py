"""The plan as text in a terminal: the verdict, the windows, the lots, the cost."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from campc.checks.words import moment
from campc.schedule.plan import Account, Placement, Plan
from campc.schedule.timeline import billed_by_time
from campc.values.money import Money
from campc.values.quantities import format_duration


def plan_text(plan: Plan) -> str:
    """The plan for a reader at a terminal."""
    campaign = plan.spec.campaign
    parts = [campaign.question or campaign.name or plan.spec.source.name]
    parts += [_verdict(plan, account) for account in plan.accounts.values()]
    parts.append(
        f"Commits {_sum(plan.costs.total)}"
        + (f": rental {_sum(plan.costs.rental)}, expenses {_sum(plan.costs.expenses)}" if plan.costs.expenses else "")
        + "."
    )
    sections = ["\n".join(parts)]
    if plan.placements:
        sections.append(_windows(plan))
    if len(plan.packages) > 1:
        sections.append(_packages(plan))
    if plan.ratios:
        sections.append(_ratios(plan))
    return "\n\n".join(sections) + "\n"


def _verdict(plan: Plan, account: Account) -> str:
    if account.usable_end is None and not _billed_by_time(plan, account):
        return f"{account.lot}: {format_duration(account.reserved)} reserved; when it ends isn't known."
    if account.usable_end is None:
        return f"{account.lot}: {format_duration(account.reserved)} reserved, billed by time."
    usable = format_duration(account.usable_end - account.start)
    if account.overrun:
        return f"{account.lot}: does NOT fit: {format_duration(account.reserved)} in {usable}, {format_duration(account.overrun)} over."
    free = format_duration(account.uncommitted or Fraction(0))
    return f"{account.lot}: fits: {format_duration(account.reserved)} of {usable}, {free} uncommitted; usable until {moment(plan, account.usable_end)}."


def _billed_by_time(plan: Plan, account: Account) -> bool:
    package = plan.spec.packages.get(account.package) if account.package is not None else None
    return package is not None and billed_by_time(package)


def _windows(plan: Plan) -> str:
    rows: list[tuple[str, ...]] = [("", "window", "kind", "tier", "on", "starts", "ends", "takes", "slack")]
    rows += [_row(plan, placement) for placement in plan.placements.values()]
    note = "* on the chain that sets the end of its lot"
    unplaced = [name for name in plan.spec.windows if name not in plan.placements]
    if unplaced:
        note += f"\nnot placed, for the faults in it: {', '.join(unplaced)}"
    return table(rows, right={7, 8}) + "\n" + note


def _row(plan: Plan, placement: Placement) -> tuple[str, ...]:
    window = placement.window
    return (
        "*" if placement.critical else "",
        window.name,
        window.kind or "",
        window.tier,
        str(window.on) if window.on is not None else "people",
        moment(plan, placement.start),
        moment(plan, placement.end),
        format_duration(placement.interval.length) + ("" if window.basis is not None else " ?"),
        "" if placement.slack is None else format_duration(placement.slack),
    )


def _packages(plan: Plan) -> str:
    rows = [("package", "covers", "free", "over", "price")]
    for row in plan.packages:
        rows.append(
            (
                row.package + (" (chosen)" if row.chosen else ""),
                "yes" if row.covers else "no",
                "no end" if row.uncommitted is None else format_duration(row.uncommitted),
                format_duration(row.overrun) if row.overrun else "",
                str(row.price) if row.price is not None else "unknown",
            )
        )
    return table(rows, right={2, 3, 4})


def _ratios(plan: Plan) -> str:
    lines = []
    for row in plan.ratios:
        if not row.defined:
            lines.append(f"{row.name}: undefined")
        elif row.expected is None:
            lines.append(f"{row.name}: not one amount")
        else:
            lines.append(f"{row.name}: {row.expected} each, if {row.count} are accepted")
    return "\n".join(lines)


def _sum(amounts: Sequence[Money]) -> str:
    return " and ".join(map(str, amounts)) or "nothing that is known"


def table(rows: Sequence[Sequence[str]], right: set[int]) -> str:
    """Rows in columns, the first row as their heads."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = []
    for row in rows:
        cells = [
            cell.rjust(width) if i in right else cell.ljust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(cells).rstrip())
    lines.insert(1, "  ".join("-" * width for width in widths).rstrip())
    return "\n".join(lines)
