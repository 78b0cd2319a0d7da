"""Records that have no id of their own and go by their place, which is said once a file."""

from __future__ import annotations

from neardup.files.reading.batch import Batch, Task
from neardup.files.reading.document import name_of
from neardup.files.reading.records import DEFAULT_ID


class Places:
    """Counts them. A file where no record has an id, and none was named, is as one expects."""

    def __init__(self, task: Task, unit: str = "line") -> None:
        """unit  what places are counted in"""
        self._task = task
        self._unit = unit
        self._source = name_of(task.path)
        self._records = 0
        self._count = 0
        self._first = 0

    def see(self, batch: Batch) -> None:
        """Take note of some more records."""
        import pyarrow.compute as pc

        unnamed = pc.starts_with(batch.ids, f"{self._source}:")
        if count := unnamed.true_count:
            if not self._count:
                # Not by its own `index`, which imports pandas where it is installed.
                self._first = int(batch.lines[unnamed.to_pylist().index(True)])
            self._count += count
        self._records += len(batch.ids)

    def tell(self) -> None:
        """What was done instead, if ids could be expected."""
        name, odd = self._task.reading.id_column or DEFAULT_ID, self._task.odd_ids
        if odd.count:
            self._task.note(
                f"{self._source}: column {name!r} holds {odd.kind} in {_records(odd.count)}, first "
                f"at {self._unit} {odd.first}, which is no id; they go by file:{self._unit}"
            )
        elif 0 < self._count < self._records:
            self._task.note(
                f"{self._source}: {self._count:,} of {_records(self._records)} have no id in "
                f"column {name!r}, first at {self._unit} {self._first}; they go by "
                f"file:{self._unit}"
            )


def _records(count: int) -> str:
    return f"{count:,} record{'' if count == 1 else 's'}"
