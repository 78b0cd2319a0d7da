"""Bytes of a page → its markup, by the encoding that it declares itself."""

from __future__ import annotations

import codecs
import re

from neardup.files.reading import encodings

# Where a declaration has to be, and some more: editors put comments before it.
HEAD = 4096
DECLARED = re.compile(
    rb"""<(?:meta\b[^>]*?\bcharset|\?xml\b[^>]*?\bencoding)\s*=\s*["']?\s*([a-zA-Z0-9_:.\-]+)""",
    re.IGNORECASE,
)
# What is meant by names that are too small for what pages hold, as browsers read them.
MEANT = {"gb2312": "gb18030", "gbk": "gb18030", "iso8859-1": "cp1252", "ascii": "cp1252"}
MEANT |= {"iso8859-9": "cp1254", "shift_jis": "cp932", "euc_kr": "cp949", "big5": "big5hkscs"}
# They are written with the bytes of ASCII, so that they look like UTF-8.
SEVEN_BITS = {"iso2022_jp", "iso2022_kr", "hz"}


def declared(data: bytes) -> str | None:
    """The encoding that a page says it has, by a name Python knows."""
    if (found := DECLARED.search(data[:HEAD])) is None:
        return None
    try:
        name = encodings.canonical(found[1].decode())
    except ValueError:
        return None
    # A declaration that could be read as bytes is not in UTF-16, whatever it says.
    if name == encodings.AUTO or name.startswith(("utf-16", "utf-32")):
        return None
    return MEANT.get(codecs.lookup(name).name, name)


def encoding_of(data: bytes) -> str:
    """UTF-8 where the bytes are; else what the page declares; else UTF-8, which will fail.

    Many pages are converted to UTF-8 by whoever saves them, and still declare what they were.
    """
    name = declared(data)
    if (name in SEVEN_BITS and b"\x1b" in data) or (name == "hz" and b"~{" in data):
        return str(name)
    if name is None or name == encodings.UTF8:
        return encodings.UTF8
    try:
        data.decode()
    except UnicodeDecodeError:
        return name
    return encodings.UTF8


def decoded(data: bytes) -> str:
    """The markup; bytes that are nothing in the encoding become U+FFFD."""
    if (mark := encodings.marked(data)) is not None:
        return data[mark[1] :].decode(mark[0], "replace")
    return data.decode(encoding_of(data), "replace")
