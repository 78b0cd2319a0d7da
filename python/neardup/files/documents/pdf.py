"""Text of a PDF: lines found by PDFium, joined to paragraphs, hyphenation undone."""

from __future__ import annotations

import ctypes
import os
import re
import threading
from collections.abc import Iterator, Sequence
from itertools import pairwise
from statistics import quantiles
from typing import Any, NamedTuple

from neardup.files.documents.prose import Prose
from neardup.files.reading import batch
from neardup.files.reading.formats import UnreadableDocumentError, import_package

# PDFium is not thread-safe. A fork waits for the lock, or the child would find it locked.
_LOCK = threading.Lock()
os.register_at_fork(
    before=_LOCK.acquire, after_in_parent=_LOCK.release, after_in_child=_LOCK.release
)

PASSWORD = 4
SECURITY = 5
# PDFium's character for a hyphen at a line end; it drops the line break after it.
HYPHEN = "\ufffe"
HYPHENATED = re.compile(rf"(\w+){HYPHEN}\s*(\w+)")
# After these a hyphen usually belongs to the word; few words are hyphenated there.
JOINED_BY_HYPHEN = {"cross", "half", "high", "long", "quasi", "self", "short", "well"}
# In line heights: extra space before a paragraph, indent of its first line, and space after the end
# of its last line.
GAP, INDENT, SHORT = 0.35, 0.8, 4.0
# Space between lines set without extra leading.
FEW, PLAIN = 3, 0.3
# A different font size is a heading, or the text after it.
HEADING_RATIO = 1.15
SENTENCE_ENDS = tuple(".!?:;。！？：；…”\"'）)")
# Pages checked for pictures if a document has no text.
MAX_CHECKED_PAGES = 20


class PdfLine(NamedTuple):
    """A line and its position, in points from the lower left corner of the page."""

    text: str
    left: float
    right: float
    top: float
    bottom: float
    size: float


def pdf_text(data: bytes, most: int) -> str:
    """Return the text of all pages."""
    pdfium = import_package("pypdfium2", "PDF")
    with _LOCK:
        document_ = _opened(pdfium, data)
        try:
            pages = _pages(pdfium, document_, most)
            if not any(pages):
                raise _no_text_error(pdfium, document_, len(pages))
        finally:
            document_.close()
    return _join_lines(pages, most)


def _opened(pdfium: Any, data: bytes) -> Any:
    try:
        return pdfium.PdfDocument(data)
    except pdfium.PdfiumError as error:
        if getattr(error, "err_code", None) in (PASSWORD, SECURITY):
            raise UnreadableDocumentError(
                "is encrypted; save it without a password", kind="is encrypted"
            ) from None
        raise UnreadableDocumentError(
            f"is not a PDF, or is damaged ({_reason(error)})", kind="is damaged"
        ) from None


def _pages(pdfium: Any, opened: Any, most: int) -> list[list[PdfLine]]:
    count = len(opened)
    found: list[list[PdfLine]] = []
    left = most
    for number in range(count):
        try:
            page = opened[number]
        except pdfium.PdfiumError as error:
            # A file may claim any number of pages: stop at the first that is missing.
            raise UnreadableDocumentError(
                f"is damaged: page {number + 1:,} of {count:,} cannot be read ({_reason(error)})",
                kind="is damaged",
            ) from None
        try:
            lines = _lines(pdfium, page, left, most)
        except pdfium.PdfiumError as error:
            raise UnreadableDocumentError(
                f"is damaged: the text of page {number + 1:,} of {count:,} cannot be read "
                f"({_reason(error)})",
                kind="is damaged",
            ) from None
        finally:
            page.close()
        left -= sum(len(line.text) for line in lines)
        found.append(lines)
    return found


def _lines(pdfium: Any, page: Any, left: int, most: int) -> list[PdfLine]:
    textpage = page.get_textpage()
    try:
        # Check before fetching: a hostile page may repeat its text without end.
        if textpage.count_chars() > left:
            raise UnreadableDocumentError(batch.text_too_long(most))
        text = textpage.get_text_range()
        return list(_placed(pdfium.raw, textpage, text))
    finally:
        textpage.close()


def _placed(raw: Any, textpage: Any, text: str) -> Iterator[PdfLine]:
    at = 0
    for line in text.split("\n"):
        start, at = at, at + len(line) + 1
        shown = line.strip()
        if not shown:
            continue
        first = start + len(line) - len(line.lstrip())
        begins, ends = (
            _box(raw, textpage, index) for index in (first, start + len(line.rstrip()) - 1)
        )
        size = raw.FPDFText_GetFontSize(textpage, _index(raw, textpage, first))
        yield PdfLine(shown, begins[0], ends[2], begins[3], ends[1], float(size))


def _index(raw: Any, textpage: Any, at: int) -> int:
    """Return the index of a character by its position in the text."""
    found = int(raw.FPDFText_GetCharIndexFromTextIndex(textpage, at))
    return at if found < 0 else found


def _box(raw: Any, textpage: Any, at: int) -> tuple[float, float, float, float]:
    """Return left, bottom, right and top of a character, with the space its font gives it."""
    box = raw.FS_RECTF()
    if not raw.FPDFText_GetLooseCharBox(textpage, _index(raw, textpage, at), ctypes.byref(box)):
        return 0.0, 0.0, 0.0, 0.0
    return box.left, box.bottom, box.right, box.top


def _no_text_error(pdfium: Any, opened: Any, count: int) -> UnreadableDocumentError:
    """Return the error for a PDF without text: its pages are pictures, or empty."""
    for number in range(min(count, MAX_CHECKED_PAGES)):
        page = opened[number]
        try:
            kinds = {each.type for each in page.get_objects(max_depth=3)}
        except pdfium.PdfiumError:
            continue
        finally:
            page.close()
        if pdfium.raw.FPDF_PAGEOBJ_IMAGE in kinds:
            return _no_text(count, "they are pictures, such as scans")
    return _no_text(count, "they are empty, or drawn")


def _no_text(count: int, why: str) -> UnreadableDocumentError:
    pages = f"{count:,} page{'' if count == 1 else 's'}"
    return UnreadableDocumentError(
        f"has no text in its {pages}: {why}",
        kind="has no text",
        hint="run OCR first, for example ocrmypdf",
    )


def _join_lines(pages: Sequence[Sequence[PdfLine]], most: int) -> str:
    """Join lines to paragraphs and pages to a text."""
    prose = Prose(most)
    before: PdfLine | None = None
    for lines in pages:
        usual = _usual_gap(lines)
        edge = max((line.right for line in lines), default=0.0)
        for at, line in enumerate(lines):
            if before is not None:
                ends = _ends_page(before, line) if not at else _ends(before, line, usual, edge)
                if ends:
                    prose.paragraph()
                else:
                    prose.add("\n")
            prose.add(line.text)
            before = line
    text = prose.text()
    return join_hyphenated(text) if HYPHEN in text else text


def _usual_gap(lines: Sequence[PdfLine]) -> float:
    """Return the usual space between lines of a paragraph."""
    gaps = [
        upper.bottom - lower.top
        for upper, lower in pairwise(lines)
        if -upper.size < upper.bottom - lower.top < 3 * upper.size
    ]
    if len(gaps) > FEW:
        return quantiles(gaps, n=4)[0]
    # With few lines, assume no more than plain setting.
    return min([*gaps, PLAIN * lines[0].size]) if gaps else 0.0


def _ends(upper: PdfLine, lower: PdfLine, usual: float, edge: float) -> bool:
    """Return whether a paragraph ends between two lines of a page."""
    size = max(upper.size, lower.size, 1.0)
    if max(upper.size, lower.size) > HEADING_RATIO * max(min(upper.size, lower.size), 0.1):
        return True
    gap = upper.bottom - lower.top
    if gap < -2 * size:  # further up: another column
        return _ends_page(upper, lower)
    if gap > usual + GAP * size:
        return True
    if lower.left - upper.left > INDENT * size and upper.text.endswith(SENTENCE_ENDS):
        return True
    return edge - upper.right > SHORT * size and upper.text.endswith(SENTENCE_ENDS)


def _ends_page(before: PdfLine, after: PdfLine) -> bool:
    """Return whether a paragraph ends with a page or column; one continued in lower case does
    not."""
    return not (after.text[:1].islower() and not before.text.endswith(SENTENCE_ENDS))


def join_hyphenated(text: str) -> str:
    """Join words hyphenated at a line end where that is safe.

    It is if both parts are in lower case and the text has no such word with a hyphen. A possible
    compound keeps its hyphen.
    """
    compounds = set(re.findall(r"\w+-\w+", text.lower()))

    def join(found: re.Match[str]) -> str:
        left, right = found[1], found[2]
        is_word = left.isalpha() and right.isalpha() and left[1:].islower() and right.islower()
        sure = is_word and len(left) > 1 and len(right) > 1
        compound = f"{left}-{right}"
        if sure and compound.lower() not in compounds and left.lower() not in JOINED_BY_HYPHEN:
            return left + right
        return compound

    return HYPHENATED.sub(join, text).replace(HYPHEN, "-")


def _reason(error: Exception) -> str:
    return str(error).rstrip(".")
