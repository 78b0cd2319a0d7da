"""A thread pool for blocking work, with a queue of bounded length."""

from __future__ import annotations

import asyncio
import queue
import threading
import time
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

# The call is in a list, so that a cancelled job can drop it while the job is still queued.
Job = tuple[asyncio.AbstractEventLoop, "asyncio.Future[Any]", list[Callable[[], Any]]]

# `close` waits this long for running jobs.
CLOSE_SECONDS = 5.0


class BusyError(Exception):
    """A queue or a memory budget is full; retry after `retry_after` seconds."""

    def __init__(self, retry_after: int = 1) -> None:
        super().__init__(f"the queue is full; retry in {retry_after} s")
        self.retry_after = retry_after


class WorkerPool:
    """Runs functions in its own threads and refuses work when the queue is full.

    A running job is finished even if its caller was cancelled: a thread cannot be stopped. A queued
    job whose caller was cancelled is skipped.

    This is not `ThreadPoolExecutor`, whose queue has no limit, which keeps the arguments of a
    cancelled call until a thread reaches it, and which wakes the event loop for every result.
    """

    def __init__(self, workers: int, queue_size: int) -> None:
        self.capacity = workers + queue_size
        # Queued and running jobs. Changed in the thread of the event loop only.
        self.pending = 0
        self._jobs: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self._done: deque[tuple[asyncio.Future[Any], Any, BaseException | None]] = deque()
        self._is_delivery_scheduled = False
        self._threads = [
            threading.Thread(target=self._work, name=f"neardup-{number}", daemon=True)
            for number in range(workers)
        ]
        for thread in self._threads:
            thread.start()

    @property
    def is_full(self) -> bool:
        return self.pending >= self.capacity

    async def run(self, function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Return the result of the function, called in a thread; raise `BusyError` if full."""
        if self.is_full:
            raise BusyError
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()
        self.pending += 1
        call: list[Callable[[], T]] = [partial(function, *args, **kwargs)]
        self._jobs.put((loop, future, call))
        try:
            return await future
        finally:
            # A cancelled job stays in the queue; its arguments may be large.
            call.clear()

    def close(self) -> None:
        """Run the queued jobs and end the threads, waiting at most `CLOSE_SECONDS`."""
        for _ in self._threads:
            self._jobs.put(None)
        end = time.monotonic() + CLOSE_SECONDS
        for thread in self._threads:
            thread.join(max(0.0, end - time.monotonic()))

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            loop, future, call = job
            value, error = None, None
            if not future.cancelled():
                try:
                    value = call.pop()()
                except BaseException as raised:
                    error = raised
            self._done.append((future, value, error))
            # Waking the loop costs more than many a job: one wake-up delivers all finished jobs.
            if not self._is_delivery_scheduled:
                self._is_delivery_scheduled = True
                try:
                    loop.call_soon_threadsafe(self._deliver)
                except RuntimeError:
                    # The loop is closed: there are no callers left.
                    self._deliver()
            # An idle thread must not keep a text alive.
            del job, loop, future, call, value, error

    def _deliver(self) -> None:
        """Set the results of finished jobs; runs in the event loop."""
        self._is_delivery_scheduled = False
        while self._done:
            future, value, error = self._done.popleft()
            self.pending -= 1
            if future.cancelled():
                continue
            if error is None:
                future.set_result(value)
            elif isinstance(error, StopIteration):
                # A future cannot hold a StopIteration.
                future.set_exception(RuntimeError("the function raised StopIteration"))
            else:
                future.set_exception(error)
