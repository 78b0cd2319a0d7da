"""The public functions on DataFrames: `pairs`, `clusters`, `dedup`, `against`, `sketches`.

Each checks its arguments (request), sketches the rows (rows), finds near pairs and clusters
(matching), and returns DataFrames that name rows by their ids.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from neardup.engines.spark.judging import TextSource, TextSources, fetch_texts, judge_pairs
from neardup.engines.spark.matching import NearRows, fill_labels, find_near, link_clusters
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


# Not the name of any user's column.
REMOVED_ID = "neardup removed id"
DIFFERENCES = ("differs", "lost")


@dataclass(frozen=True, eq=False)
class Deduplicated:
    """The result of `dedup`: which rows to keep. Its DataFrames are lazy.

    kept        the rows to keep, unchanged
    removed     id, dup_of (the id of the row kept in its place), cluster, distance (null without a
                fingerprint), similarity (exact cosine with the row kept), differs (what the cosine
                does not see: "numbers", "negation", "symbols", "order", joined by commas), lost
                (number of words of the row that the one kept lacks)
    clusters    id, cluster (a hash of the representative's id), size, representative (the id of the
                row kept; a row without near-duplicates is its own), differs, lost
    unreadable  id, reason: rows without a text, or whose text is not UTF-8; they are kept
    """

    kept: DataFrame
    removed: DataFrame
    clusters: DataFrame
    unreadable: DataFrame

    def counts(self) -> dict[str, int]:
        """Return the number of all, kept, removed and unreadable rows."""
        removed, bad, total = self.removed.count(), self.unreadable.count(), self.clusters.count()
        return {"rows": total, "kept": total - removed, "removed": removed, "unreadable": bad}


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
    distinguish: str | Iterable[str] | None = None,
) -> DataFrame:
    """Return all pairs of near-duplicates: left, right (ids, the earlier row on the left), distance
    (null without a fingerprint), similarity (exact cosine; null with a radius), differs, lost
    (number of words of the right text that the left one lacks).

    Rows with equal features are paired only with the first of them, which is compared with the
    others. Arguments as for `dedup`.
    """
    from pyspark.sql import functions as F

    request = check_request(
        df,
        (text_column, id_column, order_by),
        (similarity, radius, recall),
        recipe,
        limits,
        distinguish=distinguish,
    )
    rows, sources = prepare_rows(df, request, work)
    found = find_near(rows, sources)
    one = F.lit(1.0 if request.question.similarity is not None else None).cast("double")
    twins = rows.table.where("row <> first").select(
        *(F.col("first").alias("left"), F.col("row").alias("right"), F.lit(0).cast("bigint"), one),
        *(F.when(F.col("copied"), value) for value in (F.lit(""), F.lit(0).cast("bigint"))),
    )
    return _pairs_by_id(rows, _fill_pairs(rows, found, twins, sources))


def _fill_pairs(rows: Rows, found: NearRows, twins: DataFrame, sources: TextSources) -> DataFrame:
    """Return all pairs with what differs in them, also those found without texts."""
    from pyspark.sql import functions as F

    pairs = found.pairs.union(twins)
    texts = found.texts
    if texts is not None and not rows.variant_count:
        return pairs
    pairs = rows.storage.pin(pairs)
    unknown = pairs.where("differs IS NULL")
    if texts is None:
        sides = (unknown.select(F.col(side).alias("row")) for side in ("left", "right"))
        texts = fetch_texts(rows, next(sides).union(next(sides)), sources)
    told = judge_pairs(rows, unknown, unknown.count(), texts, "differences")
    return pairs.where("differs IS NOT NULL").union(told)


def _pairs_by_id(rows: Rows, found: DataFrame) -> DataFrame:
    """Name rows by ids, the earlier on the left."""
    from pyspark.sql import functions as F

    joined = found
    for side in ("left", "right"):
        names = {"row": side, "id": f"{side}_id", "order": f"{side}_order"}
        own = {**names, "signal": f"{side}_signal"}
        joined = joined.join(rows.table.select(*(F.col(a).alias(b) for a, b in own.items())), side)
    in_order = F.col("left_order") < F.col("right_order")
    return joined.select(
        F.when(in_order, F.col("left_id")).otherwise(F.col("right_id")).alias("left"),
        F.when(in_order, F.col("right_id")).otherwise(F.col("left_id")).alias("right"),
        F.when(F.col("left_signal") & F.col("right_signal"), F.col("distance")).alias("distance"),
        *("similarity", "differs", "lost"),
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
    distinguish: str | Iterable[str] | None = None,
) -> DataFrame:
    """Return for each row id, cluster, size (of the cluster), representative (the id of its first),
    differs, lost (words of the row that the representative lacks).

    `cluster` is `xxhash64` of the representative's id, equal in every run; numbers from 0 would
    take a global sort. Two of 10⁹ clusters share a number with a chance of 1 in 37. A row without
    near-duplicates is a cluster of one. Arguments as for `dedup`.
    """
    request = check_request(
        df,
        (text_column, id_column, order_by),
        (similarity, radius, recall),
        recipe,
        limits,
        keep,
        linkage,
        distinguish=distinguish,
    )
    rows, sources = prepare_rows(df, request, work)
    return _clusters_by_id(link_clusters(rows, sources, linkage))


def _clusters_by_id(labels: DataFrame) -> DataFrame:
    from pyspark.sql import functions as F

    sizes = labels.groupBy("label").agg(F.count(F.lit(1)).alias("size"))
    firsts = labels.where("row = label").select("label", F.col("id").alias("representative"))
    return (
        labels.select("id", "label", "differs", "lost")
        .join(firsts.join(sizes, "label"), "label")
        .select("id", _cluster_number("representative"), "size", "representative", *DIFFERENCES)
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
    distinguish: str | Iterable[str] | None = None,
) -> Deduplicated:
    """Find near-duplicates among the rows of a DataFrame and decide which rows to keep.

    The result equals that of `neardup.dedup` on the same texts in the same order.

    text_column  texts: strings or UTF-8 bytes. Rows without a text are kept, and listed
    id_column    unique ids: numbers, strings, dates
    order_by     columns that order the rows; ties are broken by id [default: the id]
    keep         "first", "longest", "shortest"; "newest:NAME" and "best:NAME" keep the row with the
                 largest value of that column
    work         a folder for intermediate tables that all executors can reach; you delete them.
                 [default: on the executors; the run fails if one is lost]
    limits       sizes of tasks

    similarity, radius, recall, linkage, recipe and distinguish (but "fields") are those of
    `neardup.dedup`; with a radius all pairs are found, whatever the recall.
    """
    request = check_request(
        df,
        (text_column, id_column, order_by),
        (similarity, radius, recall),
        recipe,
        limits,
        keep,
        linkage,
        distinguish=distinguish,
    )
    rows, sources = prepare_rows(df, request, work)
    labels = link_clusters(rows, sources, linkage)
    return Deduplicated(
        kept_rows(df, id_column, labels.where("row <> label")),
        _removed_by_id(rows, labels),
        _clusters_by_id(labels),
        unreadable_rows(labels),
    )


def prepare_rows(
    df: DataFrame, request: SparkRequest, work: str | None
) -> tuple[Rows, TextSources]:
    """Sketch a DataFrame that is compared with itself; return its rows and the source of texts."""
    from pyspark.sql import functions as F

    storage = Storage(work)
    sketched = sketch_frame(df, request).withColumn("side", F.lit(ALL))
    rows = make_rows(sketched, request, storage)
    return rows, (TextSource(ALL, df, request.id_column, request.text_column),)


def kept_rows(df: DataFrame, id_column: str, removed: DataFrame) -> DataFrame:
    """Return the rows whose ids are not in `gone`, unchanged."""
    from pyspark.sql import functions as F

    ids = removed.select(F.col("id").alias(REMOVED_ID))
    return df.join(ids, F.col(quote_column(id_column)) == F.col(REMOVED_ID), "left_anti")


def unreadable_rows(labels: DataFrame) -> DataFrame:
    return labels.where("reason IS NOT NULL").select("id", "reason")


def _removed_by_id(rows: Rows, labels: DataFrame) -> DataFrame:
    """Return the removed rows and the row kept for each by id, with the verdict on them."""
    from pyspark.sql import functions as F

    names = rows.table.select(F.col("row").alias("label"), F.col("id").alias("dup_of"))
    return (
        labels.where("row <> label")
        .join(names, "label")
        .select(
            *("id", "dup_of", _cluster_number("dup_of")),
            F.when(F.col("signal"), F.col("distance")).alias("distance"),
            *("similarity", *DIFFERENCES),
        )
    )


def _cluster_number(representative: str) -> Column:
    """Number a cluster by its representative: row numbers change with the partitions."""
    from pyspark.sql import functions as F

    return F.xxhash64(representative).alias("cluster")


# The columns of a table of sketches; it may have texts as well, and DISTINGUISH.
SKETCH_COLUMNS = (
    *("id", "order", "bytes", "checksum", "signal", "digest", "registers", "fingerprint"),
    "recipe",
)
# The aspects that sketches keep apart; tables made before it was there keep none apart.
DISTINGUISH = "distinguish"


@dataclass(frozen=True, eq=False)
class Compared:
    """The result of `against`. Its DataFrames are lazy.

    kept        the rows that are near no row of the reference, unchanged
    removed     id, dup_of (the id of the most similar row of the reference; ties are broken by
                distance, then order), distance (null without a fingerprint), similarity, differs,
                lost (number of words of the row that the one of the reference lacks)
    unreadable  id, reason: rows without a text, or whose text is not UTF-8; they are kept
    """

    kept: DataFrame
    removed: DataFrame
    unreadable: DataFrame

    def counts(self) -> dict[str, int]:
        """Return the number of kept, removed and unreadable rows."""
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
    distinguish: str | Iterable[str] | None = None,
) -> DataFrame:
    """Return the sketches of a reference for `against`, to be stored as Parquet: id, order, bytes,
    checksum, signal, digest, registers, fingerprint, recipe (its identity), distinguish.

    texts        add the texts: candidates are verified by them. Without them, pass the texts to
                 `against` as reference_texts=
    distinguish  that of the questions that the sketches are to answer
    """
    from pyspark.sql import functions as F

    request = check_request(
        df, (text_column, id_column, order_by), recipe=recipe, distinguish=distinguish
    )
    sketched = sketch_frame(df, request, fingerprint=True, text=texts).where("reason IS NULL")
    identity = request.recipe.identity
    named = F.lit(identity).alias("recipe", metadata={"neardup": identity})
    names = (*SKETCH_COLUMNS[:-1], *(("text",) if texts else ()))
    aspects = F.lit(",".join(request.question.distinguish)).alias(DISTINGUISH)
    return sketched.select(*names, named, aspects)


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
    distinguish: str | Iterable[str] | None = None,
) -> Compared:
    """Find the rows that are near a row of a reference. Rows are not compared with each other.

    reference        a DataFrame with the same columns of texts and ids, or a table of `sketches`
    reference_texts  the ids and texts of the reference, in columns of the same names, if its
                     sketches are stored without texts

    Other arguments as for `dedup`.
    """
    request = check_request(
        df,
        (text_column, id_column, order_by),
        (similarity, radius, recall),
        recipe,
        limits,
        distinguish=distinguish,
    )
    check_frame("reference", reference)
    storage = Storage(work)
    theirs, source = _reference_sketches(reference, reference_texts, request)
    ours = sketch_frame(df, request)
    own, other = _id_type(ours, "id"), _id_type(theirs, "id")
    if own != other:
        raise TypeError(
            f"ids of df are of type {own}, ids of the reference of type {other}; cast one of them"
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
        found.select("id", "dup_of", "distance", "similarity", *DIFFERENCES),
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
    """Return the sketches of a reference, and the source of its texts."""
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
    stored = reference.withColumn("reason", F.lit(None).cast("string"))
    if texts is not None:
        check_frame("reference_texts", texts)
        check_columns(texts, "reference_texts", *where)
        check_text(texts, "reference_texts", request.text_column)
        own, other = (_id_type(*each) for each in ((texts, request.id_column), (stored, "id")))
        if own != other:
            raise TypeError(
                f"ids of reference_texts are of type {own}, ids of the reference of type {other}; "
                "cast one of them"
            )
        return stored, (TextSource(REFERENCE, texts, *where, "reference_texts"),)
    if "text" in reference.columns:
        return stored, (TextSource(REFERENCE, reference, "id", "text", "reference"),)
    raise ValueError(
        "the reference is a table of sketches without texts, which verify candidates; pass "
        " them as reference_texts=, or store them: sketches(df, texts=True)"
    )


def _id_type(frame: DataFrame, column: str) -> str:
    return str(frame.schema[column].dataType.simpleString())


def _check_identity(table: DataFrame, request: SparkRequest) -> None:
    """Raise ValueError for sketches of another recipe, or that keep other aspects apart."""
    from pyspark.sql import functions as F

    kept_apart = F.col(DISTINGUISH) if DISTINGUISH in table.columns else F.lit("")
    made = table.select("recipe", kept_apart).distinct().limit(2).toArrow()
    for identity in made.column(0).to_pylist():
        if identity != request.recipe.identity:
            raise ValueError(
                f"the sketches of the reference were made with another recipe: {identity}; "
                f"this request has {request.recipe.identity}. Use the recipe of the sketches (of "
                'neardup2 one with version=2, such as "default-2"), or make them again'
            )
    own = ",".join(request.question.distinguish) or None
    for aspects in (value or None for value in made.column(1).to_pylist()):
        if aspects != own:
            raise ValueError(
                f"the sketches of the reference were made with distinguish={aspects!r}; this "
                f"request has {own!r}. Make them again with sketches(df, distinguish={own!r}), or "
                f"pass distinguish={aspects!r}"
            )


def _nearest(rows: Rows, sources: TextSources) -> DataFrame:
    """Return id, dup_of, distance, similarity, differs, lost of each input row that is near the
    reference.

    Ties are broken as in `Matches.nearest`.
    """
    from pyspark.sql import functions as F

    table = rows.table
    found = find_near(rows, sources)
    sides = table.where(F.col("side") == REFERENCE).select(F.col("row").alias("theirs"), "order")
    verdict = ("distance", "similarity", *DIFFERENCES)
    both = [
        found.pairs.select(F.col(a).alias("theirs"), F.col(b).alias("first"), *verdict)
        for a, b in (("left", "right"), ("right", "left"))
    ]
    across = both[0].union(both[1]).join(sides, "theirs")
    # The highest similarity, then the smallest distance, then the first row.
    rank = F.struct(
        (-F.coalesce("similarity", F.lit(0.0))).alias("unlike"),
        *("distance", "order", "theirs", *DIFFERENCES),
    )
    best = across.groupBy("first").agg(F.min(rank).alias("best"))
    # A row with an equal one in the reference takes that one.
    ours = table.where(F.col("side") == INPUT)
    twins = table.where(F.col("side") == REFERENCE).select(
        F.col("row").alias("first"), F.lit(True).alias("twin")
    )
    joined = ours.join(twins, "first", "left").join(best, "first", "left")
    twin = F.col("twin").isNotNull()
    similar = rows.request.question.similarity is not None
    cosine = -F.col("best.unlike") if similar else F.lit(None).cast("double")
    # With a radius rows are judged below, those with an equal fingerprint too; a row with a text of
    # its own differs in its own way.
    known = F.col("copied") if similar else F.col("copied") & twin
    nothing = (F.lit(""), F.lit(0).cast("bigint"))
    matched = joined.where(twin | F.col("best").isNotNull()).select(
        "row",
        "id",
        "signal",
        F.when(twin, F.col("first")).otherwise(F.col("best.theirs")).alias("label"),
        F.when(twin, F.lit(0)).otherwise(F.col("best.distance")).cast("bigint").alias("distance"),
        F.when(twin if similar else known, 1.0).otherwise(cosine).alias("similarity"),
        *(
            F.when(known, F.when(twin, none).otherwise(F.col(f"best.{name}"))).alias(name)
            for name, none in zip(DIFFERENCES, nothing, strict=True)
        ),
    )
    matched = fill_labels(rows, matched, found.texts, sources)
    names = table.select(F.col("row").alias("label"), F.col("id").alias("dup_of"))
    distance = F.when(F.col("signal"), F.col("distance")).alias("distance")
    return matched.join(names, "label").select("id", "dup_of", distance, "similarity", *DIFFERENCES)
