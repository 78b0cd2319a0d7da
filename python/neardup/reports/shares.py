"""The histogram of shares in a check, with its threshold; the script of the page moves the line."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from neardup.reports.catalogue import Words
from neardup.reports.chart import TOP, Bar, Box, Chart, Drawing, Label, Tick, drawn

BARS = 20
# Shares are counted by whole per cents, and so is the threshold: then both agree.
PERCENTS = 101


def whole_percent(value: float) -> int:
    """A share in whole per cents, rounded down, as the script of the page does."""
    return min(max(math.floor(value * 100 + 1e-9), 0), PERCENTS - 1)


@dataclass(frozen=True)
class Shares:
    """The drawing, and what the script needs to draw it again."""

    percents: Sequence[int]
    grid: Sequence[tuple[str, Label]]
    boxes: Sequence[Box]
    ticks: Sequence[Label]
    line: tuple[str, Label]
    highest: int

    width, height, left, right = Drawing.width, Drawing.height, Drawing.left, Drawing.right
    top, high, bottom, middle = Drawing.top, TOP, Drawing.bottom, Drawing.middle


def shares_of(values: Sequence[float], limit: int, words: Words) -> Shares:
    """limit  the threshold in whole per cents"""
    percents = [0] * PERCENTS
    for value in values:
        percents[whole_percent(value)] += 1
    near, far = [0] * BARS, [0] * BARS
    for at, count in enumerate(percents):
        (near if at >= limit else far)[min(at * BARS // 100, BARS - 1)] += count
    step = 100 // BARS
    bars = [Bar(f"{at * step}–{(at + 1) * step} %", near[at], far[at]) for at in range(BARS)]
    found = drawn(
        Chart(
            name="shares",
            title=words("shares.title"),
            across=words("shares.across"),
            up=words("shares.up"),
            bars=bars,
            ticks=[Tick(at * BARS / 10, f"{at * 10}") for at in range(0, 11, 2)],
            threshold=Tick(limit * BARS / 100, f"≥ {limit} %"),
            two_sided=True,
        ),
        words,
    )
    assert found.line is not None  # noqa: S101
    return Shares(percents, found.grid, found.boxes, found.ticks, found.line, found.scale)
