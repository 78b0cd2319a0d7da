"""HAR 1.2: a JSON object with an entry for each request of a browser and its response.

Entries are parsed one by one, so a file may be larger than memory.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator
from typing import Any

from neardup.files.reading.batch import record_too_long
from neardup.files.reading.encodings import UTF8, body_charset
from neardup.files.reading.json import Value, Values
from neardup.files.reading.records import BadRecordError, json_type
from neardup.http.captures.reader import Capture, CapturedResponse, json_string
from neardup.http.messages import (
    MAX_HEADERS,
    Headers,
    MessageError,
    Response,
    header_value,
    too_many_headers,
)

MISSING_BODY = "no body in the capture; status, headers, type and length are compared"


class _Entries(Values):
    """The elements of log.entries; all other values are skipped."""

    def __iter__(self) -> Iterator[Value]:
        if (char := self._next()) is None:
            raise BadRecordError("is empty")
        if char != "{":
            raise BadRecordError(f"not HAR (an object was expected, not {char!r})")
        for name in self._members():
            if name == "log" and self._next() == "{":
                for inner in self._members():
                    if inner == "entries" and self._next() == "[":
                        yield from self._array()
                    else:
                        self._value()
            else:
                self._value()

    def _array(self) -> Iterator[Value]:
        opened = self.line
        self._skip(1)
        if self._next() == "]":
            self._skip(1)
            return
        self.count = 0
        yield from self._elements(opened)

    def _members(self) -> Iterator[str]:
        """Yield the names in the object that begins here; the caller reads the value of each."""
        opened = self.line
        self._skip(1)
        if self._next() == "}":
            self._skip(1)
            return
        while True:
            if self._next() != '"':
                raise BadRecordError(
                    f"not JSON (the object that begins on line {opened} is broken)"
                )
            name = self._value().value
            self._expect(":")
            self._next()
            yield str(name)
            if self._expect(",}") == "}":
                return

    def _expect(self, chars: str) -> str:
        char = self._next()
        if char is None:
            raise BadRecordError("is truncated: its objects have no end")
        if char not in chars:
            raise BadRecordError(f"not JSON ({' or '.join(chars)} was expected, not {char!r})")
        self._skip(1)
        return char


def read_har(capture: Capture) -> Iterator[CapturedResponse]:
    """Yield the responses of a file; report invalid JSON, at which parsing stops."""
    entries = _Entries(capture.file)
    number = 0
    try:
        for found in entries:
            number += 1
            try:
                if isinstance(found.value, UnicodeDecodeError):
                    raise BadRecordError("not UTF-8")
                if isinstance(found.value, BadRecordError):
                    raise found.value
                response = response_of(capture, found.value, number)
            except (BadRecordError, MessageError) as bad:
                capture.refuse(number, str(bad), at=found.start, kind=bad.kind)
                continue
            yield CapturedResponse(response, number)
    except BadRecordError as bad:
        reason = f"{bad}; {entries.hint}" if entries.hint else str(bad)
        capture.refuse(
            number + 1 if number else None, f"line {entries.line}: {reason}", kind=bad.kind
        )
    if entries.problem is not None:
        capture.task.report(entries.problem)


def response_of(capture: Capture, entry: Any, number: int) -> Response:
    """Return the response of an entry; raise BadRecordError if there is none."""
    request, response = _object(entry, "request"), _object(entry, "response")
    status = response.get("status", 0)
    if isinstance(status, float) and status.is_integer():
        status = int(status)
    if isinstance(status, bool) or not isinstance(status, int) or not 0 <= status < 1000:
        raise BadRecordError(f"status is {str(status)[:40]!r}, which is not a status code")
    headers = _headers(response.get("headers"))
    if not status:
        why = json_string(response.get("_error")) or "the request was blocked or failed"
        raise BadRecordError(f"no response ({why})", "no response")
    content = response.get("content")
    content = content if isinstance(content, dict) else {}
    kind = json_string(content.get("mimeType"))
    if kind not in ("", "x-unknown") and not header_value(headers, "content-type"):
        headers = (*headers, ("Content-Type", kind))
    body, charset = _body(capture, content, headers, number)
    is_whole = bool(body) or _is_empty(request, status, content, response)
    if not is_whole:
        capture.remark(number, MISSING_BODY)
    return Response(
        url=json_string(request.get("url")),
        status=status,
        reason=json_string(response.get("statusText")),
        headers=headers,
        body=body,
        charset=charset,
        ip=json_string(entry.get("serverIPAddress")).strip("[]"),
        length=len(body)
        if is_whole
        else _count(content.get("size")) or _count(response.get("bodySize")),
        is_whole=is_whole,
    )


def _object(entry: Any, name: str) -> dict[str, Any]:
    if not isinstance(entry, dict):
        raise BadRecordError(f"expected an object, got {json_type(entry)}")
    member = entry.get(name)
    if not isinstance(member, dict):
        raise BadRecordError(f"has no {name}")
    return member


def _is_empty(
    request: dict[str, Any], status: int, content: dict[str, Any], response: dict[str, Any]
) -> bool:
    """Return whether a missing body was empty, rather than left out of the capture."""
    if request.get("method") == "HEAD" or status in (204, 304):
        return True
    if _count(content.get("size")):
        return False
    # Browsers write -1 for unknown.
    return content.get("size") == 0 or content.get("text") == "" or response.get("bodySize") == 0


def _count(value: Any) -> int:
    is_count = (
        isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < 1 << 62
    )
    return int(value) if is_count else 0


def _headers(entries: Any) -> Headers:
    if not isinstance(entries, list):
        return ()
    if len(entries) > MAX_HEADERS:
        raise too_many_headers()
    return tuple(
        (name, json_string(each.get("value")).replace("\0", "\ufffd"))
        for each in entries
        # Pseudo-headers of HTTP/2, which stand for the status line, begin with a colon.
        if isinstance(each, dict) and (name := json_string(each.get("name"))) and name[0] != ":"
    )


def _body(
    capture: Capture, content: dict[str, Any], headers: Headers, number: int
) -> tuple[bytes, str]:
    text = content.get("text")
    if not isinstance(text, str) or not text:
        return b"", UTF8
    if json_string(content.get("encoding")).lower() != "base64":
        data = text.encode("utf-8", "replace")
        if len(data) > capture.max_body:
            raise MessageError(record_too_long(capture.max_body), "too long")
        return data, UTF8
    try:
        data = base64.b64decode(text, validate=False)
    except (binascii.Error, ValueError):
        raise BadRecordError("the content is declared as base64 and is not") from None
    # Browsers decompress bodies, some proxies do not.
    body = capture.body(headers, data, is_framed=False)
    capture.remark(number, *body.remarks)
    return body.data, body_charset(header_value(headers, "content-type"), body.data)
