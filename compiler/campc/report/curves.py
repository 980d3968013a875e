"""Metrics over steps, as small multiples: one chart a metric, one line a run."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from campc.closeout.model import Series
from campc.report import words
from campc.report.drawing import Canvas, Drawing, fitted, width_of
from campc.report.ink import SERIES

Place = Callable[[float, float], tuple[float, float]]

WIDTH, HEIGHT = 330.0, 190.0
BUCKETS = 160
"""A line is drawn through at most four points of each: more cannot be seen."""
LEFT, RIGHT, TOP, BOTTOM = 46.0, 8.0, 22.0, 34.0


def charts(series: Sequence[Series]) -> tuple[Drawing, ...]:
    """One chart for each metric, in the order in which the metrics come."""
    metrics = list(dict.fromkeys(item.metric for item in series))
    runs = list(dict.fromkeys(item.run for item in series))
    return tuple(
        _chart(f"curve-{index + 1}", metric, [s for s in series if s.metric == metric], runs)
        for index, metric in enumerate(metrics)
    )


def _chart(name: str, metric: str, series: list[Series], runs: list[str]) -> Drawing:
    canvas = Canvas(name, WIDTH, HEIGHT)
    finite = [value for item in series for _, value in item.points if math.isfinite(value)]
    steps = [step for item in series for step, _ in item.points]
    low, high = (min(finite), max(finite)) if finite else (0.0, 1.0)
    ticks = _round_ticks(low, high)
    low, high = min(low, ticks[0]), max(high, ticks[-1])
    last = max(steps, default=1) or 1

    def place(step: float, value: float) -> tuple[float, float]:
        y = HEIGHT - BOTTOM - (value - low) / (high - low or 1.0) * (HEIGHT - TOP - BOTTOM)
        return LEFT + step / last * (WIDTH - LEFT - RIGHT), y

    canvas.text("ink", 0, 12, metric, 11, bold=True)
    for tick in ticks:
        y = place(0, tick)[1]
        canvas.line("grid", LEFT, y, WIDTH - RIGHT, y)
        canvas.text("muted", LEFT - 5, y + 3.3, words.figure(tick), 9, "end")
    canvas.line("axis", LEFT, HEIGHT - BOTTOM, WIDTH - RIGHT, HEIGHT - BOTTOM)
    canvas.text("muted", LEFT, HEIGHT - BOTTOM + 12, "0", 9, "middle")
    canvas.text("muted", WIDTH - RIGHT, HEIGHT - BOTTOM + 12, f"{last:,} steps", 9, "end")
    shown: list[str] = []
    for item in series:
        index = runs.index(item.run) % len(SERIES)
        _line(canvas, item, index, place)
        if item.run not in shown:
            shown.append(item.run)
    _key(canvas, shown, runs)
    return canvas.finish(_alternative(metric, series))


def _line(canvas: Canvas, item: Series, index: int, place: Place) -> None:
    stretch: list[tuple[float, float]] = []
    for step, value in thinned(item.points):
        if math.isfinite(value):
            stretch.append(place(step, value))
            continue
        _stretch(canvas, stretch, index)
        stretch = []
        x = place(step, 0)[0]
        canvas.line("cross", x - 3, TOP + 1, x + 3, TOP + 7)
        canvas.line("cross", x - 3, TOP + 7, x + 3, TOP + 1)
    _stretch(canvas, stretch, index)


def thinned(points: Sequence[tuple[int, float]]) -> list[tuple[int, float]]:
    """The points that a drawing needs: of each stretch the first, the last, the lowest and the highest, and all that aren't finite."""
    if len(points) <= 4 * BUCKETS:
        return list(points)
    length = math.ceil(len(points) / BUCKETS)
    kept: list[tuple[int, float]] = []
    for start in range(0, len(points), length):
        bucket = range(start, min(start + length, len(points)))
        finite = [i for i in bucket if math.isfinite(points[i][1])]
        edges = {min(finite, key=lambda i: points[i][1]), max(finite, key=lambda i: points[i][1])} if finite else set()
        broken = {i for i in bucket if not math.isfinite(points[i][1])}
        kept += [points[i] for i in sorted({bucket[0], bucket[-1]} | edges | broken)]
    return kept


def _stretch(canvas: Canvas, points: list[tuple[float, float]], index: int) -> None:
    if len(points) == 1:
        canvas.line(f"line-{index}", points[0][0] - 3, points[0][1], points[0][0] + 3, points[0][1])
    elif points:
        canvas.polyline(f"line-{index}", points, SERIES[index][1])


def _key(canvas: Canvas, shown: list[str], runs: list[str]) -> None:
    x, y = LEFT, HEIGHT - 6
    for run in shown:
        index = runs.index(run) % len(SERIES)
        label = fitted(run, 90, 9)
        if x + 26 + width_of(label, 9) > WIDTH:
            canvas.text("muted", x, y, "…", 9)
            return
        canvas.polyline(f"line-{index}", [(x, y - 3), (x + 18, y - 3)], SERIES[index][1])
        canvas.text("muted", x + 22, y, label, 9)
        x += 30 + width_of(label, 9)


def _round_ticks(low: float, high: float) -> list[float]:
    """Three to six round values around a range."""
    if not high > low:
        reach = abs(low) * 0.1 or 1.0
        low, high = low - reach, high + reach
    rough = (high - low) / 4
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(factor * power for factor in (1, 2, 2.5, 5, 10) if factor * power >= rough)
    first, last = math.floor(low / step), math.ceil(high / step)
    return [k * step for k in range(first, last + 1)]


def _alternative(metric: str, series: list[Series]) -> str:
    parts = []
    for item in series:
        if item.points:
            parts.append(
                f"{item.run_id} from {words.figure(item.points[0][1])} to {words.figure(item.points[-1][1])} at step {item.points[-1][0]:,}"
            )
    return f"{metric} over steps: {'; '.join(parts)}."
