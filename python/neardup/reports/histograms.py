"""The three charts of a job: distances, similarities, sizes of clusters."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from neardup.reports.chart import Bar, Chart, Tick
from neardup.reports.markup import number

MOST_BARS = 65
MOST_TICKS = 11
# Cluster sizes fall off quickly: small ones get a bar each, larger ones share.
_SIZES = (2, 3, 4, 6, 11, 101, 1001)


def distance_chart(counts: Sequence[int], radius: int | None) -> Chart:
    """Pairs at each distance; several distances share a bar where there are too many."""
    last = max([radius or 0, *(at for at, count in enumerate(counts) if count)])
    counts = [int(count) for count in counts[: last + 1]] + [0] * (last + 1 - len(counts))
    group = -(-len(counts) // MOST_BARS)
    bars = [
        Bar(_between(at, min(at + group, len(counts)) - 1), sum(counts[at : at + group]))
        for at in range(0, len(counts), group)
    ]
    every = -(-len(bars) // MOST_TICKS)
    return Chart(
        name="distances",
        title="Pairs by distance",
        across="distance in bits",
        up="pairs",
        bars=bars,
        # A shared bar is named at its left edge by where it begins: there is no room for more.
        ticks=[
            Tick(at + (0.5 if group == 1 else 0), number(at * group))
            for at in range(0, len(bars), every)
        ],
        threshold=None if radius is None else _radius(radius, group),
        rows=[Bar(number(at), count) for at, count in enumerate(counts)],
    )


def _radius(radius: int, group: int) -> Tick:
    return Tick((radius + 1) / group, f"radius {number(radius)}")


def similarity_chart(counts: Sequence[int], threshold: float | None) -> Chart:
    """Verified pairs in equal steps of cosine from 0 to 1."""
    bins = len(counts)
    return Chart(
        name="similarities",
        title="Verified pairs by similarity",
        across="similarity (exact cosine)",
        up="pairs",
        bars=[Bar(f"{at / bins:.2f}–{(at + 1) / bins:.2f}", int(n)) for at, n in enumerate(counts)],
        ticks=[Tick(bins * part / 5, f"{part / 5:g}") for part in range(6)],
        threshold=None if threshold is None else Tick(bins * threshold, f"at least {threshold:g}"),
    )


def size_chart(sizes: Sequence[tuple[int, int]]) -> Chart:
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
        title="Clusters by size",
        across="records in the cluster",
        up="clusters",
        bars=bars,
        ticks=[Tick(at + 0.5, _size_label(begin, bars[at])) for at, begin in enumerate(begins)],
        rows=[Bar(number(size), int(count)) for size, count in sizes],
    )


def _size_label(begin: int, bar: Bar) -> str:
    """Short, because bars are narrow."""
    return "&gt;1k" if begin == _SIZES[-1] else bar.label.replace(",000", "k")


def _between(first: int, last: int) -> str:
    return number(first) if first == last else f"{number(first)}–{number(last)}"
