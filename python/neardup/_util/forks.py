"""A lock that a fork waits for.

A forked process has one thread and the locks of all. Whoever loads a module, or makes something
that takes locks of its own, holds this one meanwhile: else what another thread was about to finish
would never be ready in the child.
"""

from __future__ import annotations

import os
import threading

UNFORKED = threading.RLock()
# Here, and not where it is needed: hooks that are registered while a fork is under way are called
# after it and were not called before it.
os.register_at_fork(
    before=UNFORKED.acquire,
    after_in_parent=UNFORKED.release,
    after_in_child=UNFORKED.release,
)
