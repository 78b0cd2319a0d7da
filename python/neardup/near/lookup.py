"""Look-ups: the documents of a corpus that are near a text, best first.

A `LookupCorpus` finds candidates and returns documents by key. By similarity, the exact cosine of
every candidate is computed, except for twins, whose features are identical. By radius, the bits
decide and no text is compared.
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


# Pairs judged in a batch: their texts are in memory at the same time.
BATCH_PAIRS = 4096
# Up to so many candidates of a single query are judged on this thread, which is faster.
MAX_UNBATCHED = 64


class Candidates(NamedTuple):
    """Pairs of a query's row and a key, sorted by query, measure and key.

    measure  by radius the distance, ascending; by similarity the number of equal registers,
             descending, `_core.TWIN` for twins
    """

    queries: NDArray[np.int64]
    keys: NDArray[np.int64]
    measure: NDArray[np.int64]


class CorpusDocument(NamedTuple):
    """A document as the look-up needs it; the fingerprint as bytes."""

    text: str
    fingerprint: bytes
    id: str


class LookupCorpus(Protocol):
    """Documents with a signal, by ascending keys."""

    def within(
        self, values: NDArray[np.uint64], radius: int, recall: float, most: int | None
    ) -> Candidates:
        """Return all documents within the radius of each fingerprint, or the `most` nearest."""

    def alike(
        self, sketches: NDArray[np.uint8], similarity: float, recall: float, most: int | None
    ) -> Candidates:
        """Return the candidates for each sketch; of equal sketches and of twins at least the first
        `most`."""

    def alike_one(
        self, sketch: bytes, similarity: float, recall: float, most: int | None
    ) -> Sequence[tuple[int, int]]:
        """Return the keys and measures of the candidates for one sketch."""

    def documents(self, keys: Sequence[int]) -> Mapping[int, CorpusDocument]:
        """Return the documents with these keys."""


class Queries(NamedTuple):
    """Texts with a signal, their fingerprints, and their sketches for a question of similarity."""

    texts: Sequence[str]
    values: NDArray[np.uint64]
    sketches: NDArray[np.uint8]


class CandidatePairs(NamedTuple):
    """Rows of queries and near keys, sorted by query, similarity (descending), distance and key.

    similarities  exact cosines; None where a radius decided
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
    queries: Queries, corpus: LookupCorpus, question: Question, recipe: Recipe, most: int | None
) -> CandidatePairs:
    """Return the documents near each query, all of them or the best `most`."""
    if question.radius is not None:
        found = corpus.within(queries.values, question.radius, question.recall, most)
        return CandidatePairs(*found, None)
    wanted = question.similarity
    assert wanted is not None  # noqa: S101
    found = corpus.alike(queries.sketches, wanted, question.recall, most)
    return _verify(queries, corpus, found, wanted, recipe, most)


def look_up_one(
    text: str,
    sketch: bytes,
    corpus: LookupCorpus,
    question: Question,
    recipe: Recipe,
    most: int | None,
) -> list[LookupHit]:
    """Return the documents near a single text with a signal, by similarity.

    Faster than `look_up`, since building arrays would take longer than the look-up itself.
    """
    wanted = question.similarity
    assert wanted is not None  # noqa: S101
    found = corpus.alike_one(sketch, wanted, question.recall, most)
    if len(found) > MAX_UNBATCHED:
        values, _, sketches = recipe.pipeline.sketched([text], None)
        pairs = look_up(Queries([text], values, sketches), corpus, question, recipe, most)
        assert pairs.similarities is not None  # noqa: S101
        columns = (pairs.keys, pairs.distances, pairs.similarities)
        rows = zip(*(column.tolist() for column in columns), strict=True)
        return [LookupHit(key, None, distance, similarity) for key, distance, similarity in rows]
    near, judged = [], []
    for key, same in found:
        if same == _core.TWIN:
            near.append(LookupHit(key, None, 0, 1.0))
        else:
            judged.append(key)
    if judged:
        documents = corpus.documents(judged)
        texts = [documents[key].text for key in judged]
        verdicts = recipe.pipeline.judge_one(text, texts)
        for key, similarity, distance in zip(judged, *verdicts, strict=True):
            if similarity >= wanted:
                near.append(LookupHit(key, documents[key].id, distance, similarity))
        near.sort(key=lambda x: (-x.similarity, x.distance, x.key))
    return near[:most]


def _verify(
    queries: Queries,
    corpus: LookupCorpus,
    found: Candidates,
    wanted: float,
    recipe: Recipe,
    most: int | None,
) -> CandidatePairs:
    """Judge the candidates and return the near ones, sorted."""
    import numpy as np

    twins = found.measure == _core.TWIN
    similarity = np.ones(len(twins))
    distance = np.zeros(len(twins), dtype=np.int64)
    judged = np.flatnonzero(~twins)
    for start in range(0, len(judged), BATCH_PAIRS):
        part = judged[start : start + BATCH_PAIRS]
        similarity[part], distance[part] = _judge(
            queries, corpus, recipe, found.queries[part], found.keys[part]
        )
    near = np.flatnonzero(similarity >= wanted)
    query, key = found.queries[near], found.keys[near]
    similarity, distance = similarity[near], distance[near]
    if len(judged):
        order = np.lexsort((key, distance, -similarity, query))
        query, key = query[order], key[order]
        similarity, distance = similarity[order], distance[order]
    if most is not None:
        # The rank of each pair within its query.
        kept = np.arange(len(query)) - np.searchsorted(query, query) < most
        query, key, similarity, distance = query[kept], key[kept], similarity[kept], distance[kept]
    return CandidatePairs(query, key, distance, similarity)


def _judge(
    queries: Queries,
    corpus: LookupCorpus,
    recipe: Recipe,
    rows: NDArray[np.int64],
    keys: NDArray[np.int64],
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the cosines and distances of pairs; pairs of a query should be neighbours."""
    import numpy as np

    queried, left = np.unique(rows, return_inverse=True)
    stored, right = np.unique(keys, return_inverse=True)
    found = corpus.documents(stored.tolist())
    documents = [found[key] for key in stored.tolist()]
    texts = [queries.texts[row] for row in queried.tolist()]
    others = [document.text for document in documents]
    data = [text.encode() for text in (*texts, *others)]
    ends = np.cumsum([len(part) for part in data], dtype=np.int64)
    together = _core.Texts.in_memory(b"".join(data), ends)
    places = left.astype(np.uint32), (right + len(texts)).astype(np.uint32)
    similarities, _ = recipe.pipeline.judge(together, *places, None)
    width = recipe.bits // 8
    codes = queries.values[queried].astype("<u8", copy=False).view(np.uint8)[:, :width]
    theirs = np.frombuffer(b"".join(x.fingerprint for x in documents), dtype=np.uint8)
    differing = codes[left] ^ theirs.reshape(-1, width)[right]
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
