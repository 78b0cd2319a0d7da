"""A service on a port of this machine, as a browser or a client meets it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
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
    import uvicorn

    from neardup.service.app import make_app

    service = Service(collection, Settings(port=0, **settings), demo=demo)
    config = uvicorn.Config(make_app(service), port=0, log_config=None, lifespan="off")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    try:
        while not server.started:
            assert thread.is_alive(), "the server did not start"
            time.sleep(0.005)
        port = server.servers[0].sockets[0].getsockname()[1]
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
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
