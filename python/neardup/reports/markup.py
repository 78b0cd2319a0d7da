"""Values as HTML: foreign text made harmless and visible, numbers made readable."""

from __future__ import annotations

import html
import math
import re
import unicodedata
from collections.abc import Sequence
from numbers import Integral, Real

# Joiners shape letters and emoji; shown as codes they would make Persian or Hindi unreadable.
_JOINERS = "\u200c\u200d"
_SURROGATE = re.compile("[\ud800-\udfff]")
_MINUTE = 60
_HOUR = 3600
_KILO = 1000


def line(text: str) -> str:
    """Text for one line of HTML: line ends and tabs too are shown as codes."""
    return _visible(text, kept=_JOINERS)


def block(text: str) -> str:
    """Text for an element that keeps line ends and tabs."""
    return _visible(text.replace("\r\n", "\n"), kept=_JOINERS + "\n\t")


def plain(text: str) -> str:
    """Text for an attribute or the page's title, where no element can stand."""
    return html.escape(_whole(text).translate(_codes(text, _JOINERS)), quote=True)


def foreign(text: str, *, tag: str = "bdi", css: str = "") -> str:
    """A short text of the user's, which cannot change the direction of what stands around it."""
    name = f' class="{css}"' if css else ""
    return f'<{tag}{name} dir="auto" lang="">{line(text)}</{tag}>'


def _visible(text: str, *, kept: str) -> str:
    codes = {char: f'<span class="code">{code}</span>' for char, code in _codes(text, kept).items()}
    # No code of an invisible character holds anything that HTML reads, so escaping goes first.
    return html.escape(_whole(text), quote=True).translate(codes)


def _whole(text: str) -> str:
    """Halves of characters cannot be written as UTF-8."""
    return _SURROGATE.sub("\ufffd", text)


def _codes(text: str, kept: str) -> dict[int, str]:
    """What is shown for each character of the text that would be invisible or turn its order."""
    if text.isprintable():
        return {}
    return {
        ord(char): char.encode("unicode_escape").decode("ascii")
        for char in set(text)
        if not (char.isprintable() or char in kept or unicodedata.category(char) == "Zs")
    }


def number(value: int) -> str:
    return f"{int(value):,}"


def counted(count: int, one: str, many: str | None = None) -> str:
    """A number with its noun."""
    return f"{number(count)} {one if count == 1 else many or one + 's'}"


def short_number(value: int) -> str:
    """About two digits and a letter, for a chart."""
    for size, unit in ((10**9, "G"), (10**6, "M"), (10**3, "k")):
        # 999,950 is a million already once it is rounded.
        if value >= size * 0.9995:
            scaled = value / size
            digits = f"{scaled:.0f}" if scaled >= 9.95 else f"{scaled:.1f}".removesuffix(".0")
            return digits + unit
    return str(value)


def byte_size(value: float) -> str:
    if value < _KILO:
        return counted(int(value), "byte")
    size = float(value)
    for unit in ("kB", "MB", "GB"):
        size /= _KILO
        if size < _KILO - 0.5:
            return f"{size:.0f} {unit}" if size >= 100 else f"{size:.1f} {unit}"
    return f"{size / _KILO:,.1f} TB"


def duration(seconds: float) -> str:
    if seconds < _MINUTE - 0.05:
        return f"{seconds:.2f} s" if seconds < 10 else f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < _HOUR:
        return f"{whole // _MINUTE} min {whole % _MINUTE:02} s"
    return f"{whole // _HOUR:,} h {whole % _HOUR // _MINUTE:02} min"


def cosine(value: float) -> str:
    """Three digits; 1.000 is said of equals only."""
    return f"{value if value > 1 - 1e-6 else min(value, 0.999):.3f}"


def amount(name: str, value: object) -> str:
    """A value of the summary, by what its name says it measures."""
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Real):
        return f'<span class="number">{_measure(name, value)}</span>'
    return foreign(str(value))


def _measure(name: str, value: Real) -> str:
    if not math.isfinite(value):
        return "–"
    if name.endswith("seconds"):
        return duration(float(value))
    if name.endswith(("memory", "bytes")):
        return byte_size(float(value))
    return number(int(value)) if isinstance(value, Integral) else f"{float(value):,.4g}"


def table(heads: Sequence[str], rows: Sequence[Sequence[str]], *, css: str = "") -> str:
    """A table of cells that are HTML already."""
    name = f' class="{css}"' if css else ""
    head = "".join(f'<th scope="col">{cell}</th>' for cell in heads)
    body = "\n".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    return (
        f'<div class="wide"><table{name}><thead><tr>{head}</tr></thead>\n'
        f"<tbody>{body}</tbody></table></div>"
    )
