"""Records that have no id of their own and go by their place, which is said once a file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from neardup import _core
from neardup.files.reading.batch import Batch, Task
from neardup.files.reading.document import name_of
from neardup.files.reading.records import DEFAULT_ID

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray


class MissingIds:
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


# Ids that occur more than once, found in little memory.

REMEMBERED = 10_000_000


class DuplicateIds:
    """Counts ids seen before. Keeps 8 bytes an id, and those of the first ten million only."""

    def __init__(self) -> None:
        self.count = 0
        self.first: str | None = None
        self._kept = 0
        # Sorted, each less than half as long as the one before: few to search, cheap to merge.
        self._runs: list[NDArray[np.uint64]] = []

    def see(self, ids: pa.LargeStringArray) -> None:
        """Take note of some more ids."""
        import numpy as np

        if not len(ids):
            return
        _, offsets, data = ids.buffers()
        bounds = np.frombuffer(offsets, dtype=np.int64)[ids.offset : ids.offset + len(ids) + 1]
        hashes, places = np.unique(
            _core.stable_hashes(memoryview(data or b"").cast("B"), bounds), return_index=True
        )
        known = np.zeros(len(hashes), np.bool_)
        for run in self._runs:
            known |= run[np.searchsorted(run, hashes).clip(max=len(run) - 1)] == hashes
        repeated = np.ones(len(ids), np.bool_)
        repeated[places[~known]] = False
        self.count += int(repeated.sum())
        if self.first is None and self.count:
            self.first = ids[int(repeated.argmax())].as_py()
        self._keep(hashes[~known][: REMEMBERED - self._kept])

    def _keep(self, run: NDArray[np.uint64]) -> None:
        import numpy as np

        if not len(run):
            return
        self._kept += len(run)
        while self._runs and len(self._runs[-1]) <= 2 * len(run):
            run = np.sort(np.concatenate((self._runs.pop(), run)), kind="stable")
        self._runs.append(run)
