"""Documents in batches, the options for reading them, and reports of what cannot be read."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from neardup import _core
from neardup._util.arrow import string_array
from neardup.files.reading import encodings
from neardup.files.reading.formats import all_formats
from neardup.text.views import Viewing

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray


# A longer document is reported, not read, unless `Reading.max_document` allows more: one broken
# file must not take all memory.
MAX_BYTES = 256 << 20
BOM = b"\xef\xbb\xbf"
GZIP = b"\x1f\x8b"
ZSTD = b"\x28\xb5\x2f\xfd"


class Document(NamedTuple):
    """A text and its id."""

    id: str
    text: str


class Unreadable(NamedTuple):
    """A place in a file that gives no document, and why.

    `kind` is the reason without the details that differ from place to place, so that equal problems
    can be counted; `hint` is advice.
    """

    source: str
    line: int | None
    reason: str
    kind: str = ""
    hint: str = ""

    def __str__(self) -> str:
        place = self.source if self.line is None else f"{self.source}:{self.line}"
        return f"{place}: {self.reason}" + (f"; {self.hint}" if self.hint else "")


Report = Callable[[Unreadable], None]
# Receives a sentence about a surprise, such as the encoding a file was decoded from.
Note = Callable[[str], object]


def group_documents(
    documents: Iterable[Document], *, most: int = 4096, characters: int = 8 << 20
) -> Iterator[list[Document]]:
    """Yield lists of documents, each closed at `most` documents or `characters` of text."""
    batch: list[Document] = []
    size = 0
    for document in documents:
        batch.append(document)
        size += len(document.text)
        if len(batch) >= most or size >= characters:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def decode(data: bytes) -> str | UnicodeDecodeError:
    """Decode UTF-8; return the error instead of raising it."""
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        return error


def too_long(most: int) -> str:
    """Return the reason for a text file over the limit."""
    return (
        f"longer than {format_size(most)}; split it, read one document per line (--lines), "
        f"or {_more()}"
    )


def line_too_long(most: int) -> str:
    """Return the reason for a line over the limit."""
    return f"the line is longer than {format_size(most)}; {_more()}"


def record_too_long(most: int) -> str:
    """Return the reason for a record over the limit."""
    return f"the record is longer than {format_size(most)}; {_more()}"


def text_too_long(most: int) -> str:
    """Return the reason for a document whose extracted text is over the limit."""
    return f"its text is longer than {format_size(most)}; {_more()}"


def file_too_long(most: int) -> str:
    """Return the reason for a document whose file is over the limit."""
    return f"the file is longer than {format_size(most)}; {_more()}"


def _more() -> str:
    return "raise --max-document"


def format_size(count: int) -> str:
    """Return a number of bytes in words, never rounded: 256 MiB, 1,000 bytes."""
    for shift, unit in ((40, "TiB"), (30, "GiB"), (20, "MiB"), (10, "KiB")):
        if count and not count % (1 << shift):
            return f"{count >> shift:,} {unit}"
    return f"{count:,} bytes"


# ---- batches ----

# Text of a batch: enough to keep all cores busy, little enough to fit in memory many times.
BATCH_BYTES = 8 << 20
BATCH_ROWS = 1 << 16
DEFAULT_TEXT = ("text",)
# The core has 31 bits for lengths and offsets within a text.
MOST_DOCUMENT = 1 << 30


class Precompute(NamedTuple):
    """What to compute from texts while they are read: sketches, or else fingerprints."""

    pipeline: _core.Pipeline
    sketches: bool


class Precomputed(NamedTuple):
    """What was computed from a batch: signal, fingerprints or sketches, and the bytes of each
    text."""

    signal: NDArray[np.bool_]
    values: NDArray[np.uint64] | None
    sketches: NDArray[np.uint8] | None
    lengths: NDArray[np.int64]


class Batch(NamedTuple):
    """Some documents of one file, in order.

    spans     where each record is in the file, unpacked and as UTF-8: [start, end) in bytes with
              its line end; for Parquet [row, row + 1); [0, 0) for formats that are kept as texts
    lines     line numbers, from 1; of rows for Parquet, of records for JSON and formats without
              lines
    key       values of `Reading.key_column`, null where missing
    in_place  each span of the stored file is a JSON line from which the core can read the text
              again
    made      what was computed while reading an `in_place` batch, which then has no texts
    others    the other columns of each record, with `Reading.others`
    facts     columns of a capture of HTTP responses, a row per document
    """

    ids: pa.LargeStringArray
    texts: pa.LargeStringArray
    spans: NDArray[np.int64]
    lines: NDArray[np.int64]
    key: pa.Array | None
    in_place: bool = False
    made: Precomputed | None = None
    others: Sequence[dict[str, Any]] | None = None
    facts: pa.RecordBatch | None = None


@dataclass(frozen=True)
class Reading:
    """How to read files.

    Several text columns are joined by a line break; one of several may be missing, all may not.
    Without `id_column` the id is the column "id" where there is one, else file:line. A column a.b
    is the b in a, unless there is a column of that very name. Without `format` the ending of a
    file tells it. With `others` the columns that are neither text nor id are read as well, which
    takes longer.

    encoding      of text, JSON, CSV and HTML: a name Python knows, or "auto" to have it detected
                  [default: UTF-8]; a byte order mark is always obeyed
    delimiter     between the cells of CSV and TSV [default: , or a tab]
    quoting       "all": cells may be in quotes; "none": quotes are ordinary characters
                  [default: "all" for CSV, "none" for TSV]
    header        whether the first row of CSV and TSV has the names of the columns; without one
                  they are called "1", "2" and so on
    max_bytes     that a compressed file may unpack to [default: 16 GiB, or 100 times its size if
                  more]
    max_document  bytes of one document [default: 256 MiB]
    keeps         whether kept records are written; a note then says that they are in UTF-8
    viewing       the files are captures of HTTP responses; which views of them are compared
    threads       number of threads that make these views [default: all cores]
    """

    text_columns: tuple[str, ...] = DEFAULT_TEXT
    id_column: str | None = None
    key_column: str | None = None
    lines: bool = False
    format: str | None = None
    others: bool = False
    encoding: str | None = None
    delimiter: str | None = None
    quoting: str | None = None
    header: bool = True
    max_bytes: int | None = None
    max_document: int | None = None
    keeps: bool = True
    viewing: Viewing | None = None
    threads: int | None = None

    def __post_init__(self) -> None:
        if not self.text_columns:
            raise ValueError("text_columns is empty; name at least one column")
        for name in self.text_columns:
            if self.text_columns.count(name) > 1:
                raise ValueError(f"text_columns has {name!r} twice; name each column once")
        if self.format is not None and self.format not in all_formats():
            raise ValueError(f"format is {self.format!r}; use one of {', '.join(all_formats())}")
        if self.encoding is not None:
            object.__setattr__(self, "encoding", encodings.canonical(self.encoding))
        if self.delimiter is not None:
            _check_delimiter(self.delimiter)
        if self.quoting not in (None, "all", "none"):
            raise ValueError(f'quoting is {self.quoting!r}; use "all" or "none"')
        _check_size("max_bytes", self.max_bytes, None)
        _check_size("max_document", self.max_document, MOST_DOCUMENT)


@dataclass
class OddIds:
    """Counts ids that are lists or objects, from any thread; their records get file:line as id."""

    count: int = 0
    first: int = 0
    kind: str = ""
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def see(self, line: int, kind: str, count: int = 1) -> None:
        """Count some more, the first at this line and of this kind."""
        with self._lock:
            if not self.count or line < self.first:
                self.first, self.kind = line, kind
            self.count += count


@dataclass(frozen=True)
class Task:
    """A file to read, and the callbacks of its reader.

    path, reading  the file and the options
    report         receives each place that gives no document
    note           receives a sentence about each surprise
    progress       receives the number of stored bytes read since its last call
    making         what to compute from the texts at once; see `Batch.made`
    odd_ids        counts ids that are lists or objects
    """

    path: str
    reading: Reading
    report: Report
    note: Note
    progress: Callable[[int], object] | None = None
    making: Precompute | None = None
    odd_ids: OddIds = field(default_factory=OddIds)


def _check_delimiter(value: object) -> None:
    if not isinstance(value, str) or len(value) != 1 or value in '"\r\n\0':
        raise ValueError(
            f"delimiter is {value!r}; it must be one character, and no quote or line end"
        )


def _check_size(name: str, value: object, most: int | None) -> None:
    if value is None:
        return
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ValueError(f"{name} is {value!r}; it must be a whole number of bytes, at least 1")
    if most is not None and value > most:
        raise ValueError(f"{name} is {value:,}; it must be at most {most:,} bytes")


def make_batch(
    ids: Sequence[str],
    texts: Sequence[str],
    spans: Any,
    lines: Any,
    keys: Sequence[Any] | None,
    others: Sequence[dict[str, Any]] | None = None,
) -> Batch:
    """Make a batch of Python values."""
    import numpy as np

    return Batch(
        string_array(ids),
        string_array(texts),
        np.asarray(spans, dtype=np.int64).reshape(-1, 2),
        np.asarray(lines, dtype=np.int64),
        None if keys is None else key_array(keys),
        others=others,
    )


def key_array(values: Sequence[Any]) -> pa.Array:
    """Return values as one column: numbers if all are, else strings; other types become null."""
    import pyarrow as pa

    kinds = {type(value) for value in values}
    if str in kinds:
        return pa.array([_word(value) for value in values], pa.large_string())
    if not kinds & {int, float}:
        return pa.nulls(len(values))
    numbers = [value if type(value) in (int, float) else None for value in values]
    try:
        return pa.array(numbers, pa.float64() if float in kinds else pa.int64())
    except (OverflowError, pa.ArrowInvalid):  # beyond 64 bits, or not an exact float
        return pa.array([_float(number) for number in numbers], pa.float64())


def _float(number: float | None) -> float | None:
    try:
        return None if number is None else float(number)
    except OverflowError:
        return None


def _word(value: Any) -> str | None:
    if type(value) in (int, float):
        return str(value)
    # Arrow cannot hold half a surrogate pair.
    return value.encode(errors="replace").decode() if isinstance(value, str) else None
