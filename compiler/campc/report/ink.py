"""The palette, and what each class of mark in a chart looks like.

Said once: the page's custom properties and the charts' own attributes both come from here (a PDF's charts see no style sheet).
The tiers differ in lightness and in pattern, so that they survive greyscale, and in hues that the common forms of colour blindness tell apart.
"""

from __future__ import annotations

from collections.abc import Iterator

LIGHT = {
    "paper": "#ffffff",
    "tint": "#f3f5f8",
    "rule": "#d5dbe3",
    "faint": "#8a94a3",
    "muted": "#566171",
    "ink": "#1b2430",
    "link": "#1d4f85",
    "essential": "#234f7d",
    "useful": "#e3b558",
    "exploratory": "#c9dccf",
    "people": "#e8ebef",
    "on-essential": "#ffffff",
    "on-pale": "#1b2430",
    "pattern": "#7a5a14",
    "dots": "#41705a",
    "alarm": "#a3262a",
    "good": "#1e6b45",
    "alarm-tint": "#fbeeee",
    "good-tint": "#edf6f1",
    "caution": "#7d5600",
    "caution-tint": "#fdf6e6",
}
DARK = {
    "paper": "#14181d",
    "tint": "#1d232b",
    "rule": "#38424f",
    "faint": "#8590a0",
    "muted": "#a9b3c1",
    "ink": "#e8ecf1",
    "link": "#8fbdf0",
    "essential": "#9cc6f2",
    "useful": "#c9943a",
    "exploratory": "#5d8a78",
    "people": "#2d3540",
    "on-essential": "#0d1319",
    "on-pale": "#0d1319",
    "pattern": "#3d2d08",
    "dots": "#16241d",
    "alarm": "#ff9a97",
    "good": "#84d3ab",
    "alarm-tint": "#351d1f",
    "good-tint": "#172b22",
    "caution": "#eac376",
    "caution-tint": "#30270f",
}

SERIES = (
    ("essential", ""),
    ("alarm", "6 2"),
    ("good", "2 2"),
    ("caution", "8 2 2 2"),
    ("muted", "1 2"),
    ("ink", "10 3"),
)
"""Ink and dashes of the lines of one chart, told apart by both."""

MARKS: dict[str, dict[str, str]] = {
    "bar-essential": {"fill": "essential"},
    "bar-useful": {"fill": "useful"},
    "bar-exploratory": {"fill": "exploratory"},
    "bar-people": {"fill": "people", "stroke": "faint", "stroke-width": "0.75"},
    "bar-planned": {"fill": "none", "stroke": "muted", "stroke-width": "0.9"},
    "bar-stopped": {"fill": "alarm"},
    "hatch": {"stroke": "pattern", "stroke-width": "1.3", "fill": "none"},
    "dots": {"fill": "dots"},
    "on-essential": {"fill": "on-essential"},
    "on-pale": {"fill": "on-pale"},
    "tail": {"fill": "none", "stroke": "faint", "stroke-width": "0.9", "stroke-dasharray": "3 2"},
    "keep-free": {"fill": "rule"},
    "reserved": {"fill": "muted"},
    "overrun": {"fill": "alarm"},
    "critical": {"stroke": "ink", "stroke-width": "1.6", "fill": "none"},
    "end": {"stroke": "alarm", "stroke-width": "1.4", "fill": "none"},
    "end-text": {"fill": "alarm"},
    "deadline": {"stroke": "caution", "stroke-width": "1.6", "stroke-dasharray": "5 2", "fill": "none"},
    "gate": {"fill": "ink"},
    "grid": {"stroke": "rule", "stroke-width": "0.7", "fill": "none"},
    "axis": {"stroke": "faint", "stroke-width": "0.9", "fill": "none"},
    "break": {"stroke": "muted", "stroke-width": "1", "fill": "none"},
    "break-gap": {"fill": "paper"},
    "band": {"fill": "tint"},
    "ink": {"fill": "ink"},
    "muted": {"fill": "muted"},
    "cross": {"stroke": "alarm", "stroke-width": "1.8", "fill": "none"},
} | {f"line-{n}": {"stroke": ink, "stroke-width": "1.5", "fill": "none"} for n, (ink, _) in enumerate(SERIES)}  # fmt: skip


def attributes(mark: str) -> Iterator[tuple[str, str]]:
    """What a mark looks like on paper, as attributes of its element."""
    for name, value in MARKS[mark].items():
        yield name, LIGHT.get(value, value)


def custom_properties(palette: dict[str, str]) -> str:
    """A palette as CSS declarations."""
    return " ".join(f"--{name}: {value};" for name, value in palette.items())


def mark_rules() -> str:
    """The same marks as style rules that follow the page's palette, light or dark."""
    rules = []
    for mark, look in MARKS.items():
        inks = [f"{name}: var(--{value})" for name, value in look.items() if value in LIGHT]
        if inks:
            rules.append(f"svg .{mark} {{ {'; '.join(inks)} }}")
    return "\n".join(rules)
