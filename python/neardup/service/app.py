"""The application: the API, the pages and the files of the pages behind one guard."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles

from neardup.service.api import OPERATIONS
from neardup.service.endpoint import Endpoint, refusal_of
from neardup.service.guard import Guard
from neardup.service.pages import routes
from neardup.service.problems import problem
from neardup.service.state import Service

STATIC = Path(__file__).parent / "static"


class Files(StaticFiles):
    """The files of the pages; a browser asks again whether they have changed."""

    def file_response(self, *args: object, **kwargs: object) -> Response:
        response = super().file_response(*args, **kwargs)  # type: ignore[arg-type]
        response.headers["Cache-Control"] = "no-cache"
        return response


def make_app(service: Service) -> Starlette:
    """Everything the service answers. Closing the service is left to the caller."""
    by_path = groupby(sorted(OPERATIONS, key=_path), _path)
    api: list[BaseRoute] = [
        Route(path, Endpoint(service, [*operations])) for path, operations in by_path
    ]
    return Starlette(
        routes=[*api, Mount("/static", Files(directory=STATIC)), *routes(service)],
        middleware=[Middleware(Guard, settings=service.settings)],
        exception_handlers={HTTPException: _refused, Exception: _failed},
    )


def _path(operation: object) -> str:
    return str(getattr(operation, "path"))  # noqa: B009


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)  # noqa: S101
    return problem(error.status_code, error.detail, headers=error.headers)


async def _failed(request: Request, error: Exception) -> Response:
    return refusal_of(error).response()
