"""New files that appear only when they are complete, compressed if their endings say so.

`open_new` writes to a temporary file in the same folder and renames it at the end; inside
`together` several files appear at once, or none. Standard output is "-", or "-.csv" and the like to
choose the format; it is printed when it is complete, since half a table looks like a whole one to
its reader.
"""

from __future__ import annotations

import errno
import gzip
import io
import os
import secrets
import stat
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, cast
from urllib.parse import unquote, urlsplit

from neardup.files.reading.formats import PACKED, STDIN, name_parts

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


# Prefix of temporary files and folders.
PREFIX = ".neardup-"
TABLE_ENDINGS = (".jsonl", ".csv", ".tsv", ".ndjson", ".parquet")
GZIP_LEVEL = 6
BUFFER_BYTES = 1 << 20
# Bytes read at a time to copy short ranges.
COPY_BYTES = 1 << 18
# From this size on the kernel copies faster than read and write.
LONG_RUN = 1 << 18
# Most buffers of one writev call.
MAX_BUFFERS = 512


def is_stdout(path: Path) -> bool:
    """Return whether a name means standard output; a file of that name needs its full path."""
    return path.parent == Path() and path.name.partition(".")[0] == "-"


def with_ending(path: Path, ending: str) -> Path:
    """Return the name with an ending that names the format; "-" alone has none."""
    return Path(f"-{ending}") if path == Path("-") else path


def stdout_label(path: Path) -> str | None:
    """Return the name of standard output in messages; None for a file."""
    return "standard output" if is_stdout(path) else None


def named_after(path: Path, ending: str) -> Path | None:
    """Return a file beside an output with its name and another ending; None for standard output."""
    if is_stdout(path):
        return None
    own = name_parts(path.name).whole_ending
    return path.with_name(path.name[: len(path.name) - len(own)] + ending)


class BufferedStdout:
    """Standard output, held in a temporary file until it is complete."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.file = tempfile.TemporaryFile(prefix="neardup-")  # noqa: SIM115
        self._placed = False

    def place(self, *, undoable: bool = False) -> None:
        """Print it; this cannot be undone."""
        self.file.seek(0)
        try:
            sys.stdout.flush()
            while data := self.file.read(BUFFER_BYTES):
                self._placed = True
                sys.stdout.buffer.write(data)
            sys.stdout.buffer.flush()
        except OSError as error:
            raise OSError(error.errno, error.strerror, stdout_label(self.path)) from error

    def undo(self) -> bool:
        """Return whether nothing was printed."""
        return not self._placed

    def close(self) -> None:
        self.file.close()


# Complete files that `together` holds back.
_waiting: ContextVar[list[_Complete | BufferedStdout] | None] = ContextVar("_waiting", default=None)


def check_output(
    path: Path, inputs: Sequence[str] = (), *, endings: Sequence[str] = TABLE_ENDINGS
) -> Path:
    """Return the name of an output, where "-" alone gets the first ending.

    Raise ValueError if the file cannot be written or is one of the inputs, before any work is done.
    """
    if path == Path():
        raise ValueError(f"the name of a file is empty; use one that ends in {endings[0]}")
    path = with_ending(path, endings[0])
    parts = name_parts(path.name)
    if parts.ending not in endings:
        known = f"{', '.join(endings)}, each also with {' or '.join(PACKED)}"
        raise ValueError(f"{str(path)!r}: unknown ending; use one of {known}")
    if parts.ending == ".parquet" and parts.packing:
        raise ValueError(
            f"{str(path)!r}: Parquet compresses its own pages; leave {path.suffix} out"
        )
    if is_stdout(path):
        _check_stdout(path, inputs)
        return path
    folder = target_of(path).parent
    if not folder.is_dir():
        raise ValueError(f"{path}: the folder {folder} does not exist")
    if path.is_dir():
        raise ValueError(f"{path}: is a folder; name a file in it")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise ValueError(f"{path}: the folder {folder} is not writable")
    if not path.exists():
        return path
    for name in inputs:
        if _same(name, path):
            raise ValueError(
                f"{path}: is also an input and would be overwritten; name another file"
            )
    if not path.is_file():
        raise ValueError(f"{path}: not a regular file")
    if not os.access(path, os.W_OK):
        raise ValueError(f"{path}: not writable")
    return path


def _check_stdout(path: Path, inputs: Sequence[str]) -> None:
    parts = name_parts(path.name)
    if sys.stdout.isatty() and (parts.packing or parts.ending == ".parquet"):
        raise ValueError(
            f"{path}: binary output cannot be shown on a terminal; name a file, or pipe it"
        )
    lost = [name for name in inputs if _is_stdout_too(name)]
    if lost:
        raise ValueError(f"{lost[0]}: is also standard output; write to another file")


def _is_stdout_too(name: str) -> bool:
    with suppress(OSError, ValueError):
        there = os.fstat(sys.stdout.fileno())
        is_name = name != STDIN and not name_parts(name).is_url
        return is_name and stat.S_ISREG(there.st_mode) and os.path.samestat(there, os.stat(name))
    return False


class _Complete:
    """A complete file under a temporary name, and its target.

    The open handle keeps the lock, which tells other processes that the file is in use.
    """

    def __init__(self, temporary: str, path: Path, handle: int) -> None:
        self.temporary = temporary
        self.path = path
        self.handle = handle
        # The file that had the name before, under a temporary name; None if there was none.
        self._old: str | None = None
        self._placed = self._undoable = False

    def place(self, *, undoable: bool = False) -> None:
        """Rename the file to its target. The old file is kept until `close`, so that this can be
        undone."""
        target = target_of(self.path)
        with naming_file(self.path):
            if undoable:
                # Without a second link to the old file this cannot be undone.
                with suppress(OSError):
                    self._old = _second_name(target) if target.exists() else None
                    self._undoable = True
            os.replace(self.temporary, target)
            self._placed = True

    def undo(self) -> bool:
        """Restore the old file; return whether that was possible."""
        if not self._placed:
            return True
        if self._undoable:
            with suppress(OSError):
                target = target_of(self.path)
                if self._old is None:
                    os.unlink(target)
                else:
                    os.replace(self._old, target)
                self._placed = False
        return not self._placed

    def close(self) -> None:
        """Release the lock, and remove a file that was not renamed."""
        for name in (None if self._placed else self.temporary, self._old):
            if name is not None:
                with suppress(OSError):
                    os.unlink(name)
        os.close(self.handle)


@contextmanager
def open_new(path: Path) -> Iterator[Raw]:
    """Open a new file for writing. A failed or stopped run leaves the old file as it was.

    It gets the permissions of the old file, or those of the umask. Standard output is printed when
    it is complete.
    """
    if is_stdout(path):
        with _open_stdout(path) as raw:
            yield raw
        return
    target = target_of(path)
    with naming_file(path):
        handle, temporary = _temporary(target.parent)
        complete = _Complete(temporary, path, os.dup(handle))
    raw = Raw(handle, path)
    held = False
    try:
        try:
            yield raw
            with naming_file(path):
                os.fsync(handle)
        finally:
            raw.finish()
        with naming_file(path):
            os.chmod(temporary, _mode(target))
        waiting = _waiting.get()
        if waiting is None:
            complete.place()
        else:
            waiting.append(complete)
            held = True
    finally:
        if not held:
            complete.close()


@contextmanager
def _open_stdout(path: Path) -> Iterator[Raw]:
    with naming_file(path):
        printed = BufferedStdout(path)
    raw = Raw(os.dup(printed.file.fileno()), path)
    held = False
    try:
        try:
            yield raw
        finally:
            raw.finish()
        waiting = _waiting.get()
        if waiting is None:
            printed.place()
        else:
            waiting.append(printed)
            held = True
    finally:
        if not held:
            printed.close()


def _temporary(folder: Path) -> tuple[int, str]:
    """Open a temporary file and lock it; see `neardup.jobs.work_folder.remove_leftovers`."""
    import fcntl

    # In the same folder, so that renaming is atomic. The name is chosen before the file exists: a
    # signal meanwhile must not leave it behind.
    name = str(folder / f"{PREFIX}{secrets.token_hex(8)}")
    try:
        handle = os.open(name, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        # Some file systems have no locks; there nothing is removed.
        with suppress(OSError):
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except KeyboardInterrupt:
        with suppress(OSError):
            os.unlink(name)
        raise
    return handle, name


def _second_name(target: Path) -> str:
    handle, name = tempfile.mkstemp(prefix=PREFIX, dir=target.parent)
    os.close(handle)
    os.unlink(name)
    os.link(target, name)
    return name


def _mode(target: Path) -> int:
    with suppress(OSError):
        return stat.S_IMODE(target.stat().st_mode)
    return 0o666 & ~_umask()


@contextmanager
def together() -> Iterator[None]:
    """Rename all files completed inside at its end, or none if it fails."""
    waiting: list[_Complete | BufferedStdout] = []
    token = _waiting.set(waiting)
    try:
        yield
        # Printing cannot be undone, so it comes last.
        waiting.sort(key=lambda file: isinstance(file, BufferedStdout))
        try:
            for file in waiting:
                file.place(undoable=len(waiting) > 1)
        except BaseException as error:
            left = [str(file.path) for file in waiting if not file.undo()]
            if left and isinstance(error, OSError):
                why = f"{error.strerror}; of this run only {', '.join(left)} could be written"
                raise OSError(error.errno, why, error.filename) from error
            raise
    finally:
        for file in waiting:
            file.close()
        _waiting.reset(token)


@contextmanager
def open_packed(path: Path) -> Iterator[BinaryIO]:
    """Open a new file as `open_new` does, compressed as its ending says."""
    with open_new(path) as raw:
        how = name_parts(path.name).packing
        if how == "gzip":
            # Without name and time: equal content gives an equal file.
            packed = gzip.GzipFile("", "wb", GZIP_LEVEL, cast(BinaryIO, raw), mtime=0)
            stream = io.BufferedWriter(cast(io.RawIOBase, packed), BUFFER_BYTES)
        else:
            stream = io.BufferedWriter(raw if how is None else _Zstd(raw), BUFFER_BYTES)
        try:
            yield stream
            stream.close()
        except BaseException:
            # After an error, discard the buffers and the errors of writing them.
            raw.finish()
            with suppress(Exception):
                stream.close()
            raise


def copy_runs(
    source: int, target: int, runs: Sequence[tuple[int, int]], to: int, names: tuple[str, Path]
) -> int:
    """Copy byte ranges of a file to `to`, one after the other; return the offset where they end.

    The kernel copies long ranges; short ones are read together, and written together without the
    bytes between them.
    """
    window = memoryview(bytearray(COPY_BYTES))
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
            if waiting and (start - waiting[0][0] >= COPY_BYTES or len(waiting) == MAX_BUFFERS):
                write()
            stop = min(end, (waiting[0][0] if waiting else start) + COPY_BYTES)
            waiting.append((start, stop))
            start = stop
    write()
    return to


def _copy_by_kernel(source: int, target: int, start: int, size: int, to: int) -> int:
    """Return how many bytes the kernel copied, which may be none."""
    done = 0
    if hasattr(os, "copy_file_range"):
        # Another file system, or no space: plain writing will report it.
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
            raise OSError(f"{name}: was truncated after it was read; run again")
        done += count


def _write_all(target: int, views: list[memoryview], to: int, path: Path) -> int:
    """Write all buffers, in as many calls as it takes; return the number of bytes."""
    size = sum(map(len, views))
    with naming_file(path):
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

    Layers above may close it early; the file stays open until `finish`, and later writes are
    discarded.
    """

    def __init__(self, handle: int, path: Path) -> None:
        self._handle: int | None = handle
        self._path = path

    def writable(self) -> bool:
        return True

    def write(self, data: ReadableBuffer) -> int:
        view = memoryview(data).cast("B")
        done = 0
        with naming_file(self._path):
            while self._handle is not None and done < len(view):
                done += os.write(self._handle, view[done:])
        return len(view)

    def copy_runs(self, source: int, runs: Sequence[tuple[int, int]], name: str) -> None:
        """Copy byte ranges of another file, one after the other.

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
            with naming_file(self._path):
                os.close(handle)


class _Zstd(io.RawIOBase):
    """Compresses with zstd, through Arrow."""

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
    """Return the file behind a symbolic link, which is the one to replace."""
    return Path(os.path.realpath(path)) if path.is_symlink() else path


@contextmanager
def naming_file(path: Path) -> Iterator[None]:
    """Make system errors name the user's file."""
    try:
        yield
    except OSError as error:
        why = error.strerror
        if error.errno == errno.EFBIG:
            why = "exceeds the file size limit of this process (ulimit -f) or of the file system"
        raise OSError(error.errno, why, stdout_label(path) or str(path)) from error


def _same(name: str, path: Path) -> bool:
    if name_parts(name).is_url:
        parts = urlsplit(name)
        if parts.scheme != "file":
            return False
        name = unquote(parts.path)
    with suppress(OSError, ValueError):
        if name != STDIN:
            return os.path.samefile(name, path)
        # Standard input may be a file, redirected by "<".
        return os.path.samestat(os.fstat(sys.stdin.fileno()), path.stat())
    return False


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
