"""Services and a browser for the tests of the service."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from helpers.browser_session import browser
from neardup.collection import Collection
from neardup.service.background import serving
from neardup.service.state import demo_collection

if TYPE_CHECKING:
    from playwright.sync_api import Browser


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """A browser; one for all tests of a file."""
    with browser() as found:
        yield found


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The base URL of a service with the demo collection; one for all tests of a file."""
    folder = tmp_path_factory.mktemp("served")
    with demo_collection(folder) as collection, serving(collection, demo=True) as url:
        yield url


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Callable[..., str]]:
    """A function that starts a service with these settings and returns its base URL."""
    with ExitStack() as stack:

        def start(collection: Collection | None = None, **settings: Any) -> str:
            if collection is None:
                folder = tmp_path / f"served-{time.monotonic_ns()}"
                folder.mkdir()
                collection = stack.enter_context(demo_collection(folder))
            return stack.enter_context(serving(collection, **settings))

        yield start
