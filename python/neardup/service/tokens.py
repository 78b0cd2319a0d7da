"""Tokens: who may read and who may write, from a file that may change while the service runs."""

from __future__ import annotations

import hashlib
import hmac
import logging
import os
import stat
import threading
import time
from pathlib import Path
from typing import Literal, NamedTuple

Scope = Literal["read", "write"]

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
    scope: Scope
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
        scope: Scope = "write" if parts[0] == "write" else "read"
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
