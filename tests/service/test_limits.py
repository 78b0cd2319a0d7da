"""Limits: request rate, memory of bodies, slow uploads."""

from __future__ import annotations

import asyncio

import pytest

from neardup.service import limits
from neardup.service.limits import ByteBudget, ByteReservation, RateLimiter, SlowClientTimeout
from neardup.service.worker_pool import BusyError


def test_a_bucket_empties_and_fills() -> None:
    now = 0.0
    limit = RateLimiter(2.0, 3, lambda: now)
    assert [limit.acquire("a") for _ in range(4)] == [0, 0, 0, 1]
    assert limit.acquire("b") == 0
    now = 0.5
    assert [limit.acquire("a"), limit.acquire("a")] == [0, 1]
    now = 100.0
    assert [limit.acquire("a") for _ in range(4)] == [0, 0, 0, 1]


def test_a_slow_rate_says_how_long_to_wait() -> None:
    limit = RateLimiter(0.1, 1, lambda: 0.0)
    assert limit.acquire("a") == 0
    assert limit.acquire("a") == 10


def test_the_client_not_seen_for_longest_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MAX_CLIENTS", 2)
    limit = RateLimiter(1.0, 1, lambda: 0.0)
    assert [limit.acquire(client) for client in "abac"] == [0, 0, 1, 0]
    # b is forgotten, and its bucket full again; a and c are not.
    assert [limit.retry_after(client) for client in "abc"] == [1, 0, 1]


def test_what_is_left_can_be_asked_without_taking_it() -> None:
    now = 0.0
    limit = RateLimiter(2.0, 2, lambda: now)
    assert [limit.retry_after("a") for _ in range(5)] == [0] * 5
    assert (
        limit.acquire("a"),
        limit.retry_after("a"),
        limit.acquire("a"),
        limit.retry_after("a"),
    ) == (0, 0, 0, 1)
    assert limit.retry_after("b") == 0
    now = 0.5
    assert (limit.retry_after("a"), limit.acquire("a"), limit.retry_after("a")) == (0, 0, 1)


def test_shares_are_limited_in_sum_and_given_back() -> None:
    budget = ByteBudget(100)
    one, two = ByteReservation(budget), ByteReservation(budget)
    one.reserve(60)
    two.reserve(40)
    with pytest.raises(BusyError):
        two.reserve(1)
    assert budget.used == 100
    one.shrink(10)
    two.reserve(50)
    one.shrink(0)
    two.shrink(0)
    assert (budget.used, one.size, two.size) == (0, 0, 0)


def test_a_single_client_is_never_rejected() -> None:
    budget = ByteBudget(100)
    one, two = ByteReservation(budget), ByteReservation(budget)
    for _ in range(3):
        one.reserve(90)
    with pytest.raises(BusyError):
        two.reserve(1)


def test_silence_ends() -> None:
    async def main() -> None:
        await SlowClientTimeout(0.05, 100).wait(asyncio.sleep(10))

    with pytest.raises(TimeoutError):
        asyncio.run(main())


def test_a_trickle_ends_and_a_stream_does_not() -> None:
    async def moved(size: int) -> int:
        timeout = SlowClientTimeout(0.2, 1000)
        for times in range(40):
            try:
                await timeout.wait(asyncio.sleep(0.02))
            except TimeoutError:
                return times
            timeout.received(size)
        return 40

    # One byte gives a thousandth of a second back; a thousand bytes give more than can be saved.
    assert asyncio.run(moved(1)) < 15
    assert asyncio.run(moved(1000)) == 40


def test_fast_requests_earn_no_credit() -> None:
    timeout = SlowClientTimeout(1.0, 10)
    timeout.received(10**9)
    assert timeout.remaining == 1.0
