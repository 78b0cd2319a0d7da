"""Rows → who is near whom, and who is linked with whom: the answers of the local engine."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from neardup.clusters import Linkage, clusters
from neardup.columns import values_of
from neardup.engines.local import Local
from neardup.engines.spark.asked import Asked
from neardup.engines.spark.batches import gathered, rows_of_bytes
from neardup.engines.spark.buckets import fallen, words_of
from neardup.engines.spark.components import components
from neardup.engines.spark.groups import near_in_groups
from neardup.engines.spark.rows import REFERENCE, Rows, first_row
from neardup.engines.spark.texts import VERDICTS, Texts, judged, strings, texts_of, verdict_batch
from neardup.fingerprint import Fingerprints
from neardup.near.corpus import texts_in_memory

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame


@dataclass(frozen=True)
class Near:
    """Near pairs of rows that are nobody's twin, each once.

    pairs  left, right, distance, similarity (null by radius)
    texts  row, text of all that are in a pair, by similarity; None by radius
    count  candidates, and rows of heavy or dense keys
    """

    pairs: DataFrame
    texts: DataFrame | None
    candidates: int
    members: int


def near(rows: Rows, sources: Texts, *, forest: bool = False) -> Near:
    """All near pairs; with `forest` at least so many as connect what is connected, and of those
    that only connect distance and similarity mean nothing."""
    from pyspark.sql import functions as F

    found = fallen(rows, forest=forest)
    similarity = rows.asked.question.similarity
    if similarity is None:
        unknown = F.lit(None).cast("double").alias("similarity")
        pairs = found.pairs.select("left", "right", "distance", unknown)
        return Near(pairs, None, found.pair_count, 0)
    wanted = found.members.select("row")
    for side in ("left", "right"):
        wanted = wanted.union(found.pairs.select(F.col(side).alias("row")))
    # Twins are known without their texts, but those that are removed are named by their ids.
    twins = rows.table.where(F.col("side") != REFERENCE).where("row <> first")
    texts = texts_of(rows, wanted, sources, present=twins)
    verdicts = judged(rows, found.pairs.select("left", "right"), found.pair_count, texts)
    pairs = rows.storage.pin(verdicts.where(F.col("similarity") >= F.lit(similarity)))
    if found.member_count:
        pairs = pairs.union(near_in_groups(rows, found, texts, forest=forest))
    return Near(pairs, texts, found.pair_count, found.member_count)


def linked(rows: Rows, sources: Texts, linkage: Linkage) -> DataFrame:
    """For each row that is nobody's twin and not the first of its cluster: row, label (the first in
    order), distance, similarity (null by radius)."""
    from pyspark.sql import functions as F

    found = near(rows, sources, forest=True)
    asked, storage = rows.asked, rows.storage
    stars = components(found.pairs.select("left", "right"), storage, asked.limits)
    roots = stars.select(F.col("root").alias("row"), F.col("root")).distinct()
    members = stars.select(F.col("node").alias("row"), "root").union(roots)
    if linkage == "star":
        return storage.pin(_stars(rows, members, found.texts))
    ordered = members.join(rows.table.select("row", "side", "order"), "row")
    firsts = ordered.groupBy("root").agg(first_row().alias("label"))
    labels = members.join(firsts, "root")
    labels = storage.pin(labels.select("row", "label").where("row <> label"))
    if found.texts is None:
        nothing = (F.lit(None).cast(kind).alias(name) for name, kind in UNKNOWN)
        return labels.select("row", "label", *nothing)
    pairs = labels.toDF("left", "right")
    verdicts = judged(rows, pairs, labels.count(), found.texts)
    return storage.pin(verdicts.toDF("row", "label", "distance", "similarity"))


UNKNOWN = (("distance", "bigint"), ("similarity", "double"))


@dataclass(frozen=True)
class Linking:
    """Whole components → for each row that has joined another left, right (the one it has joined),
    distance, similarity. Stars never cross a component, and rows of different ones are not near:
    all that came to a task are linked at once, by the local engine, in order."""

    asked: Asked

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import numpy as np
        import pyarrow.compute as pc

        table = gathered(batches)
        if table is None:
            return
        table = table.take(pc.sort_indices(table, sort_keys=[("order", "ascending")]))
        row, question = values_of(table["row"]), self.asked.question
        if question.radius is not None:
            values = words_of(rows_of_bytes(table["made"], self.asked.code_bytes))
            all_of = Fingerprints(values, np.ones(len(row), dtype=bool), self.asked.recipe)
            labels = clusters(all_of, question.radius, linkage="star", threads=1)
            joined = np.flatnonzero(labels != np.arange(len(row)))
            apart = np.bitwise_count(values[joined] ^ values[labels[joined]]).sum(axis=1)
            unknown = np.full(len(joined), np.nan)
            yield verdict_batch(row[joined], row[labels[joined]], apart, unknown)
            return
        corpus = texts_in_memory(strings(table["made"]), self.asked.recipe, question, threads=1)
        found = Local().match(corpus, question, threads=1).clusters("star")
        joined = np.flatnonzero(found.labels != np.arange(len(row)))
        # Every link of a star was judged.
        verdicts = found.distance[joined], found.similarity[joined]
        yield verdict_batch(row[joined], row[found.labels[joined]], *verdicts)


def _stars(rows: Rows, members: DataFrame, texts: DataFrame | None) -> DataFrame:
    """Components to tasks, with what it takes to link them."""
    from pyspark.sql import functions as F

    of_rows = rows.table.select("row", "order", "bytes", *(() if texts else ("fingerprint",)))
    placed = members.join(of_rows, "row")
    if texts is None:
        placed = placed.withColumnRenamed("fingerprint", "made")
        total = rows.units * (rows.asked.code_bytes + 32)
    else:
        total = placed.agg(F.sum("bytes")).toArrow().column(0)[0].as_py() or 0
        placed = placed.join(texts.withColumnRenamed("text", "made"), "row")
    return (
        placed.select("row", "root", "order", "made")
        .repartition(rows.asked.limits.tasks(total), "root")
        .mapInArrow(Linking(rows.asked), VERDICTS)
        .toDF("row", "label", "distance", "similarity")
    )


def labelled(rows: Rows, links: DataFrame) -> DataFrame:
    """All rows with their label, the row that is kept for them: twins go with the first of them.
    distance and similarity with that one, where they are known; null for rows that are kept."""
    from pyspark.sql import functions as F

    found = links.withColumnRenamed("row", "first")
    joined = rows.table.join(found, "first", "left")
    label = F.coalesce("label", "first")
    # A twin of the row that is kept has its features; by radius only its fingerprint.
    judged_here = rows.asked.question.similarity is not None
    twin = F.col("label").isNull() & (F.col("row") != F.col("first"))
    one = F.lit(1.0) if judged_here else F.lit(None).cast("double")
    return rows.storage.pin(
        joined.select(
            *("row", "id", "side", "signal", "reason"),
            label.alias("label"),
            F.when(twin, F.lit(0)).otherwise(F.col("distance")).cast("bigint").alias("distance"),
            F.when(twin, one).otherwise(F.col("similarity")).alias("similarity"),
        )
    )


def removed(rows: Rows, labels: DataFrame, sources: Texts) -> DataFrame:
    """The rows that are not kept: row, id, label, distance (null without a fingerprint),
    similarity. What a radius has decided is judged now."""
    from pyspark.sql import functions as F

    gone = labels.where("row <> label")
    if rows.asked.question.similarity is None:
        gone = gone.select("row", "id", "signal", "label")
        pairs = gone.select(F.col("row").alias("left"), F.col("label").alias("right"))
        wanted = pairs.select(F.col("left").alias("row")).union(pairs.select("right"))
        texts = texts_of(rows, wanted, sources)
        verdicts = judged(rows, pairs, gone.count(), texts)
        gone = gone.join(verdicts.toDF("row", "label", "distance", "similarity"), ["row", "label"])
    known = F.when(F.col("signal"), F.col("distance")).alias("distance")
    return gone.select("row", "id", "label", known, "similarity")
