"""What changes between two plans: when it ends, what it costs, and every window, lot and rule that differs.

A plan is compared as campaign.json holds it, so that a spec stands beside a spec or beside a bundle that was built long ago.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from fractions import Fraction
from typing import Any

from attrs import field, frozen

from campc.diff.words import Tree, added_up, exact, flat, gap, is_group, label, margin, money_of, shown, signed, summary
from campc.values.money import Money, total
from campc.values.quantities import format_duration

__all__ = ["Change", "Difference", "compare"]

_SINGLE = ("campaign", "budget", "preflight", "shutdown")
_NAMED = (
    "lots", "windows", "runs", "corpora", "outcomes", "unknowns", "gates", "stops", "watches", "deliverables", "expenses", "ratios",
)  # fmt: skip
_UNNAMED = ("cleanup", "notify", "allowances")
_DERIVED = {
    "campaign": ("start",),
    "windows": ("start", "end", "start_s", "end_s", "slack_s", "critical", "run_ids", "assumed"),
    "lots": ("start", "usable_end", "usable_end_s", "start_s", "price"),
    "runs": ("ids", "seeds"),
    "allowances": ("line",),
}
"""What follows from the rest, or only says where it stood."""
_SINGULAR = {
    "lots": "lot", "windows": "window", "runs": "run", "corpora": "corpus", "outcomes": "outcome", "unknowns": "unknown", "gates": "gate",
    "stops": "stop", "watches": "watch", "deliverables": "deliverable", "expenses": "expense", "ratios": "ratio", "allowances": "allowance",
}  # fmt: skip


@frozen
class Change:
    """One difference; ``old`` or ``new`` is None where it wasn't there."""

    section: str
    """``window``, ``lot``, ``stop`` …; ``start``, ``end`` and ``cost`` for what they come to."""
    name: str
    what: str
    old: str | None
    new: str | None
    difference: str | None = None


@frozen
class Difference:
    """Two plans held against each other."""

    changes: tuple[Change, ...]
    old_end_s: Fraction
    new_end_s: Fraction
    old_cost: tuple[Money, ...]
    new_cost: tuple[Money, ...]
    old_end: str | None = None
    """The end by the clock, ISO 8601; None in a relative plan."""
    new_end: str | None = None
    new: Tree = field(factory=dict, repr=False, eq=False)

    @property
    def later_s(self) -> Fraction:
        """By how much the new one ends later: by the clock where both have one, else from their starts; earlier is negative."""
        if self.old_end is None or self.new_end is None:
            return self.new_end_s - self.old_end_s
        moved = datetime.fromisoformat(self.new_end) - datetime.fromisoformat(self.old_end)
        return Fraction(moved // timedelta(microseconds=1), 1_000_000)

    @property
    def same(self) -> bool:
        """Whether nothing differs."""
        return not self.changes

    @property
    def increase(self) -> tuple[Money, ...]:
        """How much more the new one costs, a currency; less is negative."""
        old, new = ({money.currency: money.amount for money in side} for side in (self.old_cost, self.new_cost))
        grown = {
            currency: new.get(currency, Fraction(0)) - old.get(currency, Fraction(0))
            for currency in sorted({*old, *new})
        }
        return tuple(Money(amount, currency) for currency, amount in grown.items() if amount)

    def exceeds(self, most: Money) -> bool:
        """Whether it costs more than ``most`` more; an amount in another currency, which no rate of the new one converts, is more."""
        most = _converted(self.new, (most,))[0] if self.new else most
        return any(money.amount > (most.amount if money.currency == most.currency else 0) for money in self.increase)


def compare(old: Tree, new: Tree) -> Difference:
    """Hold two contents of campaign.json against each other."""
    changes: list[Change] = [*_end(old, new), *_cost(old, new)]
    for section in _NAMED:
        changes += _merged(_section(section, _by_name(old, section), _by_name(new, section)))
        if section == "lots":
            changes += _margins(old, new)
        elif section == "windows":
            changes += _moves(old, new)
    for section in _SINGLE:
        changes += _fields(section, "", old.get(section) or {}, new.get(section) or {}, _DERIVED.get(section, ()))
    for section in _UNNAMED:
        changes += _unnamed(section, old.get(section) or [], new.get(section) or [])
    return Difference(
        tuple(changes), _last_end(old), _last_end(new), _total(old), _total(new), _clock_end(old), _clock_end(new), new
    )


def _end(old: Tree, new: Tree) -> Iterator[Change]:
    before, after = _last_end(old), _last_end(new)
    starts = [str(side["campaign"].get("start") or "T+0") for side in (old, new)]
    if starts[0] != starts[1]:
        yield Change("start", "", "", *starts)
    if before != after:
        yield Change("end", "", "", format_duration(before), format_duration(after), signed(after - before))
    elif (clock := (_clock_end(old), _clock_end(new)))[0] != clock[1]:
        moved = Difference((), before, after, (), (), *clock).later_s
        yield Change("end", "", "", *clock, signed(moved) if moved else None)


def _margins(old: Tree, new: Tree) -> Iterator[Change]:
    """How much of each lot is left over."""
    for name, (lot, other) in _pairs(_by_name(old, "lots"), _by_name(new, "lots")):
        if lot is not None and other is not None:
            free, left = _uncommitted(old, lot), _uncommitted(new, other)
            if free != left and free is not None and left is not None:
                yield Change("lot", name, "uncommitted", margin(free), margin(left), signed(left - free))


def _cost(old: Tree, new: Tree) -> Iterator[Change]:
    for kind, sections in (("rental", ("lots",)), ("expenses", ("expenses",)), ("total", ("lots", "expenses"))):
        before, after = _total(old, sections), _total(new, sections)
        if before != after:
            grown = Difference((), Fraction(0), Fraction(0), before, after).increase
            difference = ", ".join(
                f"{'+' if money.amount > 0 else '−'}{money * (1 if money.amount > 0 else -1)}" for money in grown
            )
            yield Change("cost", kind, "", added_up(before), added_up(after), difference or None)


def _section(section: str, old: Mapping[str, Tree], new: Mapping[str, Tree]) -> Iterator[Change]:
    word = _SINGULAR[section]
    for name, (before, after) in _pairs(old, new):
        if before is None:
            yield Change(word, name, "added", None, summary(section, after or {}))
        elif after is None:
            yield Change(word, name, "removed", summary(section, before), None)
        else:
            yield from _fields(word, name, before, after, _DERIVED.get(section, ()))


def _fields(
    section: str, name: str, old: Tree, new: Tree, skip: Sequence[str] = (), prefix: str = ""
) -> Iterator[Change]:
    for key in dict.fromkeys([*old, *new]):
        before, after = old.get(key), new.get(key)
        if key in skip or before == after:
            continue
        if (
            key == "package"
            and isinstance(before, dict)
            and isinstance(after, dict)
            and before.get("name") != after.get("name")
        ):
            yield Change(section, name, "package", str(before.get("name")), str(after.get("name")))
        elif is_group(before) and is_group(after):
            yield from _fields(section, name, before, after, (), f"{prefix}{key}.")
        else:
            what = f"{prefix}{key}"
            yield Change(section, name, label(what), shown(what, before), shown(what, after), gap(what, before, after))


def _moves(old: Tree, new: Tree) -> Iterator[Change]:
    """Windows that stand elsewhere on the campaign's own clock."""
    shifts: dict[Fraction, list[str]] = {}
    for name, (before, after) in _pairs(_by_name(old, "windows"), _by_name(new, "windows")):
        if before is not None and after is not None and before["start_s"] != after["start_s"]:
            shifts.setdefault(exact(after["start_s"]) - exact(before["start_s"]), []).append(name)
    for shift, names in shifts.items():
        later = "later" if shift > 0 else "earlier"
        yield Change(
            "window", ", ".join(names), "starts", None, f"{format_duration(abs(shift))} {later}", signed(shift)
        )


def _unnamed(section: str, old: Iterable[Tree], new: Iterable[Tree]) -> Iterator[Change]:
    skip = _DERIVED.get(section, ())
    sides = [
        {json.dumps({k: v for k, v in block.items() if k not in skip}, sort_keys=True): block for block in side}
        for side in (old, new)
    ]
    word = _SINGULAR.get(section, section)
    for key, block in sides[0].items():
        if key not in sides[1]:
            yield Change(word, "", "removed", flat(block, skip), None)
    for key, block in sides[1].items():
        if key not in sides[0]:
            yield Change(word, "", "added", None, flat(block, skip))


def _merged(changes: Iterable[Change]) -> Iterator[Change]:
    """The same change of several things is told once: what variants inherit changes with them."""
    groups: dict[tuple[Any, ...], list[Change]] = {}
    for change in changes:
        groups.setdefault((change.section, change.what, change.old, change.new), []).append(change)
    for alike in groups.values():
        first = alike[0]
        yield Change(
            first.section,
            ", ".join(change.name for change in alike),
            first.what,
            first.old,
            first.new,
            first.difference,
        )


def _pairs(old: Mapping[str, Tree], new: Mapping[str, Tree]) -> Iterator[tuple[str, tuple[Tree | None, Tree | None]]]:
    for name in dict.fromkeys([*old, *new]):
        yield name, (old.get(name), new.get(name))


def _by_name(tree: Tree, section: str) -> dict[str, Tree]:
    return {str(block["name"]): block for block in tree.get(section) or []}


def _last_end(tree: Tree) -> Fraction:
    return max((exact(window["end_s"]) for window in tree.get("windows") or []), default=Fraction(0))


def _clock_end(tree: Tree) -> str | None:
    """When the last window ends, by the clock; None where that isn't known."""
    last = max(tree.get("windows") or [], key=lambda window: exact(window["end_s"]), default=None)
    end = None if last is None else last.get("end")
    try:
        return end if isinstance(end, str) and datetime.fromisoformat(end).tzinfo is not None else None
    except ValueError:
        return None


def _uncommitted(tree: Tree, lot: Tree) -> Fraction | None:
    """Usable end less the end of the last window on it; negative is an overrun."""
    if lot.get("usable_end_s") is None:
        return None
    ends = [exact(window["end_s"]) for window in tree.get("windows") or [] if window.get("lot") == lot["name"]]
    return exact(lot["usable_end_s"]) - max(ends, default=exact(lot.get("start_s") or 0))


def _total(tree: Tree, sections: Sequence[str] = ("lots", "expenses")) -> tuple[Money, ...]:
    blocks = [block for section in sections for block in tree.get(section) or []]
    amounts = [money_of(block.get("price") or block.get("amount")) for block in blocks]
    return _converted(tree, (amount for amount in amounts if amount is not None))


def _converted(tree: Tree, amounts: Iterable[Money]) -> tuple[Money, ...]:
    """The sum, in the campaign's currency where its rates reach it."""
    campaign = tree["campaign"]
    rates = {
        currency: rate
        for currency, value in (campaign.get("rates") or {}).items()
        if (rate := money_of(value)) is not None
    }
    return total(amounts, rates, campaign.get("currency"))
