"""Documents → for each of them those that share a run with it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import islice
from operator import le
from typing import TYPE_CHECKING, Any, NamedTuple

from neardup.copying.documents import CheckedDocument, documents_of, given, parts_of
from neardup.copying.runs import RunIndex, Runs

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# Of what is compared with so many documents are looked at together.
AT_ONCE = 1000


class CopyCandidates(NamedTuple):
    """Who may be a source of whom.

    others  documents that may be sources; of documents among themselves all of them
    rows    for each checked document its candidates, as places in `others`, in order
    itself  ids of checked documents for which something was taken that is no source of them
    """

    others: Sequence[CheckedDocument]
    rows: list[NDArray[np.int64]]
    itself: tuple[str, ...] = ()

    @property
    def pairs(self) -> int:
        return sum(map(len, self.rows))


def among(
    checked: Sequence[CheckedDocument],
    minimum: tuple[int, int],
    template: Sequence[str],
    threads: int | None,
) -> CopyCandidates:
    """Documents compared with each other."""
    import numpy as np

    texts = [document.text for document in checked]
    runs = Runs(texts, minimum, threads=threads, without=template)
    found: list[NDArray[np.int64]] = []
    for start in range(0, len(texts), AT_ONCE):
        places, rows = runs.shared(texts[start : start + AT_ONCE])
        size = min(AT_ONCE, len(texts) - start)
        each = np.split(rows, np.searchsorted(places, np.arange(1, size)))
        found += [part[part != start + at] for at, part in enumerate(each)]
    for row, document in enumerate(checked):
        if document.record is not None:
            # A file may be named twice.
            other = [at for at in found[row].tolist() if not checked[at].is_record(document)]
            if len(other) < len(found[row]):
                found[row] = np.array(other, np.int64)
    return CopyCandidates(checked, found)


def against(
    checked: Sequence[CheckedDocument],
    corpus: Iterable[Any],
    minimum: tuple[int, int],
    template: Sequence[str],
    exclude: frozenset[str],
    threads: int | None,
) -> CopyCandidates:
    """Documents compared with a corpus, which is read once."""
    import numpy as np

    texts = [document.text for document in checked]
    made = partial(Runs, texts, threads=threads, without=template)
    runs = made(minimum)
    found: list[list[int]] = [[] for _ in checked]
    itself: list[str] = []
    others = _Others(texts)
    for part in parts_of("against", corpus):
        pairs: Iterable[tuple[int, int, CheckedDocument]]
        if not isinstance(part, RunIndex):
            pairs = _sharing(runs, part)
        elif all(map(le, part.runs_minimum, minimum)):
            # Whoever has a longer passage in common has a shorter one in common.
            hashes = made(part.runs_minimum).each()
            pairs = ((row, -1, given("against", row, x)) for row, x in part.sharing(hashes))
        else:
            pairs = _sharing(runs, documents_of("against", part.documents()))
        others.begin()
        for row, place, other in pairs:
            document = checked[row]
            if other.id in exclude or other.is_record(document):
                continue
            if other.is_taken_for(document):
                itself.append(document.id)
            else:
                found[row].append(others.place(place, other))
    rows = [np.array(places, np.int64) for places in found]
    return CopyCandidates(others.each, rows, tuple(itself))


class _Others:
    """Documents that are met again and again, each kept once, and equal texts once."""

    def __init__(self, texts: Iterable[str]) -> None:
        self.each: list[CheckedDocument] = []
        self._texts = {text: text for text in texts}
        self._places: dict[object, int] = {}

    def begin(self) -> None:
        """A new part of the corpus: what is called the same there is another document."""
        self._places = {}

    def place(self, place: int, other: CheckedDocument) -> int:
        """Where it is kept. `place`: which it is of this part; -1 if nobody knows, and then the id
        says it, which a collection has only once."""
        key: object = place if place >= 0 else other[:2]
        at = self._places.get(key)
        if at is None:
            at = self._places[key] = len(self.each)
            text = self._texts.setdefault(other.text, other.text)
            self.each.append(other._replace(text=text))
            if place < 0:
                # A key that holds another copy of the text would keep it.
                del self._places[key]
                self._places[other.id, text] = at
        return at


def _sharing(
    runs: Runs, others: Iterable[CheckedDocument]
) -> Iterator[tuple[int, int, CheckedDocument]]:
    """Rows of the runs and who shares one with them: its place, and itself."""
    source, start = iter(others), 0
    while batch := list(islice(source, AT_ONCE)):
        places, rows = runs.shared([document.text for document in batch])
        for place, row in zip(places.tolist(), rows.tolist(), strict=True):
            yield row, start + place, batch[place]
        start += len(batch)
