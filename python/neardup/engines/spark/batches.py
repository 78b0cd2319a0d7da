"""Arrow batches inside tasks: binary columns as arrays of bytes and back, without pandas."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from neardup._util.arrow import number_array

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

# Rows of a batch that a task hands over: keys of many tables make batches large.
ROWS = 1 << 14


def gathered(batches: Iterable[pa.RecordBatch]) -> pa.Table | None:
    """All that came to a task; None if nothing did."""
    import pyarrow as pa

    some = [batch for batch in batches if batch.num_rows]
    # Schemas may differ in metadata, and in what cannot be null.
    return (
        pa.Table.from_batches([as_batch(dict(_columns(batch))) for batch in some]).combine_chunks()
        if some
        else None
    )


def _columns(batch: pa.RecordBatch) -> Iterable[tuple[str, Any]]:
    return zip(batch.schema.names, batch.columns, strict=True)


def as_batch(columns: Mapping[str, Any]) -> pa.RecordBatch:
    import pyarrow as pa

    return pa.RecordBatch.from_arrays(list(columns.values()), names=list(columns))


def one(column: Any) -> Any:
    """A column as one Arrow array."""
    import pyarrow as pa

    if not isinstance(column, pa.ChunkedArray):
        return column
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def rows_of_bytes(column: Any, width: int) -> NDArray[np.uint8]:
    """A binary column without nulls, each value of so many bytes, as the rows of an array."""
    found = bytes_of(column)
    if len(found) != len(column) * width:
        raise ValueError(
            f"{len(column)} values of {len(found)} bytes in all; each must be of {width} bytes"
        )
    return found.reshape(-1, width)


def bytes_of(column: Any) -> NDArray[np.uint8]:
    """All bytes of a binary column without nulls, value after value."""
    import numpy as np
    import pyarrow as pa

    array = one(column)
    if not len(array):  # maybe of no chunks
        return np.zeros(0, dtype=np.uint8)
    wide = pa.types.is_large_binary(array.type)
    _, offsets, data = array.buffers()
    ends = np.frombuffer(offsets, dtype=np.int64 if wide else np.int32)
    start, end = ends[array.offset], ends[array.offset + len(array)]
    return np.frombuffer(data or b"", dtype=np.uint8)[start:end]


def binaries(rows: NDArray[np.uint8], missing: NDArray[np.bool_] | None = None) -> pa.Array:
    """The rows of an array of bytes as a binary column, null where `missing` says so."""
    import numpy as np
    import pyarrow as pa

    rows = np.ascontiguousarray(rows)
    offsets = np.arange(len(rows) + 1, dtype=np.int32) * rows.shape[1]
    validity = None if missing is None else pa.py_buffer(np.packbits(~missing, bitorder="little"))
    buffers = [validity, pa.py_buffer(offsets), pa.py_buffer(rows)]
    return pa.Array.from_buffers(pa.binary(), len(rows), buffers)


def booleans(values: NDArray[np.bool_]) -> pa.Array:
    import numpy as np
    import pyarrow as pa

    bits = pa.py_buffer(np.packbits(values, bitorder="little"))
    return pa.Array.from_buffers(pa.bool_(), len(values), [None, bits])


def longs(values: NDArray[Any], missing: NDArray[np.bool_] | None = None) -> pa.Array:
    return number_array(values.astype("i8", copy=False), missing)
