"""How the time of a call grows with its input: a ratio holds on a slow or busy machine too."""

import time
from collections.abc import Callable
from typing import TypeVar

Input = TypeVar("Input")
# Shorter times are noise.
SHORTEST = 0.001


def seconds(run: Callable[[Input], object], given: Input) -> float:
    """Return the processor time of the fastest of three calls."""
    times = []
    for _ in range(3):
        started = time.process_time()
        run(given)
        times.append(time.process_time() - started)
    return max(min(times), SHORTEST)


def assert_linear(run: Callable[[Input], object], make: Callable[[int], Input], size: int) -> None:
    """Raise if 16 times the size takes more than 80 times as long.

    In quadratic time it takes 256 times as long; in linear time up to 60, since memory that is not
    in a cache is slower.
    """
    small, large = make(size), make(16 * size)
    ratio = seconds(run, large) / seconds(run, small)
    assert ratio < 80, ratio
