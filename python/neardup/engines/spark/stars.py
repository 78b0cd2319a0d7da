"""Components → stars: each row in order goes under the first row that it is near to and that is
under none.

Stars never cross a component, so whole components come to tasks. Where all near pairs are known,
pairs are enough, some dozens of bytes each. Of dense keys, copies of a template, only so many pairs
are known as connect them: such components come with their texts, and the local engine links them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from neardup._util.arrow import array_values, number_array
from neardup.engines.spark.batches import gathered, one, rows_of_bytes
from neardup.engines.spark.buckets import words_of
from neardup.engines.spark.request import SparkRequest
from neardup.engines.spark.rows import Rows
from neardup.engines.spark.texts import VERDICTS, strings, verdict_batch
from neardup.near.clusters import clusters, link_rows
from neardup.near.corpus import memory_corpus
from neardup.near.join import LocalEngine
from neardup.text.fingerprint import Fingerprints

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

# Bytes of a pair with its two rows, about: numbers, and bytes that sort as rows do.
PAIR_BYTES = 160


def by_pairs(rows: Rows, members: DataFrame, pairs: DataFrame, count: int) -> DataFrame:
    """row, label, distance, similarity of rows that go under another.

    members  row, root of components
    pairs    all near pairs of these rows, also some of others: left, right, distance, similarity
    count    how many there are, at most
    """
    from pyspark.sql import functions as F

    ordered = members.join(rows.table.select("row", "order"), "row").select(
        "root", F.col("row").alias("left"), F.lit(-1).cast("bigint").alias("right"), "order"
    )
    unknown = (F.lit(None).cast(kind).alias(name) for name, kind in VERDICT)
    placed = pairs.join(members.select(F.col("row").alias("left"), "root"), "left")
    none = F.lit(None).cast("binary").alias("order")
    both = ordered.select("*", *unknown).union(
        placed.select("root", "left", "right", none, "distance", "similarity")
    )
    return (
        both.repartition(rows.asked.limits.tasks(count * PAIR_BYTES), "root")
        .mapInArrow(link_pairs, VERDICTS)
        .toDF(*LINKED)
    )


VERDICT = (("distance", "bigint"), ("similarity", "double"))
LINKED = ("row", "label", "distance", "similarity")


def link_pairs(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Rows (left, and order) and pairs of whole components → left, right (the one it goes under),
    distance, similarity of each row that goes under another."""
    import numpy as np
    import pyarrow.compute as pc

    table = gathered(batches)
    if table is None:
        return
    left, right = array_values(table["left"]), array_values(table["right"])
    of_rows, of_pairs = np.flatnonzero(right < 0), np.flatnonzero(right >= 0)
    order = one(table["order"]).take(number_array(of_rows))
    row = left[of_rows][array_values(pc.array_sort_indices(order))]
    # Where each row stands in order.
    sort = np.argsort(row)
    ends = [sort[np.searchsorted(row[sort], side[of_pairs])] for side in (left, right)]
    linked = link_rows(ends[0], ends[1], len(row), "star")
    at = number_array(of_pairs[linked.pairs])
    distance, similarity = (array_values(table[name].take(at)) for name, _ in VERDICT)
    yield verdict_batch(row[linked.rows], row[linked.labels[linked.rows]], distance, similarity)


@dataclass(frozen=True)
class Linking:
    """Whole components with what it takes to link them → left, right (the one it goes under),
    distance, similarity of each row that goes under another. Rows of different components are not
    near: all that came to a task are linked at once, by the local engine, in order."""

    asked: SparkRequest

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import numpy as np
        import pyarrow.compute as pc

        table = gathered(batches)
        if table is None:
            return
        table = table.take(pc.sort_indices(table, sort_keys=[("order", "ascending")]))
        row, question = array_values(table["row"]), self.asked.question
        if question.radius is not None:
            values = words_of(rows_of_bytes(table["made"], self.asked.code_bytes))
            all_of = Fingerprints(values, np.ones(len(row), dtype=bool), self.asked.recipe)
            labels = clusters(all_of, question.radius, linkage="star", threads=1)
            joined = np.flatnonzero(labels != np.arange(len(row)))
            apart = np.bitwise_count(values[joined] ^ values[labels[joined]]).sum(axis=1)
            unknown = np.full(len(joined), np.nan)
            yield verdict_batch(row[joined], row[labels[joined]], apart, unknown)
            return
        corpus = memory_corpus(strings(table["made"]), self.asked.recipe, question, threads=1)
        found = LocalEngine().match(corpus, question, threads=1).clusters("star")
        joined = np.flatnonzero(found.labels != np.arange(len(row)))
        # Every link of a star was judged.
        verdicts = found.distance[joined], found.similarity[joined]
        yield verdict_batch(row[joined], row[found.labels[joined]], *verdicts)


def by_codes(rows: Rows, members: DataFrame) -> DataFrame:
    """The same by radius, by fingerprints."""
    from pyspark.sql import functions as F

    own = rows.table.select("row", "order", F.col("fingerprint").alias("made"))
    return _linked(rows, members.join(own, "row"), rows.units * (rows.asked.code_bytes + 32))


def by_texts(rows: Rows, members: DataFrame, texts: DataFrame) -> DataFrame:
    """The same by texts, each of which comes to the task of its component."""
    from pyspark.sql import functions as F

    placed = members.join(rows.table.select("row", "order", "bytes"), "row")
    total = placed.agg(F.sum("bytes")).toArrow().column(0)[0].as_py() or 0
    return _linked(rows, placed.join(texts.withColumnRenamed("text", "made"), "row"), total)


def _linked(rows: Rows, placed: DataFrame, size: int) -> DataFrame:
    return (
        placed.select("row", "root", "order", "made")
        .repartition(rows.asked.limits.tasks(size), "root")
        .mapInArrow(Linking(rows.asked), VERDICTS)
        .toDF(*LINKED)
    )
