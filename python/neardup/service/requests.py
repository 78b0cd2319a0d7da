"""Requests, read within limits: the body, the options in the query, the types."""

from __future__ import annotations

import asyncio
from typing import Any, TypeVar
from urllib.parse import parse_qsl

import msgspec
from starlette.types import Message, Receive, Scope

from neardup.service.errors import Refusal
from neardup.service.limits import Share
from neardup.service.settings import ServiceSettings

T = TypeVar("T")

JSON = "application/json"
NDJSON = "application/x-ndjson"
# Names by which clients call the same.
LINES = (NDJSON, "application/ndjson", "application/jsonl", "application/jsonlines")
# Where a request has its share of what all may hold.
SHARE = "neardup.share"
# Fields of a query: more than all options together.
MOST_FIELDS = 64


def header(scope: Scope, name: bytes) -> str | None:
    """The value of a field of the head; the first, if there are more."""
    for key, value in scope["headers"]:
        if key == name:
            return str(value.decode("latin-1"))
    return None


def media_type(scope: Scope) -> str:
    """The type of the body, without its parameters; "" if none is given."""
    given = header(scope, b"content-type") or ""
    return given.partition(";")[0].strip().lower()


def accepts(scope: Scope, kind: str) -> bool:
    """Whether the client takes an answer of this type. Without a word about it, it does."""
    given = header(scope, b"accept")
    if given is None or not given.strip():
        return True
    main = kind.partition("/")[0]
    for part in given.split(","):
        name, *parameters = (piece.strip().lower() for piece in part.split(";"))
        if name in (kind, f"{main}/*", "*/*"):
            return not any(_is_nothing(parameter) for parameter in parameters)
    return False


def _is_nothing(parameter: str) -> bool:
    name, _, value = parameter.partition("=")
    return name == "q" and value.strip("0.") == ""


def too_large(settings: ServiceSettings) -> Refusal:
    return Refusal(
        413,
        f"the body is larger than {settings.max_body} bytes; send less at once, "
        f"or lines of {NDJSON}",
    )


def too_slow(settings: ServiceSettings) -> Refusal:
    return Refusal(
        408,
        f"the body was not there after {settings.body_seconds:g} s",
        headers={"Connection": "close"},
    )


async def read(scope: Scope, receive: Receive, settings: ServiceSettings) -> bytes:
    """The whole body, or a refusal if it is too long or too slow."""
    length = header(scope, b"content-length")
    if length is not None and length.isdecimal() and int(length) > settings.max_body:
        raise too_large(settings)
    share: Share | None = scope.get(SHARE)
    parts: list[bytes] = []
    size = 0
    try:
        async with asyncio.timeout(settings.body_seconds):
            while True:
                message = await receive()
                if message["type"] == "http.disconnect":
                    raise Gone
                if body := message.get("body", b""):
                    size += len(body)
                    if size > settings.max_body:
                        raise too_large(settings)
                    if share is not None:
                        share.take(len(body))
                    parts.append(body)
                if not message.get("more_body", False):
                    return parts[0] if len(parts) == 1 else b"".join(parts)
    except TimeoutError:
        raise too_slow(settings) from None


def bounded(scope: Scope, receive: Receive, settings: ServiceSettings) -> Receive:
    """The same body for whoever reads it otherwise, with the same limits."""
    length = header(scope, b"content-length")
    if length is not None and length.isdecimal() and int(length) > settings.max_body:
        raise too_large(settings)
    end = asyncio.get_running_loop().time() + settings.body_seconds
    size, more = 0, True

    async def receiving() -> Message:
        nonlocal size, more
        if not more:
            # What comes after the body is that the client has gone: that may take its time.
            return await receive()
        try:
            async with asyncio.timeout_at(end):
                message = await receive()
        except TimeoutError:
            raise too_slow(settings) from None
        size += len(message.get("body", b""))
        more = message.get("more_body", False)
        if size > settings.max_body:
            raise too_large(settings)
        return message

    return receiving


class Gone(Exception):
    """The client has gone; nobody waits for an answer."""


class Unread(Exception):
    """The client does not read what it asked for; the rest of the answer is not sent."""


def options(scope: Scope, kind: type[T]) -> T:
    """The query as options of this type."""
    query = scope["query_string"]
    if not query:
        return kind()
    try:
        pairs = parse_qsl(
            query.decode("ascii"),
            keep_blank_values=True,
            errors="strict",
            max_num_fields=MOST_FIELDS,
        )
    except ValueError:
        raise Refusal(400, "the query is not UTF-8 in percent-encoding, or too long") from None
    found = dict(pairs)
    if len(found) != len(pairs):
        raise Refusal(422, "an option of the query is given twice; give it once")
    for name, value in found.items():
        if value.lower() == "null" or value != value.strip():
            raise Refusal(422, f"the option {name!r} has no such value; leave it out for none")
    try:
        return msgspec.convert(found, kind, strict=False)
    except msgspec.ValidationError as error:
        raise Refusal(422, "an option of the query is wrong", errors=[_told(error)]) from None


def decoded(data: bytes, decoder: msgspec.json.Decoder[Any]) -> Any:
    """The body as the type it must be of."""
    try:
        return decoder.decode(data)
    except msgspec.ValidationError as error:
        raise Refusal(422, "the body is not what it must be", errors=[_told(error)]) from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        told = _not_utf8(data) or _told(error)
        raise Refusal(400, "the body is not JSON", errors=[told]) from None
    except RecursionError:
        raise Refusal(400, "the body is nested too deeply") from None


def _told(error: Exception) -> str:
    """What is wrong, without what was sent."""
    return "it is not UTF-8" if isinstance(error, UnicodeDecodeError) else str(error)


def _not_utf8(data: bytes) -> str | None:
    """Where the body is no UTF-8: the parser counts from the beginning of a string."""
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        return f"byte {error.start} is not UTF-8"
    return None
