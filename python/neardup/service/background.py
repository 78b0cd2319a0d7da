"""A service in a background thread of a Python program."""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from neardup.collection import Collection
from neardup.service.server import EmbeddedServer, resolve_address
from neardup.service.settings import ServiceSettings
from neardup.service.state import Service


@contextmanager
def serving(
    collection: Collection, *, port: int = 0, demo: bool = False, **settings: Any
) -> Iterator[str]:
    """Serve a collection until the end of the `with` statement; yields the URL.

    port      0: a free one
    settings  fields of `neardup.service.settings.ServiceSettings`
    """
    service = Service(collection, ServiceSettings(port=port, **settings), demo=demo)
    started: queue.Queue[EmbeddedServer | BaseException] = queue.Queue()
    loop = asyncio.new_event_loop()

    async def run() -> None:
        running = EmbeddedServer(service, *resolve_address(service.settings))
        await running.serve(lambda _: started.put(running))

    def main() -> None:
        try:
            loop.run_until_complete(run())
        except BaseException as error:
            started.put(error)
        finally:
            loop.close()

    thread = threading.Thread(target=main, name="neardup-service", daemon=True)
    thread.start()
    running = started.get()
    try:
        if isinstance(running, BaseException):
            raise running
        yield running.url
    finally:
        if isinstance(running, EmbeddedServer):
            loop.call_soon_threadsafe(running.stop)
        thread.join()
        service.close()
