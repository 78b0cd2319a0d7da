"""What is known of each response of a capture beside its view, on disk and mapped."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from neardup._util.arrow import numbers, values_of

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    Rows = NDArray[np.int64]

NUMBERS = ("status", "length")


class ResponseColumns:
    """The columns `FACTS` of responses, and perhaps one that responses are grouped by.

    batches  in the order of the rows; views of a mapped file
    """

    def __init__(self, batches: Sequence[pa.RecordBatch] = ()) -> None:
        self._batches = batches

    @classmethod
    def open(cls, path: Path) -> ResponseColumns:
        """Those of a file that `Spool` has written; none if there is no file."""
        import pyarrow as pa

        if not path.exists():
            return cls()
        # The file stays mapped as long as anybody holds a column of it.
        file = pa.ipc.open_file(pa.memory_map(str(path)))
        return cls([file.get_batch(at) for at in range(file.num_record_batches)])

    def __len__(self) -> int:
        return int(self._starts[-1])

    @cached_property
    def _starts(self) -> Rows:
        import numpy as np

        sizes = [batch.num_rows for batch in self._batches]
        return np.concatenate(([0], np.cumsum(sizes, dtype=np.int64)))

    def number(self, name: str) -> Rows:
        """A whole column of numbers."""
        import numpy as np

        parts = [values_of(batch.column(name)) for batch in self._batches]
        return np.concatenate([np.zeros(0, dtype=np.int64), *parts])

    def column(self, name: str) -> pa.ChunkedArray:
        """A whole column as it is in the file, mapped."""
        import pyarrow as pa

        return pa.chunked_array(
            [batch.column(name) for batch in self._batches],
            type=None if self._batches else _kind(name),
        )

    def codes(self, name: str) -> Rows:
        """For each row a number by which equal strings are known; -1 for none, or an empty one."""
        import numpy as np

        known: dict[str | None, int] = {"": -1, None: -1}
        parts = [np.zeros(0, dtype=np.int64)]
        for batch in self._batches:
            coded = batch.column(name).dictionary_encode("encode")
            # A host comes many times: in Python only the different ones of a batch are seen.
            of = [known.setdefault(value, len(known) - 2) for value in coded.dictionary.to_pylist()]
            parts.append(np.array(of, dtype=np.int64)[values_of(coded.indices)])
        return np.concatenate(parts)

    def take(self, rows: Rows, *names: str) -> list[pa.Array]:
        """Columns of some rows, in their order. A status that is not known is null."""
        import numpy as np
        import pyarrow as pa

        # Batch by batch: Arrow would put whole columns together first.
        order = np.argsort(rows, kind="stable")
        back = np.empty_like(order)
        back[order] = np.arange(len(order))
        ordered = rows[order]
        cuts = np.searchsorted(ordered, self._starts)
        parts: dict[str, list[Any]] = {name: [] for name in names}
        for at, batch in enumerate(self._batches):
            if cuts[at] == cuts[at + 1]:
                continue
            inside = numbers(ordered[cuts[at] : cuts[at + 1]] - self._starts[at])
            for name in names:
                parts[name].append(_plain(name, batch.column(name).take(inside)))
        found = []
        for name in names:
            whole = pa.concat_arrays([_plain(name, pa.nulls(0, _kind(name))), *parts[name]])
            found.append(whole.take(numbers(back)))
        return found


def _kind(name: str) -> pa.DataType:
    import pyarrow as pa

    return pa.int64() if name in NUMBERS else pa.large_string()


def _plain(name: str, column: pa.Array) -> pa.Array:
    """A column as tables have it."""
    column = column.cast(_kind(name))
    if name != "status":
        return column
    values = values_of(column)
    return numbers(values, values == 0)
