"""The charts of a job: pairs by similarity or distance, and sizes of clusters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from neardup.reports.catalogue import Said, Words
from neardup.reports.chart import Bar, Chart, Tick
from neardup.reports.markup import number

MOST_BARS = 65
MOST_TICKS = 11
# Cluster sizes fall off quickly: small ones get a bar each, larger ones share.
_SIZES = (2, 3, 4, 6, 11, 101, 1001)


@dataclass(frozen=True)
class Histogram:
    """Pairs in steps of a measure, on both sides of a threshold.

    name       "compared" or "wider"
    near, far  how many pairs of each step count, and how many were rejected. Steps of similarity
               divide 0 to 1 equally; those of distance are bits, from 0
    floor      steps of similarity below it are not drawn
    similarity, radius   the threshold, whichever it is
    notes      how the pairs were chosen
    """

    name: str
    near: Sequence[int]
    far: Sequence[int]
    floor: float = 0.0
    similarity: float | None = None
    radius: int | None = None
    notes: Sequence[Said] = ()


def chart_of(histogram: Histogram, words: Words) -> Chart:
    drawn = _distances if histogram.similarity is None else _similarities
    return drawn(histogram, words)


def _similarities(found: Histogram, words: Words) -> Chart:
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
        notes=[words.say(said) for said in found.notes] + more,
        two_sided=True,
    )


def _distances(found: Histogram, words: Words) -> Chart:
    """Pairs at each distance; several distances share a bar where there are too many."""
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
        # A shared bar is named at its left edge by where it begins: there is no room for more.
        ticks=[
            Tick(at + (0.5 if group == 1 else 0), number(at * group))
            for at in range(0, len(bars), every)
        ],
        threshold=None if found.radius is None else Tick((radius + 1) / group, label),
        rows=rows,
        notes=[words.say(said) for said in found.notes],
        two_sided=any(found.far),
    )


def size_chart(sizes: Sequence[tuple[int, int]], words: Words) -> Chart:
    """Clusters by their number of records."""
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
    """Short, because bars are narrow."""
    return ">1k" if begin == _SIZES[-1] else bar.label.replace(",000", "k")


def _between(first: int, last: int) -> str:
    return number(first) if first == last else f"{number(first)}–{number(last)}"
