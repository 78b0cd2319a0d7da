"""In which encoding the body of a response is: told by a mark, a header, the page, or its bytes."""

from __future__ import annotations

import codecs
import re
from functools import lru_cache

UTF8 = "utf-8"
MARKS = (
    (codecs.BOM_UTF8, UTF8),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
# Where a page has to declare it.
HEAD = 1024
DECLARED = re.compile(
    rb"""<(?:meta\b[^>]*?\bcharset|\?xml\b[^>]*?\bencoding)\s*=\s*["']?\s*([a-zA-Z0-9_:.\-]+)""",
    re.IGNORECASE,
)
IN_HEADER = re.compile(r"""charset\s*=\s*["']?\s*([a-zA-Z0-9_:.\-]{1,40})""", re.IGNORECASE)
# What is meant by names that are too small for what pages hold, as browsers read them.
MEANT = {
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "iso8859-1": "cp1252",
    "ascii": "cp1252",
    "iso8859-9": "cp1254",
    "shift_jis": "cp932",
    "euc_kr": "cp949",
    "big5": "big5hkscs",
    "tis-620": "cp874",
    "utf-8-sig": UTF8,
    "utf-16": "utf-16-le",
}
# They are written with the bytes of ASCII, so that they look like UTF-8.
SEVEN_BITS = frozenset({"iso2022_jp", "iso2022_kr", "hz"})
# They decode to other things than text, or need more than bytes.
NO_TEXT = frozenset({"idna", "punycode", "undefined", "unicode_escape", "raw_unicode_escape"})
# Bytes that are looked at for a guess: enough to tell, little enough to be quick.
SAMPLE = 4096
# Encodings of several bytes a character, each with the characters by which its texts are known.
# What is common in one language is rare in what comes out when its bytes are read as another.
CHINESE = frozenset(
    "的一是不了在有人我他这中大来上个国到说们为子和你地出道也时年得就那要下以生会自着去之过家学对"
    "可里后小么心多天而能好都然没日于起还发成事只作当想看文无开手十用主行方又如前所本见经头面公同"
    "三已老从动两长知民样现分将外但身些与高意进把法此实回二理美点月明其种声全工己话儿者向情部正名"
    "定女问力机给等几很业最间新什打便位因重被走电四第门相次东政海口使教西再平真听世气信北少关并内"
    "页网首请访误错务器登录站您址返权限，。！：、（）“”"
)
TRADITIONAL = frozenset(
    "的一是不了在有人我他這中大來上個國到說們為子和你地出道也時年得就那要下以生會自著去之過家學對"
    "可里後小麼心多天而能好都然沒日於起還發成事只作當想看文無開手十用主行方又如前所本見經頭面公同"
    "三已老從動兩長知民樣現分將外但身些與高意進把法此實回二理美點月明其種聲全工己話兒者向情部正名"
    "定女問力機給等幾很業最間新什打便位因重被走電四第門相次東政海口使教西再平真聽世氣信北少關並內"
    "頁網首請訪誤錯務器登錄站您址返權限，。！：、（）「」"
)
KANA = frozenset(map(chr, [*range(0x3041, 0x3097), *range(0x30A1, 0x30FD)])) | frozenset(
    "。、「」の"
)
HANGUL = frozenset(
    "이다는의에을가한고를은로하지기사리자시아어대인도서나있정그수일원과라스해으제전보구여부장주"
    "상들만동되게요비적조유관선신면안성경국음무세없등니습된할합위마공문페오류찾페웹용바소교내개연"
)
WIDE = (
    ("gb18030", CHINESE),
    ("big5hkscs", TRADITIONAL),
    ("cp932", KANA),
    ("euc_jp", KANA),
    ("cp949", HANGUL),
)
# Of the characters beyond ASCII in a text of such a language, at least so many are common ones.
LEAST_COMMON = 0.2
CYRILLIC = frozenset("оеаинтсрвлкмдпуяызбгчйхжшюцщэфъё")
# Letters of one byte, by encodings that are in use; the last is what browsers fall back to.
NARROW = ("cp1251", "koi8_r", "cp1252")


def charset_of(content_type: str, body: bytes) -> str:
    """A name Python knows.

    A byte order mark is obeyed first, as browsers do. Bytes that are UTF-8 are read as such
    whatever is declared: many captures are converted and still declare what they were.
    """
    for mark, name in MARKS:
        if body.startswith(mark):
            return name
    declared = in_header(content_type) or in_page(body)
    if declared is not None and (declared in SEVEN_BITS or declared.startswith("utf-16")):
        if declared in SEVEN_BITS and (b"\x1b" in body or b"~{" in body):
            return declared
        if declared.startswith("utf-16") and b"\0" in body[:HEAD]:
            return declared
    if body.isascii() or b"\0" in body[:HEAD] or _is_utf8(body):
        return UTF8  # with a zero in it, it is no text
    if declared is not None and declared != UTF8:
        return declared
    if declared == UTF8 and _is_nearly_utf8(body):
        return UTF8  # a few wrong bytes, perhaps a cut at the end
    return guessed(body)


def in_header(content_type: str) -> str | None:
    """The encoding that a Content-Type names, by a name Python knows."""
    if not content_type or (found := IN_HEADER.search(content_type)) is None:
        return None
    return known(found[1])


def in_page(body: bytes) -> str | None:
    """The encoding that a page names itself."""
    if (found := DECLARED.search(body, 0, HEAD)) is None:
        return None
    name = known(found[1].decode())
    # A declaration that could be read as bytes is not in UTF-16, whatever it says.
    return UTF8 if name is not None and name.startswith("utf-16") else name


@lru_cache(maxsize=256)
def known(label: str) -> str | None:
    """The encoding that is meant by a name, by a name Python knows; None if there is none."""
    try:
        found = codecs.lookup(label.strip())
    except (LookupError, ValueError):
        return None
    if not found._is_text_encoding or found.name.replace("-", "_") in NO_TEXT:
        return None
    return MEANT.get(found.name, found.name)


def _is_utf8(body: bytes) -> bool:
    try:
        body.decode()
    except UnicodeDecodeError as error:
        # A character cut in two where a body ends is no reason against it.
        return error.end >= len(body) and error.reason == "unexpected end of data"
    return True


def _is_nearly_utf8(body: bytes) -> bool:
    sample = body[: 16 * SAMPLE]
    wrong = sample.decode("utf-8", "replace").count("\ufffd")
    return wrong * 20 <= sum(byte > 127 for byte in sample[:SAMPLE]) + 20


def guessed(body: bytes) -> str:
    """The likely encoding of bytes that are not UTF-8."""
    start = next((at for at, byte in enumerate(body[: 16 * SAMPLE]) if byte > 127), 0)
    sample = body[start : start + SAMPLE]
    best = (LEAST_COMMON, "")
    for name, common in WIDE:
        try:
            # Piece by piece, so that a character cut in two at the end is no error.
            text = codecs.getincrementaldecoder(name)().decode(sample)
        except UnicodeDecodeError:
            continue
        beyond = [char for char in text if char > "\x7f"]
        # Half-width kana are what other encodings look like in Shift-JIS.
        good = sum(char in common for char in beyond)
        if beyond and good / len(beyond) > best[0]:
            best = (good / len(beyond), name)
    return best[1] or _narrow(sample)


def _narrow(sample: bytes) -> str:
    """Cyrillic if most letters beyond ASCII are, in small letters mostly; else the West."""
    beyond = sum(byte > 127 for byte in sample)
    best = (0.6, NARROW[-1])
    for name in NARROW[:-1]:
        text = sample.decode(name, "replace")
        best = max(best, (sum(char in CYRILLIC for char in text) / max(beyond, 1), name))
    # Words of Western languages have single letters beyond ASCII, those of Cyrillic nothing else.
    runs = sum(len(run) > 2 for run in re.findall(rb"[\x80-\xff]+", sample))
    return best[1] if runs else NARROW[-1]
