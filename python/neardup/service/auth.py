"""Who a client is, by its address."""

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

from neardup.service.errors import Refusal
from neardup.service.limits import Rate
from neardup.service.requests import header
from neardup.service.settings import ServiceSettings

# Those of one network of IPv6 are most likely of one client.
NETWORK = 64


def client_of(host: str) -> str:
    """The address of a client, or its network of IPv6; what is no address stays as it is."""
    try:
        given = ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return host
    if isinstance(given, ipaddress.IPv6Address):
        if given.ipv4_mapped is not None:
            return str(given.ipv4_mapped)
        if not given.is_loopback:
            return str(ipaddress.ip_network((given, NETWORK), strict=False))
    return str(given)


# Tokens: who may read and who may write, from a file that may change while the service runs.

TokenScope = Literal["read", "write"]

log = logging.getLogger("neardup.service")

LEAST_LENGTH = 16
# Seconds for which nobody looks whether the file has changed.
PATIENCE = 1.0
FORM = (
    "a line is `read TOKEN` or `write TOKEN`, where a token is made with, for example, "
    "`openssl rand -hex 32`"
)


class TokenFileError(ValueError):
    """A token file that cannot be used; the message says why, and never what is in it."""


class Token(NamedTuple):
    """What is kept of a token: its hash, so that all are of the same length, and its number in the
    file, by which it is called in logs."""

    hash: bytes
    scope: TokenScope
    name: str


class NoTokens(TokenFileError):
    """A file without a token in it."""


class Tokens:
    """The tokens of a file. A change counts within a second. Without the file, or with an empty
    one, nobody is let in; one that cannot be used is told in the log, and the tokens of before
    stay."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._looked = time.monotonic()
        self._stamp: tuple[int, int, int] | None
        self._stamp, self._tokens = _read(path)

    def find(self, given: str) -> Token | None:
        """The token that was given, or None. It takes as long whichever it is like."""
        hashed = _hash(given)
        found = None
        for token in self._current():
            if hmac.compare_digest(token.hash, hashed):
                found = token
        return found

    def _current(self) -> list[Token]:
        now = time.monotonic()
        if now - self._looked > PATIENCE and self._lock.acquire(blocking=False):
            try:
                self._looked = now
                if _stamp(self.path) != self._stamp:
                    self._stamp, self._tokens = _read(self.path)
                    log.info("%d tokens read from %s", len(self._tokens), self.path)
            except (FileNotFoundError, NoTokens) as error:
                # Whoever takes the tokens away wants them to be of no use any more.
                if self._tokens:
                    log.warning("nobody is let in: %s", error)
                self._stamp, self._tokens = None, []
            except (OSError, ValueError) as error:
                # A file in the middle of being replaced: it is looked at again.
                log.warning("the tokens of before stay: %s", error)
            finally:
                self._lock.release()
        return self._tokens


def _stamp(path: Path) -> tuple[int, int, int]:
    found = os.stat(path)
    return found.st_ino, found.st_mtime_ns, found.st_size


def _read(path: Path) -> tuple[tuple[int, int, int], list[Token]]:
    try:
        stamp = _stamp(path)
        with path.open(encoding="utf-8") as file:
            mode = os.fstat(file.fileno()).st_mode
            if mode & (stat.S_IRWXG | stat.S_IRWXO):
                raise TokenFileError(
                    f"{path}: others than its owner may read or write it; "
                    f"take that right away: chmod 600 {path}"
                )
            lines = file.read().splitlines()
    except UnicodeDecodeError:
        raise TokenFileError(f"{path}: is not UTF-8; {FORM}") from None
    tokens: list[Token] = []
    for number, line in enumerate(lines, 1):
        parts = line.split()
        if not parts or line.lstrip().startswith("#"):
            continue
        if len(parts) != 2 or parts[0] not in ("read", "write") or not parts[1].isascii():
            raise TokenFileError(f"{path}:{number}: not a token; {FORM}")
        scope: TokenScope = "write" if parts[0] == "write" else "read"
        if len(parts[1]) < LEAST_LENGTH:
            raise TokenFileError(
                f"{path}:{number}: the token has {len(parts[1])} characters, and less than "
                f"{LEAST_LENGTH} can be guessed; {FORM}"
            )
        tokens.append(Token(_hash(parts[1]), scope, f"line {number}"))
    if not tokens:
        raise NoTokens(f"{path}: there is no token in it; {FORM}")
    if len({token.hash for token in tokens}) != len(tokens):
        raise TokenFileError(f"{path}: a token is there twice; which of its lines is meant?")
    return stamp, tokens


def _hash(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()


# Who may do what: tokens, and whether the service writes at all.

# A browser asks its user for a name and a password; the password is the token.
CHALLENGE = {"WWW-Authenticate": 'Basic realm="neardup", charset="UTF-8", Bearer realm="neardup"'}
KEY = "neardup.token"
# Where a page finds the rights, to sign someone in.
RIGHTS = "neardup.rights"
# What a page keeps of someone who signed in; scripts cannot read it, other sites cannot send it.
COOKIE = "neardup-token"
# Without these nobody could sign in. They hold nothing of the collection.
SIGN_IN = "/sign-in"
OPEN = ("/static/", "/shared/")
# Wrong tokens of one address that are told so; then one a second, and the others are told to wait.
# A right one is always let in: otherwise one who guesses could lock out all who share his address,
# as behind a proxy.
GUESSES = 20
# Wrong tokens a second that are forgotten.
FORGIVEN = 1.0
# Seconds that a token then waits for its answer, right or wrong: if right ones were quicker, nobody
# who guesses would wait for the others. Those who were let in before from there do not wait.
SLOWED = 1.0
# Addresses and their tokens that are remembered; those not seen for longest are forgotten.
MOST_KNOWN = 10_000


class Rights:
    """Finds out who asks."""

    def __init__(self, settings: ServiceSettings) -> None:
        self.tokens = None if settings.token_file is None else Tokens(settings.token_file)
        self.guesses = Rate(FORGIVEN, GUESSES)
        self.wrong = 0
        self.slowed = 0
        self._known: OrderedDict[tuple[str, bytes], None] = OrderedDict()

    async def check(self, scope: Scope, peer: str) -> Token | None:
        """The token of a request, which is noted in its scope; None where none is needed."""
        if self.tokens is None:
            return None
        scope[RIGHTS] = self
        if scope["path"] == SIGN_IN or scope["path"].startswith(OPEN):
            return None
        given = _given(header(scope, b"authorization"))
        if given is None:
            given = _kept(scope)
        token = None if given is None else await self.find(given, peer)
        if token is None:
            raise Refusal(
                401,
                "a token is needed: Authorization: Bearer TOKEN"
                if given is None
                else "this token is not known",
                headers=CHALLENGE,
            )
        scope[KEY] = token
        return token

    async def find(self, given: str, peer: str) -> Token | None:
        """The token that was given; whoever is wrong too often is told to wait."""
        assert self.tokens is not None  # noqa: S101
        peer, token = client_of(peer), self.tokens.find(given)
        if token is not None and (peer, token.hash) in self._known:
            self._known.move_to_end((peer, token.hash))
            return token
        if seconds := self.guesses.left(peer):
            self.slowed += 1
            await asyncio.sleep(SLOWED)
        if token is not None:
            if not seconds:
                # Not while somebody guesses: who did not wait for the answer could ask again, and
                # would know by how soon it comes.
                self._known[peer, token.hash] = None
            if len(self._known) > MOST_KNOWN:
                self._known.popitem(last=False)
            return token
        self.wrong += 1
        if seconds:
            raise Refusal(429, "too many wrong tokens", headers={"Retry-After": str(seconds)})
        self.guesses.wait(peer)
        return None


def may_write(scope: Scope, settings: ServiceSettings) -> bool:
    """Whether whoever asks may change something."""
    token = scope.get(KEY)
    return not settings.read_only and (token is None or token.scope == "write")


def check_write(scope: Scope, settings: ServiceSettings) -> None:
    """Refuses whoever may not change documents."""
    if settings.read_only:
        raise Refusal(403, "the service was started to read only")
    token = scope.get(KEY)
    if token is not None and token.scope != "write":
        raise Refusal(403, "this token may read only; a write token is needed")


def _kept(scope: Scope) -> str | None:
    """The token that a page keeps for someone who signed in."""
    for field in (header(scope, b"cookie") or "").split(";"):
        name, _, value = field.strip().partition("=")
        if name == COOKIE and value:
            return unquote(value)
    return None


def _given(authorization: str | None) -> str | None:
    kind, _, rest = (authorization or "").partition(" ")
    rest = rest.strip()
    if kind.lower() == "bearer" and rest:
        return rest
    if kind.lower() == "basic" and rest:
        try:
            whole = base64.b64decode(rest, validate=True).decode("utf-8")
        except (binascii.Error, ValueError):
            # Not what a browser would send: a guess.
            return ""
        return whole.partition(":")[2]
    return None
