"""The sketches of documents, read from the database or computed from the texts again.

Sketches of documents after the last segment are in the database, so that a collection opens
quickly. All others are in segments; if one is lost, its sketches are computed from the texts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from neardup import _core
from neardup.collection.schema import StoredRow, unpack_text
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
BATCH_TEXTS = 128


def new_index(recipe: Recipe) -> _core.SketchIndex:
    """Return an empty index, with tables for the default similarity and recall."""
    return _core.SketchIndex(DEFAULT_SIMILARITY, DEFAULT_RECALL, recipe.identity)


def stored_sketches(store: Store, recipe: Recipe, keys: Keys) -> Rows:
    """Return the sketches of documents with a fingerprint, for ascending keys."""
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
    for at in range(0, len(rest), BATCH_TEXTS):
        some = rest[at : at + BATCH_TEXTS]
        found = store.by_keys(keys[some].tolist(), whole=True)
        rows[some] = compute_sketches([found[key] for key in keys[some].tolist()], recipe)
    return rows


def sketches_from_texts(
    store: Store, recipe: Recipe, first: int, last: int
) -> Iterator[tuple[Keys, Rows]]:
    """Yield keys of a range and their sketches, computed from the texts."""
    import numpy as np

    rows = (row for row in store.scan(first, last) if row.fingerprint is not None)
    while some := list(islice(rows, BATCH_TEXTS)):
        store.yield_turn()
        yield np.array([row.key for row in some], dtype=np.int64), compute_sketches(some, recipe)


def compute_sketches(rows: list[StoredRow], recipe: Recipe) -> Rows:
    texts = [unpack_text(row.text) or "" for row in rows]
    return recipe.pipeline.sketched(texts, None)[2]


if TYPE_CHECKING:
    Piece = tuple[NDArray[np.int64], NDArray[np.uint64]]

# Fingerprints kept, and arrays they are in before these are concatenated.
MAX_RECENT, MAX_PIECES = 1 << 20, 256


class RecentFingerprints:
    """The fingerprints added from key `first` on, and the keys removed since: kept in memory by a
    writer, so that merging segments need not read them from the database."""

    def __init__(self) -> None:
        self.keep_from(1)

    def keep_from(self, key: int) -> None:
        """Drop everything, and keep what is added from this key on."""
        self.first = key
        self.pieces: list[Piece] = []
        self.gone: list[int] = []
        self._count = 0

    def add(self, keys: NDArray[np.int64], values: NDArray[np.uint64]) -> None:
        self.pieces.append((keys, values))
        self._count += len(keys)
        if self._count > MAX_RECENT:
            self.keep_from(int(keys[-1]) + 1)
        elif len(self.pieces) > MAX_PIECES:
            import numpy as np

            every = list(zip(*self.pieces, strict=True))
            self.pieces = [(np.concatenate(every[0]), np.concatenate(every[1]))]

    def remove(self, keys: Sequence[int]) -> None:
        self.gone += keys

    def range(self, first: int, last: int) -> Iterator[Piece]:
        """Yield keys and fingerprints of a range, including removed ones."""
        for keys, values in self.pieces:
            inside = (keys >= first) & (keys <= last)
            if inside.any():
                yield keys[inside], values[inside]
