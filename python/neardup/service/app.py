"""The application: the API, the pages and the files of the pages behind one guard."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Any

import msgspec
from starlette.applications import Starlette
from starlette.convertors import StringConvertor, register_url_convertor
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.types import Receive, Scope, Send

from neardup.collection import CollectionError
from neardup.service.api import OPERATIONS, Operation
from neardup.service.auth import Rights, check_write
from neardup.service.errors import Refusal, TooMany, UnknownDocument, problem, refusal_of
from neardup.service.middleware import Guard
from neardup.service.models import encoder
from neardup.service.monitoring import Metrics, monitoring_routes
from neardup.service.ndjson import Replies, wants_lines
from neardup.service.pages import missing, routes
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
from neardup.service.static_files import Files
from neardup.service.worker_pool import Busy

# What a page may raise, and is told as by the API.
ASKING = (Busy, CollectionError, OSError, TooMany, UnknownDocument)
STATIC = Path(__file__).parent / "static"


class AnyText(StringConvertor):
    """An id in a path: whatever it holds, slashes and line breaks too."""

    regex = "(?s:.+)"


register_url_convertor("any", AnyText())


def make_app(service: Service) -> Starlette:
    """Everything the service answers. Closing the service is left to the caller."""
    # Before anything is served: Starlette makes its middlewares when the first request comes.
    rights = Rights(service.settings)
    metrics = Metrics(service, rights)
    by_path = attrgetter("path")
    api: list[BaseRoute] = [
        Route(path, Endpoint(service, [*operations]))
        for path, operations in groupby(sorted(OPERATIONS, key=by_path), by_path)
    ]
    app = Starlette(
        routes=[
            *api,
            *monitoring_routes(service, metrics),
            Mount("/static", Files(STATIC)),
            *routes(service),
        ],
        middleware=[Middleware(Guard, settings=service.settings, rights=rights, metrics=metrics)],
        exception_handlers={
            HTTPException: partial(_refused, service),
            **dict.fromkeys((Refusal, *ASKING), _told),
        },
    )
    # A path with a slash too many is another path, and is told so.
    app.router.redirect_slashes = False
    return app


async def _refused(service: Service, request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)  # noqa: S101
    if error.status_code == 404 and "text/html" in request.headers.get("accept", ""):
        return missing(request, service)
    detail = {404: "there is nothing under this path", 405: "another method is needed here"}
    headers = error.headers
    return problem(error.status_code, detail.get(error.status_code, error.detail), headers=headers)


async def _told(request: Request, error: Exception) -> Response:
    return refusal_of(error).response()


# From a request to the answer of an operation.


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
