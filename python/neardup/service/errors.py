"""What a question can fail by, beside what the library itself raises."""

from __future__ import annotations


class UnknownDocument(LookupError):
    """There is no document of this id."""

    def __init__(self, id_: str) -> None:
        super().__init__(id_)
        self.id = id_


class TooMany(ValueError):
    """More than can be answered at once."""
