"""Files as streams of bytes, unpacked and decoded to UTF-8; and reports of bytes that are not text.

`open_stored` opens a file of any location (`locations`) and compression (`compression`) as a
`ByteStream`. `report_not_utf8`, `report_nul` and `report_compressed` say why its bytes are not text
and which option helps.
"""

from __future__ import annotations

import codecs
import io
import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from neardup import _core
from neardup.files.reading import batch, encodings, formats, locations
from neardup.files.reading.batch import BOM, GZIP, ZSTD, Report, Unreadable
from neardup.files.reading.compression import Break, Frames, Members
from neardup.files.reading.formats import STDIN, all_families, all_formats, name_of, name_parts
from neardup.files.reading.locations import Progress, can_reread, open_raw

if TYPE_CHECKING:
    import pyarrow as pa

    from neardup.files.reading.batch import Reading, Task


# A compressed file may unpack to so many bytes, or to so many times its size if that is more: no
# text compresses much better, and a decompression bomb is stopped.
FREE_BYTES = 16 << 30
MAX_RATIO = 100
CHUNK_BYTES = 1 << 18
# Small enough to stay in the CPU cache between reading and parsing.
BLOCK_BYTES = 2 << 20


class DamagedError(Exception):
    """Compressed data that cannot be read any further, and why; the bytes before were returned."""


class ByteStream:
    """A file's bytes, unpacked and as UTF-8. `position` is the number of bytes returned.

    name       of the file, for messages
    packing    "gzip", "zstd" or None
    most       largest size of one document, in bytes
    encoding   that the file was decoded from; None if its bytes are UTF-8 or not decoded
    told_by    source of `encoding`: "byte order mark", "detected", or "" for the user
    is_plain   whether the bytes are those of a regular local file, unchanged, and the core can open
               it by its name
    """

    def __init__(
        self,
        path: str,
        raw: Any,
        progress: Progress | None = None,
        reading: Reading | None = None,
    ) -> None:
        self.path = path
        parts = name_parts(path)
        self.name, self.packing = parts.shown, parts.packing
        self.most = (reading and reading.max_document) or batch.MAX_BYTES
        self.position = 0
        self._reading = reading
        # Progress of a copied URL is reported while it is fetched.
        is_copied = parts.is_url and locations.is_copied(path)
        self._raw = _Counted(raw, None if is_copied else progress)
        self._unpacked = 0
        self._damage: str | None = None
        self._stream: Members | Frames | pa.NativeFile | None = (
            self._unpacking() if self.packing else None
        )
        self._ahead = b""
        self._decoder: codecs.IncrementalDecoder | None = None
        self._ready = b""
        self._ended = False
        self.encoding, self.told_by = self._detect_encoding()
        self.is_plain = self.encoding is None and self.packing is None and self._is_regular(raw)

    @property
    def stored(self) -> int:
        """The number of stored bytes read."""
        return self._raw.count

    def _is_regular(self, raw: Any) -> bool:
        """Return whether a stream is a regular file with a name in UTF-8."""
        if self.path == STDIN or self.path != self.name or not isinstance(raw, io.BufferedReader):
            return False
        return stat.S_ISREG(os.fstat(raw.fileno()).st_mode)

    def read(self, size: int) -> bytes:
        """Read `size` bytes; fewer only at the end, and none after it."""
        if self._decoder is None:
            data, self._ahead = self._ahead[:size], self._ahead[size:]
            if len(data) < size:
                # Return the bytes before damage; the next call raises.
                data += self._or_nothing(size - len(data)) if data else self._take(size)
        else:
            data = self._decoded(size, self._decoder)
        self.position += len(data)
        return data

    def peek(self, size: int) -> bytes:
        """Return the first bytes without consuming them; call before any `read`."""
        if self._decoder is not None:
            self._ready = self._decoded(size, self._decoder) + self._ready
            return self._ready[:size]
        if len(self._ahead) < size:
            self._ahead += self._or_nothing(size - len(self._ahead))
        return self._ahead[:size]

    def _detect_encoding(self) -> tuple[str | None, str]:
        """Read the first bytes, which may tell the encoding; return it and what told it."""
        asked = None if self._reading is None else self._reading.encoding
        size = encodings.SAMPLE if asked == encodings.AUTO else encodings.LONGEST_MARK
        self._ahead = self._or_nothing(size)
        found, told_by = None if asked in (encodings.UTF8, encodings.AUTO) else asked, ""
        if (mark := encodings.marked(self._ahead)) is not None:
            found, told_by = mark[0], "byte order mark"
            if found != encodings.UTF8:
                self._ahead = self._ahead[mark[1] :]
        elif self._ahead.startswith((GZIP, ZSTD)):
            found = None  # compressed, though its name does not say so: reported
        elif asked == encodings.AUTO:
            found, told_by = encodings.detect(self._ahead), "detected"
        if found in (None, encodings.UTF8):
            return None, told_by
        self._decoder = encodings.decoder(str(found))
        return found, told_by

    def _or_nothing(self, size: int) -> bytes:
        """Read as `_take`; if data is damaged return nothing, and let the next call raise."""
        try:
            return self._take(size)
        except DamagedError as damage:
            self._damage = str(damage)
            return b""

    def _decoded(self, size: int, decoder: codecs.IncrementalDecoder) -> bytes:
        parts, length = [self._ready], len(self._ready)
        while length < size and not self._ended:
            try:
                data = self._ahead or self._take(CHUNK_BYTES)
            except DamagedError:
                if not length:
                    raise
                break  # the next call raises
            self._ahead, self._ended = b"", not data
            text = decoder.decode(data, final=self._ended)
            if not (self.position or length):
                text = text.removeprefix("\ufeff")  # of encodings that are not in MARKS
            parts.append(encodings.encode(text))
            length += len(parts[-1])
        whole = b"".join(parts)
        self._ready = whole[size:]
        return whole[:size]

    def _take(self, size: int) -> bytes:
        """Read `size` unpacked bytes; fewer only at the end."""
        if self._stream is None:
            data: bytes = self._raw.read(size)
            return data
        parts: list[bytes] = []
        try:
            while size and (data := self._inflate(self._stream, min(size, CHUNK_BYTES))):
                parts.append(data)
                size -= len(data)
        except DamagedError as damage:
            self._damage = str(damage)  # the next call raises, if this one returns bytes
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
            if error.errno is not None:  # an I/O error, not damaged data
                raise
            start = self._record_start()
            if start and not isinstance(stream, Members | Frames):
                return self._inflate(self._by_records(start), size)
            data = self._rescued(size)
            self._damage = (
                f"the {self.packing} data is damaged or truncated: {self._unpacked + len(data):,} "
                f"bytes could be unpacked, the rest is lost ({error})"
            )
            if not data:
                raise DamagedError(self._damage) from None
        self._unpacked += len(data)
        return data

    def _check_limit(self) -> None:
        most = max_unpacked(self._raw.count, self._reading)
        if self._unpacked > most:
            raise DamagedError(
                f"stopped after {self._unpacked:,} bytes unpacked from {self._raw.count:,}: the "
                f"limit is {batch.format_size(most)}; if that is intended, raise "
                "--max-bytes"
            )

    def _record_start(self) -> bytes:
        format_ = formats.format_by_name(self.path)
        return b"" if format_ is None else format_.record_start

    def _by_records(self, start: bytes) -> Members | Frames:
        """Reopen the file with a decoder that continues after damage, at the current position.

        Arrow's is faster but stops there.
        """
        self._raw.rewind()
        self._stream = records = (Members if self.packing == "gzip" else Frames)(self._raw, start)
        left = self._unpacked
        while left and (again := records.read(min(left, CHUNK_BYTES))):
            left -= len(again)
        return records

    def _rescued(self, size: int) -> bytes:
        """Return what a failed read had unpacked: Arrow drops it, so read it again byte by byte."""
        self._raw.rewind()
        stream = self._unpacking()
        data = bytearray()
        with suppress(OSError):
            left = self._unpacked
            while left and (again := stream.read(min(left, CHUNK_BYTES))):
                left -= len(again)
            while len(data) < size and (byte := stream.read(1)):
                data += byte
        return bytes(data)

    @property
    def breaks(self) -> Sequence[Break]:
        """Damage after which reading continued, in a file compressed record by record."""
        return self._stream.breaks if isinstance(self._stream, Members | Frames) else ()

    def _unpacking(self) -> pa.NativeFile:
        import pyarrow as pa

        return pa.CompressedInputStream(pa.PythonFile(self._raw, "r"), self.packing)


def max_unpacked(stored: int, reading: Reading | None) -> int:
    """Return the most bytes that so many stored bytes may unpack to."""
    asked = None if reading is None else reading.max_bytes
    return max(FREE_BYTES, MAX_RATIO * stored) if asked is None else asked


class _Counted:
    """A file that counts the bytes read; closing it does nothing, since its owner does."""

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
        """Seek, and stop reporting progress: these bytes were counted before."""
        self._progress = None
        self._raw.seek(at)

    def close(self) -> None:
        pass


@contextmanager
def open_stored(
    path: str, reading: Reading | None = None, progress: Progress | None = None
) -> Iterator[ByteStream]:
    """Open a file, a URL or standard input at its beginning."""
    with open_raw(path, progress) as raw:
        yield ByteStream(path, raw, progress, reading)


@contextmanager
def open_task(task: Task) -> Iterator[ByteStream]:
    """Open the file of a task, and note the encoding it was decoded from."""
    with open_stored(task.path, task.reading, task.progress) as file:
        if file.encoding is not None:
            by = f" ({file.told_by})" if file.told_by else ""
            kept = "; kept records are written as UTF-8" if task.reading.keeps else ""
            task.note(f"{file.name}: read as {file.encoding}{by}{kept}")
        yield file


def beginning(path: str, reading: Reading | None = None) -> bytes:
    """Return the first bytes of a file, unpacked; b"" if it cannot be read, or not twice."""
    if can_reread(path):
        with suppress(OSError, ValueError, DamagedError), open_stored(path, reading) as file:
            return file.read(encodings.SAMPLE)
    return b""


def blocks(file: ByteStream, report: Report) -> Iterator[tuple[int, int, bytes]]:
    """Yield blocks of about BLOCK_BYTES: number of the first line, offset of the first byte, bytes.

    Each ends at a line end, but for a last line without one. A leading byte order mark is left
    out. A line longer than `file.most` is reported and skipped; so is a line cut off by damage.
    """
    source = file.name
    # Of the incomplete line: number, offset, bytes (unless too long), their count.
    line, start, held, size = 1, 0, list[bytes](), 0
    while True:
        try:
            data = file.read(min(BLOCK_BYTES, file.most))
        except DamagedError as damage:
            report(Unreadable(source, line, str(damage)))
            return
        if not data:
            break
        if file.position == len(data):
            if problem := report_compressed(file, data):
                report(problem)
                return
            if data.startswith(BOM):
                data, start = data[len(BOM) :], len(BOM)
        first = data.find(b"\n") + 1
        head = first or len(data)
        if size + head - bool(first) > file.most:
            # No other line can be too long, since the data read is not.
            if size <= file.most:
                report(Unreadable(source, line, batch.line_too_long(file.most)))
            held, size, data = [], size + head, data[head:]
            if first:
                line, start, size = line + 1, start + size, 0
        if cut := data.rfind(b"\n") + 1:
            block = b"".join((*held, data[:cut]))
            yield line, start, block
            line, start = line + _core.count_lines(block), start + len(block)
            held, size, data = [], 0, data[cut:]
        if data:
            held.append(data)
            size += len(data)
    if held:
        yield line, start, b"".join(held)


MAGIC_NUMBERS = ((GZIP, "gzip", ".gz", "zcat"), (ZSTD, "zstd", ".zst", "zstdcat"))
LOOKS_BINARY = "looks like a binary file"
NAME_THE_ENCODING = "name its encoding with --encoding, such as gb18030 or latin-1"


def report_not_utf8(
    path: str, line: int, error: UnicodeDecodeError, encoding: str | None
) -> Unreadable:
    """Report bytes that cannot be decoded.

    encoding  of the file; None for UTF-8
    """
    if encoding is not None:
        hint = "if the file is in another encoding, name it with --encoding"
        return Unreadable(name_of(path), line, f"not {encoding}", hint=hint)
    kind = "not UTF-8"
    reason = f"{kind} (byte 0x{error.object[error.start]:02x} at offset {error.start})"
    return Unreadable(name_of(path), line, reason, kind, _hint(path, error.object))


def report_nul(path: str, line: int, data: bytes) -> Unreadable:
    """Report a NUL byte, which no text has."""
    return Unreadable(name_of(path), line, "holds a NUL byte", hint=_hint(path, data))


def nul_hint(path: str, data: bytes) -> str:
    """Return advice if data holds a NUL because it is in another encoding; else ""."""
    hint = _hint(path, data) if b"\0" in data else ""
    return "" if hint == LOOKS_BINARY else hint


def report_compressed(file: ByteStream, data: bytes) -> Unreadable | None:
    """Report a file that is compressed though its name does not say so; else return None."""
    for magic, name, ending, program in MAGIC_NUMBERS:
        if data.startswith(magic):
            is_stdin = file.path == STDIN
            way = f"pipe it through {program}" if is_stdin else f"rename it to end in {ending}"
            return Unreadable(file.name, None, f"is {name}", hint=way)
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
    # The first bytes of the file tell more than one line does, unless the bad bytes come later.
    guess = _detect_once(path, stamp)
    if guess in (None, encodings.UTF8):
        guess = encodings.detect(data)
    if guess not in (None, encodings.UTF8):
        return f"looks like {guess}: use --encoding {guess}"
    return LOOKS_BINARY if b"\0" in data else NAME_THE_ENCODING


@lru_cache(maxsize=16)
def _detect_once(path: str, stamp: object) -> str | None:
    """Return the likely encoding of a file; cached, since each of its lines may ask."""
    return encodings.detect(beginning(path))
