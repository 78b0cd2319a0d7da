"""Items made on another thread before they are asked for."""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TypeVar

T = TypeVar("T")
# Items made before they are asked for.
AHEAD = 2
# Seconds to wait for a maker that is no longer needed.
PATIENCE = 1.0


@contextmanager
def ahead(items: Iterator[T]) -> Iterator[Iterator[T]]:
    """The same items, made on another thread before they are asked for."""
    made: queue.Queue[tuple[T | None, BaseException | None]] = queue.Queue(AHEAD)
    stopped = threading.Event()

    def put(item: T | None, error: BaseException | None) -> None:
        while not stopped.is_set():
            with suppress(queue.Full):
                made.put((item, error), timeout=0.1)
                return

    def make() -> None:
        try:
            for item in items:
                put(item, None)
                if stopped.is_set():
                    return
            put(None, None)
        except BaseException as error:
            put(None, error)

    def take() -> Iterator[T]:
        while True:
            item, error = made.get()
            if error is not None:
                raise error
            if item is None:
                return
            yield item

    thread = threading.Thread(target=make, name="neardup-reader", daemon=True)
    thread.start()
    try:
        yield take()
    finally:
        stopped.set()
        # Not for ever: it may wait for a pipe that gives nothing, and Ctrl-C is to stop at once.
        thread.join(PATIENCE)
