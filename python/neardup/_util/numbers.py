"""Numbers from callers, checked: whole numbers and shares, NumPy's included, bool excluded."""

from __future__ import annotations

import math
from numbers import Real
from typing import SupportsIndex, TypeGuard

MAX_THREADS = 1024


def is_int(value: object) -> TypeGuard[SupportsIndex]:
    """Whether a value is one whole number: an int, or one of NumPy's. True is not, nor is an array,
    though an array of one number can be used as an index."""
    return (
        hasattr(value, "__index__")
        and not isinstance(value, bool)
        and not hasattr(value, "__len__")
    )


def is_real(value: object) -> TypeGuard[float]:
    """Whether a value is one number: an int, a float, or one of NumPy's. True is not."""
    return isinstance(value, Real) and not isinstance(value, bool)


def as_float(value: float) -> float:
    """The number as a float; what no float can hold is infinite."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def check_int(name: str, value: object, least: int, most: int) -> int:
    """The value as an int, refused outside of its limits."""
    limits = f"it must be a whole number from {least} to {most}"
    if not is_int(value):
        raise TypeError(f"{name} is {value!r}; {limits}")
    number = int(value.__index__())
    if not least <= number <= most:
        raise ValueError(f"{name} is {number}; {limits}")
    return number


def check_fraction(name: str, value: object) -> float:
    """The value as a number above 0 and at most 1, refused if it is none."""
    limits = "it must be a number above 0 and at most 1"
    if not is_real(value):
        raise TypeError(f"{name} is {value!r}; {limits}")
    if not 0 < as_float(value) <= 1:
        raise ValueError(f"{name} is {value}; {limits}")
    return float(value)


def check_threads(threads: object) -> None:
    """Refuses a number of threads no run can have."""
    limits = f"it must be a whole number from 1 to {MAX_THREADS}, or None for all cores"
    if threads is None:
        return
    if not is_int(threads):
        raise TypeError(f"threads is {threads!r}; {limits}")
    if not 1 <= threads.__index__() <= MAX_THREADS:
        raise ValueError(f"threads is {threads}; {limits}")
