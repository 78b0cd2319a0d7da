"""Texts brought to where pairs are judged: each to a task once, however many pairs need it there.

Candidates are few beside rows, so their texts are joined back by id. Features carried along would
be larger than the texts they are made of, and would have to be carried for all rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from neardup.columns import numbers, values_of
from neardup.engines.spark.asked import Asked
from neardup.engines.spark.batches import as_batch, gathered, longs, one
from neardup.engines.spark.rows import Rows
from neardup.engines.spark.sketching import quoted
from neardup.near.corpus import judged_only
from neardup.near.judge import Judge

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray
    from pyspark.sql import DataFrame


@dataclass(frozen=True)
class Source:
    """Where the texts of a side are."""

    side: int
    frame: DataFrame
    id_column: str
    text_column: str


Texts = tuple[Source, ...]


def texts_of(rows: Rows, wanted: DataFrame, sources: Texts) -> DataFrame:
    """row, text of the wanted rows (a column `row`)."""
    from pyspark.sql import functions as F

    named = rows.table.select("row", "id", "side", "signal").join(
        wanted.select("row").distinct(), "row", "left_semi"
    )
    found = None
    for source in sources:
        texts = source.frame.select(
            F.col(quoted(source.id_column)).alias("id"),
            F.col(quoted(source.text_column)).alias("text"),
        )
        if texts.schema["text"].dataType.simpleString() == "binary":
            texts = texts.withColumn("text", F.col("text").cast("string"))
        part = named.where(F.col("side") == source.side).join(texts, "id").select("row", "text")
        found = part if found is None else found.union(part)
    assert found is not None  # noqa: S101
    return rows.storage.pin(found)


@dataclass(frozen=True)
class Judging:
    """Texts and pairs that came to a task → the verdicts: left, right, distance, similarity."""

    asked: Asked

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import numpy as np

        table = gathered(batches)
        if table is None:
            return
        left, right = values_of(table["left"]), values_of(table["right"])
        is_text = right < 0
        rows, at = np.unique(left[is_text], return_index=True)
        texts = strings(one(table["text"]).take(numbers(np.flatnonzero(is_text)[at])))
        left, right = left[~is_text], right[~is_text]
        del table
        corpus = judged_only(texts, self.asked.recipe, np.ones(len(rows), dtype=bool))
        # Pairs that share a text side by side.
        sort = np.lexsort((right, left))
        left, right = left[sort], right[sort]
        verdicts = Judge(corpus, threads=1).verdicts(
            np.searchsorted(rows, left), np.searchsorted(rows, right)
        )
        yield verdict_batch(left, right, verdicts.distance, verdicts.similarity)


def verdict_batch(
    left: NDArray[Any], right: NDArray[Any], distance: NDArray[Any], similarity: NDArray[np.float64]
) -> pa.RecordBatch:
    return as_batch(
        {
            "left": longs(left),
            "right": longs(right),
            "distance": longs(distance),
            "similarity": numbers(similarity),
        }
    )


VERDICTS = "left bigint, right bigint, distance bigint, similarity double"


def strings(array: Any) -> pa.ChunkedArray:
    """Strings as the local engine takes them."""
    import pyarrow as pa

    return pa.chunked_array([one(array).cast(pa.large_string())])


def judged(rows: Rows, pairs: DataFrame, count: int, texts: DataFrame) -> DataFrame:
    """left, right, distance, similarity of these pairs (left, right), whose texts are there.

    Pairs with the same left row are judged by one task: the one that has many should be the right.
    """
    from pyspark.sql import functions as F

    tasks = rows.asked.limits.tasks(2 * count * rows.mean_bytes)
    bucket = F.pmod(F.xxhash64("left"), F.lit(tasks)).alias("bucket")
    placed = pairs.select(bucket, "left", "right")
    sides = (placed.select("bucket", F.col(side).alias("row")) for side in ("left", "right"))
    needed = next(sides).union(next(sides)).distinct()
    sent = needed.join(texts, "row").select(
        "bucket", F.col("row").alias("left"), F.lit(-1).cast("bigint").alias("right"), "text"
    )
    both = sent.union(placed.withColumn("text", F.lit(None).cast("string")))
    return both.repartition(tasks, "bucket").mapInArrow(Judging(rows.asked), VERDICTS)
