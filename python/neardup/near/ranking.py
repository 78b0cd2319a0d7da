"""Ranked search: texts → the documents of a corpus that resemble each most, best first.

By cosine, documents are compared by TF-IDF weights of their features, with the document
frequencies of the corpus as it is; by simhash, by the bits in which fingerprints differ. Nothing
has to be near: there is no threshold, only a number of documents.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, get_args

from neardup._util.arrow import as_column, is_arrow, number_array
from neardup._util.numbers import as_float, check_int, check_threads, is_real
from neardup.text.fingerprint import Fingerprints, fingerprints

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from neardup.text.recipe import Recipe

By = Literal["cosine", "simhash"]
Idf = Literal["smooth", "gensim"]

DEFAULT_COUNT = 6
MAX_COUNT = 2**31


@dataclass(frozen=True)
class RankingRequest:
    """What is to be found: how many documents, by what, and with which document frequencies.

    idf    "smooth": ln((1 + n) / (1 + df)) + 1; "gensim": log2(n / df)
    least  what a score must reach
    """

    n: int
    by: By
    idf: Idf
    least: float = 0.0


def check_ranking(n: object, by: object, idf: object, least: object = 0.0) -> RankingRequest:
    """What the user asked for, checked."""
    for name, value, kind in (("by", by, By), ("idf", idf, Idf)):
        if value not in get_args(kind):
            raise ValueError(f"{name} is {value!r}; it must be one of {', '.join(get_args(kind))}")
    limits = "it must be a number from 0 to 1"
    if not is_real(least):
        raise TypeError(f"least is {least!r}; {limits}")
    if not 0 <= as_float(least) <= 1:
        raise ValueError(f"least is {least}; {limits}")
    return RankingRequest(check_int("n", n, 1, MAX_COUNT), by, idf, as_float(least))  # type: ignore[arg-type]


class RankedPairs(NamedTuple):
    """Rows of queries and keys of documents, best first for each query, then by key.

    measure  cosines, descending; or distances, ascending
    """

    queries: NDArray[np.integer]
    keys: NDArray[np.int64]
    measure: NDArray[Any]


class RankingCorpus(Protocol):
    """Documents by keys of which the earlier is the lower."""

    def alike(
        self, texts: Sequence[str], asked: RankingRequest, threads: int | None
    ) -> RankedPairs:
        """The `n` documents of the highest TF-IDF cosine above 0, and at least `least`, with each
        text."""

    def nearest(self, values: NDArray[np.uint64], n: int) -> RankedPairs:
        """The `n` documents with a signal that differ in the fewest bits from each fingerprint."""

    def equal(self, text: str, n: int) -> Sequence[int]:
        """The first `n` documents without a signal that are equal to a text without one."""

    def fingerprints(self, keys: Sequence[int]) -> Fingerprints:
        """Those of the documents with these keys."""


class Ranked(NamedTuple):
    """What was found: `score` descends for each query.

    distance  in bits; any number where `signal` says that a text has no fingerprint
    """

    queries: NDArray[np.int64]
    keys: NDArray[np.int64]
    score: NDArray[np.float64]
    distance: NDArray[np.int64]
    signal: NDArray[np.bool_]

    def table(self, ids: Any, *, one: bool) -> pa.Table:
        """Id, score and distance, null where there is none; before them the row of the query,
        unless there is only `one`. `ids` are those of all rows."""
        import pyarrow as pa

        columns = {
            "id": ids,
            "score": number_array(self.score),
            "distance": number_array(self.distance, ~self.signal),
        }
        return pa.table(columns if one else {"query": number_array(self.queries), **columns})


def rank(
    texts: Sequence[str],
    corpus: RankingCorpus,
    asked: RankingRequest,
    recipe: Recipe,
    *,
    threads: int | None = None,
) -> Ranked:
    """The documents that resemble each text most."""
    made = fingerprints(list(texts), recipe, threads=threads)
    if asked.by == "simhash":
        return _by_distance(texts, made, corpus, asked, recipe)
    import numpy as np

    found = corpus.alike(texts, asked, threads)
    queries = found.queries.astype(np.int64)
    keys, places = np.unique(found.keys, return_inverse=True)
    theirs = corpus.fingerprints(keys.tolist())
    differ = made.values[queries] ^ theirs.values[places]
    distance = np.bitwise_count(differ).sum(axis=1, dtype=np.int64)
    signal = made.signal[queries] & theirs.signal[places]
    return Ranked(queries, found.keys, found.measure, distance, signal)


def _by_distance(
    texts: Sequence[str],
    made: Fingerprints,
    corpus: RankingCorpus,
    asked: RankingRequest,
    recipe: Recipe,
) -> Ranked:
    import numpy as np

    rows = np.flatnonzero(made.signal)
    found = corpus.nearest(np.ascontiguousarray(made.values[rows]), asked.n)
    queries, keys = rows[found.queries], found.keys.astype(np.int64)
    distance = found.measure.astype(np.int64)
    signal = np.ones(len(keys), dtype=bool)
    equal = [
        (row, key)
        for row in np.flatnonzero(~made.signal).tolist()
        for key in corpus.equal(texts[row], asked.n)
    ]
    if equal:
        more = np.array(equal, dtype=np.int64)
        queries, keys = np.append(queries, more[:, 0]), np.append(keys, more[:, 1])
        distance, signal = (np.append(x, np.zeros(len(more), x.dtype)) for x in (distance, signal))
        # Whether it has a signal or not, a query's documents lie together already, in order.
        order = np.argsort(queries, kind="stable")
        queries, keys, distance, signal = (x[order] for x in (queries, keys, distance, signal))
    score = 1 - distance / recipe.bits
    at = np.flatnonzero(score >= asked.least)
    return Ranked(queries.astype(np.int64)[at], keys[at], score[at], distance[at], signal[at])


class Searchable(ABC):
    """What `neardup.search` can ask: documents under ids."""

    @abstractmethod
    def search(
        self,
        query: str | Iterable[str],
        n: int = DEFAULT_COUNT,
        by: By = "cosine",
        *,
        idf: Idf = "smooth",
        least: float = 0.0,
        threads: int | None = None,
    ) -> pa.Table:
        """The documents that resemble a text most."""

    @abstractmethod
    def check_recipe(self, recipe: Recipe) -> None:
        """Refuses to be searched by another recipe than its own."""


def check_queries(query: Any, threads: int | None) -> tuple[list[str], bool]:
    """The texts that are asked for, and whether it is one that was passed by itself."""
    check_threads(threads)
    if isinstance(query, str):
        return [query], True
    if isinstance(query, bytes | bytearray):
        raise TypeError(f"query is {type(query).__name__}; it must be a str, or several in a list")
    try:
        column = as_column(query)
    except TypeError as error:
        message = str(error).replace("texts is", "query is", 1)
        raise TypeError(message.replace("texts", "queries")) from None
    listed = column.to_pylist() if is_arrow(column) else column
    for at, text in enumerate(listed):
        if not isinstance(text, str):
            raise TypeError(
                f"query[{at}] is of type {type(text).__name__}; each of several queries is a str"
            )
    return listed, False
