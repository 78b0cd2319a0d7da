"""A value computed when first asked for."""

from __future__ import annotations

import os
import threading
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


# A lock that a fork waits for.
#
# A forked child has one thread but inherits every lock. Code that imports a module, or builds
# something that takes locks, holds this one: otherwise work another thread had begun would never be
# finished in the child.

FORK_LOCK = threading.RLock()
# Here, and not where it is needed: hooks that are registered while a fork is under way are called
# after it and were not called before it.
os.register_at_fork(
    before=FORK_LOCK.acquire,
    after_in_parent=FORK_LOCK.release,
    after_in_child=FORK_LOCK.release,
)
