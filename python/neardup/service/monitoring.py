"""For those who watch over a service: whether it lives, whether it is ready, its numbers, and the
description of its API."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route
from starlette.types import Scope

from neardup.service import models, openapi
from neardup.service.api import OPERATIONS
from neardup.service.auth import Rights
from neardup.service.errors import Refusal
from neardup.service.requests import JSON
from neardup.service.state import Service
from neardup.service.worker_pool import Busy

P = ParamSpec("P")
T = TypeVar("T")


def monitoring_routes(service: Service, numbers: Metrics) -> list[BaseRoute]:
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
        return Response(await watched(numbers.text), media_type=MEDIA_TYPE)

    async def description(request: Request) -> Response:
        return Response(described, media_type=JSON)

    return [
        Route("/healthz", healthz),
        Route("/readyz", readyz),
        Route("/metrics", numbers_of, name="metrics"),
        Route("/openapi.json", description, name="openapi"),
    ]


# Numbers for Prometheus, and the log of requests: routes, never paths, texts or tokens.

log = logging.getLogger("neardup.access")

SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
MEDIA_TYPE = CONTENT_TYPE_LATEST


class Metrics:
    """Counts requests. Children of each label are kept, as looking them up takes longer than
    counting."""

    def __init__(self, service: Service, rights: Rights | None = None) -> None:
        self.registry = CollectorRegistry()
        self._requests = Counter(
            "neardup_requests",
            "Requests that were answered.",
            ("route", "method", "status"),
            registry=self.registry,
        )
        self._seconds = Histogram(
            "neardup_request_seconds",
            "Seconds from the head of a request to the end of the answer.",
            ("route",),
            buckets=SECONDS,
            registry=self.registry,
        )
        self._children: dict[tuple[str, str, int], tuple[Any, Any]] = {}
        watched: list[tuple[str, str, Callable[[], float]]] = [
            ("queue", "Questions that are waiting or being answered.", lambda: service.door.inside),
            ("writes_waiting", "Documents to be written.", lambda: service.writer.waiting),
            ("write_batches", "Batches written since the start.", lambda: service.writer.batches),
            ("documents", "Documents in the collection.", lambda: len(service.collection)),
        ]
        if rights is not None:
            watched += [
                ("wrong_tokens", "Wrong tokens that were given.", lambda: rights.wrong),
                ("slowed_tokens", "Tokens that had to wait.", lambda: rights.slowed),
            ]
        for name, text, value in watched:
            gauge = Gauge(f"neardup_{name}", text, registry=self.registry)
            gauge.set_function(value)

    def answered(
        self, scope: Scope, status: int, seconds: float, peer: str, token: str | None
    ) -> None:
        """Notes a request that is done; status 0 if nobody waited for the answer any more."""
        route, method = route_of(scope), scope["method"]
        if method not in METHODS:
            method = "other"
        key = (route, method, status)
        children = self._children.get(key)
        if children is None:
            children = self._children[key] = (
                self._requests.labels(route, method, status),
                self._seconds.labels(route),
            )
        children[0].inc()
        children[1].observe(seconds)
        if log.isEnabledFor(logging.INFO):
            log.info(
                "%s %s %s %d %.1f ms%s",
                peer,
                method,
                route,
                status,
                seconds * 1000,
                "" if token is None else f" token of {token}",
            )

    def text(self) -> bytes:
        return generate_latest(self.registry)


METHODS = ("GET", "HEAD", "POST", "DELETE", "PUT", "PATCH", "OPTIONS")


def route_of(scope: Scope) -> str:
    """The name of what answered: one of a few, whatever the path was."""
    endpoint = scope.get("endpoint")
    name = getattr(endpoint, "route", None) or getattr(endpoint, "__name__", None)
    return str(name or "none")
