"""Where files are: on disk, behind a URL, or on standard input; opened as stored, not unpacked.

Inside `fetched_once`, standard input and URLs are fetched once into a temporary file, which can be
read several times, also by several threads. Inside `using_opener`, another opener (Spark's) is
tried first for URLs; then Arrow's file systems; then fsspec.
"""

from __future__ import annotations

import errno
import io
import os
import stat
import sys
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from typing import Any

from neardup.files.reading.formats import STDIN, is_url, name_of, packing

# Receives the number of stored bytes read since its last call.
Progress = Callable[[int], object]

COPY_BYTES = 1 << 20
# The package that fsspec needs for a kind of URL.
FSSPEC_PACKAGES = {
    "s3": "s3fs",
    "gs": "gcsfs",
    "gcs": "gcsfs",
    "abfs": "adlfs",
    "abfss": "adlfs",
    "az": "adlfs",
    "http": "aiohttp",
    "https": "aiohttp",
    "sftp": "paramiko",
    "hf": "huggingface_hub",
}


class NoRoomError(ValueError):
    """Standard input or a URL that cannot be copied to a temporary file."""


@contextmanager
def open_raw(path: str, progress: Progress | None = None) -> Iterator[Any]:
    """Open the stored bytes of a file. Standard input stays open afterwards.

    progress  called while a copy is made
    """
    if (source := _copies.get(path)) is not None:
        yield _View(source.copy(progress))
    elif path == STDIN:
        yield sys.stdin.buffer
    elif is_url(path):
        with _open_url(path) as file:
            yield file
    elif os.path.isdir(path):
        raise IsADirectoryError(errno.EISDIR, "a folder; pass the files in it", name_of(path))
    else:
        with open(path, "rb") as file:
            yield file


@contextmanager
def fetched_once(
    paths: Iterable[str], folder: str | os.PathLike[str] | None = None
) -> Iterator[None]:
    """Fetch standard input and URLs once and read them from a copy, while the context lasts.

    folder  for copies of URLs; standard input is copied to the folder of temporary files
    """
    own = {path for path in paths if path == STDIN or is_url(path)}
    with _lock:
        for path in own:
            _copies.setdefault(path, _Fetched(path, folder)).users += 1
    try:
        if STDIN in own:
            _copies[STDIN].copy(None)
        yield
    finally:
        with _lock:
            for path in own:
                _copies[path].users -= 1
                if not _copies[path].users:
                    _copies.pop(path).close()


def spooled_stdin() -> AbstractContextManager[None]:
    """Copy standard input to a temporary file, so that "-" can be read several times."""
    return fetched_once([STDIN])


class _Fetched:
    """An input that is fetched once, when it is first opened."""

    def __init__(self, path: str, folder: str | os.PathLike[str] | None) -> None:
        self.users = 0
        self._path = path
        self._folder = None if path == STDIN else folder
        self._copy: _Copy | None = None
        self._lock = threading.Lock()

    def copy(self, progress: Progress | None) -> _Copy:
        with self._lock:
            if self._copy is None:
                if self._path == STDIN:
                    self._copy = self._copied(sys.stdin.buffer, progress)
                else:
                    with _open_url(self._path) as raw:
                        self._copy = self._copied(raw, progress)
            return self._copy

    def _copied(self, raw: Any, progress: Progress | None) -> _Copy:
        try:
            # Open until its last user is done.
            file = tempfile.TemporaryFile(prefix="neardup-", dir=self._folder)  # noqa: SIM115
            copy = _Copy(file)
            try:
                while data := copy.next_of(raw):
                    copy.file.write(data)
                    if progress is not None:
                        progress(len(data))
                copy.file.flush()
            except BaseException:
                copy.file.close()
                raise
        except OSError as error:
            where = self._folder or tempfile.gettempdir()
            raise NoRoomError(
                f"{name_of(self._path)}: cannot be copied to {where}, from which it is read "
                f"several times: {error.strerror or error}"
            ) from error
        return copy

    def close(self) -> None:
        if self._copy is not None:
            self._copy.file.close()


class _Copy:
    """A temporary file, and the error that ended fetching, if any."""

    def __init__(self, file: Any) -> None:
        self.file = file
        self.failure: OSError | None = None

    def next_of(self, raw: Any) -> bytes:
        """Read the next bytes; after an error there are none."""
        try:
            data: bytes = raw.read(COPY_BYTES)
        except OSError as error:
            self.failure = error
            return b""
        return data


class _View(io.RawIOBase):
    """A copy with a read position of its own; where fetching failed, it raises the same error."""

    def __init__(self, copy: _Copy) -> None:
        self._copy = copy
        self._at = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        if whence == os.SEEK_END:
            if self._copy.failure is not None:
                raise self._copy.failure
            offset += os.fstat(self._copy.file.fileno()).st_size
        self._at = offset + (self._at if whence == os.SEEK_CUR else 0)
        return self._at

    def tell(self) -> int:
        return self._at

    def read(self, size: int = -1) -> bytes:
        left = sys.maxsize if size is None or size < 0 else size
        parts: list[bytes] = []
        while left and (
            data := os.pread(self._copy.file.fileno(), min(left, COPY_BYTES), self._at)
        ):
            parts.append(data)
            self._at += len(data)
            left -= len(data)
        if not parts and left and self._copy.failure is not None:
            raise self._copy.failure
        return b"".join(parts)


# By path or URL.
_copies: dict[str, _Fetched] = {}
_lock = threading.Lock()


def is_copied(path: str) -> bool:
    return path in _copies


def is_plain_file(path: str) -> bool:
    """Return whether the core can open a file by its name: a regular file, neither compressed nor
    remote, with a name in UTF-8."""
    if path == STDIN or is_url(path) or packing(path) or path != name_of(path):
        return False
    with suppress(OSError):
        return stat.S_ISREG(os.stat(path).st_mode)
    return False


def is_named_pipe(path: str) -> bool:
    """Return whether a file is a named pipe; those of a shell's <(…) are in /dev."""
    if path == STDIN or is_url(path) or path.startswith(("/dev/", "/proc/")):
        return False
    with suppress(OSError):
        return stat.S_ISFIFO(os.stat(path).st_mode)
    return False


def can_reread(path: str) -> bool:
    """Return whether a file can be read twice; a pipe cannot."""
    if path == STDIN:
        return path in _copies
    with suppress(OSError):
        return is_url(path) or not stat.S_ISFIFO(os.stat(path).st_mode)
    return True  # a missing file is reported when it is read


# Tried first for a URL; each returns a file or None.
_openers: list[Callable[[str], Any]] = []


@contextmanager
def using_opener(opener: Callable[[str], Any]) -> Iterator[None]:
    """Open URLs with this function while the context lasts, unless it returns None."""
    with _lock:
        _openers.append(opener)
    try:
        yield
    finally:
        with _lock:
            _openers.remove(opener)


def _open_url(url: str) -> Any:
    import pyarrow as pa
    from pyarrow import fs

    for opener in reversed(_openers.copy()):
        if (file := opener(url)) is not None:
            return file
    try:
        system, path = fs.FileSystem.from_uri(url)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        return _open_fsspec(url, error)
    return system.open_input_file(path)


def _open_fsspec(url: str, error: Exception) -> Any:
    shown, scheme = name_of(url), url.partition("://")[0].lower()
    package = FSSPEC_PACKAGES.get(scheme)
    packages = " ".join(filter(None, ("fsspec", package)))
    try:
        import fsspec  # type: ignore[import-not-found, import-untyped, unused-ignore]

        return fsspec.open(url, "rb").open()
    except ImportError:
        raise ValueError(
            f"{shown}: reading {scheme}:// needs another package: pip install {packages}"
        ) from error
    except ValueError:
        raise ValueError(f"{shown}: unknown URL scheme {scheme}://") from error


# Bytes that are no text: what is wrong with them, and the option that helps.
