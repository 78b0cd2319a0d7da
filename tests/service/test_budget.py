"""How much all requests hold together."""

from __future__ import annotations

import pytest

from neardup.service.limits import ByteBudget, Share
from neardup.service.worker_pool import Busy


def test_shares_are_limited_in_sum_and_given_back() -> None:
    budget = ByteBudget(100)
    one, two = Share(budget), Share(budget)
    one.take(60)
    two.take(40)
    with pytest.raises(Busy):
        two.take(1)
    assert budget.used == 100
    one.keep(10)
    two.take(50)
    one.keep(0)
    two.keep(0)
    assert (budget.used, one.size, two.size) == (0, 0, 0)


def test_whoever_is_alone_is_never_refused() -> None:
    budget = ByteBudget(100)
    one, two = Share(budget), Share(budget)
    for _ in range(3):
        one.take(90)
    with pytest.raises(Busy):
        two.take(1)
