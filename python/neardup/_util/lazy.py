"""A value computed when first asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class lazy(Generic[T]):
    """Like `functools.cached_property`, but without a lock.

    Before Python 3.12 that one holds a lock while it computes. A process forked at that moment
    would wait for it for ever. Here two threads may compute the value twice, and one is kept.
    """

    def __init__(self, compute: Callable[[Any], T]) -> None:
        self.compute = compute
        self.__doc__ = compute.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, instance: Any, owner: type | None = None) -> T:
        # Found in the instance's own dict from the second time on, before this is called.
        value = instance.__dict__[self.name] = self.compute(instance)
        return value
