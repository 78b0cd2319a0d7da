"""DataFrames in, DataFrames out: pairs, clusters, what to keep."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from neardup.engines.spark.judging import TextSource, TextSources, fetch_texts, judge_pairs
from neardup.engines.spark.matching import find_near, judge_removed, label_rows, link_clusters
from neardup.engines.spark.request import (
    Limits,
    SparkRequest,
    check_columns,
    check_frame,
    check_request,
    check_text,
)
from neardup.engines.spark.rows import (
    ALL,
    INPUT,
    REFERENCE,
    Rows,
    make_rows,
    quote_column,
    sketch_frame,
)
from neardup.engines.spark.storage import Storage
from neardup.near.question import Linkage
from neardup.text.fingerprint import RecipeLike

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


# A name that no column of a user has.
REMOVED_ID = "neardup gone"


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

    request = check_request(
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
    rows, sources = prepare_rows(df, request, work)
    found = find_near(rows, sources).pairs
    one = F.lit(1.0 if request.question.similarity is not None else None).cast("double")
    twins = rows.table.where("row <> first").select(
        F.col("first").alias("left"), F.col("row").alias("right"), F.lit(0).cast("bigint"), one
    )
    return _pairs_by_id(rows, found.union(twins))


def _pairs_by_id(rows: Rows, found: DataFrame) -> DataFrame:
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
    request = check_request(
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
    rows, sources = prepare_rows(df, request, work)
    return _clusters_by_id(label_rows(rows, link_clusters(rows, sources, linkage)))


def _clusters_by_id(labels: DataFrame) -> DataFrame:
    from pyspark.sql import functions as F

    sizes = labels.groupBy("label").agg(F.count(F.lit(1)).alias("size"))
    firsts = labels.where("row = label").select("label", F.col("id").alias("representative"))
    return (
        labels.select("id", "label")
        .join(firsts.join(sizes, "label"), "label")
        .select("id", _cluster_number("representative"), "size", "representative")
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
    request = check_request(
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
    rows, sources = prepare_rows(df, request, work)
    labels = label_rows(rows, link_clusters(rows, sources, linkage))
    return Deduplicated(
        kept_rows(df, id_column, labels.where("row <> label")),
        _removed_by_id(rows, labels, sources),
        _clusters_by_id(labels),
        unreadable_rows(labels),
    )


def prepare_rows(
    df: DataFrame, request: SparkRequest, work: str | None
) -> tuple[Rows, TextSources]:
    """The rows of a DataFrame that is compared with itself, and where their texts are."""
    from pyspark.sql import functions as F

    storage = Storage(work)
    made = sketch_frame(df, request).withColumn("side", F.lit(ALL))
    rows = make_rows(made, request, storage)
    return rows, (TextSource(ALL, df, request.id_column, request.text_column),)


def kept_rows(df: DataFrame, id_column: str, gone: DataFrame) -> DataFrame:
    """The rows whose ids are not gone, as they were."""
    from pyspark.sql import functions as F

    ids = gone.select(F.col("id").alias(REMOVED_ID))
    return df.join(ids, F.col(quote_column(id_column)) == F.col(REMOVED_ID), "left_anti")


def unreadable_rows(labels: DataFrame) -> DataFrame:
    return labels.where("reason IS NOT NULL").select("id", "reason")


def _removed_by_id(rows: Rows, labels: DataFrame, sources: TextSources) -> DataFrame:
    from pyspark.sql import functions as F

    names = rows.table.select(F.col("row").alias("label"), F.col("id").alias("dup_of"))
    found = judge_removed(rows, labels, sources).join(names, "label")
    return found.select("id", "dup_of", _cluster_number("dup_of"), "distance", "similarity")


def _cluster_number(representative: str) -> Column:
    """The number of a cluster. Numbers of rows would do, but they change with the partitions."""
    from pyspark.sql import functions as F

    return F.xxhash64(representative).alias("cluster")


# Rows that are near a reference: yesterday's DataFrame, or what was kept of it as sketches.

# What a table of sketches has at least.
SKETCH_COLUMNS = (
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

    request = check_request(df, text_column, id_column, order_by, recipe=recipe)
    made = sketch_frame(df, request, fingerprint=True, text=texts).where("reason IS NULL")
    identity = request.recipe.identity
    named = F.lit(identity).alias("recipe", metadata={"neardup": identity})
    names = (*SKETCH_COLUMNS[:-1], *(("text",) if texts else ()))
    return made.select(*names, named)


def is_sketches(frame: DataFrame) -> bool:
    return set(SKETCH_COLUMNS) <= set(frame.columns)


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
    request = check_request(
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
    theirs, source = _reference_sketches(reference, reference_texts, request)
    ours = sketch_frame(df, request)
    own, other = _id_type(ours, "id"), _id_type(theirs, "id")
    if own != other:
        raise TypeError(
            f"ids of df are of type {own} and those of the reference of type {other}; both go into "
            "one table, so cast one of them"
        )
    rows = make_rows(
        _select_side(ours, request, INPUT).union(_select_side(theirs, request, REFERENCE)),
        request,
        storage,
        across=True,
    )
    sources: TextSources = (TextSource(INPUT, df, id_column, text_column), *source)
    found = storage.pin(_nearest(rows, sources))
    return Compared(
        kept_rows(df, id_column, found),
        found.select("id", "dup_of", "distance", "similarity"),
        rows.table.where("side = 1 AND reason IS NOT NULL").select("id", "reason"),
    )


def _select_side(frame: DataFrame, request: SparkRequest, side: int) -> DataFrame:
    from pyspark.sql import functions as F

    compared = "registers" if request.question.similarity is not None else "fingerprint"
    names = ("id", "order", "bytes", "checksum", "signal", "digest", "reason", compared)
    return frame.select(*names, F.lit(side).alias("side"))


def _reference_sketches(
    reference: DataFrame, texts: DataFrame | None, request: SparkRequest
) -> tuple[DataFrame, TextSources]:
    """Sketches of a reference, and where its texts are."""
    from pyspark.sql import functions as F

    where = request.id_column, request.text_column
    if not is_sketches(reference):
        check_columns(
            reference, "reference", request.text_column, request.id_column, *request.order_by
        )
        check_text(reference, "reference", request.text_column)
        return sketch_frame(reference, request), (
            TextSource(REFERENCE, reference, *where, "reference"),
        )
    _check_identity(reference, request)
    made = reference.withColumn("reason", F.lit(None).cast("string"))
    if texts is not None:
        check_frame("reference_texts", texts)
        check_columns(texts, "reference_texts", *where)
        check_text(texts, "reference_texts", request.text_column)
        own, other = (_id_type(*each) for each in ((texts, request.id_column), (made, "id")))
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


def _check_identity(table: DataFrame, request: SparkRequest) -> None:
    """Refuses sketches of another recipe."""
    found = table.select("recipe").distinct().limit(2).toArrow().column(0).to_pylist()
    wrong = [identity for identity in found if identity != request.recipe.identity]
    if wrong:
        raise ValueError(
            f"the sketches of the reference were made with another recipe: {wrong[0]}; asked for "
            f"is {request.recipe.identity}. Use that recipe, or make the sketches anew"
        )


def _nearest(rows: Rows, sources: TextSources) -> DataFrame:
    """For each row of the inputs that is near the reference: id, dup_of, distance, similarity; by
    the rules of `Matches.nearest`."""
    from pyspark.sql import functions as F

    table = rows.table
    found = find_near(rows, sources).pairs
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
    similar = rows.request.question.similarity is not None
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
        texts = fetch_texts(rows, wanted, sources, present=matched.select("row"))
        verdicts = judge_pairs(rows, pairs, pairs.count(), texts)
        known = verdicts.select(F.col("left").alias("row"), F.col("similarity").alias("judged"))
        matched = matched.join(known, "row", "left").withColumn(
            "similarity", F.coalesce("similarity", "judged")
        )
    names = table.select(F.col("row").alias("label"), F.col("id").alias("dup_of"))
    named = matched.join(names, "label")
    distance = F.when(F.col("signal"), F.col("distance")).alias("distance")
    return named.select("id", "dup_of", distance, "similarity")
