"""Texts → fingerprints and sketches."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from neardup import _core

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from neardup.text.recipe import Recipe


class Prepared(NamedTuple):
    """A row for each text; sketches have none where they were not wanted."""

    values: NDArray[np.uint64]
    signal: NDArray[np.bool_]
    sketches: NDArray[np.uint8]

    def of(self, rows: NDArray[np.int64]) -> tuple[NDArray[np.uint64], NDArray[np.uint8]]:
        """Fingerprints and sketches of some."""
        sketches = self.sketches[rows] if len(self.sketches) else self.sketches
        return self.values[rows], sketches


def prepared(texts: list[str], recipe: Recipe, *, sketches: bool) -> Prepared:
    """A single text is done at once, and not handed to other threads."""
    import numpy as np

    pipeline = recipe.pipeline
    if len(texts) != 1:
        if sketches:
            return Prepared(*pipeline.sketched(texts, None))
        return Prepared(
            *pipeline.fingerprints(texts, None, None), np.zeros((0, _core.SKETCH_BYTES), np.uint8)
        )
    found = pipeline.sketch(texts[0]) if sketches else None
    code = (None if found is None else found[0]) if sketches else pipeline.fingerprint(texts[0])
    if code is None:
        none = np.zeros((1, (recipe.bits + 63) // 64), dtype=np.uint64)
        rows = np.zeros((int(sketches), _core.SKETCH_BYTES), dtype=np.uint8)
        return Prepared(none, np.zeros(1, dtype=bool), rows)
    values = np.frombuffer(code, dtype="<u8").astype(np.uint64, copy=False)[None, :]
    sketch = b"" if found is None else found[1]
    rows = np.frombuffer(sketch, dtype=np.uint8).reshape(-1, _core.SKETCH_BYTES)
    return Prepared(values, np.ones(1, dtype=bool), rows)
