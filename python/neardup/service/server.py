"""The server: one process, one loop, until a signal says stop; then what was accepted is finished.

Granian reads and writes HTTP in a thread of its own, outside Python: heads that come slowly or are
too large never reach the loop.
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

# Connections the system keeps waiting until one is accepted.
BACKLOG = 1024
# A thread that computes gives way after so long; Python's five milliseconds are an age for a loop.
SWITCH_SECONDS = 0.001


class PortError(OSError):
    """The address cannot be listened on; the message says why and what helps."""


def address(settings: ServiceSettings) -> tuple[str, int]:
    """The numeric address and the port to listen on; refused if somebody else does.

    Granian would share a port with another process that does the same.
    """
    host = settings.host.strip("[]")
    try:
        family, _, _, _, place = socket.getaddrinfo(
            host, settings.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
    except (socket.gaierror, UnicodeError):
        raise PortError(f"{settings.host} is no address of this machine") from None
    try:
        with socket.socket(family, socket.SOCK_STREAM) as tried:
            tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            tried.bind(place)
            tried.listen(1)
            found = tried.getsockname()
            return str(found[0]), int(found[1])
    except OverflowError:
        raise PortError(f"{settings.port} is no port; they go up to 65535") from None
    except PermissionError:
        raise PortError(
            f"this user may not listen on port {settings.port}; choose one from 1024 on with --port"
        ) from None
    except OSError as error:
        raise PortError(
            f"{settings.host}:{settings.port} cannot be listened on: {error.strerror}; "
            "choose another port with --port, or 0 for one that is free"
        ) from None


def url_of(host: str, port: int) -> str:
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


class Running:
    """A server in the loop of its caller."""

    def __init__(self, service: Service, host: str, port: int) -> None:
        settings = service.settings
        self.service = service
        self.url = url_of(host, port)
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
        """Serves until `stop` is called, then finishes what was accepted, as far as there is
        time. `ready` is called when requests are answered."""
        before = sys.getswitchinterval()
        sys.setswitchinterval(SWITCH_SECONDS)
        serving = asyncio.ensure_future(self._server.serve())
        try:
            await self._until_it_listens(serving)
            limit_unread(self._server.bind_port, self.service.settings.send_seconds)
            ready(self.url)
            await self._until_it_stops(serving)
        finally:
            sys.setswitchinterval(before)

    async def _until_it_stops(self, serving: asyncio.Future[None]) -> None:
        stopped = asyncio.ensure_future(self._stopping.wait())
        await asyncio.wait((serving, stopped), return_when=asyncio.FIRST_COMPLETED)
        stopped.cancel()
        self.service.ready = False
        self._server.stop()  # type: ignore[no-untyped-call]
        try:
            await asyncio.wait_for(serving, self.service.settings.shutdown_seconds)
        except TimeoutError:
            log.warning("some requests were not finished in time")

    def stop(self) -> None:
        """Called in the loop: takes no more requests, and lets `serve` return."""
        self.service.ready = False
        self._stopping.set()

    async def _until_it_listens(self, serving: asyncio.Future[None]) -> None:
        host, port = self._server.bind_addr, self._server.bind_port
        while not serving.done():
            with suppress(OSError):
                _, writer = await asyncio.open_connection(host, port)
                writer.close()
                return
            await asyncio.sleep(0.005)
        await serving


def limit_unread(port: int, seconds: float) -> None:
    """Lets the system end connections of this process on a port whose clients take nothing of what
    was sent to them for so long.

    Granian has no limit for it, and hands out no socket; but those it accepts have the options of
    the one that listens. Only Linux has this one.
    """
    if not hasattr(socket, "TCP_USER_TIMEOUT") or not os.path.isdir("/proc/self/fd"):
        return
    for number in map(int, os.listdir("/proc/self/fd")):
        with suppress(OSError):
            # Closing the copy of a file would end the locks on it; that of a socket ends nothing.
            if stat.S_ISSOCK(os.fstat(number).st_mode):
                with socket.socket(fileno=os.dup(number)) as found:
                    _limit(found, port, int(seconds * 1000))


def _limit(found: socket.socket, port: int, milliseconds: int) -> None:
    listens = found.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN)
    if listens and found.getsockname()[1:2] == (port,):
        found.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, max(1, milliseconds))


def serve(service: Service, ready: Callable[[str], None] = lambda url: None) -> None:
    """Serves until SIGTERM, SIGINT or SIGHUP; a second one does not wait for anything any more.
    For a process of its own."""
    host, port = address(service.settings)

    async def main() -> None:
        running = Running(service, host, port)
        task = asyncio.current_task()
        assert task is not None  # noqa: S101

        def stop() -> None:
            if not service.ready:
                task.cancel()
            running.stop()

        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            # What was to be ignored stays so: that is how nohup works.
            if signal.getsignal(number) is not signal.SIG_IGN:
                loop.add_signal_handler(number, stop)
        with suppress(asyncio.CancelledError):
            await running.serve(begun)

    def begun(url: str) -> None:
        settle()
        ready(url)

    with asyncio.Runner(loop_factory=_loop_factory()) as runner:
        runner.run(main())


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    """That of uvloop, where there is one."""
    try:
        import uvloop
    except ImportError:
        return None
    return uvloop.new_event_loop


# Memory that is given back to the system when it is not needed any more.

# Numbers of settings in glibc's malloc.h.
MMAP_THRESHOLD, ARENA_MAX = -3, -8
# Bytes from which a block is a mapping of its own, and how many heaps threads share.
LARGE, HEAPS = 1 << 20, 4


def keep_small() -> None:
    """Lets the process give memory back: for one that serves, and has nothing else to do.

    Every now and then what was added becomes a file, for which blocks of many megabytes are needed
    for a moment. glibc takes the first of them as a reason to keep later ones, so the process would
    stay as large as it ever was; and with a heap for each thread, what one has freed is of no use
    to another. Other systems have no such settings. Measured after 900 mixed requests that added
    87,400 documents: 100 MB instead of 132.
    """
    with suppress(OSError, AttributeError):
        library = ctypes.CDLL(None)
        library.mallopt(MMAP_THRESHOLD, LARGE)
        library.mallopt(ARENA_MAX, HEAPS)


def settle() -> None:
    """What was made until now stays: the collector need not look at it again and again, while
    everyone waits."""
    gc.collect()
    gc.freeze()
