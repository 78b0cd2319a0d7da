"""Books: chapters in the order of the spine."""

from __future__ import annotations

from pathlib import Path

import pytest

from helpers import document_files
from neardup.files.documents import office
from neardup.files.reading.formats import UnreadableDocumentError

MOST = 1 << 24


def seen(chapters: dict[str, str], **parts: str) -> str:
    return office.epub_text(document_files.epub(chapters, **parts), MOST)


def test_chapters_in_order() -> None:
    chapters = {
        "one.xhtml": "<h1>One</h1><p>a&nbsp;b</p>",
        "x/two.xhtml": "<p>二</p>",
        "3.html": "",
    }
    assert seen(chapters) == "One\n\na b\n\n二"


def test_names_are_unquoted_and_looked_up_from_the_list() -> None:
    book = document_files.epub({"a b.xhtml": "<p>here</p>"})
    assert office.epub_text(book, MOST) == "here"
    parts: dict[str, str | bytes] = {
        "META-INF/container.xml": document_files.CONTAINER,
        "OEBPS/book.opf": '<package><manifest><item id="a" href="../t/a%20b.xhtml"/></manifest>'
        '<spine><itemref idref="a"/><itemref idref="a"/><itemref idref="none"/></spine></package>',
        "t/a b.xhtml": document_files.html("<p>there</p>"),
    }
    assert office.epub_text(document_files.zipped(parts), MOST) == "there"


def test_contents_and_pictures_are_no_text() -> None:
    package = (
        '<package><manifest><item id="n" href="nav.xhtml" properties="nav"/>'
        '<item id="i" href="a.svg" media-type="image/svg+xml"/><item id="c" href="c.xhtml"/>'
        '</manifest><spine><itemref idref="n"/><itemref idref="i"/><itemref idref="c"/></spine>'
        "</package>"
    )
    parts: dict[str, str | bytes] = {
        "META-INF/container.xml": document_files.CONTAINER,
        "OEBPS/book.opf": package,
        "OEBPS/nav.xhtml": document_files.html("contents"),
        "OEBPS/c.xhtml": document_files.html("chapter"),
    }
    assert office.epub_text(document_files.zipped(parts), MOST) == "chapter"


def cipher(path: str) -> str:
    return f'<encryption><x><CipherReference URI="{path}"/></x></encryption>'


def test_a_locked_chapter_is_reported_and_a_locked_font_is_not() -> None:
    with pytest.raises(UnreadableDocumentError, match=r"is encrypted \(OEBPS/a\.xhtml\)"):
        seen({"a.xhtml": "x"}, **{"META-INF__encryption.xml": cipher("OEBPS/a.xhtml")})
    text = seen({"a.xhtml": "x"}, **{"META-INF__encryption.xml": cipher("OEBPS/font.otf")})
    assert text == "x"


@pytest.mark.parametrize(
    "href",
    [
        *("../../../../../../etc/passwd", "/etc/passwd", "file:///etc/passwd"),
        *("%2e%2e/%2e%2e/etc/passwd", "..", "http://example.org/a.xhtml"),
    ],
)
def test_names_never_leave_the_book(href: str) -> None:
    package = (
        f'<package><manifest><item id="a" href="{href}"/></manifest><spine><itemref idref="a"/>'
        "</spine></package>"
    )
    parts = {"META-INF/container.xml": document_files.CONTAINER, "OEBPS/book.opf": package}
    with pytest.raises(UnreadableDocumentError, match=r"is damaged \(it has no entry"):
        office.epub_text(document_files.zipped(parts), MOST)


def test_parts_with_odd_names_are_only_names() -> None:
    trick = "../../../../../tmp/neardup-was-here.xhtml"
    package = (
        f'<package><manifest><item id="a" href="{trick}"/></manifest><spine><itemref idref="a"/>'
        "</spine></package>"
    )
    parts: dict[str, str | bytes] = {
        "META-INF/container.xml": document_files.CONTAINER.replace("OEBPS/book.opf", "book.opf"),
        "book.opf": package,
        trick: document_files.html("<p>inside</p>"),
    }
    assert office.epub_text(document_files.zipped(parts), MOST) == "inside"
    assert not Path("/tmp/neardup-was-here.xhtml").exists()  # noqa: S108


def test_a_book_without_a_list() -> None:
    with pytest.raises(UnreadableDocumentError, match=r"it has no entry META-INF/container\.xml"):
        office.epub_text(document_files.zipped({"mimetype": document_files.EPUB}), MOST)
    empty = {"META-INF/container.xml": "<container/>"}
    with pytest.raises(UnreadableDocumentError, match="names no package"):
        office.epub_text(document_files.zipped(empty), MOST)
