"""Files of people: what becomes a text, and what is told of the others."""

from __future__ import annotations

import io
import zipfile

import pytest

from neardup.service.pages.phrases import PHRASES
from neardup.service.pages.upload import ACCEPTED, UnreadableFile, text_from

TEXT = "Zwölf Boxkämpfer jagen Viktor quer über den großen Sylter Deich.\n" * 20
CHINESE = "今天上午九点，图书馆的阅览室因为检修电路暂停开放，请各位读者谅解。" * 3


def docx(*paragraphs: str) -> bytes:
    space = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
    body = "".join(f"<w:p><w:r><w:t>{each}</w:t></w:r></w:p>" for each in paragraphs)
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w") as packed:
        packed.writestr("[Content_Types].xml", "<Types/>")
        packed.writestr(
            "word/document.xml",
            f'<w:document xmlns:w="{space}"><w:body>{body}</w:body></w:document>',
        )
    return written.getvalue()


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_plain_text_in_many_encodings(encoding: str) -> None:
    assert text_from("a.txt", TEXT.encode(encoding))[0] == TEXT


def test_a_chinese_file_is_told_to_be_one() -> None:
    text, encoding = text_from("a.txt", CHINESE.encode("gb18030"))
    assert text == CHINESE
    assert encoding.startswith("gb")
    assert text_from("a.txt", CHINESE.encode()) == (CHINESE, "")


def test_documents_are_known_by_their_names_or_by_what_they_hold() -> None:
    data = docx("First paragraph.", "Second one.")
    for name in ("essay.docx", "essay.DOCX", "essay", "essay.txt", "C:\\essays\\mine.docx"):
        assert text_from(name, data) == ("First paragraph.\n\nSecond one.", "")
    page = b"<html><script>x()</script><body><p>Only this.</p></body></html>"
    assert text_from("page.html", page) == ("Only this.", "")
    # Of plain text the name tells nothing: it is as it is.
    assert text_from("data.csv", b"a,b\n1,2\n") == ("a,b\n1,2\n", "")
    assert text_from("", b"words") == ("words", "")


@pytest.mark.parametrize(
    ("name", "data", "phrase"),
    [
        ("a.gz", b"\x1f\x8b\x08rest", "file.packed"),
        ("a.zip", b"PK\x03\x04" + b"x" * 100, "file.packed"),
        ("a.txt", b"caf\xe9 au lait", "file.encoding"),
        ("a.bin", bytes(range(256)) * 20, "file.binary"),
        ("a.txt", b"text \xc3\xa9 " * 9000 + b"\xff\xff", "file.wrong_byte"),
        ("a.pdf", b"%PDF-1.4\nnothing", "file.unreadable"),
        ("a.docx", docx("x")[:60], "file.unreadable"),
    ],
)
def test_what_is_no_text_is_told(name: str, data: bytes, phrase: str) -> None:
    with pytest.raises(UnreadableFile) as told:
        text_from(name, data)
    assert told.value.phrase == phrase
    english = PHRASES[phrase][0]
    assert isinstance(english, str)
    said = english.format(file=name, reason=told.value.reason)
    assert "tmp" not in said


def test_an_empty_file_is_an_empty_text() -> None:
    assert text_from("a.txt", b"") == ("", "")


def test_the_page_offers_what_is_read() -> None:
    assert {".txt", ".docx", ".pdf", ".html", ".odt", ".epub", ".rtf"} <= set(ACCEPTED)
