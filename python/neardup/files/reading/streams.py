"""Files as streams of bytes, wherever they lie and however they are packed."""

from __future__ import annotations

import codecs
import errno
import io
import os
import stat
import sys
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from neardup.files.reading import batch, encodings, formats
from neardup.files.reading.batch import GZIP, ZSTD, Unreadable
from neardup.files.reading.compression import Break, Frames, Members
from neardup.files.reading.formats import STDIN, all_families, all_formats, name_of

if TYPE_CHECKING:
    import pyarrow as pa

    from neardup.files.reading.batch import Reading, Task


Progress = Callable[[int], object]

# What a packed file may hold, unless it is told otherwise: so much, or so many times its own size.
# No text packs better than that by much, and a small file made to fill the disk is stopped.
FREE_BYTES = 16 << 30
MOST_RATIO = 100
STEP = 1 << 18
# Bytes copied at a time.
COPIED = 1 << 20
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


class DamagedError(Exception):
    """The rest of a packed file cannot be had, and why. What was before has been given."""


class NoRoomError(ValueError):
    """What is not to be fetched twice cannot be copied."""


class ByteStream:
    """A file's bytes, unpacked and as UTF-8. `position` is how many have been given.

    most       bytes that one document may have
    encoding   what the file was decoded from; None if its bytes are given as they are
    told_by    how that is known: "its byte order mark", "detection", or "" if it was asked for
    """

    def __init__(
        self,
        path: str,
        raw: Any,
        progress: Progress | None = None,
        reading: Reading | None = None,
    ) -> None:
        self.path = path
        self.position = 0
        self._reading = reading
        self._raw = _Counted(raw, progress)
        self._packing = formats.packing(path)
        self._unpacked = 0
        self._damage: str | None = None
        self._stream: Members | Frames | pa.NativeFile | None = (
            self._unpacking() if self._packing else None
        )
        self._begun = False
        self._ahead = b""
        self._encoding: str | None = None
        self._decoder: codecs.IncrementalDecoder | None = None
        self._ready = b""
        self._ended = False
        self.told_by = ""

    @property
    def most(self) -> int:
        asked = None if self._reading is None else self._reading.max_document
        return batch.MAX_BYTES if asked is None else asked

    @property
    def stored(self) -> int:
        """How many bytes were read, as they are stored."""
        return self._raw.count

    @property
    def encoding(self) -> str | None:
        self._begin()
        return self._encoding

    @property
    def is_plain(self) -> bool:
        """Whether what is given are the bytes of a file of this machine, as they lie there."""
        return self.encoding is None and is_plain_file(self.path)

    def read(self, size: int) -> bytes:
        """As many bytes as asked for; fewer at the end only, and none after it."""
        self._begin()
        if self._decoder is None:
            data, self._ahead = self._ahead[:size], self._ahead[size:]
            if len(data) < size:
                # What is there is given; damage behind it is told by the next call.
                data += self._or_nothing(size - len(data)) if data else self._take(size)
        else:
            data = self._decoded(size, self._decoder)
        self.position += len(data)
        return data

    def peek(self, size: int) -> bytes:
        """The first bytes, of which none is taken; before anything is read."""
        self._begin()
        if self._decoder is not None:
            self._ready = self._decoded(size, self._decoder) + self._ready
            return self._ready[:size]
        if len(self._ahead) < size:
            self._ahead += self._or_nothing(size - len(self._ahead))
        return self._ahead[:size]

    def _begin(self) -> None:
        """Looks how the file begins, which may tell its encoding."""
        if self._begun:
            return
        self._begun = True
        asked = None if self._reading is None else self._reading.encoding
        size = encodings.SAMPLE if asked == encodings.AUTO else encodings.LONGEST_MARK
        self._ahead = self._or_nothing(size)
        found = None if asked in (encodings.UTF8, encodings.AUTO) else asked
        if (mark := encodings.marked(self._ahead)) is not None:
            found, self.told_by = mark[0], "its byte order mark"
            if found != encodings.UTF8:
                self._ahead = self._ahead[mark[1] :]
        elif self._ahead.startswith((GZIP, ZSTD)):
            found = None  # packed without an ending that says so, which is reported
        elif asked == encodings.AUTO:
            found, self.told_by = encodings.detect(self._ahead), "detection"
        if found not in (None, encodings.UTF8):
            self._encoding, self._decoder = found, encodings.decoder(str(found))

    def _or_nothing(self, size: int) -> bytes:
        """As `_take`, but damage is told by the next call."""
        try:
            return self._take(size)
        except DamagedError as damage:
            self._damage = str(damage)
            return b""

    def _decoded(self, size: int, decoder: codecs.IncrementalDecoder) -> bytes:
        parts, length = [self._ready], len(self._ready)
        while length < size and not self._ended:
            try:
                data = self._ahead or self._take(STEP)
            except DamagedError:
                if not length:
                    raise
                break  # told by the next call
            self._ahead, self._ended = b"", not data
            text = decoder.decode(data, final=self._ended)
            if not (self.position or length):
                text = text.removeprefix("\ufeff")  # some encodings have a mark of their own
            parts.append(encodings.encode(text))
            length += len(parts[-1])
        whole = b"".join(parts)
        self._ready = whole[size:]
        return whole[:size]

    def _take(self, size: int) -> bytes:
        """So many bytes of the file, unpacked; fewer at the end only."""
        if self._stream is None:
            data: bytes = self._raw.read(size)
            return data
        parts: list[bytes] = []
        try:
            while size and (data := self._inflate(self._stream, min(size, STEP))):
                parts.append(data)
                size -= len(data)
        except DamagedError as damage:
            self._damage = str(damage)  # told by the next call, if this one has something to give
            if not parts:
                raise
        return b"".join(parts)

    def _inflate(self, stream: Members | Frames | pa.NativeFile, size: int) -> bytes:
        if self._damage is not None:
            raise DamagedError(self._damage)
        self._check_limit()
        try:
            data: bytes = stream.read(size)
        except OSError as error:
            if error.errno is not None:  # of the disk, not of what is on it
                raise
            start = self._record_start()
            if start and not isinstance(stream, Members | Frames):
                return self._inflate(self._by_records(start), size)
            data = self._rescued(size)
            self._damage = (
                f"the {self._packing} data is damaged or cut short: {self._unpacked + len(data):,} "
                f"bytes could be unpacked, the rest is lost ({error})"
            )
            if not data:
                raise DamagedError(self._damage) from None
        self._unpacked += len(data)
        return data

    def _check_limit(self) -> None:
        most = most_unpacked(self._raw.count, self._reading)
        if self._unpacked > most:
            raise DamagedError(
                f"stopped after {self._unpacked:,} bytes unpacked from {self._raw.count:,}: the "
                f"limit is {batch.size_of(most)}; if the file is meant to be so large, allow "
                "more with --max-bytes"
            )

    def _record_start(self) -> bytes:
        format_ = formats.format_by_name(self.path)
        return b"" if format_ is None else format_.record_start

    def _by_records(self, start: bytes) -> Members | Frames:
        """The file once more, up to where it was read, by what goes on behind damage. Arrow does
        not, but is quicker with what is whole."""
        self._raw.rewind()
        self._stream = records = (Members if self._packing == "gzip" else Frames)(self._raw, start)
        left = self._unpacked
        while left and (again := records.read(min(left, STEP))):
            left -= len(again)
        return records

    def _rescued(self, size: int) -> bytes:
        """What a failed read had unpacked already: Arrow drops it, so it is read once more."""
        self._raw.rewind()
        stream = self._unpacking()
        data = bytearray()
        with suppress(OSError):
            left = self._unpacked
            while left and (again := stream.read(min(left, STEP))):
                left -= len(again)
            while len(data) < size and (byte := stream.read(1)):
                data += byte
        return bytes(data)

    @property
    def packing(self) -> str | None:
        """ "gzip", "zstd" or nothing."""
        return self._packing

    @property
    def breaks(self) -> Sequence[Break]:
        """Damage behind which the next record was found, of what is packed record by record."""
        return self._stream.breaks if isinstance(self._stream, Members | Frames) else ()

    def _unpacking(self) -> pa.NativeFile:
        import pyarrow as pa

        return pa.CompressedInputStream(pa.PythonFile(self._raw, "r"), self._packing)


def most_unpacked(stored: int, reading: Reading | None) -> int:
    """How many bytes may come out of so many."""
    asked = None if reading is None else reading.max_bytes
    return max(FREE_BYTES, MOST_RATIO * stored) if asked is None else asked


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
        self.seek(0)

    def seek(self, at: int) -> None:
        """What is read from now on was counted before, or is looked at out of order."""
        self._progress = None
        self._raw.seek(at)

    def close(self) -> None:
        pass


@contextmanager
def open_stored(
    path: str, reading: Reading | None = None, progress: Progress | None = None
) -> Iterator[ByteStream]:
    """A file, a URL or standard input, to be read from its beginning."""
    with open_raw(path, progress) as raw:
        # What is fetched to be copied is counted then.
        fetched = formats.is_url(path) and path in _sources
        yield ByteStream(path, raw, None if fetched else progress, reading)


@contextmanager
def open_told(task: Task) -> Iterator[ByteStream]:
    """The file of a task. It is said what it was decoded from."""
    with open_stored(task.path, task.reading, task.progress) as file:
        if file.encoding is not None:
            by = f" (told by {file.told_by})" if file.told_by else ""
            kept = "; kept records are written as UTF-8" if task.reading.keeps else ""
            task.note(f"{name_of(task.path)}: read as {file.encoding}{by}{kept}")
        yield file


def beginning(path: str, reading: Reading | None = None) -> bytes:
    """The first bytes of a file, unpacked; none if they cannot be had, or not twice."""
    if can_reread(path):
        with suppress(OSError, ValueError, DamagedError), open_stored(path, reading) as file:
            return file.read(encodings.SAMPLE)
    return b""


@contextmanager
def open_raw(path: str, progress: Progress | None = None) -> Iterator[Any]:
    """The bytes as they are stored. Standard input stays open afterwards.

    progress  is told of bytes that are copied first
    """
    if (source := _sources.get(path)) is not None:
        yield _View(source.copy(progress))
    elif path == STDIN:
        yield sys.stdin.buffer
    elif formats.is_url(path):
        with _open_url(path) as file:
            yield file
    elif os.path.isdir(path):
        raise IsADirectoryError(errno.EISDIR, "a folder; pass the files in it", name_of(path))
    else:
        with open(path, "rb") as file:
            yield file


@contextmanager
def copied(paths: Iterable[str], folder: str | os.PathLike[str] | None = None) -> Iterator[None]:
    """In here standard input and URLs are fetched once, and read from a copy as often as needed.

    folder  where copies of URLs lie; that of standard input is where temporary files are
    """
    own = {path for path in paths if path == STDIN or formats.is_url(path)}
    with _lock:
        for path in own:
            _sources.setdefault(path, _Once(path, folder)).users += 1
    try:
        if STDIN in own:
            _sources[STDIN].copy(None)
        yield
    finally:
        with _lock:
            for path in own:
                _sources[path].users -= 1
                if not _sources[path].users:
                    _sources.pop(path).close()


def spooled_stdin() -> AbstractContextManager[None]:
    """Standard input in a temporary file, so that "-" can be read as often as needed."""
    return copied([STDIN])


class _Once:
    """Something that is fetched once, when it is first asked for."""

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
            # It is open until the last of its users is done.
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
                f"{name_of(self._path)}: cannot be copied to {where}, from which it is read more "
                f"than once: {error.strerror or error}"
            ) from error
        return copy

    def close(self) -> None:
        if self._copy is not None:
            self._copy.file.close()


class _Copy:
    """A file without a name, and what went wrong where it ends."""

    def __init__(self, file: Any) -> None:
        self.file = file
        self.failure: OSError | None = None

    def next_of(self, raw: Any) -> bytes:
        """What comes next; nothing more where it cannot be had."""
        try:
            data: bytes = raw.read(COPIED)
        except OSError as error:
            self.failure = error
            return b""
        return data


class _View(io.RawIOBase):
    """A copy, read from its beginning. Where the original could not be read on, nor can it be."""

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
        while left and (data := os.pread(self._copy.file.fileno(), min(left, COPIED), self._at)):
            parts.append(data)
            self._at += len(data)
            left -= len(data)
        if not parts and left and self._copy.failure is not None:
            raise self._copy.failure
        return b"".join(parts)


# What is fetched once, by its name.
_sources: dict[str, _Once] = {}
_lock = threading.Lock()


def is_plain_file(path: str) -> bool:
    """Whether the bytes of a file lie as they are on a disk of this machine.

    The core opens it by its name, which has to be UTF-8 for that.
    """
    if path == STDIN or formats.is_url(path) or formats.packing(path) or path != name_of(path):
        return False
    with suppress(OSError):
        return stat.S_ISREG(os.stat(path).st_mode)
    return False


def is_named_pipe(path: str) -> bool:
    """Whether a file is a pipe that lies in a folder; those that a shell makes lie in /dev."""
    if path == STDIN or formats.is_url(path) or path.startswith(("/dev/", "/proc/")):
        return False
    with suppress(OSError):
        return stat.S_ISFIFO(os.stat(path).st_mode)
    return False


def can_reread(path: str) -> bool:
    """Whether a file gives the same once more; a pipe does not."""
    if path == STDIN:
        return path in _sources
    with suppress(OSError):
        return formats.is_url(path) or not stat.S_ISFIFO(os.stat(path).st_mode)
    return True  # what is not there is reported when it is read


# Ask for the bytes of a URL before anything else does: they give a file, or None.
_openers: list[Callable[[str], Any]] = []


@contextmanager
def opened_by(opener: Callable[[str], Any]) -> Iterator[None]:
    """In here URLs are opened by this, where it knows them: it gives a file, or None."""
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


# Bytes that are no text: what is wrong with them, and the option that helps.

PACKED = ((GZIP, "gzip", ".gz", "zcat"), (ZSTD, "zstd", ".zst", "zstdcat"))
BINARY = "looks like a binary file"
UNKNOWN = "name its encoding with --encoding, such as gb18030 or latin-1"


def not_utf8(path: str, line: int, error: UnicodeDecodeError, encoding: str | None) -> Unreadable:
    """Why bytes are no text.

    encoding  the file was decoded from; None for UTF-8
    """
    if encoding is not None:
        hint = "if the file is in another encoding, name it with --encoding"
        return Unreadable(name_of(path), line, f"not {encoding}", hint=hint)
    kind = "not UTF-8"
    reason = f"{kind} (byte 0x{error.object[error.start]:02x} at offset {error.start})"
    return Unreadable(name_of(path), line, reason, kind, _hint(path, error.object))


def has_nul(path: str, line: int, data: bytes) -> Unreadable:
    """That a text has a NUL in it, which no writing has."""
    return Unreadable(name_of(path), line, "holds a NUL byte", hint=_hint(path, data))


def nul_hint(path: str, data: bytes) -> str:
    """What helps if there is a NUL because the encoding is another one; nothing if not."""
    hint = _hint(path, data) if b"\0" in data else ""
    return "" if hint == BINARY else hint


def packed(file: ByteStream, data: bytes) -> Unreadable | None:
    """That a file begins like a packed one, and what to do."""
    for magic, name, ending, program in PACKED:
        if data.startswith(magic):
            is_stdin = file.path == STDIN
            way = f"pipe it through {program}" if is_stdin else f"let its name end in {ending}"
            return Unreadable(name_of(file.path), None, f"is {name}", hint=way)
    return None


def _hint(path: str, data: bytes) -> str:
    if (kind := all_families()["document"].detect(data)) is not None:
        source = all_formats()[kind]
        ending = source.endings[0]
        return f"looks like {source.called}: use --format {kind}, or a name that ends in {ending}"
    stamp = None
    with suppress(OSError):
        found = os.stat(path)
        stamp = found.st_size, found.st_mtime_ns
    # A file tells more than one line of it, unless what is wrong comes late in it.
    guess = _guessed(path, stamp)
    if guess in (None, encodings.UTF8):
        guess = encodings.detect(data)
    if guess not in (None, encodings.UTF8):
        return f"looks like {guess}: use --encoding {guess}"
    return BINARY if b"\0" in data else UNKNOWN


@lru_cache(maxsize=16)
def _guessed(path: str, stamp: object) -> str | None:
    """The likely encoding of a file, looked for once."""
    return encodings.detect(beginning(path))
