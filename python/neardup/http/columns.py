"""Metadata of responses as Arrow columns: URL, status, title and so on, beside their views.

`response_batch` builds them; a job writes them to a file, and `ResponseColumns` maps that file.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from neardup._util.arrow import array_values, number_array, string_array
from neardup.http.messages import Response, header_value

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    Rows = NDArray[np.int64]

# Strings, except for NUMBER_COLUMNS. A capture may have more: `Response.extra`.
RESPONSE_COLUMNS = ("url", "host", "ip", "status", "title", "server", "content_type", "length")
NUMBER_COLUMNS = ("status", "length")


def column_value(response: Response, name: str, title: str = "") -> str:
    """Return the value of a column as a string, "" if there is none.

    title  the unmasked title that `ViewBuilder.build` returns
    """
    if name == "title":
        return title
    if name in ("server", "content_type"):
        return header_value(response.headers, name.replace("_", "-"))
    if name in RESPONSE_COLUMNS:
        return str(getattr(response, name))
    return response.extra.get(name, "")


def response_batch(
    responses: Sequence[Response], titles: Sequence[str], within: str | None
) -> pa.RecordBatch:
    """Return RESPONSE_COLUMNS of responses, and `within`, the column they are grouped by."""
    import numpy as np
    import pyarrow as pa

    columns: dict[str, Any] = {
        name: string_array([column_value(each, name) for each in responses])
        for name in RESPONSE_COLUMNS
        if name not in (*NUMBER_COLUMNS, "title")
    }
    columns["title"] = string_array(titles)
    columns["status"] = number_array(np.array([each.status for each in responses], dtype=np.int32))
    columns["length"] = number_array(np.array([each.length for each in responses], dtype=np.int64))
    if within is not None and within not in RESPONSE_COLUMNS:
        columns[within] = string_array([column_value(each, within) for each in responses])
    order = dict.fromkeys((*RESPONSE_COLUMNS, *columns))
    return pa.RecordBatch.from_pydict({name: columns[name] for name in order})


class ResponseColumns:
    """RESPONSE_COLUMNS, and the column that responses are grouped by if any, in a mapped file.

    batches  in the order of the rows
    """

    def __init__(self, batches: Sequence[pa.RecordBatch] = ()) -> None:
        self._batches = batches

    @classmethod
    def open(cls, path: Path) -> ResponseColumns:
        """Map an Arrow file of such batches; it may be missing if there are no responses."""
        import pyarrow as pa

        if not path.exists():
            return cls()
        # The file stays mapped as long as one of its columns is referenced.
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
        """Return a whole column of numbers."""
        import numpy as np

        parts = [array_values(batch.column(name)) for batch in self._batches]
        return np.concatenate([np.zeros(0, dtype=np.int64), *parts])

    def column(self, name: str) -> pa.ChunkedArray:
        """Return a whole column, mapped."""
        import pyarrow as pa

        return pa.chunked_array(
            [batch.column(name) for batch in self._batches],
            type=None if self._batches else _column_type(name),
        )

    def codes(self, name: str) -> Rows:
        """Return a number for each row, equal for equal strings; -1 for null and ""."""
        import numpy as np

        known: dict[str | None, int] = {"": -1, None: -1}
        parts = [np.zeros(0, dtype=np.int64)]
        for batch in self._batches:
            encoded = batch.column(name).dictionary_encode("encode")
            # A host occurs many times: Python loops only over the distinct ones of a batch.
            codes = [
                known.setdefault(value, len(known) - 2) for value in encoded.dictionary.to_pylist()
            ]
            parts.append(np.array(codes, dtype=np.int64)[array_values(encoded.indices)])
        return np.concatenate(parts)

    def take(self, rows: Rows, *names: str) -> list[pa.Array]:
        """Return columns of some rows, in their order. An unknown status is null."""
        import numpy as np
        import pyarrow as pa

        # Batch by batch: Arrow would concatenate whole columns first.
        order = np.argsort(rows, kind="stable")
        inverse = np.empty_like(order)
        inverse[order] = np.arange(len(order))
        ordered = rows[order]
        bounds = np.searchsorted(ordered, self._starts)
        parts: dict[str, list[Any]] = {name: [] for name in names}
        for at, batch in enumerate(self._batches):
            if bounds[at] == bounds[at + 1]:
                continue
            batch_rows = number_array(ordered[bounds[at] : bounds[at + 1]] - self._starts[at])
            for name in names:
                parts[name].append(_as_output(name, batch.column(name).take(batch_rows)))
        taken = []
        for name in names:
            whole = pa.concat_arrays(
                [_as_output(name, pa.nulls(0, _column_type(name))), *parts[name]]
            )
            taken.append(whole.take(number_array(inverse)))
        return taken


def _column_type(name: str) -> pa.DataType:
    import pyarrow as pa

    return pa.int64() if name in NUMBER_COLUMNS else pa.large_string()


def _as_output(name: str, column: pa.Array) -> pa.Array:
    """Return a column with the type and the nulls that output tables have."""
    column = column.cast(_column_type(name))
    if name != "status":
        return column
    values = array_values(column)
    return number_array(values, values == 0)
