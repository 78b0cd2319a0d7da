"""Files of people: what becomes a text, and what is told of the others."""

from __future__ import annotations

import io
import threading
import zipfile
import zlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from neardup.files.documents import sandbox
from neardup.files.documents.sandbox import DocumentTooLongError
from neardup.service.pages import page_input
from neardup.service.pages.page_input import (
    MAX_CHARACTERS,
    UPLOAD_ENDINGS,
    UploadError,
    read_upload,
)
from neardup.service.pages.phrases import PHRASES

TEXT = "Zwölf Boxkämpfer jagen Viktor quer über den großen Sylter Deich.\n" * 20
CHINESE = "今天上午九点，图书馆的阅览室因为检修电路暂停开放，请各位读者谅解。" * 3


def packed(**parts: str) -> bytes:
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as file:
        for name, content in parts.items():
            file.writestr(name, content)
    return written.getvalue()


def docx(*paragraphs: str) -> bytes:
    return docx_of("".join(f"<w:p><w:r><w:t>{each}</w:t></w:r></w:p>" for each in paragraphs))


def docx_of(body: str) -> bytes:
    space = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
    main = f'<w:document xmlns:w="{space}"><w:body>{body}</w:body></w:document>'
    return packed(**{"[Content_Types].xml": "<Types/>", "word/document.xml": main})


def odt(body: str) -> bytes:
    space = "urn:oasis:names:tc:opendocument:xmlns"
    main = (
        f'<o:document xmlns:o="{space}:office:1.0" xmlns:t="{space}:text:1.0"><o:body><o:text>'
        f"{body}</o:text></o:body></o:document>"
    )
    return packed(mimetype="application/vnd.oasis.opendocument.text", **{"content.xml": main})


def epub(body: str) -> bytes:
    box = (
        '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
        '<rootfile full-path="book.opf" media-type="application/oebps-package+xml"/></rootfiles>'
        "</container>"
    )
    book = (
        '<package xmlns="http://www.idpf.org/2007/opf"><manifest>'
        '<item id="a" href="a.xhtml" media-type="application/xhtml+xml"/></manifest>'
        '<spine><itemref idref="a"/></spine></package>'
    )
    page = f"<html><body>{body}</body></html>"
    parts = {"META-INF/container.xml": box, "book.opf": book, "a.xhtml": page}
    return packed(mimetype="application/epub+zip", **parts)


def pdf(times: int) -> bytes:
    """A page that says the same so many times."""
    drawn = zlib.compress(b"BT /F 1 Tf " + b"(lorem ipsum) Tj " * times + b"ET")
    objects = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents 4 0 R"
        b"/Resources<</Font<</F 5 0 R>>>>>>",
        b"<</Length %d/Filter/FlateDecode>>stream\n%s\nendstream" % (len(drawn), drawn),
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    ]
    body = b"".join(b"%d 0 obj\n%s\nendobj\n" % pair for pair in enumerate(objects, 1))
    return b"%PDF-1.4\n" + body + b"trailer<</Root 1 0 R>>\n"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_plain_text_in_many_encodings(encoding: str) -> None:
    assert read_upload("a.txt", TEXT.encode(encoding))[0] == TEXT


def test_the_encoding_of_a_chinese_file_is_detected() -> None:
    text, encoding = read_upload("a.txt", CHINESE.encode("gb18030"))
    assert text == CHINESE
    assert encoding.startswith("gb")
    assert read_upload("a.txt", CHINESE.encode()) == (CHINESE, "")


def test_documents_are_known_by_their_names_or_by_what_they_hold() -> None:
    data = docx("First paragraph.", "Second one.")
    for name in ("essay.docx", "essay.DOCX", "essay", "essay.txt", "C:\\essays\\mine.docx"):
        assert read_upload(name, data) == ("First paragraph.\n\nSecond one.", "")
    page = b"<html><script>x()</script><body><p>Only this.</p></body></html>"
    assert read_upload("page.html", page) == ("Only this.", "")
    # Of plain text the name tells nothing: it is as it is.
    assert read_upload("data.csv", b"a,b\n1,2\n") == ("a,b\n1,2\n", "")
    assert read_upload("", b"words") == ("words", "")


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
    # A packed file holds the time at which it was made.
    ids=["gz", "zip", "latin", "binary", "wrong byte", "pdf", "docx"],
)
def test_a_binary_file_is_rejected(name: str, data: bytes, phrase: str) -> None:
    with pytest.raises(UploadError) as told:
        read_upload(name, data)
    assert told.value.phrase == phrase
    english = PHRASES[phrase][0]
    assert isinstance(english, str)
    said = english.format(file=name, reason=told.value.values["reason"])
    assert "tmp" not in said


def test_an_empty_file_is_an_empty_text() -> None:
    assert read_upload("a.txt", b"") == ("", "")


def test_the_page_offers_what_is_read() -> None:
    assert {".txt", ".docx", ".pdf", ".html", ".odt", ".epub", ".rtf"} <= set(UPLOAD_ENDINGS)


# --------------------------------------------------------------------- files made to be too much

LONG = 40 << 20


def most_memory() -> int:
    """The most that this process has ever used, in kB."""
    try:
        status = Path("/proc/self/status").read_text(encoding="utf-8")
    except OSError:
        pytest.skip("needs /proc")
    return int(status.partition("VmHWM:")[2].split()[0])


@pytest.mark.parametrize("kind", ["docx", "odt", "epub", "pdf", "html"])
def test_a_small_file_that_becomes_large_costs_the_service_nothing(kind: str) -> None:
    data = {
        "docx": lambda: docx("lorem " * (LONG // 6)),
        "odt": lambda: odt("<t:p>a</t:p>" * (LONG // 12)),
        "epub": lambda: epub("<p>a</p>" * (LONG // 8)),
        "pdf": lambda: pdf(400_000),
        "html": lambda: b"<p>a" * 1_800_000,
    }[kind]()
    before = most_memory()
    with pytest.raises(UploadError) as told:
        read_upload(f"a.{kind}", data)
    assert told.value.phrase == "file.unreadable"
    assert "--max" not in str(told.value.values["reason"])
    assert most_memory() - before < 50_000


@pytest.mark.nightly
def test_a_file_that_takes_long_is_given_up() -> None:
    with pytest.raises(UploadError) as told:
        read_upload("a.docx", docx_of("<w:p/>" * 5_000_000))
    assert str(told.value.values["reason"]).startswith("takes too long")


def test_a_process_that_does_not_end_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox, "SANDBOX_COMMAND", "import time; time.sleep(600)")
    monkeypatch.setattr(sandbox, "LAST_SECONDS", 0.3)
    with pytest.raises(UploadError) as told:
        read_upload("a.docx", docx("words"))
    assert str(told.value.values["reason"]).startswith("takes too long")


@pytest.mark.parametrize("kind", ["docx", "txt"])
def test_a_text_may_be_as_long_as_the_pages_take(kind: str) -> None:
    text = ("lorem ipsum dolor sit amet " * (MAX_CHARACTERS // 27 + 1))[: MAX_CHARACTERS - 1]
    for more, is_refused in (("x", False), ("xx", True)):
        data = (text + more).encode() if kind == "txt" else docx(text + more)
        if is_refused:
            with pytest.raises(DocumentTooLongError) as told:
                read_upload(f"a.{kind}", data)
            assert told.value.count == MAX_CHARACTERS + 1
        else:
            assert read_upload(f"a.{kind}", data)[0] == text + more


def test_the_error_for_a_long_text_names_its_length(serve: Callable[..., str]) -> None:
    files = {"file": ("a.docx", docx("lorem " * (MAX_CHARACTERS // 5)))}
    answer = httpx.post(f"{serve()}/check?lang=en", files=files, timeout=60)
    assert answer.status_code == 413
    assert "2,399,999" in answer.text


def test_checks_go_on_while_files_are_read(
    serve: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    gate, reached = threading.Event(), threading.Event()

    def slow(name: str, data: bytes) -> tuple[str, str]:
        reached.set()
        gate.wait(60)
        return "a text", ""

    monkeypatch.setattr(page_input, "read_upload", slow)
    url = serve(workers=1)

    def brought() -> httpx.Response:
        return httpx.post(f"{url}/check", files={"file": ("a.docx", b"x")}, timeout=60)

    with ThreadPoolExecutor(20) as pool:
        found = [pool.submit(brought) for _ in range(20)]
        try:
            assert reached.wait(60)
            for _ in range(3):
                checked = httpx.post(f"{url}/v1/check", json={"text": "words"}, timeout=20)
                assert checked.status_code == 200
        finally:
            gate.set()
        statuses = {each.result().status_code for each in found}
    assert statuses <= {303, 503}
