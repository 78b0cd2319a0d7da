"""What a service is allowed: where it listens, how much it takes, how long it waits."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

LOCAL_NAMES = ("localhost", "127.0.0.1", "[::1]")


@dataclass(frozen=True)
class ServiceSettings:
    """Limits of a service. The defaults are safe on a machine that others use too.

    host, port      where it listens; port 0: one that is free
    names           further names that a request may have in its Host field
    token_file      who may ask; needed where others can reach it
    read_only       documents are neither added nor removed
    max_body        bytes of one request
    max_bodies      bytes of all requests that are being read or answered; more are refused with
                    503
    max_batch       documents or texts of one request in JSON
    max_line        bytes of one line of NDJSON
    workers         threads that answer
    queue           requests that wait for a thread; one more is refused with 503
    write_queue     documents that wait to be stored; more are refused with 503
    write_bytes     bytes of them, likewise
    connections     clients at once
    max_head        bytes of the head of a request
    head_seconds    a head that has not come whole after so long ends the connection; so does
                    silence between two requests
    body_seconds    a request that has not come whole after so long is refused with 408
    slowest         bytes a second at which lines must come, on average over body_seconds
    send_seconds    a client that reads nothing of its response for so long is cut off
    answer_seconds  a question that has not been answered after so long is given up with 503
    shutdown_seconds  what was accepted may take so long after a signal to stop
    rate            requests a second of one client, on average; 0: no limit
    burst           so many of them at once
    max_clustered   documents up to which clusters are made
    """

    host: str = "127.0.0.1"
    port: int = 8765
    names: tuple[str, ...] = ()
    token_file: Path | None = None
    read_only: bool = False
    max_body: int = 16 << 20
    max_bodies: int = 256 << 20
    max_batch: int = 1000
    max_line: int = 4 << 20
    workers: int = 4
    queue: int = 256
    write_queue: int = 10_000
    write_bytes: int = 256 << 20
    connections: int = 1000
    max_head: int = 32 << 10
    head_seconds: float = 15.0
    body_seconds: float = 30.0
    slowest: float = 100.0
    send_seconds: float = 30.0
    answer_seconds: float = 30.0
    shutdown_seconds: float = 30.0
    rate: float = 0.0
    burst: int = 200
    max_clustered: int = 200_000

    def replace(self, **changes: Any) -> Self:
        return replace(self, **changes)

    @property
    def is_local(self) -> bool:
        """Whether only this machine can reach it."""
        if self.host.lower() == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host.strip("[]")).is_loopback
        except ValueError:
            return False
