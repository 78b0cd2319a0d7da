"""The pool for blocking work."""

from __future__ import annotations

import asyncio
import threading
import time
import weakref
from collections.abc import Coroutine
from typing import Any

import pytest

from helpers.browser_session import eventually
from neardup.service.worker_pool import BusyError, WorkerPool


def run(main: Coroutine[Any, Any, None]) -> None:
    """A pool that forgets an answer fails the test, instead of making it wait for ever."""
    asyncio.run(asyncio.wait_for(main, 5))


def closed(pool: WorkerPool) -> None:
    pool.close()
    assert not any(thread.is_alive() for thread in pool._threads)


def test_what_a_function_returns_or_raises_comes_back() -> None:
    pool = WorkerPool(2, 10)

    def pair(a: int, *, b: int) -> tuple[int, int]:
        return a, b

    def fail() -> None:
        raise KeyError("a")

    def end() -> None:
        raise StopIteration

    async def main() -> None:
        assert await pool.run(pair, 1, b=2) == (1, 2)
        with pytest.raises(KeyError):
            await pool.run(fail)
        with pytest.raises(RuntimeError):
            await pool.run(end)
        assert await pool.run(threading.get_ident) != threading.get_ident()
        assert pool.pending == 0

    run(main())
    closed(pool)


def test_no_more_are_inside_than_allowed() -> None:
    pool, gate = WorkerPool(2, 3), threading.Event()

    async def main() -> None:
        tasks = [asyncio.ensure_future(pool.run(gate.wait, 5)) for _ in range(5)]
        await asyncio.sleep(0)
        for _ in range(3):
            with pytest.raises(BusyError):
                await pool.run(gate.wait, 5)
        assert pool.pending == 5
        gate.set()
        assert await asyncio.gather(*tasks) == [True] * 5
        assert await pool.run(lambda: 1) == 1

    run(main())
    closed(pool)


def test_abandoned_tasks_are_not_started() -> None:
    pool, gate = WorkerPool(1, 3), threading.Event()
    begun: list[int] = []

    async def main() -> None:
        first = asyncio.ensure_future(pool.run(gate.wait, 5))
        second = asyncio.ensure_future(pool.run(begun.append, 1))
        await asyncio.sleep(0)
        second.cancel()
        await asyncio.sleep(0)
        gate.set()
        await first
        await pool.run(begun.append, 2)
        assert pool.pending == 0

    run(main())
    assert begun == [2]
    closed(pool)


def test_abandoned_tasks_keep_no_texts() -> None:
    pool, gate = WorkerPool(1, 3), threading.Event()

    class Text(str):
        pass

    async def main() -> None:
        first = asyncio.ensure_future(pool.run(gate.wait, 5))
        text = Text("a long text")
        second = asyncio.ensure_future(pool.run(len, text))
        seen = weakref.ref(text)
        del text
        await asyncio.sleep(0)
        second.cancel()
        await asyncio.wait([second])
        del second
        assert seen() is None
        assert pool.pending == 2
        gate.set()
        await first

    run(main())
    closed(pool)


def test_an_idle_thread_keeps_no_texts() -> None:
    pool = WorkerPool(1, 3)

    class Text(str):
        pass

    async def main() -> None:
        text = Text("a long text")
        seen = weakref.ref(text)
        await pool.run(lambda given: given, text)
        del text
        # The thread lets go of the answer a moment after the loop has it.
        while seen() is not None:
            await asyncio.sleep(0.01)

    run(main())
    closed(pool)


def test_a_late_answer_does_not_affect_other_tasks() -> None:
    pool, gate = WorkerPool(1, 3), threading.Event()
    begun = threading.Event()
    troubles: list[Any] = []

    def wait() -> bool:
        begun.set()
        return gate.wait(5)

    async def main() -> None:
        asyncio.get_running_loop().set_exception_handler(lambda _, told: troubles.append(told))
        first = asyncio.ensure_future(pool.run(wait))
        await asyncio.to_thread(begun.wait, 5)
        first.cancel()
        await asyncio.wait([first])
        gate.set()
        assert await pool.run(lambda: 1) == 1
        assert pool.pending == 0

    run(main())
    assert troubles == []
    closed(pool)


def test_a_pool_outlives_a_loop() -> None:
    """What was begun in a loop that is closed meanwhile does not keep answers from the next."""
    pool, gate, begun = WorkerPool(1, 3), threading.Event(), threading.Event()

    def wait() -> bool:
        begun.set()
        return gate.wait(5)

    async def first() -> None:
        task = asyncio.ensure_future(pool.run(wait))
        await asyncio.to_thread(begun.wait, 5)
        assert not task.done()

    async def second() -> None:
        assert await pool.run(lambda: 1) == 1
        assert pool.pending == 0

    run(first())
    gate.set()
    eventually(lambda: pool.pending == 0, 5)
    run(second())
    closed(pool)


def test_closing_waits_for_what_is_inside() -> None:
    pool, begun = WorkerPool(2, 10), threading.Event()
    done: list[int] = []

    def slow() -> None:
        begun.set()
        time.sleep(0.3)
        done.append(1)

    async def main() -> None:
        task = asyncio.ensure_future(pool.run(slow))
        await asyncio.to_thread(begun.wait, 5)
        assert not task.done()

    run(main())
    closed(pool)
    assert done == [1]
