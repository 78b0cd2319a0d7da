"""Inputs read on the workers of Spark: cut into units here, and put in order again.

What a local job would have read comes back batch by batch: ids, places, what was made of the texts,
and the texts themselves where they cannot be read again in place. The driver holds a round of them
at a time.
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

# Bytes of one unit of a file that can be cut.
PART_BYTES = 8 << 20
# A file that cannot be cut is read by the driver if more bytes of it would come back at once.
MAX_WHOLE_BYTES = 256 << 20
# About the bytes that come back in a round, and units of one. A JVM has a gigabyte unless it was
# given more, and holds them more than once.
ROUND_BYTES = 128 << 20
MAX_ROUND_UNITS = 4096
# Bytes that come back for each of a file, before any has come: ids, places and sketches of what
# stays in its file; these and texts; the same of texts that were packed.
IN_PLACE_GROWTH, TEXT_GROWTH, PACKED_GROWTH = 1.5, 2.5, 6.0
# What is not known takes so much of a round.
UNKNOWN_SHARE = 1 / 8
# Kinds of URL that Spark does not read itself.
OTHER_SCHEMES = ("http", "https", "hf", "sftp", "ftp", "github")
BINARY_FORMAT = "binaryFile"


def is_spark_url(path: str) -> bool:
    """Whether a URL is for Spark to read: s3a://, hdfs://, abfss:// and the like."""
    return is_url(path) and path.partition("://")[0].lower() not in OTHER_SCHEMES


def expand_inputs(session: SparkConnection, names: Sequence[str]) -> list[str]:
    """Folders and patterns of Spark's storage replaced by the files they hold."""
    found: list[str] = []
    for name in names:
        if not is_spark_url(name):
            found.append(name)
        elif glob.has_magic(name) or not format_by_name(name):
            inside = [path for path in _list_files(session, name) if is_known(path)]
            if not inside:
                raise ValueError(f"{name_of(name)}: no file to read there")
            found += inside
        else:
            found.append(name)
    return list(dict.fromkeys(found))


@contextmanager
def opened_by_spark(session: SparkConnection) -> Iterator[None]:
    """In here this process reads what is in Spark's storage through Spark."""

    def opened(url: str) -> Any:
        return _open_url(session, url) if is_spark_url(url) else None

    with using_opener(opened):
        yield


@dataclass(frozen=True)
class InputUnit:
    """A file, or part of one.

    stop   -1 for a whole file
    size   in bytes; 0 where it is not known
    grows  by how much of it comes back, as far as one can tell beforehand
    """

    path: str
    start: int
    stop: int
    in_place: bool
    grows: float
    size: int


class DistributedReader:
    """The files of a job, read by workers.

    most_in_place  files whose texts may stay where they are
    """

    def __init__(
        self,
        session: SparkConnection,
        files: Sequence[str],
        work: ReadSettings,
        *,
        skip: Callable[[str], bool],
        most_in_place: int,
    ) -> None:
        self._session = session
        self._work = work
        self._files = [[] if skip(path) else self._cut(path) for path in files]
        in_place = [units for units in self._files if units and units[0].in_place]
        for units in in_place[most_in_place:]:
            units[:] = [replace(unit, in_place=False, grows=TEXT_GROWTH) for unit in units]
        # Units get numbers in the order of files.
        self._starts = [0]
        for units in self._files:
            self._starts.append(self._starts[-1] + len(units))
        self._units = [unit for units in self._files for unit in units]
        self._lines = self._count_lines()
        self._next = 0
        # By how much units of each kind have grown in the rounds before.
        self._growth: dict[float, float] = {}
        self._read: dict[int, deque[Any]] = {}

    def has(self, number: int) -> bool:
        """Whether workers read the file of this number."""
        return bool(self._files[number])

    def _cut(self, path: str) -> list[InputUnit]:
        """The units of a file; none if the driver has to read it itself."""
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
            grows = PACKED_GROWTH if packing(path) else TEXT_GROWTH
            if size * grows <= MAX_WHOLE_BYTES:
                return [InputUnit(path, 0, -1, False, grows, size)]
        return []

    def _is_plain_jsonl(self, path: str) -> bool:
        reading = self._work.reading
        if format_of(path, reading) != "jsonl" or not is_plain_file(path):
            return False
        with streams.open_stored(path, reading) as file:
            return file.is_plain

    def _count_lines(self) -> list[int]:
        """How many lines of its file are before each unit."""
        before = [0] * len(self._units)
        parts = [at for at, unit in enumerate(self._units) if unit.stop >= 0]
        if parts:
            counted = dict.fromkeys(parts, 0)
            for row in self._run(parts, count_lines(self._work)):
                counted[row["unit"]] = int(row["payload"])
            for at in parts:
                if self._units[at].start:
                    before[at] = before[at - 1] + counted[at - 1]
        return before

    def _run(self, units: Sequence[int], task: Any) -> list[Any]:
        """What workers give back of these units, in order."""
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
        """The same of files whose bytes Spark reads."""

        def read() -> list[Any]:
            frame = None
            for at in units:
                one = _file_contents(self._session, self._units[at].path, at)
                frame = one if frame is None else frame.unionAll(one)
            if frame is None:
                return []
            return _sort_pieces(frame.mapInArrow(read_contents(self._work), PIECE_SCHEMA).collect())

        return wait_for(read)

    def _weight(self, unit: InputUnit) -> float:
        """Bytes that come back of a unit, about."""
        if not unit.size:
            return ROUND_BYTES * UNKNOWN_SHARE
        return unit.size * self._growth.get(unit.grows, unit.grows)

    def _read_on(self) -> None:
        """The next round."""
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
            *self._run(plain, read_units(self._work)),
            *self._run_contents(of_spark),
        ]:
            self._read[row["unit"]].append(row)
        self._learn(units)

    def _learn(self, units: Sequence[int]) -> None:
        """From what came back of a round, how much the next one may hold."""
        sent: Counter[float] = Counter()
        came: Counter[float] = Counter()
        for at in units:
            unit = self._units[at]
            if unit.size:
                sent[unit.grows] += unit.size
                came[unit.grows] += sum(len(row["payload"]) for row in self._read[at])
        for kind, size in sent.items():
            # What comes next may be of another kind: short records after long ones. Then a round is
            # a few times as large as it should be, and not more.
            self._growth[kind] = max(came[kind] / size, kind / 4)

    def batches(
        self, number: int, report: Report, note: Note, progress: Callable[[int], object]
    ) -> Iterator[Batch]:
        """The batches of a file, as its reader gives them, with what was made of them."""
        units = range(self._starts[number], self._starts[number + 1])
        task = Task(self._units[units[0]].path, self._work.reading, report, note)
        places = MissingIds(task) if len(units) > 1 else None
        for unit in units:
            while unit not in self._read:
                self._read_on()
            for kind, payload in _join_pieces(self._read.pop(unit)):
                if kind == "problem":
                    report(Unreadable(*json.loads(payload)))
                elif kind == "note":
                    note(payload.decode())
                elif kind == "odd":
                    task.odd_ids.see(*json.loads(payload))
                else:
                    batch = unpack_batch(payload)
                    if places is not None:
                        places.see(batch)
                    yield batch
            progress(self._units[unit].size)
        if places is not None:
            places.tell()


def _sort_pieces(rows: list[Any]) -> list[Any]:
    return sorted(rows, key=lambda row: (row["unit"], row["at"]))


def _join_pieces(rows: deque[Any]) -> Iterator[tuple[str, bytes]]:
    """Pieces put together."""
    parts: list[bytes] = []
    while rows:
        row = rows.popleft()
        parts.append(bytes(row["payload"]))
        if not row["more"]:
            yield row["kind"], b"".join(parts)
            parts = []


def _file_contents(session: SparkConnection, url: str, number: int) -> Any:
    """A DataFrame of one file: unit, path, start, line, content."""
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
    """The bytes of one file, here."""
    files = session.spark.read.format(BINARY_FORMAT)
    rows = wait_for(lambda: files.load(url).select("content").collect())
    if not rows:
        raise FileNotFoundError(f"{url}: no such file")
    return io.BytesIO(bytes(rows[0]["content"]))


def _list_files(session: SparkConnection, url: str) -> Sequence[str]:
    """The files that a folder or a pattern of Spark's storage holds, sorted."""
    files = session.spark.read.format(BINARY_FORMAT).option("recursiveFileLookup", "true")
    rows = wait_for(lambda: files.load(url).select("path").collect())
    scheme = url.partition("://")[0]
    found = []
    for row in rows:
        path = str(row["path"])
        # Some tell the path alone, or one slash after the scheme.
        rest = path.partition(":")[2] if path.startswith(f"{scheme}:") else path
        rest = (
            rest
            if rest.startswith("//")
            else f"//{'/' if scheme == 'file' else ''}{rest.lstrip('/')}"
        )
        found.append(f"{scheme}:{rest}")
    return sorted(found)
