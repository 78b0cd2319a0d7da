"""A batch that is to be added: made ready, and made into rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from neardup._util.strings import check_unicode
from neardup.collection.documents import Documents
from neardup.collection.precompute import prepared
from neardup.collection.rows import LEAST_PACKED, checksums, digest_of, packed

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from neardup.text.recipe import Recipe

    Coded = tuple[NDArray[np.int64], NDArray[np.uint64], NDArray[np.uint8] | None]


# Rows made before others get a turn, and texts packed.
AT_ONCE, PACKED_AT_ONCE = 1024, 16


class Batch:
    """Documents of different ids, their fingerprints, and their sketches where texts are kept."""

    def __init__(self, documents: Documents, recipe: Recipe, *, texts: bool) -> None:
        import numpy as np

        self.documents = documents
        self.recipe = recipe
        self.texts = texts
        try:
            self.data = [text.encode() for text in documents.texts]
            self.names = [id_.encode() for id_ in documents.ids]
        except UnicodeEncodeError:
            for at, (id_, text) in enumerate(zip(documents.ids, documents.texts, strict=True)):
                check_unicode(id_, f"the id of documents[{at}]")
                check_unicode(text, f"the text of documents[{at}]")
            raise
        self.made = prepared(documents.texts, recipe, sketches=texts)
        rows = self.made.values.astype("<u8", copy=False).tobytes()
        step, width = (recipe.bits + 63) // 64 * 8, recipe.bits // 8
        self.codes: list[bytes | None] = [rows[at : at + width] for at in range(0, len(rows), step)]
        # Of texts without a signal, by their place.
        self.digests: dict[int, bytes] = {}
        for at in np.flatnonzero(~self.made.signal).tolist():
            self.codes[at] = None
            digest = digest_of(documents.texts[at], self.data[at])
            if digest is not None:
                self.digests[at] = digest

    def __len__(self) -> int:
        return len(self.codes)

    def rows(
        self, chosen: list[int] | range, first: int, breathe: Callable[[], None]
    ) -> list[list[Any]]:
        """The chosen documents as columns of the store, in its order, with keys from `first` on.
        Calls `breathe` now and then, so that other threads can run."""
        ids, strings, metadata = self.documents
        columns: tuple[list[Any], ...]
        columns = (ids, self.names, self.codes, metadata, strings, self.data)
        if len(chosen) < len(self):
            columns = tuple([column[at] for at in chosen] for column in columns)
        ids, names, codes, metadata, strings, data = columns
        keys = list(range(first, first + len(ids)))
        stored: list[Any] = [None] * len(ids)
        if self.texts:
            stored, data = self._packed(strings, data, breathe)
        sums: list[int] = []
        for start in range(0, len(ids), AT_ONCE):
            part = slice(start, start + AT_ONCE)
            texts = data[part] if self.texts else None
            sums += checksums(keys[part], names[part], codes[part], metadata[part], texts)
            breathe()
        return [keys, ids, codes, sums, metadata, stored]

    @staticmethod
    def _packed(
        strings: list[str], data: list[bytes], breathe: Callable[[], None]
    ) -> tuple[list[str | bytes], list[bytes]]:
        """The texts as they are stored, and the bytes of that."""
        stored: list[str | bytes] = [*strings]
        data = [*data]
        for at, length in enumerate(map(len, data)):
            if length >= LEAST_PACKED:
                stored[at] = small = packed(strings[at], data[at])
                if type(small) is bytes:
                    data[at] = small
                if at % PACKED_AT_ONCE == 0:
                    breathe()
        return stored, data

    def digests_of(self, chosen: list[int] | range, first: int) -> list[tuple[int, bytes]]:
        """The digests of the chosen documents that have no signal, with the same keys."""
        if not self.digests:
            return []
        keys = enumerate(chosen, first)
        return [(key, self.digests[at]) for key, at in keys if at in self.digests]

    def sketches(self, chosen: list[int] | range) -> NDArray[np.uint8] | None:
        """The sketches of the chosen documents, where texts are kept."""
        if not self.texts:
            return None
        sketches = self.made.sketches
        return sketches if len(chosen) == len(self) else sketches[chosen]

    def coded(self, chosen: list[int] | range, first: int) -> Coded:
        """Keys, fingerprints and sketches of the chosen documents that have a signal."""
        import numpy as np

        places = np.asarray(chosen, dtype=np.int64)
        there = self.made.signal[places]
        values, sketches = self.made.of(places[there])
        return first + np.flatnonzero(there), values, sketches if self.texts else None
