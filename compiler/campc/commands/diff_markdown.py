"""A difference of two plans as Markdown: what it comes to first, as a comment on a pull request is read.

What comes out of a spec stands in code spans, in which Markdown, HTML, mentions, links and references of a forge mean nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from fractions import Fraction

from campc.diff import Change, Difference
from campc.values.money import Money
from campc.values.quantities import format_duration

ROWS_AT_MOST, LETTERS_AT_MOST = 120, 240
"""Of a table, and of a cell: GitHub takes 65,536 characters as a comment. The rest is counted."""
_FIGURE = re.compile(r"(?:[+−]?\d[\d,.]*|[A-Z]{3}|h|min|ms|s|over|later|earlier|none|\.\.|\+|per| )+")
_WORDS = re.compile(r"(?!.*www)[A-Za-z0-9_. ]*")
_UNSEEN = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff\ufeff\ufffe\uffff]")
_SUMMED = ("start", "end", "cost")


def markdown(
    title: str, headline: str, found: Difference, *, names: tuple[str, str], faults: Sequence[str], most: Money | None
) -> str:
    """The comment: headline, what the plan comes to before and after, each change, and where the plans came from.

    ``faults`` are the new plan's errors; ``most`` is the limit on the increase, where it is exceeded.
    """
    lines = [f"### Plan of {code(title)}", "", f"**{_escaped(headline)}**"]
    if most is not None:
        lines += ["", f"❌ It costs more than {_escaped(str(most))} more, which is the limit."]
    if faults:
        count = "an error" if len(faults) == 1 else f"{len(faults)} errors"
        lines += ["", f"❌ The new plan has {count} and can't be built:", "", *(f"- {code(fault)}" for fault in faults)]
    if not found.same:
        lines += ["", *_table("What it comes to", _sums(found))]
        rest = [change for change in found.changes if change.section not in _SUMMED]
        if rest:
            lines += ["", *_table("What changes", (_row(change) for change in rest[:ROWS_AT_MOST]))]
        if len(rest) > ROWS_AT_MOST:
            lines += ["", f"… and {len(rest) - ROWS_AT_MOST:,} changes more: `campc diff` prints them all."]
    return "\n".join([*lines, "", f"<sub>{' → '.join(names)}</sub>"]) + "\n"


def _table(head: str, rows: Iterator[tuple[str, ...]]) -> Iterator[str]:
    yield f"| {head} | before | after | difference |"
    yield "|---|---|---|---|"
    for row in rows:
        yield f"| {' | '.join(row)} |"


def _sums(found: Difference) -> Iterator[tuple[str, ...]]:
    """Start, end and cost, the end and the total also where they stay."""
    for change in found.changes:
        if change.section == "start":
            yield ("starts", _value(change.old), _value(change.new), "")
    difference = f"{'+' if found.later_s > 0 else '−'}{format_duration(abs(found.later_s))}" if found.later_s else "—"
    yield ("ends", _ends(found.old_end, found.old_end_s), _ends(found.new_end, found.new_end_s), difference)
    costs = {change.name: change for change in found.changes if change.section == "cost"}
    for name in ("rental", "expenses"):
        if name in costs and len(costs) > 2:
            yield (name, *_values(costs[name]))
    if "total" in costs:
        yield ("costs", *_values(costs["total"]))
    else:
        amount = _value(" + ".join(str(money) for money in found.new_cost) or "none")
        yield ("costs", amount, amount, "—")


def _ends(iso: str | None, seconds: Fraction) -> str:
    elapsed = f"after {format_duration(seconds)}"
    return elapsed if iso is None else f"{_escaped(iso[:16].replace('T', ' '))}, {elapsed}"


def _row(change: Change) -> tuple[str, ...]:
    what = f"{change.section} {code(change.name)}" if change.name else change.section
    if change.what == "added":
        return (what, "*new*", _value(change.new), "")
    if change.what == "removed":
        return (what, _value(change.old), "*gone*", "")
    if change.section == "window" and change.what == "starts":
        return (f"{what} starts", "", _value(change.new), _value(change.difference))
    return (f"{what} {_key(change.what)}".strip(), *_values(change))


def _values(change: Change) -> tuple[str, str, str]:
    return (
        _value(change.old) or "*not set*",
        _value(change.new) or "*not set*",
        _value(change.difference),
    )


def _key(what: str) -> str:
    return _escaped(what) if _WORDS.fullmatch(what) else code(what)


def _value(text: str | None) -> str:
    """A figure as it stands, anything else as code."""
    if not text:
        return ""
    return text if _FIGURE.fullmatch(text) else code(text)


def code(text: str) -> str:
    """Text as code in a cell of a table, on one line, whatever it holds."""
    flat = _UNSEEN.sub("\ufffd", " ".join(text.split()))
    if len(flat) > LETTERS_AT_MOST:
        flat = f"{flat[: LETTERS_AT_MOST - 1]}…"
    if not flat:
        return ""
    # A table splits its cells first, at each bar that no odd number of backslashes precedes, and takes one of them away.
    flat = re.sub(r"(\\*)\|", lambda bar: f"{bar[1]}{'' if len(bar[1]) % 2 else chr(92)}|", flat)
    fence = "`" * (max((len(run) for run in re.findall("`+", flat)), default=0) + 1)
    pad = " " if "`" in flat else ""
    return f"{fence}{pad}{flat}{pad}{fence}"


def _escaped(text: str) -> str:
    flat = _UNSEEN.sub("\ufffd", " ".join(text.split()))
    return re.sub(r"([\\`*_\[\]<>&|~#$@])", r"\\\1", flat)
