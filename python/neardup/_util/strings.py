"""Whether a str is Unicode text: Python's can hold halves of characters, which UTF-8 cannot."""

from __future__ import annotations

import json
import unicodedata
from typing import Any

from neardup import _core


def check_unicode(text: str, name: str) -> str:
    """The text itself, or an error that says which text it is and where it breaks."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ValueError(
            f"{name} has a lone surrogate at position {error.start}, so it is not Unicode text; "
            'clean it first, for example with text.encode("utf-8", "replace").decode()'
        ) from None
    return text


# How wide texts are on a terminal.


def cell_width(text: str) -> int:
    """How many terminal cells a text takes: two a wide character, none a combining mark.

    >>> cells("soup"), cells("汤")
    (4, 2)
    """
    return sum(
        0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1
        for char in text
    )


def cut_to_width(text: str, most: int) -> str:
    """The text, or as much of its beginning as fits into so many cells, with "…" behind it.

    >>> cut("soup", 4), cut("小区试行", 6)
    ('soup', '小区…')
    """
    if cell_width(text) <= most:
        return text
    used = 0
    for end, char in enumerate(text):
        used += cell_width(char)
        if used > most - 1:
            return f"{text[:end]}…"
    return text


def pad_to_width(text: str, width: int) -> str:
    """The text with blanks behind it up to so many cells; a wider one stays as it is."""
    return text + " " * (width - cell_width(text))


# Sixteen hex digits that stand for a word list or a table inside a recipe's identity.


def json_digest(value: Any) -> str:
    """XXH3-64 of the value as JSON: the same on every machine."""
    return f"{_core.stable_hash(json.dumps(value).encode()):016x}"
