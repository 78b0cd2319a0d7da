"""Texts → the documents of a collection that resemble them most."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from neardup import _core
from neardup._util.strings import check_unicode
from neardup.collection.postings import Postings
from neardup.collection.rows import digest_of
from neardup.collection.store import Store
from neardup.collection.view import View
from neardup.near.ranking import Pairs, Wish, rank
from neardup.text.fingerprint import Fingerprints

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from neardup.text.recipe import Recipe


class Searching:
    """Texts to be ranked for, as often as it takes."""

    def __init__(
        self,
        texts: list[str],
        recipe: Recipe,
        asked: Wish,
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

    def found(self, view: View, store: Store) -> pa.Table:
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
        self, view: View, store: Store, recipe: Recipe, index: _core.TermIndex | None
    ) -> None:
        self.view = view
        self.store = store
        self.recipe = recipe
        self.index = index

    def alike(self, texts: Sequence[str], asked: Wish, threads: int | None) -> Pairs:
        assert self.index is not None  # noqa: S101
        return Pairs(
            *self.index.search(
                self.recipe.pipeline, texts, asked.n, asked.least, asked.idf, threads
            )
        )

    def nearest(self, values: NDArray[np.uint64], n: int) -> Pairs:
        return Pairs(*self.view.within(values, self.recipe.bits, 1.0, n))

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
