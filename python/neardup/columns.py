"""Columns of texts, as users have them: lists, Arrow, Polars, pandas."""

from __future__ import annotations

from typing import Any


def as_column(texts: Any) -> Any:
    """A column of strings as an Arrow chunked array, anything else as a list."""
    if isinstance(texts, str | bytes | bytearray):
        raise TypeError(
            f"texts is one {type(texts).__name__}; pass a list of str, or use fingerprint for one"
        )
    if type(texts).__module__.partition(".")[0] == "pandas":
        if getattr(texts, "ndim", 1) != 1:
            raise TypeError(f"texts is a {type(texts).__name__}; pick the column of texts")
        if texts.dtype == object:
            # Made of Python's strings: a list of them takes no copy, and an error has its index.
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
    kind = column.type
    if pa.types.is_dictionary(kind):
        decoded = [plain(chunk).cast(pa.large_string()) for chunk in column.chunks]
        column = pa.chunked_array(decoded, pa.large_string())
    elif pa.types.is_null(kind):
        column = column.cast(pa.string())
    elif not (
        pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)
    ):
        raise TypeError(
            f"texts is a column of {kind}; it must be a column of strings: pick one, or cast it"
        )
    return column


def plain(column: Any) -> Any:
    """An Arrow array without its dictionary, and of a type that Arrow can look up, filter and sort:
    string views, which is what a Polars dictionary holds, it cannot."""
    import pyarrow as pa

    kind = column.type
    if pa.types.is_dictionary(kind):
        return plain(column.dictionary).take(column.indices)
    if pa.types.is_string_view(kind):
        return column.cast(pa.large_string())
    return column.cast(pa.large_binary()) if pa.types.is_binary_view(kind) else column


def rows_of(table: Any, rows: Any) -> Any:
    """Ascending rows of an Arrow table, whatever the types of its columns."""
    import numpy as np
    import pyarrow as pa

    try:
        return table.take(rows)
    except pa.ArrowNotImplementedError:
        if not len(rows):
            return table.slice(0, 0)
        starts = np.flatnonzero(np.diff(rows, prepend=-2) != 1).tolist()
        ends = [*starts[1:], len(rows)]
        parts = [
            table.slice(int(rows[start]), end - start)
            for start, end in zip(starts, ends, strict=True)
        ]
        return pa.concat_tables(parts)


def is_arrow(column: Any) -> bool:
    """Whether `as_column` gave an Arrow column."""
    return not isinstance(column, list)


def chunks(column: Any) -> list[tuple[int, int, Any, Any, Any, bool]]:
    """The buffers of an Arrow column of strings, where they lie."""
    import pyarrow as pa

    large = pa.types.is_large_string(column.type)
    return [
        (chunk.offset, len(chunk), *map(_bytes, chunk.buffers()), large)
        for chunk in column.chunks
        if len(chunk)
    ]


def _bytes(buffer: Any) -> memoryview | None:
    # Arrow calls its bytes signed.
    return None if buffer is None else memoryview(buffer).cast("B")


def numbers(values: Any, missing: Any = None) -> Any:
    """A NumPy array as an Arrow array, with nulls where `missing` says so.

    Not by pyarrow.array, which imports pandas where it is installed: half a second.
    """
    import numpy as np
    import pyarrow as pa

    values = np.ascontiguousarray(values)
    validity = None if missing is None else pa.py_buffer(np.packbits(~missing, bitorder="little"))
    buffers = [validity, pa.py_buffer(values)]
    return pa.Array.from_buffers(pa.from_numpy_dtype(values.dtype), len(values), buffers)


def values_of(array: Any) -> Any:
    """The numbers of an Arrow array as a NumPy array, without a copy; nulls are any number.

    Not by `to_numpy`, for the same reason.
    """
    import numpy as np
    import pyarrow as pa

    if isinstance(array, pa.ChunkedArray):
        array = array.combine_chunks()
    kind = array.type.to_pandas_dtype()
    whole = np.frombuffer(array.buffers()[1] or b"", dtype=kind)
    return whole[array.offset : array.offset + len(array)]
