"""Files as streams of bytes, wherever they lie and however they are packed."""

from __future__ import annotations

import errno
import os
import shutil
import stat
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, BinaryIO

from neardup.sources import formats
from neardup.sources.document import STDIN, name_of

if TYPE_CHECKING:
    import pyarrow as pa

Progress = Callable[[int], object]

# Beyond MOST_RATIO bytes for each stored byte, a file is made to fill the memory or the disk. Text
# of one repeated line can come near, so that the first FREE_BYTES may be of any ratio.
MOST_RATIO = 1000
FREE_BYTES = 64 << 20
STEP = 1 << 18
PACKAGES = {
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

_spooled: BinaryIO | None = None


class DamagedError(Exception):
    """The rest of a packed file cannot be had, and why. What was before has been given."""


class Stored:
    """A file's bytes, unpacked. `position` is how many have been given."""

    def __init__(self, path: str, raw: Any, progress: Progress | None = None) -> None:
        self.path = path
        self.position = 0
        self._raw = _Counted(raw, progress)
        self._packing = formats.packing(path)
        self._damage: str | None = None
        self._stream = self._unpacked() if self._packing else None

    def read(self, size: int) -> bytes:
        """As many bytes as asked for; fewer at the end only, and none after it."""
        if self._stream is None:
            data = self._raw.read(size)
            self.position += len(data)
            return data
        parts: list[bytes] = []
        try:
            while size and (data := self._inflate(min(size, STEP))):
                parts.append(data)
                size -= len(data)
        except DamagedError as damage:
            self._damage = str(damage)  # told by the next call, if this one has something to give
            if not parts:
                raise
        return b"".join(parts)

    def _inflate(self, size: int) -> bytes:
        if self._damage is not None:
            raise DamagedError(self._damage)
        try:
            data = self._checked(self._stream, size)
        except OSError as error:
            if error.errno is not None:  # of the disk, not of what is on it
                raise
            data = self._rescued(size)
            self._damage = (
                f"the {self._packing} data is damaged or cut short: {self.position + len(data):,} "
                f"bytes could be unpacked, the rest is lost ({error})"
            )
            if not data:
                raise DamagedError(self._damage) from None
        self.position += len(data)
        return data

    def _checked(self, stream: Any, size: int) -> bytes:
        if self.position > max(FREE_BYTES, MOST_RATIO * self._raw.count):
            raise DamagedError(
                f"stopped after {self.position:,} bytes unpacked from {self._raw.count:,}: more "
                f"than {MOST_RATIO} for one; if that is meant, unpack the file first"
            )
        data: bytes = stream.read(size)
        return data

    def _rescued(self, size: int) -> bytes:
        """What a failed read had unpacked already: Arrow drops it, so it is read once more."""
        self._raw.rewind()
        stream = self._unpacked()
        data = bytearray()
        with suppress(OSError):
            left = self.position
            while left and (again := stream.read(min(left, STEP))):
                left -= len(again)
            while len(data) < size and (byte := stream.read(1)):
                data += byte
        return bytes(data)

    def _unpacked(self) -> pa.NativeFile:
        import pyarrow as pa

        return pa.CompressedInputStream(pa.PythonFile(self._raw, "r"), self._packing)


class _Counted:
    """A file that tells how far it has been read, and is closed by its owner only."""

    closed = False

    def __init__(self, raw: Any, progress: Progress | None) -> None:
        self._raw = raw
        self._progress = progress
        self.count = 0

    def read(self, size: int = -1) -> bytes:
        data: bytes = self._raw.read(size)
        self.count += len(data)
        if data and self._progress is not None:
            self._progress(len(data))
        return data

    def rewind(self) -> None:
        self._progress = None
        self._raw.seek(0)

    def close(self) -> None:
        pass


@contextmanager
def open_stored(path: str, progress: Progress | None = None) -> Iterator[Stored]:
    """A file, a URL or standard input, to be read from its beginning."""
    with open_raw(path) as raw:
        yield Stored(path, raw, progress)


@contextmanager
def open_raw(path: str) -> Iterator[Any]:
    """The bytes as they are stored. Standard input stays open afterwards."""
    if path == STDIN:
        if _spooled is not None:
            _spooled.seek(0)
        yield sys.stdin.buffer if _spooled is None else _spooled
    elif formats.is_url(path):
        with _open_url(path) as file:
            yield file
    elif os.path.isdir(path):
        raise IsADirectoryError(errno.EISDIR, "a folder; pass the files in it", name_of(path))
    else:
        with open(path, "rb") as file:
            yield file


@contextmanager
def spooled_stdin() -> Iterator[None]:
    """Standard input in a temporary file, so that "-" can be read as often as needed."""
    global _spooled
    with tempfile.TemporaryFile(prefix="neardup-") as file:
        shutil.copyfileobj(sys.stdin.buffer, file, 1 << 20)
        _spooled = file
        try:
            yield
        finally:
            _spooled = None


def is_plain_file(path: str) -> bool:
    """Whether the bytes of a file lie as they are on a disk of this machine.

    The core opens it by its name, which has to be UTF-8 for that.
    """
    if path == STDIN or formats.is_url(path) or formats.packing(path) or path != name_of(path):
        return False
    with suppress(OSError):
        return stat.S_ISREG(os.stat(path).st_mode)
    return False


def can_reread(path: str) -> bool:
    """Whether a file gives the same once more; a pipe does not."""
    if path == STDIN:
        return _spooled is not None
    with suppress(OSError):
        return formats.is_url(path) or not stat.S_ISFIFO(os.stat(path).st_mode)
    return True  # what is not there is reported when it is read


def _open_url(url: str) -> Any:
    import pyarrow as pa
    from pyarrow import fs

    try:
        system, path = fs.FileSystem.from_uri(url)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        return _open_fsspec(url, error)
    return system.open_input_file(path)


def _open_fsspec(url: str, error: Exception) -> Any:
    shown, scheme = name_of(url), url.partition("://")[0].lower()
    package = PACKAGES.get(scheme)
    packages = " ".join(filter(None, ("fsspec", package)))
    try:
        import fsspec  # type: ignore[import-not-found, import-untyped, unused-ignore]

        return fsspec.open(url, "rb").open()
    except ImportError:
        raise ValueError(
            f"{shown}: reading {scheme}:// needs another package: pip install {packages}"
        ) from error
    except ValueError:
        raise ValueError(f"{shown}: unknown kind of URL {scheme}://") from error
