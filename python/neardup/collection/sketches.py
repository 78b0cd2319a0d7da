"""Sketches of documents that are not in a segment file: read from the database, or computed from
the texts.

The database has the sketches of documents after the last segment, so that a collection opens
quickly. Missing or damaged sketches are computed again from the texts.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING

from neardup import _core
from neardup.collection.schema import StoredRow, unpack_text
from neardup.near.question import DEFAULT_RECALL
from neardup.text.comparison import DEFAULT_SIMILARITY

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    from neardup.collection.store import Store
    from neardup.text.recipe import Recipe

    Keys = NDArray[np.int64]
    SketchRows = NDArray[np.uint8]

# Texts held in memory at a time.
BATCH_TEXTS = 128


def new_index(recipe: Recipe) -> _core.SketchIndex:
    """Return an empty index of sketches, with hash tables for the default similarity and recall."""
    return _core.SketchIndex(DEFAULT_SIMILARITY, DEFAULT_RECALL, recipe.identity)


def open_index(path: Path) -> _core.SketchIndex:
    """Open the file of an index; if it has fewer tables than a new one, searches build the rest."""
    return _core.SketchIndex.open(str(path), DEFAULT_SIMILARITY, DEFAULT_RECALL)


def stored_sketches(store: Store, recipe: Recipe, keys: Keys) -> SketchRows:
    """Return the sketches of documents with a fingerprint, given by their keys in ascending order.
    They are computed from the texts where the database has none."""
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
        batch = rest[at : at + BATCH_TEXTS]
        found = store.by_keys(keys[batch].tolist(), with_text=True)
        rows[batch] = compute_sketches([found[key] for key in keys[batch].tolist()], recipe)
    return rows


def sketches_from_texts(
    store: Store, recipe: Recipe, first: int, last: int
) -> Iterator[tuple[Keys, SketchRows]]:
    """Yield keys of a range and their sketches, computed from the texts."""
    import numpy as np

    rows = (row for row in store.scan(first, last) if row.fingerprint is not None)
    while batch := list(islice(rows, BATCH_TEXTS)):
        store.yield_turn()
        yield np.array([row.key for row in batch], dtype=np.int64), compute_sketches(batch, recipe)


def compute_sketches(rows: list[StoredRow], recipe: Recipe) -> SketchRows:
    """Return the sketches of rows, computed from their texts."""
    texts = [unpack_text(row.text) or "" for row in rows]
    return recipe.pipeline.sketched(texts, None)[2]
