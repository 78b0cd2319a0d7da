"""A cached property without a lock, and a lock that is safe across forks."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class lazy(Generic[T]):
    """Like `functools.cached_property`, but without a lock.

    Before Python 3.12 `cached_property` holds a lock while it computes, and a process forked at
    that moment waits for the lock for ever. Here two threads may both compute the value; one wins.
    """

    def __init__(self, compute: Callable[[Any], T]) -> None:
        self.compute = compute
        self.__doc__ = compute.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, instance: Any, owner: type | None = None) -> T:
        # From the second access on, Python finds the value in the instance's dict and skips this.
        value = instance.__dict__[self.name] = self.compute(instance)
        return value


# Forks wait for this lock. A forked child has one thread but inherits every lock, so code that
# imports a module or builds an object that takes locks holds this one: otherwise the child may
# inherit a lock that no thread will ever release.
FORK_LOCK = threading.RLock()
# Registered on import, not on first use: a hook registered during a fork runs after it, but has not
# run before it.
os.register_at_fork(
    before=FORK_LOCK.acquire,
    after_in_parent=FORK_LOCK.release,
    after_in_child=FORK_LOCK.release,
)
