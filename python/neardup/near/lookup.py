"""Look-ups: the documents of a corpus that are near a text, best first.

A `LookupCorpus` finds candidates and returns documents by key. By similarity, `look_up` computes
the exact cosine of every candidate, except for twins of the query: their features are identical.
By radius, the distance of fingerprints decides and no text is compared. A question that
distinguishes texts has the same candidates, and compares the texts of all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Generic, NamedTuple, Protocol, TypeVar

from neardup import _core
from neardup.text.comparison import DEFAULT_SIMILARITY
from neardup.text.differences import negation_words

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from neardup.near.question import Question
    from neardup.text.recipe import Recipe


# Pairs judged at a time; the texts of a batch are all in memory.
BATCH_PAIRS = 4096
# Up to this many candidates of a single query are judged without arrays, which is faster.
MAX_UNBATCHED = 64
# Documents that differ count among the first ones asked for: at least so many are asked for, then
# each time so many times as many.
FIRST_ASKED, ASKED_GROWTH = 64, 8


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
    """Texts with a signal, their fingerprints, and their sketches; by radius there may be none."""

    texts: Sequence[str]
    values: NDArray[np.uint64]
    sketches: NDArray[np.uint8]

    def at(self, rows: NDArray[np.int64]) -> Queries:
        texts = [self.texts[row] for row in rows.tolist()]
        sketches = self.sketches[rows] if len(self.sketches) else self.sketches
        return Queries(texts, self.values[rows], sketches)


class NearPairs(NamedTuple):
    """Pairs of a query's row and the key of a near document, sorted by query, similarity
    (descending), distance and key.

    similarities  exact cosines; None for a question by radius
    """

    queries: NDArray[np.int64]
    keys: NDArray[np.int64]
    distances: NDArray[np.int64]
    similarities: NDArray[np.float64] | None

    def at(self, rows: NDArray[np.integer] | NDArray[np.bool_]) -> NearPairs:
        return NearPairs(*(None if column is None else column[rows] for column in self))  # type: ignore[arg-type]

    def first(self, limit: int | None) -> NearPairs:
        """Return the first `limit` pairs of each query."""
        import numpy as np

        if limit is None:
            return self
        # The rank of each pair within its query.
        return self.at(
            np.arange(len(self.queries)) - np.searchsorted(self.queries, self.queries) < limit
        )


class LookupHit(NamedTuple):
    """A document near a single query; `document` is None if it was not read."""

    key: int
    document: CorpusDocument | None
    distance: int
    similarity: float


def look_up(
    queries: Queries, corpus: LookupCorpus, question: Question, recipe: Recipe, limit: int | None
) -> NearPairs:
    """Return the documents near each query: all, or the best `limit`."""
    if limit is None or not question.distinguish:
        found = _candidates(queries, corpus, question, limit)
        return _near(queries, corpus, found, question, recipe).first(limit)
    import numpy as np

    rows, asked, parts = np.arange(len(queries.texts)), max(limit, FIRST_ASKED), []
    while True:
        some = queries.at(rows)
        found = _candidates(some, corpus, question, asked)
        near = _near(some, corpus, found, question, recipe).first(limit)
        # Documents behind those asked for cannot be nearer than these.
        best = near
        if near.similarities is not None:
            best = near.at((near.similarities == 1) & (near.distances == 0))
        is_open = np.bincount(found.queries, minlength=len(rows)) >= asked
        is_open &= np.bincount(best.queries, minlength=len(rows)) < limit
        near = near.at(~is_open[near.queries])
        parts.append(near._replace(queries=rows[near.queries]))
        rows, asked = rows[is_open], asked * ASKED_GROWTH
        if not len(rows):
            break
    columns = zip(*parts, strict=True)
    joined = NearPairs(*(None if x[0] is None else np.concatenate(x) for x in columns))  # type: ignore[arg-type]
    return joined.at(np.argsort(joined.queries, kind="stable"))


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
    asked = limit
    if limit is not None and question.distinguish:
        # Fewer candidates than these are all there are.
        asked = max(limit, MAX_UNBATCHED + 1)
    found = corpus.candidates_of_one(sketch, threshold, question.recall, asked)
    if len(found) > MAX_UNBATCHED:
        values, _, sketches = recipe.pipeline.sketched([text], None)
        pairs = look_up(Queries([text], values, sketches), corpus, question, recipe, limit)
        assert pairs.similarities is not None  # noqa: S101
        columns = (pairs.keys, pairs.distances, pairs.similarities)
        rows = zip(*(column.tolist() for column in columns), strict=True)
        return [LookupHit(key, None, distance, similarity) for key, distance, similarity in rows]
    near, unverified = [], []
    for key, measure in found:
        if measure == _core.TWIN and not question.distinguish:
            near.append(LookupHit(key, None, 0, 1.0))
        else:
            unverified.append(key)
    if unverified:
        documents = corpus.documents(unverified)
        texts = [documents[key].text for key in unverified]
        verdicts = question.apply_to(recipe).pipeline.judge_one(text, texts)
        for key, similarity, distance in zip(unverified, *verdicts, strict=True):
            if similarity >= threshold:
                near.append(LookupHit(key, documents[key], distance, similarity))
        near.sort(key=lambda x: (-x.similarity, x.distance, x.key))
    return near[:limit]


def differences(
    texts: Sequence[str],
    documents: Callable[[Sequence[int]], Mapping[int, CorpusDocument]],
    rows: NDArray[np.integer],
    keys: NDArray[np.int64],
) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Return for pairs of a text's row and a document's key in which aspects they differ, as bits,
    and the number of words of the text that the document lacks."""
    import numpy as np

    differs, lost = np.zeros(len(rows), np.uint8), np.zeros(len(rows), np.int64)
    for start in range(0, len(rows), BATCH_PAIRS):
        part = np.arange(start, min(start + BATCH_PAIRS, len(rows)))
        by_key = documents(np.unique(keys[part]).tolist())
        pairs = zip(rows[part].tolist(), keys[part].tolist(), strict=True)
        # Most matches are exact copies.
        part = part[[texts[row] != by_key[key].text for row, key in pairs]]
        if len(part):
            pack = _pack(texts, by_key, rows[part], keys[part])
            found = negation_words().differences(pack.texts, pack.right, pack.left, None)
            differs[part], lost[part] = found
    return differs, lost


def _candidates(
    queries: Queries, corpus: LookupCorpus, question: Question, limit: int | None
) -> Candidates:
    if question.radius is not None:
        return corpus.within(queries.values, question.radius, question.recall, limit)
    assert question.similarity is not None  # noqa: S101
    return corpus.candidates(queries.sketches, question.similarity, question.recall, limit)


def _near(
    queries: Queries, corpus: LookupCorpus, found: Candidates, question: Question, recipe: Recipe
) -> NearPairs:
    """Judge the candidates and return the near ones, sorted."""
    import numpy as np

    threshold, is_strict = question.similarity, bool(question.distinguish)
    pipeline = question.apply_to(recipe).pipeline
    if threshold is None:
        if not is_strict:
            return NearPairs(*found, None)
        agreement = np.empty(len(found.keys))
        for start in range(0, len(agreement), BATCH_PAIRS):
            part = slice(start, start + BATCH_PAIRS)
            documents = corpus.documents(np.unique(found.keys[part]).tolist())
            pack = _pack(queries.texts, documents, found.queries[part], found.keys[part])
            agreement[part] = pipeline.agreement(pack.texts, pack.left, pack.right, None)
        return NearPairs(*found, None).at(agreement >= DEFAULT_SIMILARITY)
    similarity = np.ones(len(found.keys))
    distance = np.zeros(len(found.keys), dtype=np.int64)
    unverified = np.flatnonzero(is_strict | (found.measure != _core.TWIN))
    for start in range(0, len(unverified), BATCH_PAIRS):
        rows = unverified[start : start + BATCH_PAIRS]
        documents = corpus.documents(np.unique(found.keys[rows]).tolist())
        pack = _pack(queries.texts, documents, found.queries[rows], found.keys[rows])
        similarity[rows], _ = pipeline.judge(pack.texts, pack.left, pack.right, None)
        distance[rows] = pack.distances(queries.values[found.queries[rows]], recipe.bits)
    pairs = NearPairs(found.queries, found.keys, distance, similarity).at(similarity >= threshold)
    assert pairs.similarities is not None  # noqa: S101
    if not len(unverified):
        return pairs
    return pairs.at(np.lexsort((pairs.keys, pairs.distances, -pairs.similarities, pairs.queries)))


class _PackedPairs(NamedTuple):
    """Pairs of texts, each text once: the rows of queries and of documents in `texts`."""

    texts: _core.Texts
    left: NDArray[np.uint32]
    right: NDArray[np.uint32]
    codes: Sequence[bytes]

    def distances(self, values: NDArray[np.uint64], bits: int) -> NDArray[np.int64]:
        """Return the distances of documents from the fingerprints of their queries."""
        import numpy as np

        width, first = bits // 8, len(self.texts) - len(self.codes)
        query_codes = values.astype("<u8", copy=False).view(np.uint8)[:, :width]
        codes = np.frombuffer(b"".join(self.codes), dtype=np.uint8).reshape(-1, width)
        differing = np.bitwise_count(query_codes ^ codes[self.right - first])
        distances: NDArray[np.int64] = differing.sum(axis=1, dtype=np.int64)
        return distances


def _pack(
    texts: Sequence[str],
    documents: Mapping[int, CorpusDocument],
    rows: NDArray[np.integer],
    keys: NDArray[np.int64],
) -> _PackedPairs:
    """Return the texts of pairs; the core is fastest if pairs of a query are neighbours."""
    import numpy as np

    text_rows, left = np.unique(rows, return_inverse=True)
    document_keys, right = np.unique(keys, return_inverse=True)
    chosen = [documents[key] for key in document_keys.tolist()]
    data = [texts[row].encode() for row in text_rows.tolist()]
    data += [document.text.encode() for document in chosen]
    ends = np.cumsum([len(part) for part in data], dtype=np.int64)
    return _PackedPairs(
        _core.Texts.in_memory(b"".join(data), ends),
        left.astype(np.uint32),
        (right + len(text_rows)).astype(np.uint32),
        [document.fingerprint for document in chosen],
    )


Id = TypeVar("Id", bound=int | str)


class Match(NamedTuple, Generic[Id]):
    """A document, or a fingerprint of an index, near a query.

    id          of the document or fingerprint
    distance    bits in which the fingerprints differ; None for equal texts without a signal
    similarity  exact cosine; None if it was not computed
    differs     what the cosine does not see: "numbers", "negation", "symbols", "order", joined by
                commas; None if the texts were not compared
    lost        number of words of the query that the document lacks; None as above
    """

    id: Id
    distance: int | None
    similarity: float | None = None
    differs: str | None = None
    lost: int | None = None
