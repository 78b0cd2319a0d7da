"""Checks of numbers that callers pass (NumPy's are accepted, bool is not), and percentages."""

from __future__ import annotations

import math
from numbers import Real
from typing import SupportsIndex, TypeGuard

MAX_THREADS = 1024


def is_int(value: object) -> TypeGuard[SupportsIndex]:
    """Return whether a value is an int or a NumPy integer.

    An array of one integer is not, although it has `__index__`.
    """
    return (
        hasattr(value, "__index__")
        and not isinstance(value, bool)
        and not hasattr(value, "__len__")
    )


def is_real(value: object) -> TypeGuard[float]:
    """Return whether a value is an int, a float or a NumPy number."""
    return isinstance(value, Real) and not isinstance(value, bool)


def as_float(value: float) -> float:
    """Return the number as a float, infinite if it is too large for one."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def check_int(name: str, value: object, minimum: int, maximum: int) -> int:
    """Return the value as an int, or raise if it is not an integer within the limits."""
    limits = f"it must be a whole number from {minimum} to {maximum}"
    if not is_int(value):
        raise TypeError(f"{name} is {value!r}; {limits}")
    number = int(value.__index__())
    if not minimum <= number <= maximum:
        raise ValueError(f"{name} is {number}; {limits}")
    return number


def check_fraction(name: str, value: object) -> float:
    """Return the value as a float, or raise if it is not a number above 0 and at most 1."""
    limits = "it must be a number above 0 and at most 1"
    if not is_real(value):
        raise TypeError(f"{name} is {value!r}; {limits}")
    if not 0 < as_float(value) <= 1:
        raise ValueError(f"{name} is {value}; {limits}")
    return float(value)


def check_threads(threads: object) -> None:
    """Raise unless `threads` is None or an integer from 1 to MAX_THREADS."""
    limits = f"it must be a whole number from 1 to {MAX_THREADS}, or None for all cores"
    if threads is None:
        return
    if not is_int(threads):
        raise TypeError(f"threads is {threads!r}; {limits}")
    if not 1 <= threads.__index__() <= MAX_THREADS:
        raise ValueError(f"threads is {threads}; {limits}")


def percentage(value: float, sign: str = " %") -> str:
    """Return a share as a percentage with one decimal, as the script of a page does; only nothing
    is 0 % and only the whole is 100 %."""
    if value >= 1:
        return f"100{sign}"
    if value <= 0:
        return f"0{sign}"
    return f"< 0.1{sign}" if value < 0.001 else f"{min(100 * value, 99.9):.1f}{sign}"
