"""Parquet: the text in one column or several, the id in another; only those are read."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from neardup.sources import document, stored
from neardup.sources.batch import BATCH_BYTES, BATCH_ROWS, Batch, Reading
from neardup.sources.document import STDIN, Report, Unreadable, name_of
from neardup.sources.formats import packing
from neardup.sources.jsonl import DEFAULT_ID, columns_of
from neardup.sources.stored import Progress, open_raw

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq
    from numpy.typing import NDArray

STEP_ROWS = 512


def read_parquet_batches(
    path: str, reading: Reading, report: Report, progress: Progress | None = None
) -> Iterator[Batch]:
    """The documents of a Parquet file. A row without text is reported."""
    import pyarrow as pa

    source = name_of(path)
    row = 0
    try:
        with open_parquet(path) as file:
            reader = _Reader(path, file, reading, report)
            total, size, told = max(file.metadata.num_rows, 1), _size(file), 0
            for table in _merged(file.iter_batches(reader.rows, columns=reader.columns)):
                yield from reader.batches(table, row)
                row += table.num_rows
                if progress is not None:
                    # Columns lie apart: the share of the rows stands for the share of the bytes.
                    progress(size * row // total - told)
                    told = size * row // total
    except (pa.ArrowException, NotReadError) as error:
        reason = (
            str(error) if isinstance(error, NotReadError) else f"not Parquet ({_one_line(error)})"
        )
        report(Unreadable(source, row + 1 if row else None, reason))


@contextmanager
def open_parquet(path: str) -> Iterator[pq.ParquetFile]:
    """The file, or an error that says why it is none."""
    import pyarrow.parquet as pq

    if path == STDIN and not stored.can_reread(path):
        raise ValueError("stdin: Parquet cannot be read from a pipe; name the file")
    if packing(path):
        raise NotReadError(f"Parquet inside {packing(path)}; unpack it: it is packed within")
    with open_raw(path) as raw, pq.ParquetFile(raw) as file:
        yield file


def _merged(pieces: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Small pieces joined to about BATCH_BYTES."""
    import pyarrow as pa

    held: list[pa.RecordBatch] = []
    size = rows = 0
    for piece in pieces:
        columns = [_plain(column) for column in piece.columns]
        held.append(pa.record_batch(columns, names=piece.schema.names))
        size, rows = size + held[-1].nbytes, rows + piece.num_rows
        if size >= BATCH_BYTES or rows >= BATCH_ROWS:
            yield from pa.Table.from_batches(held).combine_chunks().to_batches()
            held, size, rows = [], 0, 0
    if held:
        yield from pa.Table.from_batches(held).combine_chunks().to_batches()


def rows_at_once(file: pq.ParquetFile, columns: list[str] | None = None) -> int:
    """How many rows to read in one go, by what the file says of their size.

    Never many: a text that is there a thousand times is stored once.
    """
    unpacked = 0
    for group in range(file.metadata.num_row_groups):
        for number in range(file.metadata.num_columns):
            chunk = file.metadata.row_group(group).column(number)
            if columns is None or chunk.path_in_schema.partition(".")[0] in columns:
                unpacked += chunk.total_uncompressed_size
                _check_ratio(chunk.total_uncompressed_size, chunk.total_compressed_size)
    each: int = max(unpacked // max(file.metadata.num_rows, 1), 1)
    return max(1, min(STEP_ROWS, BATCH_BYTES // each))


def _check_ratio(unpacked: int, packed: int) -> None:
    if unpacked > max(stored.FREE_BYTES, stored.MOST_RATIO * packed):
        raise NotReadError(
            f"stopped: {packed:,} bytes say to hold {unpacked:,}, more than "
            f"{stored.MOST_RATIO} for one"
        )


def _size(file: pq.ParquetFile) -> int:
    groups = range(file.metadata.num_row_groups)
    chunks = range(file.metadata.num_columns)
    return sum(
        file.metadata.row_group(group).column(chunk).total_compressed_size
        for group in groups
        for chunk in chunks
    )


class NotReadError(ValueError):
    """Why a file is not read."""


class _Reader:
    """Tables of one file to batches."""

    def __init__(self, path: str, file: pq.ParquetFile, reading: Reading, report: Report) -> None:
        self._source = name_of(path)
        self._report = report
        self._schema = file.schema_arrow
        self._wanted = reading.text_columns
        self._texts = [name for name in reading.text_columns if self._has(name)]
        if not self._texts:
            names = ", ".join(map(repr, reading.text_columns))
            self._fail("no column" if len(reading.text_columns) == 1 else "none of", names)
        self._named = reading.id_column is not None
        self._id = reading.id_column or DEFAULT_ID
        if self._named and not self._has(self._id):
            self._fail("no column", repr(self._id))
        self._wants_key = reading.key_column is not None
        self._key = reading.key_column if self._has(reading.key_column) else None
        self._check_types()
        wanted = [*self._texts, self._id if self._has(self._id) else None, self._key]
        self._others: list[str] | None = None
        if reading.others:
            taken = {*reading.text_columns, self._id}
            self._others = [x for x in self._schema.names if x not in taken and self._has(x)]
            wanted += self._others
        self.columns = list(dict.fromkeys(name for name in wanted if name is not None))
        self.rows = rows_at_once(file, self.columns)

    def _has(self, name: str | None) -> bool:
        if self._schema.names.count(name) > 1:
            raise NotReadError(f"column {name!r} is there {self._schema.names.count(name)} times")
        return name in self._schema.names

    def _fail(self, what: str, names: str) -> None:
        raise NotReadError(f"{what} {names} (there is {columns_of(self._schema.names)})")

    def _check_types(self) -> None:
        import pyarrow as pa

        for name in self._texts:
            kind = self._schema.field(name).type
            if not _is_string(kind):
                raise NotReadError(f"column {name!r} is not of strings but of {kind}")
        if self._has(self._id):
            kind = self._schema.field(self._id).type
            if not (_is_string(kind) or pa.types.is_integer(kind) or pa.types.is_null(kind)):
                raise NotReadError(
                    f"column {self._id!r} is of neither strings nor integers but of {kind}"
                )

    def batches(self, table: pa.RecordBatch, row: int) -> Iterator[Batch]:
        import numpy as np
        import pyarrow as pa

        columns = [self._strings(table, name) for name in self._texts]
        ids = self._strings(table, self._id) if self._has(self._id) else None
        good = self._good(columns, ids, row)
        if not good.any():
            return
        rows = np.flatnonzero(good)
        keep = pa.array(good)
        numbers = row + rows
        key = None
        if self._wants_key:
            key = (
                pa.nulls(len(rows)) if self._key is None else _plain(table[self._key].filter(keep))
            )
        yield Batch(
            self._names(ids, keep, numbers),
            self._joined([column.filter(keep) for column in columns]),
            np.stack((numbers, numbers + 1), axis=1),
            numbers + 1,
            key,
            others=self._rest(table, keep),
        )

    def _rest(self, table: pa.RecordBatch, keep: pa.Array) -> list[dict[str, Any]] | None:
        if self._others is None:
            return None
        if not self._others:
            return [{} for _ in range(keep.true_count)]
        found: list[dict[str, Any]] = table.select(self._others).filter(keep).to_pylist()
        return found

    def _strings(self, table: pa.RecordBatch, name: str) -> pa.Array:
        import pyarrow as pa

        return _plain(table[name]).cast(pa.large_string())

    def _good(self, texts: list[pa.Array], ids: pa.Array | None, row: int) -> NDArray[np.bool_]:
        """Which rows give a document; the others are reported."""
        import numpy as np
        import pyarrow.compute as pc

        size = len(texts[0])
        null = np.ones(size, dtype=bool)
        long = np.zeros(size, dtype=np.int64)
        for column in texts:
            null &= np.asarray(column.is_null())
            long += np.asarray(pc.fill_null(pc.binary_length(column), 0))
        unnamed = np.asarray(ids.is_null()) if self._named and ids is not None else ~null & False
        over = long > document.MAX_BYTES
        for at in np.flatnonzero(null | unnamed | over).tolist():
            if null[at]:
                reason = f"column {self._texts[0]!r} is not a string but null"
            elif over[at]:
                reason = document.record_too_long()
            else:
                reason = f"column {self._id!r} is neither a string nor an integer but null"
            self._report(Unreadable(self._source, row + at + 1, reason))
        return ~(null | unnamed | over)

    def _names(
        self, ids: pa.Array | None, keep: pa.Array, numbers: NDArray[np.int64]
    ) -> pa.LargeStringArray:
        import pyarrow as pa
        import pyarrow.compute as pc

        ids = None if ids is None else ids.filter(keep)
        if ids is not None and not ids.null_count:
            return ids
        places = [f"{self._source}:{number + 1}" for number in numbers.tolist()]
        made = pa.array(places, pa.large_string())
        return made if ids is None else pc.coalesce(ids, made)

    def _joined(self, columns: list[pa.Array]) -> pa.LargeStringArray:
        """Several columns with a line break between; one that is missing counts as empty."""
        import pyarrow as pa
        import pyarrow.compute as pc

        if len(self._wanted) == 1:
            return columns[0]
        there = dict(zip(self._texts, columns, strict=True))
        empty = pa.array([""] * len(columns[0]), pa.large_string())
        cells = [pc.fill_null(there[name], "") if name in there else empty for name in self._wanted]
        return pc.binary_join_element_wise(*cells, pa.scalar("\n", pa.large_string()))


def _plain(column: pa.Array) -> pa.Array:
    """A column without its dictionary."""
    import pyarrow as pa

    return column.dictionary_decode() if pa.types.is_dictionary(column.type) else column


def _is_string(kind: pa.DataType) -> bool:
    import pyarrow as pa

    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return bool(
        pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)
    )


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())
