"""What stands beside a bar."""

from __future__ import annotations

import pytest
from rich.progress import Progress as Bar

from neardup.cli.console import _counts


@pytest.mark.parametrize(
    ("total", "done", "expected"),
    [(103_120, 0, "0 of 103,120 pairs"), (103_120, 8192, "8,192 of 103,120 pairs"), (None, 0, "")],
)
def test_counts_have_an_end_where_it_is_known(total: int | None, done: int, expected: str) -> None:
    bar = Bar()
    bar.add_task("comparing", total=total, completed=done)
    (column,) = _counts("pairs")
    assert str(column(bar.tasks[0])) == expected


def test_without_an_end_the_rate_is_reported() -> None:
    bar = Bar()
    bar.add_task("comparing", total=None, completed=5000)
    (column,) = _counts("pairs")
    assert str(column(bar.tasks[0])).startswith("5,000 pairs, ")
