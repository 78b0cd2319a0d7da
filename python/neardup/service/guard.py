"""The first and the last that sees a request: who may ask, and what every answer says."""

from __future__ import annotations

import ipaddress
from collections.abc import MutableMapping
from typing import Any
from urllib.parse import urlsplit

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from neardup.service.problems import Refusal
from neardup.service.requests import header
from neardup.service.settings import LOCAL_NAMES, Settings

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
SAFE_METHODS = ("GET", "HEAD", "OPTIONS")
HEADERS = (
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"x-frame-options", b"DENY"),
)
# Unless an answer says otherwise: documents change, and are nobody else's.
UNCACHED = (b"cache-control", b"no-store")


class Guard:
    """Refuses what comes from a wrong name, a foreign page, or packed; then lets the app answer."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self.app = app
        self.names = {
            name.lower() for name in (*LOCAL_NAMES, *settings.names, settings.host) if name
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self.app(scope, receive, send)
            return

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                _add_headers(message)
            await send(message)

        try:
            self.check(scope)
        except Refusal as refusal:
            await refusal.response()(scope, receive, sending)
            return
        await self.app(scope, receive, sending)

    def check(self, scope: Scope) -> None:
        """Raises what is wrong with the head of a request."""
        host = header(scope, b"host") or ""
        if not self._is_ours(host):
            raise Refusal(
                403,
                "the Host of the request is not a name of this service; "
                "start it with --name to allow another one",
            )
        if scope["method"] not in SAFE_METHODS:
            origin = header(scope, b"origin")
            site = header(scope, b"sec-fetch-site")
            if (origin is not None and not _same(origin, host)) or site in (
                "cross-site",
                "same-site",
            ):
                raise Refusal(403, "a page of another site may not change anything here")
        packed = header(scope, b"content-encoding")
        if packed is not None and packed.strip().lower() not in ("", "identity"):
            raise Refusal(
                415, "the body is packed; send it as it is", headers={"Accept-Encoding": "identity"}
            )

    def _is_ours(self, host: str) -> bool:
        name = _without_port(host)
        # Whoever lets a name of his own point here has that name in the field, never a number.
        return name in self.names or _is_address(name)


def _without_port(host: str) -> str:
    name, colon, port = host.rpartition(":")
    if not colon or not (port.isdecimal() and port.isascii()):
        name = host
    return name.lower().removesuffix(".")


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name.removeprefix("[").removesuffix("]"))
    except ValueError:
        return False
    return True


def _same(origin: str, host: str) -> bool:
    """Whether a page is of this service: the same name and port as the request was sent to."""
    parts = urlsplit(origin)
    return parts.scheme in ("http", "https") and parts.netloc.lower() == host.lower()


def _add_headers(message: MutableMapping[str, Any]) -> None:
    headers = [*message.get("headers", ())]
    if not any(key.lower() == b"cache-control" for key, _ in headers):
        headers.append(UNCACHED)
    message["headers"] = [*headers, *HEADERS]
