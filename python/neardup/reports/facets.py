"""What kinds have in common: the values of a column, and which kinds have them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from neardup._util.arrow import strings, values_of

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    Rows = NDArray[np.int64]

# Values of a facet that can be chosen; the rest is one choice.
VALUES = 60
# The choice of all values that have none of their own.
OTHERS = -1


@dataclass(frozen=True)
class Facet:
    """A column to narrow the list of kinds by.

    values    the values that can be chosen
    kinds     how many kinds have each of them
    others    how many more values there are, and `other_kinds` the kinds that have one of these
    """

    name: str
    values: Sequence[str]
    kinds: Sequence[int]
    others: int = 0
    other_kinds: int = 0


@dataclass(frozen=True)
class Facets:
    """Facets, and for each kind the places of its values in them; OTHERS for any not there."""

    facets: Sequence[Facet] = ()
    of_kinds: Sequence[dict[str, tuple[int, ...]]] = field(default_factory=list)


class FacetColumns:
    """Gathers facets column by column.

    kinds  for each response the number of its kind, from 0; -1 for those that are not shown
    count  how many kinds are shown
    """

    def __init__(self, kinds: Rows, count: int) -> None:
        self._kinds = kinds
        self._facets: list[Facet] = []
        self._of_kinds: list[dict[str, tuple[int, ...]]] = [{} for _ in range(count)]

    def add(self, name: str, column: pa.Array | pa.ChunkedArray, most: int = VALUES) -> None:
        """A value for each response. Those of the most kinds come first, then of the most
        responses."""
        import pyarrow as pa
        import pyarrow.compute as pc

        text = pc.cast(column, pa.large_string())
        if text.null_count:
            text = pc.fill_null(text, "")
        coded = text.dictionary_encode()
        if isinstance(coded, pa.ChunkedArray):
            # The codes of all chunks are of one dictionary; texts are not copied.
            coded = coded.combine_chunks()
        codes = values_of(coded.indices)
        shown = self._kinds >= 0
        self._add(name, coded.dictionary, self._kinds[shown], codes[shown], most)

    def add_of_kinds(self, name: str, values: Sequence[str], most: int = VALUES) -> None:
        """A value for each kind that is shown."""
        import numpy as np

        coded = strings(values).dictionary_encode()
        of_kinds = values_of(coded.indices)
        shown = self._kinds[self._kinds >= 0]
        codes = of_kinds[shown] if len(of_kinds) else np.zeros(0, dtype=np.int64)
        self._add(name, coded.dictionary, shown, codes, most)

    def _add(
        self, name: str, dictionary: pa.Array, of: Rows, codes: NDArray[Any], most: int
    ) -> None:
        import numpy as np

        many = len(dictionary)
        responses = np.bincount(codes, minlength=many)
        # Each value of each kind once.
        pairs = np.unique(of * many + codes)
        kinds, values = np.divmod(pairs, max(many, 1))
        count = np.bincount(values, minlength=many)
        order = np.lexsort((np.arange(many), -responses, -count))
        order = order[count[order] > 0]
        chosen = order[:most]
        place = np.full(many, OTHERS, dtype=np.int64)
        place[chosen] = np.arange(len(chosen))
        places = place[values]
        self._facets.append(
            Facet(
                name,
                [dictionary[int(at)].as_py() for at in chosen],
                count[chosen].tolist(),
                len(order) - len(chosen),
                len(np.unique(kinds[places == OTHERS])),
            )
        )
        bounds = np.searchsorted(kinds, np.arange(len(self._of_kinds) + 1))
        for kind, found in enumerate(self._of_kinds):
            here = places[bounds[kind] : bounds[kind + 1]]
            found[name] = tuple(np.unique(here).tolist())

    def facets(self) -> Facets:
        return Facets(self._facets, self._of_kinds)
