"""Unicode checks, widths on a terminal, and a stable digest of a value."""

from __future__ import annotations

import json
import unicodedata
from typing import Any

from neardup import _core


def check_unicode(text: str, name: str) -> str:
    """Return the text, or raise ValueError if it has a lone surrogate: it cannot be UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ValueError(
            f"{name} has a lone surrogate at position {error.start}, so it is not Unicode text; "
            'clean it first, for example with text.encode("utf-8", "replace").decode()'
        ) from None
    return text


def cell_width(text: str) -> int:
    """Return the width of a text on a terminal: a wide character counts 2, a combining mark 0.

    >>> cell_width("soup"), cell_width("汤")
    (4, 2)
    """
    return sum(
        0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1
        for char in text
    )


def cut_to_width(text: str, width: int) -> str:
    """Return the text, cut to `width` cells with "…" at the end if it is wider.

    >>> cut_to_width("soup", 4), cut_to_width("小区试行", 6)
    ('soup', '小区…')
    """
    if cell_width(text) <= width:
        return text
    used = 0
    for end, char in enumerate(text):
        used += cell_width(char)
        if used > width - 1:
            return f"{text[:end]}…"
    return text


def pad_to_width(text: str, width: int) -> str:
    """Return the text padded with spaces to `width` cells; a wider text is returned unchanged."""
    return text + " " * (width - cell_width(text))


def json_digest(value: Any) -> str:
    """Return the XXH3-64 of a value as JSON in 16 hex digits, the same on every machine.

    A recipe's identity has it in place of a word list or a table.
    """
    return f"{_core.stable_hash(json.dumps(value).encode()):016x}"
