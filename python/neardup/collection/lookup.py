"""Lookups of texts in a collection: documents near a text (`check`), the most similar documents
(`search`), and whether a new document is a duplicate (`add` with unless_duplicate).

`SingleCheck`, `BatchCheck` and `RankedSearch` compute everything that depends on the texts alone
when they are made. Their method with a snapshot and a store does the lookup; the session calls it
again if the collection changed meanwhile.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from neardup import _core
from neardup._util.strings import check_unicode
from neardup.collection.documents import PreparedTexts, prepare
from neardup.collection.postings import Postings
from neardup.collection.results import Outcome
from neardup.collection.schema import StoredRow, text_digest, unpack_text
from neardup.collection.sketches import new_index
from neardup.collection.snapshot import Snapshot
from neardup.collection.store import Store
from neardup.near.lookup import (
    BATCH_PAIRS,
    Candidates,
    CorpusDocument,
    Match,
    NearPairs,
    Queries,
    differences,
    look_up,
    look_up_one,
)
from neardup.near.question import Question
from neardup.near.ranking import RankedPairs, RankingRequest, rank
from neardup.text.differences import ASPECTS, aspect_names, negation_words
from neardup.text.fingerprint import Fingerprints

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from neardup.collection.documents import PreparedBatch
    from neardup.text.recipe import Recipe


class CollectionCorpus:
    """A collection as the corpus of `near.lookup`: the indexes find candidates, the store has the
    texts to verify them."""

    def __init__(self, view: Snapshot, store: Store) -> None:
        self.view = view
        self.store = store
        # Documents read last: a near document is read again to say what differs.
        self._read: dict[int, CorpusDocument] = {}

    def within(
        self, values: NDArray[np.uint64], radius: int, recall: float, limit: int | None
    ) -> Candidates:
        return self.view.within(values, radius, recall, limit)

    def candidates(
        self, sketches: NDArray[np.uint8], similarity: float, recall: float, limit: int | None
    ) -> Candidates:
        return self.view.candidates(sketches, similarity, recall, limit)

    def candidates_of_one(
        self, sketch: bytes, similarity: float, recall: float, limit: int | None
    ) -> list[tuple[int, int]]:
        return self.view.candidates_of_one(sketch, similarity, recall, limit)

    def documents(self, keys: Sequence[int]) -> dict[int, CorpusDocument]:
        missing = [key for key in keys if key not in self._read]
        if len(self._read) + len(missing) > BATCH_PAIRS:
            missing, self._read = [*keys], {}
        if missing:
            for key, row in self.store.by_keys(missing, with_text=True).items():
                text = unpack_text(row.text) or ""
                self._read[key] = CorpusDocument(text, row.fingerprint or b"", row.id)
        return self._read


# Key, document (None if it was not read), distance, similarity (None by radius).
Hit = tuple[int, CorpusDocument | None, int, float | None]


class SingleCheck:
    """A check of one text; `texts` says whether the collection stores texts."""

    def __init__(
        self, text: str, recipe: Recipe, question: Question, limit: int | None, *, texts: bool
    ) -> None:
        self.text = text
        self.recipe = recipe
        self.question = question
        self.limit = limit
        self.texts = texts
        pipeline = recipe.pipeline
        prepared = None if question.similarity is None else pipeline.sketch(text)
        self.sketch = None if prepared is None else prepared[1]
        self.code = pipeline.fingerprint(text) if question.similarity is None else None

    def matches(self, view: Snapshot, store: Store) -> list[Match[str]]:
        """Return the documents near the text."""
        limit, question, corpus = self.limit, self.question, CollectionCorpus(view, store)
        if self.sketch is not None:
            found = look_up_one(self.text, self.sketch, corpus, question, self.recipe, limit)
            return self._tell(found, corpus)
        if self.code is None or question.radius is None:
            return _equal_texts(store, self.text, limit)
        if question.distinguish:
            pairs = _scored_keys(self._distinguished(self.code, corpus))
        else:
            within = view.within_one(self.code, question.radius, question.recall, limit)
            pairs = [(key, distance, None) for distance, key in within]
        if self.texts:
            return self._tell([(key, None, distance, None) for key, distance, _ in pairs], corpus)
        ids = store.ids([key for key, _, _ in pairs])
        return [Match(ids[key], distance) for key, distance, _ in pairs]

    def _distinguished(self, code: bytes, corpus: CollectionCorpus) -> NearPairs:
        import numpy as np

        values = np.frombuffer(code, dtype="<u8").astype(np.uint64, copy=False)[None, :]
        queries = Queries([self.text], values, np.zeros((1, 0), dtype=np.uint8))
        return look_up(queries, corpus, self.question, self.recipe, self.limit)

    def _tell(self, found: Sequence[Hit], corpus: CollectionCorpus) -> list[Match[str]]:
        """Return the matches with what differs."""
        matches: list[Match[str]] = []
        for start in range(0, len(found), BATCH_PAIRS):
            part = found[start : start + BATCH_PAIRS]
            read = corpus.documents([key for key, document, _, _ in part if document is None])
            documents = [document or read[key] for key, document, _, _ in part]
            texts = [document.text for document in documents]
            told = zip(*negation_words().differences_one(self.text, texts), strict=True)
            matches += [
                Match(document.id, distance, similarity, aspect_names(differs), lost)
                for (_, _, distance, similarity), document, (differs, lost) in zip(
                    part, documents, told, strict=True
                )
            ]
        return matches


class BatchCheck:
    """A check of many texts; `texts_stored` says whether the collection stores texts."""

    def __init__(
        self,
        texts: list[str],
        recipe: Recipe,
        question: Question,
        limit: int | None,
        *,
        texts_stored: bool,
    ) -> None:
        self.texts = texts
        self.recipe = recipe
        self.question = question
        self.limit = limit
        self.texts_stored = texts_stored
        self.prepared: PreparedTexts = prepare(
            texts, recipe, sketches=question.similarity is not None
        )

    def matches(self, view: Snapshot, store: Store) -> pa.Table:
        """Return the documents near each text: query, id, distance, similarity, differs, lost."""
        import numpy as np
        import pyarrow as pa

        from neardup._util.arrow import number_array

        prepared, texts, limit = self.prepared, self.texts, self.limit
        with_signal = np.flatnonzero(prepared.signal)
        queries = Queries([texts[at] for at in with_signal.tolist()], *prepared.of(with_signal))
        corpus = CollectionCorpus(view, store)
        found = look_up(queries, corpus, self.question, self.recipe, limit)
        names = store.ids(np.unique(found.keys).tolist())
        ids = [names[key] for key in found.keys.tolist()]
        unknown = np.full(len(ids), -1)
        differs, lost = unknown, unknown
        if self.texts_stored:
            differs, lost = differences(queries.texts, corpus.documents, found.queries, found.keys)
        similarities = found.similarities
        if similarities is None:
            similarities = np.full(len(ids), np.nan)
        columns = [with_signal[found.queries], found.distances, similarities, differs, lost]
        equals = [
            (at, match.id)
            for at in np.flatnonzero(~prepared.signal).tolist()
            for match in _equal_texts(store, texts[at], limit)
        ]
        if equals:
            ids += [id_ for _, id_ in equals]
            more = [np.array([at for at, _ in equals])]
            more += [np.full(len(equals), value) for value in (-1, 1.0, 0, 0)]
            columns = [np.concatenate(parts) for parts in zip(columns, more, strict=True)]
            order = np.argsort(columns[0], kind="stable")
            ids = [ids[at] for at in order.tolist()]
            columns = [column[order] for column in columns]
        rows, distances, similarities, differs, lost = columns
        aspects = pa.array([aspect_names(bits) for bits in range(1 << len(ASPECTS))])
        return pa.table(
            {
                "query": number_array(rows.astype(np.int64)),
                "id": pa.array(ids, pa.string()),
                "distance": number_array(distances.astype(np.int64), distances < 0),
                "similarity": number_array(similarities, np.isnan(similarities)),
                "differs": aspects.take(number_array(differs.astype(np.int64), differs < 0)),
                "lost": number_array(lost.astype(np.int64), lost < 0),
            }
        )


def _equal_texts(store: Store, text: str, limit: int | None) -> list[Match[str]]:
    """Return the documents equal to a text without a signal, which is near no others."""
    digest = text_digest(text, check_unicode(text, "the text").encode())
    rows = [] if digest is None else store.by_digest(digest, limit)
    return [Match(row.id, None, 1.0, "", 0) for row in rows]


class RankedSearch:
    """A search of some queries, to be run once or repeated.

    one_query  whether the table has no column `query`
    """

    def __init__(
        self,
        texts: list[str],
        recipe: Recipe,
        request: RankingRequest,
        postings: Postings,
        *,
        one_query: bool,
        threads: int | None,
    ) -> None:
        self.texts = [check_unicode(text, "the query") for text in texts]
        self.recipe = recipe
        self.request = request
        self.postings = postings
        self.one_query = one_query
        self.threads = threads

    def table(self, view: Snapshot, store: Store) -> pa.Table:
        """Return the most similar documents of each query: (query,) id, score, distance."""
        if self.request.by == "simhash":
            return self._table(_RankedCollection(view, store, self.recipe, None))
        return self.postings.run_search(
            store, lambda index: self._table(_RankedCollection(view, store, self.recipe, index))
        )

    def _table(self, documents: _RankedCollection) -> pa.Table:
        import numpy as np
        import pyarrow as pa

        found = rank(self.texts, documents, self.request, self.recipe, threads=self.threads)
        names = documents.store.ids(np.unique(found.keys).tolist())
        ids = pa.array([names[key] for key in found.keys.tolist()], pa.string())
        return found.table(ids, one=self.one_query)


class _RankedCollection:
    """A collection as the corpus of `near.ranking`; `index` is None for a search by simhash."""

    def __init__(
        self, view: Snapshot, store: Store, recipe: Recipe, index: _core.TermIndex | None
    ) -> None:
        self.view = view
        self.store = store
        self.recipe = recipe
        self.index = index

    def alike(
        self, texts: Sequence[str], request: RankingRequest, threads: int | None
    ) -> RankedPairs:
        assert self.index is not None  # noqa: S101
        return RankedPairs(
            *self.index.search(
                self.recipe.pipeline, texts, request.n, request.least, request.idf, threads
            )
        )

    def nearest(self, values: NDArray[np.uint64], n: int) -> RankedPairs:
        return RankedPairs(*self.view.within(values, self.recipe.bits, 1.0, n))

    def equal(self, text: str, n: int) -> Sequence[int]:
        digest = text_digest(text, text.encode())
        rows = [] if digest is None else self.store.by_digest(digest, n)
        return [row.key for row in rows]

    def fingerprints(self, keys: Sequence[int]) -> Fingerprints:
        import numpy as np

        width, words = self.recipe.bits // 8, (self.recipe.bits + 63) // 64
        rows = self.store.by_keys(keys)
        values = np.zeros((len(keys), words * 8), dtype=np.uint8)
        signal = np.zeros(len(keys), dtype=bool)
        for at, key in enumerate(keys):
            code = rows[key].fingerprint
            if code is not None:
                values[at, :width] = np.frombuffer(code, dtype=np.uint8)
                signal[at] = True
        return Fingerprints(values.view("<u8").astype(np.uint64, copy=False), signal, self.recipe)


# A match: sort key (negative similarity, distance, key; lower is better), id, distance, similarity.
BestMatch = tuple[tuple[float, float, int], str, int | None, float | None]
# Key, distance, similarity.
ScoredKey = tuple[int, int, float | None]
# Matches looked up at first. One would do, if no document of the batch replaced it.
FIRST_MATCHES = 2
# Of equally near documents the first stored one wins: positions in a batch rank after all keys.
FIRST_POSITION = 1 << 62


def decide_outcomes(
    batch: PreparedBatch,
    view: Snapshot,
    store: Store,
    known: Mapping[str, StoredRow],
    question: Question,
) -> list[Outcome]:
    """Decide for each document of a batch: added, updated or duplicate.

    The result is as if they were added one by one: each is compared with all documents stored so
    far, except the one that it would replace.
    """
    judge = _OutcomeJudge(batch, view, store, known, question)
    return judge.tell([judge.outcome(at) for at in range(len(batch))])


class AcceptedDocuments:
    """The accepted documents of a batch, as a corpus for lookups of the later ones. Its keys are
    positions in the batch."""

    def __init__(self, batch: PreparedBatch, question: Question) -> None:
        self.batch = batch
        # Only the index that the question needs.
        self.codes = self.sketches = None
        if question.similarity is None:
            self.codes = _core.Index(batch.recipe.bits, None)
        else:
            self.sketches = new_index(batch.recipe)

    def add(self, at: int) -> None:
        import numpy as np

        prepared, key = self.batch.prepared, np.array([at])
        if self.codes is not None:
            self.codes.add(prepared.values[at : at + 1], key, None, 1, None, None)
        if self.sketches is not None:
            self.sketches.add(prepared.sketches[at : at + 1], key)

    def within(
        self, values: NDArray[np.uint64], radius: int, recall: float, limit: int | None
    ) -> Candidates:
        assert self.codes is not None  # noqa: S101
        if limit is None or recall < 1:
            return _candidates(*self.codes.search(values, (radius, recall, None), None, None))
        return _candidates(*self.codes.nearest(values, limit, radius, None, None))

    def candidates(
        self, sketches: NDArray[np.uint8], similarity: float, recall: float, limit: int | None
    ) -> Candidates:
        assert self.sketches is not None  # noqa: S101
        question = (similarity, recall)
        return _candidates(*_core.search_sketches([self.sketches], sketches, question, limit, None))

    def candidates_of_one(
        self, sketch: bytes, similarity: float, recall: float, limit: int | None
    ) -> list[tuple[int, int]]:
        assert self.sketches is not None  # noqa: S101
        return _core.search_sketch([self.sketches], sketch, (similarity, recall), limit)

    def documents(self, keys: Sequence[int]) -> dict[int, CorpusDocument]:
        (ids, texts, _), codes = self.batch.documents, self.batch.codes
        return {at: CorpusDocument(texts[at], codes[at] or b"", ids[at]) for at in keys}


def _candidates(queries: object, keys: object, measure: object) -> Candidates:
    import numpy as np

    return Candidates(*(np.asarray(column, dtype=np.int64) for column in (queries, keys, measure)))


def _scored_keys(found: NearPairs) -> list[ScoredKey]:
    keys, distances = found.keys.tolist(), found.distances.tolist()
    if found.similarities is None:
        return [(key, distance, None) for key, distance in zip(keys, distances, strict=True)]
    return list(zip(keys, distances, found.similarities.tolist(), strict=True))


class _OutcomeJudge:
    """Decides the outcomes of a batch, in order.

    replaced  keys of stored documents that this batch has updated so far
    digests   positions of accepted documents without a signal, by digest
    pairs     the first matches of each document among the stored ones, by position
    best      the key of the best match of each duplicate with a signal, by position
    """

    def __init__(
        self,
        batch: PreparedBatch,
        view: Snapshot,
        store: Store,
        known: Mapping[str, StoredRow],
        question: Question,
    ) -> None:
        import numpy as np

        self.batch = batch
        self.store = store
        self.stored = CollectionCorpus(view, store)
        self.known = known
        self.question = question
        self.replaced: set[int] = set()
        self.digests: dict[bytes, int] = {}
        self.best: dict[int, int] = {}
        self.accepted = AcceptedDocuments(batch, question)
        rows = np.flatnonzero(batch.prepared.signal)
        found = look_up(self._queries(rows), self.stored, question, batch.recipe, FIRST_MATCHES)
        self.pairs: dict[int, list[ScoredKey]] = {}
        for row, pair in zip(rows[found.queries].tolist(), _scored_keys(found), strict=True):
            self.pairs.setdefault(row, []).append(pair)

    def _queries(self, rows: NDArray[np.int64]) -> Queries:
        texts = self.batch.documents.texts
        return Queries([texts[at] for at in rows.tolist()], *self.batch.prepared.of(rows))

    def outcome(self, at: int) -> Outcome:
        id_ = self.batch.documents.ids[at]
        old = self.known.get(id_)
        matches = [self._best_stored(at, old), self._best_accepted(at)]
        best = min((match for match in matches if match is not None), default=None)
        if best is not None:
            if best[2] is None:
                return Outcome(id_, "duplicate", *best[1:], "", 0)
            self.best[at] = best[0][2]
            return Outcome(id_, "duplicate", *best[1:])
        self._accept(at)
        if old is None:
            return Outcome(id_, "added")
        self.replaced.add(old.key)
        return Outcome(id_, "updated")

    def tell(self, outcomes: list[Outcome]) -> list[Outcome]:
        """Return the outcomes with what differs between duplicates and their best matches."""
        import numpy as np

        if not self.batch.texts or not self.best:
            return outcomes
        texts, rows = self.batch.documents.texts, [*self.best]
        keys = np.array([*self.best.values()])
        told = differences(texts, self._documents, np.array(rows), keys)
        for at, differs, lost in zip(rows, *(column.tolist() for column in told), strict=True):
            outcomes[at] = outcomes[at]._replace(differs=aspect_names(differs), lost=lost)
        return outcomes

    def _documents(self, keys: Sequence[int]) -> dict[int, CorpusDocument]:
        stored = [key for key in keys if key < FIRST_POSITION]
        accepted = self.accepted.documents(
            [x - FIRST_POSITION for x in keys if x >= FIRST_POSITION]
        )
        found = {FIRST_POSITION + at: document for at, document in accepted.items()}
        return {**self.stored.documents(stored), **found}

    def _accept(self, at: int) -> None:
        digest = self.batch.digests.get(at)
        if self.batch.codes[at] is not None:
            self.accepted.add(at)
        elif digest is not None:
            self.digests.setdefault(digest, at)

    def _best_stored(self, at: int, old: StoredRow | None) -> BestMatch | None:
        """Return the best match among the documents stored before this batch."""
        import numpy as np

        excluded = self.replaced if old is None else {*self.replaced, old.key}
        digest = self.batch.digests.get(at)
        if digest is not None:
            for row in self.store.by_digest(digest, 1 + len(excluded)):
                if row.key not in excluded:
                    return (-1.0, 0, row.key), row.id, None, 1.0
        pairs, limit = self.pairs.get(at, []), FIRST_MATCHES
        while True:
            for key, distance, similarity in pairs:
                if key not in excluded:
                    id_ = self.store.ids([key])[key]
                    return (-(similarity or 0.0), distance, key), id_, distance, similarity
            if len(pairs) < limit:
                return None
            limit *= 2
            queries, recipe = self._queries(np.array([at])), self.batch.recipe
            pairs = _scored_keys(look_up(queries, self.stored, self.question, recipe, limit))

    def _best_accepted(self, at: int) -> BestMatch | None:
        """Return the best match among the accepted documents of this batch."""
        import numpy as np

        ids = self.batch.documents.ids
        if self.batch.codes[at] is None:
            digest = self.batch.digests.get(at)
            first = None if digest is None else self.digests.get(digest)
            return (
                None
                if first is None
                else ((-1.0, 0, FIRST_POSITION + first), ids[first], None, 1.0)
            )
        recipe = self.batch.recipe
        if self.question.similarity is not None:
            text, sketch = (
                self.batch.documents.texts[at],
                self.batch.prepared.sketches[at].tobytes(),
            )
            for found in look_up_one(text, sketch, self.accepted, self.question, recipe, 1):
                closeness = (-found.similarity, found.distance, FIRST_POSITION + found.key)
                return closeness, ids[found.key], found.distance, found.similarity
            return None
        queries = self._queries(np.array([at]))
        for row, distance, _ in _scored_keys(
            look_up(queries, self.accepted, self.question, recipe, 1)
        ):
            return (0.0, distance, FIRST_POSITION + row), ids[row], distance, None
        return None
