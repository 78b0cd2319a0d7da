"""The ASGI application: API, monitoring and pages behind the middleware."""

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
from neardup.service.auth import Authenticator, check_write
from neardup.service.errors import (
    DocumentNotFoundError,
    HTTPProblem,
    TooManyDocumentsError,
    problem_response,
    to_problem,
)
from neardup.service.middleware import ServiceMiddleware
from neardup.service.models import encoder
from neardup.service.monitoring import Metrics, monitoring_routes
from neardup.service.ndjson import LineResponder
from neardup.service.pages import not_found_page, routes
from neardup.service.requests import (
    JSON,
    NDJSON,
    NDJSON_TYPES,
    RESERVATION_KEY,
    ClientDisconnectedError,
    ClientNotReadingError,
    accepts,
    accepts_ndjson,
    decode_json,
    media_type,
    parse_query,
    read_body,
)
from neardup.service.state import Service
from neardup.service.static_files import StaticFiles
from neardup.service.worker_pool import BusyError

# Errors of pages that become the same problems as in the API.
PAGE_ERRORS = (BusyError, CollectionError, OSError, TooManyDocumentsError, DocumentNotFoundError)
STATIC = Path(__file__).parent / "static"


class AnyTextConvertor(StringConvertor):
    """Matches a document id in a path: any characters, including slashes and line breaks."""

    regex = "(?s:.+)"


register_url_convertor("any", AnyTextConvertor())


def make_app(service: Service) -> Starlette:
    """Return the application. The caller closes the service."""
    # Created here and not by Starlette, which creates middleware at the first request: a token file
    # that cannot be read must fail at the start.
    authenticator = Authenticator(service.settings)
    metrics = Metrics(service, authenticator)
    by_path = attrgetter("path")
    api: list[BaseRoute] = [
        Route(path, Endpoint(service, [*operations]))
        for path, operations in groupby(sorted(OPERATIONS, key=by_path), by_path)
    ]
    app = Starlette(
        routes=[
            *api,
            *monitoring_routes(service, metrics),
            Mount("/static", StaticFiles(STATIC)),
            *routes(service),
        ],
        middleware=[
            Middleware(
                ServiceMiddleware,
                settings=service.settings,
                authenticator=authenticator,
                metrics=metrics,
            )
        ],
        exception_handlers={
            HTTPException: partial(_http_error, service),
            **dict.fromkeys((HTTPProblem, *PAGE_ERRORS), _problem_handler),
        },
    )
    # A path with an extra slash is another path: 404, not a redirect.
    app.router.redirect_slashes = False
    return app


async def _http_error(service: Service, request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)  # noqa: S101
    if error.status_code == 404 and "text/html" in request.headers.get("accept", ""):
        return not_found_page(request, service)
    detail = {404: "no such path", 405: "method not allowed"}.get(error.status_code, error.detail)
    return problem_response(error.status_code, detail, headers=error.headers)


async def _problem_handler(request: Request, error: Exception) -> Response:
    return to_problem(error).response()


class Endpoint:
    """The operations of one path, as an ASGI application."""

    def __init__(self, service: Service, operations: Sequence[Operation]) -> None:
        self.service = service
        # The label in logs and metrics.
        self.route = operations[0].path.replace(":any", "")
        self.operations: dict[str, Operation] = {
            operation.method: operation for operation in operations
        }
        if "GET" in self.operations:
            self.operations["HEAD"] = self.operations["GET"]
        self.allowed = ", ".join(sorted(self.operations))
        self.decoders: dict[str, msgspec.json.Decoder[Any]] = {
            operation.name: msgspec.json.Decoder(operation.body)
            for operation in operations
            if operation.body is not None
        }
        self.line_responders = {
            operation.name: LineResponder(service, operation.line, operation.line_handler)
            for operation in operations
            if operation.line_handler is not None
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            operation = self._operation(scope)
            if operation.query is None and scope["query_string"]:
                raise HTTPProblem(422, "this operation takes no query parameters")
            query = None if operation.query is None else parse_query(scope, operation.query)
            if operation.stream is not None and accepts_ndjson(scope):
                await operation.stream(self.service, query, receive, send)
                return
            if operation.line_handler is not None and media_type(scope) in NDJSON_TYPES:
                if not accepts(scope, NDJSON):
                    raise _not_acceptable(NDJSON)
                respond = self.line_responders[operation.name]
                await respond(query, scope.get(RESERVATION_KEY), receive, send)
                return
            response = await self._respond(operation, query, scope, receive)
        except ClientNotReadingError:
            raise
        except ClientDisconnectedError:
            # Sent in case the connection is still open: a malformed body ends in the same way.
            response = problem_response(
                400, "the body is incomplete", headers={"Connection": "close"}
            )
        except Exception as error:
            response = to_problem(error).response()
        await response(scope, receive, send)

    def _operation(self, scope: Scope) -> Operation:
        operation = self.operations.get(scope["method"])
        if operation is None:
            raise HTTPProblem(
                405, f"method not allowed; use {self.allowed}", headers={"Allow": self.allowed}
            )
        if operation.writes:
            check_write(scope, self.service.settings)
        return operation

    async def _respond(
        self, operation: Operation, query: Any, scope: Scope, receive: Receive
    ) -> Response:
        if operation.response is not None and not accepts(scope, JSON):
            raise _not_acceptable(JSON)
        service = self.service
        body = None
        if operation.body is not None:
            if media_type(scope) != JSON:
                raise HTTPProblem(415, f"the Content-Type must be {JSON}", headers={"Accept": JSON})
            data = await read_body(scope, receive, service.settings)
            body = decode_json(data, self.decoders[operation.name])
        async with asyncio.timeout(service.settings.answer_seconds):
            result = await operation.handler(service, query, body, scope["path_params"])
        if operation.response is None:
            return Response(status_code=204)
        data = result if isinstance(result, bytes) else encoder.encode(result)
        return Response(data, media_type=JSON)


def _not_acceptable(kind: str) -> HTTPProblem:
    return HTTPProblem(406, f"the response is {kind}, which the Accept header excludes")
