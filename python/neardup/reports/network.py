"""Who resembles whom in a check: as a matrix, and as a graph drawn by forces."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from neardup.reports.catalogue import Wording
from neardup.reports.shell import plain, share

MATRIX_ROWS = 40
MATRIX_COLUMNS = 40
GRAPH_NODES = 60
GRAPH_LINES = 240
GRAPH_WIDTH, MARGIN = 1100, 60
# The height follows the number of nodes.
LEAST_HEIGHT, MOST_HEIGHT, NODE_HEIGHT = 300, 700, 12
STEPS = 250
LABEL = 16
# From here on a cell is so dark that its number is written in light.
HIGH = 0.55


@dataclass(frozen=True)
class Tie:
    """So much of a document that a source has; both by their numbers in `Net.names`."""

    document: int
    source: int
    share: float
    link: str


@dataclass(frozen=True)
class Net:
    """Documents and sources, and what ties them.

    names      of all, the checked documents first
    documents  how many of them were checked
    shares     of the checked documents
    links      to their pages, "" where there is none
    reaches    whether a share is at the threshold or above
    """

    names: Sequence[str]
    documents: int
    shares: Sequence[float]
    links: Sequence[str]
    ties: Sequence[Tie]
    reaches: Callable[[float], bool]


@dataclass(frozen=True)
class Cell:
    value: float
    shown: str
    said: str
    heat: int
    is_high: bool
    above: bool
    link: str
    is_self: bool = False


@dataclass(frozen=True)
class MatrixRow:
    name: str
    link: str
    cells: Sequence[Cell | None]


@dataclass(frozen=True)
class Matrix:
    columns: Sequence[str]
    rows: Sequence[MatrixRow]
    note: str


@dataclass(frozen=True)
class Node:
    x: int
    y: int
    label: str
    label_y: int
    said: str
    link: str
    value: float | None
    above: bool
    is_source: bool


@dataclass(frozen=True)
class GraphEdge:
    x1: int
    y1: int
    x2: int
    y2: int
    width: str
    value: float
    said: str
    above: bool


@dataclass(frozen=True)
class Graph:
    nodes: Sequence[Node]
    lines: Sequence[GraphEdge]
    said: str
    note: str
    height: int
    width: int = GRAPH_WIDTH


SELF = Cell(0.0, "", "", 0, False, False, "", is_self=True)


def matrix_of(net: Net, words: Wording) -> Matrix | None:
    """The documents that share most, and the sources that have most of them."""
    if not net.ties:
        return None
    tied = {tie.document for tie in net.ties}
    held: dict[int, float] = {}
    for tie in net.ties:
        held[tie.source] = held.get(tie.source, 0.0) + tie.share
    group = _groups(net)
    strongest: dict[int, float] = {}
    for at in tied:
        strongest[group[at]] = max(strongest.get(group[at], 0.0), net.shares[at])
    # Those that share most, and then group by group, so that what belongs together is.
    rows = sorted(tied, key=lambda at: (-net.shares[at], at))[:MATRIX_ROWS]
    rows.sort(key=lambda at: (-strongest[group[at]], group[at], -net.shares[at], at))
    columns = sorted(held, key=lambda at: (-held[at], at))
    # Where documents are sources of one another, the order is that of the rows.
    order = {document: at for at, document in enumerate(rows)}
    last = {group[at]: place for at, place in order.items()}
    kept = sorted(
        columns[:MATRIX_COLUMNS],
        key=lambda at: (order.get(at, last.get(group[at], len(order))), at),
    )
    ties = {(tie.document, tie.source): tie for tie in net.ties}
    note = ""
    if len(rows) < len(tied) or len(kept) < len(columns):
        note = words("matrix.some", rows=len(rows), n=len(tied), columns=len(kept), of=len(columns))
    return Matrix(
        [plain(net.names[at]) for at in kept],
        [
            MatrixRow(
                plain(net.names[document]),
                net.links[document],
                [_cell(net, ties, document, source, words) for source in kept],
            )
            for document in rows
        ],
        note,
    )


def _groups(net: Net) -> list[int]:
    """For each document and source the lowest number it is tied to, through others too."""
    parent = list(range(len(net.names)))

    def root(at: int) -> int:
        while parent[at] != at:
            parent[at] = at = parent[parent[at]]
        return at

    for tie in net.ties:
        one, other = sorted((root(tie.document), root(tie.source)))
        parent[other] = one
    return [root(at) for at in range(len(parent))]


def _cell(
    net: Net, ties: Mapping[tuple[int, int], Tie], document: int, source: int, words: Wording
) -> Cell | None:
    if document == source:
        return SELF
    tie = ties.get((document, source))
    if tie is None:
        return None
    return Cell(
        tie.share,
        f"{100 * tie.share:.0f}",
        _said(net, tie, words),
        round(10 + 80 * min(tie.share, 1.0)),
        tie.share >= HIGH,
        net.reaches(tie.share),
        tie.link,
    )


def _said(net: Net, tie: Tie, words: Wording) -> str:
    left, right = (plain(net.names[at]) for at in (tie.document, tie.source))
    return words("graph.line", left=left, right=right, share=share(tie.share))


def graph_of(net: Net, words: Wording) -> Graph | None:
    """The strongest ties, a line for each two; what is tied lies close together."""
    strongest: dict[tuple[int, int], Tie] = {}
    for tie in sorted(net.ties, key=lambda tie: -tie.share):
        ends = (min(tie.document, tie.source), max(tie.document, tie.source))
        strongest.setdefault(ends, tie)
    if not strongest:
        return None
    nodes: dict[int, None] = {}
    kept: dict[tuple[int, int], Tie] = {}
    for ends, tie in strongest.items():
        new = [at for at in ends if at not in nodes]
        if len(kept) < GRAPH_LINES and len(nodes) + len(new) <= GRAPH_NODES:
            nodes.update(dict.fromkeys(new))
            kept[ends] = tie
    tied = {at for ends in strongest for at in ends}
    note = ""
    if len(kept) < len(strongest):
        note = words(
            "graph.some", shown=len(nodes), n=len(tied), lines=len(kept), of=len(strongest)
        )
    order = sorted(nodes)
    height = min(LEAST_HEIGHT + NODE_HEIGHT * len(order), MOST_HEIGHT)
    places = _laid_out(order, {ends: tie.share for ends, tie in kept.items()}, height)
    return Graph(
        [_node(net, at, places, kept) for at in order],
        [
            GraphEdge(
                *places[ends[0]],
                *places[ends[1]],
                f"{1 + 7 * min(tie.share, 1.0):.1f}",
                tie.share,
                _said(net, tie, words),
                net.reaches(tie.share),
            )
            for ends, tie in kept.items()
        ],
        words("graph.described", documents=len(order), n=len(kept)),
        note,
        height,
    )


def _node(
    net: Net,
    at: int,
    places: Mapping[int, tuple[int, int]],
    lines: Mapping[tuple[int, int], Tie],
) -> Node:
    x, y = places[at]
    beside = [places[end][1] for ends in lines if at in ends for end in ends if end != at]
    # Away from what it is tied to there is room for its name.
    is_over = sum(beside) / len(beside) > y if beside else False
    name = plain(net.names[at])
    is_source = at >= net.documents
    value = None if is_source else net.shares[at]
    said = name if value is None else f"{name}: {share(value)}"
    label = name if len(name) <= LABEL else f"{name[: LABEL // 2 - 1]}…{name[-LABEL // 2 :]}"
    above = value is not None and net.reaches(value)
    label_y = y - 13 if is_over else y + 21
    return Node(x, y, label, label_y, said, net.links[at], value, above, is_source)


def _laid_out(
    nodes: Sequence[int], lines: Mapping[tuple[int, int], float], height: int
) -> dict[int, tuple[int, int]]:
    """Places by springs and repulsion (Fruchterman and Reingold 1991), n² a step, the same each
    time: it begins on a circle, in order."""
    import numpy as np

    at = {node: place for place, node in enumerate(nodes)}
    count = len(nodes)
    angles = 2 * math.pi * np.arange(count) / count
    where = np.stack((np.cos(angles), np.sin(angles)), axis=1)
    springs = np.zeros((count, count))
    for (one, other), strength in lines.items():
        springs[at[one], at[other]] = springs[at[other], at[one]] = 0.1 + 0.25 * strength
    ideal = 1.6 / math.sqrt(count)
    for step in range(STEPS):
        apart = where[:, None, :] - where[None, :, :]
        distance = np.maximum(np.linalg.norm(apart, axis=2), 1e-3)
        push = ideal**2 / distance
        pull = springs * distance**2 / ideal
        force = ((push - pull) / distance)[:, :, None] * apart
        # Groups without ties to others must not drift away.
        move = force.sum(axis=1) - 0.6 * where
        length = np.maximum(np.linalg.norm(move, axis=1, keepdims=True), 1e-9)
        where += move / length * np.minimum(length, 0.15 * (1 - step / STEPS) + 0.002)
    low, high = where.min(axis=0), where.max(axis=0)
    size = np.array((GRAPH_WIDTH, height))
    # A few on a line stay in the middle.
    span = np.maximum(high - low, max(0.4 * (high - low).max(), 1e-9))
    scaled = size / 2 + (where - (low + high) / 2) / span * (size - 2 * MARGIN)
    return {node: (round(scaled[place][0]), round(scaled[place][1])) for node, place in at.items()}
