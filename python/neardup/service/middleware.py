"""The first and the last that sees a request: who may ask, and what every answer says."""

from __future__ import annotations

import asyncio
import ipaddress
import logging
import time
import traceback
from collections.abc import MutableMapping
from typing import Any
from urllib.parse import urlencode, urlsplit

from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from neardup.service.auth import KEY, Rights, client_of
from neardup.service.errors import Refusal
from neardup.service.limits import ByteBudget, Rate, Share
from neardup.service.monitoring import Metrics
from neardup.service.requests import SHARE, Unread, bounded, header
from neardup.service.settings import LOCAL_NAMES, ServiceSettings

log = logging.getLogger("neardup.service")

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
# Fields that decide something: of two, it would depend on the reader which counts.
SINGLE = frozenset(
    (b"authorization", b"content-encoding", b"content-length", b"content-type", b"host", b"origin")
)
API = "/v1/"
SAFE_METHODS = ("GET", "HEAD", "OPTIONS")
FOREIGN = ("cross-site", "same-site")
HEADERS = (
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    # Nothing to other sites. Our own forms need it: without, their Origin would be "null", and
    # where there is no TLS a browser says in no other way whose they are.
    (b"referrer-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"x-frame-options", b"DENY"),
    # Instead of what the server would say of itself.
    (b"server", b"neardup"),
)
# Unless an answer says otherwise: documents change, and are nobody else's.
UNCACHED = (b"cache-control", b"no-store")
# Bytes of an answer that are sent at once, where it is sent by and by.
PIECE = 64 << 10


class Guard:
    """Refuses what comes from a wrong name, without a token, too often, from a foreign page, or
    packed; lets the app answer; notes what became of it."""

    def __init__(
        self, app: ASGIApp, settings: ServiceSettings, rights: Rights, metrics: Metrics
    ) -> None:
        self.app = app
        self.settings = settings
        self.names = {
            name.lower() for name in (*LOCAL_NAMES, *settings.names, settings.host) if name
        }
        self.rights = rights
        self.rate = Rate(settings.rate, settings.burst) if settings.rate > 0 else None
        self.metrics = metrics
        self.bodies = ByteBudget(settings.max_bodies)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self.app(scope, receive, send)
            return
        began = time.perf_counter()
        peer = (scope.get("client") or ("unknown",))[0]
        status = 0
        share = scope[SHARE] = Share(self.bodies)

        async def sending(message: Message) -> None:
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
                if scope["method"] not in SAFE_METHODS and not scope["path"].startswith(API):
                    # The API reads bodies by itself, some of them without an end.
                    receive = bounded(scope, receive, self.settings)
                await self.app(scope, receive, sending)
            except Refusal as refusal:
                answer = signing_in(scope) if refusal.status == 401 else None
                await (answer or refusal.response())(scope, receive, sending)
            except Unread:
                log.info("an answer was not read in time, and is broken off")
                raise
            except Exception as error:
                # Without its message, which may hold a text.
                frames = "".join(traceback.format_tb(error.__traceback__))
                log.error("%s while answering\n%s", type(error).__name__, frames)
                if not status:
                    failure = Refusal(500, "something went wrong here; see the log of the service")
                    await failure.response()(scope, receive, sending)
        finally:
            share.keep(0)
            token = scope.get(KEY)
            name = None if token is None else token.name
            self.metrics.answered(scope, status, time.perf_counter() - began, peer, name)

    async def _stream(self, body: bytes, send: Send) -> None:
        """Sends a part of an answer in pieces, each of which has to be taken in time."""
        for start in range(0, len(body), PIECE):
            piece = body[start : start + PIECE]
            try:
                async with asyncio.timeout(self.settings.send_seconds):
                    await send({"type": "http.response.body", "body": piece, "more_body": True})
            except TimeoutError:
                raise Unread from None

    async def check(self, scope: Scope, peer: str) -> None:
        """Raises what is wrong with the head of a request."""
        seen = [key for key, _ in scope["headers"] if key in SINGLE]
        if len(seen) != len({*seen}):
            raise Refusal(400, "a field of the head is there twice, which may be there once only")
        host = header(scope, b"host") or ""
        if not self._is_ours(host):
            raise Refusal(
                403,
                "the Host of the request is not a name of this service; "
                "start it with --name to allow another one",
            )
        token = await self.rights.check(scope, peer)
        if self.rate is not None:
            seconds = self.rate.wait(client_of(peer) if token is None else token.name)
            if seconds:
                raise Refusal(
                    429,
                    f"more than {self.rate.rate:g} requests a second; wait",
                    headers={"Retry-After": str(seconds)},
                )
        if scope["method"] not in SAFE_METHODS:
            origin = header(scope, b"origin")
            site = header(scope, b"sec-fetch-site")
            # A browser that tells no page where it came from; but it says whose page it is.
            ours = origin == "null" and site == "same-origin"
            if site in FOREIGN or (origin is not None and not ours and not _same(origin, host)):
                raise Refusal(403, "a page of another site may not ask for this")
        transfer = header(scope, b"transfer-encoding")
        if transfer and header(scope, b"content-length"):
            raise Refusal(400, "the length of the body is given in two ways")
        packed = (header(scope, b"content-encoding") or "").strip().lower()
        if packed not in ("", "identity") or (transfer or "chunked").strip().lower() != "chunked":
            raise Refusal(
                415, "the body is packed; send it as it is", headers={"Accept-Encoding": "identity"}
            )

    def _is_ours(self, host: str) -> bool:
        name = _without_port(host)
        # Whoever lets a name of his own point here has that name in the field, never a number.
        return name in self.names or _is_address(name)


def signing_in(scope: Scope) -> Response | None:
    """Leads whoever looks at a page to where a token can be given."""
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
    """Whether a name is a number: of four parts, or in brackets, and of no zone."""
    try:
        if name.startswith("[") and name.endswith("]"):
            return ipaddress.IPv6Address(name[1:-1]).scope_id is None
        ipaddress.IPv4Address(name)
    except ValueError:
        return False
    return True


def _same(origin: str, host: str) -> bool:
    """Whether a page is of this service: the same name and port as the request was sent to."""
    try:
        parts = urlsplit(origin)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and parts.netloc.lower() == host.lower()


def _add_headers(message: MutableMapping[str, Any]) -> None:
    headers = [*message.get("headers", ())]
    if not any(key.lower() == b"cache-control" for key, _ in headers):
        headers.append(UNCACHED)
    message["headers"] = [*headers, *HEADERS]
