"""The column of authors: whether there is one, and which inputs lack it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

from neardup.files import reading as sources
from neardup.files.reading.batch import Reading
from neardup.files.reading.document import STDIN
from neardup.files.reading.records import DEFAULT_ID, columns_of
from neardup.jobs.options import NothingReadError

# Names in a note.
SHOWN = 3
# Documents of a collection that are looked at: an author is in all of them or in none.
SAMPLE = 1000


class Authors:
    """Sees who has an author.

    column  of the author; None: nobody asks
    """

    def __init__(self, column: str | None, reading: Reading) -> None:
        self._column = column
        self._reading = reading
        # Those that gave documents, and whether one of these has an author.
        self._seen: dict[str, bool] = {}

    def see(self, name: str, authors: Iterable[object]) -> None:
        """The authors of some documents of an input, None where there is none."""
        found = [author is not None for author in authors]
        if self._column is not None and found:
            self._seen[name] = self._seen.get(name, False) or any(found)

    def see_stored(self, name: str, documents: Iterator[Any]) -> None:
        """The documents of a collection."""
        if self._column is not None:
            some = islice(documents, SAMPLE)
            self.see(name, (found.metadata.get(self._column) for found in some))

    def check(self) -> None:
        """Refuses a column that nothing has of all that was seen."""
        if not self._seen or any(self._seen.values()):
            return
        there = self._columns()
        told = "the inputs have no columns" if there is None else f"there is {columns_of(there)}"
        raise NothingReadError(
            f"no column {self._column!r} ({told}), which --author-column names; nothing was written"
        )

    def lacking(self) -> str | None:
        """A sentence on the inputs without authors, if there are some."""
        names = [sources.name_of(name) for name, has in self._seen.items() if not has]
        if not names:
            return None
        shown = ", ".join(names[:SHOWN]) + (", …" if len(names) > SHOWN else "")
        inputs = "1 input" if len(names) == 1 else f"{len(names):,} inputs"
        return (
            f"no column {self._column!r} in {inputs}, whose texts count as those of others: {shown}"
        )

    def _columns(self) -> Sequence[str] | None:
        """The columns of the first record, None if the inputs are no records."""
        name = next(iter(self._seen))
        if name == STDIN:
            # It has been read.
            return None
        reading = replace(self._reading, others=True, key_column=None)
        for batch in sources.read_batches(name, reading, lambda _: None):
            if batch.others is None:
                return None
            taken = (reading.id_column or DEFAULT_ID, *reading.text_columns)
            return [*taken, *batch.others[0]]
        return None
