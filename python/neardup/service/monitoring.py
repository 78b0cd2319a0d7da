"""Monitoring: /healthz, /readyz, /metrics, /openapi.json, and the access log.

Metrics and the log name routes; they never contain paths, ids, texts or tokens.
"""

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
from neardup.service.auth import Authenticator
from neardup.service.errors import HTTPProblem
from neardup.service.requests import JSON
from neardup.service.state import Service
from neardup.service.worker_pool import BusyError

P = ParamSpec("P")
T = TypeVar("T")

log = logging.getLogger("neardup.access")

BUCKET_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
# Any other method is counted as "other": clients must not create labels.
METHODS = ("GET", "HEAD", "POST", "DELETE", "PUT", "PATCH", "OPTIONS")


def monitoring_routes(service: Service, metrics: Metrics) -> list[BaseRoute]:
    openapi_json = openapi.document(OPERATIONS)
    healthy = models.encoder.encode(models.HealthModel(status="ok"))

    async def run(function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        async with asyncio.timeout(service.settings.answer_seconds):
            return await service.monitoring_pool.run(function, *args, **kwargs)

    async def healthz(request: Request) -> Response:
        return Response(healthy, media_type=JSON)

    async def readyz(request: Request) -> Response:
        if not service.ready:
            raise HTTPProblem(503, "the service is stopping", headers={"Retry-After": "5"})
        if service.pool.is_full:
            raise BusyError
        # Reads the collection, which raises if it cannot be read.
        await run(len, service.collection)
        return Response(healthy, media_type=JSON)

    async def prometheus(request: Request) -> Response:
        return Response(await run(metrics.text), media_type=CONTENT_TYPE_LATEST)

    async def openapi_document(request: Request) -> Response:
        return Response(openapi_json, media_type=JSON)

    return [
        Route("/healthz", healthz),
        Route("/readyz", readyz),
        Route("/metrics", prometheus, name="metrics"),
        Route("/openapi.json", openapi_document, name="openapi"),
    ]


class Metrics:
    """Prometheus metrics of a service."""

    def __init__(self, service: Service, authenticator: Authenticator | None = None) -> None:
        self.registry = CollectorRegistry()
        self._requests = Counter(
            "neardup_requests",
            "Finished requests.",
            ("route", "method", "status"),
            registry=self.registry,
        )
        self._seconds = Histogram(
            "neardup_request_seconds",
            "Seconds from the headers of a request to the end of its response.",
            ("route",),
            buckets=BUCKET_SECONDS,
            registry=self.registry,
        )
        # Looking up a child by its labels takes longer than counting.
        self._children: dict[tuple[str, str, int], tuple[Any, Any]] = {}
        gauges: list[tuple[str, str, Callable[[], float]]] = [
            ("queue", "Queued and running requests.", lambda: service.pool.pending),
            ("writes_waiting", "Documents queued for writing.", lambda: service.writer.queued),
            ("write_batches", "Batches written since the start.", lambda: service.writer.batches),
            ("documents", "Documents in the collection.", lambda: len(service.collection)),
        ]
        if authenticator is not None:
            gauges += [
                ("wrong_tokens", "Wrong tokens received.", lambda: authenticator.wrong_tokens),
                ("slowed_tokens", "Tokens delayed.", lambda: authenticator.delayed_tokens),
            ]
        for name, text, value in gauges:
            gauge = Gauge(f"neardup_{name}", text, registry=self.registry)
            gauge.set_function(value)

    def record(
        self, scope: Scope, status: int, seconds: float, peer: str, token: str | None
    ) -> None:
        """Count and log a finished request; status 0: the client left before the response."""
        route, method = route_name(scope), scope["method"]
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


def route_name(scope: Scope) -> str:
    """Return the name of the route that handled a request: one of a fixed set."""
    endpoint = scope.get("endpoint")
    name = getattr(endpoint, "route", None) or getattr(endpoint, "__name__", None)
    return str(name or "none")
