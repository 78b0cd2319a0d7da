"""The HTTP server: Granian, embedded in one process with one event loop.

Granian reads and writes HTTP in its own Rust threads: slow or oversized headers never reach the
event loop. After a signal to stop, accepted requests are finished.
"""

from __future__ import annotations

import asyncio
import ctypes
import gc
import logging
import os
import signal
import socket
import stat
import sys
from collections.abc import Callable
from contextlib import suppress

from granian.constants import HTTPModes, Interfaces
from granian.http import HTTP1Settings
from granian.server.embed import Server

from neardup.service.app import make_app
from neardup.service.settings import ServiceSettings
from neardup.service.state import Service

log = logging.getLogger("neardup.service")

# Connections that the kernel queues until they are accepted.
BACKLOG = 1024
# Parameters of glibc's mallopt, from malloc.h.
M_MMAP_THRESHOLD, M_ARENA_MAX = -3, -8
MMAP_BYTES, ARENAS = 1 << 20, 4
# Python's default of 5 ms would let a computing thread delay the event loop too long.
SWITCH_SECONDS = 0.001


class ListenError(OSError):
    """The service cannot listen on the address."""


def resolve_address(settings: ServiceSettings) -> tuple[str, int]:
    """Return the numeric address and the port to listen on; raise `ListenError` if it is in use.

    Checked here because Granian sets SO_REUSEPORT, so two processes could share a port.
    """
    host = settings.host.strip("[]")
    try:
        family, _, _, _, socket_address = socket.getaddrinfo(
            host, settings.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
    except (socket.gaierror, UnicodeError):
        raise ListenError(f"{settings.host} is not an address of this machine") from None
    try:
        with socket.socket(family, socket.SOCK_STREAM) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(socket_address)
            probe.listen(1)
            bound = probe.getsockname()
            return str(bound[0]), int(bound[1])
    except OverflowError:
        raise ListenError(f"port {settings.port} is out of range (0–65535)") from None
    except PermissionError:
        raise ListenError(
            f"no permission to listen on port {settings.port}; choose 1024 or higher with --port"
        ) from None
    except OSError as error:
        raise ListenError(
            f"cannot listen on {settings.host}:{settings.port}: {error.strerror}; "
            "choose another port with --port, or 0 for a free one"
        ) from None


def format_url(host: str, port: int) -> str:
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


class EmbeddedServer:
    """A server in the event loop of its caller."""

    def __init__(self, service: Service, host: str, port: int) -> None:
        settings = service.settings
        self.service = service
        self.url = format_url(host, port)
        self._server = Server(
            make_app(service),
            address=host,
            port=port,
            interface=Interfaces.ASGINL,
            http=HTTPModes.http1,
            websockets=False,
            backlog=BACKLOG,
            backpressure=settings.connections,
            http1_settings=HTTP1Settings(
                header_read_timeout=int(settings.head_seconds * 1000),
                max_buffer_size=settings.max_head,
            ),
            log_enabled=False,
        )
        self._stopping = asyncio.Event()

    async def serve(self, ready: Callable[[str], None] = lambda url: None) -> None:
        """Serve until `stop` is called, then finish accepted requests within `shutdown_seconds`.

        `ready` is called with the URL once the server accepts connections.
        """
        before = sys.getswitchinterval()
        sys.setswitchinterval(SWITCH_SECONDS)
        serving = asyncio.ensure_future(self._server.serve())
        try:
            await self._wait_until_listening(serving)
            set_send_timeout(self._server.bind_port, self.service.settings.send_seconds)
            ready(self.url)
            await self._wait_until_stopped(serving)
        finally:
            sys.setswitchinterval(before)

    async def _wait_until_stopped(self, serving: asyncio.Future[None]) -> None:
        stopped = asyncio.ensure_future(self._stopping.wait())
        await asyncio.wait((serving, stopped), return_when=asyncio.FIRST_COMPLETED)
        stopped.cancel()
        self.service.ready = False
        self._server.stop()  # type: ignore[no-untyped-call]
        seconds = self.service.settings.shutdown_seconds
        try:
            await asyncio.wait_for(serving, seconds)
        except TimeoutError:
            log.warning("some requests were not finished after %g s", seconds)

    def stop(self) -> None:
        """Stop accepting requests and let `serve` return. Call it in the event loop."""
        self.service.ready = False
        self._stopping.set()

    async def _wait_until_listening(self, serving: asyncio.Future[None]) -> None:
        host, port = self._server.bind_addr, self._server.bind_port
        while not serving.done():
            with suppress(OSError):
                _, writer = await asyncio.open_connection(host, port)
                writer.close()
                return
            await asyncio.sleep(0.005)
        await serving


def set_send_timeout(port: int, seconds: float) -> None:
    """Make the kernel close connections whose clients acknowledge no data for this long.

    Granian has no such setting and does not expose its sockets. Accepted sockets inherit the
    options of the listening socket, which this finds among the open files. Linux only.
    """
    if not hasattr(socket, "TCP_USER_TIMEOUT") or not os.path.isdir("/proc/self/fd"):
        return
    for number in map(int, os.listdir("/proc/self/fd")):
        with suppress(OSError):
            # Sockets only: closing a duplicate of a file would release its POSIX locks.
            if stat.S_ISSOCK(os.fstat(number).st_mode):
                with socket.socket(fileno=os.dup(number)) as duplicate:
                    _set_user_timeout(duplicate, port, int(seconds * 1000))


def _set_user_timeout(one: socket.socket, port: int, milliseconds: int) -> None:
    is_listening = one.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN)
    if is_listening and one.getsockname()[1:2] == (port,):
        one.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, max(1, milliseconds))


def serve(service: Service, ready: Callable[[str], None] = lambda url: None) -> None:
    """Serve until SIGTERM, SIGINT or SIGHUP; a second signal stops without waiting.

    For a process that does nothing else.
    """
    host, port = resolve_address(service.settings)

    async def main() -> None:
        server = EmbeddedServer(service, host, port)
        task = asyncio.current_task()
        assert task is not None  # noqa: S101

        def stop() -> None:
            if not service.ready:
                task.cancel()
            server.stop()

        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            # Ignored signals stay ignored, as nohup needs it.
            if signal.getsignal(number) is not signal.SIG_IGN:
                loop.add_signal_handler(number, stop)
        with suppress(asyncio.CancelledError):
            await server.serve(on_ready)

    def on_ready(url: str) -> None:
        freeze_objects()
        ready(url)

    with asyncio.Runner(loop_factory=_loop_factory()) as runner:
        runner.run(main())


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    """Return uvloop's factory if it is installed."""
    try:
        import uvloop
    except ImportError:
        return None
    return uvloop.new_event_loop


def tune_malloc() -> None:
    """Make glibc return freed memory to the system. Call it before threads are started.

    Writing a segment allocates blocks of many megabytes for a moment. When the first is freed,
    glibc raises its mmap threshold and keeps later blocks; and a thread cannot use memory that was
    freed in the arena of another. Other systems have no such settings. Measured after 900 mixed
    requests that added 87,400 documents: 100 MB instead of 132.
    """
    with suppress(OSError, AttributeError):
        library = ctypes.CDLL(None)
        library.mallopt(M_MMAP_THRESHOLD, MMAP_BYTES)
        library.mallopt(M_ARENA_MAX, ARENAS)


def freeze_objects() -> None:
    """Exclude all current objects from garbage collection, which pauses all threads."""
    gc.collect()
    gc.freeze()
