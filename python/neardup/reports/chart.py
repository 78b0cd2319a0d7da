"""Bar charts: where everything lies in the drawing. The template draws it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from neardup.reports.catalogue import Words
from neardup.reports.markup import number, short_number

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
    """So many that count, drawn above so many that were rejected."""

    label: str
    near: int
    far: int = 0

    @property
    def count(self) -> int:
        return self.near + self.far


class Tick(NamedTuple):
    """A mark on the horizontal axis; `at` counts bars from the left."""

    at: float
    label: str


@dataclass(frozen=True)
class Chart:
    """What a chart shows, in the words of one language.

    rows  what the table lists, where it is finer than the bars
    """

    name: str
    title: str
    across: str
    up: str
    bars: Sequence[Bar]
    ticks: Sequence[Tick]
    threshold: Tick | None = None
    rows: Sequence[Bar] | None = None
    notes: Sequence[str] = ()
    two_sided: bool = False


@dataclass(frozen=True)
class Box:
    """A bar, or its lower part. Numbers are as SVG has them."""

    css: str
    label: str
    x: str
    y: str
    width: str
    height: str


@dataclass(frozen=True)
class Label:
    text: str
    x: str
    y: str
    anchor: str


@dataclass(frozen=True)
class Drawing:
    """A chart as shapes and labels; `scale` is the count at its top."""

    chart: Chart
    described: str
    scale: int
    grid: Sequence[tuple[str, Label]]
    boxes: Sequence[Box]
    counts: Sequence[Label]
    ticks: Sequence[Label]
    line: tuple[str, Label] | None
    rows: Sequence[Bar]
    rows_note: str

    width, height, left, right = WIDTH, HEIGHT, LEFT, WIDTH - RIGHT
    top, bottom, middle = TOP - 12, HEIGHT - BOTTOM, (LEFT + WIDTH - RIGHT) // 2


def drawn(chart: Chart, words: Words) -> Drawing:
    top = _ceiling(max((bar.count for bar in chart.bars), default=0))
    boxes, counts = _bars(chart, top)
    rows = [bar for bar in (chart.bars if chart.rows is None else chart.rows) if bar.count]
    note = ""
    if len(rows) > TABLE_ROWS:
        note = words("chart.rows", shown=TABLE_ROWS, n=len(rows))
    return Drawing(
        chart,
        _described(chart, words),
        top,
        _grid(top),
        boxes,
        counts,
        [
            Label(label, f"{_x(chart, at):.2f}", str(HEIGHT - BOTTOM + 17), "middle")
            for at, label in chart.ticks
        ],
        _threshold(chart),
        rows[:TABLE_ROWS],
        note,
    )


def _described(chart: Chart, words: Words) -> str:
    total = sum(bar.count for bar in chart.bars)
    said = words("chart.described", title=chart.title, n=total, up=chart.up)
    if chart.threshold is None:
        return said
    return words("chart.marked", said=said, label=chart.threshold.label)


def _x(chart: Chart, at: float) -> float:
    return LEFT + (WIDTH - LEFT - RIGHT) * at / max(len(chart.bars), 1)


def _height(count: float, top: int) -> float:
    return (HEIGHT - TOP - BOTTOM) * count / top


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


def _grid(top: int) -> list[tuple[str, Label]]:
    found = []
    for quarter in range(5):
        count = top * quarter // 4
        y = HEIGHT - BOTTOM - _height(count, top)
        label = Label(short_number(count), str(LEFT - 6), f"{y + 4:g}", "end")
        found.append((f"{y:g}", label))
    return found


def _bars(chart: Chart, top: int) -> tuple[list[Box], list[Label]]:
    boxes, counts = [], []
    width = _x(chart, 1) - LEFT
    # Narrow gaps between many bars; a few do not fill the whole width.
    gap = max(min(3.0, width * 0.15), width - WIDEST_BAR)
    for at, bar in enumerate(chart.bars):
        x, y = _x(chart, at), float(HEIGHT - BOTTOM)
        for css, count in (("far", bar.far), ("bar", bar.near)):
            if not count:
                continue
            # The smallest number too must be seen.
            height = max(_height(count, top), 1.5)
            y -= height
            where = f"{x + gap / 2:.2f}", f"{y:.2f}", f"{width - gap:.2f}", f"{height:.2f}"
            boxes.append(Box(css, f"{bar.label}: {number(count)}", *where))
        if bar.count and len(chart.bars) <= NUMBERED_BARS:
            place = f"{x + width / 2:.2f}", f"{y - 4:.2f}"
            counts.append(Label(short_number(bar.count), *place, "middle"))
    return boxes, counts


def _threshold(chart: Chart) -> tuple[str, Label] | None:
    if chart.threshold is None:
        return None
    x = min(max(_x(chart, chart.threshold.at), LEFT), WIDTH - RIGHT)
    right = x > WIDTH / 2
    at, anchor = x + (-6 if right else 6), "end" if right else "start"
    return f"{x:.2f}", Label(chart.threshold.label, f"{at:.2f}", str(TOP - 6), anchor)
