"""``campc diff``: what changes from one plan to another, for a reader, a pull request or a tool."""

from __future__ import annotations

import json
import re
import sys
from argparse import Namespace
from collections.abc import Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

from attrs import evolve, frozen

from campc.diff import Change, Difference, compare
from campc.values.currencies import DECIMALS
from campc.values.money import Money
from campc.values.quantities import format_duration, plain

SAME, ERROR, DIFFERS, COSTS_MORE = 0, 1, 2, 3
_NO_PLAN = ("C1", "C2")
"""Errors of syntax, names and types: what the author means isn't known."""
_MONEY = re.compile(r"(\d[\d_]*(?:\.\d+)?)\s*([A-Z]{3})")


class Unreadable(Exception):
    """One of the two can't be compared; the text says why and what to do."""


@frozen
class Side:
    """One of the two: a spec or a bundle."""

    name: str
    content: Mapping[str, Any]
    faults: tuple[str, ...] = ()
    """Errors of a spec that has a plan all the same."""

    @property
    def plan_hash(self) -> str:
        """The hash of its plan."""
        return str(self.content["plan_hash"])


def command(options: Namespace) -> int:
    """Compare two plans: 0 the same, 1 one can't be read or the new one has errors, 2 they differ, 3 the new one costs too much more.

    Of a spec with errors in its schedule or cost the difference is printed too: a reader wants to see the overrun, and that one is mended.
    """
    try:
        most = amount(options.max_increase) if options.max_increase is not None else None
        labels = options.label or []
        if len(labels) not in (0, 2):
            raise Unreadable("--label is given twice, for OLD and for NEW, or not at all")
        old, new = read(options.old), read(options.new)
    except Unreadable as fault:
        if options.format_ == "json":
            from campc.render.json import render_failure

            sys.stdout.write(render_failure(str(fault)))
        else:
            sys.stderr.write(f"campc: {fault}\n")
        return ERROR
    if labels:
        old, new = evolve(old, name=labels[0]), evolve(new, name=labels[1])
    found = compare(old.content, new.content)
    too_much = most is not None and found.exceeds(most)
    render = {"text": text, "markdown": as_markdown, "json": as_json}[options.format_]
    sys.stdout.write(render(old, new, found, most if too_much else None))
    sys.stdout.flush()
    for side in (old, new):
        sys.stderr.write("".join(f"campc: {side.name}: {fault}\n" for fault in side.faults))
    if new.faults:
        return ERROR
    return COSTS_MORE if too_much else SAME if found.same else DIFFERS


def read(path: Path) -> Side:
    """A spec, or a bundle's folder.

    Raises:
        Unreadable: it is neither, or the spec has errors.
    """
    if path.is_dir():
        from campc.closeout.bundle import Refused, open_bundle

        try:
            return Side(str(path), open_bundle(path).tree)
        except Refused as refused:
            raise Unreadable(str(refused)) from None
    from campc.emit.campaign_json import campaign_json
    from campc.pipeline import Compiled, compile_path

    compiled = compile_path(path)
    if not isinstance(compiled, Compiled):
        said = compiled[0].message if compiled else "it can't be read"
        raise Unreadable(said if str(path) in said else f"{path}: {said}")
    faults = tuple(f"{fault.code} {fault.message}" for fault in compiled.errors)
    if any(fault.code[:2] in _NO_PLAN for fault in compiled.errors):
        more = f", and {len(faults) - 1} more" if len(faults) > 1 else ""
        raise Unreadable(f"{path} has errors: {faults[0]}{more}; `campc check {path}` shows where")
    names = {name: dict[int | None, str]() for name in compiled.plan.spec.runs}
    return Side(str(path), json.loads(json.dumps(campaign_json(compiled.plan, "", names))), faults)


def amount(words: str) -> Money:
    """``10USD`` or ``10 USD`` as money.

    Raises:
        Unreadable: it is no amount.
    """
    match = _MONEY.fullmatch(words.strip())
    if match is None or match[2] not in DECIMALS:
        raise Unreadable(f"--max-increase takes an amount such as 10USD, not {words!r}")
    return Money(Fraction(Decimal(match[1].replace("_", ""))), match[2])


def headline(found: Difference) -> str:
    """What the changes come to, in one sentence."""
    if found.same:
        return "The two plans are the same."
    later = found.later_s
    parts = [
        f"ends {format_duration(abs(later))} {'later' if later > 0 else 'earlier'}" if later else "ends when it did"
    ]
    for money in found.increase:
        parts.append(f"costs {money * (1 if money.amount > 0 else -1)} {'more' if money.amount > 0 else 'less'}")
    if not found.increase:
        parts.append("costs the same")
    return f"The plan changes: it {', '.join(parts[:-1])} and {parts[-1]}."


def text(old: Side, new: Side, found: Difference, most: Money | None) -> str:
    """For a terminal."""
    lines = [f"{old.name} → {new.name}", headline(found)]
    section = ""
    for change in found.changes:
        if change.section != section:
            section = change.section
            lines += ["", section]
        lines.append(f"  {_sign(change)} {_sentence(change)}")
    if most is not None:
        lines += ["", f"It costs more than {most} more."]
    return "".join(f"{''.join(c if c.isprintable() else ' ' for c in line)}\n" for line in lines)


def as_markdown(old: Side, new: Side, found: Difference, most: Money | None) -> str:
    """For a pull request."""
    from campc.commands.diff_markdown import code, markdown

    names = tuple(f"{code(side.name)} {code(side.plan_hash[:12])}" for side in (old, new))
    title = str(new.content["campaign"]["name"])
    return markdown(title, headline(found), found, names=(names[0], names[1]), faults=new.faults, most=most)


def as_json(old: Side, new: Side, found: Difference, most: Money | None) -> str:
    """For a tool."""

    def amounts(values: Sequence[Money]) -> list[dict[str, str]]:
        return [money.to_json() for money in values]

    tree = {
        "version": 1,
        "same": found.same,
        "old": {"name": old.name, "plan_hash": old.plan_hash},
        "new": {"name": new.name, "plan_hash": new.plan_hash},
        "end": {
            "old_s": plain(found.old_end_s),
            "new_s": plain(found.new_end_s),
            "difference_s": plain(found.new_end_s - found.old_end_s),
            "old": found.old_end,
            "new": found.new_end,
            "later_s": plain(found.later_s),
        },
        "cost": {"old": amounts(found.old_cost), "new": amounts(found.new_cost), "increase": amounts(found.increase)},
        "exceeds": None if most is None else most.to_json(),
        "changes": [
            {
                "section": c.section,
                "name": c.name,
                "what": c.what,
                "old": c.old,
                "new": c.new,
                "difference": c.difference,
            }
            for c in found.changes
        ],
    }
    return json.dumps(tree, ensure_ascii=False, indent=1) + "\n"


def _sign(change: Change) -> str:
    return {"added": "+", "removed": "−"}.get(change.what, "~")


def _sentence(change: Change) -> str:
    name = f"{change.name}: " if change.name else ""
    if change.what in ("added", "removed"):
        return f"{name}{change.new if change.what == 'added' else change.old}".removesuffix(": ")
    what = f"{change.what} " if change.what else ""
    if change.section == "window" and change.what == "starts":
        return f"{name}starts {change.new}"
    difference = f" ({change.difference})" if change.difference else ""
    return f"{name}{what}{change.old if change.old is not None else 'nothing'} → {change.new if change.new is not None else 'nothing'}{difference}"
