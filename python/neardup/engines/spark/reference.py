"""Rows that are near a reference: yesterday's DataFrame, or what was kept of it as sketches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from neardup.engines.spark.answers import kept_of
from neardup.engines.spark.matching import near
from neardup.engines.spark.request import (
    Limits,
    SparkRequest,
    asked_of,
    check_columns,
    check_frame,
    check_text,
)
from neardup.engines.spark.rows import INPUT, REFERENCE, Rows, rows_of
from neardup.engines.spark.sketching import sketched
from neardup.engines.spark.storage import Storage
from neardup.engines.spark.texts import Texts, TextSource, judged, texts_of
from neardup.text.fingerprint import RecipeLike

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

# What a table of sketches has at least.
OF_SKETCHES = (
    *("id", "order", "bytes", "checksum", "signal", "digest", "registers", "fingerprint"),
    "recipe",
)


@dataclass(frozen=True, eq=False)
class Compared:
    """Rows of a DataFrame, compared with a reference. Tables are computed when they are asked for.

    kept        the rows that are near no row of the reference, as they were
    removed     id, dup_of (the id of the most similar row of the reference; of equals the nearest
                in bits, then the first), distance (null without a fingerprint), similarity
    unreadable  id, reason: rows without a text, or whose text is not UTF-8; they are kept
    """

    kept: DataFrame
    removed: DataFrame
    unreadable: DataFrame

    def counts(self) -> dict[str, int]:
        """Rows kept, removed and unreadable."""
        return {
            "kept": self.kept.count(),
            "removed": self.removed.count(),
            "unreadable": self.unreadable.count(),
        }


def sketches(
    df: DataFrame,
    text_column: str = "text",
    *,
    id_column: str = "id",
    order_by: str | Sequence[str] | None = None,
    recipe: RecipeLike = None,
    texts: bool = False,
) -> DataFrame:
    """What `against` needs of these rows, to be written as Parquet and compared with later: id,
    order, bytes, checksum, signal, digest, registers, fingerprint, recipe (its identity).

    texts  keep the texts as well: candidates are judged by them. Without them `against` has to be
           given the texts of the reference again
    """
    from pyspark.sql import functions as F

    asked = asked_of(df, text_column, id_column, order_by, recipe=recipe)
    made = sketched(df, asked, fingerprint=True, text=texts).where("reason IS NULL")
    identity = asked.recipe.identity
    named = F.lit(identity).alias("recipe", metadata={"neardup": identity})
    names = (*OF_SKETCHES[:-1], *(("text",) if texts else ()))
    return made.select(*names, named)


def is_sketches(frame: DataFrame) -> bool:
    return set(OF_SKETCHES) <= set(frame.columns)


def against(
    df: DataFrame,
    reference: DataFrame,
    similarity: float | None = None,
    *,
    text_column: str = "text",
    id_column: str = "id",
    order_by: str | Sequence[str] | None = None,
    radius: int | None = None,
    recall: float | None = None,
    recipe: RecipeLike = None,
    reference_texts: DataFrame | None = None,
    work: str | None = None,
    limits: Limits | None = None,
) -> Compared:
    """The rows that are near no row of a reference, and what the others are near to. Rows are not
    compared with each other.

    reference        a DataFrame with the same columns of texts and ids, or what `sketches` made
    reference_texts  its ids and texts, in columns of the same names, where sketches were kept
                     without them

    Other arguments as for `dedup`.
    """
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
    check_frame("reference", reference)
    storage = Storage(work)
    theirs, source = _sketches_of(reference, reference_texts, asked)
    ours = sketched(df, asked)
    own, other = _id_type(ours, "id"), _id_type(theirs, "id")
    if own != other:
        raise TypeError(
            f"ids of df are of type {own} and those of the reference of type {other}; both go into "
            "one table, so cast one of them"
        )
    rows = rows_of(
        _sided(ours, asked, INPUT).union(_sided(theirs, asked, REFERENCE)),
        asked,
        storage,
        across=True,
    )
    sources: Texts = (TextSource(INPUT, df, id_column, text_column), *source)
    found = storage.pin(_nearest(rows, sources))
    return Compared(
        kept_of(df, id_column, found),
        found.select("id", "dup_of", "distance", "similarity"),
        rows.table.where("side = 1 AND reason IS NOT NULL").select("id", "reason"),
    )


def _sided(frame: DataFrame, asked: SparkRequest, side: int) -> DataFrame:
    from pyspark.sql import functions as F

    compared = "registers" if asked.question.similarity is not None else "fingerprint"
    names = ("id", "order", "bytes", "checksum", "signal", "digest", "reason", compared)
    return frame.select(*names, F.lit(side).alias("side"))


def _sketches_of(
    reference: DataFrame, texts: DataFrame | None, asked: SparkRequest
) -> tuple[DataFrame, Texts]:
    """Sketches of a reference, and where its texts are."""
    from pyspark.sql import functions as F

    where = asked.id_column, asked.text_column
    if not is_sketches(reference):
        check_columns(reference, "reference", asked.text_column, asked.id_column, *asked.order_by)
        check_text(reference, "reference", asked.text_column)
        return sketched(reference, asked), (TextSource(REFERENCE, reference, *where, "reference"),)
    check_identity(reference, asked)
    made = reference.withColumn("reason", F.lit(None).cast("string"))
    if texts is not None:
        check_frame("reference_texts", texts)
        check_columns(texts, "reference_texts", *where)
        check_text(texts, "reference_texts", asked.text_column)
        own, other = (_id_type(*each) for each in ((texts, asked.id_column), (made, "id")))
        if own != other:
            raise TypeError(
                f"ids of reference_texts are of type {own} and those of the reference of type "
                f"{other}; they name the same rows, so cast one of them"
            )
        return made, (TextSource(REFERENCE, texts, *where, "reference_texts"),)
    if "text" in reference.columns:
        return made, (TextSource(REFERENCE, reference, "id", "text", "reference"),)
    raise ValueError(
        "the reference is a table of sketches without texts, and what is found by sketches or bits "
        "is judged by texts; pass them as reference_texts=, or keep them: sketches(df, texts=True)"
    )


def _id_type(frame: DataFrame, column: str) -> str:
    return str(frame.schema[column].dataType.simpleString())


def check_identity(table: DataFrame, asked: SparkRequest) -> None:
    """Refuses sketches of another recipe."""
    found = table.select("recipe").distinct().limit(2).toArrow().column(0).to_pylist()
    wrong = [identity for identity in found if identity != asked.recipe.identity]
    if wrong:
        raise ValueError(
            f"the sketches of the reference were made with another recipe: {wrong[0]}; asked for "
            f"is {asked.recipe.identity}. Use that recipe, or make the sketches anew"
        )


def _nearest(rows: Rows, sources: Texts) -> DataFrame:
    """For each row of the inputs that is near the reference: id, dup_of, distance, similarity; by
    the rules of `Matches.nearest`."""
    from pyspark.sql import functions as F

    table = rows.table
    found = near(rows, sources).pairs
    sides = table.where(F.col("side") == REFERENCE).select(F.col("row").alias("theirs"), "order")
    both = [
        found.select(F.col(a).alias("theirs"), F.col(b).alias("first"), "distance", "similarity")
        for a, b in (("left", "right"), ("right", "left"))
    ]
    across = both[0].union(both[1]).join(sides, "theirs")
    # The most similar; then the nearest in bits; then the first.
    rank = F.struct(
        (-F.coalesce("similarity", F.lit(0.0))).alias("unlike"), "distance", "order", "theirs"
    )
    best = across.groupBy("first").agg(F.min(rank).alias("best"))
    # A row with a twin in the reference has that one.
    ours = table.where(F.col("side") == INPUT)
    twins = table.where(F.col("side") == REFERENCE).select(
        F.col("row").alias("first"), F.lit(True).alias("twin")
    )
    joined = ours.join(twins, "first", "left").join(best, "first", "left")
    twin = F.col("twin").isNotNull()
    similar = rows.asked.question.similarity is not None
    cosine = -F.col("best.unlike") if similar else F.lit(None).cast("double")
    matched = joined.where(twin | F.col("best").isNotNull()).select(
        "row",
        "id",
        "signal",
        F.when(twin, F.col("first")).otherwise(F.col("best.theirs")).alias("label"),
        F.when(twin, F.lit(0)).otherwise(F.col("best.distance")).cast("bigint").alias("distance"),
        F.when(twin, F.lit(1.0)).otherwise(cosine).alias("similarity"),
    )
    if not similar:
        matched = rows.storage.pin(matched)
        unknown = matched.where("similarity IS NULL")
        pairs = unknown.select(F.col("row").alias("left"), F.col("label").alias("right"))
        wanted = pairs.select(F.col("left").alias("row")).union(pairs.select("right"))
        texts = texts_of(rows, wanted, sources, present=matched.select("row"))
        verdicts = judged(rows, pairs, pairs.count(), texts)
        known = verdicts.select(F.col("left").alias("row"), F.col("similarity").alias("judged"))
        matched = matched.join(known, "row", "left").withColumn(
            "similarity", F.coalesce("similarity", "judged")
        )
    names = table.select(F.col("row").alias("label"), F.col("id").alias("dup_of"))
    named = matched.join(names, "label")
    distance = F.when(F.col("signal"), F.col("distance")).alias("distance")
    return named.select("id", "dup_of", distance, "similarity")
