"""Which capture of HTTP responses a file is, by how it begins."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from neardup.files.reading.batch import Reading
from neardup.files.reading.document import BOM, STDIN
from neardup.files.reading.formats import (
    FAMILIES,
    FORMATS,
    Family,
    capture_by_name,
    format_by_name,
    formats_of,
    register_family,
)
from neardup.files.reading.streams import beginning

# A capture whose format is found out when it is read.
ANY = "http"
MESSAGE = re.compile(
    rb"\s{0,64}(?:HTTP/\d(?:\.\d)?[ \t]+\d{3}(?!\d)|[A-Z][A-Z-]{2,19} \S{1,8192} HTTP/\d)"
)
XML = re.compile(
    rb"\s*(?:<\?xml[^>]{0,256}\?>)?\s*(?:<!--.{0,4096}?-->\s*)*(?:<!DOCTYPE\s+items\b|<items\b)",
    re.S,
)
HAR = re.compile(rb'\{\s*"log"\s*:\s*\{')
FIELD = re.compile(
    rb'"(url|input|status_code|status-code|stored_response_path|raw_header|failed)"\s*:'
)
FEROX = re.compile(rb'"type"\s*:\s*"(?:response|configuration|statistics|scan)"')
FFUF = re.compile(rb'\{\s*"(?:commandline"\s*:|input"\s*:\s*\{)')
# A line of it tells nothing by its end.
LONG = 32 << 10
# What other scanners write, and why it is of no use here.
BODILESS = "has no responses in it, only their status and sizes"
WAY_OUT = "save responses with httpx -irr -json, as WARC, or as raw files"


def kind_of(data: bytes) -> str | None:
    """The name of the format that the first bytes of a file tell; None if they tell none."""
    data = data.removeprefix(BOM)
    if data.lstrip()[:7].startswith((b"WARC/0.", b"WARC/1.", b"WARC/2.")):
        return "warc"
    if MESSAGE.match(data):
        return "raw-http"
    if XML.match(data):
        return "burp"
    start = data.lstrip()
    if not start.startswith(b"{"):
        return None
    if HAR.match(start):
        return "har"
    if scanner_of(data) is not None:
        return None
    first = start.partition(b"\n")[0]
    fields = set(FIELD.findall(first))
    # A long body may come before all else: the columns are sorted in some versions.
    if {b"url", b"input"} & fields and len(fields) > 1:
        return "httpx"
    return _by_columns(first)


def _by_columns(line: bytes) -> str | None:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        # One that is longer than what was looked at has a body in it.
        return "httpx" if len(line) >= LONG else None
    if not isinstance(record, dict):
        return None
    if isinstance(record.get("log"), dict):
        return "har"
    return "httpx" if "url" in record and {"status_code", "body", "header"} & set(record) else None


def scanner_of(data: bytes) -> str | None:
    """The scanner that wrote a file of results without bodies, if one did."""
    start = data.removeprefix(BOM).lstrip()
    if not start.startswith((b"{", b"[")):
        return None
    first = start.partition(b"\n")[0][:65536]
    if FEROX.search(first) and (
        b'"wildcard"' in first or b'"line_count"' in first or b'"wordlists"' in first
    ):
        return "feroxbuster"
    if FFUF.match(start) and (
        b'"FUZZ"' in start or b"ffuf" in start[:4096] or b'"resultfile"' in start
    ):
        return "ffuf"
    return None


def unknown(data: bytes) -> tuple[str, str]:
    """Why a file is no capture, and what helps."""
    if not data.strip():
        return "is empty", ""
    if (scanner := scanner_of(data)) is not None:
        return f"is JSON of {scanner}, which {BODILESS}", WAY_OUT
    kinds = [each.called for each in formats_of("capture")]
    return (
        f"holds no HTTP responses: {', '.join(kinds[:-1])} and {kinds[-1]} are read, also with "
        ".gz or .zst",
        "",
    )


def record_hint(record: Mapping[str, Any]) -> str:
    """Return advice for a JSON record without a text that belongs to a capture, or ""."""
    if "url" in record and ("status_code" in record or "status-code" in record):
        return "looks like results of httpx: add --as http"
    log = record.get("log")
    if isinstance(log, Mapping) and "entries" in log:
        return "looks like HAR: add --as http"
    if {"url", "wildcard", "line_count"} <= record.keys():
        return f"looks like JSON of feroxbuster, which {BODILESS}; {WAY_OUT}"
    if {"commandline", "results"} <= record.keys():
        return f"looks like JSON of ffuf, which {BODILESS}; {WAY_OUT}"
    return ""


register_family(
    "capture", Family(fallback=ANY, detect=kind_of, records="responses", record_hint=record_hint)
)


# What a file holds: told by the user, by its name, or by how it begins.

TEXT = "text"


def format_of(path: str, reading: Reading) -> str:
    """The name of the format. What is not known by its name, nor by how it begins, is text."""
    if reading.format is not None:
        return reading.format
    if reading.viewing is not None:
        return _capture_of(path, reading)
    source = format_by_name(path)
    if source is None:
        found = None
        if not reading.lines:
            found = FAMILIES["document"].detect(beginning(path, reading))
        return found or TEXT
    return source.name if source.sniff is None else source.sniff(beginning(path, reading))


def _capture_of(path: str, reading: Reading) -> str:
    """Which capture a file is. What cannot be looked at twice is told apart when it is read, and
    so is what is none."""
    certain, family = capture_by_name(path), FAMILIES["capture"]
    return certain or family.detect(beginning(path, reading)) or family.fallback or TEXT


def check_options(files: Sequence[str], reading: Reading) -> None:
    """Refuse an option that means nothing to any of the files."""
    for name, option in reading.asked.items():
        if not any(name in FORMATS[_named(path, reading)].options for path in files):
            known = [source.called for source in FORMATS.values() if name in source.options]
            raise ValueError(
                f"{option} is for {', '.join(known)}, and none of the inputs is; leave it out, or "
                "say what they are with --format"
            )


def _named(path: str, reading: Reading) -> str:
    """The format as the name tells it: nothing is opened for this."""
    if reading.format is not None or path == STDIN:
        return reading.format or TEXT
    if reading.viewing is not None:
        return capture_by_name(path) or FAMILIES["capture"].fallback or TEXT
    source = format_by_name(path)
    return TEXT if source is None else source.name
