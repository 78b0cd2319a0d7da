"""Captures: files of HTTP responses, as WARC, HAR, httpx, Burp or raw messages.

Importing this package registers their formats with `neardup.files`: names, file extensions, and
the detection of a format by the first bytes of a file. `reader` reads captures of any format; a
module for each format has its parser, imported when such a file is read.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from neardup.files.reading.batch import BOM
from neardup.files.reading.formats import Family, Format, formats_of, register, register_family

if TYPE_CHECKING:
    from neardup.files.reading.batch import Batch, Task

__all__ = ["burp", "har", "httpx", "raw", "reader", "warc"]

# A capture whose actual format is detected when it is read.
ANY_CAPTURE = "http"
RAW_MESSAGE = re.compile(
    rb"\s{0,64}(?:HTTP/\d(?:\.\d)?[ \t]+\d{3}(?!\d)|[A-Z][A-Z-]{2,19} \S{1,8192} HTTP/\d)"
)
BURP = re.compile(
    rb"\s*(?:<\?xml[^>]{0,256}\?>)?\s*(?:<!--.{0,4096}?-->\s*)*(?:<!DOCTYPE\s+items\b|<items\b)",
    re.S,
)
HAR = re.compile(rb'\{\s*"log"\s*:\s*\{')
HTTPX_FIELD = re.compile(
    rb'"(url|input|status_code|status-code|stored_response_path|raw_header|failed)"\s*:'
)
FEROXBUSTER = re.compile(rb'"type"\s*:\s*"(?:response|configuration|statistics|scan)"')
FFUF = re.compile(rb'\{\s*"(?:commandline"\s*:|input"\s*:\s*\{)')
# A JSON line of this length does not fit the sample, so it cannot be parsed; it is taken for httpx,
# since only a body makes a line so long.
LONG_LINE_BYTES = 32 << 10
NO_BODIES = "has no responses in it, only their status and sizes"
SAVE_BODIES = "save responses with httpx -irr -json, as WARC, or as raw files"


def read_batches(format_: str, task: Task) -> Iterator[Batch]:
    """Yield the responses of a capture as documents."""
    # Imported here, since jobs on texts do not need the readers.
    from neardup.http.captures.reader import read_captures

    return read_captures(format_, task)


def detect_format(data: bytes) -> str | None:
    """Detect the capture format of a file by its first bytes; return its name, or None."""
    data = data.removeprefix(BOM)
    start = data.lstrip()
    if start.startswith((b"WARC/0.", b"WARC/1.", b"WARC/2.")):
        return "warc"
    if RAW_MESSAGE.match(data):
        return "raw-http"
    if BURP.match(data):
        return "burp"
    if not start.startswith(b"{"):
        return None
    if HAR.match(start):
        return "har"
    if detect_scanner(data) is not None:
        return None
    line = start.partition(b"\n")[0]
    fields = set(HTTPX_FIELD.findall(line))
    # The line may not fit the sample: some versions sort the columns, and a long body comes first.
    if {b"url", b"input"} & fields and len(fields) > 1:
        return "httpx"
    return _detect_by_columns(line)


def _detect_by_columns(line: bytes) -> str | None:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return "httpx" if len(line) >= LONG_LINE_BYTES else None
    if not isinstance(record, dict):
        return None
    if isinstance(record.get("log"), dict):
        return "har"
    return "httpx" if "url" in record and {"status_code", "body", "header"} & set(record) else None


def detect_scanner(data: bytes) -> str | None:
    """Return the scanner that wrote a file of results without bodies; None for other files."""
    start = data.removeprefix(BOM).lstrip()
    if not start.startswith((b"{", b"[")):
        return None
    line = start.partition(b"\n")[0][:65536]
    if FEROXBUSTER.search(line) and (
        b'"wildcard"' in line or b'"line_count"' in line or b'"wordlists"' in line
    ):
        return "feroxbuster"
    if FFUF.match(start) and (
        b'"FUZZ"' in start or b"ffuf" in start[:4096] or b'"resultfile"' in start
    ):
        return "ffuf"
    return None


def explain_unknown(data: bytes) -> tuple[str, str]:
    """Return the reason why a file with these first bytes is not a capture, and advice."""
    if not data.strip():
        return "is empty", ""
    if (scanner := detect_scanner(data)) is not None:
        return f"is JSON of {scanner}, which {NO_BODIES}", SAVE_BODIES
    *names, last = [each.called for each in formats_of("capture")]
    return (
        f"holds no HTTP responses: {', '.join(names)} and {last} are read, also with .gz or .zst",
        "",
    )


def record_hint(record: Mapping[str, Any]) -> str:
    """Return advice if a JSON record without a text looks like part of a capture, else ""."""
    if "url" in record and ("status_code" in record or "status-code" in record):
        return "looks like results of httpx: add --as http"
    log = record.get("log")
    if isinstance(log, Mapping) and "entries" in log:
        return "looks like HAR: add --as http"
    if {"url", "wildcard", "line_count"} <= record.keys():
        return f"looks like JSON of feroxbuster, which {NO_BODIES}; {SAVE_BODIES}"
    if {"commandline", "results"} <= record.keys():
        return f"looks like JSON of ffuf, which {NO_BODIES}; {SAVE_BODIES}"
    return ""


def check_captures(
    captures: Sequence[str], texts: Sequence[str], note: Callable[[str], object]
) -> None:
    """Raise ValueError if there are texts beside captures; else note that captures are read.

    captures, texts  paths of inputs, told apart by file name
    """
    if texts:
        raise ValueError(
            f"{captures[0]} is a capture of HTTP responses by its name, and {texts[0]} is not; "
            'run once for each, or read all as captures: --as http, or in Python recipe="http"'
        )
    more = f" and {len(captures) - 1:,} more are captures" if captures[1:] else " is a capture"
    note(f"{captures[0]}{more} of HTTP responses, and read as such (--as http)")


register_family(
    "capture",
    Family(
        fallback=ANY_CAPTURE, detect=detect_format, records="responses", record_hint=record_hint
    ),
)
_capture = partial(Format, family="capture")
for _format in (
    _capture(
        "warc",
        "WARC",
        (".warc",),
        partial(read_batches, "warc"),
        keeps="lines",
        rank=30,
        unit="record",
        record_start=b"WARC/",
    ),
    _capture(
        "har",
        "HAR",
        (".har",),
        partial(read_batches, "har"),
        keeps="texts",
        rank=31,
        unit="response",
    ),
    _capture(
        "httpx",
        "JSON lines of httpx",
        (),
        partial(read_batches, "httpx"),
        keeps="lines",
        rank=32,
        options=frozenset({"encoding"}),
        written=(".jsonl", ".ndjson", ".json"),
    ),
    _capture(
        "burp",
        "XML of Burp",
        (),
        partial(read_batches, "burp"),
        keeps="texts",
        rank=33,
        unit="item",
    ),
    _capture(
        "raw-http",
        "raw HTTP/1.x messages",
        (),
        partial(read_batches, "raw-http"),
        keeps="texts",
        rank=34,
        unit="response",
    ),
    _capture(
        ANY_CAPTURE,
        "captures of HTTP responses",
        (),
        partial(read_batches, ANY_CAPTURE),
        keeps="texts",
        rank=35,
        options=frozenset({"encoding"}),
        unit="response",
    ),
):
    register(_format)
