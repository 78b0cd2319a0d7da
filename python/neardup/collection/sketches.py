"""The sketches of documents: as they were stored, or made from the texts again.

Those of the documents after the last segment are in the database, so that they are there at once
when a collection is opened. All others are in the segments; where one is lost the texts are read.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from neardup import _core
from neardup.collection.schema import StoredRow, unpacked
from neardup.near.question import DEFAULT_RECALL
from neardup.text.comparison import DEFAULT_SIMILARITY

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from neardup.collection.store import Store
    from neardup.text.recipe import Recipe

    Keys = NDArray[np.int64]
    Rows = NDArray[np.uint8]

# Texts in memory at a time.
TEXTS = 128


def new_index(recipe: Recipe) -> _core.SketchIndex:
    """An empty one; the usual question is the one it answers by tables."""
    return _core.SketchIndex(DEFAULT_SIMILARITY, DEFAULT_RECALL, recipe.identity)


def stored(store: Store, recipe: Recipe, keys: Keys) -> Rows:
    """The sketches of documents that have a fingerprint, by their keys in ascending order."""
    import numpy as np

    rows = np.zeros((len(keys), _core.SKETCH_BYTES), dtype=np.uint8)
    missing = np.ones(len(keys), dtype=bool)
    if not len(keys):
        return rows
    for first, data in store.sketches(int(keys[0]), int(keys[-1])):
        block = np.frombuffer(
            data[: len(data) // _core.SKETCH_BYTES * _core.SKETCH_BYTES], dtype=np.uint8
        )
        block = block.reshape(-1, _core.SKETCH_BYTES)
        start, end = np.searchsorted(keys, (first, first + len(block)))
        rows[start:end] = block[keys[start:end] - first]
        missing[start:end] = False
    rest = np.flatnonzero(missing)
    for at in range(0, len(rest), TEXTS):
        some = rest[at : at + TEXTS]
        found = store.by_keys(keys[some].tolist(), whole=True)
        rows[some] = made([found[key] for key in keys[some].tolist()], recipe)
    return rows


def from_texts(store: Store, recipe: Recipe, first: int, last: int) -> Iterator[tuple[Keys, Rows]]:
    """Keys of a range and sketches, all made from the texts."""
    import numpy as np

    rows = (row for row in store.scan(first, last) if row.fingerprint is not None)
    while some := list(islice(rows, TEXTS)):
        store.breathe()
        yield np.array([row.key for row in some], dtype=np.int64), made(some, recipe)


def made(rows: list[StoredRow], recipe: Recipe) -> Rows:
    texts = [unpacked(row.text) or "" for row in rows]
    return recipe.pipeline.sketched(texts, None)[2]


# Fingerprints a writer keeps in memory, so that merging segments need not read them again.

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Piece = tuple[NDArray[np.int64], NDArray[np.uint64]]

# So many are kept, in so many pieces before they are put together.
RECENT, PIECES = 1 << 20, 256


class Recent:
    """The fingerprints of all keys from `first` on that were added, and which keys were removed."""

    def __init__(self) -> None:
        self.keep_from(1)

    def keep_from(self, key: int) -> None:
        """Forgets all, and keeps those from this key on."""
        self.first = key
        self.pieces: list[Piece] = []
        self.gone: list[int] = []
        self._count = 0

    def add(self, keys: NDArray[np.int64], values: NDArray[np.uint64]) -> None:
        self.pieces.append((keys, values))
        self._count += len(keys)
        if self._count > RECENT:
            self.keep_from(int(keys[-1]) + 1)
        elif len(self.pieces) > PIECES:
            import numpy as np

            every = list(zip(*self.pieces, strict=True))
            self.pieces = [(np.concatenate(every[0]), np.concatenate(every[1]))]

    def remove(self, keys: Sequence[int]) -> None:
        self.gone += keys

    def range(self, first: int, last: int) -> Iterator[Piece]:
        """Keys and fingerprints of a range that is kept, with those that were removed."""
        for keys, values in self.pieces:
            inside = (keys >= first) & (keys <= last)
            if inside.any():
                yield keys[inside], values[inside]
