"""Ranked search: the documents of a corpus most similar to a text, best first.

By cosine, the score is the cosine of TF-IDF weights, with the document frequencies of the corpus at
the time of the search; by simhash, it is 1 - distance / bits of the fingerprints. There is no
threshold, only a number of results. `rank` runs the search in any `RankingCorpus`.
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

RankBy = Literal["cosine", "simhash"]
IdfFormula = Literal["smooth", "gensim"]

DEFAULT_COUNT = 6
MAX_COUNT = 2**31


@dataclass(frozen=True)
class RankingRequest:
    """The options of a ranked search.

    n      number of documents
    idf    "smooth": ln((1 + n) / (1 + df)) + 1; "gensim": log2(n / df)
    least  minimum score
    """

    n: int
    by: RankBy
    idf: IdfFormula
    least: float = 0.0


def check_ranking(n: object, by: object, idf: object, least: object = 0.0) -> RankingRequest:
    """Check the options of a ranked search and return them."""
    for name, value, kind in (("by", by, RankBy), ("idf", idf, IdfFormula)):
        if value not in get_args(kind):
            raise ValueError(f"{name} is {value!r}; it must be one of {', '.join(get_args(kind))}")
    limits = "it must be a number from 0 to 1"
    if not is_real(least):
        raise TypeError(f"least is {least!r}; {limits}")
    if not 0 <= as_float(least) <= 1:
        raise ValueError(f"least is {least}; {limits}")
    return RankingRequest(check_int("n", n, 1, MAX_COUNT), by, idf, as_float(least))  # type: ignore[arg-type]


class RankedPairs(NamedTuple):
    """Pairs of a query's row and a document's key, sorted by query, measure and key.

    measure  cosines, descending; or distances, ascending
    """

    queries: NDArray[np.integer]
    keys: NDArray[np.int64]
    measure: NDArray[Any]


class RankingCorpus(Protocol):
    """Documents by ascending keys."""

    def alike(
        self, texts: Sequence[str], request: RankingRequest, threads: int | None
    ) -> RankedPairs:
        """Return for each text the `n` documents of the highest TF-IDF cosine, if it is above 0 and
        at least `least`."""

    def nearest(self, values: NDArray[np.uint64], n: int) -> RankedPairs:
        """Return for each fingerprint the `n` documents at the smallest distance."""

    def equal(self, text: str, n: int) -> Sequence[int]:
        """Return the keys of the first `n` documents equal to a text without a signal."""

    def fingerprints(self, keys: Sequence[int]) -> Fingerprints:
        """Return the fingerprints of the documents with these keys."""


class Ranked(NamedTuple):
    """Results of a ranked search, `score` descending for each query.

    signal    whether both texts have a fingerprint
    distance  in bits; an arbitrary number without a signal
    """

    queries: NDArray[np.int64]
    keys: NDArray[np.int64]
    score: NDArray[np.float64]
    distance: NDArray[np.int64]
    signal: NDArray[np.bool_]

    def table(self, ids: Any, *, one: bool) -> pa.Table:
        """Return a table: query (its row; left out for a single query), id, score, distance (null
        without a signal).

        ids  the id of each result
        one  whether the caller passed a single query
        """
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
    request: RankingRequest,
    recipe: Recipe,
    *,
    threads: int | None = None,
) -> Ranked:
    """Return the documents most similar to each text."""
    query_codes = fingerprints(list(texts), recipe, threads=threads)
    if request.by == "simhash":
        return _by_distance(texts, query_codes, corpus, request, recipe)
    import numpy as np

    pairs = corpus.alike(texts, request, threads)
    queries = pairs.queries.astype(np.int64)
    keys, inverse = np.unique(pairs.keys, return_inverse=True)
    document_codes = corpus.fingerprints(keys.tolist())
    differing = query_codes.values[queries] ^ document_codes.values[inverse]
    distance = np.bitwise_count(differing).sum(axis=1, dtype=np.int64)
    signal = query_codes.signal[queries] & document_codes.signal[inverse]
    return Ranked(queries, pairs.keys, pairs.measure, distance, signal)


def _by_distance(
    texts: Sequence[str],
    query_codes: Fingerprints,
    corpus: RankingCorpus,
    request: RankingRequest,
    recipe: Recipe,
) -> Ranked:
    import numpy as np

    rows = np.flatnonzero(query_codes.signal)
    pairs = corpus.nearest(np.ascontiguousarray(query_codes.values[rows]), request.n)
    queries, keys = rows[pairs.queries], pairs.keys.astype(np.int64)
    distance = pairs.measure.astype(np.int64)
    signal = np.ones(len(keys), dtype=bool)
    equal = [
        (row, key)
        for row in np.flatnonzero(~query_codes.signal).tolist()
        for key in corpus.equal(texts[row], request.n)
    ]
    if equal:
        more = np.array(equal, dtype=np.int64)
        queries, keys = np.append(queries, more[:, 0]), np.append(keys, more[:, 1])
        distance, signal = (np.append(x, np.zeros(len(more), x.dtype)) for x in (distance, signal))
        # A stable sort keeps the order of the documents within each query.
        order = np.argsort(queries, kind="stable")
        queries, keys, distance, signal = (x[order] for x in (queries, keys, distance, signal))
    score = 1 - distance / recipe.bits
    at = np.flatnonzero(score >= request.least)
    return Ranked(queries.astype(np.int64)[at], keys[at], score[at], distance[at], signal[at])


class Searchable(ABC):
    """A corpus that `neardup.search` can search: documents by id."""

    @abstractmethod
    def search(
        self,
        query: str | Iterable[str],
        n: int = DEFAULT_COUNT,
        by: RankBy = "cosine",
        *,
        idf: IdfFormula = "smooth",
        least: float = 0.0,
        threads: int | None = None,
    ) -> pa.Table:
        """Return the documents most similar to a text."""

    @abstractmethod
    def check_recipe(self, recipe: Recipe) -> None:
        """Raise ValueError if the recipe is not the one of the corpus."""


def check_queries(query: Any, threads: int | None) -> tuple[list[str], bool]:
    """Return the queries as a list, and whether the caller passed a single str."""
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
    queries = column.to_pylist() if is_arrow(column) else column
    for at, text in enumerate(queries):
        if not isinstance(text, str):
            raise TypeError(
                f"query[{at}] is of type {type(text).__name__}; every query must be a str"
            )
    return queries, False
