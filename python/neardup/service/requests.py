"""Parsing of requests within limits: headers, query, body."""

from __future__ import annotations

import asyncio
from typing import Any, TypeVar
from urllib.parse import parse_qsl

import msgspec
from starlette.types import Message, Receive, Scope

from neardup.service.errors import HTTPProblem
from neardup.service.limits import ByteReservation
from neardup.service.settings import ServiceSettings

T = TypeVar("T")

JSON = "application/json"
NDJSON = "application/x-ndjson"
# Media types that clients use for NDJSON.
NDJSON_TYPES = (NDJSON, "application/ndjson", "application/jsonl", "application/jsonlines")
# Key of the request's `ByteReservation` in its scope.
RESERVATION_KEY = "neardup.reservation"
# More than the parameters of any operation.
MAX_QUERY_FIELDS = 64


class ClientDisconnectedError(Exception):
    """The client closed the connection before the body was complete."""


class ClientNotReadingError(Exception):
    """The client does not read the response; the rest is not sent."""


def header(scope: Scope, name: bytes) -> str | None:
    """Return the first value of a header, or None."""
    for key, value in scope["headers"]:
        if key == name:
            return str(value.decode("latin-1"))
    return None


def media_type(scope: Scope) -> str:
    """Return the Content-Type without its parameters, or ""."""
    content_type = header(scope, b"content-type") or ""
    return content_type.partition(";")[0].strip().lower()


def accepts(scope: Scope, kind: str) -> bool:
    """Return whether the Accept header allows this media type; a missing header allows all."""
    accepted = header(scope, b"accept")
    if accepted is None or not accepted.strip():
        return True
    main = kind.partition("/")[0]
    for part in accepted.split(","):
        name, *parameters = (piece.strip().lower() for piece in part.split(";"))
        if name in (kind, f"{main}/*", "*/*"):
            return not any(_is_zero_quality(parameter) for parameter in parameters)
    return False


def _is_zero_quality(parameter: str) -> bool:
    name, _, value = parameter.partition("=")
    return name == "q" and value.strip("0.") == ""


def accepts_ndjson(scope: Scope) -> bool:
    """Return whether the Accept header names NDJSON; `*/*` does not count."""
    return any(
        key == b"accept" and any(name.encode() in value.lower() for name in NDJSON_TYPES)
        for key, value in scope["headers"]
    )


async def read_body(scope: Scope, receive: Receive, settings: ServiceSettings) -> bytes:
    """Return the whole body; raise `HTTPProblem` if it is too large or too slow."""
    receive = limit_body(scope, receive, settings)
    reservation: ByteReservation | None = scope.get(RESERVATION_KEY)
    parts: list[bytes] = []
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientDisconnectedError
        if body := message.get("body", b""):
            if reservation is not None:
                reservation.reserve(len(body))
            parts.append(body)
        if not message.get("more_body", False):
            return parts[0] if len(parts) == 1 else b"".join(parts)


def limit_body(scope: Scope, receive: Receive, settings: ServiceSettings) -> Receive:
    """Return a `receive` that enforces `max_body` and `body_seconds`."""
    too_large = HTTPProblem(
        413,
        f"the body is larger than {settings.max_body} bytes; send less at once, or send {NDJSON}",
    )
    length = header(scope, b"content-length")
    if length is not None and length.isdecimal() and int(length) > settings.max_body:
        raise too_large
    end = asyncio.get_running_loop().time() + settings.body_seconds
    size, more = 0, True

    async def limited() -> Message:
        nonlocal size, more
        if not more:
            # The message after the body is the disconnect, which may come at any time.
            return await receive()
        try:
            async with asyncio.timeout_at(end):
                message = await receive()
        except TimeoutError:
            raise HTTPProblem(
                408,
                f"the body was not complete after {settings.body_seconds:g} s",
                headers={"Connection": "close"},
            ) from None
        size += len(message.get("body", b""))
        more = message.get("more_body", False)
        if size > settings.max_body:
            raise too_large
        return message

    return limited


def parse_query(scope: Scope, kind: type[T]) -> T:
    """Return the query parameters as a value of this type."""
    query = scope["query_string"]
    if not query:
        return kind()
    try:
        pairs = parse_qsl(
            query.decode("ascii"),
            keep_blank_values=True,
            errors="strict",
            max_num_fields=MAX_QUERY_FIELDS,
        )
    except ValueError:
        raise HTTPProblem(
            400,
            "the query is not percent-encoded UTF-8, "
            f"or has more than {MAX_QUERY_FIELDS} parameters",
        ) from None
    parameters = dict(pairs)
    if len(parameters) != len(pairs):
        raise HTTPProblem(422, "duplicate query parameter; give each parameter once")
    for name, value in parameters.items():
        if value.lower() == "null" or value != value.strip():
            raise HTTPProblem(
                422, f"invalid value of query parameter {name!r}; leave it out for the default"
            )
    try:
        return msgspec.convert(parameters, kind, strict=False)
    except msgspec.ValidationError as error:
        raise HTTPProblem(422, "invalid query parameter", errors=[str(error)]) from None


def decode_json(data: bytes, decoder: msgspec.json.Decoder[Any]) -> Any:
    """Decode and validate JSON; raise `HTTPProblem` with the reason, but none of the data."""
    try:
        return decoder.decode(data)
    except msgspec.ValidationError as error:
        raise HTTPProblem(422, "the body does not match the schema", errors=[str(error)]) from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        reason = _utf8_error(data) or str(error)
        raise HTTPProblem(400, "the body is not valid JSON", errors=[reason]) from None
    except RecursionError:
        raise HTTPProblem(400, "the body is nested too deeply") from None


def _utf8_error(data: bytes) -> str | None:
    """Return the position of invalid UTF-8; msgspec counts from the beginning of a string."""
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        return f"invalid UTF-8 at byte {error.start}"
    return None
