"""From a request to the answer of an operation."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import msgspec
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from neardup.service.api import Operation
from neardup.service.auth import check_write
from neardup.service.errors import Refusal, problem, refusal_of
from neardup.service.models import encoder
from neardup.service.ndjson import Replies, wants_lines
from neardup.service.requests import (
    JSON,
    LINES,
    NDJSON,
    SHARE,
    Gone,
    Unread,
    accepts,
    decoded,
    media_type,
    options,
    read,
)
from neardup.service.state import Service


class Endpoint:
    """All operations of one path."""

    def __init__(self, service: Service, operations: Sequence[Operation]) -> None:
        self.service = service
        # What it is called in logs and metrics.
        self.route = operations[0].path.replace(":any", "")
        self.operations: dict[str, Operation] = {one.method: one for one in operations}
        if "GET" in self.operations:
            self.operations["HEAD"] = self.operations["GET"]
        self.allowed = ", ".join(sorted(self.operations))
        self.decoders: dict[str, msgspec.json.Decoder[Any]] = {
            one.name: msgspec.json.Decoder(one.body) for one in operations if one.body is not None
        }
        self.replies = {
            one.name: Replies(service, one.line, one.reply)
            for one in operations
            if one.reply is not None
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            operation = self._operation(scope)
            if operation.options is None and scope["query_string"]:
                raise Refusal(422, "there are no options here; leave the query out")
            asked = None if operation.options is None else options(scope, operation.options)
            if operation.listed is not None and wants_lines(scope):
                await operation.listed(self.service, asked, receive, send)
                return
            if operation.reply is not None and media_type(scope) in LINES:
                if not accepts(scope, NDJSON):
                    raise _unaccepted(NDJSON)
                await self.replies[operation.name](asked, scope.get(SHARE), receive, send)
                return
            response = await self._answer(operation, asked, scope, receive)
        except Unread:
            raise
        except Gone:
            # Most likely nobody is there any more; but the body may as well have been malformed.
            response = problem(400, "the body broke off", headers={"Connection": "close"})
        except Exception as error:
            response = refusal_of(error).response()
        await response(scope, receive, send)

    def _operation(self, scope: Scope) -> Operation:
        operation = self.operations.get(scope["method"])
        if operation is None:
            raise Refusal(405, f"this takes {self.allowed} only", headers={"Allow": self.allowed})
        if operation.writes:
            check_write(scope, self.service.settings)
        return operation

    async def _answer(
        self, operation: Operation, asked: Any, scope: Scope, receive: Receive
    ) -> Response:
        if operation.answer is not None and not accepts(scope, JSON):
            raise _unaccepted(JSON)
        service = self.service
        body = None
        if operation.body is not None:
            if (given := media_type(scope)) != JSON:
                raise Refusal(
                    415,
                    f"the body is of {'another' if given else 'no'} type; it must be {JSON}",
                    headers={"Accept": JSON},
                )
            data = await read(scope, receive, service.settings)
            body = decoded(data, self.decoders[operation.name])
        async with asyncio.timeout(service.settings.answer_seconds):
            found = await operation.handler(service, asked, body, scope["path_params"])
        if operation.answer is None:
            return Response(status_code=204)
        data = found if isinstance(found, bytes) else encoder.encode(found)
        return Response(data, media_type=JSON)


def _unaccepted(kind: str) -> Refusal:
    return Refusal(406, f"the answer is {kind}, which the Accept of the request leaves out")
