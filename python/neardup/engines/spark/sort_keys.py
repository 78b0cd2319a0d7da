"""Values of any type → bytes that sort as the values do: one order on every machine.

Spark, DataFusion and Python compare binary values in the same way, byte by byte, but not always
nulls, NaN or strings. So a row's place is decided here, once, where its text is read.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from neardup._util.arrow import plain_array
from neardup.engines.spark.batches import binaries

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

# What comes before a value: values, then NaN, then nulls, in either direction.
VALUE, NOT_A_NUMBER, NULL = 0, 1, 2


class By(NamedTuple):
    """A column to sort by."""

    values: Any
    descending: bool = False


def sort_keys(columns: Sequence[By]) -> pa.Array:
    """For each row bytes that sort as the row does by these columns."""
    import pyarrow.compute as pc

    parts = [_coded(by) for by in columns]
    if len(parts) == 1:
        return parts[0]
    return pc.binary_join_element_wise(*parts, b"")


def without_order(name: str, kind: str) -> TypeError:
    """What is said of a column that rows cannot be ordered by."""
    return TypeError(
        f"the column {name!r} is of type {kind}; rows can be put in order by numbers, strings, "
        "dates, times and booleans"
    )


def _coded(by: By) -> pa.Array:
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    values = plain_array(by.values)
    kind = values.type
    is_null = np.asarray(values.is_null().to_pylist(), dtype=bool) if values.null_count else None
    if pa.types.is_null(kind):
        values, kind = values.cast(pa.int64()), pa.int64()
    if _is_bytes(kind):
        return _coded_bytes(values, by.descending)
    fixed = _fixed(values, kind)
    if by.descending:
        fixed = ~fixed
    marks = np.full(len(values), VALUE, dtype=np.uint8)
    if pa.types.is_floating(kind):
        nan = np.asarray(pc.is_nan(values.fill_null(0.0)).to_pylist(), dtype=bool)
        marks[nan], fixed[nan] = NOT_A_NUMBER, 0
    if is_null is not None:
        marks[is_null], fixed[is_null] = NULL, 0
    return binaries(np.concatenate([marks[:, None], fixed], axis=1))


def _is_bytes(kind: Any) -> bool:
    import pyarrow as pa

    checks = (
        pa.types.is_string,
        pa.types.is_large_string,
        pa.types.is_binary,
        pa.types.is_large_binary,
    )
    return any(check(kind) for check in checks)


def _coded_bytes(values: Any, descending: bool) -> pa.Array:
    """A zero is written as two bytes and an end as two others, so that no value is the beginning
    of another's bytes."""
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


def _fixed(values: Any, kind: Any) -> NDArray[np.uint8]:
    """Numbers as bytes, the highest first, negative ones before the others."""
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
        # Minus zero is zero.
        bits = (found + 0.0).view(unsigned)
        bits = np.where(bits & unsigned.type(top), ~bits, bits | unsigned.type(top))
    elif pa.types.is_signed_integer(kind):
        bits = found.view(unsigned) ^ unsigned.type(top)
    else:
        bits = found
    return bits.astype(f">u{width}").view(np.uint8).reshape(-1, width)
