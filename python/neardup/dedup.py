"""Texts in memory → which to keep."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from neardup.clusters import Linkage, check_linkage
from neardup.columns import as_column, numbers, plain, rows_of
from neardup.fingerprint import RecipeLike
from neardup.keep import Keep
from neardup.near.question import question
from neardup.recipe import as_recipe, check_threads

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from neardup.near.matches import Clusters, Matches

Frame = TypeVar("Frame")


@dataclass(frozen=True, eq=False)
class Deduplication:
    """Which texts to keep, by row number.

    kept      rows to keep, ascending
    removed   a table: row, dup_of (the row kept in its place), distance (null without a
              fingerprint), similarity (exact cosine with the row kept)
    clusters  for each row the one kept of its cluster; a row that is alone has its own number
    recall    the share of pairs just above the similarity that was found, estimated from those
              found; None if there is none, or a radius decided
    """

    kept: NDArray[np.int64]
    removed: pa.Table
    clusters: NDArray[np.int64]
    recall: float | None

    def __repr__(self) -> str:
        return f"Deduplication({len(self.kept)} kept, {len(self.removed)} removed)"


def dedup(
    texts: Any,
    similarity: float | None = None,
    *,
    radius: int | None = None,
    recall: float | None = None,
    keep: str = "first",
    linkage: Linkage = "star",
    recipe: RecipeLike = None,
    keys: Any = None,
    threads: int | None = None,
) -> Deduplication:
    """Finds near-duplicates among texts and says which to keep.

    texts       a list or any iterable of str, or an Arrow, Polars or pandas column; a missing text
                is kept
    similarity  the cosine from which two texts count as near-duplicates [default: 0.85]; every
                pair is verified
    radius      instead of a similarity: the bits in which fingerprints may differ, not verified
    recall      the share of pairs of just that similarity to be found [default: 0.99; with a radius
                1, all pairs]
    keep        of a cluster: "first", "longest", "shortest"; "newest:NAME" and "best:NAME" keep the
                one with the largest of `keys`
    linkage     "star": each text removed is near the one kept for it; "connected": chains of pairs,
                whose ends may be less similar than asked for
    recipe      how a text becomes a fingerprint: a Recipe, the name of a preset, a .toml file
    keys        values for keep, one a text: numbers, dates or strings
    threads     cores to use [default: all]

    A text with too few words for a fingerprint is removed only for one that is equal to it; without
    a letter or digit, never.

    >>> found = dedup(["the cat sat on the mat", "The cat sat on the mat!", "we all scream"])
    >>> found.kept.tolist(), found.removed.to_pylist()
    ([0, 2], [{'row': 1, 'dup_of': 0, 'distance': 0, 'similarity': 1.0}])
    """
    import numpy as np

    from neardup.engines import engine
    from neardup.near.corpus import texts_in_memory

    policy = Keep.parse(keep)
    check_threads(threads)
    check_linkage(linkage)
    made = as_recipe(recipe)
    asked = question(similarity, radius, recall, bits=made.bits)
    column = _strings(texts)
    corpus = texts_in_memory(column, made, asked, threads=threads)
    order = policy.order(corpus.lengths, _keys(keys, policy, len(column)))
    matches = engine().match(corpus, asked, order=order, threads=threads)
    found = matches.clusters(linkage)
    rows = np.arange(len(found.labels))
    return Deduplication(
        rows[found.labels == rows],
        removed_table(matches, found),
        found.labels,
        matches.counts.estimated_recall,
    )


def removed_table(matches: Matches, found: Clusters) -> pa.Table:
    """The rows that are not kept, and how near they are to what is kept in their place."""
    import numpy as np
    import pyarrow as pa

    rows = np.flatnonzero(found.labels != np.arange(len(found.labels)))
    kept, similarity, distance = found.labels[rows], found.similarity[rows], found.distance[rows]
    signal = matches.corpus.signal
    unknown = np.flatnonzero(np.isnan(similarity))
    # Pairs that share a text lie side by side.
    unknown = unknown[np.argsort(kept[unknown], kind="stable")]
    verdicts = matches.judge.verdicts(kept[unknown], rows[unknown])
    similarity[unknown], distance[unknown] = verdicts
    # What stands for a row may be a document of a collection, which has no row.
    others = np.where(kept < len(signal), kept, rows)
    return pa.table(
        {
            "row": numbers(rows),
            "dup_of": numbers(kept),
            "distance": numbers(distance, ~(signal[rows] & signal[others])),
            "similarity": numbers(similarity),
        }
    )


def dedup_frame(frame: Frame, column: str = "text", **options: Any) -> Frame:
    """The rows of a pandas, Polars or Arrow table whose texts are to be kept, in order.

    column   the one that holds the texts
    options  as for `dedup` but `keys`; newest:NAME and best:NAME look at that column of the table

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"text": ["one two three", "One, two, three", "four"], "n": [1, 2, 3]})
    >>> dedup_frame(frame, keep="best:n")["n"].tolist()
    [2, 3]
    """
    table: Any = frame
    columns = list(getattr(table, "column_names", None) or getattr(table, "columns", []))
    policy = Keep.parse(options.get("keep", "first"))
    for name in filter(None, (column, policy.column)):
        if name not in columns:
            there = ", ".join(map(repr, columns)) or "none"
            raise ValueError(f"no column {name!r} (there is {there})")
    keys = table[policy.column] if policy.column else None
    kept = dedup(table[column], keys=keys, **options).kept
    if hasattr(table, "iloc"):
        chosen: Frame = table.iloc[kept]
    elif hasattr(table, "take"):
        chosen = rows_of(table, kept)
    else:
        chosen = table[kept]
    return chosen


def _strings(texts: Any) -> pa.ChunkedArray:
    """The texts as one Arrow column."""
    import pyarrow as pa

    column = as_column(texts)
    if not isinstance(column, list):
        return column.cast(pa.large_string())
    for row, text in enumerate(column):
        if not isinstance(text, str | None):
            raise TypeError(
                f"texts[{row}] is of type {type(text).__name__}; "
                "a text must be a str, or None for a missing one"
            )
    from neardup.unicode import check_unicode

    whole = [text if text is None else check_unicode(text, "a text") for text in column]
    return pa.chunked_array([pa.array(whole, pa.large_string())])


def _keys(keys: Any, policy: Keep, rows: int) -> Any:
    import pyarrow as pa

    if policy.column is None:
        return None
    if keys is None:
        raise ValueError(f"keep is {policy}; pass the values of {policy.column!r} as keys")
    is_arrow = isinstance(keys, pa.Array | pa.ChunkedArray)
    array = keys if is_arrow else pa.array(keys, from_pandas=True)
    if len(array) != rows:
        raise ValueError(f"keys has {len(array)} values for {rows} texts; give one for each text")
    if isinstance(array, pa.ChunkedArray):
        array = pa.chunked_array([plain(chunk) for chunk in array.chunks] or [pa.nulls(0)])
        return array.combine_chunks()
    return plain(array)
