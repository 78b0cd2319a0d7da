"""Encodings of text: their names, byte order marks, declarations in pages, and a detector.

Encodings are decided here and nowhere else. `canonical` checks a name that a user gives; `marked`
reads a byte order mark; `page_encoding` decides for a page of HTML or XML, whether it is a document
or the body of a response; `detect` guesses the encoding of a file that declares none.

The detector counts characters: of the text in a language, a large part is made of a few hundred
characters, and these are rare in bytes that are read in a wrong encoding. It needs less text than
detectors by byte statistics and takes far less time, which counts for millions of small pages.
"""

from __future__ import annotations

import codecs
import re
from functools import lru_cache

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
# Without a mark, assume the byte order of nearly all machines.
UNMARKED = {"utf-16": "utf-16-le", "utf-32": "utf-32-le", "utf-8-sig": UTF8}
# Codecs that decode to something else than text, or need more than bytes.
NO_TEXT = {"idna", "punycode", "undefined", "unicode_escape", "raw_unicode_escape", "utf_7"}
# Bytes of a file that are read to detect its encoding or format.
SAMPLE = 64 << 10
# A file needs so many bytes beyond ASCII for a guess: fewer may be anything.
MIN_BYTES = 40
# Replaces undecodable bytes; no decoder returns it, and it cannot be encoded as UTF-8.
BAD = "\udcff"


def _replace_bad(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeDecodeError):
        raise error
    return BAD, error.end


codecs.register_error("neardup-bad", _replace_bad)


def _codec_name(label: str) -> str | None:
    """Return Python's name of a text encoding; None for unknown names and other codecs."""
    try:
        found = codecs.lookup(label.strip())
    except (LookupError, ValueError):
        return None
    # Others turn bytes into bytes, such as base64.
    if not found._is_text_encoding or found.name.replace("-", "_") in NO_TEXT:
        return None
    return UNMARKED.get(found.name, found.name)


def canonical(name: str) -> str:
    """Return the name of an encoding as used here; raise ValueError if it is unknown."""
    if isinstance(name, str):
        if name.strip().lower() == AUTO:
            return AUTO
        if (found := _codec_name(name)) is not None:
            return found
    raise ValueError(
        f"encoding is {name!r}, which is unknown; use utf-8, utf-16, gb18030, big5, "
        "latin-1 or another name that Python knows, or auto to have it detected"
    )


def marked(data: bytes) -> tuple[str, int] | None:
    """Return the encoding that a byte order mark at the start tells, and the mark's length."""
    for mark, name in MARKS:
        if data.startswith(mark):
            return name, len(mark)
    return None


def decoder(encoding: str) -> codecs.IncrementalDecoder:
    """Return an incremental decoder that puts `BAD` for undecodable bytes and goes on."""
    return codecs.getincrementaldecoder(encoding)("neardup-bad")


def encode(text: str) -> bytes:
    """Encode as UTF-8; `BAD` becomes an invalid byte, so that its line is reported."""
    return text.encode("utf-8", "surrogateescape")


def is_utf8(data: bytes) -> bool:
    """Return whether bytes are UTF-8, ignoring a character cut off at the end."""
    try:
        codecs.getincrementaldecoder(UTF8)().decode(data)
    except UnicodeDecodeError:
        return False
    return True


# ---- pages of HTML and XML ----

# Browsers look at the first 1024 bytes; some editors put long comments before the declaration.
HEAD_BYTES = 4096
DECLARATION = re.compile(
    rb"""<(?:meta\b[^>]*?\bcharset|\?xml\b[^>]*?\bencoding)\s*=\s*["']?\s*([a-zA-Z0-9_:.\-]+)""",
    re.IGNORECASE,
)
IN_HEADER = re.compile(r"""charset\s*=\s*["']?\s*([a-zA-Z0-9_:.\-]{1,40})""", re.IGNORECASE)
# Pages use characters beyond the encoding they declare; browsers decode them by its superset.
SUPERSETS = {
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "big5": "big5hkscs",
    "shift_jis": "cp932",
    "euc_kr": "cp949",
    "ascii": "cp1252",
    "iso8859-1": "cp1252",
    "iso8859-9": "cp1254",
    "tis-620": "cp874",
}
# Encodings that use the bytes of ASCII, so that they look like UTF-8.
SEVEN_BIT = frozenset({"iso2022_jp", "iso2022_kr", "hz"})
FALLBACK = "cp1252"


@lru_cache(maxsize=256)
def page_charset(label: str) -> str | None:
    """Return the encoding that browsers use for a name in a page or header; None if unknown."""
    name = _codec_name(label)
    return None if name is None else SUPERSETS.get(name, name)


def declared_in_header(content_type: str) -> str | None:
    """Return the encoding that a Content-Type header names."""
    found = IN_HEADER.search(content_type) if content_type else None
    return None if found is None else page_charset(found[1])


def declared_in_page(data: bytes) -> str | None:
    """Return the encoding that a page names in a meta element or XML declaration."""
    if (found := DECLARATION.search(data, 0, HEAD_BYTES)) is None:
        return None
    name = page_charset(found[1].decode())
    # A declaration that can be read as bytes is not in UTF-16 or UTF-32, whatever it says.
    return UTF8 if name is not None and name.startswith(("utf-16", "utf-32")) else name


def page_encoding(data: bytes, content_type: str = "") -> tuple[str, str]:
    """Return the encoding of a page and where it is from: "", "declared" or "detected".

    A byte order mark comes first, as in browsers. Bytes that are UTF-8 are decoded as such whatever
    is declared: many pages are converted when they are saved and still declare what they were.
    A page without a declaration is detected; the name is "" where no encoding is likely.
    """
    if (mark := marked(data)) is not None:
        return mark[0], ""
    name = declared_in_header(content_type) or declared_in_page(data)
    if name in SEVEN_BIT and (b"\x1b" in data or (name == "hz" and b"~{" in data)):
        return str(name), "declared"
    has_nul = b"\0" in data[:HEAD_BYTES]
    if has_nul and name is not None and name.startswith("utf-16"):
        return name, "declared"
    if data.isascii() or has_nul or is_utf8(data):
        return UTF8, ""  # with a NUL in it, it is not text
    if name is not None and name != UTF8:
        return name, "declared"
    if name == UTF8 and _is_nearly_utf8(data):
        return UTF8, "declared"  # a few wrong bytes
    found = _guess(data)
    return ("", "") if found is None else (SUPERSETS.get(found, found), "detected")


def body_charset(content_type: str, body: bytes) -> str:
    """Return the encoding of the body of a response; `FALLBACK` where none is likely, as in
    browsers."""
    return page_encoding(body, content_type)[0] or FALLBACK


def decode_page(data: bytes) -> str:
    """Return the markup of a page; undecodable bytes become U+FFFD."""
    if (mark := marked(data)) is not None:
        return data[mark[1] :].decode(mark[0], "replace")
    return data.decode(body_charset("", data), "replace")


def _is_nearly_utf8(data: bytes) -> bool:
    sample = data[: 16 * GUESS_BYTES]
    wrong = sample.decode("utf-8", "replace").count("\ufffd")
    return wrong * 20 <= sum(byte > 127 for byte in sample[:GUESS_BYTES]) + 20


# ---- detection ----

# From the first byte beyond ASCII on: enough for a guess, little enough to be fast.
GUESS_BYTES = 4096
# The most frequent characters of texts in each encoding of several bytes a character.
_CHINESE = frozenset(
    "的一是不了在有人我他这中大来上个国到说们为子和你地出道也时年得就那要下以生会自着去之过家学对"
    "可里后小么心多天而能好都然没日于起还发成事只作当想看文无开手十用主行方又如前所本见经头面公同"
    "三已老从动两长知民样现分将外但身些与高意进把法此实回二理美点月明其种声全工己话儿者向情部正名"
    "定女问力机给等几很业最间新什打便位因重被走电四第门相次东政海口使教西再平真听世气信北少关并内"
    "页网首请访误错务器登录站您址返权限，。！：、（）“”"
)
_TRADITIONAL = frozenset(
    "的一是不了在有人我他這中大來上個國到說們為子和你地出道也時年得就那要下以生會自著去之過家學對"
    "可里後小麼心多天而能好都然沒日於起還發成事只作當想看文無開手十用主行方又如前所本見經頭面公同"
    "三已老從動兩長知民樣現分將外但身些與高意進把法此實回二理美點月明其種聲全工己話兒者向情部正名"
    "定女問力機給等幾很業最間新什打便位因重被走電四第門相次東政海口使教西再平真聽世氣信北少關並內"
    "頁網首請訪誤錯務器登錄站您址返權限，。！：、（）「」"
)
_KANA = frozenset(map(chr, [*range(0x3041, 0x3097), *range(0x30A1, 0x30FD)])) | frozenset(
    "。、「」の"
)
_HANGUL = frozenset(
    "이다는의에을가한고를은로하지기사리자시아어대인도서나있정그수일원과라스해으제전보구여부장주"
    "상들만동되게요비적조유관선신면안성경국음무세없등니습된할합위마공문페오류찾페웹용바소교내개연"
)
# Tried in this order; the first of the highest share wins.
MULTIBYTE = (
    ("gb18030", _CHINESE),
    ("big5", _TRADITIONAL),
    ("shift_jis", _KANA),
    ("euc_jp", _KANA),
    ("euc_kr", _HANGUL),
)
# Of the characters beyond ASCII, so many must be frequent ones.
MIN_FREQUENT = 0.2
_CYRILLIC = frozenset("оеаинтсрвлкмдпуяызбгчйхжшюцщэфъё")
MIN_CYRILLIC = 0.6
_WESTERN = frozenset(
    "àáâãäåæçèéêëìíîïñòóôõöøùúûüýÿßœÀÁÂÄÅÆÇÈÉÊËÍÎÑÓÔÖØÙÚÜŒ‘’“”«»–—…€°·§©®\u00a0¡¿ªº"
)
MIN_WESTERN = 0.9
# In any text some of these are frequent; in UTF-16 read with its bytes swapped, hardly any is.
_IN_ANY_TEXT = frozenset([*map(chr, range(1, 128)), *"。，、的一"])
MIN_IN_ANY_TEXT = 0.02


def detect(data: bytes) -> str | None:
    """Return the likely encoding of a file by its first bytes; None if they are too few to tell, or
    no encoding is likely."""
    if (mark := marked(data)) is not None:
        return mark[0]
    data = data[:SAMPLE]
    if b"\0" in data:
        return _guess_utf16(data)
    if is_utf8(data):
        return UTF8
    if sum(byte > 127 for byte in data) < MIN_BYTES:
        return None
    return _guess(data)


def _guess(data: bytes) -> str | None:
    """Return the likely encoding of bytes that are not UTF-8; None if none is."""
    start = next((at for at, byte in enumerate(data[: 16 * GUESS_BYTES]) if byte > 127), 0)
    sample = data[start : start + GUESS_BYTES]
    best = (MIN_FREQUENT, "")
    for name, frequent in MULTIBYTE:
        try:
            # An incremental decoder ignores a character cut off at the end.
            text = codecs.getincrementaldecoder(SUPERSETS.get(name, name))().decode(sample)
        except UnicodeDecodeError:
            continue
        beyond = [char for char in text if char > "\x7f"]
        share = sum(char in frequent for char in beyond) / max(len(beyond), 1)
        if share > best[0]:
            best = (share, name)
    return best[1] or _guess_single_byte(sample)


def _guess_single_byte(sample: bytes) -> str | None:
    """Return a Cyrillic encoding, the Western one, or None."""
    beyond = sum(byte > 127 for byte in sample)
    # Western words have single letters beyond ASCII, Cyrillic ones have nothing else.
    runs = [len(run) > 2 for run in re.findall(rb"[\x80-\xff]+", sample)]
    if any(runs):
        best = (MIN_CYRILLIC, "")
        for name in ("cp1251", "koi8-r"):
            text = sample.decode(name, "replace")
            best = max(best, (sum(char in _CYRILLIC for char in text) / max(beyond, 1), name))
        if best[1]:
            return best[1]
    western = sum(char in _WESTERN for char in sample.decode(FALLBACK, "replace"))
    is_western = western >= MIN_WESTERN * beyond and sum(runs) * 5 <= len(runs)
    return FALLBACK if is_western else None


def _guess_utf16(data: bytes) -> str | None:
    """Return UTF-16 by the characters that any text has; None if it is not text."""
    data = data[: len(data) // 2 * 2]
    best: tuple[float, str] = (MIN_IN_ANY_TEXT, "")
    for name in ("utf-16-le", "utf-16-be"):
        text = data.decode(name, "replace")
        if "\0" in text or text.count("\ufffd") > 1:
            continue
        share = sum(char in _IN_ANY_TEXT for char in text) / max(len(text), 1)
        best = max(best, (share, name))
    return best[1] or None
