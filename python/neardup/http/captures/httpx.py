"""JSON lines of httpx: a response a line, with its body where httpx was asked for it (-irr)."""

from __future__ import annotations

import base64
import binascii
import errno
import os
import stat
from collections.abc import Iterator, Mapping
from typing import Any

from neardup.files.reading import document
from neardup.files.reading.bad_bytes import not_utf8
from neardup.files.reading.blocks import blocks
from neardup.files.reading.document import STDIN, record_too_long
from neardup.files.reading.formats import is_url
from neardup.files.reading.records import BadRecordError, parse_record
from neardup.http.captures import NO_BODIES, SAVE_BODIES, detect_scanner
from neardup.http.captures.raw import last_response
from neardup.http.captures.reader import Capture, CapturedResponse, json_string
from neardup.http.encoding import UTF8, charset_of
from neardup.http.messages import (
    MAX_HEADERS,
    Headers,
    MessageError,
    Response,
    ResponseHead,
    first,
    parse_headers,
    parse_response_head,
    too_many_headers,
)

# "HTTP/" in base64: with -irrb body and headers come so.
PACKED_HEAD = "SFRUUC"
# Of POSIX; elsewhere no pipe goes by the name of a file.
NO_WAIT: int = getattr(os, "O_NONBLOCK", 0)
# What is a column of its own, or too long to be one.
TAKEN = frozenset(
    {"url", "body", "header", "raw_header", "request", "chain", "response", "headers"}
)
NO_BODY = (
    "no body, since httpx was run without -irr and stored none; status, headers, title, type and "
    "length are compared"
)


def read_httpx(capture: Capture) -> Iterator[CapturedResponse]:
    """The responses of a file of JSON lines."""
    for number, start, block in blocks(capture.file, capture.task.report):
        end = start
        lines = block.split(b"\n")
        if not lines[-1]:
            lines.pop()
        for line_number, line in enumerate(lines, number):
            begin, end = end, end + len(line) + 1
            if not line or line.isspace():
                continue
            try:
                response = response_of(capture, line, line_number)
            except (BadRecordError, MessageError) as bad:
                capture.refuse(line_number, str(bad), kind=bad.kind)
                continue
            if response is not None:
                yield CapturedResponse(response, line_number, begin, min(end, start + len(block)))


def response_of(capture: Capture, line: bytes, number: int) -> Response | None:
    """The response of a line; None if it is not UTF-8, which is reported."""
    text = document.decode(line)
    if not isinstance(text, str):
        capture.task.report(not_utf8(capture.task.path, number, text, capture.encoding))
        return None
    record = parse_record(text)
    url = json_string(record.get("url") or record.get("final_url") or record.get("input"))
    if record.get("failed") is True and not record.get("status_code"):
        why = json_string(record.get("error"))
        raise BadRecordError(f"no response: {why}" if why else "no response", "no response")
    if "status_code" not in record and (scanner := detect_scanner(line)) is not None:
        raise BadRecordError(f"is JSON of {scanner}, which {NO_BODIES}; {SAVE_BODIES}")
    if not url and "status_code" not in record:
        raise BadRecordError("no result of httpx: it has neither url nor status_code")
    head, is_packed = _head(record)
    ip = json_string(record.get("host_ip")) or _ip(record)
    found = _body(capture, record, head, number, is_packed=is_packed)
    told = _told_length(record)
    # Answers of these two statuses have no body, whatever is told of one.
    is_whole = found is not None or told == 0 or head.status in (204, 304)
    body, charset = found or (b"", UTF8)
    return Response(
        url=url,
        status=head.status,
        reason=head.reason,
        headers=head.headers,
        body=body,
        charset=charset,
        ip=ip,
        length=len(body) if is_whole else told or 0,
        final_url=json_string(record.get("final_url")),
        title=json_string(record.get("title")),
        is_whole=is_whole,
        extra=_extra(record),
    )


def _told_length(record: Mapping[str, Any]) -> int | None:
    told = record.get("content_length")
    if isinstance(told, int) and not isinstance(told, bool) and 0 <= told < 1 << 62:
        return told
    return None


def _ip(record: Mapping[str, Any]) -> str:
    """`host` was the address before `host_ip` came."""
    host = json_string(record.get("host"))
    return host if host.replace(".", "").isdigit() or ":" in host else ""


def _extra(record: Mapping[str, Any]) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, value in record.items():
        if name in TAKEN:
            continue
        if isinstance(value, str):
            found[name] = json_string(value)
        elif isinstance(value, bool):
            found[name] = "true" if value else "false"
        elif isinstance(value, int | float):
            found[name] = str(value)
        elif isinstance(value, list) and value and all(isinstance(each, str) for each in value):
            found[name] = ",".join(map(json_string, value))
    return found


def _head(record: Mapping[str, Any]) -> tuple[ResponseHead, bool]:
    """Status and headers, as exactly as they are told, and whether they came in base64."""
    raw = record.get("raw_header")
    is_packed = isinstance(raw, str) and raw.startswith(PACKED_HEAD)
    status = record.get("status_code", record.get("status-code", 0))
    if isinstance(status, bool) or not isinstance(status, int) or not 0 <= status < 1000:
        raise BadRecordError(f"column 'status_code' is {str(status)[:40]!r}, which is no status")
    if isinstance(raw, str) and raw:
        data = _unpacked(raw, "raw_header") if is_packed else raw.encode("utf-8", "replace")
        if data.startswith(b"HTTP/"):
            head = parse_response_head(data)
            # A line may be asked for with another status than the last of a chain has.
            return head._replace(status=status or head.status), is_packed
        return ResponseHead(
            status, "", parse_headers(data.decode("utf-8", "replace")), 0
        ), is_packed
    return ResponseHead(status, "", _headers(record), 0), False


def _headers(record: Mapping[str, Any]) -> Headers:
    given = record.get("header") or record.get("headers")
    if isinstance(given, str):
        return parse_headers(given)
    found: list[tuple[str, str]] = []
    if isinstance(given, dict):
        for name, value in given.items():
            # httpx writes content_type for Content-Type.
            name = json_string(name).replace("_", "-")
            found += [
                (name, json_string(each))
                for each in (value if isinstance(value, list) else [value])
            ]
            if len(found) > MAX_HEADERS:
                raise too_many_headers()
    names = {name.lower() for name, _ in found}
    for name, column in (
        ("Server", "webserver"),
        ("Content-Type", "content_type"),
        ("Location", "location"),
    ):
        if name.lower() not in names and (value := json_string(record.get(column))):
            found.append((name, value))
    return tuple(found)


def _body(
    capture: Capture, record: Mapping[str, Any], head: ResponseHead, number: int, *, is_packed: bool
) -> tuple[bytes, str] | None:
    """The body and its encoding; None if it is not there."""
    given = record.get("body")
    content_type = first(head.headers, "content-type")
    if isinstance(given, str) and given:
        if is_packed:
            data = _unpacked(given, "body")
            body = capture.body(head.headers, data, is_framed=False)
            capture.remark(number, *body.remarks)
            return body.data, charset_of(content_type, body.data)
        data = given.encode("utf-8", "replace")
        if len(data) > capture.max_body:
            raise MessageError(record_too_long(capture.max_body), "too long")
        return data, UTF8
    if isinstance(path := record.get("stored_response_path"), str) and path:
        stored = _stored(capture, json_string(path), number)
        if stored is not None:
            return stored.body, stored.charset
    elif (last := _last_of_chain(record)) is not None:
        found = capture.parse_message(last, number, is_framed=False)
        return found.body, found.charset
    elif given == "":
        return b"", UTF8
    elif head.status not in (204, 304) and _told_length(record) != 0:
        capture.remark(number, NO_BODY)
    return None


def _last_of_chain(record: Mapping[str, Any]) -> bytes | None:
    """The answer at the end of a chain of redirects, where it is told as a whole."""
    chain = record.get("chain")
    last = chain[-1] if isinstance(chain, list) and chain else None
    raw = last.get("response") if isinstance(last, dict) else None
    if not isinstance(raw, str) or not raw:
        return None
    if raw.startswith(PACKED_HEAD):
        return _unpacked(raw, "chain")
    return raw.encode("utf-8", "replace") if raw.startswith("HTTP/") else None


def _unpacked(text: str, column: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise BadRecordError(f"column {column!r} is not base64, as the headers are") from None


def _stored(capture: Capture, path: str, number: int) -> Response | None:
    """The response in a file of its own: as given, or beside the JSON lines."""
    for place in _places(capture.task.path, path):
        try:
            data = _regular(place, capture.max_body)
        except (OSError, ValueError):
            continue
        if data is None:
            raise MessageError(
                f"stored_response_path: {document.file_too_long(capture.max_body)}", "too long"
            )
        return last_response(capture, data, number)
    capture.remark(
        number,
        "a stored_response_path that is no file here; status, headers, title, type and length are "
        "compared",
    )
    return None


def _regular(place: str, most: int) -> bytes | None:
    """What a file holds; None if that is more than so many bytes; an OSError if it is no file."""
    # Opening a pipe would wait for a writer, perhaps for ever.
    with open(os.open(place, os.O_RDONLY | NO_WAIT | os.O_CLOEXEC), "rb") as file:
        # Of what was opened: the name may be that of another file by now.
        found = os.fstat(file.fileno())
        if not stat.S_ISREG(found.st_mode):
            raise OSError(errno.EINVAL, "is no regular file", place)
        # A file with holes costs nothing to store, and much to read.
        data = file.read(most + 1) if found.st_size <= most else None
    return None if data is None or len(data) > most else data


def _places(source: str, path: str) -> Iterator[str]:
    if source != STDIN and not is_url(source) and not os.path.isabs(path):
        yield os.path.join(os.path.dirname(source), path)
    yield path
    # The folder was moved with the file that names it.
    if source != STDIN and not is_url(source) and os.path.isabs(path):
        parts = path.strip("/").split("/")
        for take in (4, 3, 2, 1):
            if len(parts) >= take:
                yield os.path.join(os.path.dirname(source), *parts[-take:])
