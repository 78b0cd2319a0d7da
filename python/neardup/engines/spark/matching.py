"""Near pairs of rows, and their clusters: the answers of the local engine.

`find_near` joins the keys, compares dense groups and verifies candidates. `link_clusters` finds
connected components and, for star linkage, the stars in them: each row in order goes under the
first near row that is a representative. Stars never cross a component, so whole components come to
tasks. If all near pairs are known, the pairs suffice. Of dense keys only enough pairs to connect
them are known: components with such rows come with their texts, and the local engine links them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from neardup._util.arrow import array_values, number_array, string_column
from neardup.engines.spark.arrow import (
    byte_rows,
    gather_batches,
    int64_array,
    make_batch,
    single_array,
)
from neardup.engines.spark.buckets import fingerprint_words, join_buckets
from neardup.engines.spark.components import connected_components
from neardup.engines.spark.dense_groups import dense_pairs
from neardup.engines.spark.judging import (
    VERDICT_COLUMNS,
    VERDICT_SCHEMA,
    TextSources,
    fetch_texts,
    judge_pairs,
    verdict_batch,
)
from neardup.engines.spark.request import SparkRequest
from neardup.engines.spark.rows import REFERENCE, Rows, first_row
from neardup.near.clusters import clusters, link_rows
from neardup.near.corpus import memory_corpus
from neardup.near.join import LocalEngine
from neardup.near.question import Linkage
from neardup.text.fingerprint import Fingerprints

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import Column, DataFrame


@dataclass(frozen=True)
class NearRows:
    """Near pairs of distinct rows, each once.

    sparse      left, right and VERDICT_COLUMNS (null where they took no text): pairs without a
                dense key
    dense       the pairs of dense keys, or a forest that connects them; None if there are no such
                keys
    members     row: the rows of dense keys, possibly repeated
    texts       row, order, text of all rows in a pair, and of equal rows whose texts are not; None
                if fingerprints alone tell near pairs
    candidates  number of pairs compared, without those of dense keys
    """

    sparse: DataFrame
    dense: DataFrame | None
    members: DataFrame
    texts: DataFrame | None
    candidates: int

    @property
    def pairs(self) -> DataFrame:
        return self.sparse if self.dense is None else self.sparse.union(self.dense)


def find_near(rows: Rows, sources: TextSources, *, forest: bool = False) -> NearRows:
    """Find all near pairs; with `forest` enough to connect each component, where the verdicts on
    dense pairs are not set."""
    from pyspark.sql import functions as F

    question = rows.request.question
    # A pair that is near by its fingerprints may differ in what is distinguished.
    found = join_buckets(rows, forest=forest and not question.distinguish)
    if question.similarity is None and not question.distinguish:
        pairs = found.pairs.select("left", "right", "distance", *_unknown(VERDICT_COLUMNS[1:]))
        return NearRows(pairs, None, found.members.select("row"), None, found.pair_count)
    wanted = found.members.select("row")
    for side in ("left", "right"):
        wanted = wanted.union(found.pairs.select(F.col(side).alias("row")))
    # Copies need no texts, but the result names the removed ones: they must still exist.
    twins = rows.table.where(F.col("side") != REFERENCE).where("row <> first")
    if question.similarity is None or rows.variant_count:
        variants = twins if question.similarity is None else twins.where("NOT copied")
        for name in ("row", "first"):
            wanted = wanted.union(variants.select(F.col(name).alias("row")))
    texts = fetch_texts(rows, wanted, sources, present=twins)
    names = ("left", "right") if question.similarity is not None else ("left", "right", "distance")
    near = judge_pairs(rows, found.pairs.select(*names), found.pair_count, texts, "near")
    pairs = rows.storage.pin(near)
    dense = dense_pairs(rows, found, texts, forest=forest) if found.member_count else None
    return NearRows(pairs, dense, found.members.select("row"), texts, found.pair_count)


def _unknown(columns: Iterable[tuple[str, str]] = VERDICT_COLUMNS) -> list[Column]:
    from pyspark.sql import functions as F

    return [F.lit(None).cast(kind).alias(name) for name, kind in columns]


def link_clusters(rows: Rows, sources: TextSources, linkage: Linkage) -> DataFrame:
    """Return all rows with their labels; see `label_rows`."""
    found = find_near(rows, sources, forest=True)
    labels = label_rows(rows, _link_distinct(rows, found, linkage))
    return rows.storage.pin(fill_labels(rows, labels, found.texts, sources))


def _link_distinct(rows: Rows, found: NearRows, linkage: Linkage) -> DataFrame:
    """Return row, label (the representative) and VERDICT_COLUMNS (null where they are unknown) of
    each distinct row that is not the representative of its cluster."""
    from pyspark.sql import functions as F

    request, storage = rows.request, rows.storage
    stars = connected_components(found.pairs.select("left", "right"), storage, request.limits)
    roots = stars.select(F.col("root").alias("row"), F.col("root")).distinct()
    members = stars.select(F.col("node").alias("row"), "root").union(roots)
    if linkage == "star":
        return storage.pin(_link_stars(rows, members, found))
    ordered = members.join(rows.table.select("row", "side", "order"), "row")
    firsts = ordered.groupBy("root").agg(first_row().alias("label"))
    labels = members.join(firsts, "root")
    labels = storage.pin(labels.select("row", "label").where("row <> label"))
    if request.question.similarity is None or found.texts is None:
        return labels.select("row", "label", *_unknown())
    pairs = labels.toDF("left", "right")
    verdicts = judge_pairs(rows, pairs, labels.count(), found.texts, "verdicts")
    return storage.pin(verdicts.toDF(*LINK_COLUMNS))


def _link_stars(rows: Rows, members: DataFrame, found: NearRows) -> DataFrame:
    """Link components without dense rows by their pairs, and the others by their texts."""
    if found.texts is None:
        return link_by_fingerprints(rows, members)
    if found.dense is None:
        return link_by_pairs(rows, members, found.sparse, found.candidates)
    of_groups = members.join(found.members.distinct(), "row").select("root").distinct()
    of_groups = rows.storage.pin(of_groups)
    plain = members.join(of_groups, "root", "left_anti")
    linked = link_by_pairs(rows, plain, found.sparse, found.candidates)
    return linked.union(
        link_by_texts(rows, members.join(of_groups, "root", "left_semi"), found.texts)
    )


def label_rows(rows: Rows, links: DataFrame) -> DataFrame:
    """Return all rows with their label, the row kept for them; equal rows share one.

    Their VERDICT_COLUMNS are null where they are unknown; a kept row differs in nothing.
    """
    from pyspark.sql import functions as F

    found = links.withColumnRenamed("row", "first")
    joined = rows.table.join(found, "first", "left")
    is_twin, of_first = F.col("row") != F.col("first"), F.col("label").isNull()
    # A twin of the kept row has equal features; with a radius only an equal fingerprint.
    judged_here = rows.request.question.similarity is not None
    one = F.lit(1.0) if judged_here else F.lit(None).cast("double")
    nothing = of_first & (F.col("copied") if judged_here else ~is_twin)
    known = F.col("copied") & F.lit(judged_here)
    twin = is_twin & of_first
    return joined.select(
        *("row", "id", "side", "signal", "reason"),
        F.coalesce("label", "first").alias("label"),
        F.when(twin, F.lit(0)).otherwise(F.col("distance")).cast("bigint").alias("distance"),
        F.when(twin, one).otherwise(F.col("similarity")).alias("similarity"),
        F.when(nothing, F.lit("")).when(known, F.col("differs")).alias("differs"),
        F.when(nothing, F.lit(0)).when(known, F.col("lost")).cast("bigint").alias("lost"),
    )


def fill_labels(
    rows: Rows, labels: DataFrame, texts: DataFrame | None, sources: TextSources
) -> DataFrame:
    """Judge the rows whose `differs` is null with their label: all removed ones with a radius, else
    those that equal the row kept in their features, but not in their text."""
    from pyspark.sql import functions as F

    if rows.request.question.similarity is not None and not rows.variant_count:
        return labels
    labels = rows.storage.pin(labels)
    unknown = labels.where("differs IS NULL")
    names = F.col("row").alias("left"), F.col("label").alias("right")
    pairs = unknown.select(*names, "distance", "similarity")
    if texts is None:
        wanted = pairs.select(F.col("left").alias("row")).union(pairs.select("right"))
        present = labels.where("row <> label")
        texts = fetch_texts(rows, wanted, sources, present=present)
    count = pairs.count() if rows.request.question.similarity is None else rows.variant_count
    judged = judge_pairs(rows, pairs, count, texts, "verdicts").toDF(*LINK_COLUMNS)
    others = [name for name in labels.columns if name not in LINK_COLUMNS[2:]]
    filled = unknown.select(*others).join(judged, ["row", "label"]).select(*labels.columns)
    return labels.where("differs IS NOT NULL").union(filled)


# Approximate bytes of a pair with the sort keys of its rows.
PAIR_BYTES = 160


def link_by_pairs(rows: Rows, members: DataFrame, pairs: DataFrame, count: int) -> DataFrame:
    """Link stars from near pairs; return row, label and VERDICT_COLUMNS of rows under another.

    members  row, root of components
    pairs    left, right and VERDICT_COLUMNS: all near pairs of these rows, and maybe others
    count    maximum number of pairs
    """
    from pyspark.sql import functions as F

    ordered = members.join(rows.table.select("row", "order"), "row").select(
        "root", F.col("row").alias("left"), F.lit(-1).cast("bigint").alias("right"), "order"
    )
    placed = pairs.join(members.select(F.col("row").alias("left"), "root"), "left")
    none = F.lit(None).cast("binary").alias("order")
    both = ordered.select("*", *_unknown()).union(
        placed.select("root", "left", "right", none, *LINK_COLUMNS[2:])
    )
    return (
        both.repartition(rows.request.limits.tasks(count * PAIR_BYTES), "root")
        .mapInArrow(link_pairs, VERDICT_SCHEMA)
        .toDF(*LINK_COLUMNS)
    )


LINK_COLUMNS = ("row", "label", *(name for name, _ in VERDICT_COLUMNS))


def link_pairs(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Task: links whole components, given as rows (left, order) and pairs. Returns left, right (its
    representative) and VERDICT_COLUMNS of each row under another."""
    import numpy as np
    import pyarrow.compute as pc

    table = gather_batches(batches)
    if table is None:
        return
    left, right = array_values(table["left"]), array_values(table["right"])
    of_rows, of_pairs = np.flatnonzero(right < 0), np.flatnonzero(right >= 0)
    order = single_array(table["order"]).take(number_array(of_rows))
    row = left[of_rows][array_values(pc.array_sort_indices(order))]
    sort = np.argsort(row)
    ends = [sort[np.searchsorted(row[sort], side[of_pairs])] for side in (left, right)]
    linked = link_rows(ends[0], ends[1], len(row), "star")
    at = number_array(of_pairs[linked.pairs])
    rows = {"left": row[linked.rows], "right": row[linked.labels[linked.rows]]}
    yield make_batch(
        {name: int64_array(values) for name, values in rows.items()}
        | {name: single_array(table[name]).take(at) for name, _ in VERDICT_COLUMNS}
    )


@dataclass(frozen=True)
class LinkTask:
    """Task: links whole components by texts or fingerprints. Returns left, right (its
    representative) and VERDICT_COLUMNS (from texts) of each row under another.

    Rows of different components are not near, so one call of the local engine links them all.
    """

    request: SparkRequest

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import numpy as np
        import pyarrow.compute as pc

        table = gather_batches(batches)
        if table is None:
            return
        table = table.take(pc.sort_indices(table, sort_keys=[("order", "ascending")]))
        row, question = array_values(table["row"]), self.request.question
        if question.radius is not None:
            values = fingerprint_words(byte_rows(table["content"], self.request.code_bytes))
            all_of = Fingerprints(values, np.ones(len(row), dtype=bool), self.request.recipe)
            labels = clusters(all_of, question.radius, linkage="star", threads=1)
            joined = np.flatnonzero(labels != np.arange(len(row)))
            apart = np.bitwise_count(values[joined] ^ values[labels[joined]]).sum(axis=1)
            unknown = np.full(len(joined), np.nan)
            yield verdict_batch(row[joined], row[labels[joined]], apart, unknown)
            return
        corpus = memory_corpus(
            string_column(table["content"]), self.request.recipe, question, threads=1
        )
        matches = LocalEngine().match(corpus, question, threads=1)
        found = matches.clusters("star")
        joined = np.flatnonzero(found.labels != np.arange(len(row)))
        kept = found.labels[joined]
        # Every link of a star has been verified.
        verdicts = found.distance[joined], found.similarity[joined]
        differences = matches.judge.differences(kept, joined)
        yield verdict_batch(row[joined], row[kept], *verdicts, differences)


def link_by_fingerprints(rows: Rows, members: DataFrame) -> DataFrame:
    """Link stars by fingerprints."""
    from pyspark.sql import functions as F

    own = rows.table.select("row", "order", F.col("fingerprint").alias("content"))
    return _run_link_task(
        rows, members.join(own, "row"), rows.distinct_count * (rows.request.code_bytes + 32)
    )


def link_by_texts(rows: Rows, members: DataFrame, texts: DataFrame) -> DataFrame:
    """Link stars by texts; each text comes to the task of its component."""
    from pyspark.sql import functions as F

    placed = members.join(rows.table.select("row", "order", "bytes"), "row")
    total = placed.agg(F.sum("bytes")).toArrow().column(0)[0].as_py() or 0
    return _run_link_task(
        rows, placed.join(texts.select("row", F.col("text").alias("content")), "row"), total
    )


def _run_link_task(rows: Rows, placed: DataFrame, size: int) -> DataFrame:
    return (
        placed.select("row", "root", "order", "content")
        .repartition(rows.request.limits.tasks(size), "root")
        .mapInArrow(LinkTask(rows.request), VERDICT_SCHEMA)
        .toDF(*LINK_COLUMNS)
    )
