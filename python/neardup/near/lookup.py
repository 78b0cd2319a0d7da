"""Look-ups: the documents of a corpus that are near a text, best first.

A `LookupCorpus` finds candidates and returns documents by key. By similarity, `look_up` computes
the exact cosine of every candidate, except for twins of the query: their features are identical.
By radius, the distance of fingerprints decides and no text is compared.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Generic, NamedTuple, Protocol, TypeVar

from neardup import _core

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from neardup.near.question import Question
    from neardup.text.recipe import Recipe


# Pairs judged at a time; the texts of a batch are all in memory.
BATCH_PAIRS = 4096
# Up to this many candidates of a single query are judged without arrays, which is faster.
MAX_UNBATCHED = 64


class Candidates(NamedTuple):
    """Pairs of a query's row and a key, sorted by query, measure and key.

    measure  by radius the distance, ascending; by similarity the number of equal registers of the
             sketches, descending, `_core.TWIN` for identical features
    """

    queries: NDArray[np.int64]
    keys: NDArray[np.int64]
    measure: NDArray[np.int64]


class CorpusDocument(NamedTuple):
    """The parts of a document that a look-up needs; the fingerprint as bytes."""

    text: str
    fingerprint: bytes
    id: str


class LookupCorpus(Protocol):
    """Documents with a signal, by ascending keys."""

    def within(
        self, values: NDArray[np.uint64], radius: int, recall: float, limit: int | None
    ) -> Candidates:
        """Return the documents within the radius of each fingerprint: all, or the `limit`
        nearest."""

    def candidates(
        self, sketches: NDArray[np.uint8], similarity: float, recall: float, limit: int | None
    ) -> Candidates:
        """Return the candidates for each sketch; of equal sketches and of twins at least the first
        `limit`."""

    def candidates_of_one(
        self, sketch: bytes, similarity: float, recall: float, limit: int | None
    ) -> Sequence[tuple[int, int]]:
        """Return the keys and measures of the candidates for one sketch."""

    def documents(self, keys: Sequence[int]) -> Mapping[int, CorpusDocument]:
        """Return the documents with these keys."""


class Queries(NamedTuple):
    """Texts with a signal, their fingerprints, and their sketches for a question of similarity."""

    texts: Sequence[str]
    values: NDArray[np.uint64]
    sketches: NDArray[np.uint8]


class NearPairs(NamedTuple):
    """Pairs of a query's row and the key of a near document, sorted by query, similarity
    (descending), distance and key.

    similarities  exact cosines; None for a question by radius
    """

    queries: NDArray[np.int64]
    keys: NDArray[np.int64]
    distances: NDArray[np.int64]
    similarities: NDArray[np.float64] | None


class LookupHit(NamedTuple):
    """A document near a single query; `id` is None for a twin, whose document was not read."""

    key: int
    id: str | None
    distance: int
    similarity: float


def look_up(
    queries: Queries, corpus: LookupCorpus, question: Question, recipe: Recipe, limit: int | None
) -> NearPairs:
    """Return the documents near each query: all, or the best `limit`."""
    if question.radius is not None:
        found = corpus.within(queries.values, question.radius, question.recall, limit)
        return NearPairs(*found, None)
    threshold = question.similarity
    assert threshold is not None  # noqa: S101
    found = corpus.candidates(queries.sketches, threshold, question.recall, limit)
    return _verify(queries, corpus, found, threshold, recipe, limit)


def look_up_one(
    text: str,
    sketch: bytes,
    corpus: LookupCorpus,
    question: Question,
    recipe: Recipe,
    limit: int | None,
) -> list[LookupHit]:
    """Return the documents near a single text with a signal, by similarity.

    Faster than `look_up` for a few candidates: building arrays would take longer than the search.
    """
    threshold = question.similarity
    assert threshold is not None  # noqa: S101
    found = corpus.candidates_of_one(sketch, threshold, question.recall, limit)
    if len(found) > MAX_UNBATCHED:
        values, _, sketches = recipe.pipeline.sketched([text], None)
        pairs = look_up(Queries([text], values, sketches), corpus, question, recipe, limit)
        assert pairs.similarities is not None  # noqa: S101
        columns = (pairs.keys, pairs.distances, pairs.similarities)
        rows = zip(*(column.tolist() for column in columns), strict=True)
        return [LookupHit(key, None, distance, similarity) for key, distance, similarity in rows]
    near, unverified = [], []
    for key, measure in found:
        if measure == _core.TWIN:
            near.append(LookupHit(key, None, 0, 1.0))
        else:
            unverified.append(key)
    if unverified:
        documents = corpus.documents(unverified)
        texts = [documents[key].text for key in unverified]
        verdicts = recipe.pipeline.judge_one(text, texts)
        for key, similarity, distance in zip(unverified, *verdicts, strict=True):
            if similarity >= threshold:
                near.append(LookupHit(key, documents[key].id, distance, similarity))
        near.sort(key=lambda x: (-x.similarity, x.distance, x.key))
    return near[:limit]


def _verify(
    queries: Queries,
    corpus: LookupCorpus,
    found: Candidates,
    threshold: float,
    recipe: Recipe,
    limit: int | None,
) -> NearPairs:
    """Judge the candidates and return the near ones, sorted."""
    import numpy as np

    twins = found.measure == _core.TWIN
    similarity = np.ones(len(twins))
    distance = np.zeros(len(twins), dtype=np.int64)
    unverified = np.flatnonzero(~twins)
    for start in range(0, len(unverified), BATCH_PAIRS):
        part = unverified[start : start + BATCH_PAIRS]
        similarity[part], distance[part] = _judge(
            queries, corpus, recipe, found.queries[part], found.keys[part]
        )
    near = np.flatnonzero(similarity >= threshold)
    query, key = found.queries[near], found.keys[near]
    similarity, distance = similarity[near], distance[near]
    if len(unverified):
        order = np.lexsort((key, distance, -similarity, query))
        query, key = query[order], key[order]
        similarity, distance = similarity[order], distance[order]
    if limit is not None:
        # The rank of each pair within its query.
        kept = np.arange(len(query)) - np.searchsorted(query, query) < limit
        query, key, similarity, distance = query[kept], key[kept], similarity[kept], distance[kept]
    return NearPairs(query, key, distance, similarity)


def _judge(
    queries: Queries,
    corpus: LookupCorpus,
    recipe: Recipe,
    rows: NDArray[np.int64],
    keys: NDArray[np.int64],
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the cosines and distances of pairs; fastest if pairs of a query are neighbours."""
    import numpy as np

    query_rows, left = np.unique(rows, return_inverse=True)
    document_keys, right = np.unique(keys, return_inverse=True)
    by_key = corpus.documents(document_keys.tolist())
    documents = [by_key[key] for key in document_keys.tolist()]
    texts = [queries.texts[row] for row in query_rows.tolist()]
    document_texts = [document.text for document in documents]
    data = [text.encode() for text in (*texts, *document_texts)]
    ends = np.cumsum([len(part) for part in data], dtype=np.int64)
    all_texts = _core.Texts.in_memory(b"".join(data), ends)
    places = left.astype(np.uint32), (right + len(texts)).astype(np.uint32)
    similarities, _ = recipe.pipeline.judge(all_texts, *places, None)
    width = recipe.bits // 8
    query_codes = queries.values[query_rows].astype("<u8", copy=False).view(np.uint8)[:, :width]
    document_codes = np.frombuffer(b"".join(x.fingerprint for x in documents), dtype=np.uint8)
    differing = query_codes[left] ^ document_codes.reshape(-1, width)[right]
    return similarities, np.bitwise_count(differing).sum(axis=1, dtype=np.int64)


Id = TypeVar("Id", bound=int | str)


class Match(NamedTuple, Generic[Id]):
    """A document, or a fingerprint of an index, near a query.

    id          of the document or fingerprint
    distance    bits in which the fingerprints differ; None for equal texts without a signal
    similarity  exact cosine; None if it was not computed
    """

    id: Id
    distance: int | None
    similarity: float | None = None
