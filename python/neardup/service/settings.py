"""Settings of a service: address, limits, timeouts."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

LOCAL_NAMES = ("localhost", "127.0.0.1", "[::1]")


@dataclass(frozen=True)
class ServiceSettings:
    """Settings of a service. The defaults suit a machine that is used for other work too.

    host, port        address to listen on; port 0: a free one
    names             further values allowed in the Host header
    token_file        file of tokens; required if other machines can connect
    read_only         refuse to add or remove documents

    Limits. A request over a limit gets 413, or the status in parentheses:
    max_body          bytes of a request body
    max_bodies        bytes of all bodies being read or processed (503)
    max_batch         documents or texts of a JSON request
    max_line          bytes of a line of NDJSON
    workers           threads that handle requests
    queue             requests that wait for a thread (503)
    write_queue       documents that wait to be stored (503)
    write_bytes       bytes of these documents (503)
    connections       open connections
    max_head          bytes of the request line and headers (431)
    max_clustered     documents up to which clusters are computed (409)
    rate              requests per second of one client, on average (429); 0: no limit
    burst             requests of one client at once (429)

    Timeouts:
    head_seconds      to receive the headers of a request; also for an idle connection
    body_seconds      to receive a body (408)
    slowest           minimum bytes per second of NDJSON, on average over body_seconds (408)
    send_seconds      without the client reading anything of the response: it is disconnected
    answer_seconds    to handle a request (503)
    shutdown_seconds  to finish accepted requests after a signal to stop
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
        """Whether it listens on the loopback interface only."""
        if self.host.lower() == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host.strip("[]")).is_loopback
        except ValueError:
            return False
