"""How slow a client may be."""

from __future__ import annotations

import asyncio

import pytest

from neardup.service.limits import Pace


def test_silence_ends() -> None:
    async def main() -> None:
        await Pace(0.05, 100).wait(asyncio.sleep(10))

    with pytest.raises(TimeoutError):
        asyncio.run(main())


def test_a_trickle_ends_and_a_stream_does_not() -> None:
    async def moved(size: int) -> int:
        pace = Pace(0.2, 1000)
        for times in range(40):
            try:
                await pace.wait(asyncio.sleep(0.02))
            except TimeoutError:
                return times
            pace.moved(size)
        return 40

    # One byte gives a thousandth of a second back; a thousand bytes give more than can be saved.
    assert asyncio.run(moved(1)) < 15
    assert asyncio.run(moved(1000)) == 40


def test_what_was_fast_saves_no_time_for_later() -> None:
    pace = Pace(1.0, 10)
    pace.moved(10**9)
    assert pace.left == 1.0
