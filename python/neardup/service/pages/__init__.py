"""The pages of the service, for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.routing import Route

from neardup.service.pages import check, compare, files, learn
from neardup.service.pages.asking import see_other
from neardup.service.pages.kept import Kept

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import BaseRoute

    from neardup.service.state import Service


def routes(service: Service) -> list[BaseRoute]:
    """All pages, each with its twin in JSON, and the files they share with reports."""
    kept = Kept()
    return [
        Route("/", home, name="home"),
        *check.routes(service, kept),
        *compare.routes(service, kept),
        *learn.routes(service),
        *files.routes(service),
    ]


async def home(request: Request) -> Response:
    return see_other(request, "/check")
