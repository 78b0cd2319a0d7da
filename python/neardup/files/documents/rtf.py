"""Text of a rich text file (.rtf, version 1.9 of the specification)."""

from __future__ import annotations

import codecs
import re
from typing import NamedTuple

from neardup.files.documents.prose import Prose
from neardup.files.reading.formats import UnreadableDocumentError

TOKEN = re.compile(
    r"\\(?P<word>[a-zA-Z]{1,32})(?P<number>-?\d{1,10})?\ ?"
    r"|\\'(?P<byte>[0-9a-fA-F]{2})"
    r"|\\(?P<symbol>[^a-zA-Z'])"
    r"|(?P<brace>[{}])"
    r"|(?P<text>[^\\{}\r\n]+)"
    r"|[\r\n]+|\\",
    re.DOTALL,
)
MAGIC = r"{\rtf"
# Groups that hold no document text.
SKIPPED = {
    *("colortbl", "stylesheet", "info", "pict", "header", "headerl", "headerr", "headerf"),
    *("footer", "footerl", "footerr", "footerf", "fldinst", "listtable", "listoverridetable"),
    *("revtbl", "rsidtbl", "generator", "themedata", "colorschememapping", "latentstyles"),
    *("datastore", "xmlnstbl", "bkmkstart", "bkmkend", "annotation", "atnid", "atnauthor"),
    *("filetbl", "nonshppict", "objdata", "objclass", "objname", "ftnsep", "ftnsepc", "ftncn"),
    *("aftnsep", "aftnsepc", "aftncn", "tc", "xe", "txe", "rxe", "pgptbl", "mmathpr", "template"),
    *("private", "sn", "sv", "shprslt", "listtext", "pntext", "pntxta", "pntxtb", "falt"),
}
# Groups marked as ignorable are skipped, but for the text in a drawn box.
KNOWN = {"shpinst"}
SYMBOLS = {
    "emdash": "—",
    "endash": "–",
    "bullet": "•",
    "lquote": "‘",
    "rquote": "’",
    "ldblquote": "“",
    "rdblquote": "”",
    "enspace": " ",
    "emspace": " ",
    "qmspace": " ",
    "tab": " ",
}
CHARSETS = {
    77: "mac_roman",
    128: "cp932",
    129: "cp949",
    130: "johab",
    134: "gb18030",
    136: "cp950",
    161: "cp1253",
    162: "cp1254",
    163: "cp1258",
    177: "cp1255",
    178: "cp1256",
    186: "cp1257",
    204: "cp1251",
    222: "cp874",
    238: "cp1250",
    254: "cp437",
}
PAGES = {936: "gb18030", 10000: "mac_roman", 65001: "utf-8", 1361: "johab"}
# Real files nest a few dozen.
MAX_GROUPS = 10_000
PARAGRAPHS = {"par", "sect", "page", "column"}


class _State(NamedTuple):
    """The state that a group inherits, and restores at its end."""

    skipped: bool = False
    hidden: bool = False
    codec: str = ""
    fallback: int = 1
    note: bool = False
    fonts: bool = False


def rtf_text(data: bytes, most: int) -> str:
    """Return the text without headers, footers, comments, hidden and deleted text. A footnote
    follows the paragraph that refers to it.
    """
    source = data.decode("latin-1").removeprefix("ï»¿").lstrip()
    if not source.startswith(MAGIC):
        raise UnreadableDocumentError(f"is not RTF: it does not begin with {MAGIC}")
    return _Reader(source, most).read()


class _Reader:
    def __init__(self, source: str, most: int) -> None:
        self._source = source
        self._most = most
        self._main = self._prose = Prose(most)
        self._notes: list[Prose] = []
        self._state = _State()
        self._outer: list[tuple[_State, Prose]] = []
        self._codec = "cp1252"
        self._fonts: dict[int, str] = {}
        self._font = 0
        self._bytes = bytearray()
        self._ignored = 0
        self._is_first = False
        self._is_new = False

    def read(self) -> str:
        at = 0
        while at < len(self._source):
            found = TOKEN.match(self._source, at)
            if found is None:
                break
            at = found.end()
            kind = found.lastgroup
            if kind == "text":
                self._text(found["text"])
            elif kind == "byte":
                self._byte(int(found["byte"], 16))
            elif kind == "brace":
                if found["brace"] == "{":
                    self._begin()
                elif self._end():
                    break
            elif kind == "symbol":
                self._symbol(found["symbol"])
            elif kind in ("word", "number"):
                word, number = found["word"], int(found["number"]) if found["number"] else None
                if word == "bin":
                    at += max(number or 0, 0)
                else:
                    self._word(word.lower(), number)
        if self._outer:
            raise UnreadableDocumentError(
                "is truncated: groups are open at its end", kind="is damaged or truncated"
            )
        self._flush()
        self._main.paragraph()
        self._add_notes()
        return self._main.text()

    def _begin(self) -> None:
        self._flush()
        self._ignored = 0
        if len(self._outer) >= MAX_GROUPS:
            raise UnreadableDocumentError(
                f"has more than {MAX_GROUPS:,} nested groups; open it in a word "
                "processor and save it again",
                kind="has too many nested groups",
            )
        self._outer.append((self._state, self._prose))
        self._is_first, self._is_new = True, False

    def _end(self) -> bool:
        """End a group; return whether it was the last, since data after it is not RTF."""
        self._flush()
        self._ignored = 0
        if not self._outer:
            return True
        is_note = self._state.note
        ended = self._prose
        self._state, self._prose = self._outer.pop()
        if is_note and not self._state.note:
            self._notes.append(ended)
        return not self._outer

    def _symbol(self, symbol: str) -> None:
        if symbol == "*":
            self._is_new = True
            return
        self._is_first = False
        if symbol in "\\{}":
            self._text(symbol)
        elif symbol == "~":
            self._say(" ")
        elif symbol == "_":
            self._say("-")
        elif symbol in "\r\n":
            self._paragraph()

    def _word(self, word: str, number: int | None) -> None:
        is_first, self._is_first = self._is_first, False
        state = self._state
        if is_first and (word in SKIPPED or (self._is_new and word not in KNOWN)):
            self._state = state._replace(skipped=True)
            return
        if is_first and word == "fonttbl":
            self._state = state._replace(fonts=True)
        elif word in ("ansicpg", "mac", "pc", "pca"):
            self._page(word, number)
        elif word == "f":
            self._choose(number or 0)
        elif word in ("fcharset", "cpg") and state.fonts:
            self._map(word, number or 0)
        elif word == "uc":
            self._state = state._replace(fallback=max(number or 0, 0))
        elif word == "u" and number is not None:
            self._say(chr(number % 0x10000))
            self._ignored = state.fallback
        elif word in ("v", "deleted"):
            self._flush()
            self._state = state._replace(hidden=number != 0)
        elif word == "plain":
            self._flush()
            self._state = state._replace(hidden=False, codec="")
        elif not state.skipped:
            self._structure(word)

    def _structure(self, word: str) -> None:
        if word in PARAGRAPHS:
            self._paragraph()
        elif word in SYMBOLS:
            self._say(SYMBOLS[word])
        elif word == "line":
            self._flush()
            self._prose.break_line()
        elif word in ("trowd", "intbl"):
            self._flush()
            if not self._prose.is_in_row:
                self._prose.begin_row()
        elif word == "pard":
            self._flush()
            # After a table: rows begin with another control word.
            if not self._prose.is_in_row:
                self._prose.end_table()
        elif word == "cell":
            self._flush()
            self._prose.end_cell()
        elif word == "row":
            self._flush()
            self._prose.end_row()
            self._add_notes()
        elif word in ("nestcell", "nestrow"):
            self._flush()
            self._prose.line()
        elif word == "footnote":
            self._flush()
            self._state = self._state._replace(note=True)
            self._prose = Prose(self._most)

    def _page(self, word: str, number: int | None) -> None:
        named = {"mac": "mac_roman", "pc": "cp437", "pca": "cp850"}.get(word)
        self._codec = named or _codec(PAGES.get(number or 0, f"cp{number}"), self._codec)

    def _choose(self, font: int) -> None:
        self._flush()
        self._font = font
        if not self._state.fonts:
            self._state = self._state._replace(codec=self._fonts.get(font, ""))

    def _map(self, word: str, number: int) -> None:
        name = CHARSETS.get(number) if word == "fcharset" else PAGES.get(number, f"cp{number}")
        if name is not None:
            self._fonts[self._font] = _codec(name, self._codec)

    def _text(self, text: str) -> None:
        self._is_first = False
        if self._ignored:
            taken = min(self._ignored, len(text))
            self._ignored -= taken
            text = text[taken:]
        if self._is_shown():
            self._bytes += text.encode("latin-1", "replace")

    def _byte(self, value: int) -> None:
        self._is_first = False
        if self._ignored:
            self._ignored -= 1
        elif self._is_shown():
            self._bytes.append(value)

    def _say(self, text: str) -> None:
        self._flush()
        if self._is_shown():
            self._prose.add(text)

    def _flush(self) -> None:
        """Decode the collected bytes together: a character may take two."""
        if self._bytes:
            self._prose.add(self._bytes.decode(self._state.codec or self._codec, "replace"))
            self._bytes.clear()

    def _is_shown(self) -> bool:
        return not (self._state.skipped or self._state.hidden or self._state.fonts)

    def _paragraph(self) -> None:
        self._flush()
        if self._state.skipped:
            return
        self._prose.paragraph()
        self._add_notes()

    def _add_notes(self) -> None:
        """Add the notes of the paragraph."""
        if self._prose is not self._main or self._main.is_in_row:
            return
        for note in self._notes:
            for paragraph in note.text().split("\n\n"):
                self._main.add(paragraph)
                self._main.paragraph()
        self._notes.clear()


def _codec(name: str, otherwise: str) -> str:
    try:
        codecs.lookup(name)
    except LookupError:
        return otherwise
    return name
