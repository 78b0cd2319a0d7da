"""Authentication and authorization: tokens from a file, sent as a header or a cookie.

`TokenFile` reads and reloads the file, `Authenticator` finds the token of a request and slows
down guessing, `check_write` decides whether a request may change documents.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import hashlib
import hmac
import ipaddress
import logging
import os
import stat
import threading
import time
from collections import OrderedDict
from pathlib import Path
from typing import Literal, NamedTuple
from urllib.parse import unquote

from starlette.types import Scope

from neardup.service.errors import HTTPProblem
from neardup.service.limits import RateLimiter
from neardup.service.requests import header
from neardup.service.settings import ServiceSettings

log = logging.getLogger("neardup.service")

TokenScope = Literal["read", "write"]

MIN_TOKEN_LENGTH = 16
# The token file is checked for changes at most this often.
RELOAD_SECONDS = 1.0
FORMAT_HINT = (
    "a line is `read TOKEN` or `write TOKEN`; create a token with, for example, "
    "`openssl rand -hex 32`"
)
# A browser asks its user for a name and a password; the password is the token.
CHALLENGE = {"WWW-Authenticate": 'Basic realm="neardup", charset="UTF-8", Bearer realm="neardup"'}
# Keys of the request scope: its `Token`, and the `Authenticator` for the sign-in page.
TOKEN_KEY = "neardup.token"  # noqa: S105
AUTHENTICATOR_KEY = "neardup.authenticator"
# HttpOnly and SameSite: scripts cannot read it, other sites cannot send it.
COOKIE = "neardup-token"
# Paths that need no token, as nobody could sign in otherwise. They disclose no documents.
SIGN_IN = "/sign-in"
PUBLIC_PREFIXES = ("/static/", "/shared/")
# Wrong tokens of a client that get 401 at once, and the rate at which they are forgotten. After
# that each new token is delayed, and a wrong one gets 429. A correct token is always accepted:
# otherwise one client that guesses could lock out all clients behind the same proxy.
MAX_WRONG_TOKENS = 20
FORGOTTEN_PER_SECOND = 1.0
# Correct and wrong tokens are delayed equally: a quick response would reveal a correct guess. A
# token that was accepted from this client before is not delayed.
DELAY_SECONDS = 1.0
# Pairs (client, accepted token) to remember; the least recently used is dropped.
MAX_KNOWN_CLIENTS = 10_000
# The addresses of an IPv6 network of this prefix length most likely belong to one client.
IPV6_PREFIX = 64


def client_key(host: str) -> str:
    """Return the address under which a client is counted: an IPv4 address or an IPv6 /64.

    A string that is not an address is returned as it is.
    """
    try:
        address = ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return host
    if isinstance(address, ipaddress.IPv6Address):
        if address.ipv4_mapped is not None:
            return str(address.ipv4_mapped)
        if not address.is_loopback:
            return str(ipaddress.ip_network((address, IPV6_PREFIX), strict=False))
    return str(address)


class TokenFileError(ValueError):
    """An invalid token file. The message never contains a token."""


class EmptyTokenFileError(TokenFileError):
    """A token file without tokens."""


class Token(NamedTuple):
    """A token, by its hash; `name` is its line in the file and stands for it in logs."""

    hash: bytes
    scope: TokenScope
    name: str


class TokenFile:
    """The tokens of a file, reloaded within a second of a change.

    If the file is removed or emptied, no token is accepted. If it becomes invalid in another way,
    a warning is logged and the previous tokens stay valid.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._checked = time.monotonic()
        self._version: tuple[int, int, int] | None
        self._version, self._tokens = _read_token_file(path)

    def find(self, secret: str) -> Token | None:
        """Return the token with this secret, or None, in constant time."""
        hashed = _hash(secret)
        match = None
        for token in self._current():
            if hmac.compare_digest(token.hash, hashed):
                match = token
        return match

    def _current(self) -> list[Token]:
        now = time.monotonic()
        if now - self._checked > RELOAD_SECONDS and self._lock.acquire(blocking=False):
            try:
                self._checked = now
                if _file_version(self.path) != self._version:
                    self._version, self._tokens = _read_token_file(self.path)
                    log.info("%d tokens read from %s", len(self._tokens), self.path)
            except (FileNotFoundError, EmptyTokenFileError) as error:
                # Tokens that were removed on purpose must stop working.
                if self._tokens:
                    log.warning("no token is accepted any more: %s", error)
                self._version, self._tokens = None, []
            except (OSError, ValueError) as error:
                # The file may be in the middle of being replaced; the next check reads it again.
                log.warning("the previous tokens stay valid: %s", error)
            finally:
                self._lock.release()
        return self._tokens


def _file_version(path: Path) -> tuple[int, int, int]:
    status = os.stat(path)
    return status.st_ino, status.st_mtime_ns, status.st_size


def _read_token_file(path: Path) -> tuple[tuple[int, int, int], list[Token]]:
    try:
        version = _file_version(path)
        with path.open(encoding="utf-8") as file:
            mode = os.fstat(file.fileno()).st_mode
            if mode & (stat.S_IRWXG | stat.S_IRWXO):
                raise TokenFileError(
                    f"{path}: users other than the owner can access it; run: chmod 600 {path}"
                )
            lines = file.read().splitlines()
    except UnicodeDecodeError:
        raise TokenFileError(f"{path}: not UTF-8; {FORMAT_HINT}") from None
    tokens: list[Token] = []
    for number, line in enumerate(lines, 1):
        parts = line.split()
        if not parts or line.lstrip().startswith("#"):
            continue
        if len(parts) != 2 or parts[0] not in ("read", "write") or not parts[1].isascii():
            raise TokenFileError(f"{path}:{number}: not a token line; {FORMAT_HINT}")
        scope: TokenScope = "write" if parts[0] == "write" else "read"
        if len(parts[1]) < MIN_TOKEN_LENGTH:
            raise TokenFileError(
                f"{path}:{number}: the token has {len(parts[1])} characters, fewer than "
                f"{MIN_TOKEN_LENGTH}; {FORMAT_HINT}"
            )
        tokens.append(Token(_hash(parts[1]), scope, f"line {number}"))
    if not tokens:
        raise EmptyTokenFileError(f"{path}: contains no token; {FORMAT_HINT}")
    if len({token.hash for token in tokens}) != len(tokens):
        raise TokenFileError(f"{path}: two lines have the same token; remove one of them")
    return version, tokens


def _hash(secret: str) -> bytes:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).digest()


class Authenticator:
    """Finds the token of a request and slows down clients that guess."""

    def __init__(self, settings: ServiceSettings) -> None:
        self.token_file = None if settings.token_file is None else TokenFile(settings.token_file)
        self.guess_limiter = RateLimiter(FORGOTTEN_PER_SECOND, MAX_WRONG_TOKENS)
        # Counters for the metrics.
        self.wrong_tokens = 0
        self.delayed_tokens = 0
        self._known: OrderedDict[tuple[str, bytes], None] = OrderedDict()

    async def authenticate(self, scope: Scope, peer: str) -> Token | None:
        """Return the token of a request and store it in its scope; None where none is needed."""
        if self.token_file is None:
            return None
        scope[AUTHENTICATOR_KEY] = self
        if scope["path"] == SIGN_IN or scope["path"].startswith(PUBLIC_PREFIXES):
            return None
        secret = _parse_authorization(header(scope, b"authorization"))
        if secret is None:
            secret = _cookie_token(scope)
        token = None if secret is None else await self.find_token(secret, peer)
        if token is None:
            raise HTTPProblem(
                401,
                "a token is required: Authorization: Bearer TOKEN"
                if secret is None
                else "unknown token",
                headers=CHALLENGE,
            )
        scope[TOKEN_KEY] = token
        return token

    async def find_token(self, secret: str, peer: str) -> Token | None:
        """Return the token with this secret, or None; raise 429 after too many wrong ones."""
        assert self.token_file is not None  # noqa: S101
        client, token = client_key(peer), self.token_file.find(secret)
        if token is not None and (client, token.hash) in self._known:
            self._known.move_to_end((client, token.hash))
            return token
        if seconds := self.guess_limiter.retry_after(client):
            self.delayed_tokens += 1
            await asyncio.sleep(DELAY_SECONDS)
        if token is not None:
            if not seconds:
                # Not while this client guesses: it could abandon the delayed request and learn from
                # a quick response to the next one that the guess was correct.
                self._known[client, token.hash] = None
            if len(self._known) > MAX_KNOWN_CLIENTS:
                self._known.popitem(last=False)
            return token
        self.wrong_tokens += 1
        if seconds:
            raise HTTPProblem(
                429,
                f"too many wrong tokens; retry in {seconds} s",
                headers={"Retry-After": str(seconds)},
            )
        self.guess_limiter.acquire(client)
        return None


def may_write(scope: Scope, settings: ServiceSettings) -> bool:
    """Return whether the request may change documents."""
    token = scope.get(TOKEN_KEY)
    return not settings.read_only and (token is None or token.scope == "write")


def check_write(scope: Scope, settings: ServiceSettings) -> None:
    """Raise 403 if the request may not change documents."""
    if not may_write(scope, settings):
        raise HTTPProblem(
            403,
            "the service is read-only"
            if settings.read_only
            else "this token is read-only; use a write token",
        )


def _cookie_token(scope: Scope) -> str | None:
    """Return the token that the sign-in page stored."""
    for field in (header(scope, b"cookie") or "").split(";"):
        name, _, value = field.strip().partition("=")
        if name == COOKIE and value:
            return unquote(value)
    return None


def _parse_authorization(authorization: str | None) -> str | None:
    """Return the secret of a Bearer or Basic header; None for any other."""
    scheme, _, credentials = (authorization or "").partition(" ")
    credentials = credentials.strip()
    if scheme.lower() == "bearer" and credentials:
        return credentials
    if scheme.lower() == "basic" and credentials:
        try:
            name_and_password = base64.b64decode(credentials, validate=True).decode("utf-8")
        except (binascii.Error, ValueError):
            # No browser sends this: it counts as a wrong token.
            return ""
        return name_and_password.partition(":")[2]
    return None
