"""Encodings of text: their names, the marks files begin with, and a guess where there is none."""

from __future__ import annotations

import codecs
import re

UTF8 = "utf-8"
AUTO = "auto"
# The longest first: UTF-32 begins like UTF-16.
MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, UTF8),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
LONGEST_MARK = 4
# Without a mark, the order of the bytes is that of nearly all machines.
UNMARKED = {"utf-16": "utf-16-le", "utf-32": "utf-32-le", "utf-8-sig": UTF8}
# They decode to other things than the text of a file, or need more than bytes.
NO_TEXT = {"idna", "punycode", "undefined", "unicode_escape", "raw_unicode_escape", "utf_7"}
# Among all encodings Python knows, a guess is too often one that nobody uses.
CANDIDATES = (
    *("gb18030", "big5", "shift_jis", "euc_jp", "euc_kr", "cp1252", "latin_1", "cp1251", "koi8_r"),
    *("utf_16_le", "utf_16_be"),
)
# What is looked at for a guess.
SAMPLE = 64 << 10
# Fewer bytes that are no ASCII may be anything: of short lines in GBK most look like Korean.
ENOUGH = 40
# How odd a text may look, by the measure of the detector, which gives up at 0.2; texts that are
# read rightly stay below 0.03.
ODDEST = 0.1
# In a text some of these are common; in one read with the bytes swapped, hardly any is.
COMMON = frozenset([*map(chr, range(1, 128)), *"。，、的一"])
LEAST_COMMON = 0.02
# Stands for bytes that are nothing in their encoding; no decoder gives it, and it is not UTF-8.
BAD = "\udcff"


def _bad(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeDecodeError):
        raise error
    return BAD, error.end


codecs.register_error("neardup-bad", _bad)


def canonical(name: str) -> str:
    """The name of an encoding as it is used everywhere here, or an error that says what may be."""
    if isinstance(name, str):
        if name.strip().lower() == AUTO:
            return AUTO
        try:
            found = codecs.lookup(name.strip())
            # Others turn bytes into bytes, such as base64.
            if found._is_text_encoding and found.name.replace("-", "_") not in NO_TEXT:
                return UNMARKED.get(found.name, found.name)
        except (LookupError, ValueError):
            pass
    raise ValueError(
        f"encoding is {name!r}, which is none that is known; use utf-8, utf-16, gb18030, big5, "
        "latin-1 or another name that Python knows, or auto to have it detected"
    )


def marked(data: bytes) -> tuple[str, int] | None:
    """The encoding that a byte order mark at the beginning tells, and the length of the mark."""
    for mark, name in MARKS:
        if data.startswith(mark):
            return name, len(mark)
    return None


def decoder(encoding: str) -> codecs.IncrementalDecoder:
    """Piece by piece to text. Where bytes are wrong there is `BAD`, and decoding goes on."""
    return codecs.getincrementaldecoder(encoding)("neardup-bad")


def encode(text: str) -> bytes:
    """As UTF-8; what was wrong stays wrong, so that its line is found."""
    return text.encode("utf-8", "surrogateescape")


def is_utf8(data: bytes) -> bool:
    """Whether it is, but for a character cut off at the end."""
    try:
        codecs.getincrementaldecoder(UTF8)().decode(data)
    except UnicodeDecodeError:
        return False
    return True


def detect(data: bytes) -> str | None:
    """The likely encoding of bytes that are the beginning of a file; None if there are too few to
    tell, or nothing is likely."""
    if (mark := marked(data)) is not None:
        return mark[0]
    data = data[:SAMPLE]
    if b"\0" in data:
        return _wide(data)
    if is_utf8(data):
        return UTF8
    if sum(byte > 127 for byte in data) < ENOUGH:
        return None
    import charset_normalizer

    # A character cut in two at the end is no reason against an encoding.
    whole = data[: data.rfind(b"\n") + 1] or data
    for cut in range(4):
        sample = whole[: len(whole) - cut]
        found = charset_normalizer.from_bytes(sample, cp_isolation=list(CANDIDATES)).best()
        if found is not None:
            return None if found.chaos > ODDEST else _usual(found.encoding, sample)
    return None


def _usual(name: str, sample: bytes) -> str:
    """Of two encodings that say the same, the one that is in use."""
    if name == "latin_1":
        try:
            sample.decode("cp1252")
            name = "cp1252"
        except UnicodeDecodeError:
            pass
    return codecs.lookup(name).name


def _wide(data: bytes) -> str | None:
    """UTF-16 without a mark, by the characters that every text has; else it is no text."""
    data = data[: len(data) // 2 * 2]
    best: tuple[float, str] = (LEAST_COMMON, "")
    for name in ("utf-16-le", "utf-16-be"):
        text = data.decode(name, "replace")
        if "\0" in text or text.count("\ufffd") > 1:
            continue
        share = sum(char in COMMON for char in text) / max(len(text), 1)
        best = max(best, (share, name))
    return best[1] or None


# Bytes of a page → its markup, by the encoding that it declares itself.

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
        name = canonical(found[1].decode())
    except ValueError:
        return None
    # A declaration that could be read as bytes is not in UTF-16, whatever it says.
    if name == AUTO or name.startswith(("utf-16", "utf-32")):
        return None
    return MEANT.get(codecs.lookup(name).name, name)


def encoding_of(data: bytes) -> str:
    """UTF-8 where the bytes are; else what the page declares; else UTF-8, which will fail.

    Many pages are converted to UTF-8 by whoever saves them, and still declare what they were.
    """
    name = declared(data)
    if (name in SEVEN_BITS and b"\x1b" in data) or (name == "hz" and b"~{" in data):
        return str(name)
    if name is None or name == UTF8:
        return UTF8
    try:
        data.decode()
    except UnicodeDecodeError:
        return name
    return UTF8


def decoded(data: bytes) -> str:
    """The markup; bytes that are nothing in the encoding become U+FFFD."""
    if (mark := marked(data)) is not None:
        return data[mark[1] :].decode(mark[0], "replace")
    return data.decode(encoding_of(data), "replace")
