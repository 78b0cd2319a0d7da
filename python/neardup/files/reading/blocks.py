"""Large pieces of a file, each of whole lines."""

from __future__ import annotations

from collections.abc import Iterator

from neardup import _core
from neardup.files.reading import document
from neardup.files.reading.bad_bytes import packed
from neardup.files.reading.document import BOM, Report, Unreadable, name_of
from neardup.files.reading.streams import ByteStream, DamagedError

# Little enough to stay in a cache between reading and parsing.
BLOCK_BYTES = 2 << 20


def blocks(file: ByteStream, report: Report) -> Iterator[tuple[int, int, bytes]]:
    """Pieces of about BLOCK_BYTES: number of the first line, offset of the first byte, bytes.

    Each ends at a line end, but for a last line without one. A leading byte order mark is left
    out. A line longer than `file.most` is reported and left out; so is a line cut off by damage.
    """
    source = name_of(file.path)
    # Of the line that has not ended yet: number, offset, bytes (unless too long), their count.
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
            if problem := packed(file, data):
                report(problem)
                return
            if data.startswith(BOM):
                data, start = data[len(BOM) :], len(BOM)
        first = data.find(b"\n") + 1
        head = first or len(data)
        if size + head - bool(first) > file.most:
            # No other line of the piece can be too long: the piece itself is not.
            if size <= file.most:
                report(Unreadable(source, line, document.line_too_long(file.most)))
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
