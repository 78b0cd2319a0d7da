"""Numbers for Prometheus, and the log of requests: routes, never paths, texts or tokens."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from starlette.types import Scope

from neardup.service.auth import Rights
from neardup.service.state import Service

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
