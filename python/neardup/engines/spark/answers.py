"""DataFrames in, DataFrames out: pairs, clusters, what to keep."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from neardup.engines.spark.matching import labelled, linked, near, removed
from neardup.engines.spark.request import Limits, SparkRequest, asked_of
from neardup.engines.spark.rows import ALL, Rows, rows_of
from neardup.engines.spark.sketching import quoted, sketched
from neardup.engines.spark.storage import Storage
from neardup.engines.spark.texts import Texts, TextSource
from neardup.near.question import Linkage
from neardup.text.fingerprint import RecipeLike

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


# A name that no column of a user has.
GONE = "neardup gone"


@dataclass(frozen=True, eq=False)
class Deduplicated:
    """Which rows of a DataFrame to keep. Tables are computed when they are asked for.

    kept        the rows to keep, as they were
    removed     id, dup_of (the id of the row kept in its place), cluster, distance (null without a
                fingerprint), similarity (exact cosine with the row kept)
    clusters    id, cluster (a number made of the representative's id), size, representative (the id
                of the row kept; of a row alone its own)
    unreadable  id, reason: rows without a text, or whose text is not UTF-8; they are kept
    """

    kept: DataFrame
    removed: DataFrame
    clusters: DataFrame
    unreadable: DataFrame

    def counts(self) -> dict[str, int]:
        """Rows in all, kept, removed and unreadable."""
        gone, bad, total = self.removed.count(), self.unreadable.count(), self.clusters.count()
        return {"rows": total, "kept": total - gone, "removed": gone, "unreadable": bad}


def pairs(
    df: DataFrame,
    similarity: float | None = None,
    *,
    text_column: str = "text",
    id_column: str = "id",
    order_by: str | Sequence[str] | None = None,
    radius: int | None = None,
    recall: float | None = None,
    recipe: RecipeLike = None,
    work: str | None = None,
    limits: Limits | None = None,
) -> DataFrame:
    """All pairs of near-duplicates: left, right (ids; the left one comes first), distance (null
    without a fingerprint), similarity (exact cosine; null if a radius decided).

    Of texts that say the same only the first is compared with others; the rest are paired with that
    one alone. Arguments as for `dedup`.
    """
    from pyspark.sql import functions as F

    asked = asked_of(
        df,
        text_column,
        id_column,
        order_by,
        similarity=similarity,
        radius=radius,
        recall=recall,
        recipe=recipe,
        limits=limits,
    )
    rows, sources = prepared(df, asked, work)
    found = near(rows, sources).pairs
    one = F.lit(1.0 if asked.question.similarity is not None else None).cast("double")
    twins = rows.table.where("row <> first").select(
        F.col("first").alias("left"), F.col("row").alias("right"), F.lit(0).cast("bigint"), one
    )
    return _named_pairs(rows, found.union(twins))


def _named_pairs(rows: Rows, found: DataFrame) -> DataFrame:
    """Pairs by ids, the earlier on the left."""
    from pyspark.sql import functions as F

    joined = found
    for side in ("left", "right"):
        names = {"row": side, "id": f"{side}_id", "order": f"{side}_order"}
        own = {**names, "signal": f"{side}_signal"}
        joined = joined.join(rows.table.select(*(F.col(a).alias(b) for a, b in own.items())), side)
    ahead = F.col("left_order") < F.col("right_order")
    return joined.select(
        F.when(ahead, F.col("left_id")).otherwise(F.col("right_id")).alias("left"),
        F.when(ahead, F.col("right_id")).otherwise(F.col("left_id")).alias("right"),
        F.when(F.col("left_signal") & F.col("right_signal"), F.col("distance")).alias("distance"),
        "similarity",
    )


def clusters(
    df: DataFrame,
    similarity: float | None = None,
    *,
    text_column: str = "text",
    id_column: str = "id",
    order_by: str | Sequence[str] | None = None,
    radius: int | None = None,
    recall: float | None = None,
    keep: str = "first",
    linkage: Linkage = "connected",
    recipe: RecipeLike = None,
    work: str | None = None,
    limits: Limits | None = None,
) -> DataFrame:
    """For each row id, cluster, size of the cluster, representative (the id of its first row).

    A cluster is its representative. Its number is `xxhash64` of that id, the same in every run;
    numbers from 0 would take a sort of all. Of a thousand million clusters two may share a number
    (1 chance in 37). A row that is alone is a cluster of one. Arguments as for `dedup`.
    """
    asked = asked_of(
        df,
        text_column,
        id_column,
        order_by,
        similarity=similarity,
        radius=radius,
        recall=recall,
        keep=keep,
        linkage=linkage,
        recipe=recipe,
        limits=limits,
    )
    rows, sources = prepared(df, asked, work)
    return _named_clusters(labelled(rows, linked(rows, sources, linkage)))


def _named_clusters(labels: DataFrame) -> DataFrame:
    from pyspark.sql import functions as F

    sizes = labels.groupBy("label").agg(F.count(F.lit(1)).alias("size"))
    firsts = labels.where("row = label").select("label", F.col("id").alias("representative"))
    return (
        labels.select("id", "label")
        .join(firsts.join(sizes, "label"), "label")
        .select("id", _number("representative"), "size", "representative")
    )


def dedup(
    df: DataFrame,
    similarity: float | None = None,
    *,
    text_column: str = "text",
    id_column: str = "id",
    order_by: str | Sequence[str] | None = None,
    radius: int | None = None,
    recall: float | None = None,
    keep: str = "first",
    linkage: Linkage = "star",
    recipe: RecipeLike = None,
    work: str | None = None,
    limits: Limits | None = None,
) -> Deduplicated:
    """Finds near-duplicates among the rows of a DataFrame and says which to keep: the answer of
    `neardup.dedup` on the same texts in the same order.

    text_column  texts: strings, or bytes in UTF-8. Rows without a text are kept, and listed
    id_column    ids, which must differ: numbers, strings, dates
    order_by     columns that say which row is the first; of equal ones the id decides. [default:
                 the id]
    keep         "first", "longest", "shortest"; "newest:NAME" and "best:NAME" keep the row with the
                 largest value of that column
    work         a folder for intermediate tables that all executors reach [default: they hold them
                 themselves, and the run fails if one is lost]; they stay until you delete them
    limits       how large tasks may be

    similarity, radius, recall, linkage and recipe are those of `neardup.dedup`; by radius all pairs
    are found, whatever the recall.
    """
    asked = asked_of(
        df,
        text_column,
        id_column,
        order_by,
        similarity=similarity,
        radius=radius,
        recall=recall,
        keep=keep,
        linkage=linkage,
        recipe=recipe,
        limits=limits,
    )
    rows, sources = prepared(df, asked, work)
    labels = labelled(rows, linked(rows, sources, linkage))
    return Deduplicated(
        kept_of(df, id_column, labels.where("row <> label")),
        _named_removed(rows, labels, sources),
        _named_clusters(labels),
        unreadable_of(labels),
    )


def prepared(df: DataFrame, asked: SparkRequest, work: str | None) -> tuple[Rows, Texts]:
    """The rows of a DataFrame that is compared with itself, and where their texts are."""
    from pyspark.sql import functions as F

    storage = Storage(work)
    made = sketched(df, asked).withColumn("side", F.lit(ALL))
    rows = rows_of(made, asked, storage)
    return rows, (TextSource(ALL, df, asked.id_column, asked.text_column),)


def kept_of(df: DataFrame, id_column: str, gone: DataFrame) -> DataFrame:
    """The rows whose ids are not gone, as they were."""
    from pyspark.sql import functions as F

    ids = gone.select(F.col("id").alias(GONE))
    return df.join(ids, F.col(quoted(id_column)) == F.col(GONE), "left_anti")


def unreadable_of(labels: DataFrame) -> DataFrame:
    return labels.where("reason IS NOT NULL").select("id", "reason")


def _named_removed(rows: Rows, labels: DataFrame, sources: Texts) -> DataFrame:
    from pyspark.sql import functions as F

    names = rows.table.select(F.col("row").alias("label"), F.col("id").alias("dup_of"))
    found = removed(rows, labels, sources).join(names, "label")
    return found.select("id", "dup_of", _number("dup_of"), "distance", "similarity")


def _number(representative: str) -> Column:
    """The number of a cluster. Numbers of rows would do, but they change with the partitions."""
    from pyspark.sql import functions as F

    return F.xxhash64(representative).alias("cluster")
