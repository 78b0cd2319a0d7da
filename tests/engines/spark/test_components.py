"""Components by stars are those of a plain union-find."""

from __future__ import annotations

import itertools
import random
from typing import Any

import pyarrow as pa
import pytest

from helpers.spark_cases import nightly
from neardup.engines.spark.components import (
    connected_components,
    contract,
    is_star_forest,
    large_star,
    small_star,
)
from neardup.engines.spark.request import Limits
from neardup.engines.spark.storage import Storage

Edges = list[tuple[int, int]]


def naive(edges: Edges) -> dict[int, int]:
    """Node → the least of its component, for all that are not it."""
    roots: dict[int, int] = {}

    def root(node: int) -> int:
        while roots.setdefault(node, node) != node:
            node = roots[node]
        return node

    for left, right in edges:
        first, second = sorted((root(left), root(right)))
        roots[second] = first
    return {node: root(node) for node in roots if root(node) != node}


def path(length: int, seed: int = 0) -> Edges:
    """Numbers along a path in no order: the worst case of most ways."""
    nodes = list(range(length))
    random.Random(seed).shuffle(nodes)
    return list(itertools.pairwise(nodes))


def some(nodes: int, edges: int, seed: int) -> Edges:
    rng = random.Random(seed)
    return [(rng.randrange(nodes), rng.randrange(nodes)) for _ in range(edges)]


GRAPHS: dict[str, Edges] = {
    "nothing": [],
    "loops": [(1, 1), (2, 2), (1, 1)],
    "both ways": [(1, 2), (2, 1), (1, 2)],
    "path": path(120),
    "stars": [(hub * 50, hub * 50 + at) for hub in range(3) for at in range(1, 40)],
    "turned star": [(100, at) for at in range(60)],
    "clique": list(itertools.combinations(range(0, 60, 4), 2)),
    "sparse": some(200, 120, 1),
    "dense": some(60, 300, 2),
    "large numbers": [(2**62, -5), (2**62 - 1, 2**62), (-(2**61), 7)],
}


def frame(spark: Any, edges: Edges) -> Any:
    return spark.createDataFrame(edges, "a long, b long")


def found(table: Any) -> dict[int, int]:
    rows = table.toArrow().to_pylist()
    assert len({row["node"] for row in rows}) == len(rows)
    return {row["node"]: row["root"] for row in rows}


def side_by_side() -> Edges:
    """All graphs as one of many components."""
    return [
        (left + 1000 * at, right + 1000 * at)
        for at, name in enumerate(GRAPHS)
        for left, right in GRAPHS[name]
    ]


@pytest.mark.parametrize("graph", ["nothing", "all", *map(nightly, list(GRAPHS)[1:])])
def test_one_task_or_many(spark: Any, graph: str) -> None:
    edges = side_by_side() if graph == "all" else GRAPHS[graph]
    for few in (1 << 20, 100 if graph == "all" else 25):
        table = connected_components(frame(spark, edges), Storage(), Limits(few_edges=few))
        assert found(table) == naive(edges)


@pytest.mark.parametrize(
    "edges",
    [[(5, 3), (5, 1), (3, 1), (4, 3), (4, 1)], *(nightly(some(30, 40, seed)) for seed in range(4))],
    ids=lambda edges: str(len(edges)),
)
def test_every_node_is_returned_once(spark: Any, edges: Edges) -> None:
    """Also if several tasks have met it."""
    told = (
        connected_components(frame(spark, edges), Storage(), Limits(few_edges=1))
        .toArrow()
        .to_pylist()
    )
    assert sorted(tuple(row.values()) for row in told) == sorted(naive(edges).items())


@pytest.mark.parametrize("graph", ["sparse", *map(nightly, ["path", "turned star", "clique"])])
def test_rounds_without_contraction(spark: Any, graph: str) -> None:
    """The two rounds alone come to the end as well, and no round joins or parts anything."""
    edges, storage = GRAPHS[graph], Storage()
    table = storage.pin(frame(spark, edges).toDF("node", "root"))
    for _ in range(20):
        if is_star_forest(table):
            break
        table = storage.pin(small_star(large_star(table)))
        told = [tuple(row.values()) for row in table.toArrow().to_pylist()]
        assert naive(told) == naive(edges)
    assert found(table) == naive(edges)


@pytest.mark.parametrize(
    ("edges", "is_forest"),
    [
        ([], True),
        ([(5, 1), (6, 1), (7, 2)], True),
        ([(5, 1), (5, 2)], False),
        ([(5, 1), (6, 1), (5, 1)], False),
        ([(5, 1), (6, 5)], False),
        ([(1, 5)], False),
        ([(1, 1)], False),
    ],
)
def test_what_a_star_forest_is(spark: Any, edges: Edges, is_forest: bool) -> None:
    assert is_star_forest(frame(spark, edges).toDF("node", "root")) == is_forest


def test_a_task_contracts_what_it_has() -> None:
    for graph in GRAPHS.values():
        columns = [pa.array(side, pa.int64()) for side in zip(*graph, strict=True)] or [
            pa.array([], pa.int64())
        ] * 2
        batches = list(contract(iter([pa.RecordBatch.from_arrays(columns, names=["a", "b"])])))
        told = [tuple(row.values()) for batch in batches for row in batch.to_pylist()]
        assert dict(told) == naive(graph)
