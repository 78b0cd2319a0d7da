"""The application: the API, the pages and the files of the pages behind one guard."""

from __future__ import annotations

from functools import partial
from itertools import groupby
from operator import attrgetter
from pathlib import Path

from starlette.applications import Starlette
from starlette.convertors import StringConvertor, register_url_convertor
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Mount, Route

from neardup.collection import CollectionError
from neardup.service.api import OPERATIONS
from neardup.service.auth import Rights
from neardup.service.endpoint import Endpoint
from neardup.service.errors import Refusal, TooMany, UnknownDocument, problem, refusal_of
from neardup.service.health import watching
from neardup.service.metrics import Metrics
from neardup.service.middleware import Guard
from neardup.service.pages import missing, routes
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
            *watching(service, metrics),
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
