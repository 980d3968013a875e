"""The marks that both forms of the Gantt chart share: bars, the grid of time, breaks, the legend."""

from __future__ import annotations

from collections.abc import Sequence

from campc.report import axis as axes
from campc.report.drawing import Canvas, width_of
from campc.report.gantt_model import Bar, Clockwork

GUTTER = 128.0
"""Room for names, left of the time."""
AXIS = 22.0
"""Height of the times of day above."""


def bar_(canvas: Canvas, bar: Bar, x: float, y: float, width: float, height: float) -> None:
    canvas.rectangle(bar.mark, x, y, width, height, min(1.5, width / 3))
    if bar.critical:
        canvas.line("critical", x, y + height + 1.2, x + width, y + height + 1.2)
    if bar.stopped:
        edge = x + width
        canvas.line("cross", edge - 3, y, edge + 3, y + height)
        canvas.line("cross", edge - 3, y + height, edge + 3, y)


def grid(canvas: Canvas, scale: axes.Axis, clock: Clockwork, top: float, bottom: float) -> None:
    ticks = scale.ticks(clock.start, clock.zone)
    for tick in ticks:
        canvas.line("grid", tick.x, top + AXIS - 4, tick.x, bottom)
        anchor = "start" if tick.x < scale.left + 12 else "end" if tick.x > scale.right - 20 else "middle"
        canvas.text("ink" if tick.strong else "muted", tick.x, top + 12, tick.label, 9.5, anchor, bold=tick.strong)
    canvas.line("axis", scale.left, top + AXIS - 4, scale.right, top + AXIS - 4)


def break_(canvas: Canvas, x: float, top: float, bottom: float) -> None:
    """The axis is cut here: two slanted strokes across everything."""
    for shift in (-2.5, 2.5):
        canvas.polyline("break", [(x + shift - 2, bottom), (x + shift + 2, top - 8)])


def legend_(canvas: Canvas, entries: Sequence[tuple[str, str]], broken: bool) -> None:
    x, y = 6.0, canvas.height + 14
    entries = [*entries, *([("break", "a long idle stretch, drawn short")] if broken else [])]
    for mark, label in entries:
        needed = 20 + width_of(label, 9.5) + 7
        if x + needed > canvas.width and x > 6:
            x, y = 6.0, y + 15
        _swatch(canvas, mark, x, y)
        canvas.text("muted", x + 22, y, label, 9.5)
        x += needed
    canvas.height = y + 6


def _swatch(canvas: Canvas, mark: str, x: float, y: float) -> None:
    if mark == "gate":
        canvas.diamond(mark, x + 8, y - 3.5, 5)
    elif mark in ("end", "deadline"):
        canvas.line(mark, x + 8, y - 10, x + 8, y + 2)
    elif mark == "critical":
        canvas.line(mark, x, y - 2, x + 16, y - 2)
    elif mark == "break":
        break_(canvas, x + 8, y, y + 2)
    elif mark == "cross":
        canvas.line(mark, x + 5, y - 8, x + 11, y)
        canvas.line(mark, x + 5, y, x + 11, y - 8)
    else:
        canvas.rectangle(mark, x, y - 8, 16, 8, 1)
