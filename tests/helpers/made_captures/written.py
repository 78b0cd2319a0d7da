"""A page on its way from a server."""

from __future__ import annotations

from dataclasses import dataclass

Headers = list[tuple[str, str]]


@dataclass
class Written:
    """What the server sends for a path; bytes that are no text are in Latin-1."""

    path: str
    status: int
    headers: Headers
    body: str
