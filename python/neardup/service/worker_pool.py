"""The one door for blocking work: some threads, and a queue that does not grow."""

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

# The call is in a list of its own, so that it can be taken away.
Job = tuple[asyncio.AbstractEventLoop, "asyncio.Future[Any]", list[Callable[[], Any]]]


# How long an answer that nobody waits for any more may hold up the end.
LAST_SECONDS = 5.0


class Busy(Exception):
    """So much is waiting that nothing more is taken; `after` is when to try again, in seconds."""

    def __init__(self, after: int = 1) -> None:
        super().__init__(f"too much is waiting; try again in {after} s")
        self.after = after


class WorkerPool:
    """Runs functions in threads of its own. One that waits too long behind others is refused.

    What has begun is finished, even if nobody waits for it any more: a thread cannot be stopped.
    What has not begun when the one who asked is gone is left out.
    """

    def __init__(self, workers: int, waiting: int) -> None:
        self.most = workers + waiting
        self.inside = 0
        self._jobs: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self._done: deque[tuple[asyncio.Future[Any], Any, BaseException | None]] = deque()
        self._is_woken = False
        self._threads = [
            threading.Thread(target=self._work, name=f"neardup-{number}", daemon=True)
            for number in range(workers)
        ]
        for thread in self._threads:
            thread.start()

    @property
    def is_full(self) -> bool:
        return self.inside >= self.most

    async def run(self, function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """What the function returns or raises; raises `Busy` if the queue is full."""
        if self.is_full:
            raise Busy
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()
        # Counted in the loop's thread only.
        self.inside += 1
        call: list[Callable[[], T]] = [partial(function, *args, **kwargs)]
        self._jobs.put((loop, future, call))
        try:
            return await future
        finally:
            # What nobody waits for any more must not keep its texts while it is in the queue.
            call.clear()

    def close(self) -> None:
        """Ends the threads when they have done what is waiting; one that takes too long is left to
        the end of the process."""
        for _ in self._threads:
            self._jobs.put(None)
        end = time.monotonic() + LAST_SECONDS
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
            # Waking the loop costs more than many answers: once is enough until it has looked.
            if not self._is_woken:
                self._is_woken = True
                try:
                    loop.call_soon_threadsafe(self._deliver)
                except RuntimeError:
                    # The loop is closed: nobody waits for anything.
                    self._deliver()
            # A thread that waits must not keep a text alive.
            del job, loop, future, call, value, error

    def _deliver(self) -> None:
        """In the loop: hands over what is done. What is done after this is told anew."""
        self._is_woken = False
        while self._done:
            future, value, error = self._done.popleft()
            self.inside -= 1
            if future.cancelled():
                continue
            if error is None:
                future.set_result(value)
            elif isinstance(error, StopIteration):
                # A future cannot hold one.
                future.set_exception(RuntimeError("the function ended an iteration"))
            else:
                future.set_exception(error)
