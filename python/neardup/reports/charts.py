"""Charts: the positions of bars, labels and cells. Templates draw them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from neardup.reports.formatting import line_text, number, short_number
from neardup.reports.page import Sentence, Wording

WIDTH, HEIGHT = 440, 240
LEFT, RIGHT, TOP, BOTTOM = 46, 14, 30, 46
PLOT_HEIGHT = HEIGHT - TOP - BOTTOM
# With more bars than this the numbers above them would touch.
NUMBERED_BARS = 12
WIDEST_BAR = 64
TABLE_ROWS = 200


@dataclass(frozen=True)
class Bar:
    """A bar: the number of near-duplicates on top of the number of rejected pairs."""

    label: str
    near: int
    far: int = 0

    @property
    def count(self) -> int:
        return self.near + self.far


class Tick(NamedTuple):
    """A mark on the horizontal axis; `at` is a number of bars from the left."""

    at: float
    label: str


@dataclass(frozen=True)
class Chart:
    """The content of a chart in one language.

    rows  rows of the table, if it is finer than the bars
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


class Box(NamedTuple):
    """A bar or its lower part, in SVG units."""

    css: str
    label: str
    x: str
    y: str
    width: str
    height: str


class Label(NamedTuple):
    text: str
    x: str
    y: str
    anchor: str


@dataclass(frozen=True)
class Drawing:
    """A chart as shapes and labels; `scale` is the count at the top."""

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


def draw_chart(chart: Chart, words: Wording) -> Drawing:
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


def _described(chart: Chart, words: Wording) -> str:
    total = sum(bar.count for bar in chart.bars)
    text = words("chart.described", title=chart.title, n=total, up=chart.up)
    if chart.threshold is None:
        return text
    return words("chart.marked", text=text, label=chart.threshold.label)


def _x(chart: Chart, at: float) -> float:
    return LEFT + (WIDTH - LEFT - RIGHT) * at / max(len(chart.bars), 1)


def _ceiling(highest: int) -> int:
    """Return the highest count rounded up to a number that four grid lines divide well."""
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
        y = HEIGHT - BOTTOM - PLOT_HEIGHT * count / top
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
            # Even a count of one must be visible.
            height = max(PLOT_HEIGHT * count / top, 1.5)
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


# ---- charts of a job: pairs by similarity or distance, sizes of clusters ----

MOST_BARS = 65
MOST_TICKS = 11
# Cluster sizes fall off quickly: small ones get a bar each, larger ones share.
_SIZES = (2, 3, 4, 6, 11, 101, 1001)


@dataclass(frozen=True)
class Histogram:
    """Numbers of pairs by similarity or by distance.

    name       "compared" or "wider"
    near, far  numbers of near-duplicates and of rejected pairs in each bin. Bins of similarity
               divide 0 to 1 equally; bins of distance are bits, from 0
    floor      bins of similarity below it are not drawn
    similarity, radius   the threshold; one of them is set
    notes      how the pairs were chosen
    """

    name: str
    near: Sequence[int]
    far: Sequence[int]
    floor: float = 0.0
    similarity: float | None = None
    radius: int | None = None
    notes: Sequence[Sentence] = ()


def histogram_chart(histogram: Histogram, words: Wording) -> Chart:
    drawn = _distances if histogram.similarity is None else _similarities
    return drawn(histogram, words)


def _similarities(found: Histogram, words: Wording) -> Chart:
    steps = len(found.near)
    first = min(int(found.floor * steps + 1e-9), steps - 1)
    bars = [
        Bar(f"{at / steps:.2f}–{(at + 1) / steps:.2f}", int(found.near[at]), int(found.far[at]))
        for at in range(first, steps)
    ]
    tenths = range(-(-first * 10 // steps), 11)
    every = 1 if len(tenths) <= 6 else 2
    assert found.similarity is not None  # noqa: S101
    label = words("chart.at_least", value=found.similarity)
    below = sum(found.near[:first]) + sum(found.far[:first])
    more = [words("note.below", n=int(below), floor=first / steps)] if below else []
    return Chart(
        name=found.name,
        title=words(f"chart.{found.name}"),
        across=words("chart.similarity"),
        up=words("chart.pairs"),
        bars=bars,
        ticks=[
            Tick(tenth * steps / 10 - first, f"{tenth / 10:g}")
            for tenth in tenths
            if (10 - tenth) % every == 0
        ],
        threshold=Tick(steps * found.similarity - first, label),
        notes=[words.say(note) for note in found.notes] + more,
        two_sided=True,
    )


def _distances(found: Histogram, words: Wording) -> Chart:
    """Return pairs by distance; if there are too many distances, several share a bar."""
    radius = found.radius or 0
    last = max([radius, *(at for at, n in enumerate(found.near) if n or found.far[at])])
    rows = [
        Bar(number(at), int(found.near[at]), int(found.far[at]))
        if at < len(found.near)
        else Bar(number(at), 0)
        for at in range(last + 1)
    ]
    group = -(-len(rows) // MOST_BARS)
    bars = []
    for at in range(0, len(rows), group):
        some = rows[at : at + group]
        label = _between(at, at + len(some) - 1)
        bars.append(Bar(label, sum(bar.near for bar in some), sum(bar.far for bar in some)))
    every = -(-len(bars) // MOST_TICKS)
    label = words("chart.radius", value=radius)
    return Chart(
        name=found.name,
        title=words(f"chart.{found.name}"),
        across=words("chart.distance"),
        up=words("chart.pairs"),
        bars=bars,
        # A bar of several distances has the first one at its left edge: there is no room for more.
        ticks=[
            Tick(at + (0.5 if group == 1 else 0), number(at * group))
            for at in range(0, len(bars), every)
        ],
        threshold=None if found.radius is None else Tick((radius + 1) / group, label),
        rows=rows,
        notes=[words.say(note) for note in found.notes],
        two_sided=any(found.far),
    )


def size_chart(sizes: Sequence[tuple[int, int]], words: Wording) -> Chart:
    """Return clusters by their number of records."""
    largest = max((size for size, _ in sizes), default=2)
    smallest = min([_SIZES[0], *(size for size, _ in sizes)])
    begins = sorted({smallest, *(begin for begin in _SIZES if begin <= largest)})
    bars = [
        Bar(_between(begin, end - 1), sum(int(n) for size, n in sizes if begin <= size < end))
        for begin, end in pairwise([*begins, largest + 1])
    ]
    return Chart(
        name="sizes",
        title=words("chart.sizes"),
        across=words("chart.size"),
        up=words("chart.clusters"),
        bars=bars,
        ticks=[Tick(at + 0.5, _size_label(begin, bars[at])) for at, begin in enumerate(begins)],
        rows=[Bar(number(size), int(count)) for size, count in sizes],
    )


def _size_label(begin: int, bar: Bar) -> str:
    """Return a short label: bars are narrow."""
    return ">1k" if begin == _SIZES[-1] else bar.label.replace(",000", "k")


def _between(first: int, last: int) -> str:
    return number(first) if first == last else f"{number(first)}–{number(last)}"


# ---- charts of a check: shares of documents; the script of the page moves the threshold ----

BARS = 20
# Shares and the threshold are rounded down to whole percents, so that page and script agree.
PERCENTS = 101


def whole_percent(value: float) -> int:
    """Return a share in whole percents, rounded down, as the script of the page does."""
    return min(max(math.floor(value * 100 + 1e-9), 0), PERCENTS - 1)


@dataclass(frozen=True)
class Shares:
    """The drawing, and the numbers the script needs to draw it again."""

    percents: Sequence[int]
    grid: Sequence[tuple[str, Label]]
    boxes: Sequence[Box]
    ticks: Sequence[Label]
    line: tuple[str, Label]
    highest: int

    width, height, left, right = Drawing.width, Drawing.height, Drawing.left, Drawing.right
    top, high, bottom, middle = Drawing.top, TOP, Drawing.bottom, Drawing.middle


def shares_chart(values: Sequence[float], limit: int, words: Wording) -> Shares:
    """Return documents by share; `limit` is the threshold in whole percents."""
    percents = [0] * PERCENTS
    for value in values:
        percents[whole_percent(value)] += 1
    near, far = [0] * BARS, [0] * BARS
    for at, count in enumerate(percents):
        (near if at >= limit else far)[min(at * BARS // 100, BARS - 1)] += count
    step = 100 // BARS
    bars = [
        Bar(f"{at * step}–{(at + 1) * step}{words.percent_sign}", near[at], far[at])
        for at in range(BARS)
    ]
    found = draw_chart(
        Chart(
            name="shares",
            title=words("shares.title"),
            across=words("shares.across"),
            up=words("shares.up"),
            bars=bars,
            ticks=[Tick(at * BARS / 10, f"{at * 10}") for at in range(0, 11, 2)],
            threshold=Tick(limit * BARS / 100, f"≥ {limit}{words.percent_sign}"),
            two_sided=True,
        ),
        words,
    )
    assert found.line is not None  # noqa: S101
    return Shares(percents, found.grid, found.boxes, found.ticks, found.line, found.scale)


# ---- the matrix of a check: which document shares how much with which source ----

MATRIX_ROWS = 40
MATRIX_COLUMNS = 40
# The background of a cell is so dark from here on that its number is light.
DARK_SHARE = 0.55


class Tie(NamedTuple):
    """The share of a document that a source has; both are indexes into `names`."""

    document: int
    source: int
    share: float
    link: str


class Cell(NamedTuple):
    value: float
    shown: str
    title: str
    heat: int
    is_dark: bool
    above: bool
    link: str
    is_self: bool = False


SELF = Cell(0.0, "", "", 0, False, False, "", is_self=True)


class MatrixRow(NamedTuple):
    name: str
    link: str
    cells: Sequence[Cell | None]


class Matrix(NamedTuple):
    columns: Sequence[str]
    rows: Sequence[MatrixRow]
    note: str


def matrix_chart(
    ties: Sequence[Tie],
    names: Sequence[str],
    shares: Sequence[float],
    links: Sequence[str],
    limit: int,
    words: Wording,
) -> Matrix | None:
    """Return the documents with the highest shares and the sources that have most of them, those
    that share text next to each other; None without ties.

    names   of documents and then sources
    shares  of the documents; `links` to their pages
    limit   the threshold in whole percents
    """
    if not ties:
        return None
    documents = {tie.document for tie in ties}
    held: dict[int, float] = {}
    for tie in ties:
        held[tie.source] = held.get(tie.source, 0.0) + tie.share
    group = _groups(len(names), ties)
    highest: dict[int, float] = {}
    for at in documents:
        highest[group[at]] = max(highest.get(group[at], 0.0), shares[at])
    rows = sorted(documents, key=lambda at: (-shares[at], at))[:MATRIX_ROWS]
    rows.sort(key=lambda at: (-highest[group[at]], group[at], -shares[at], at))
    # Documents that are sources too have the same order in columns as in rows.
    order = {document: at for at, document in enumerate(rows)}
    last = {group[at]: place for at, place in order.items()}
    columns = sorted(
        sorted(held, key=lambda at: (-held[at], at))[:MATRIX_COLUMNS],
        key=lambda at: (order.get(at, last.get(group[at], len(order))), at),
    )
    note = ""
    if len(rows) < len(documents) or len(columns) < len(held):
        counts = {"rows": len(rows), "n": len(documents), "columns": len(columns), "of": len(held)}
        note = words("matrix.some", **counts)
    by_cell = {(tie.document, tie.source): tie for tie in ties}

    def cell(document: int, source: int) -> Cell | None:
        if document == source:
            return SELF
        tie = by_cell.get((document, source))
        if tie is None:
            return None
        left, right = line_text(names[document]), line_text(names[source])
        return Cell(
            tie.share,
            f"{100 * tie.share:.0f}",
            words("matrix.cell", left=left, right=right, share=words.share(tie.share)),
            round(10 + 80 * min(tie.share, 1.0)),
            tie.share >= DARK_SHARE,
            whole_percent(tie.share) >= limit,
            tie.link,
        )

    return Matrix(
        [line_text(names[at]) for at in columns],
        [
            MatrixRow(
                line_text(names[document]),
                links[document],
                [cell(document, source) for source in columns],
            )
            for document in rows
        ],
        note,
    )


def _groups(count: int, ties: Sequence[Tie]) -> list[int]:
    """Return for each document and source the lowest index it is connected to."""
    parent = list(range(count))

    def root(at: int) -> int:
        while parent[at] != at:
            parent[at] = at = parent[parent[at]]
        return at

    for tie in ties:
        one, other = sorted((root(tie.document), root(tie.source)))
        parent[other] = one
    return [root(at) for at in range(len(parent))]
