"""What is said in hovers, hints and completion details."""

from __future__ import annotations

from campc.checks.words import moment
from campc.schedule.plan import Account, Placement, Plan
from campc.schema import AttributeInfo, BlockInfo
from campc.schema.market import Package
from campc.values.money import Money
from campc.values.quantities import format_duration


def attribute_text(attribute: AttributeInfo) -> str:
    """An attribute's documentation in Markdown."""
    lines = [attribute.doc, "", f"*{attribute.type.words}*" + (", required" if attribute.required else "")]
    if attribute.default is not None:
        lines.append(f"Default: {attribute.default}")
    lines += ["", f"```campaign\n{attribute.name} = {attribute.shown_example}\n```"]
    return "\n".join(lines)


def block_text(block: BlockInfo, label: str = "") -> str:
    """A block's documentation in Markdown."""
    example = f"\n\n```campaign\n{block.example}\n```" if block.example else ""
    return f"**{block.kind}{label}** {block.doc}{example}"


def package_line(package: Package) -> str:
    """A package's terms in one line: ``RTX 4090, 72 h, 47.14 USD``."""
    parts = [f"{package.gpus} × {package.gpu}" if package.gpus > 1 else f"{package.gpu}"]
    if package.duration is not None and isinstance(package.price, Money):
        parts.append(format_duration(package.duration.seconds))
    parts.append(f"{package.price}" if package.price is not None else "price unknown")
    return ", ".join(parts)


def package_text(package: Package) -> str:
    """A package's terms in Markdown."""
    rows = [f"**package {package.name}** {package_line(package)}", ""]
    for word, value in (
        ("vendor", package.vendor), ("memory of one GPU", package.memory), ("nodes", package.nodes if package.nodes > 1 else None),
        ("region", package.region), ("notice", package.notice), ("interruptions", package.interruptions),
        ("taken before its end", package.ends_early if package.ends_early.seconds else None), ("tax", package.tax), ("source", package.source),
    ):  # fmt: skip
        if value is not None:
            rows.append(f"- {word}: {value}")
    if package.interruptible:
        rows.append("- may be taken away")
    return "\n".join(rows)


def window_text(plan: Plan, placement: Placement) -> str:
    """Where a window stands, in Markdown."""
    slack = "unbounded" if placement.slack is None else format_duration(placement.slack)
    lines = [
        f"**window {placement.name}** {moment(plan, placement.start)} → {moment(plan, placement.end)}",
        "",
        f"- takes {format_duration(placement.interval.length)}" + ("" if placement.window.basis else " (assumed)"),
        f"- slack {slack}" + (", on the critical chain" if placement.critical else ""),
    ]
    if placement.predecessors:
        lines.append(f"- waits for {', '.join(placement.predecessors)}")
    return "\n".join(lines)


def lot_text(plan: Plan, account: Account) -> str:
    """A lot's account, in Markdown."""
    lines = [f"**lot {account.lot}** {account_line(account)}", "", f"- from {moment(plan, account.start)}"]
    if account.usable_end is not None:
        lines.append(f"- usable until {moment(plan, account.usable_end)}")
    lines.append(f"- busy {format_duration(account.busy)} of GPU time")
    if account.price is not None:
        lines.append(f"- costs {account.price}")
    return "\n".join(lines)


def account_line(account: Account) -> str:
    """A lot's account in a few words: ``48 h of 72 h, 24 h free``."""
    if account.usable_end is None:
        return f"{format_duration(account.reserved)} reserved"
    usable = format_duration(account.usable_end - account.start)
    if account.overrun:
        return f"{format_duration(account.reserved)} of {usable}, {format_duration(account.overrun)} over"
    free = format_duration(account.uncommitted or account.overrun)
    return f"{format_duration(account.reserved)} of {usable}, {free} free"
