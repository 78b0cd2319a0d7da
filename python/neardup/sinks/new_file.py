"""A file that appears only when it is complete, packed if its name says so."""

from __future__ import annotations

import gzip
import io
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, cast
from urllib.parse import unquote, urlsplit

from neardup.sources.document import STDIN
from neardup.sources.formats import PACKED, ending, is_url, packing

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

ENDINGS = (".jsonl", ".csv", ".tsv", ".ndjson", ".parquet")
GZIP_LEVEL = 6
BUFFER = 1 << 20
# What is read at a time to be copied.
WINDOW = 1 << 18
# From here on the kernel copies faster than we read and write.
LONG_RUN = 1 << 18
# The system takes so many pieces at a time.
MOST_VIEWS = 512
# Complete files and what they are to be called, while `together` holds them back.
_waiting: ContextVar[list[tuple[str, Path]] | None] = ContextVar("_waiting", default=None)


def check(path: Path, inputs: Sequence[str] = (), *, endings: Sequence[str] = ENDINGS) -> None:
    """Refuse what cannot be written, or is one of the inputs, before any work is done."""
    if ending(path.name) not in endings:
        known = f"{', '.join(endings)}, each also with {' or '.join(PACKED)}"
        raise ValueError(f"{str(path)!r}: unknown ending; use one of {known}")
    if ending(path.name) == ".parquet" and packing(path.name):
        raise ValueError(f"{str(path)!r}: Parquet is packed within; leave {path.suffix} out")
    folder = target_of(path).parent
    if not folder.is_dir():
        raise ValueError(f"{path}: the folder {folder} does not exist")
    if path.is_dir():
        raise ValueError(f"{path}: a folder; name a file in it")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise ValueError(f"{path}: the folder {folder} is not writable")
    if not path.exists():
        return
    for name in inputs:
        if _same(name, path):
            raise ValueError(f"{path}: is also an input, which would be lost; name another file")
    if not path.is_file():
        raise ValueError(f"{path}: not a regular file")
    if not os.access(path, os.W_OK):
        raise ValueError(f"{path}: not writable")


@contextmanager
def open_new(path: Path) -> Iterator[Raw]:
    """The bytes of a new file. A failed or stopped run leaves the old one, and no other."""
    target = target_of(path)
    with named(path):
        # In the same folder, so that renaming is one step.
        handle, temporary = tempfile.mkstemp(prefix=".neardup-", dir=target.parent)
    raw = Raw(handle, path)
    try:
        try:
            yield raw
            with named(path):
                os.fsync(handle)
        finally:
            raw.finish()
        with named(path):
            os.chmod(temporary, 0o666 & ~_umask())
        waiting = _waiting.get()
        if waiting is None:
            with named(path):
                os.replace(temporary, target)
        else:
            waiting.append((temporary, target))
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise


@contextmanager
def together() -> Iterator[None]:
    """Files that are completed in here appear at its end, all of them, or none if it fails."""
    waiting: list[tuple[str, Path]] = []
    token = _waiting.set(waiting)
    try:
        yield
        for temporary, target in waiting:
            with named(target):
                os.replace(temporary, target)
    except BaseException:
        for temporary, _ in waiting:
            with suppress(OSError):
                os.unlink(temporary)
        raise
    finally:
        _waiting.reset(token)


@contextmanager
def open_packed(path: Path) -> Iterator[BinaryIO]:
    """The same for content, which is packed as the ending says."""
    with open_new(path) as raw:
        how = packing(path.name)
        if how == "gzip":
            # Without name and time: equal content gives an equal file.
            packed = gzip.GzipFile("", "wb", GZIP_LEVEL, cast(BinaryIO, raw), mtime=0)
            stream = io.BufferedWriter(cast(io.RawIOBase, packed), BUFFER)
        else:
            stream = io.BufferedWriter(raw if how is None else _Zstd(raw), BUFFER)
        try:
            yield stream
            stream.close()
        except BaseException:
            # What is left in the buffers is not wanted, nor are the errors of writing it.
            raw.finish()
            with suppress(Exception):
                stream.close()
            raise


def copy_runs(
    source: int, target: int, runs: Sequence[tuple[int, int]], to: int, names: tuple[str, Path]
) -> int:
    """Copies stretches of a file to `to` and on; returns where they end.

    Long ones the kernel copies, without a look at them; short ones are read together, and written
    together without what lies between them.
    """
    window = memoryview(bytearray(WINDOW))
    waiting: list[tuple[int, int]] = []

    def write() -> None:
        nonlocal to
        if not waiting:
            return
        first, last = waiting[0][0], waiting[-1][1]
        _fill(source, window[: last - first], first, names[0])
        views = [window[start - first : end - first] for start, end in waiting]
        to += _write_all(target, views, to, names[1])
        waiting.clear()

    for start, end in runs:
        if end - start >= LONG_RUN:
            write()
            done = _copy_by_kernel(source, target, start, end - start, to)
            start, to = start + done, to + done
        while start < end:
            if waiting and (start - waiting[0][0] >= WINDOW or len(waiting) == MOST_VIEWS):
                write()
            stop = min(end, (waiting[0][0] if waiting else start) + WINDOW)
            waiting.append((start, stop))
            start = stop
    write()
    return to


def _copy_by_kernel(source: int, target: int, start: int, size: int, to: int) -> int:
    """How many bytes were copied, which may be none."""
    done = 0
    if hasattr(os, "copy_file_range"):
        # Another file system, or no room: plain writing will tell.
        with suppress(OSError):
            while done < size:
                count = os.copy_file_range(source, target, size - done, start + done, to + done)
                if not count:
                    break
                done += count
    return done


def _fill(source: int, window: memoryview, start: int, name: str) -> None:
    done = 0
    while done < len(window):
        count = os.preadv(source, [window[done:]], start + done)
        if not count:
            raise OSError(f"{name}: is shorter than when it was read; run again")
        done += count


def _write_all(target: int, views: list[memoryview], to: int, path: Path) -> int:
    """Writes all of them, however little the system takes at a time; how much that was."""
    size = sum(map(len, views))
    with named(path):
        done = 0
        while done < size:
            count = os.pwritev(target, views, to + done)
            done += count
            while views and count >= len(views[0]):
                count -= len(views.pop(0))
            if count:
                views[0] = views[0][count:]
    return size


class Raw(io.RawIOBase):
    """Unbuffered writing. Errors name the user's file, not the temporary one.

    Layers above may close it early; the file behind it stays open until `finish`, and what is
    written after that goes nowhere.
    """

    def __init__(self, handle: int, path: Path) -> None:
        self._handle: int | None = handle
        self._path = path

    def writable(self) -> bool:
        return True

    def write(self, data: ReadableBuffer) -> int:
        view = memoryview(data).cast("B")
        done = 0
        with named(self._path):
            while self._handle is not None and done < len(view):
                done += os.write(self._handle, view[done:])
        return len(view)

    def copy_runs(self, source: int, runs: Sequence[tuple[int, int]], name: str) -> None:
        """Stretches of another file, one after the other.

        name  of the other file, for errors
        """
        if self._handle is None:
            return
        at = os.lseek(self._handle, 0, os.SEEK_CUR)
        end = copy_runs(source, self._handle, runs, at, (name, self._path))
        os.lseek(self._handle, end, os.SEEK_SET)

    def finish(self) -> None:
        handle, self._handle = self._handle, None
        if handle is not None:
            with named(self._path):
                os.close(handle)


class _Zstd(io.RawIOBase):
    """Packs what is written, through Arrow."""

    def __init__(self, raw: Raw) -> None:
        import pyarrow as pa

        self._stream = pa.CompressedOutputStream(pa.PythonFile(raw, "w"), "zstd")

    def writable(self) -> bool:
        return True

    def write(self, data: ReadableBuffer) -> int:
        self._stream.write(data)
        return memoryview(data).nbytes

    def close(self) -> None:
        if not self.closed:
            try:
                self._stream.close()
            finally:
                super().close()


def target_of(path: Path) -> Path:
    """The file behind a link; it is that one which is written."""
    return Path(os.path.realpath(path)) if path.is_symlink() else path


@contextmanager
def named(path: Path) -> Iterator[None]:
    """System errors name the user's file."""
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error


def _same(name: str, path: Path) -> bool:
    if is_url(name):
        parts = urlsplit(name)
        if parts.scheme != "file":
            return False
        name = unquote(parts.path)
    with suppress(OSError, ValueError):
        if name != STDIN:
            return os.path.samefile(name, path)
        # Standard input may be a file too, by "<".
        return os.path.samestat(os.fstat(sys.stdin.fileno()), path.stat())
    return False


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
