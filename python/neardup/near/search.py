"""Ranked search in memory: `search` for one call, `SearchIndex` for many on the same texts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

from neardup import _core
from neardup._util.arrow import string_buffers, string_column
from neardup._util.numbers import check_threads
from neardup._util.strings import check_unicode
from neardup.near.index import Index
from neardup.near.ranking import (
    DEFAULT_COUNT,
    IdfFormula,
    RankBy,
    RankedPairs,
    RankingRequest,
    Searchable,
    check_queries,
    check_ranking,
    rank,
)
from neardup.text.fingerprint import Fingerprints, RecipeLike, fingerprints
from neardup.text.recipe import Recipe, as_recipe

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray


def search(
    query: str | Iterable[str],
    corpus: Any,
    n: int = DEFAULT_COUNT,
    by: RankBy = "cosine",
    *,
    recipe: RecipeLike = None,
    idf: IdfFormula = "smooth",
    least: float = 0.0,
    threads: int | None = None,
) -> pa.Table:
    """Return the `n` documents of a corpus most similar to a text, best first.

    query    a text, or several: then the result has a column `query`, the row of the query
    corpus   texts (a list, an Arrow, Polars or pandas column), whose ids are their rows; a dict of
             id → text or a list of (id, text); a `SearchIndex` or a `Collection`
    n        maximum number of documents for a query; by cosine, each shares a feature with it
    by       "cosine": the exact cosine of TF-IDF weights; "simhash": 1 - distance / bits of the
             fingerprints
    recipe   how texts become features and fingerprints: a Recipe, the name of a preset, a .toml
             file. An index or a collection has its own
    idf      for cosine: "smooth", as in scikit-learn's TfidfVectorizer; "gensim", as in gensim's
             TfidfModel
    least    minimum score; a higher minimum makes the search faster
    threads  cores to use [default: all]

    The result is a table: id, score (0 to 1, descending, ties in the order of the corpus), distance
    (bits in which the fingerprints differ; null where a text has none). To search the same texts
    often, build a `SearchIndex` once.

    >>> texts = ["the cat sat on the mat", "the dog sat on the cat", "we all scream"]
    >>> search("a cat on a mat", texts, n=2)["id"].to_pylist()
    [0, 1]
    """
    if isinstance(corpus, Searchable):
        if recipe is not None:
            corpus.check_recipe(as_recipe(recipe))
        return corpus.search(query, n, by, idf=idf, least=least, threads=threads)
    if isinstance(corpus, Index):
        raise TypeError(
            "corpus is an Index, which has fingerprints and no texts; use its nearest(), or build "
            "a SearchIndex of the texts"
        )
    # Checked here, so that wrong options raise before the index is built.
    request = check_ranking(n, by, idf, least)
    queries, one = check_queries(query, threads)
    texts, ids = _documents(corpus)
    index = SearchIndex(texts, ids, as_recipe(recipe), threads)
    # An iterator can be read only once, so pass the list.
    query = queries[0] if one else queries
    return index.search(query, request.n, by, idf=idf, least=least, threads=threads)


class SearchIndex(Searchable):
    """An index of texts in memory, for many searches; made by `SearchIndex.build`.

    >>> index = SearchIndex.build(["the cat sat on the mat", "we all scream"], ids=["a", "b"])
    >>> index.search("we scream", n=1).to_pylist()
    [{'id': 'b', 'score': 0.8164965809277261, 'distance': 28}]
    """

    def __init__(
        self, texts: pa.ChunkedArray, ids: Any, recipe: Recipe, threads: int | None
    ) -> None:
        """Use `SearchIndex.build`."""
        self.recipe = recipe
        self._texts = texts
        self._ids = ids
        self._threads = threads
        # Built on first use.
        self._terms: _core.TermIndex | None = None
        self._codes: _core.Index | None = None
        self._rows_by_text: dict[str, list[int]] | None = None

    @classmethod
    def build(
        cls,
        texts: Any,
        ids: Any = None,
        *,
        recipe: RecipeLike = None,
        threads: int | None = None,
    ) -> Self:
        """Build an index of texts, ready to be searched by cosine.

        texts    as for `search`; missing texts are never found
        ids      one for each text, strings or whole numbers [default: the rows]
        recipe   how texts become features and fingerprints [default: the default recipe]
        """
        check_threads(threads)
        chosen = as_recipe(recipe)
        if isinstance(texts, Searchable):
            raise TypeError(f"texts is a {type(texts).__name__}, which can be searched already")
        column, own_ids = _documents(texts)
        if ids is not None:
            if own_ids is not None:
                raise ValueError("ids are given twice: with the texts, and as ids; leave one out")
            own_ids = _as_ids(ids, len(column))
        index = cls(column, own_ids, chosen, threads)
        index._term_index()
        return index

    def __len__(self) -> int:
        """The number of texts that are not missing."""
        return len(self._texts) - int(self._texts.null_count)

    def __repr__(self) -> str:
        return f"SearchIndex({len(self)} texts)"

    def check_recipe(self, recipe: Recipe) -> None:
        if recipe.identity != self.recipe.identity:
            raise ValueError(
                f"recipe is {recipe.identity}, and the index was built with "
                f"{self.recipe.identity}; leave it out, or build another index"
            )

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
        """Return the `n` texts most similar to a query; see `neardup.search`."""
        request = check_ranking(n, by, idf, least)
        texts, one = check_queries(query, threads)
        ranked = rank(texts, self, request, self.recipe, threads=threads)
        import pyarrow as pa

        from neardup._util.arrow import number_array

        ids = number_array(ranked.keys)
        if self._ids is not None:
            ids = pa.chunked_array([self._ids.take(ids)])
        return ranked.table(ids, one=one)

    # The methods of `RankingCorpus`, which `rank` calls.

    def alike(
        self, texts: Sequence[str], request: RankingRequest, threads: int | None
    ) -> RankedPairs:
        return RankedPairs(
            *self._term_index().search(
                self.recipe.pipeline, texts, request.n, request.least, request.idf, threads
            )
        )

    def nearest(self, values: NDArray[np.uint64], n: int) -> RankedPairs:
        queries, rows, distances = self._code_index().nearest(
            values, n, self.recipe.bits, None, self._threads
        )
        return RankedPairs(queries, rows, distances)  # type: ignore[arg-type]

    def equal(self, text: str, n: int) -> Sequence[int]:
        self._code_index()
        assert self._rows_by_text is not None  # noqa: S101
        return self._rows_by_text.get(text, [])[:n]

    def fingerprints(self, keys: Sequence[int]) -> Fingerprints:
        return fingerprints([self._texts[key].as_py() for key in keys], self.recipe)

    def _term_index(self) -> _core.TermIndex:
        if self._terms is None:
            import numpy as np

            terms = _core.TermIndex(self.recipe.identity)
            rows = np.arange(len(self._texts), dtype=np.int64)
            terms.add_arrow(self.recipe.pipeline, string_buffers(self._texts), rows, self._threads)
            self._terms = terms
        return self._terms

    def _code_index(self) -> _core.Index:
        if self._codes is None:
            import numpy as np

            computed = fingerprints(self._texts, self.recipe, threads=self._threads)
            codes = _core.Index(self.recipe.bits, self.recipe.identity)
            rows = np.flatnonzero(computed.signal).astype(np.int64)
            values = np.ascontiguousarray(computed.values[rows])
            codes.add(values, rows, None, len(rows), self.recipe.identity, self._threads)
            rows_by_text: dict[str, list[int]] = {}
            for row in np.flatnonzero(~computed.signal).tolist():
                if (text := self._texts[row].as_py()) is not None and _core.says_something(text):
                    rows_by_text.setdefault(text, []).append(row)
            self._codes, self._rows_by_text = codes, rows_by_text
        return self._codes


def _documents(corpus: Any) -> tuple[pa.ChunkedArray, Any]:
    """Return the texts of a corpus as a column, and their ids, or None."""
    import pyarrow as pa

    if isinstance(corpus, Mapping):
        return string_column(list(corpus.values())), _as_ids(list(corpus), len(corpus))
    if isinstance(corpus, Iterable) and not hasattr(corpus, "__arrow_c_stream__"):
        listed = corpus if isinstance(corpus, list | pa.Array | str) else None
        if listed is None and not hasattr(corpus, "dtype"):
            listed = corpus = list(corpus)
        if isinstance(listed, list) and listed and isinstance(listed[0], tuple | list):
            for at, pair in enumerate(listed):
                if not isinstance(pair, tuple | list) or len(pair) != 2:
                    raise TypeError(
                        f"corpus[{at}] is {_short(pair)}; the first item is a pair of id "
                        "and text, so all must be"
                    )
            return string_column([text for _, text in listed]), _as_ids(
                [id_ for id_, _ in listed], len(listed)
            )
    return string_column(corpus), None


def _as_ids(ids: Any, count: int) -> Any:
    """Check ids and return them as an Arrow array."""
    import pyarrow as pa

    from neardup._util.arrow import plain_array

    if isinstance(ids, str | bytes):
        raise TypeError(f"ids is one {type(ids).__name__}; give one for each text, in a list")
    try:
        array = ids if isinstance(ids, pa.Array | pa.ChunkedArray) else pa.array(ids)
    except (pa.ArrowException, TypeError, UnicodeEncodeError) as error:
        for at, id_ in enumerate(ids if isinstance(ids, Sequence) else ()):
            if isinstance(id_, str):
                check_unicode(id_, f"ids[{at}]")
        raise TypeError(
            f"ids must be strings, or whole numbers, all of one kind: {error}"
        ) from None
    if isinstance(array, pa.ChunkedArray):
        array = pa.concat_arrays(array.chunks) if array.num_chunks else pa.array([], array.type)
    array = plain_array(array)
    kind = array.type
    is_text = pa.types.is_string(kind) or pa.types.is_large_string(kind)
    if len(array) and (not (is_text or pa.types.is_integer(kind)) or array.null_count):
        raise TypeError(
            f"ids are of type {kind}; they must be strings or whole numbers, none missing"
        )
    if len(array) != count:
        raise ValueError(f"{len(array)} ids for {count} texts; give one for each text")
    return array


def _short(value: object) -> str:
    shown = repr(value)
    return shown if len(shown) <= 40 else f"{shown[:40]}…"
