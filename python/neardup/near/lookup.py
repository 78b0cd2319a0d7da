"""Look-ups: texts → the documents of a corpus that are near them, the best first.

A corpus is whatever can find candidates and hand over documents by their keys. Every candidate by
similarity is judged by its text, but for twins, whose features are the same; what is found by
radius is not judged.
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


# Pairs whose texts are in memory at a time.
BATCH_PAIRS = 4096
# So many are judged at once: to hand them to other threads would take longer.
MAX_UNBATCHED = 64


class Candidates(NamedTuple):
    """Pairs of a query's row and a key.

    measure  the distance, in ascending order for each query; or how many registers agree, in
             descending order, `_core.TWIN` for twins; then by key
    """

    queries: NDArray[np.int64]
    keys: NDArray[np.int64]
    measure: NDArray[np.int64]


class CorpusDocument(NamedTuple):
    """What a judge has to see of a document: its text, and its fingerprint as bytes; and its id."""

    text: str
    fingerprint: bytes
    id: str


class LookupCorpus(Protocol):
    """Documents with a signal, by keys of which the earlier is the lower."""

    def within(
        self, values: NDArray[np.uint64], radius: int, recall: float, most: int | None
    ) -> Candidates:
        """All within the radius of each fingerprint, or the `most` nearest."""

    def alike(
        self, sketches: NDArray[np.uint8], similarity: float, recall: float, most: int | None
    ) -> Candidates:
        """All that the question's plan finds for each sketch; of equal sketches and of twins not
        fewer than the first `most`."""

    def alike_one(
        self, sketch: bytes, similarity: float, recall: float, most: int | None
    ) -> Sequence[tuple[int, int]]:
        """Keys and measures of the same for one sketch."""

    def documents(self, keys: Sequence[int]) -> Mapping[int, CorpusDocument]:
        """Those with these keys."""


class Queries(NamedTuple):
    """Texts that have a signal, their fingerprints, and their sketches where a similarity is
    asked for."""

    texts: Sequence[str]
    values: NDArray[np.uint64]
    sketches: NDArray[np.uint8]


class CandidatePairs(NamedTuple):
    """Rows of queries and the keys near them, best first for each query: by similarity, then
    distance, then key.

    similarities  exact cosines; None where the radius decides
    """

    queries: NDArray[np.int64]
    keys: NDArray[np.int64]
    distances: NDArray[np.int64]
    similarities: NDArray[np.float64] | None


class LookupHit(NamedTuple):
    """A document near a single query; `id` where its document was looked at."""

    key: int
    id: str | None
    distance: int
    similarity: float


def look_up(
    queries: Queries, corpus: LookupCorpus, question: Question, recipe: Recipe, most: int | None
) -> CandidatePairs:
    """The documents near each query, all of them or the best `most`."""
    if question.radius is not None:
        found = corpus.within(queries.values, question.radius, question.recall, most)
        return CandidatePairs(*found, None)
    wanted = question.similarity
    assert wanted is not None  # noqa: S101
    found = corpus.alike(queries.sketches, wanted, question.recall, most)
    return _verified(queries, corpus, found, wanted, recipe, most)


def look_up_one(
    text: str,
    sketch: bytes,
    corpus: LookupCorpus,
    question: Question,
    recipe: Recipe,
    most: int | None,
) -> list[LookupHit]:
    """As `look_up` by similarity, for a single text that has a signal. It makes no arrays, which
    would take longer than the look-up."""
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


def _verified(
    queries: Queries,
    corpus: LookupCorpus,
    found: Candidates,
    wanted: float,
    recipe: Recipe,
    most: int | None,
) -> CandidatePairs:
    """The candidates that are near, in order."""
    import numpy as np

    twins = found.measure == _core.TWIN
    similarity = np.ones(len(twins))
    distance = np.zeros(len(twins), dtype=np.int64)
    judged = np.flatnonzero(~twins)
    for start in range(0, len(judged), BATCH_PAIRS):
        part = judged[start : start + BATCH_PAIRS]
        similarity[part], distance[part] = _judged(
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
        # The place of a row among those of its query.
        kept = np.arange(len(query)) - np.searchsorted(query, query) < most
        query, key, similarity, distance = query[kept], key[kept], similarity[kept], distance[kept]
    return CandidatePairs(query, key, distance, similarity)


def _judged(
    queries: Queries,
    corpus: LookupCorpus,
    recipe: Recipe,
    rows: NDArray[np.int64],
    keys: NDArray[np.int64],
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Cosines and distances of pairs, those of a query side by side."""
    import numpy as np

    asked, left = np.unique(rows, return_inverse=True)
    stored, right = np.unique(keys, return_inverse=True)
    found = corpus.documents(stored.tolist())
    documents = [found[key] for key in stored.tolist()]
    texts = [queries.texts[row] for row in asked.tolist()]
    others = [document.text for document in documents]
    data = [text.encode() for text in (*texts, *others)]
    ends = np.cumsum([len(part) for part in data], dtype=np.int64)
    together = _core.Texts.in_memory(b"".join(data), ends)
    places = left.astype(np.uint32), (right + len(texts)).astype(np.uint32)
    similarities, _ = recipe.pipeline.judge(together, *places, None)
    width = recipe.bits // 8
    codes = queries.values[asked].astype("<u8", copy=False).view(np.uint8)[:, :width]
    theirs = np.frombuffer(b"".join(x.fingerprint for x in documents), dtype=np.uint8)
    differing = codes[left] ^ theirs.reshape(-1, width)[right]
    return similarities, np.bitwise_count(differing).sum(axis=1, dtype=np.int64)


# The answer of every look-up.

Id = TypeVar("Id", bound=int | str)


class Match(NamedTuple, Generic[Id]):
    """Something that is near what was asked for.

    id          of a document, or of a fingerprint in an index
    distance    bits in which the fingerprints differ; None for equal texts without a signal
    similarity  exact cosine; None where it was not asked for
    """

    id: Id
    distance: int | None
    similarity: float | None = None
