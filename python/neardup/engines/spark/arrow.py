"""Arrow columns in tasks: conversion from and to NumPy without pandas, and sort keys.

A sort key is a binary value whose byte order is the order of the row. Spark, DataFusion and Python
compare bytes alike, but not always nulls, NaN or strings. So the order of a row is encoded once,
where its text is read, and every machine sorts in the same way.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from neardup._util.arrow import number_array, plain_array

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray


# Rows of a batch: a row has a key in each table of a plan, which makes batches large.
BATCH_ROWS = 1 << 14


def gather_batches(batches: Iterable[pa.RecordBatch]) -> pa.Table | None:
    """Return all rows of a task as one table; None if there are none."""
    import pyarrow as pa

    some = [batch for batch in batches if batch.num_rows]
    # Schemas may differ in metadata and nullability.
    return (
        pa.Table.from_batches(
            [make_batch(dict(_columns(batch))) for batch in some]
        ).combine_chunks()
        if some
        else None
    )


def _columns(batch: pa.RecordBatch) -> Iterable[tuple[str, Any]]:
    return zip(batch.schema.names, batch.columns, strict=True)


def make_batch(columns: Mapping[str, Any]) -> pa.RecordBatch:
    import pyarrow as pa

    return pa.RecordBatch.from_arrays(list(columns.values()), names=list(columns))


def single_array(column: Any) -> Any:
    """Return a column as one Arrow array."""
    import pyarrow as pa

    if not isinstance(column, pa.ChunkedArray):
        return column
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def byte_rows(column: Any, width: int) -> NDArray[np.uint8]:
    """Return a binary column as rows of `width` bytes. It has no nulls."""
    found = column_bytes(column)
    if len(found) != len(column) * width:
        raise ValueError(
            f"{len(column)} values have {len(found)} bytes together; expected {width} bytes each"
        )
    return found.reshape(-1, width)


def column_bytes(column: Any) -> NDArray[np.uint8]:
    """Return all bytes of a binary column without nulls, value after value."""
    import numpy as np
    import pyarrow as pa

    array = single_array(column)
    if not len(array):  # it may have no chunks
        return np.zeros(0, dtype=np.uint8)
    wide = pa.types.is_large_binary(array.type)
    _, offsets, data = array.buffers()
    ends = np.frombuffer(offsets, dtype=np.int64 if wide else np.int32)
    start, end = ends[array.offset], ends[array.offset + len(array)]
    return np.frombuffer(data or b"", dtype=np.uint8)[start:end]


def binary_array(rows: NDArray[np.uint8], missing: NDArray[np.bool_] | None = None) -> pa.Array:
    """Return rows of bytes as a binary column, null where `missing` is true."""
    import numpy as np
    import pyarrow as pa

    rows = np.ascontiguousarray(rows)
    offsets = np.arange(len(rows) + 1, dtype=np.int32) * rows.shape[1]
    validity = None if missing is None else pa.py_buffer(np.packbits(~missing, bitorder="little"))
    buffers = [validity, pa.py_buffer(offsets), pa.py_buffer(rows)]
    return pa.Array.from_buffers(pa.binary(), len(rows), buffers)


def bool_array(values: NDArray[np.bool_]) -> pa.Array:
    import numpy as np
    import pyarrow as pa

    bits = pa.py_buffer(np.packbits(values, bitorder="little"))
    return pa.Array.from_buffers(pa.bool_(), len(values), [None, bits])


def int64_array(values: NDArray[Any], missing: NDArray[np.bool_] | None = None) -> pa.Array:
    return number_array(values.astype("i8", copy=False), missing)


# The first byte of an encoded value: in either direction NaN sorts after values, null after NaN.
VALUE, NAN, NULL = 0, 1, 2


class SortColumn(NamedTuple):
    """A column to sort by."""

    values: Any
    descending: bool = False


def sort_keys(columns: Sequence[SortColumn]) -> pa.Array:
    """Return for each row the bytes that sort it by these columns."""
    import pyarrow.compute as pc

    parts = [_encode_column(by) for by in columns]
    if len(parts) == 1:
        return parts[0]
    return pc.binary_join_element_wise(*parts, b"")


def unsortable_column(name: str, kind: str) -> TypeError:
    """Return the error for a column whose type has no order."""
    return TypeError(
        f"the column {name!r} is of type {kind}; rows can be sorted by numbers, strings, dates, "
        "times and booleans"
    )


def _encode_column(by: SortColumn) -> pa.Array:
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    values = plain_array(by.values)
    kind = values.type
    is_null = np.asarray(values.is_null().to_pylist(), dtype=bool) if values.null_count else None
    if pa.types.is_null(kind):
        values, kind = values.cast(pa.int64()), pa.int64()
    if _is_binary(kind):
        return _encode_bytes(values, by.descending)
    fixed = _encode_numbers(values, kind)
    if by.descending:
        fixed = ~fixed
    marks = np.full(len(values), VALUE, dtype=np.uint8)
    if pa.types.is_floating(kind):
        nan = np.asarray(pc.is_nan(values.fill_null(0.0)).to_pylist(), dtype=bool)
        marks[nan], fixed[nan] = NAN, 0
    if is_null is not None:
        marks[is_null], fixed[is_null] = NULL, 0
    return binary_array(np.concatenate([marks[:, None], fixed], axis=1))


def _is_binary(kind: Any) -> bool:
    import pyarrow as pa

    checks = (
        pa.types.is_string,
        pa.types.is_large_string,
        pa.types.is_binary,
        pa.types.is_large_binary,
    )
    return any(check(kind) for check in checks)


def _encode_bytes(values: Any, descending: bool) -> pa.Array:
    """Encode strings or bytes so that no encoded value is a prefix of another.

    A zero byte becomes two bytes, and two other bytes mark the end.
    """
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    array = values.cast(pa.binary())
    ended = pc.binary_join_element_wise(
        pc.replace_substring(array, b"\x00", b"\x00\xff").fill_null(b""), b"\x00\x00", b""
    )
    if descending:
        _, offsets, data = ended.buffers()
        flipped = pa.py_buffer(~np.frombuffer(data, dtype=np.uint8))
        ended = pa.Array.from_buffers(
            pa.binary(), len(ended), [None, offsets, flipped], offset=ended.offset
        )
    marks = pc.if_else(array.is_null(), bytes([NULL]), bytes([VALUE]))
    return pc.binary_join_element_wise(marks.cast(pa.binary()), ended, b"")


def _encode_numbers(values: Any, kind: Any) -> NDArray[np.uint8]:
    """Encode numbers big-endian, negative ones before the others."""
    import numpy as np
    import pyarrow as pa

    rows = len(values)
    if pa.types.is_decimal128(kind):
        data = np.frombuffer(values.buffers()[1] or b"", dtype=np.uint8).reshape(-1, 16)
        coded = data[values.offset : values.offset + rows, ::-1].copy()
        coded[:, 0] ^= 0x80
        return coded
    if pa.types.is_boolean(kind):
        values, kind = values.cast(pa.uint8()), pa.uint8()
    elif pa.types.is_temporal(kind):
        wide = pa.int32() if kind.bit_width == 32 else pa.int64()
        values, kind = values.view(wide), wide
    elif pa.types.is_floating(kind):
        values, kind = values.cast(pa.float64()), pa.float64()
    elif not pa.types.is_integer(kind):
        raise TypeError(f"values of type {kind} have no order")
    width = kind.bit_width // 8
    buffer = values.buffers()[1]
    if buffer is None:
        return np.zeros((rows, width), dtype=np.uint8)
    dtype = kind.to_pandas_dtype()
    found = np.frombuffer(buffer, dtype=dtype)[values.offset : values.offset + rows]
    top = 1 << (8 * width - 1)
    unsigned = np.dtype(f"u{width}")
    if pa.types.is_floating(kind):
        # -0.0 equals 0.0.
        bits = (found + 0.0).view(unsigned)
        bits = np.where(bits & unsigned.type(top), ~bits, bits | unsigned.type(top))
    elif pa.types.is_signed_integer(kind):
        bits = found.view(unsigned) ^ unsigned.type(top)
    else:
        bits = found
    return bits.astype(f">u{width}").view(np.uint8).reshape(-1, width)
