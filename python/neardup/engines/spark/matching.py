"""Rows → who is near whom, and who is linked with whom: the answers of the local engine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from neardup.engines.spark.buckets import fallen
from neardup.engines.spark.components import components
from neardup.engines.spark.dense_groups import near_in_groups
from neardup.engines.spark.rows import REFERENCE, Rows, first_row
from neardup.engines.spark.stars import LINKED, VERDICT, by_codes, by_pairs, by_texts
from neardup.engines.spark.texts import Texts, judged, texts_of
from neardup.near.question import Linkage

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@dataclass(frozen=True)
class NearRows:
    """Near pairs of rows that are nobody's twin, each once.

    told        left, right, distance, similarity (null by radius): all but those of dense keys
    dense       those of dense keys in the same way, or a forest that connects them; None: there are
                no such keys
    members     row: the rows of dense keys, maybe more than once
    texts       row, text of all that are in a pair, by similarity; None by radius
    candidates  how many pairs were looked at, but for dense keys
    """

    told: DataFrame
    dense: DataFrame | None
    members: DataFrame
    texts: DataFrame | None
    candidates: int

    @property
    def pairs(self) -> DataFrame:
        return self.told if self.dense is None else self.told.union(self.dense)


def near(rows: Rows, sources: Texts, *, forest: bool = False) -> NearRows:
    """All near pairs; with `forest` at least so many as connect what is connected, and of those
    that only connect distance and similarity mean nothing."""
    from pyspark.sql import functions as F

    found = fallen(rows, forest=forest)
    similarity = rows.asked.question.similarity
    if similarity is None:
        unknown = F.lit(None).cast("double").alias("similarity")
        pairs = found.pairs.select("left", "right", "distance", unknown)
        return NearRows(pairs, None, found.members.select("row"), None, found.pair_count)
    wanted = found.members.select("row")
    for side in ("left", "right"):
        wanted = wanted.union(found.pairs.select(F.col(side).alias("row")))
    # Twins are known without their texts, but those that are removed are named by their ids.
    twins = rows.table.where(F.col("side") != REFERENCE).where("row <> first")
    texts = texts_of(rows, wanted, sources, present=twins)
    verdicts = judged(rows, found.pairs.select("left", "right"), found.pair_count, texts)
    pairs = rows.storage.pin(verdicts.where(F.col("similarity") >= F.lit(similarity)))
    dense = near_in_groups(rows, found, texts, forest=forest) if found.member_count else None
    return NearRows(pairs, dense, found.members.select("row"), texts, found.pair_count)


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
        return storage.pin(_stars(rows, members, found))
    ordered = members.join(rows.table.select("row", "side", "order"), "row")
    firsts = ordered.groupBy("root").agg(first_row().alias("label"))
    labels = members.join(firsts, "root")
    labels = storage.pin(labels.select("row", "label").where("row <> label"))
    if found.texts is None:
        nothing = (F.lit(None).cast(kind).alias(name) for name, kind in VERDICT)
        return labels.select("row", "label", *nothing)
    pairs = labels.toDF("left", "right")
    verdicts = judged(rows, pairs, labels.count(), found.texts)
    return storage.pin(verdicts.toDF(*LINKED))


def _stars(rows: Rows, members: DataFrame, found: NearRows) -> DataFrame:
    """Stars never cross a component. All pairs of one without dense keys are known; the others are
    linked by their texts."""
    if found.texts is None:
        return by_codes(rows, members)
    if found.dense is None:
        return by_pairs(rows, members, found.told, found.candidates)
    of_groups = members.join(found.members.distinct(), "row").select("root").distinct()
    of_groups = rows.storage.pin(of_groups)
    plain = members.join(of_groups, "root", "left_anti")
    linked = by_pairs(rows, plain, found.told, found.candidates)
    return linked.union(by_texts(rows, members.join(of_groups, "root", "left_semi"), found.texts))


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
        gone = gone.join(verdicts.toDF(*LINKED), ["row", "label"])
    known = F.when(F.col("signal"), F.col("distance")).alias("distance")
    return gone.select("row", "id", "label", known, "similarity")
