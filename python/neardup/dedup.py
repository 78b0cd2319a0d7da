"""Texts in memory → which to keep."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from neardup import _core
from neardup.clusters import Linkage, check_linkage
from neardup.columns import as_column, numbers
from neardup.fingerprint import RecipeLike, firm_fingerprints
from neardup.keep import Keep
from neardup.recipe import as_recipe, check_threads
from neardup.threshold import threshold

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

Frame = TypeVar("Frame")


@dataclass(frozen=True, eq=False)
class Deduplication:
    """Which texts to keep, by row number.

    kept      rows to keep, ascending
    removed   a table: row, dup_of (the row kept in its place), distance (null without a
              fingerprint), similarity (exact cosine with the row kept)
    clusters  for each row the one kept of its cluster; a row that is alone has its own number
    radius    bits in which fingerprints could differ to be looked at
    """

    kept: NDArray[np.int64]
    removed: pa.Table
    clusters: NDArray[np.int64]
    radius: int

    def __repr__(self) -> str:
        return f"Deduplication({len(self.kept)} kept, {len(self.removed)} removed)"


def dedup(
    texts: Any,
    similarity: float | None = None,
    *,
    radius: int | None = None,
    recall: float | None = None,
    keep: str = "first",
    linkage: Linkage = "connected",
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
    linkage     "connected": chains of pairs, whose ends may be less similar than asked for; "star":
                each is near the one kept
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

    from neardup.engines.local import Matcher

    policy = Keep.parse(keep)
    check_threads(threads)
    check_linkage(linkage)
    column = _strings(texts)
    made, firm = firm_fingerprints(column, as_recipe(recipe), threads=threads)
    limits = threshold(similarity, radius, recall, bits=made.recipe.bits, rows=len(column))
    stored, lengths = _stored(column)
    matcher = Matcher(made, stored, limits, firm=firm, threads=threads)
    labels = matcher.clusters(linkage, policy.order(lengths, _keys(keys, policy, len(column))))
    rows = np.arange(len(labels))
    removed = rows[labels != rows]
    return Deduplication(
        rows[labels == rows], removed_table(matcher, removed, labels), labels, limits.radius
    )


def removed_table(matcher: Any, rows: NDArray[np.int64], labels: NDArray[np.int64]) -> pa.Table:
    """The rows that are not kept, and how near they are to what is kept in their place."""
    import pyarrow as pa

    kept = labels[rows]
    similarity = matcher.similarities_to(kept, rows)
    coded = matcher.fingerprints.signal[rows] & matcher.fingerprints.signal[kept]
    distance = matcher.distances(kept, rows)
    return pa.table(
        {
            "row": numbers(rows),
            "dup_of": numbers(kept),
            "distance": numbers(distance, ~coded),
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
        chosen = table.take(kept)
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


def _stored(column: pa.ChunkedArray) -> tuple[_core.Texts, NDArray[np.int64]]:
    """The texts by row, and the bytes of each."""
    import numpy as np
    import pyarrow as pa

    array = column.combine_chunks() if column.num_chunks != 1 else column.chunk(0)
    array = array.fill_null("") if array.null_count else array
    if isinstance(array, pa.ChunkedArray):
        array = pa.concat_arrays(array.chunks)
    _, offsets, data = array.buffers()
    if offsets is None:
        none = np.zeros(0, dtype=np.int64)
        return _core.Texts.in_memory(b"", none), none
    ends = np.frombuffer(offsets, dtype=np.int64)[array.offset : array.offset + len(array) + 1]
    view = memoryview(data or b"").cast("B")
    texts = _core.Texts.in_memory(view[ends[0] : ends[-1]], ends[1:] - ends[0])
    return texts, np.diff(ends)


def _keys(keys: Any, policy: Keep, rows: int) -> Any:
    import pyarrow as pa

    if policy.column is None:
        return None
    if keys is None:
        raise ValueError(f"keep is {policy}; pass the values of {policy.column!r} as keys")
    array = pa.array(keys, from_pandas=True)
    if len(array) != rows:
        raise ValueError(f"keys has {len(array)} values for {rows} texts; give one for each text")
    return array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array
