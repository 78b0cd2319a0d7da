"""Deduplication of tables: pandas, Polars, Arrow, and Hugging Face datasets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from neardup._util.arrow import number_array, refuse_lazy, string_column
from neardup.near.dedup import dedup
from neardup.near.keep import Keep

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

Frame = TypeVar("Frame")


def dedup_frame(
    frame: Frame, column: str = "text", *, columns: Sequence[str] | None = None, **options: Any
) -> Frame:
    """Return a pandas, Polars or Arrow table without near-duplicates, rows in order.

    column   name of the column of texts
    columns  several names instead: their texts are joined with line breaks, a missing one as empty.
             A row in which all are missing is kept
    options  as for `dedup`, except `keys` and `pairs`; newest:NAME and best:NAME read that column
             of the table

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"text": ["one two three", "One, two, three", "four"], "n": [1, 2, 3]})
    >>> dedup_frame(frame, keep="best:n")["n"].tolist()
    [2, 3]
    """
    refuse_lazy("frame", frame, "frame.collect()")
    table: Any = frame
    names = getattr(table, "column_names", None)
    names = getattr(table, "columns", None) if names is None else names
    if names is None or isinstance(table, Mapping):
        raise TypeError(
            f"frame is of type {type(frame).__name__}; pass a pandas or Polars DataFrame or an "
            "Arrow table, or texts to neardup.dedup"
        )
    kept = _rows_to_keep(table.__getitem__, list(names), column, columns, options)
    if hasattr(table, "iloc"):
        chosen: Frame = table.iloc[kept]
    elif hasattr(table, "take"):
        chosen = _take_rows(table, kept)
    else:
        chosen = table[kept]
    return chosen


def dedup_dataset(
    dataset: Any, column: str = "text", *, columns: Sequence[str] | None = None, **options: Any
) -> Any:
    """Return a `datasets.Dataset` of Hugging Face without near-duplicates, rows in order.

    column, columns, options  as for `dedup_frame`

    Uses `dataset.select`: the result keeps the features, the format and the files of the dataset,
    and no data is copied. The columns of texts are read into memory.
    """
    if isinstance(dataset, Mapping):
        splits = ", ".join(map(repr, dataset))
        raise TypeError(
            f"dataset is a {type(dataset).__name__} with the splits {splits}; pass one of them, or "
            "datasets.concatenate_datasets of them to find near-duplicates across splits"
        )
    needed = ("column_names", "select", "select_columns", "with_format", "__len__")
    if not all(hasattr(dataset, name) for name in needed):
        raise TypeError(
            f"dataset is of type {type(dataset).__name__}; pass a datasets.Dataset. A streamed "
            "one cannot be read again: load it without streaming, or write it to files and use "
            "neardup dedup"
        )

    def read(name: str) -> Any:
        # Arrow whatever format is set, and in the order of a shuffled or filtered dataset.
        return dataset.select_columns([name]).with_format("arrow")[:][name]

    kept = _rows_to_keep(read, list(dataset.column_names), column, columns, options)
    return dataset.select(kept)


def _rows_to_keep(
    read: Any,
    names: list[str],
    column: str,
    columns: Sequence[str] | None,
    options: dict[str, Any],
) -> NDArray[np.int64]:
    """Return the rows to keep; `read` returns a column by name, `names` are all columns."""
    for name in ("keys", "pairs"):
        if name in options:
            raise TypeError(
                f"{name} is not an option for tables; "
                + ("name the column in keep: best:NAME" if name == "keys" else "use neardup.dedup")
            )
    text_columns = _text_columns(column, columns)
    policy = Keep.parse(options.get("keep", "first"))
    for name in filter(None, (*text_columns, policy.column)):
        if name not in names:
            raise ValueError(
                f"no column {name!r} (columns: {', '.join(map(repr, names)) or 'none'})"
            )
    keys = read(policy.column) if policy.column else None
    texts = [string_column(read(name), name) for name in text_columns]
    return dedup(texts[0] if len(texts) == 1 else _join_texts(texts), keys=keys, **options).kept


def _take_rows(table: Any, rows: NDArray[np.int64]) -> Any:
    """Return rows of an Arrow table or batch; Arrow's `take` does not support all types."""
    columns = []
    for column in table.columns:
        try:
            columns.append(column.take(number_array(rows)))
        except NotImplementedError:
            # String views and run-end encoding.
            columns.append(_take_slices(column, rows))
    return type(table).from_arrays(columns, schema=table.schema)


def _take_slices(column: Any, rows: NDArray[np.int64]) -> Any:
    import numpy as np
    import pyarrow as pa

    runs = np.split(rows, np.flatnonzero(np.diff(rows) != 1) + 1) if len(rows) else []
    slices = [column.slice(int(run[0]), len(run)) for run in runs] or [column.slice(0, 0)]
    if isinstance(column, pa.Array):
        return pa.concat_arrays(slices)
    chunks = [chunk for part in slices for chunk in part.chunks]
    return pa.chunked_array([pa.concat_arrays(chunks)] if chunks else [], column.type)


def _text_columns(column: str, columns: Sequence[str] | None) -> list[str]:
    if columns is None:
        if isinstance(column, list | tuple):
            raise TypeError(f"column is {column!r}; for several pass columns={list(column)!r}")
        return [column]
    if column != "text":
        raise ValueError("column and columns exclude each other; give one of them")
    if isinstance(columns, str) or not isinstance(columns, Sequence):
        raise TypeError(f"columns is {columns!r}; it must be a list of names")
    if not columns:
        raise ValueError("columns is empty; name at least one")
    return list(columns)


def _join_texts(texts: list[pa.ChunkedArray]) -> pa.ChunkedArray:
    """Join the texts of several columns with line breaks, as the jobs on files do."""
    import pyarrow as pa
    import pyarrow.compute as pc

    missing = pc.is_null(texts[0])
    for column in texts[1:]:
        missing = pc.and_(missing, pc.is_null(column))
    cells = [pc.fill_null(column, "") for column in texts]
    joined = pc.binary_join_element_wise(*cells, pa.scalar("\n", pa.large_string()))
    return pc.if_else(missing, pa.scalar(None, pa.large_string()), joined)
