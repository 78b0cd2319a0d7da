"""The connections of the process, as the system sees them: who holds how many, and who does not
read what it asked for.

Granian accepts connections by itself and hands out none of them; but they are files of the process,
which Linux lists. What is said here of a connection is asked of a copy of its file. Elsewhere than
on Linux nothing is watched.
"""

from __future__ import annotations

import fcntl
import logging
import os
import socket
import stat
import struct
import termios
import threading
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from operator import itemgetter
from typing import TYPE_CHECKING

from neardup.service.addresses import client_of, is_here
from neardup.service.pace import Pace

if TYPE_CHECKING:
    from neardup.service.state import Service

log = logging.getLogger("neardup.service")

FILES = "/proc/self/fd"
# Seconds between two looks.
EVERY = 1.0
# Where tcp_info of linux/tcp.h has the bytes that the client has taken.
TAKEN = struct.Struct("=120xQ")
# Bytes of an answer that have to be taken in `send_seconds`.
LEAST = 64 << 10


@dataclass(eq=False)
class Known:
    """A connection that was seen before: since which look, and how it takes its answers.

    sent   bytes of answers by the look before; all of them may be taken by now
    ended  it is closed when the server has seen it
    """

    since: int
    taken: int
    pace: Pace
    sent: int = 0
    ended: bool = False


class Connections:
    """Looks at the connections of a port now and then, and ends those that are too many or too
    slow. An address of this machine is not limited: it may be that of a proxy."""

    def __init__(self, service: Service, port: int) -> None:
        settings = service.settings
        self.service = service
        self.port = port
        self.each = settings.connections_each
        self.seconds = settings.send_seconds
        self._known: dict[int, Known] = {}
        self._looks = 0
        self._looked = time.monotonic()
        self._stopped = threading.Event()

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Looks at them, in a thread of its own, until the end of the `with` statement."""
        if not os.path.isdir(FILES) or not hasattr(socket, "TCP_INFO"):
            yield
            return
        thread = threading.Thread(target=self._watch, name="neardup-connections", daemon=True)
        thread.start()
        try:
            yield
        finally:
            self._stopped.set()
            thread.join()

    def _watch(self) -> None:
        while not self._stopped.wait(EVERY):
            try:
                self.look()
            except (OSError, struct.error) as error:
                # As it is now, so it will be at the next look.
                log.warning("connections are not limited, as they cannot be looked at: %s", error)
                return

    def look(self) -> None:
        """Ends those that take too little of their answers, and the newest of an address that has
        too many."""
        now = time.monotonic()
        passed, self._looked = now - self._looked, now
        self._looks += 1
        seen: dict[int, Known] = {}
        by_address: dict[str, list[tuple[int, int, Known]]] = defaultdict(list)
        for number, inode in _sockets():
            with suppress(OSError), socket.socket(fileno=os.dup(number)) as found:
                if not self._is_ours(found):
                    continue
                known = self._known.get(inode)
                if known is None or known.taken > _taken(found):
                    # One that was not seen before; a number may come again, after long.
                    known = self._new(found)
                seen[inode] = known
                if known.ended:
                    continue
                host, own = found.getpeername()[0], found.getsockname()[0]
                if self._is_slow(found, known, passed):
                    self._end(found, known, "does not take its answer")
                elif not is_here(host, own):
                    by_address[client_of(host)].append((known.since, number, known))
        self._known = seen
        self.service.connections = len(seen)
        for ours in by_address.values():
            if self.each and len(ours) > self.each:
                self._end_newest(sorted(ours, key=itemgetter(0, 1))[self.each :])

    def _is_ours(self, found: socket.socket) -> bool:
        if found.family not in (socket.AF_INET, socket.AF_INET6):
            return False
        # One that listens has no other end, and raises an error.
        return found.getsockname()[1] == self.port and found.getpeername() is not None

    def _new(self, found: socket.socket) -> Known:
        return Known(self._looks, _taken(found), Pace(self.seconds, LEAST / self.seconds))

    def _is_slow(self, found: socket.socket, known: Known, passed: float) -> bool:
        taken, waiting = _taken(found), _waiting(found)
        if not waiting or taken >= known.sent:
            # What waited at the look before is taken: on a long way something always waits.
            known.pace.left = known.pace.most
        elif known.since < self._looks:
            known.pace.left -= passed
            known.pace.moved(taken - known.taken)
        known.taken, known.sent = taken, taken + waiting
        return known.pace.left <= 0

    def _end_newest(self, ours: list[tuple[int, int, Known]]) -> None:
        for _, number, known in ours:
            with suppress(OSError), socket.socket(fileno=os.dup(number)) as found:
                # Meanwhile the number may be that of another file.
                if self._is_ours(found):
                    self._end(found, known, "is one too many of its address")

    def _end(self, found: socket.socket, known: Known, why: str) -> None:
        """What waits to be sent is thrown away: it might wait for long."""
        known.ended = True
        found.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        found.shutdown(socket.SHUT_RDWR)
        self.service.cut_connections += 1
        log.info("a connection %s, and is ended", why)


def _sockets() -> Iterator[tuple[int, int]]:
    """Open sockets of the process: their numbers as files, and by what they are known for life."""
    for name in os.listdir(FILES):
        with suppress(OSError):
            found = os.fstat(int(name))
            if stat.S_ISSOCK(found.st_mode):
                yield int(name), found.st_ino


def _taken(found: socket.socket) -> int:
    """Bytes the client has acknowledged since the connection was made."""
    (taken,) = TAKEN.unpack(found.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, TAKEN.size))
    return int(taken)


def _waiting(found: socket.socket) -> int:
    """Bytes that were sent, and not acknowledged."""
    (size,) = struct.unpack("i", fcntl.ioctl(found, termios.TIOCOUTQ, b"\0" * 4))
    return int(size)
