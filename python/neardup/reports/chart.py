"""Bar charts as inline SVG, with the same numbers in a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from neardup.reports.markup import number, short_number, table

WIDTH = 440
HEIGHT = 240
LEFT = 46
RIGHT = 14
TOP = 30
BOTTOM = 46
# With more bars than this the numbers above them would touch.
NUMBERED_BARS = 12
WIDEST_BAR = 64
TABLE_ROWS = 200


@dataclass(frozen=True)
class Bar:
    label: str
    count: int


class Tick(NamedTuple):
    """A mark on the horizontal axis; `at` counts bars from the left."""

    at: float
    label: str


@dataclass(frozen=True)
class Chart:
    """All of its strings are our own words: nothing here is escaped."""

    name: str
    title: str
    across: str
    up: str
    bars: Sequence[Bar]
    ticks: Sequence[Tick]
    threshold: Tick | None = None
    rows: Sequence[Bar] | None = None
    """What the table lists, where it is finer than the bars."""


def figure(chart: Chart) -> str:
    rows = [bar for bar in (chart.bars if chart.rows is None else chart.rows) if bar.count]
    listed = table(
        [chart.across, chart.up],
        [[bar.label, number(bar.count)] for bar in rows[:TABLE_ROWS]],
        css="n",
    )
    more = ""
    if len(rows) > TABLE_ROWS:
        more = f'<p class="note">Showing {number(TABLE_ROWS)} of {number(len(rows))} rows.</p>'
    return (
        f'<figure class="chart">\n<figcaption><h2>{chart.title}</h2></figcaption>\n{svg(chart)}\n'
        f"<details><summary>As a table</summary>{listed}{more}</details>\n</figure>"
    )


def svg(chart: Chart) -> str:
    top = _ceiling(max((bar.count for bar in chart.bars), default=0))
    parts = [
        f'<svg role="img" aria-labelledby="{chart.name}" viewBox="0 0 {WIDTH} {HEIGHT}">',
        f'<title id="{chart.name}">{_described(chart)}</title>',
        *_grid(top),
        *_bars(chart, top),
        *_axis(chart),
        *_threshold(chart),
        f'<text class="axis" x="0" y="14" text-anchor="start">{chart.up}</text>',
        f'<text class="axis" x="{(LEFT + WIDTH - RIGHT) / 2:g}" y="{HEIGHT - 6}" '
        f'text-anchor="middle">{chart.across}</text>',
        "</svg>",
    ]
    return "\n".join(parts)


def _described(chart: Chart) -> str:
    total = number(sum(bar.count for bar in chart.bars))
    said = f"{chart.title}: {total} {chart.up} in all"
    return f"{said}; a line marks {chart.threshold.label}" if chart.threshold else said


def _x(chart: Chart, at: float) -> float:
    return LEFT + (WIDTH - LEFT - RIGHT) * at / max(len(chart.bars), 1)


def _y(count: float, top: int) -> float:
    return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * count / top


def _ceiling(highest: int) -> int:
    """The highest count rounded up, so that four lines divide it well."""
    if highest <= 8:
        return 4 if highest <= 4 else 8
    step = 1
    while 40 * step < highest:
        step *= 10
    # Tenths of the step, times four lines; below ten only whole numbers.
    tenths = (10, 15, 20, 25, 30, 40, 50, 60, 80, 100) if step > 1 else (30, 40, 50, 60, 80, 100)
    return next(part * step * 4 // 10 for part in tenths if part * step * 4 >= highest * 10)


def _grid(top: int) -> list[str]:
    parts = []
    for quarter in range(5):
        count = top * quarter // 4
        y = _y(count, top)
        parts.append(
            f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:g}" y2="{y:g}"/>'
            f'<text x="{LEFT - 6}" y="{y + 4:g}" text-anchor="end">{short_number(count)}</text>'
        )
    return parts


def _bars(chart: Chart, top: int) -> list[str]:
    parts = []
    width = _x(chart, 1) - LEFT
    # Narrow gaps between many bars; a few do not fill the whole width.
    gap = max(min(3.0, width * 0.15), width - WIDEST_BAR)
    for at, bar in enumerate(chart.bars):
        count = bar.count
        if not count:
            continue
        # The smallest number too must be seen.
        height = max(_y(0, top) - _y(count, top), 1.5)
        x, y = _x(chart, at), HEIGHT - BOTTOM - height
        parts.append(
            f'<rect class="bar" x="{x + gap / 2:.2f}" y="{y:.2f}" width="{width - gap:.2f}" '
            f'height="{height:.2f}"><title>{bar.label}: {number(count)}</title></rect>'
        )
        if len(chart.bars) <= NUMBERED_BARS:
            parts.append(
                f'<text class="count" x="{x + width / 2:.2f}" y="{y - 4:.2f}" '
                f'text-anchor="middle">{short_number(count)}</text>'
            )
    return parts


def _axis(chart: Chart) -> list[str]:
    y = HEIGHT - BOTTOM + 17
    return [
        f'<text x="{_x(chart, at):.2f}" y="{y}" text-anchor="middle">{label}</text>'
        for at, label in chart.ticks
    ]


def _threshold(chart: Chart) -> list[str]:
    if chart.threshold is None:
        return []
    x = min(max(_x(chart, chart.threshold.at), LEFT), WIDTH - RIGHT)
    right = x > WIDTH / 2
    return [
        f'<line class="threshold" x1="{x:.2f}" x2="{x:.2f}" y1="{TOP - 12}" '
        f'y2="{HEIGHT - BOTTOM}"/>',
        f'<text class="threshold" x="{x + (-6 if right else 6):.2f}" y="{TOP - 6}" '
        f'text-anchor="{"end" if right else "start"}">{chart.threshold.label}</text>',
    ]
