"""The status as one self-contained page: a table, what stands out, and a curve for each metric."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from campc_harness import agenda
from campc_harness.progress import Progress
from campc_harness.status import Row, Status, projection_line

_WIDTH, _HEIGHT, _LEFT, _BOTTOM = 420, 190, 56, 24
_MOST_POINTS = 400
_STYLES = (("#0b6e99", ""), ("#a8471b", "6 3"), ("#4d7c2a", "2 3"), ("#6b4fa0", "8 3 2 3"), ("#7a6a00", "1 2"))
_CSS = """
:root { color-scheme: light dark; --ink: #1d2730; --soft: #5c6a75; --line: #d5dce2; --paper: #fff; --mark: #eef4f7 }
@media (prefers-color-scheme: dark) { :root { --ink: #e5ebf0; --soft: #9fb0bd; --line: #36424d; --paper: #14191e; --mark: #1d2830 } }
body { font: 15px/1.45 system-ui, sans-serif; color: var(--ink); background: var(--paper); max-width: 72rem; margin: 2rem auto; padding: 0 1rem }
h1 { font-size: 1.5rem; margin: 0 } h2 { font-size: 1.1rem; margin: 2rem 0 .5rem } p { margin: .3rem 0; color: var(--soft) }
p.verdict { color: var(--ink); font-weight: 600 } .wide { overflow-x: auto }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums } caption { text-align: left; color: var(--soft) }
th, td { text-align: left; padding: .25rem .6rem; border-bottom: 1px solid var(--line); vertical-align: top } th { color: var(--soft) }
tr.runs td { background: var(--mark); font-weight: 600 } td.n, th.n { text-align: right }
.curves { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 26rem), 1fr)); gap: 1.5rem }
figure { margin: 0 } svg { width: 100%; height: auto } svg text { fill: var(--soft); font-size: 11px } svg .axis { stroke: var(--line) }
details { color: var(--soft) } figcaption span { margin-right: 1rem; white-space: nowrap }
"""

Points = Sequence[tuple[int, float]]


def page(shown: Status) -> str:
    """The page as HTML; it needs no network and no script."""
    title = f"{shown.campaign} on {shown.lot}"
    body = [f"<h1>{escape(title)}</h1>", f"<p>The launcher {escape(shown.launcher)}.</p>"]
    if shown.projection is not None:
        body.append(f'<p class="verdict">{escape(_sentence(projection_line(shown.projection)))}</p>')
    body += [f"<p>{escape(line.strip())}</p>" for line in shown.lines]
    body += ["<h2>Windows</h2>", _table(shown.rows)]
    figures = list(_figures(shown.progress))
    if figures:
        body += ["<h2>Measurements</h2>", '<div class="curves">', *figures, "</div>"]
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{_CSS}</style></head>\n<body><main>\n"
        + "\n".join(body)
        + "\n</main></body></html>\n"
    )


def _sentence(text: str) -> str:
    return text[0].upper() + text[1:] + "."


def _table(rows: Sequence[Row]) -> str:
    heads = "".join(
        f'<th scope="col"{mark}>{name}</th>'
        for name, mark in (
            ("Window", ""),
            ("Tier", ""),
            ("Kind", ""),
            ("State", ""),
            ("Took", ' class="n"'),
            ("Planned", ' class="n"'),
            ("Progress", ""),
            ("Remark", ""),
        )
    )
    lines = []
    for row in rows:
        took = agenda.hours(row.took_s) if row.took_s is not None else ""
        cells = "".join(f"<td>{escape(text)}</td>" for text in (row.tier, row.kind, row.state))
        cells += f'<td class="n">{took}</td><td class="n">{agenda.hours(row.planned_s)}</td>'
        cells += f"<td>{escape(row.progress)}</td><td>{escape(row.remark)}</td>"
        mark = ' class="runs"' if row.state == "runs" else ""
        lines.append(f'<tr{mark}><th scope="row">{escape(row.window)}</th>{cells}</tr>')
    return (
        f'<div class="wide"><table><thead><tr>{heads}</tr></thead><tbody>\n'
        + "\n".join(lines)
        + "\n</tbody></table></div>"
    )


def _figures(progress: Progress) -> Iterator[str]:
    """One figure for each metric: a curve for each run and window that reported it."""
    metrics = dict.fromkeys(name for run in progress.runs.values() for _, _, values in run.curve for name in values)
    for metric in metrics:
        series: list[tuple[str, Points]] = []
        for run in progress.runs.values():
            points = [(step, values[metric]) for _, step, values in run.curve if step is not None and metric in values]
            finite = [(step, value) for step, value in _standing(points) if value - value == 0]
            if finite:
                series.append((f"{run.run_id} ({run.window})", _thinned(finite)))
        if series:
            yield _figure(metric, series)


def _figure(metric: str, series: Sequence[tuple[str, Points]]) -> str:
    steps = [step for _, points in series for step, _ in points]
    values = [value for _, points in series for _, value in points]
    low, high, first, last = min(values), max(values), min(steps), max(steps)
    if high == low:
        margin = abs(low) / 10 or 1.0
        low, high = low - margin, high + margin
    last = last if last > first else first + 1

    def x(step: int) -> float:
        return _LEFT + (step - first) / (last - first) * (_WIDTH - _LEFT - 8)

    def y(value: float) -> float:
        return 8 + (high - value) / (high - low) * (_HEIGHT - _BOTTOM - 8)

    drawn, legend, rows = [], [], []
    for index, (name, points) in enumerate(series):
        colour, dash = _STYLES[index % len(_STYLES)]
        line = " ".join(f"{x(step):.1f},{y(value):.1f}" for step, value in points)
        dashed = f' stroke-dasharray="{dash}"' if dash else ""
        drawn.append(f'<polyline fill="none" stroke="{colour}" stroke-width="1.8"{dashed} points="{line}"/>')
        if len(points) == 1:
            drawn.append(f'<circle cx="{x(points[0][0]):.1f}" cy="{y(points[0][1]):.1f}" r="3" fill="{colour}"/>')
        key = f'<svg width="24" height="8" style="width:24px" aria-hidden="true"><path d="M0 4h24" stroke="{colour}" stroke-width="2"{dashed}/></svg>'
        legend.append(f"<span>{key} {escape(name)}: {points[-1][1]:.5g}</span>")
        rows.append(
            f"<tr><td>{escape(name)}</td>" + "".join(f'<td class="n">{v}</td>' for v in _facts(points)) + "</tr>"
        )
    axes = (
        f'<path class="axis" fill="none" d="M{_LEFT} 8V{_HEIGHT - _BOTTOM}H{_WIDTH - 8}"/>'
        f'<text x="{_LEFT - 6}" y="14" text-anchor="end">{high:.4g}</text>'
        f'<text x="{_LEFT - 6}" y="{_HEIGHT - _BOTTOM}" text-anchor="end">{low:.4g}</text>'
        f'<text x="{_LEFT}" y="{_HEIGHT - 6}">step {first}</text>'
        f'<text x="{_WIDTH - 8}" y="{_HEIGHT - 6}" text-anchor="end">{last}</text>'
    )
    label = escape(f"{metric} by step, from {low:.4g} to {high:.4g}", quote=True)
    head = "".join(
        f'<th scope="col"{m}>{n}</th>'
        for n, m in (
            ("Run", ""),
            ("Points", ' class="n"'),
            ("Lowest", ' class="n"'),
            ("Highest", ' class="n"'),
            ("Last", ' class="n"'),
        )
    )
    return (
        f"<figure><figcaption><strong>{escape(metric)}</strong><br>{''.join(legend)}</figcaption>"
        f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{label}">{axes}{"".join(drawn)}</svg>'
        f"<details><summary>As a table</summary><table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table></details></figure>"
    )


def _facts(points: Points) -> tuple[str, str, str, str]:
    values = [value for _, value in points]
    return str(len(points)), f"{min(values):.5g}", f"{max(values):.5g}", f"{values[-1]:.5g}"


def _standing(points: Points) -> Points:
    """Without what an attempt measured beyond the checkpoint that the next one went on from."""
    kept: list[tuple[int, float]] = []
    for step, value in points:
        while kept and kept[-1][0] >= step:
            kept.pop()
        kept.append((step, value))
    return kept


def _thinned(points: Points) -> Points:
    """At most 400 points: the lowest and the highest of each stretch, so that no spike is lost."""
    if len(points) <= _MOST_POINTS:
        return points
    size = -(-len(points) // (_MOST_POINTS // 2))
    kept: dict[int, None] = {}
    for start in range(0, len(points), size):
        stretch = range(start, min(start + size, len(points)))
        for index in sorted({min(stretch, key=lambda i: points[i][1]), max(stretch, key=lambda i: points[i][1])}):
            kept[index] = None
    kept[len(points) - 1] = None
    return [points[index] for index in sorted(kept)]
