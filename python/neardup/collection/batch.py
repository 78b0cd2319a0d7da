"""A batch that is to be added: fingerprinted, judged, and made into rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from neardup import _core
from neardup.collection.documents import Documents
from neardup.collection.matching import Pairs, cosines, digest_of, near
from neardup.collection.results import Outcome
from neardup.collection.rows import LEAST_PACKED, Row, checksum, packed
from neardup.collection.store import Store
from neardup.unicode import check_unicode

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from neardup.collection.segments import Segments
    from neardup.recipe import Recipe
    from neardup.threshold import Threshold

# How good a match is (less is better: similarity, distance, age), whose it is, and how near.
Match = tuple[tuple[float, float, int], str, int | None, float | None]
# A key, its distance and its similarity.
Pair = tuple[int, int, float | None]
# Matches asked for at first: one is enough, unless this batch replaces it.
ASKED = 2


class Batch:
    """Documents and their fingerprints, of different ids."""

    def __init__(self, documents: Documents, recipe: Recipe) -> None:
        import numpy as np

        self.documents = documents
        self.recipe = recipe
        try:
            self.data = [text.encode() for text in documents.texts]
            self.names = [id_.encode() for id_ in documents.ids]
        except UnicodeEncodeError:
            for at, (id_, text) in enumerate(zip(documents.ids, documents.texts, strict=True)):
                check_unicode(id_, f"the id of documents[{at}]")
                check_unicode(text, f"the text of documents[{at}]")
            raise
        self.values: NDArray[np.uint64]
        self.signal: NDArray[np.bool_]
        self.values, self.signal = fingerprints_of(documents.texts, recipe)
        rows = self.values.astype("<u8", copy=False).tobytes()
        step, width = (recipe.bits + 63) // 64 * 8, recipe.bits // 8
        self.codes: list[bytes | None] = [rows[at : at + width] for at in range(0, len(rows), step)]
        # Of texts without a signal, by their place.
        self.digests: dict[int, bytes] = {}
        for at in np.flatnonzero(~self.signal).tolist():
            self.codes[at] = None
            digest = digest_of(documents.texts[at], self.data[at])
            if digest is not None:
                self.digests[at] = digest

    def __len__(self) -> int:
        return len(self.codes)

    def rows(self, chosen: list[int] | range, first: int, *, texts: bool) -> list[tuple[Any, ...]]:
        """The chosen documents as rows of the store, with keys from `first` on."""
        ids, strings, metadata = self.documents
        columns: tuple[list[Any], ...]
        columns = (ids, self.names, self.codes, metadata, strings, self.data)
        if len(chosen) < len(self):
            columns = tuple([column[at] for at in chosen] for column in columns)
        made = []
        for key, (id_, name, code, extra, text, data) in enumerate(
            zip(*columns, strict=True), first
        ):
            stored: str | bytes | None = text
            if not texts:
                stored = data = None
            elif len(data) >= LEAST_PACKED:
                stored = packed(text, data)
                data = stored if type(stored) is bytes else data
            sum_ = checksum(key, name, code, extra, data)
            made.append((key, id_, code, sum_, extra, stored))
        return made

    def digests_of(self, chosen: list[int] | range, first: int) -> list[tuple[int, bytes]]:
        """The digests of the chosen documents that have no signal, with the same keys."""
        if not self.digests:
            return []
        keys = enumerate(chosen, first)
        return [(key, self.digests[at]) for key, at in keys if at in self.digests]

    def coded(
        self, chosen: list[int] | range, first: int
    ) -> tuple[NDArray[np.int64], NDArray[np.uint64]]:
        """Keys and fingerprints of the chosen documents that have one."""
        import numpy as np

        places = np.asarray(chosen, dtype=np.int64)
        there = self.signal[places]
        return first + np.flatnonzero(there), self.values[places[there]]

    def judge(
        self, segments: Segments, known: Mapping[str, Row], wanted: Threshold
    ) -> list[Outcome]:
        """What becomes of each document if those near another are not stored.

        As if they were added one after the other: a document is compared with what is stored by
        then, and not with what it would replace itself.
        """
        judge = _Judge(self, segments, known, wanted)
        return [judge.outcome(at) for at in range(len(self))]


def fingerprints_of(
    texts: list[str], recipe: Recipe
) -> tuple[NDArray[np.uint64], NDArray[np.bool_]]:
    """Values and signal; a single text is done at once, and not handed to other threads."""
    if len(texts) != 1:
        return recipe.pipeline.fingerprints(texts, None, None)
    import numpy as np

    code = recipe.pipeline.fingerprint(texts[0])
    values = np.zeros((1, (recipe.bits + 63) // 64), dtype=np.uint64)
    if code is not None:
        values[0] = np.frombuffer(code, dtype="<u8")
    return values, np.array([code is not None])


def _listed(found: Pairs) -> list[Pair]:
    keys, distances = found.keys.tolist(), found.distances.tolist()
    if found.similarities is None:
        return [(key, distance, None) for key, distance in zip(keys, distances, strict=True)]
    return list(zip(keys, distances, found.similarities.tolist(), strict=True))


class _Judge:
    def __init__(
        self, batch: Batch, segments: Segments, known: Mapping[str, Row], wanted: Threshold
    ) -> None:
        import numpy as np

        self.batch = batch
        self.store: Store = segments.store
        self.known = known
        self.wanted = wanted
        self.segments = segments
        self.replaced: set[int] = set()
        self.digests: dict[bytes, int] = {}
        # Documents of this batch that are to be stored, by their place in it.
        self.taken = _core.Index(batch.recipe.bits, batch.recipe.identity)
        rows = np.flatnonzero(batch.signal)
        texts = [batch.documents.texts[at] for at in rows.tolist()]
        found = near(batch.values[rows], texts, segments, wanted, ASKED)
        self.pairs: dict[int, list[Pair]] = {}
        for row, pair in zip(rows[found.queries].tolist(), _listed(found), strict=True):
            self.pairs.setdefault(row, []).append(pair)

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
        import numpy as np

        batch = self.batch
        digest = batch.digests.get(at)
        if batch.codes[at] is not None:
            one = batch.values[at : at + 1]
            self.taken.add(one, np.array([at]), None, 1, batch.recipe.identity, None)
        elif digest is not None:
            self.digests.setdefault(digest, at)

    def _stored(self, at: int, old: Row | None) -> Match | None:
        """The best match among what was stored before this batch."""
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
                    row = self.store.by_keys([key])[key]
                    return (-(similarity or 0.0), distance, key), row.id, distance, similarity
            if len(pairs) < asked:
                return None
            asked *= 2
            values, text = self.batch.values[at : at + 1], self.batch.documents.texts[at]
            pairs = _listed(near(values, [text], self.segments, self.wanted, asked))

    def _taken(self, at: int) -> Match | None:
        """The best match among what this batch stores."""
        import numpy as np

        batch, wanted = self.batch, self.wanted
        ids, texts = batch.documents.ids, batch.documents.texts
        digest = batch.digests.get(at)
        # Later than all that was stored before.
        age = 1 << 62
        if batch.codes[at] is None:
            first = None if digest is None else self.digests.get(digest)
            return None if first is None else ((-1.0, 0, age + first), ids[first], None, 1.0)
        one = batch.values[at : at + 1]
        if wanted.similarity is None:
            _, rows, distances = self.taken.nearest(
                one, 1, wanted.radius, batch.recipe.identity, None
            )
            if not len(rows):
                return None
            row, distance = int(rows[0]), int(distances[0])
            return (0.0, distance, age + row), ids[row], distance, None
        reach = wanted.radius, 1.0, None
        _, rows, distances = self.taken.search(one, reach, batch.recipe.identity, None)
        if not len(rows):
            return None
        places = [int(row) for row in rows]
        others = [texts[row] for row in places]
        right = np.arange(1, len(others) + 1)
        found = cosines([texts[at], *others], np.zeros_like(right), right, batch.recipe)
        closeness = zip((-found).tolist(), distances.tolist(), places, strict=True)
        value, distance, row = min(closeness)
        if -value < wanted.similarity:
            return None
        return (value, distance, age + row), ids[row], distance, -value
