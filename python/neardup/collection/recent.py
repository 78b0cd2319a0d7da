"""Fingerprints a writer keeps in memory, so that merging segments need not read them again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

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
