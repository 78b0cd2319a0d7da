"""For those who watch over a service: whether it lives, whether it is ready, its numbers, and the
description of its API."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from neardup.service import metrics, models, openapi
from neardup.service.api import OPERATIONS
from neardup.service.errors import Refusal
from neardup.service.requests import JSON
from neardup.service.state import Service
from neardup.service.worker_pool import Busy

P = ParamSpec("P")
T = TypeVar("T")


def watching(service: Service, numbers: metrics.Metrics) -> list[BaseRoute]:
    described = openapi.document(OPERATIONS)
    well = models.encoder.encode(models.Health(status="ok"))

    async def watched(function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        async with asyncio.timeout(service.settings.answer_seconds):
            return await service.watch.run(function, *args, **kwargs)

    async def healthz(request: Request) -> Response:
        """The process answers."""
        return Response(well, media_type=JSON)

    async def readyz(request: Request) -> Response:
        """Questions are answered: the collection can be read, and the queue is not full."""
        if not service.ready:
            raise Refusal(503, "the service is stopping", headers={"Retry-After": "5"})
        if service.door.is_full:
            raise Busy
        await watched(len, service.collection)
        return Response(well, media_type=JSON)

    async def numbers_of(request: Request) -> Response:
        return Response(await watched(numbers.text), media_type=metrics.MEDIA_TYPE)

    async def description(request: Request) -> Response:
        return Response(described, media_type=JSON)

    return [
        Route("/healthz", healthz),
        Route("/readyz", readyz),
        Route("/metrics", numbers_of, name="metrics"),
        Route("/openapi.json", description, name="openapi"),
    ]
