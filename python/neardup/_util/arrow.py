"""Columns of texts (lists, Arrow, Polars, pandas), and conversion between Arrow and NumPy.

`pyarrow.array` and `to_numpy` import pandas where it is installed, which takes half a second; the
conversions here do not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from neardup._util.strings import check_unicode


def as_column(texts: Any) -> Any:
    """Return a column of strings as an Arrow chunked array, and any other iterable as a list."""
    if isinstance(texts, str | bytes | bytearray):
        raise TypeError(
            f"texts is one {type(texts).__name__}; pass a list of str: [text] for a single one"
        )
    if isinstance(texts, Mapping):
        raise TypeError(f"texts is a {type(texts).__name__}; pass its values: list(texts.values())")
    refuse_lazy("texts", texts, "texts.collect()[COLUMN]")
    if type(texts).__name__ == "DataFrame":
        raise TypeError("texts is a DataFrame; pick the column of texts")
    if type(texts).__module__.partition(".")[0] == "pandas":
        if getattr(texts, "ndim", 1) != 1:
            raise TypeError(f"texts is a {type(texts).__name__}; pick the column of texts")
        if texts.dtype == object:
            # It holds Python strings: a list takes no copy, and an error can name the index.
            pairs = zip(texts, texts.isna(), strict=True)
            return [None if missing else text for text, missing in pairs]
        import pyarrow as pa

        texts = pa.array(texts, from_pandas=True)
    elif not (hasattr(texts, "__arrow_c_stream__") or hasattr(texts, "__arrow_c_array__")):
        try:
            return texts if isinstance(texts, list) else list(texts)
        except TypeError:
            raise TypeError(
                f"texts is of type {type(texts).__name__}; "
                "pass an iterable of str, or an Arrow, Polars or pandas column"
            ) from None
    import pyarrow as pa

    if isinstance(texts, pa.Array):
        column = pa.chunked_array([texts])
    elif isinstance(texts, pa.ChunkedArray):
        column = texts
    elif hasattr(texts, "__arrow_c_stream__"):
        column = pa.chunked_array(texts)
    else:
        column = pa.chunked_array([pa.array(texts)])
    return _plain_strings(column)


def string_column(texts: Any, name: str | None = None) -> Any:
    """Return texts as an Arrow chunked array of large strings, missing ones as null.

    name  the column of a table that holds the texts, for error messages
    """
    import pyarrow as pa

    column = as_column(texts)
    if is_arrow(column):
        return column.cast(pa.large_string())
    for row, text in enumerate(column):
        if not isinstance(text, str | None):
            place = f"texts[{row}]" if name is None else f"row {row} of the column {name!r}"
            raise TypeError(
                f"{place} is of type {type(text).__name__}; "
                "a text must be a str, or None for a missing one"
            )
    checked = [text if text is None else check_unicode(text, "a text") for text in column]
    # From malloc: Arrow's pool would keep what the growing array left behind, more than its size.
    pool = pa.system_memory_pool()
    return pa.chunked_array([pa.array(checked, pa.large_string(), memory_pool=pool)])


def refuse_lazy(name: str, value: Any, instead: str) -> None:
    """Raise TypeError for a Polars LazyFrame.

    Collecting it here would hide the time and memory this takes. A second collect may return the
    rows in another order, and then the row numbers of the result would be wrong.
    """
    if type(value).__name__ == "LazyFrame" and hasattr(value, "collect"):
        raise TypeError(
            f"{name} is a LazyFrame, a query that has not run yet; run it first and pass {instead}"
        )


def _plain_strings(column: Any) -> Any:
    """Decode extension types, run-end and dictionary encoding to a plain column of strings."""
    import pyarrow as pa

    kind = column.type
    if isinstance(kind, pa.BaseExtensionType):
        storage = [chunk.storage for chunk in column.chunks]
        return _plain_strings(pa.chunked_array(storage, kind.storage_type))
    if pa.types.is_run_end_encoded(kind) and _is_string(kind.value_type):
        import pyarrow.compute as pc

        return _plain_strings(
            pa.chunked_array([pc.run_end_decode(chunk) for chunk in column.chunks])
        )
    if pa.types.is_dictionary(kind) and (
        _is_string(kind.value_type) or pa.types.is_null(kind.value_type)
    ):
        # Polars dictionaries hold string views, which Arrow's take does not support.
        plain = [
            chunk.dictionary.cast(pa.large_string()).take(chunk.indices) for chunk in column.chunks
        ]
        return pa.chunked_array(plain, pa.large_string())
    if pa.types.is_null(kind):
        return column.cast(pa.string())
    if not _is_string(kind):
        raise TypeError(
            f"texts is a column of {kind}; it must be a column of strings: pick one, or cast it"
        )
    return column


def _is_string(kind: Any) -> bool:
    import pyarrow as pa

    string_checks = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view)
    return any(check(kind) for check in string_checks)


def plain_array(column: Any) -> Any:
    """Return an Arrow array without dictionary or views, so that Arrow can take, filter and sort
    it."""
    import pyarrow as pa

    kind = column.type
    if pa.types.is_dictionary(kind):
        return plain_array(column.dictionary).take(column.indices)
    if pa.types.is_string_view(kind):
        return column.cast(pa.large_string())
    return column.cast(pa.large_binary()) if pa.types.is_binary_view(kind) else column


def is_arrow(column: Any) -> bool:
    """Return whether a result of `as_column` is an Arrow column."""
    return not isinstance(column, list)


def string_buffers(column: Any) -> list[tuple[int, int, Any, Any, Any, bool]]:
    """Return the buffers of an Arrow column of strings for the core, without a copy.

    For each chunk: offset, length, validity, string offsets, data, whether offsets have 64 bits.
    """
    import pyarrow as pa

    large = pa.types.is_large_string(column.type)
    return [
        (chunk.offset, len(chunk), *map(_unsigned_bytes, chunk.buffers()), large)
        for chunk in column.chunks
        if len(chunk)
    ]


def _unsigned_bytes(buffer: Any) -> memoryview | None:
    # Arrow's buffers have signed bytes; the core takes unsigned ones.
    return None if buffer is None else memoryview(buffer).cast("B")


def number_array(values: Any, missing: Any = None) -> Any:
    """Return a NumPy array as an Arrow array, without a copy; null where `missing` is True."""
    import numpy as np
    import pyarrow as pa

    values = np.ascontiguousarray(values)
    validity = None if missing is None else pa.py_buffer(np.packbits(~missing, bitorder="little"))
    buffers = [validity, pa.py_buffer(values)]
    return pa.Array.from_buffers(pa.from_numpy_dtype(values.dtype), len(values), buffers)


def string_array(values: Sequence[str | None]) -> Any:
    """Return strings as an Arrow array of large strings, None as null."""
    import numpy as np
    import pyarrow as pa

    offsets = np.zeros(len(values) + 1, dtype=np.int64)
    validity = None
    if None in values:
        validity = pa.py_buffer(
            np.packbits([value is not None for value in values], bitorder="little")
        )
    present = [value or "" for value in values]
    joined = "".join(present)
    data = joined.encode()
    # In ASCII text the lengths in characters are the lengths in bytes.
    sizes = map(len, present if len(data) == len(joined) else map(str.encode, present))
    np.cumsum(np.fromiter(sizes, dtype=np.int64, count=len(values)), out=offsets[1:])
    return pa.LargeStringArray.from_buffers(
        len(values), pa.py_buffer(offsets), pa.py_buffer(data), validity
    )


def array_values(array: Any) -> Any:
    """Return the numbers of an Arrow array as a NumPy array, without a copy if it has one chunk.

    A null becomes an arbitrary number.
    """
    import numpy as np
    import pyarrow as pa

    if isinstance(array, pa.ChunkedArray):
        array = array.combine_chunks()
    dtype = array.type.to_pandas_dtype()
    values = np.frombuffer(array.buffers()[1] or b"", dtype=dtype)
    return values[array.offset : array.offset + len(array)]
