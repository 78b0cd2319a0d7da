"""The pages a person sees."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import HTMLResponse
from starlette.routing import BaseRoute, Route

from neardup.service.state import Service


def routes(service: Service) -> list[BaseRoute]:
    """All pages."""

    async def index(request: Request) -> HTMLResponse:
        count = await service.run(len, service.collection)
        return HTMLResponse(f"<!doctype html><title>neardup</title><p>{count} documents")

    return [Route("/", index)]
