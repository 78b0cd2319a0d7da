"""The door for blocking work."""

from __future__ import annotations

import asyncio
import threading
import weakref

import pytest

from neardup.service.door import Busy, Door


def test_what_a_function_returns_or_raises_comes_back() -> None:
    door = Door(2, 10)

    def pair(a: int, *, b: int) -> tuple[int, int]:
        return a, b

    def fail() -> None:
        raise KeyError("a")

    def end() -> None:
        raise StopIteration

    async def main() -> None:
        assert await door.run(pair, 1, b=2) == (1, 2)
        with pytest.raises(KeyError):
            await door.run(fail)
        with pytest.raises(RuntimeError):
            await door.run(end)
        assert await door.run(threading.get_ident) != threading.get_ident()
        assert door.inside == 0

    asyncio.run(main())
    door.close()


def test_no_more_are_inside_than_allowed() -> None:
    door, gate = Door(2, 3), threading.Event()

    async def main() -> None:
        tasks = [asyncio.ensure_future(door.run(gate.wait)) for _ in range(5)]
        await asyncio.sleep(0)
        for _ in range(3):
            with pytest.raises(Busy):
                await door.run(gate.wait)
        assert door.inside == 5
        gate.set()
        assert await asyncio.gather(*tasks) == [True] * 5
        assert await door.run(lambda: 1) == 1

    asyncio.run(main())
    door.close()


def test_what_has_not_begun_is_left_out_when_nobody_waits_for_it() -> None:
    door, gate = Door(1, 3), threading.Event()
    begun: list[int] = []

    async def main() -> None:
        first = asyncio.ensure_future(door.run(gate.wait))
        second = asyncio.ensure_future(door.run(begun.append, 1))
        await asyncio.sleep(0)
        second.cancel()
        await asyncio.sleep(0)
        gate.set()
        await first
        await door.run(begun.append, 2)
        assert door.inside == 0

    asyncio.run(main())
    assert begun == [2]
    door.close()


def test_what_nobody_waits_for_keeps_no_texts() -> None:
    door, gate = Door(1, 3), threading.Event()

    class Text(str):
        pass

    async def main() -> None:
        first = asyncio.ensure_future(door.run(gate.wait))
        text = Text("a long text")
        second = asyncio.ensure_future(door.run(len, text))
        seen = weakref.ref(text)
        del text
        await asyncio.sleep(0)
        second.cancel()
        await asyncio.wait([second])
        del second
        assert seen() is None
        assert door.inside == 2
        gate.set()
        await first

    asyncio.run(main())
    door.close()


def test_closing_waits_for_what_is_inside() -> None:
    door = Door(1, 10)
    done: list[int] = []

    async def main() -> None:
        for number in range(5):
            task = asyncio.ensure_future(door.run(done.append, number))
            await asyncio.sleep(0)
        await task

    asyncio.run(main())
    door.close()
    assert done == [*range(5)]
