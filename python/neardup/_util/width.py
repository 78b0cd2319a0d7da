"""How wide texts are on a terminal."""

from __future__ import annotations

import unicodedata


def cells(text: str) -> int:
    """How many terminal cells a text takes: two a wide character, none a combining mark.

    >>> cells("soup"), cells("汤")
    (4, 2)
    """
    return sum(
        0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1
        for char in text
    )


def cut(text: str, most: int) -> str:
    """The text, or as much of its beginning as fits into so many cells, with "…" behind it.

    >>> cut("soup", 4), cut("小区试行", 6)
    ('soup', '小区…')
    """
    if cells(text) <= most:
        return text
    used = 0
    for end, char in enumerate(text):
        used += cells(char)
        if used > most - 1:
            return f"{text[:end]}…"
    return text


def padded(text: str, width: int) -> str:
    """The text with blanks behind it up to so many cells; a wider one stays as it is."""
    return text + " " * (width - cells(text))
