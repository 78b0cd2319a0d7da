"""The middleware around all routes: checks of the request's head, response headers, metrics.

A request passes these checks in this order: no duplicate headers, Host, token, rate limit, Origin,
body without compression. Each failed check is a problem response.
"""

from __future__ import annotations

import asyncio
import ipaddress
import logging
import time
from collections.abc import MutableMapping
from typing import Any
from urllib.parse import urlencode, urlsplit

from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from neardup.service.auth import TOKEN_KEY, Authenticator, client_key
from neardup.service.errors import HTTPProblem, unexpected_problem
from neardup.service.limits import ByteBudget, ByteReservation, RateLimiter
from neardup.service.monitoring import Metrics
from neardup.service.requests import RESERVATION_KEY, ClientNotReadingError, header, limit_body
from neardup.service.settings import LOCAL_NAMES, ServiceSettings

log = logging.getLogger("neardup.service")

CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
# A duplicate of these is refused: a proxy and this service might use different values.
UNIQUE_HEADERS = frozenset(
    (b"authorization", b"content-encoding", b"content-length", b"content-type", b"host", b"origin")
)
API_PREFIX = "/v1/"
SAFE_METHODS = ("GET", "HEAD", "OPTIONS")
FOREIGN_SITES = ("cross-site", "same-site")
RESPONSE_HEADERS = (
    (b"content-security-policy", CONTENT_SECURITY_POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    # Not "no-referrer": then browsers send "Origin: null" for forms of our own pages, and without
    # TLS no Sec-Fetch-Site that would identify them.
    (b"referrer-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"x-frame-options", b"DENY"),
    # Replaces Granian's own.
    (b"server", b"neardup"),
)
# For responses without a Cache-Control of their own: documents are private and change.
NO_STORE = (b"cache-control", b"no-store")
# Streamed responses are sent in chunks, each within `send_seconds`.
CHUNK_BYTES = 64 << 10


class ServiceMiddleware:
    """Checks requests, adds response headers, turns errors into problems, records metrics."""

    def __init__(
        self,
        app: ASGIApp,
        settings: ServiceSettings,
        authenticator: Authenticator,
        metrics: Metrics,
    ) -> None:
        self.app = app
        self.settings = settings
        self.hosts = {
            name.lower() for name in (*LOCAL_NAMES, *settings.names, settings.host) if name
        }
        self.authenticator = authenticator
        self.rate_limiter = (
            RateLimiter(settings.rate, settings.burst) if settings.rate > 0 else None
        )
        self.metrics = metrics
        self.body_budget = ByteBudget(settings.max_bodies)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self.app(scope, receive, send)
            return
        began = time.perf_counter()
        peer = (scope.get("client") or ("unknown",))[0]
        status = 0
        reservation = scope[RESERVATION_KEY] = ByteReservation(self.body_budget)

        async def send_response(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                _add_headers(message)
            if message.get("more_body"):
                await self._stream(message["body"], send)
            else:
                await send(message)

        try:
            try:
                await self.check(scope, peer)
                if scope["method"] not in SAFE_METHODS and not scope["path"].startswith(API_PREFIX):
                    # The API limits its bodies itself; the total size of NDJSON is not limited.
                    receive = limit_body(scope, receive, self.settings)
                await self.app(scope, receive, send_response)
            except HTTPProblem as problem:
                redirect = sign_in_redirect(scope) if problem.status == 401 else None
                await (redirect or problem.response())(scope, receive, send_response)
            except ClientNotReadingError:
                log.info("response aborted: the client reads nothing")
                raise
            except Exception as error:
                failure = unexpected_problem(error)
                if not status:
                    await failure.response()(scope, receive, send_response)
        finally:
            reservation.shrink(0)
            token = scope.get(TOKEN_KEY)
            name = None if token is None else token.name
            self.metrics.record(scope, status, time.perf_counter() - began, peer, name)

    async def _stream(self, body: bytes, send: Send) -> None:
        """Send a part of a response in chunks, each within `send_seconds`."""
        for start in range(0, len(body), CHUNK_BYTES):
            chunk = body[start : start + CHUNK_BYTES]
            try:
                async with asyncio.timeout(self.settings.send_seconds):
                    await send({"type": "http.response.body", "body": chunk, "more_body": True})
            except TimeoutError:
                raise ClientNotReadingError from None

    async def check(self, scope: Scope, peer: str) -> None:
        """Raise `HTTPProblem` if the head of the request is not acceptable."""
        seen: set[bytes] = set()
        for key, _ in scope["headers"]:
            if key in seen and key in UNIQUE_HEADERS:
                raise HTTPProblem(400, f"duplicate header: {key.decode()}")
            seen.add(key)
        host = header(scope, b"host") or ""
        if not self._is_allowed_host(host):
            raise HTTPProblem(
                403,
                "the Host header is not a name of this service; "
                "allow another name with `neardup serve --name`",
            )
        token = await self.authenticator.authenticate(scope, peer)
        if self.rate_limiter is not None:
            seconds = self.rate_limiter.acquire(client_key(peer) if token is None else token.name)
            if seconds:
                raise HTTPProblem(
                    429,
                    f"rate limit exceeded ({self.rate_limiter.rate:g} requests per second); "
                    f"retry in {seconds} s",
                    headers={"Retry-After": str(seconds)},
                )
        if scope["method"] not in SAFE_METHODS:
            origin = header(scope, b"origin")
            site = header(scope, b"sec-fetch-site")
            # Some privacy settings hide the origin; Sec-Fetch-Site still identifies our own pages.
            ours = origin == "null" and site == "same-origin"
            if site in FOREIGN_SITES or (
                origin is not None and not ours and not _is_same_origin(origin, host)
            ):
                raise HTTPProblem(403, "cross-site requests are not allowed")
        transfer = header(scope, b"transfer-encoding")
        if transfer and header(scope, b"content-length"):
            raise HTTPProblem(400, "both Content-Length and Transfer-Encoding are set")
        encoding = (header(scope, b"content-encoding") or "").strip().lower()
        if encoding not in ("", "identity") or (transfer or "chunked").strip().lower() != "chunked":
            raise HTTPProblem(
                415,
                "the body is compressed; send it without Content-Encoding",
                headers={"Accept-Encoding": "identity"},
            )

    def _is_allowed_host(self, host: str) -> bool:
        name = _without_port(host)
        # DNS rebinding sends the attacker's name as Host, never an address.
        return name in self.hosts or _is_address(name)


def sign_in_redirect(scope: Scope) -> Response | None:
    """Return a redirect to the sign-in page for a browser; None for other clients."""
    if scope["method"] != "GET" or "text/html" not in (header(scope, b"accept") or ""):
        return None
    query = scope["query_string"].decode("latin-1")
    here = f"{scope['path']}?{query}" if query else scope["path"]
    return RedirectResponse(f"/sign-in?{urlencode({'next': here})}", 303)


def _without_port(host: str) -> str:
    name, colon, port = host.rpartition(":")
    if not colon or not (port.isdecimal() and port.isascii()):
        name = host
    return name.lower().removesuffix(".")


def _is_address(name: str) -> bool:
    """Return whether a host is an IPv4 address, or an IPv6 address in brackets without zone."""
    try:
        if name.startswith("[") and name.endswith("]"):
            return ipaddress.IPv6Address(name[1:-1]).scope_id is None
        ipaddress.IPv4Address(name)
    except ValueError:
        return False
    return True


def _is_same_origin(origin: str, host: str) -> bool:
    """Return whether the Origin has the host and port that the request was sent to."""
    try:
        parts = urlsplit(origin)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and parts.netloc.lower() == host.lower()


def _add_headers(message: MutableMapping[str, Any]) -> None:
    headers = [*message.get("headers", ())]
    if not any(key.lower() == b"cache-control" for key, _ in headers):
        headers.append(NO_STORE)
    message["headers"] = [*headers, *RESPONSE_HEADERS]
