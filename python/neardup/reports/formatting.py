"""Text and numbers as pages show them: invisible characters as codes, digits grouped.

Templates escape the text; this module imports nothing heavy, so that the command line can use it.
"""

from __future__ import annotations

import re
import unicodedata
from typing import NamedTuple

# Joiners shape letters and emoji: as codes they would make Persian or Hindi unreadable.
_JOINERS = "\u200c\u200d"
_SURROGATE = re.compile("[\ud800-\udfff]")


class Piece(NamedTuple):
    """Characters as they are, or escape codes of characters that are invisible or reorder text."""

    text: str
    is_code: bool


def line_pieces(text: str) -> list[Piece]:
    """Return text for one line: line ends and tabs are codes too."""
    return _pieces(text, _JOINERS)


def block_pieces(text: str) -> list[Piece]:
    """Return text for an element that keeps line ends and tabs."""
    return _pieces(text.replace("\r\n", "\n"), _JOINERS + "\n\t")


def line_text(text: str) -> str:
    """Return text for an attribute or the title of a page, where no element is allowed."""
    return "".join(piece.text for piece in line_pieces(text))


def _pieces(text: str, kept: str) -> list[Piece]:
    # Lone surrogates cannot be encoded as UTF-8.
    whole = _SURROGATE.sub("\ufffd", text)
    if whole.isprintable():
        return [Piece(whole, False)] if whole else []
    hidden = {
        char
        for char in set(whole)
        if not (char.isprintable() or char in kept or unicodedata.category(char) == "Zs")
    }
    if not hidden:
        return [Piece(whole, False)]
    parts = re.split(f"([{re.escape(''.join(sorted(hidden)))}]+)", whole)
    # Every second part is a match of the pattern.
    return [
        Piece(part.encode("unicode_escape").decode("ascii") if at % 2 else part, bool(at % 2))
        for at, part in enumerate(parts)
        if part
    ]


def number(value: int) -> str:
    return f"{int(value):,}"


def short_number(value: int) -> str:
    """Return about two digits and a letter, for a chart."""
    for size, unit in ((10**9, "G"), (10**6, "M"), (10**3, "k")):
        # 999,950 rounds to a million.
        if value >= size * 0.9995:
            scaled = value / size
            digits = f"{scaled:.0f}" if scaled >= 9.95 else f"{scaled:.1f}".removesuffix(".0")
            return digits + unit
    return str(value)


def cosine(value: float) -> str:
    """Return a similarity with three digits; only equal texts have 1.000."""
    return f"{value if value > 1 - 1e-6 else min(value, 0.999):.3f}"


def percent(value: float, sign: str = " %") -> str:
    """Return a share as a percentage with three digits; only the whole is 100 %."""
    return f"{100 * value if value >= 1 else min(100 * value, 99.9):.3g}{sign}"
