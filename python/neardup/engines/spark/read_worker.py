"""The workers' side of reading inputs: units of files in, pieces of batches out.

It uses the readers of local jobs, so ids, lines, spans and unreadable records are the same.
"""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from neardup import _core
from neardup.engines.spark.errors import WorkerError
from neardup.files.reading import batch as document
from neardup.files.reading import jsonl
from neardup.files.reading.batch import Batch, Precompute, Precomputed, Reading, Task, Unreadable
from neardup.files.reading.formats import Format, all_formats, name_of
from neardup.files.reading.inputs import read_batches
from neardup.files.reading.locations import using_opener
from neardup.files.reading.streams import blocks
from neardup.near.corpus import precompute
from neardup.near.question import Question
from neardup.text.recipe import Recipe

if TYPE_CHECKING:
    import pyarrow as pa

# A unit to read. Paths need not be UTF-8.
UNIT_SCHEMA = "unit long, path binary, start long, stop long, line long, in_place boolean"
# Pieces of results, in order. A kind is "batch", "problem", "note", "odd" or "lines".
PIECE_SCHEMA = "unit long, at long, kind string, more boolean, payload binary"
# Maximum bytes of a piece: several fit into a message of a server.
PIECE_BYTES = 8 << 20
READ_BYTES = 1 << 20


@dataclass(frozen=True)
class ReadSettings:
    """Settings of the job, pickled into every task.

    version    of neardup on the driver: another version may read in another way
    driver     host and process of the driver: other processes leave the cores to Spark
    folder     current directory of the driver, for relative paths
    formats    all registered formats: unpickling them imports, and so registers, those of higher
               packages in the worker
    """

    reading: Reading
    question: Question
    recipe: Recipe
    version: str = _core.__version__
    driver: tuple[str, int] = field(default_factory=lambda: _process())
    folder: str = field(default_factory=os.getcwd)
    formats: tuple[Format, ...] = field(default_factory=lambda: tuple(all_formats().values()))

    @property
    def precompute(self) -> Precompute | None:
        """What readers compute from texts in place; None for a hash that only Python can call."""
        sketched = self.question.similarity is not None
        if not sketched and callable(self.recipe.hash):
            return None
        return Precompute(self.recipe.pipeline, sketched)

    def check_worker(self) -> None:
        """Raise WorkerError for another version of neardup; leave the cores to Spark's tasks."""
        if _core.__version__ != self.version:
            raise WorkerError(
                f"a worker has neardup {_core.__version__}, but the driver has {self.version}; "
                "install the same version on all machines"
            )
        if _process() != self.driver:
            os.environ.setdefault("RAYON_NUM_THREADS", "1")
            # Relative paths then name the same files, if the worker has that directory.
            with suppress(OSError):
                os.chdir(self.folder)


def _process() -> tuple[str, int]:
    return socket.gethostname(), os.getpid()


class LineRange:
    """The lines of a file that begin in [start, stop), as a byte stream for `blocks`.

    position  in the file, so that only its first bytes are checked for a byte order mark
    """

    encoding = None

    def __init__(self, raw: Any, path: str, start: int, stop: int, reading: Reading) -> None:
        self.path = path
        self.name = name_of(path)
        self.most = document.MAX_BYTES if reading.max_document is None else reading.max_document
        self._raw = raw
        self._stop = stop
        self._ended = False
        self.begin = self._next_line(start)
        self.position = self.begin
        self._raw.seek(self.begin)
        # A line that began earlier belongs to the unit with its beginning.
        self._ended = start > 0 and self.begin >= stop

    def _next_line(self, start: int) -> int:
        if start == 0:
            return 0
        at = start - 1
        self._raw.seek(at)
        while data := bytes(self._raw.read(READ_BYTES)):
            if (end := data.find(b"\n")) >= 0:
                return at + end + 1
            at += len(data)
        return at

    def read(self, size: int) -> bytes:
        """Read up to `size` bytes, not beyond the end of the last line."""
        if self._ended:
            return b""
        data: bytes = self._raw.read(size)
        last = self._stop - 1 - self.position
        if not data:
            self._ended = True
        elif len(data) > last and (end := data.find(b"\n", max(last, 0))) >= 0:
            # The line with the last byte of the range ends here.
            data, self._ended = data[: end + 1], True
        self.position += len(data)
        return data


def count_lines(
    settings: ReadSettings,
) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """Return a task that counts the lines of each unit."""

    def count(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        settings.check_worker()
        for unit in _unit_rows(batches):
            lines = 0
            with _open_file(unit) as raw:
                part = LineRange(raw, "", unit["start"], unit["stop"], settings.reading)
                while data := part.read(READ_BYTES):
                    lines += data.count(b"\n")
            yield _piece_batch(unit["unit"], 0, "lines", str(lines).encode())

    return count


def read_units(
    settings: ReadSettings,
) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """Return a task that reads the records of each unit."""

    def read(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        settings.check_worker()
        for unit in _unit_rows(batches):
            yield from _read_unit(settings, unit)

    return read


def read_contents(
    settings: ReadSettings,
) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """Return a task that reads files whose bytes come through Spark: unit, path, content."""

    def read(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import io

        settings.check_worker()
        for unit in _unit_rows(batches):
            path, content = os.fsdecode(unit["path"]), unit.pop("content")

            def opened(name: str, path: str = path, content: bytes = content) -> Any:
                return io.BytesIO(content) if name == path else None

            with using_opener(opened):
                yield from _read_unit(settings, {**unit, "stop": -1, "in_place": False})

    return read


def _unit_rows(batches: Iterator[pa.RecordBatch]) -> Iterator[dict[str, Any]]:
    for batch in batches:
        yield from batch.to_pylist()


def _open_file(unit: dict[str, Any]) -> Any:
    path = os.fsdecode(unit["path"])
    try:
        return open(path, "rb")
    except FileNotFoundError:
        raise WorkerError(
            f"{name_of(path)}: no such file on a worker; put it on a shared disk, or use a URL "
            "that Spark reads, such as s3a:// or hdfs://"
        ) from None


def _read_unit(settings: ReadSettings, unit: dict[str, Any]) -> Iterator[pa.RecordBatch]:
    """Yield the pieces of a unit in the order of reading."""
    path = os.fsdecode(unit["path"])
    waiting: list[tuple[str, bytes]] = []

    def report(problem: Unreadable) -> None:
        waiting.append(("problem", json.dumps(problem).encode("utf-8", "surrogatepass")))

    def note(message: str) -> None:
        waiting.append(("note", message.encode("utf-8", "backslashreplace")))

    precompute = settings.precompute if unit["in_place"] else None
    task = Task(path, settings.reading, report, note, None, precompute)
    is_part = unit["stop"] >= 0
    batches = (
        _part_batches(task, unit)
        if is_part
        else read_batches(path, settings.reading, report, note=note, making=task.making)
    )
    at = 0

    def flush() -> Iterator[pa.RecordBatch]:
        nonlocal at
        for kind, payload in waiting:
            yield from _split_payload(unit["unit"], at, kind, payload)
            at += 1
        waiting.clear()

    if not is_part and "://" not in path and not os.path.lexists(path):
        _open_file(unit)
    for batch in batches:
        yield from flush()
        yield from _split_payload(
            unit["unit"], at, "batch", pack_batch(batch, _precompute_batch(settings, batch))
        )
        at += 1
    if is_part and task.odd_ids.count:
        odd = task.odd_ids
        waiting.append(("odd", json.dumps([odd.first, odd.kind, odd.count]).encode()))
    yield from flush()


def _part_batches(task: Task, unit: dict[str, Any]) -> Iterator[Batch]:
    """Yield batches of the JSON lines that begin in a part of a file."""
    lines = unit["line"]
    known = jsonl.JsonlFile(task, name_of(task.path), None, unit["in_place"])

    def report(problem: Unreadable) -> None:
        line = None if problem.line is None else problem.line + lines
        task.report(problem._replace(line=line))

    try:
        with _open_file(unit) as raw:
            part = LineRange(raw, task.path, unit["start"], unit["stop"], task.reading)
            for first, start, block in blocks(part, report):  # type: ignore[arg-type]
                batch, problems = jsonl.parse_block(first + lines, start + part.begin, block, known)
                for problem in problems:
                    task.report(problem)
                if len(batch.ids):
                    yield batch
    except OSError as error:
        task.report(Unreadable(name_of(task.path), None, error.strerror or str(error)))


def _precompute_batch(settings: ReadSettings, batch: Batch) -> Precomputed:
    import numpy as np

    if batch.made is not None:
        return batch.made
    signal, sketches, values = precompute(
        settings.question, batch.texts, settings.recipe, settings.reading.threads
    )
    offsets = np.frombuffer(batch.texts.buffers()[1], dtype=np.int64)
    bounds = offsets[batch.texts.offset : batch.texts.offset + len(batch.texts) + 1]
    return Precomputed(signal, values, sketches, np.diff(bounds))


def _split_payload(unit: int, at: int, kind: str, payload: bytes) -> Iterator[pa.RecordBatch]:
    """Split a payload into pieces."""
    for start in range(0, max(len(payload), 1), PIECE_BYTES):
        some = payload[start : start + PIECE_BYTES]
        yield _piece_batch(
            unit, at, kind, some, more=start + PIECE_BYTES < len(payload), part=start // PIECE_BYTES
        )


def _piece_batch(
    unit: int, at: int, kind: str, payload: bytes, *, more: bool = False, part: int = 0
) -> pa.RecordBatch:
    import pyarrow as pa

    return pa.RecordBatch.from_pydict(
        {
            "unit": pa.array([unit], pa.int64()),
            # The lower bits order the pieces of one payload.
            "at": pa.array([at << 20 | part], pa.int64()),
            "kind": pa.array([kind], pa.string()),
            "more": pa.array([more], pa.bool_()),
            "payload": pa.array([payload], pa.binary()),
        }
    )


def pack_batch(batch: Batch, precomputed: Precomputed) -> bytes:
    """Encode a batch with its sketches or fingerprints as an Arrow stream."""
    import numpy as np
    import pyarrow as pa

    rows = len(batch.ids)
    columns: dict[str, Any] = {
        "id": batch.ids,
        "start": np.ascontiguousarray(batch.spans[:, 0]),
        "end": np.ascontiguousarray(batch.spans[:, 1]),
        "line": batch.lines,
        "length": precomputed.lengths.astype(np.int64),
        "signal": precomputed.signal,
    }
    if not batch.in_place or batch.made is None:
        columns["text"] = batch.texts
    for name, matrix in (("values", precomputed.values), ("sketches", precomputed.sketches)):
        if matrix is not None:
            flat = np.ascontiguousarray(matrix).reshape(rows, -1)
            width = flat.shape[1] * flat.itemsize
            columns[name] = pa.Array.from_buffers(
                pa.binary(width), rows, [None, pa.py_buffer(flat.tobytes())]
            )
    if batch.key is not None:
        columns["key"] = batch.key
    if batch.facts is not None:
        columns |= {f"facts.{x}": batch.facts.column(x) for x in batch.facts.schema.names}
    arrays = [x if isinstance(x, pa.Array) else pa.array(x) for x in columns.values()]
    packed = pa.RecordBatch.from_arrays(arrays, names=list(columns))
    packed = packed.replace_schema_metadata({"in_place": str(int(batch.in_place))})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, packed.schema) as writer:
        writer.write_batch(packed)
    found: bytes = sink.getvalue().to_pybytes()
    return found


def unpack_batch(payload: bytes) -> Batch:
    """Decode a batch of `pack_batch`."""
    import numpy as np
    import pyarrow as pa

    with pa.ipc.open_stream(payload) as reader:
        packed = reader.read_next_batch()
    names, rows = packed.schema.names, packed.num_rows

    def numbers(name: str) -> Any:
        return packed.column(name).to_numpy(zero_copy_only=False)

    def matrix(name: str, kind: str) -> Any:
        if name not in names:
            return None
        data = np.frombuffer(packed.column(name).buffers()[1], dtype=kind)
        return data.reshape(rows, -1) if rows else data.reshape(0, 1)

    precomputed = Precomputed(
        numbers("signal"), matrix("values", "<u8"), matrix("sketches", "u1"), numbers("length")
    )
    facts = None
    if any(name.startswith("facts.") for name in names):
        known = [name for name in names if name.startswith("facts.")]
        facts = pa.RecordBatch.from_arrays(
            [packed.column(name) for name in known],
            names=[name.removeprefix("facts.") for name in known],
        )
    return Batch(
        packed.column("id"),
        packed.column("text") if "text" in names else None,
        np.stack((numbers("start"), numbers("end")), axis=1),
        numbers("line"),
        packed.column("key") if "key" in names else None,
        packed.schema.metadata[b"in_place"] == b"1",
        precomputed,
        facts=facts,
    )
