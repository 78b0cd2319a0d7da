"""JSON lines of httpx: a response a line, with its body if httpx ran with -irr."""

from __future__ import annotations

import base64
import binascii
import errno
import os
import stat
from collections.abc import Iterator, Mapping
from typing import Any

from neardup.files.reading.batch import decode, file_too_long, record_too_long
from neardup.files.reading.encodings import UTF8, body_charset
from neardup.files.reading.formats import STDIN, is_url
from neardup.files.reading.records import BadRecordError, parse_record
from neardup.files.reading.streams import blocks, report_not_utf8
from neardup.http.captures import NO_BODIES, SAVE_BODIES, detect_scanner
from neardup.http.captures.raw import last_response
from neardup.http.captures.reader import Capture, CapturedResponse, json_string
from neardup.http.messages import (
    MAX_HEADERS,
    Headers,
    MessageError,
    Response,
    ResponseHead,
    header_value,
    parse_headers,
    parse_response_head,
    too_many_headers,
)

# "HTTP/" in base64, in which httpx -irrb writes body and headers.
BASE64_HEAD = "SFRUUC"
# POSIX only; elsewhere pipes have no file names.
NONBLOCK: int = getattr(os, "O_NONBLOCK", 0)
# Keys that are attributes of `Response`, or too long for `Response.extra`.
NOT_EXTRA = frozenset(
    {"url", "body", "header", "raw_header", "request", "chain", "response", "headers"}
)
NO_BODY = (
    "no body, since httpx ran without -irr and stored none; status, headers, title, type and "
    "length are compared"
)


def read_httpx(capture: Capture) -> Iterator[CapturedResponse]:
    """Yield the responses of a file of JSON lines."""
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
    """Return the response of a line; report a line that is not UTF-8 and return None."""
    text = decode(line)
    if not isinstance(text, str):
        capture.task.report(report_not_utf8(capture.task.path, number, text, capture.encoding))
        return None
    record = parse_record(text)
    url = json_string(record.get("url") or record.get("final_url") or record.get("input"))
    if record.get("failed") is True and not record.get("status_code"):
        why = json_string(record.get("error"))
        raise BadRecordError(f"no response: {why}" if why else "no response", "no response")
    if "status_code" not in record and (scanner := detect_scanner(line)) is not None:
        raise BadRecordError(f"is JSON of {scanner}, which {NO_BODIES}; {SAVE_BODIES}")
    if not url and "status_code" not in record:
        raise BadRecordError("not a result of httpx: it has neither url nor status_code")
    head, is_base64 = _head(record)
    ip = json_string(record.get("host_ip")) or _ip(record)
    found = _body(capture, record, head, number, is_base64=is_base64)
    length = _stated_length(record)
    # Responses with these two statuses have no body, whatever length is stated.
    is_whole = found is not None or length == 0 or head.status in (204, 304)
    body, charset = found or (b"", UTF8)
    return Response(
        url=url,
        status=head.status,
        reason=head.reason,
        headers=head.headers,
        body=body,
        charset=charset,
        ip=ip,
        length=len(body) if is_whole else length or 0,
        final_url=json_string(record.get("final_url")),
        title=json_string(record.get("title")),
        is_whole=is_whole,
        extra=_extra(record),
    )


def _stated_length(record: Mapping[str, Any]) -> int | None:
    length = record.get("content_length")
    if isinstance(length, int) and not isinstance(length, bool) and 0 <= length < 1 << 62:
        return length
    return None


def _ip(record: Mapping[str, Any]) -> str:
    """Return the address in `host`, which older versions write instead of `host_ip`."""
    host = json_string(record.get("host"))
    return host if host.replace(".", "").isdigit() or ":" in host else ""


def _extra(record: Mapping[str, Any]) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, value in record.items():
        if name in NOT_EXTRA:
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
    """Return status and headers, from the raw head if present, and whether that was base64."""
    raw = record.get("raw_header")
    is_base64 = isinstance(raw, str) and raw.startswith(BASE64_HEAD)
    status = record.get("status_code", record.get("status-code", 0))
    if isinstance(status, bool) or not isinstance(status, int) or not 0 <= status < 1000:
        raise BadRecordError(
            f"column 'status_code' is {str(status)[:40]!r}, which is not a status code"
        )
    if isinstance(raw, str) and raw:
        data = _decode_base64(raw, "raw_header") if is_base64 else raw.encode("utf-8", "replace")
        if data.startswith(b"HTTP/"):
            head = parse_response_head(data)
            # The raw head may belong to another response of a chain of redirects.
            return head._replace(status=status or head.status), is_base64
        return ResponseHead(
            status, "", parse_headers(data.decode("utf-8", "replace")), 0
        ), is_base64
    return ResponseHead(status, "", _headers(record), 0), False


def _headers(record: Mapping[str, Any]) -> Headers:
    headers = record.get("header") or record.get("headers")
    if isinstance(headers, str):
        return parse_headers(headers)
    pairs: list[tuple[str, str]] = []
    if isinstance(headers, dict):
        for name, value in headers.items():
            # httpx writes content_type for Content-Type.
            name = json_string(name).replace("_", "-")
            pairs += [
                (name, json_string(each))
                for each in (value if isinstance(value, list) else [value])
            ]
            if len(pairs) > MAX_HEADERS:
                raise too_many_headers()
    names = {name.lower() for name, _ in pairs}
    for name, column in (
        ("Server", "webserver"),
        ("Content-Type", "content_type"),
        ("Location", "location"),
    ):
        if name.lower() not in names and (value := json_string(record.get(column))):
            pairs.append((name, value))
    return tuple(pairs)


def _body(
    capture: Capture, record: Mapping[str, Any], head: ResponseHead, number: int, *, is_base64: bool
) -> tuple[bytes, str] | None:
    """Return the body and its charset; None if the capture has no body."""
    text = record.get("body")
    content_type = header_value(head.headers, "content-type")
    if isinstance(text, str) and text:
        if is_base64:
            data = _decode_base64(text, "body")
            body = capture.body(head.headers, data, is_framed=False)
            capture.remark(number, *body.remarks)
            return body.data, body_charset(content_type, body.data)
        data = text.encode("utf-8", "replace")
        if len(data) > capture.max_body:
            raise MessageError(record_too_long(capture.max_body), "too long")
        return data, UTF8
    if isinstance(path := record.get("stored_response_path"), str) and path:
        stored = _read_stored(capture, json_string(path), number)
        if stored is not None:
            return stored.body, stored.charset
    elif (last := _last_in_chain(record)) is not None:
        found = capture.parse_message(last, number, is_framed=False)
        return found.body, found.charset
    elif text == "":
        return b"", UTF8
    elif head.status not in (204, 304) and _stated_length(record) != 0:
        capture.remark(number, NO_BODY)
    return None


def _last_in_chain(record: Mapping[str, Any]) -> bytes | None:
    """Return the raw response at the end of a chain of redirects, if the record has it."""
    chain = record.get("chain")
    last = chain[-1] if isinstance(chain, list) and chain else None
    raw = last.get("response") if isinstance(last, dict) else None
    if not isinstance(raw, str) or not raw:
        return None
    if raw.startswith(BASE64_HEAD):
        return _decode_base64(raw, "chain")
    return raw.encode("utf-8", "replace") if raw.startswith("HTTP/") else None


def _decode_base64(text: str, column: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise BadRecordError(f"column {column!r} is not base64, although the headers are") from None


def _read_stored(capture: Capture, path: str, number: int) -> Response | None:
    """Read the response that httpx stored in another file; None if the file is not found."""
    for place in _candidate_paths(capture.task.path, path):
        try:
            data = _read_regular(place, capture.max_body)
        except (OSError, ValueError):
            continue
        if data is None:
            raise MessageError(
                f"stored_response_path: {file_too_long(capture.max_body)}", "too long"
            )
        return last_response(capture, data, number)
    capture.remark(
        number,
        "a stored_response_path without a file; status, headers, title, type and length are "
        "compared",
    )
    return None


def _read_regular(path: str, max_bytes: int) -> bytes | None:
    """Read a regular file; return None if it is longer than `max_bytes` bytes."""
    # Opening a pipe would wait for a writer, perhaps for ever.
    with open(os.open(path, os.O_RDONLY | NONBLOCK | os.O_CLOEXEC), "rb") as file:
        # fstat, not stat: the path may point to another file by now.
        found = os.fstat(file.fileno())
        if not stat.S_ISREG(found.st_mode):
            raise OSError(errno.EINVAL, "not a regular file", path)
        # Check the size before reading: a sparse file takes no disk space but much time to read.
        data = file.read(max_bytes + 1) if found.st_size <= max_bytes else None
    return None if data is None or len(data) > max_bytes else data


def _candidate_paths(source: str, path: str) -> Iterator[str]:
    """Yield the paths at which a stored response may be: relative to `source`, or as written."""
    if source != STDIN and not is_url(source) and not os.path.isabs(path):
        yield os.path.join(os.path.dirname(source), path)
    yield path
    # The folder may have been moved together with the file.
    if source != STDIN and not is_url(source) and os.path.isabs(path):
        parts = path.strip("/").split("/")
        for count in (4, 3, 2, 1):
            if len(parts) >= count:
                yield os.path.join(os.path.dirname(source), *parts[-count:])
