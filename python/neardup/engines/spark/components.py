"""Connected components by alternating large-star and small-star.

Kiveris, Lattanzi, Mirrokni, Rastogi, Vassilvitskii, "Connected components in MapReduce and beyond",
2014. Large-star links every node's larger neighbours to its least neighbour; small-star links its
smaller ones. Neither joins or splits components. O(log² n) rounds; in practice a handful, because
each task first contracts its own edges.

The iteration stops at a star forest: each child appears once, under a smaller number that is not a
child. A star is connected, two stars share no edge, and no round changes the components, so the
stars are the components: the stop condition proves the result.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from neardup._util.arrow import array_values
from neardup.engines.spark.arrow import gather_batches, int64_array, make_batch
from neardup.engines.spark.request import Limits
from neardup.engines.spark.storage import Storage
from neardup.near.clusters import connected

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

# Far above log² of any number of nodes.
MAX_ROUNDS = 200
STAR_SCHEMA = "node bigint, root bigint"


def contract(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Contract the edges of a task to stars: each node under the least node it is connected to."""
    import numpy as np

    table = gather_batches(batches)
    if table is None:
        return
    left, right = array_values(table.column(0)), array_values(table.column(1))
    nodes, places = np.unique(np.concatenate([left, right]), return_inverse=True)
    labels = connected(places[: len(left)], places[len(left) :], len(nodes))
    child = np.flatnonzero(labels != np.arange(len(nodes)))
    yield make_batch({"node": int64_array(nodes[child]), "root": int64_array(nodes[labels[child]])})


def connected_components(
    edges: DataFrame, storage: Storage, limits: Limits, *, count: int | None = None
) -> DataFrame:
    """Return node, root for each node that is not the least of its component; root is the least.

    edges  two columns of numbers; direction, duplicates and loops do not matter
    count  number of edges, if known
    """
    if count is None:
        count = edges.count()
    tasks = max(1, -(-count // limits.few_edges))
    first, second = edges.columns
    edges = edges.select(edges[first].alias("node"), edges[second].alias("root"))
    if tasks == 1:
        # One task has all edges, so its stars are the components.
        return storage.pin(_contract_edges(edges, 1))
    stars = storage.pin(_contract_edges(edges, tasks))
    for _ in range(MAX_ROUNDS):
        if is_star_forest(stars):
            return stars
        stars = storage.pin(_contract_edges(small_star(large_star(stars)), tasks))
    raise RuntimeError(f"no components of {count} edges after {MAX_ROUNDS} rounds")


def _contract_edges(edges: DataFrame, tasks: int) -> DataFrame:
    if tasks == 1:
        return edges.repartition(1).mapInArrow(contract, STAR_SCHEMA)
    # Several tasks may return the same node under the same root.
    return edges.repartition(tasks, "node").mapInArrow(contract, STAR_SCHEMA).distinct()


def large_star(edges: DataFrame) -> DataFrame:
    """Link each node's larger neighbours to the least of the node and its neighbours."""
    from pyspark.sql import functions as F

    both = edges.union(edges.select("root", "node"))
    least = both.groupBy("node").agg(F.min("root").alias("least"))
    least = least.select("node", F.least("node", "least").alias("least"))
    return (
        both.where("root > node").join(least, "node").select(F.col("root").alias("node"), "least")
    ).withColumnRenamed("least", "root")


def small_star(edges: DataFrame) -> DataFrame:
    """Link each node and its smaller neighbours to the least of these."""
    from pyspark.sql import functions as F

    down = edges.select(
        F.greatest("node", "root").alias("node"), F.least("node", "root").alias("root")
    ).where("node > root")
    least = down.groupBy("node").agg(F.min("root").alias("least"))
    others = down.join(least, "node").where("root > least").select("root", "least")
    return others.union(least.select("node", "least")).toDF("node", "root").distinct()


def is_star_forest(edges: DataFrame) -> bool:
    """Return whether each node appears once, under a smaller root that is not a node itself."""
    from pyspark.sql import functions as F

    parents = edges.groupBy("node").agg(
        F.count(F.lit(1)).alias("times"), F.max("root").alias("most")
    )
    wrong = parents.where("times > 1 OR most >= node").select("node")
    inner = edges.select(F.col("root").alias("node")).join(
        edges.select("node"), "node", "left_semi"
    )
    return not wrong.union(inner).limit(1).toArrow().num_rows
