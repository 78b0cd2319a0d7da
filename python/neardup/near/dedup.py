"""Texts in memory → which to keep."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from neardup._util.arrow import as_column, is_arrow, numbers, plain, values_of
from neardup._util.numbers import check_int, check_threads
from neardup.near.clusters import PairGraph, gathered
from neardup.near.keep import Keep
from neardup.near.question import Linkage, Question, check_linkage, question
from neardup.text.fingerprint import RecipeLike
from neardup.text.recipe import as_recipe

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from neardup.near.corpus import Judge
    from neardup.near.matches import Clusters, Matches

# Cosines of equal features may miss 1 by rounding.
SAME = 1 - 1e-9


@dataclass(frozen=True, eq=False)
class Deduplication:
    """Which texts to keep, by row number. Plain data: it pickles.

    kept        rows to keep, ascending
    removed     a table: row, dup_of (the row kept in its place), distance (null without a
                fingerprint), similarity (exact cosine with the row kept)
    clusters    for each row the one kept of its cluster; a row that is alone has its own number
    recall      the share of pairs just above the similarity that was found, estimated from those
                found; None if there is none, or a radius decided
    similarity  what was asked for, or None
    radius      what was asked for, or None
    links       with `dedup(…, pairs=True)`: all pairs; `at` and `pairs` need them
    """

    kept: NDArray[np.int64]
    removed: pa.Table
    clusters: NDArray[np.int64]
    recall: float | None
    similarity: float | None = None
    radius: int | None = None
    links: PairGraph | None = field(default=None, repr=False)

    def __repr__(self) -> str:
        return f"Deduplication({len(self.kept)} kept, {len(self.removed)} removed)"

    @property
    def ratio(self) -> float:
        """The share of texts that are removed; 0 if there are no texts."""
        return len(self.removed) / max(1, len(self.clusters))

    @property
    def exact_ratio(self) -> float:
        """The share of texts removed for one that says the same: of similarity 1."""
        import numpy as np

        same = values_of(self.removed["similarity"]) >= SAME
        return int(np.count_nonzero(same)) / max(1, len(self.clusters))

    def least_similar(self, n: int = 10) -> pa.Table:
        """The `n` rows of `removed` that are least similar to the one kept, these first.

        Read their texts: if they are no duplicates, ask for a higher similarity.
        """
        import numpy as np

        count = check_int("n", n, 1, 2**63 - 1)
        order = np.argsort(values_of(self.removed["similarity"]), kind="stable")
        return self.removed.take(order[:count])

    @property
    def pairs(self) -> pa.Table:
        """All pairs found: left < right (rows), distance, similarity (null if a radius decided).

        Of texts that say the same only the one to be kept first is compared with others; the rest
        are paired with that one alone.
        """
        return self._links("pairs").table(Question(self.similarity, self.radius, 1.0))

    def at(self, similarity: float | None = None, *, radius: int | None = None) -> Deduplication:
        """The answer at a higher similarity, or a smaller radius, from the pairs that are known.

        It is that of a new run. Where a run with a recall below 1 misses pairs, the two may miss
        different ones; the share found here is at least the share asked for. `recall` stays that of
        the run.

        >>> texts = ["one two three four five", "one two three four six", "One two three four five"]
        >>> found = dedup(texts, 0.5, pairs=True)
        >>> found.kept.tolist(), found.at(0.9).kept.tolist()
        ([0], [0, 1])
        """
        links = self._links("at")
        if (similarity is None) == (radius is None):
            raise ValueError("at takes a similarity or a radius; give one of them")
        if (similarity is None) != (links.asked.similarity is None):
            given, asked = ("similarity", "radius")[:: 1 if radius is None else -1]
            raise ValueError(
                f"the pairs were found by {asked}, so at takes no {given}; "
                f"run dedup with {given}={similarity if radius is None else radius}"
            )
        wanted = question(similarity, radius, links.asked.recall, bits=links.recipe.bits)
        if wanted.similarity is not None and wanted.similarity < (links.asked.similarity or 0):
            raise ValueError(
                f"similarity is {similarity}; pairs were found from {links.asked.similarity} on, "
                "so at takes no less: run dedup again"
            )
        if wanted.radius is not None and wanted.radius > (links.asked.radius or 0):
            raise ValueError(
                f"radius is {radius}; pairs were found up to {links.asked.radius}, "
                "so at takes no more: run dedup again"
            )
        found = links.clusters(wanted)
        table = _removed(links.judge(), links.signal, found)
        return _answer(found, table, self.recall, wanted, links)

    def _links(self, name: str) -> PairGraph:
        if self.links is None:
            raise ValueError(
                f"{name} needs all pairs, and this run has not kept them; "
                "ask for them: dedup(texts, pairs=True)"
            )
        return self.links


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
    pairs: bool = False,
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
    pairs       keep all pairs in the answer, for its `pairs` and `at`: 18 bytes for each, and the
                texts stay in memory. Texts that are all alike make pairs of each with each

    A text with too few words for a fingerprint is removed only for one that is equal to it; without
    a letter or digit, never.

    >>> found = dedup(["the cat sat on the mat", "The cat sat on the mat!", "we all scream"])
    >>> found.kept.tolist(), found.removed.to_pylist()
    ([0, 2], [{'row': 1, 'dup_of': 0, 'distance': 0, 'similarity': 1.0}])
    """
    from neardup.engines import engine
    from neardup.near.corpus import texts_in_memory

    policy = Keep.parse(keep)
    check_threads(threads)
    check_linkage(linkage)
    made = as_recipe(recipe)
    asked = question(similarity, radius, recall, bits=made.bits)
    column = strings(texts)
    corpus = texts_in_memory(column, made, asked, threads=threads)
    order = policy.order(corpus.lengths, _keys(keys, policy, len(column)))
    matches = engine().match(corpus, asked, order=order, threads=threads)
    if not pairs:
        found = matches.clusters(linkage)
        table = removed_table(matches, found)
        return _answer(found, table, matches.counts.estimated_recall, asked, None)
    links = PairGraph(
        *gathered(matches.pairs(), judged=asked.similarity is not None),
        twins=matches.twins,
        order=order,
        signal=corpus.signal,
        asked=asked,
        linkage=linkage,
        texts=column,
        recipe=made,
        threads=threads,
    )
    found = links.clusters(asked)
    table = removed_table(matches, found)
    return _answer(found, table, matches.counts.estimated_recall, asked, links)


def _answer(
    found: Clusters,
    removed: pa.Table,
    recall: float | None,
    asked: Question,
    links: PairGraph | None,
) -> Deduplication:
    import numpy as np

    kept = np.flatnonzero(found.labels == np.arange(len(found.labels)))
    return Deduplication(kept, removed, found.labels, recall, asked.similarity, asked.radius, links)


def removed_table(matches: Matches, found: Clusters) -> pa.Table:
    """The rows that are not kept, and how near they are to what is kept in their place."""
    return _removed(matches.judge, matches.corpus.signal, found)


def _removed(judge: Judge, signal: NDArray[np.bool_], found: Clusters) -> pa.Table:
    import numpy as np
    import pyarrow as pa

    rows = np.flatnonzero(found.labels != np.arange(len(found.labels)))
    kept, similarity, distance = found.labels[rows], found.similarity[rows], found.distance[rows]
    unknown = np.flatnonzero(np.isnan(similarity))
    # Pairs that share a text lie side by side.
    unknown = unknown[np.argsort(kept[unknown], kind="stable")]
    verdicts = judge.verdicts(kept[unknown], rows[unknown])
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


def strings(texts: Any, name: str | None = None) -> pa.ChunkedArray:
    """The texts as one Arrow column; `name` is that of the column of a table they are."""
    import pyarrow as pa

    column = as_column(texts)
    if is_arrow(column):
        return column.cast(pa.large_string())
    for row, text in enumerate(column):
        if not isinstance(text, str | None):
            place = f"texts[{row}]" if name is None else f"row {row} of the column {name!r}"
            raise TypeError(
                f"{place} is of type {type(text).__name__}; "
                "a text must be a str, or None for a missing one"
            )
    from neardup._util.strings import check_unicode

    whole = [text if text is None else check_unicode(text, "a text") for text in column]
    return pa.chunked_array([pa.array(whole, pa.large_string())])


def _keys(keys: Any, policy: Keep, rows: int) -> Any:
    import pyarrow as pa

    if policy.column is None:
        return None
    if keys is None:
        raise ValueError(f"keep is {policy}; pass the values of {policy.column!r} as keys")
    if isinstance(keys, Mapping):
        raise TypeError(f"keys is a {type(keys).__name__}; pass its values, one for each text")
    given = isinstance(keys, pa.Array | pa.ChunkedArray)
    array = keys if given else pa.array(keys, from_pandas=True)
    if len(array) != rows:
        raise ValueError(f"keys has {len(array)} values for {rows} texts; give one for each text")
    if isinstance(array, pa.ChunkedArray):
        array = pa.chunked_array([plain(chunk) for chunk in array.chunks] or [pa.nulls(0)])
        return array.combine_chunks()
    return plain(array)
