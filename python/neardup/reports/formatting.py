"""Foreign text made harmless and visible, and numbers made readable. HTML is made by templates."""

from __future__ import annotations

import re
import unicodedata
from typing import NamedTuple

# Joiners shape letters and emoji; shown as codes they would make Persian or Hindi unreadable.
_JOINERS = "\u200c\u200d"
_SURROGATE = re.compile("[\ud800-\udfff]")


class Piece(NamedTuple):
    """Characters as they are, or the codes of some that would be invisible or turn the order."""

    text: str
    is_code: bool


def line(text: str) -> list[Piece]:
    """Text for one line: line ends and tabs too are shown as codes."""
    return _pieces(text, _JOINERS)


def block(text: str) -> list[Piece]:
    """Text for an element that keeps line ends and tabs."""
    return _pieces(text.replace("\r\n", "\n"), _JOINERS + "\n\t")


def plain(text: str) -> str:
    """Text for an attribute or the page's title, where no element can stand."""
    return "".join(piece.text for piece in line(text))


def _pieces(text: str, kept: str) -> list[Piece]:
    # Halves of characters cannot be written as UTF-8.
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
    found = re.split(f"([{re.escape(''.join(sorted(hidden)))}]+)", whole)
    # Every second part is what the pattern has matched.
    return [
        Piece(part.encode("unicode_escape").decode("ascii") if at % 2 else part, bool(at % 2))
        for at, part in enumerate(found)
        if part
    ]


def number(value: int) -> str:
    return f"{int(value):,}"


def short_number(value: int) -> str:
    """About two digits and a letter, for a chart."""
    for size, unit in ((10**9, "G"), (10**6, "M"), (10**3, "k")):
        # 999,950 is a million already once it is rounded.
        if value >= size * 0.9995:
            scaled = value / size
            digits = f"{scaled:.0f}" if scaled >= 9.95 else f"{scaled:.1f}".removesuffix(".0")
            return digits + unit
    return str(value)


def cosine(value: float) -> str:
    """Three digits; 1.000 is said of equals only."""
    return f"{value if value > 1 - 1e-6 else min(value, 0.999):.3f}"


def percent(share: float) -> str:
    """A share as people say it; 100 % is said of all only."""
    return f"{100 * share if share >= 1 else min(100 * share, 99.9):.3g} %"


def share(value: float) -> str:
    """A share with one digit, as the script of a page writes it too."""
    if value >= 1:
        return "100 %"
    if value <= 0:
        return "0 %"
    # 0 % and 100 % are said of nothing and of all only.
    return "< 0.1 %" if value < 0.001 else f"{min(100 * value, 99.9):.1f} %"
