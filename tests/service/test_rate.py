"""How often one client may ask."""

from __future__ import annotations

import pytest

from neardup.service import limits
from neardup.service.limits import Rate


def test_a_bucket_empties_and_fills() -> None:
    now = 0.0
    limit = Rate(2.0, 3, lambda: now)
    assert [limit.wait("a") for _ in range(4)] == [0, 0, 0, 1]
    assert limit.wait("b") == 0
    now = 0.5
    assert [limit.wait("a"), limit.wait("a")] == [0, 1]
    now = 100.0
    assert [limit.wait("a") for _ in range(4)] == [0, 0, 0, 1]


def test_a_slow_rate_says_how_long_to_wait() -> None:
    limit = Rate(0.1, 1, lambda: 0.0)
    assert limit.wait("a") == 0
    assert limit.wait("a") == 10


def test_the_client_not_seen_for_longest_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MOST_CLIENTS", 2)
    limit = Rate(1.0, 1, lambda: 0.0)
    assert [limit.wait(client) for client in "abac"] == [0, 0, 1, 0]
    # b is forgotten, and its bucket full again; a and c are not.
    assert [limit.left(client) for client in "abc"] == [1, 0, 1]


def test_what_is_left_can_be_asked_without_taking_it() -> None:
    now = 0.0
    limit = Rate(2.0, 2, lambda: now)
    assert [limit.left("a") for _ in range(5)] == [0] * 5
    assert (limit.wait("a"), limit.left("a"), limit.wait("a"), limit.left("a")) == (0, 0, 0, 1)
    assert limit.left("b") == 0
    now = 0.5
    assert (limit.left("a"), limit.wait("a"), limit.left("a")) == (0, 0, 1)
