"""Texts that are too long for an address, kept for a while under a name nobody can guess."""

from __future__ import annotations

import secrets
import threading
from collections import OrderedDict
from dataclasses import dataclass

# In memory only, and not for ever: people's texts are theirs.
MOST_BYTES = 64 << 20
MOST = 2_000


@dataclass(frozen=True)
class CachedText:
    """A text and what it is called; `note` says how it was read, if that is worth a word."""

    text: str
    name: str = ""
    note: str = ""

    @property
    def size(self) -> int:
        # What Python takes for it at most, near enough.
        return 4 * len(self.text) + len(self.name) + 200


class TextCache:
    """The last texts, by name; the one that was not asked for longest goes first."""

    def __init__(self, most_bytes: int = MOST_BYTES, most: int = MOST) -> None:
        self._texts: OrderedDict[str, tuple[CachedText, ...]] = OrderedDict()
        self._lock = threading.Lock()
        self._bytes = 0
        self._most_bytes, self._most = most_bytes, most

    def put(self, *texts: CachedText) -> str:
        """Keeps texts that belong together; returns their name. The newest always stay."""
        name = secrets.token_urlsafe(12)
        with self._lock:
            self._texts[name] = texts
            self._bytes += sum(text.size for text in texts)
            while len(self._texts) > 1 and (
                self._bytes > self._most_bytes or len(self._texts) > self._most
            ):
                _, old = self._texts.popitem(last=False)
                self._bytes -= sum(text.size for text in old)
        return name

    def get(self, name: str) -> tuple[CachedText, ...] | None:
        with self._lock:
            if name not in self._texts:
                return None
            self._texts.move_to_end(name)
            return self._texts[name]
