"""Who may do what: tokens, and whether the service writes at all."""

from __future__ import annotations

import asyncio
import base64
import binascii
from collections import OrderedDict
from urllib.parse import unquote

from starlette.types import Scope

from neardup.service.addresses import client_of
from neardup.service.problems import Refusal
from neardup.service.rate import Rate
from neardup.service.requests import header
from neardup.service.settings import Settings
from neardup.service.tokens import Token, Tokens

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

    def __init__(self, settings: Settings) -> None:
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


def may_write(scope: Scope, settings: Settings) -> bool:
    """Whether whoever asks may change something."""
    token = scope.get(KEY)
    return not settings.read_only and (token is None or token.scope == "write")


def check_write(scope: Scope, settings: Settings) -> None:
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
