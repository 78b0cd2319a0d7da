"""Texts brought to where pairs are judged: each to a task once, however many pairs need it there.

Candidates are few beside rows, so their texts are joined back by id. Features carried along would
be larger than the texts they are made of, and would have to be carried for all rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from neardup._util.arrow import array_values, number_array
from neardup.engines.spark.batches import as_batch, gathered, longs, one
from neardup.engines.spark.request import SparkRequest
from neardup.engines.spark.rows import Rows
from neardup.engines.spark.sketching import checksums, quoted, readable
from neardup.near.corpus import Judge, judging_corpus

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray
    from pyspark.sql import DataFrame


@dataclass(frozen=True)
class TextSource:
    """Where the texts of a side are, and what the user calls it."""

    side: int
    frame: DataFrame
    id_column: str
    text_column: str
    name: str = "df"


Texts = tuple[TextSource, ...]
MISSING, CHANGED = "missing", "changed"


def texts_of(
    rows: Rows, wanted: DataFrame, sources: Texts, *, present: DataFrame | None = None
) -> DataFrame:
    """row, text of the wanted rows (a column `row`), each once. A text that is not there, or not
    the one that was sketched, is an error.

    present  rows that only have to be there as they were: their ids are in answers
    """
    from pyspark.sql import functions as F

    needed = wanted.select("row", F.lit(True).alias("needed"))
    if present is not None:
        needed = needed.union(present.select("row", F.lit(False)))
    needed = needed.groupBy("row").agg(F.max("needed").alias("needed"))
    named = rows.table.select("row", "id", "side", "checksum").join(needed, "row")
    found = None
    for source in sources:
        texts = source.frame.select(
            F.col(quoted(source.id_column)).alias("id"),
            F.col(quoted(source.text_column)).alias("text"),
        )
        mine = named.where(F.col("side") == source.side).join(texts, "id", "left")
        part = mine.select("row", "checksum", "needed", "text").mapInArrow(read_again, READ)
        found = part if found is None else found.union(part)
    assert found is not None  # noqa: S101
    held = rows.storage.pin(found)
    _check_read(rows, held, sources)
    return held.where("text IS NOT NULL").select("row", "text")


READ = "row bigint, text string, wrong string"


def read_again(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """row, checksum, needed, text → row, text (null if it is not needed), what is wrong with it."""
    import pyarrow as pa
    import pyarrow.compute as pc

    for batch in batches:
        row, checksum, needed, given = batch.columns
        texts, _ = readable(given)
        same = pc.equal(longs(checksums(texts)), checksum)
        none = pa.scalar(None, pa.string())
        wrong = pc.if_else(texts.is_null(), MISSING, pc.if_else(same, none, CHANGED))
        sent = pc.if_else(needed, texts, pa.scalar(None, texts.type))
        yield as_batch({"row": row, "text": sent.cast(pa.string()), "wrong": wrong})


def _check_read(rows: Rows, held: DataFrame, sources: Texts) -> None:
    """Says which text is not as it was sketched."""
    from pyspark.sql import functions as F

    counted = held.groupBy("row").agg(
        F.count(F.lit(1)).alias("times"), F.max("wrong").alias("wrong")
    )
    bad = counted.where("times > 1 OR wrong IS NOT NULL").limit(1)
    found = bad.join(rows.table.select("row", "id", "side"), "row").toArrow().to_pylist()
    if not found:
        return
    id_, times, wrong = (found[0][name] for name in ("id", "times", "wrong"))
    name = next(source.name for source in sources if source.side == found[0]["side"])
    if times > 1:
        what = f"{name} has {times} rows with the id {id_!r}; ids must differ"
    elif wrong == MISSING:
        what = f"{name} has no text with the id {id_!r}, of which a sketch was made"
    else:
        what = f"the text with the id {id_!r} in {name} is not the one its sketch was made of"
    raise ValueError(f"{what}. {WAYS_OUT[name]}")


_AGAIN = (
    "It is read more than once and must be the same each time: write it to a table first, if it is "
    "made by rand() or uuid(), or if its files change"
)
WAYS_OUT = {
    "df": _AGAIN,
    "reference": _AGAIN,
    "reference_texts": "Pass the texts of all rows of the reference as they were, or make the "
    "sketches anew",
}


@dataclass(frozen=True)
class Judging:
    """Texts and pairs that came to a task → the verdicts: left, right, distance, similarity."""

    asked: SparkRequest

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import numpy as np

        table = gathered(batches)
        if table is None:
            return
        left, right = array_values(table["left"]), array_values(table["right"])
        is_text = right < 0
        rows, at = np.unique(left[is_text], return_index=True)
        texts = strings(one(table["text"]).take(number_array(np.flatnonzero(is_text)[at])))
        left, right = left[~is_text], right[~is_text]
        del table
        corpus = judging_corpus(texts, self.asked.recipe, np.ones(len(rows), dtype=bool))
        # Pairs that share a text side by side.
        sort = np.lexsort((right, left))
        left, right = left[sort], right[sort]
        verdicts = Judge(corpus, threads=1).verdicts(_places(rows, left), _places(rows, right))
        yield verdict_batch(left, right, verdicts.distance, verdicts.similarity)


def _places(rows: NDArray[np.int64], wanted: NDArray[np.int64]) -> NDArray[np.int64]:
    """Where the wanted rows are among these, which are sorted."""
    import numpy as np

    places = np.searchsorted(rows, wanted)
    there = np.zeros(len(wanted), dtype=bool)
    inside = places < len(rows)
    there[inside] = rows[places[inside]] == wanted[inside]
    if not there.all():
        raise ValueError(f"the text of row {wanted[~there][0]} has not come to its task")
    return places


def verdict_batch(
    left: NDArray[Any], right: NDArray[Any], distance: NDArray[Any], similarity: NDArray[np.float64]
) -> pa.RecordBatch:
    return as_batch(
        {
            "left": longs(left),
            "right": longs(right),
            "distance": longs(distance),
            "similarity": number_array(similarity),
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
