"""What becomes of each document of a batch if those near another are not stored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from neardup import _core
from neardup.collection.lookup import CollectionCorpus
from neardup.collection.results import Outcome
from neardup.collection.schema import StoredRow
from neardup.collection.sketches import new_index
from neardup.near.lookup import (
    CandidatePairs,
    Candidates,
    CorpusDocument,
    Queries,
    look_up,
    look_up_one,
)
from neardup.near.question import Question

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from neardup.collection.documents import PreparedBatch
    from neardup.collection.store import Store
    from neardup.collection.view import Snapshot

# How good a match is (less is better: similarity, distance, age), whose it is, and how near.
Best = tuple[tuple[float, float, int], str, int | None, float | None]
# A key, its distance and its similarity.
Pair = tuple[int, int, float | None]
# Matches asked for at first: one is enough, unless this batch replaces it.
ASKED = 2


def judge(
    batch: PreparedBatch,
    view: Snapshot,
    store: Store,
    known: Mapping[str, StoredRow],
    question: Question,
) -> list[Outcome]:
    """An outcome for each document.

    As if they were added one after the other: a document is compared with what is stored by then,
    and not with what it would replace itself.
    """
    judge = _Judge(batch, view, store, known, question)
    return [judge.outcome(at) for at in range(len(batch))]


class Taken:
    """The documents of a batch that are to be stored, by their places, as a corpus."""

    def __init__(self, batch: PreparedBatch, question: Question) -> None:
        self.batch = batch
        # Only what is asked for is kept.
        self.codes = self.sketches = None
        if question.similarity is None:
            self.codes = _core.Index(batch.recipe.bits, None)
        else:
            self.sketches = new_index(batch.recipe)

    def take(self, at: int) -> None:
        import numpy as np

        made, key = self.batch.made, np.array([at])
        if self.codes is not None:
            self.codes.add(made.values[at : at + 1], key, None, 1, None, None)
        if self.sketches is not None:
            self.sketches.add(made.sketches[at : at + 1], key)

    def within(
        self, values: NDArray[np.uint64], radius: int, recall: float, most: int | None
    ) -> Candidates:
        assert self.codes is not None  # noqa: S101
        if most is None or recall < 1:
            return _candidates(*self.codes.search(values, (radius, recall, None), None, None))
        return _candidates(*self.codes.nearest(values, most, radius, None, None))

    def alike(
        self, sketches: NDArray[np.uint8], similarity: float, recall: float, most: int | None
    ) -> Candidates:
        assert self.sketches is not None  # noqa: S101
        question = (similarity, recall)
        return _candidates(*_core.search_sketches([self.sketches], sketches, question, most, None))

    def alike_one(
        self, sketch: bytes, similarity: float, recall: float, most: int | None
    ) -> list[tuple[int, int]]:
        assert self.sketches is not None  # noqa: S101
        return _core.search_sketch([self.sketches], sketch, (similarity, recall), most)

    def documents(self, keys: Sequence[int]) -> dict[int, CorpusDocument]:
        (ids, texts, _), codes = self.batch.documents, self.batch.codes
        return {at: CorpusDocument(texts[at], codes[at] or b"", ids[at]) for at in keys}


def _candidates(queries: object, keys: object, measure: object) -> Candidates:
    import numpy as np

    return Candidates(*(np.asarray(column, dtype=np.int64) for column in (queries, keys, measure)))


def _listed(found: CandidatePairs) -> list[Pair]:
    keys, distances = found.keys.tolist(), found.distances.tolist()
    if found.similarities is None:
        return [(key, distance, None) for key, distance in zip(keys, distances, strict=True)]
    return list(zip(keys, distances, found.similarities.tolist(), strict=True))


class _Judge:
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
        self.taken = Taken(batch, question)
        rows = np.flatnonzero(batch.made.signal)
        found = look_up(self._queries(rows), self.stored, question, batch.recipe, ASKED)
        self.pairs: dict[int, list[Pair]] = {}
        for row, pair in zip(rows[found.queries].tolist(), _listed(found), strict=True):
            self.pairs.setdefault(row, []).append(pair)

    def _queries(self, rows: NDArray[np.int64]) -> Queries:
        texts = self.batch.documents.texts
        return Queries([texts[at] for at in rows.tolist()], *self.batch.made.of(rows))

    def outcome(self, at: int) -> Outcome:
        id_ = self.batch.documents.ids[at]
        old = self.known.get(id_)
        matches = [self._stored(at, old), self._taken(at)]
        best = min((match for match in matches if match is not None), default=None)
        if best is not None:
            return Outcome(id_, "duplicate", *best[1:])
        self._take(at)
        if old is None:
            return Outcome(id_, "added")
        self.replaced.add(old.key)
        return Outcome(id_, "updated")

    def _take(self, at: int) -> None:
        digest = self.batch.digests.get(at)
        if self.batch.codes[at] is not None:
            self.taken.take(at)
        elif digest is not None:
            self.digests.setdefault(digest, at)

    def _stored(self, at: int, old: StoredRow | None) -> Best | None:
        """The best match among what was stored before this batch."""
        import numpy as np

        out = self.replaced if old is None else {*self.replaced, old.key}
        digest = self.batch.digests.get(at)
        if digest is not None:
            for row in self.store.by_digest(digest, 1 + len(out)):
                if row.key not in out:
                    return (-1.0, 0, row.key), row.id, None, 1.0
        pairs, asked = self.pairs.get(at, []), ASKED
        while True:
            for key, distance, similarity in pairs:
                if key not in out:
                    id_ = self.store.ids([key])[key]
                    return (-(similarity or 0.0), distance, key), id_, distance, similarity
            if len(pairs) < asked:
                return None
            asked *= 2
            queries, recipe = self._queries(np.array([at])), self.batch.recipe
            pairs = _listed(look_up(queries, self.stored, self.question, recipe, asked))

    def _taken(self, at: int) -> Best | None:
        """The best match among what this batch stores."""
        import numpy as np

        ids = self.batch.documents.ids
        # Later than all that was stored before.
        age = 1 << 62
        if self.batch.codes[at] is None:
            digest = self.batch.digests.get(at)
            first = None if digest is None else self.digests.get(digest)
            return None if first is None else ((-1.0, 0, age + first), ids[first], None, 1.0)
        recipe = self.batch.recipe
        if self.question.similarity is not None:
            text, sketch = self.batch.documents.texts[at], self.batch.made.sketches[at].tobytes()
            for found in look_up_one(text, sketch, self.taken, self.question, recipe, 1):
                closeness = (-found.similarity, found.distance, age + found.key)
                return closeness, ids[found.key], found.distance, found.similarity
            return None
        queries = self._queries(np.array([at]))
        for row, distance, _ in _listed(look_up(queries, self.taken, self.question, recipe, 1)):
            return (0.0, distance, age + row), ids[row], distance, None
        return None
