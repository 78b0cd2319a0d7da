"""A service on a port of this machine, as a browser or a client meets it."""

from __future__ import annotations

import asyncio
import queue
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from neardup.collection import Collection
from neardup.service.demo import demo_collection
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


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The base URL of a service with the demo collection; one for all tests of a file."""
    folder = tmp_path_factory.mktemp("served")
    with demo_collection(folder) as collection, serving(collection) as url:
        yield url


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Callable[..., str]]:
    """Starts a service of its own with these settings, and returns its base URL."""
    with ExitStack() as stack:

        def start(collection: Collection | None = None, **settings: Any) -> str:
            if collection is None:
                folder = tmp_path / f"served-{time.monotonic_ns()}"
                folder.mkdir()
                collection = stack.enter_context(demo_collection(folder))
            return stack.enter_context(serving(collection, **settings))

        yield start


@pytest.fixture(scope="session")
def serving_of() -> Callable[..., AbstractContextManager[str]]:
    """`serving`, for fixtures of files that serve a collection of their own."""
    return serving
