"""A service on a port of this machine, as a browser or a client meets it."""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from neardup.collection import Collection
from neardup.service.settings import Settings
from neardup.service.state import Service


@contextmanager
def serving(collection: Collection, *, demo: bool = True, **settings: Any) -> Iterator[str]:
    """The base URL of a service of this collection, which runs in a thread."""
    from neardup.service.server import Running, address

    service = Service(collection, Settings(port=0, **settings), demo=demo)
    started: queue.Queue[Running | BaseException] = queue.Queue()
    loop = asyncio.new_event_loop()

    async def run() -> None:
        running = Running(service, *address(service.settings))
        await running.serve(lambda _: started.put(running))

    def main() -> None:
        try:
            loop.run_until_complete(run())
        except BaseException as error:
            started.put(error)
            raise
        finally:
            loop.close()

    thread = threading.Thread(target=main, daemon=True)
    thread.start()
    running = started.get(timeout=30)
    assert isinstance(running, Running), running
    try:
        yield running.url
    finally:
        loop.call_soon_threadsafe(running.stop)
        thread.join(30)
        service.close()
