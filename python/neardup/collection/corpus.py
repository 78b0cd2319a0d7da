"""A collection as a corpus to look things up in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from neardup.collection.rows import unpacked
from neardup.collection.store import Store
from neardup.collection.view import View
from neardup.near.lookup import Candidates, Document

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Documents:
    """What is in memory finds candidates, the store has their texts."""

    def __init__(self, view: View, store: Store) -> None:
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

    def documents(self, keys: Sequence[int]) -> dict[int, Document]:
        rows = self.store.by_keys(keys, whole=True)
        return {
            key: Document(unpacked(row.text) or "", row.fingerprint or b"", row.id)
            for key, row in rows.items()
        }
