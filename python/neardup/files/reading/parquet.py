"""Parquet: the text in one or more columns, the id in another; only these columns are read."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from uuid import UUID

from neardup._util.arrow import plain_array
from neardup.files.reading import batch, streams
from neardup.files.reading.batch import BATCH_BYTES, BATCH_ROWS, Batch, Reading, Task, Unreadable
from neardup.files.reading.formats import STDIN, Format, name_of, packing, register
from neardup.files.reading.locations import can_reread, open_raw
from neardup.files.reading.records import DEFAULT_ID, list_columns, scalar_id

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq
    from numpy.typing import NDArray

STEP_ROWS = 512
# Names of the structs around a column, and its own.
Path = tuple[str, ...]


def read_parquet_batches(task: Task) -> Iterator[Batch]:
    """Yield the documents of a Parquet file."""
    import pyarrow as pa

    source, progress = name_of(task.path), task.progress
    row = 0
    try:
        with open_parquet(task.path) as file:
            reader = _Reader(file, task)
            total, size, told = max(file.metadata.num_rows, 1), _size(file), 0
            for table in _merged(file.iter_batches(reader.rows, columns=reader.columns)):
                yield from reader.batches(table, row)
                row += table.num_rows
                if progress is not None:
                    # Parquet stores columns apart: report progress by rows, not by bytes read.
                    progress(size * row // total - told)
                    told = size * row // total
    except (pa.ArrowException, ParquetError) as error:
        reason = (
            str(error) if isinstance(error, ParquetError) else f"not Parquet ({_one_line(error)})"
        )
        task.report(Unreadable(source, row + 1 if row else None, reason))


@contextmanager
def open_parquet(path: str) -> Iterator[pq.ParquetFile]:
    """Open a file; raise ParquetError if it is not Parquet."""
    import pyarrow.parquet as pq

    if path == STDIN and not can_reread(path):
        raise ValueError("stdin: Parquet cannot be read from a pipe; name the file")
    if packing(path):
        raise ParquetError(
            f"Parquet inside {packing(path)}; decompress it: Parquet compresses its own pages"
        )
    with open_raw(path) as raw, pq.ParquetFile(raw) as file:
        yield file


def _merged(pieces: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Join small record batches to about BATCH_BYTES."""
    import pyarrow as pa

    held: list[pa.RecordBatch] = []
    size = rows = 0
    for piece in pieces:
        columns = [plain_array(column) for column in piece.columns]
        held.append(pa.record_batch(columns, names=piece.schema.names))
        size, rows = size + held[-1].nbytes, rows + piece.num_rows
        if size >= BATCH_BYTES or rows >= BATCH_ROWS:
            yield from pa.Table.from_batches(held).combine_chunks().to_batches()
            held, size, rows = [], 0, 0
    if held:
        yield from pa.Table.from_batches(held).combine_chunks().to_batches()


def rows_at_once(
    file: pq.ParquetFile, columns: list[str] | None = None, reading: Reading | None = None
) -> int:
    """Return how many rows to read at once, by the sizes in the file's metadata.

    Never many: a text that occurs a thousand times is stored once.

    reading  has the limit for unpacked bytes; None skips the check, for a file that was read before
    """
    unpacked = packed = 0
    for group in range(file.metadata.num_row_groups):
        for number in range(file.metadata.num_columns):
            chunk = file.metadata.row_group(group).column(number)
            if columns is None or _is_within(chunk.path_in_schema, columns):
                unpacked += chunk.total_uncompressed_size
                packed += chunk.total_compressed_size
    if reading is not None and unpacked > (most := streams.max_unpacked(packed, reading)):
        raise ParquetError(
            f"{packed:,} bytes unpack to {unpacked:,}; the limit is "
            f"{batch.format_size(most)}; if that is intended, raise --max-bytes"
        )
    each: int = max(unpacked // max(file.metadata.num_rows, 1), 1)
    return max(1, min(STEP_ROWS, BATCH_BYTES // each))


def _is_within(path: str, columns: list[str]) -> bool:
    return any(path == name or path.startswith(f"{name}.") for name in columns)


def _size(file: pq.ParquetFile) -> int:
    groups = range(file.metadata.num_row_groups)
    chunks = range(file.metadata.num_columns)
    return sum(
        file.metadata.row_group(group).column(chunk).total_compressed_size
        for group in groups
        for chunk in chunks
    )


class ParquetError(ValueError):
    """A Parquet file that cannot be read, and why."""


class _Reader:
    """Converts record batches of one file to `Batch`."""

    def __init__(self, file: pq.ParquetFile, task: Task) -> None:
        reading = task.reading
        self._task = task
        self._source = name_of(task.path)
        self._schema = file.schema_arrow
        self._wanted = reading.text_columns
        self._most = reading.max_document or batch.MAX_BYTES
        found = {name: self._path(name) for name in reading.text_columns}
        self._texts = {name: path for name, path in found.items() if path}
        if not self._texts:
            names = ", ".join(map(repr, reading.text_columns))
            self._fail("no column" if len(reading.text_columns) == 1 else "none of", names)
        name = reading.id_column or DEFAULT_ID
        self._id = self._path(name)
        if reading.id_column is not None and not self._id:
            self._fail("no column", repr(name))
        self._wants_key = reading.key_column is not None
        self._key = self._path(reading.key_column) if reading.key_column is not None else ()
        self._check_types()
        wanted = [*self._texts.values(), self._id, self._key]
        self._others: list[str] | None = None
        if reading.others:
            taken = {*reading.text_columns, name}
            self._others = [x for x in self._schema.names if x not in taken and self._path(x)]
            wanted += [(other,) for other in self._others]
        self.columns = list(dict.fromkeys(".".join(path) for path in wanted if path))
        self.rows = rows_at_once(file, self.columns, reading)

    def _path(self, name: str) -> Path:
        """Return where a column is: at the top, or for a.b in a struct; () if it is missing."""
        if self._schema.names.count(name) > 1:
            raise ParquetError(f"column {name!r} occurs {self._schema.names.count(name)} times")
        return _find(self._schema, name)

    def _fail(self, what: str, names: str) -> None:
        raise ParquetError(f"{what} {names} (columns: {list_columns(self._schema.names)})")

    def _check_types(self) -> None:
        for name, path in self._texts.items():
            kind = self._schema.field(path[0]).type
            for part in path[1:]:
                kind = kind.field(part).type
            if not _is_string(kind):
                raise ParquetError(f"column {name!r} has the type {kind}, not string")

    def batches(self, table: pa.RecordBatch, row: int) -> Iterator[Batch]:
        import numpy as np
        import pyarrow as pa

        columns = {name: self._strings(table, path) for name, path in self._texts.items()}
        good = self._good(list(columns.values()), row)
        if not good.any():
            return
        rows = np.flatnonzero(good)
        keep = pa.array(good)
        numbers = row + rows
        key = None
        if self._wants_key:
            key = pa.nulls(len(rows))
            if self._key:
                key = plain_array(_column(table, self._key)).filter(keep)
        yield Batch(
            self._names(table, keep, numbers),
            self._joined({name: column.filter(keep) for name, column in columns.items()}),
            np.stack((numbers, numbers + 1), axis=1),
            numbers + 1,
            key,
            others=self._rest(table, rows),
        )

    def _rest(self, table: pa.RecordBatch, rows: NDArray[np.int64]) -> list[dict[str, Any]] | None:
        if self._others is None:
            return None
        if not self._others:
            return [{} for _ in rows]
        found: list[dict[str, Any]] = table.select(self._others).to_pylist()
        return [found[at] for at in rows.tolist()]

    def _strings(self, table: pa.RecordBatch, path: Path) -> pa.Array:
        """Return a column of texts. A null text is empty: it has no signal, and its record is
        kept."""
        import pyarrow as pa
        import pyarrow.compute as pc

        return pc.fill_null(plain_array(_column(table, path)).cast(pa.large_string()), "")

    def _good(self, texts: list[pa.Array], row: int) -> NDArray[np.bool_]:
        """Return which rows give a document; report the others."""
        import numpy as np
        import pyarrow.compute as pc

        long = np.zeros(len(texts[0]), dtype=np.int64)
        for column in texts:
            long += np.asarray(pc.binary_length(column))
        over = long > self._most
        for at in np.flatnonzero(over).tolist():
            reason = batch.record_too_long(self._most)
            self._task.report(Unreadable(self._source, row + at + 1, reason))
        return ~over

    def _names(
        self, table: pa.RecordBatch, keep: pa.Array, numbers: NDArray[np.int64]
    ) -> pa.LargeStringArray:
        import pyarrow as pa
        import pyarrow.compute as pc

        ids = None
        if self._id:
            ids = plain_array(_column(table, self._id)).filter(keep)
            if pa.types.is_nested(ids.type):
                if count := len(ids) - ids.null_count:
                    first = int(numbers[ids.is_valid().index(True).as_py()]) + 1
                    self._task.odd_ids.see(first, f"{ids.type}", count)
                ids = None
            else:
                ids = id_strings(ids)
        if ids is not None and not ids.null_count:
            return ids
        places = [f"{self._source}:{number + 1}" for number in numbers.tolist()]
        made = pa.array(places, pa.large_string())
        return made if ids is None else pc.coalesce(ids, made)

    def _joined(self, columns: dict[str, pa.Array]) -> pa.LargeStringArray:
        """Join several columns by line breaks; a missing one counts as empty."""
        import pyarrow as pa
        import pyarrow.compute as pc

        if len(self._wanted) == 1:
            return columns[self._wanted[0]]
        size = len(next(iter(columns.values())))
        empty = pa.array([""] * size, pa.large_string())
        cells = [columns.get(name, empty) for name in self._wanted]
        return pc.binary_join_element_wise(*cells, pa.scalar("\n", pa.large_string()))


def _find(fields: pa.Schema | pa.StructType, name: str) -> Path:
    """Return the path to a column by its name, or by names of structs with dots between."""
    import pyarrow as pa

    if name in _names_of(fields):
        return (name,)
    at = name.find(".")
    while at >= 0:
        head, rest = name[:at], name[at + 1 :]
        kind = fields.field(head).type if head in _names_of(fields) else pa.null()
        if pa.types.is_struct(kind) and (found := _find(kind, rest)):
            return (head, *found)
        at = name.find(".", at + 1)
    return ()


def _names_of(fields: pa.Schema | pa.StructType) -> list[str]:
    return [field.name for field in fields]


def _column(table: pa.RecordBatch, path: Path) -> pa.Array:
    import pyarrow.compute as pc

    column = table[path[0]]
    return pc.struct_field(column, list(path[1:])) if path[1:] else column


def id_strings(column: pa.Array) -> pa.LargeStringArray:
    """Return scalars of any type as strings; null for null and NaN."""
    import pyarrow as pa

    kind = column.type
    text = pa.large_string()
    if _is_string(kind) or pa.types.is_integer(kind):
        return column.cast(text)
    if isinstance(kind, pa.BaseExtensionType):  # such as UUID
        return id_strings(column.storage)
    if pa.types.is_floating(kind):
        return pa.array(map(scalar_id, column.to_pylist()), text)
    if pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
        return pa.array(map(_of_bytes, column.to_pylist()), text)
    if pa.types.is_fixed_size_binary(kind):
        wide = kind.byte_width == 16
        return pa.array([_of_bytes(x, is_uuid=wide) for x in column.to_pylist()], text)
    try:
        return column.cast(text)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return pa.array([scalar_id(value) for value in column.to_pylist()], text)


def _of_bytes(value: bytes | None, *, is_uuid: bool = False) -> str | None:
    """Return 16 bytes of a fixed-size column as a UUID; others as text if they are UTF-8, else as
    hex."""
    if value is None:
        return None
    if is_uuid:
        return str(UUID(bytes=value))
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value.hex()


def _is_string(kind: pa.DataType) -> bool:
    import pyarrow as pa

    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return bool(
        pa.types.is_string(kind)
        or pa.types.is_large_string(kind)
        or pa.types.is_string_view(kind)
        or pa.types.is_null(kind)
    )


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())


register(
    Format(
        "parquet",
        "Parquet",
        (".parquet",),
        read_parquet_batches,
        keeps="rows",
        rank=14,
        packable=False,
    )
)
