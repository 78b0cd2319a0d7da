"""The driver's side of reading inputs on workers: splits files into units, orders the results.

A `DistributedReader` yields the batches that a local job would read: ids, spans, sketches or
fingerprints, and the texts that cannot be read again in place. The driver holds one round of units
at a time. `read_worker` is the workers' side.
"""

from __future__ import annotations

import glob
import io
import itertools
import json
import os
import stat
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from neardup.engines.spark.errors import wait_for
from neardup.engines.spark.read_worker import (
    PIECE_SCHEMA,
    UNIT_SCHEMA,
    ReadSettings,
    count_lines,
    read_contents,
    read_units,
    unpack_batch,
)
from neardup.files.reading import streams
from neardup.files.reading.batch import Task, Unreadable
from neardup.files.reading.formats import STDIN, format_by_name, is_known, is_url, name_of, packing
from neardup.files.reading.inputs import format_of
from neardup.files.reading.locations import is_plain_file, using_opener
from neardup.files.reading.records import MissingIds

if TYPE_CHECKING:
    from neardup.engines.spark.session import SparkConnection
    from neardup.files.reading.batch import Batch, Note, Report

# Bytes of a unit of a file that can be split.
PART_BYTES = 8 << 20
# The driver reads a file that cannot be split if more bytes of it would come back at once.
MAX_WHOLE_BYTES = 256 << 20
# Approximate bytes that come back in a round, and maximum units. A JVM holds them more than once,
# and has a gigabyte by default.
ROUND_BYTES = 128 << 20
MAX_ROUND_UNITS = 4096
# Initial estimates of the bytes that come back per byte of a file: without texts, which are read
# again in place; with texts; with texts of a compressed file.
IN_PLACE_GROWTH, TEXT_GROWTH, PACKED_GROWTH = 1.5, 2.5, 6.0
# A file of unknown size takes this share of a round.
UNKNOWN_SHARE = 1 / 8
# Schemes of URLs that Spark does not read itself.
OTHER_SCHEMES = ("http", "https", "hf", "sftp", "ftp", "github")
BINARY_FORMAT = "binaryFile"


def is_spark_url(path: str) -> bool:
    """Return whether Spark reads this URL: s3a://, hdfs://, abfss:// and the like."""
    return is_url(path) and path.partition("://")[0].lower() not in OTHER_SCHEMES


def expand_inputs(session: SparkConnection, names: Sequence[str]) -> list[str]:
    """Replace folders and patterns in Spark's storage by their files."""
    found: list[str] = []
    for name in names:
        if not is_spark_url(name):
            found.append(name)
        elif glob.has_magic(name) or not format_by_name(name):
            inside = [path for path in _list_files(session, name) if is_known(path)]
            if not inside:
                raise ValueError(f"{name_of(name)}: no readable file found")
            found += inside
        else:
            found.append(name)
    return list(dict.fromkeys(found))


@contextmanager
def opened_by_spark(session: SparkConnection) -> Iterator[None]:
    """Read files in Spark's storage through Spark in the `with` block."""

    def opened(url: str) -> Any:
        return _open_url(session, url) if is_spark_url(url) else None

    with using_opener(opened):
        yield


@dataclass(frozen=True)
class InputUnit:
    """A file, or part of one.

    stop    -1 for a whole file
    growth  estimated bytes that come back per byte
    size    in bytes; 0 if unknown
    """

    path: str
    start: int
    stop: int
    in_place: bool
    growth: float
    size: int


class DistributedReader:
    """Reads the files of a job on workers.

    skip          whether the driver does not need a file at all
    max_in_place  maximum number of files whose texts are read again in place
    """

    def __init__(
        self,
        session: SparkConnection,
        files: Sequence[str],
        settings: ReadSettings,
        *,
        skip: Callable[[str], bool],
        max_in_place: int,
    ) -> None:
        self._session = session
        self._settings = settings
        self._files = [[] if skip(path) else self._split_file(path) for path in files]
        in_place = [units for units in self._files if units and units[0].in_place]
        for units in in_place[max_in_place:]:
            units[:] = [replace(unit, in_place=False, growth=TEXT_GROWTH) for unit in units]
        # Units get numbers in the order of files.
        self._starts = [0]
        for units in self._files:
            self._starts.append(self._starts[-1] + len(units))
        self._units = [unit for units in self._files for unit in units]
        self._lines = self._count_lines()
        self._next = 0
        # Measured growth of units, by their estimate.
        self._growth: dict[float, float] = {}
        self._read: dict[int, deque[Any]] = {}

    def has(self, number: int) -> bool:
        """Return whether workers read the file with this number; else the driver has to."""
        return bool(self._files[number])

    def _split_file(self, path: str) -> list[InputUnit]:
        """Split a file into units; none if the driver has to read it."""
        if is_url(path):
            return [InputUnit(path, 0, -1, False, TEXT_GROWTH, 0)] if is_spark_url(path) else []
        if path == STDIN:
            return []
        with suppress(OSError):
            found = os.stat(path)
            if not stat.S_ISREG(found.st_mode):
                return []
            size = found.st_size
            if self._is_plain_jsonl(path):
                cuts = [*range(0, max(size, 1), PART_BYTES), size]
                whole = len(cuts) == 2
                return [
                    InputUnit(
                        path, start, -1 if whole else stop, True, IN_PLACE_GROWTH, stop - start
                    )
                    for start, stop in itertools.pairwise(cuts)
                ]
            growth = PACKED_GROWTH if packing(path) else TEXT_GROWTH
            if size * growth <= MAX_WHOLE_BYTES:
                return [InputUnit(path, 0, -1, False, growth, size)]
        return []

    def _is_plain_jsonl(self, path: str) -> bool:
        reading = self._settings.reading
        if format_of(path, reading).name != "jsonl" or not is_plain_file(path):
            return False
        with streams.open_stored(path, reading) as file:
            return file.is_plain

    def _count_lines(self) -> list[int]:
        """Return the number of lines before each unit in its file."""
        before = [0] * len(self._units)
        parts = [at for at, unit in enumerate(self._units) if unit.stop >= 0]
        if parts:
            counted = dict.fromkeys(parts, 0)
            for row in self._run(parts, count_lines(self._settings)):
                counted[row["unit"]] = int(row["payload"])
            for at in parts:
                if self._units[at].start:
                    before[at] = before[at - 1] + counted[at - 1]
        return before

    def _run(self, units: Sequence[int], task: Any) -> list[Any]:
        """Run a task on these units; return its pieces in order."""
        if not units:
            return []
        import pyarrow as pa

        some = [self._units[at] for at in units]
        lines = getattr(self, "_lines", None) or [0] * len(self._units)
        table = pa.table(
            {
                "unit": pa.array(units, pa.int64()),
                "path": pa.array([os.fsencode(unit.path) for unit in some], pa.binary()),
                "start": pa.array([unit.start for unit in some], pa.int64()),
                "stop": pa.array([unit.stop for unit in some], pa.int64()),
                "line": pa.array([lines[at] for at in units], pa.int64()),
                "in_place": pa.array([unit.in_place for unit in some], pa.bool_()),
            }
        )
        session = self._session

        def read() -> list[Any]:
            frame = session.spark.createDataFrame(table, UNIT_SCHEMA)
            if len(units) > 1:
                frame = frame.repartition(min(len(units), 4 * session.cores))
            return _sort_pieces(frame.mapInArrow(task, PIECE_SCHEMA).collect())

        return wait_for(read)

    def _run_contents(self, units: Sequence[int]) -> list[Any]:
        """Read files whose bytes Spark reads; return the pieces in order."""

        def read() -> list[Any]:
            frame = None
            for at in units:
                one = _file_contents(self._session, self._units[at].path, at)
                frame = one if frame is None else frame.unionAll(one)
            if frame is None:
                return []
            return _sort_pieces(
                frame.mapInArrow(read_contents(self._settings), PIECE_SCHEMA).collect()
            )

        return wait_for(read)

    def _weight(self, unit: InputUnit) -> float:
        """Estimate the bytes that come back of a unit."""
        if not unit.size:
            return ROUND_BYTES * UNKNOWN_SHARE
        return unit.size * self._growth.get(unit.growth, unit.growth)

    def _read_round(self) -> None:
        """Read the next round of units."""
        units: list[int] = []
        weight = 0.0
        while self._next < len(self._units) and len(units) < MAX_ROUND_UNITS:
            weight += self._weight(self._units[self._next])
            if units and weight > ROUND_BYTES:
                break
            units.append(self._next)
            self._next += 1
        of_spark = [at for at in units if is_url(self._units[at].path)]
        plain = [at for at in units if not is_url(self._units[at].path)]
        for at in units:
            self._read[at] = deque()
        for row in [
            *self._run(plain, read_units(self._settings)),
            *self._run_contents(of_spark),
        ]:
            self._read[row["unit"]].append(row)
        self._update_growth(units)

    def _update_growth(self, units: Sequence[int]) -> None:
        """Measure the growth of the units of a round, to size the next one."""
        sent: Counter[float] = Counter()
        received: Counter[float] = Counter()
        for at in units:
            unit = self._units[at]
            if unit.size:
                sent[unit.growth] += unit.size
                received[unit.growth] += sum(len(row["payload"]) for row in self._read[at])
        for kind, size in sent.items():
            # The next units may differ, as short records after long ones. The lower limit keeps a
            # round within a few times its size.
            self._growth[kind] = max(received[kind] / size, kind / 4)

    def batches(
        self, number: int, report: Report, note: Note, progress: Callable[[int], object] | None
    ) -> Iterator[Batch]:
        """Yield the batches of a file as a local reader does, with sketches or fingerprints."""
        units = range(self._starts[number], self._starts[number + 1])
        task = Task(self._units[units[0]].path, self._settings.reading, report, note)
        missing_ids = MissingIds(task) if len(units) > 1 else None
        for unit in units:
            while unit not in self._read:
                self._read_round()
            for kind, payload in _join_pieces(self._read.pop(unit)):
                if kind == "problem":
                    report(Unreadable(*json.loads(payload)))
                elif kind == "note":
                    note(payload.decode())
                elif kind == "odd":
                    task.odd_ids.see(*json.loads(payload))
                else:
                    batch = unpack_batch(payload)
                    if missing_ids is not None:
                        missing_ids.see(batch)
                    yield batch
            if progress is not None:
                progress(self._units[unit].size)
        if missing_ids is not None:
            missing_ids.tell()


def _sort_pieces(rows: list[Any]) -> list[Any]:
    return sorted(rows, key=lambda row: (row["unit"], row["at"]))


def _join_pieces(rows: deque[Any]) -> Iterator[tuple[str, bytes]]:
    """Join pieces; yield kind and payload."""
    parts: list[bytes] = []
    while rows:
        row = rows.popleft()
        parts.append(bytes(row["payload"]))
        if not row["more"]:
            yield row["kind"], b"".join(parts)
            parts = []


def _file_contents(session: SparkConnection, url: str, number: int) -> Any:
    """Return a DataFrame of one file: unit, path, start, line, content."""
    from pyspark.sql import functions

    files = session.spark.read.format(BINARY_FORMAT).load(url)
    return files.select(
        functions.lit(number).cast("long").alias("unit"),
        functions.lit(url).cast("binary").alias("path"),
        functions.lit(0).cast("long").alias("start"),
        functions.lit(0).cast("long").alias("line"),
        "content",
    )


def _open_url(session: SparkConnection, url: str) -> Any:
    """Return a stream of the bytes of one file, on the driver."""
    files = session.spark.read.format(BINARY_FORMAT)
    rows = wait_for(lambda: files.load(url).select("content").collect())
    if not rows:
        raise FileNotFoundError(f"{url}: no such file")
    return io.BytesIO(bytes(rows[0]["content"]))


def _list_files(session: SparkConnection, url: str) -> Sequence[str]:
    """Return the files of a folder or pattern in Spark's storage, sorted."""
    files = session.spark.read.format(BINARY_FORMAT).option("recursiveFileLookup", "true")
    rows = wait_for(lambda: files.load(url).select("path").collect())
    scheme = url.partition("://")[0]
    found = []
    for row in rows:
        path = str(row["path"])
        # Some engines return the path alone, or one slash after the scheme.
        rest = path.partition(":")[2] if path.startswith(f"{scheme}:") else path
        rest = (
            rest
            if rest.startswith("//")
            else f"//{'/' if scheme == 'file' else ''}{rest.lstrip('/')}"
        )
        found.append(f"{scheme}:{rest}")
    return sorted(found)
