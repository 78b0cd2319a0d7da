"""From a request to the answer of an operation, and from what is raised to a problem."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from typing import Any

import msgspec
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from neardup.collection import CorruptCollectionError, LockedCollectionError
from neardup.service.api import Operation
from neardup.service.door import Busy
from neardup.service.errors import TooMany, UnknownDocument
from neardup.service.models import encoder
from neardup.service.problems import Refusal
from neardup.service.requests import JSON, Gone, accepts, decoded, media_type, options, read
from neardup.service.state import Service

log = logging.getLogger("neardup.service")


class Endpoint:
    """All operations of one path."""

    def __init__(self, service: Service, operations: Sequence[Operation]) -> None:
        self.service = service
        self.operations = {one.method: one for one in operations}
        if "GET" in self.operations:
            self.operations["HEAD"] = self.operations["GET"]
        self.allowed = ", ".join(sorted(self.operations))
        self.decoders: dict[str, msgspec.json.Decoder[Any]] = {
            one.name: msgspec.json.Decoder(one.body) for one in operations if one.body is not None
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            response = await self.answer(scope, receive)
        except Gone:
            return
        except Exception as error:
            response = refusal_of(error).response()
        await response(scope, receive, send)

    async def answer(self, scope: Scope, receive: Receive) -> Response:
        operation = self.operations.get(scope["method"])
        if operation is None:
            raise Refusal(405, f"this takes {self.allowed} only", headers={"Allow": self.allowed})
        service = self.service
        if operation.writes and service.settings.read_only:
            raise Refusal(403, "the service was started to read only")
        if operation.answer is not None and not accepts(scope, JSON):
            raise Refusal(406, f"the answer is {JSON}, which the Accept of the request leaves out")
        if operation.options is None and scope["query_string"]:
            raise Refusal(422, "there are no options here; leave the query out")
        asked = None if operation.options is None else options(scope, operation.options)
        body = None
        if operation.body is not None:
            if (given := media_type(scope)) != JSON:
                raise Refusal(415, f"the body is {given or 'of no type'}; it must be {JSON}")
            data = await read(scope, receive, service.settings)
            body = decoded(data, self.decoders[operation.name])
        try:
            async with asyncio.timeout(service.settings.answer_seconds):
                found = await operation.handler(service, asked, body, scope["path_params"])
        except TimeoutError:
            raise Refusal(
                503,
                f"no answer after {service.settings.answer_seconds:g} s",
                headers={"Retry-After": "5"},
            ) from None
        if operation.answer is None:
            return Response(status_code=204)
        return Response(encoder.encode(found), media_type=JSON)


def refusal_of(error: Exception) -> Refusal:
    """What is raised, as what is told. What nobody has thought of is logged, and told by no word
    of it: it might hold a text."""
    if isinstance(error, Refusal):
        return error
    if isinstance(error, Busy):
        return Refusal(
            503, "too much is waiting; try again later", headers={"Retry-After": str(error.after)}
        )
    if isinstance(error, UnknownDocument):
        return Refusal(404, "there is no document of this id")
    if isinstance(error, TooMany):
        return Refusal(409, str(error))
    if isinstance(error, LockedCollectionError):
        return Refusal(
            503, "another process writes to the collection", headers={"Retry-After": "5"}
        )
    if isinstance(error, CorruptCollectionError) or not isinstance(error, ValueError | TypeError):
        log.error("%s while answering", type(error).__name__, exc_info=error)
        if isinstance(error, OSError):
            return Refusal(503, "the disk refused; see the log", headers={"Retry-After": "30"})
        return Refusal(500, "something went wrong here; see the log of the service")
    return Refusal(422, str(error))
