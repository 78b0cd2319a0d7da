"""A collection as a corpus to look things up in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from neardup import _core
from neardup._util.strings import check_unicode
from neardup.collection.documents import Prepared, prepared
from neardup.collection.postings import Postings
from neardup.collection.schema import digest_of, unpacked
from neardup.collection.store import Store
from neardup.collection.view import Snapshot
from neardup.near.lookup import Candidates, CorpusDocument, Match, Queries, look_up, look_up_one
from neardup.near.question import Question
from neardup.near.ranking import RankedPairs, RankingRequest, rank
from neardup.text.fingerprint import Fingerprints

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from neardup.collection.view import Snapshot
    from neardup.text.recipe import Recipe


class CollectionCorpus:
    """What is in memory finds candidates, the store has their texts."""

    def __init__(self, view: Snapshot, store: Store) -> None:
        self.view = view
        self.store = store

    def within(
        self, values: NDArray[np.uint64], radius: int, recall: float, most: int | None
    ) -> Candidates:
        return self.view.within(values, radius, recall, most)

    def alike(
        self, sketches: NDArray[np.uint8], similarity: float, recall: float, most: int | None
    ) -> Candidates:
        return self.view.alike(sketches, similarity, recall, most)

    def alike_one(
        self, sketch: bytes, similarity: float, recall: float, most: int | None
    ) -> list[tuple[int, int]]:
        return self.view.alike_one(sketch, similarity, recall, most)

    def documents(self, keys: Sequence[int]) -> dict[int, CorpusDocument]:
        rows = self.store.by_keys(keys, whole=True)
        return {
            key: CorpusDocument(unpacked(row.text) or "", row.fingerprint or b"", row.id)
            for key, row in rows.items()
        }


# Texts → the documents of a collection that are near them.


class CheckingOne:
    """A text that was made ready once, to be looked up as often as it takes."""

    def __init__(self, text: str, recipe: Recipe, question: Question, most: int | None) -> None:
        self.text = text
        self.recipe = recipe
        self.question = question
        self.most = most
        pipeline = recipe.pipeline
        made = None if question.similarity is None else pipeline.sketch(text)
        self.sketch = None if made is None else made[1]
        self.code = pipeline.fingerprint(text) if question.similarity is None else None

    def matches(self, view: Snapshot, store: Store) -> list[Match[str]]:
        """The documents near it."""
        most = self.most
        if self.sketch is not None:
            corpus = CollectionCorpus(view, store)
            found = look_up_one(self.text, self.sketch, corpus, self.question, self.recipe, most)
            ids = store.ids([x.key for x in found if x.id is None])
            return [Match(x.id or ids[x.key], x.distance, x.similarity) for x in found]
        if self.code is None or self.question.radius is None:
            return _equals(store, self.text, most)
        pairs = view.within_one(self.code, self.question.radius, self.question.recall, most)
        ids = store.ids([key for _, key in pairs])
        return [Match(ids[key], distance, None) for distance, key in pairs]


class Checking:
    """Texts that were made ready once, to be looked up as often as it takes."""

    def __init__(
        self, texts: list[str], recipe: Recipe, question: Question, most: int | None
    ) -> None:
        self.texts = texts
        self.recipe = recipe
        self.question = question
        self.most = most
        self.made: Prepared = prepared(texts, recipe, sketches=question.similarity is not None)

    def matches(self, view: Snapshot, store: Store) -> pa.Table:
        """The documents near each text: query, id, distance, similarity."""
        import numpy as np
        import pyarrow as pa

        from neardup._util.arrow import number_array

        made, texts, most = self.made, self.texts, self.most
        coded = np.flatnonzero(made.signal)
        queries = Queries([texts[at] for at in coded.tolist()], *made.of(coded))
        found = look_up(queries, CollectionCorpus(view, store), self.question, self.recipe, most)
        names = store.ids(np.unique(found.keys).tolist())
        ids = [names[key] for key in found.keys.tolist()]
        rows, distances, similarities = coded[found.queries], found.distances, found.similarities
        if similarities is None:
            similarities = np.full(len(ids), np.nan)
        equals = [
            (at, match.id)
            for at in np.flatnonzero(~made.signal).tolist()
            for match in _equals(store, texts[at], most)
        ]
        if equals:
            ids += [id_ for _, id_ in equals]
            rows = np.concatenate((rows, [at for at, _ in equals]))
            distances = np.concatenate((distances, np.full(len(equals), -1)))
            similarities = np.concatenate((similarities, np.ones(len(equals))))
            order = np.argsort(rows, kind="stable")
            ids = [ids[at] for at in order.tolist()]
            rows, distances, similarities = rows[order], distances[order], similarities[order]
        return pa.table(
            {
                "query": number_array(rows.astype(np.int64)),
                "id": pa.array(ids, pa.string()),
                "distance": number_array(distances.astype(np.int64), distances < 0),
                "similarity": number_array(similarities, np.isnan(similarities)),
            }
        )


def _equals(store: Store, text: str, most: int | None) -> list[Match[str]]:
    """A text without a signal is near its equals only."""
    digest = digest_of(text, check_unicode(text, "the text").encode())
    rows = [] if digest is None else store.by_digest(digest, most)
    return [Match(row.id, None, 1.0) for row in rows]


# Texts → the documents of a collection that resemble them most.


class Searching:
    """Texts to be ranked for, as often as it takes."""

    def __init__(
        self,
        texts: list[str],
        recipe: Recipe,
        asked: RankingRequest,
        postings: Postings,
        *,
        one: bool,
        threads: int | None,
    ) -> None:
        self.texts = [check_unicode(text, "the query") for text in texts]
        self.recipe = recipe
        self.asked = asked
        self.postings = postings
        self.one = one
        self.threads = threads

    def found(self, view: Snapshot, store: Store) -> pa.Table:
        """The documents that resemble each text most: (query,) id, score, distance."""
        if self.asked.by == "simhash":
            return self._table(_Documents(view, store, self.recipe, None))
        return self.postings.ask(
            store, lambda index: self._table(_Documents(view, store, self.recipe, index))
        )

    def _table(self, documents: _Documents) -> pa.Table:
        import numpy as np
        import pyarrow as pa

        found = rank(self.texts, documents, self.asked, self.recipe, threads=self.threads)
        names = documents.store.ids(np.unique(found.keys).tolist())
        ids = pa.array([names[key] for key in found.keys.tolist()], pa.string())
        return found.table(ids, one=self.one)


class _Documents:
    """A collection as `near.ranking` sees it."""

    def __init__(
        self, view: Snapshot, store: Store, recipe: Recipe, index: _core.TermIndex | None
    ) -> None:
        self.view = view
        self.store = store
        self.recipe = recipe
        self.index = index

    def alike(
        self, texts: Sequence[str], asked: RankingRequest, threads: int | None
    ) -> RankedPairs:
        assert self.index is not None  # noqa: S101
        return RankedPairs(
            *self.index.search(
                self.recipe.pipeline, texts, asked.n, asked.least, asked.idf, threads
            )
        )

    def nearest(self, values: NDArray[np.uint64], n: int) -> RankedPairs:
        return RankedPairs(*self.view.within(values, self.recipe.bits, 1.0, n))

    def equal(self, text: str, n: int) -> Sequence[int]:
        digest = digest_of(text, text.encode())
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
