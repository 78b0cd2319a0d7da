"""Documents of all kinds as sources: how they are known, what is refused, what is loaded."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import threading
import zipfile
from pathlib import Path
from typing import Any

import pytest

from helpers import document_files
from helpers.batches import pack, pairs, read, texts
from neardup.files.documents import DOCUMENT_FORMATS, zipped_xml
from neardup.files.reading import batch as document
from neardup.files.reading.batch import Reading
from neardup.files.reading.formats import UnreadableDocumentError, all_formats
from neardup.files.reading.inputs import check_options, expand, read_text

HELLO = "<p>hello world</p>"
MADE: dict[str, bytes] = {
    "html": document_files.html(HELLO),
    "docx": document_files.docx(document_files.word_paragraphs("hello world")),
    "odt": document_files.odt("<text:p>hello world</text:p>"),
    "epub": document_files.epub({"a.xhtml": HELLO}),
    "rtf": document_files.rtf(r"hello world\par"),
    "pdf": document_files.pdf([document_files.paragraphs_at([["hello world"]])]),
}
NEEDS = {
    "html": ("selectolax", "HTML"),
    "epub": ("selectolax", "HTML"),
    "pdf": ("pypdfium2", "PDF"),
}
EVERY = pytest.mark.parametrize("kind", MADE)
ZIPPED = pytest.mark.parametrize("kind", ["docx", "odt", "epub"])


def put(folder: Path, name: str, data: bytes) -> Path:
    path = folder / name
    path.write_bytes(data)
    return path


def test_every_kind_is_tested() -> None:
    assert set(MADE) == set(DOCUMENT_FORMATS)


@EVERY
@pytest.mark.parametrize("packing", ["", ".gz", ".zst"])
def test_a_file_is_a_document(tmp_path: Path, kind: str, packing: str) -> None:
    path = put(tmp_path, f"a.{kind.upper()}{packing}", pack(MADE[kind], packing))
    (batch,), problems = read(path)
    assert (pairs([batch]), problems) == ([(str(path), "hello world")], [])
    assert batch.spans.tolist() == [[0, 0]]
    assert read_text(str(path)) == "hello world"


@EVERY
def test_a_folder_takes_them(tmp_path: Path, kind: str) -> None:
    path = put(tmp_path, f"a.{kind}", MADE[kind])
    assert expand([str(tmp_path)]) == [str(path)]


@EVERY
def test_a_name_that_says_nothing_or_another_kind(tmp_path: Path, kind: str) -> None:
    if kind == "html":
        return  # pages are known by their names only
    for name in ("thesis", "thesis.bin", "thesis.html", "thesis.docx", "thesis.pdf"):
        path = put(tmp_path, name, MADE[kind])
        assert texts(read(path)[0]) == ["hello world"], name
        assert read_text(str(path)) == "hello world"


@EVERY
def test_standard_input(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(MADE[kind])))
    assert pairs(read("-", format=kind)[0]) == [("stdin", "hello world")]


@pytest.mark.parametrize("kind", ["odt", "epub"])
def test_a_zip_that_holds_a_word_document_is_what_its_name_says(tmp_path: Path, kind: str) -> None:
    # Without the entry that names the format, which would tell it.
    data = MADE[kind].replace(b"application/epub+zip", b"Xpplication/epub+zip")
    data = data.replace(b"application/vnd.oasis", b"Xpplication/vnd.oasis", 1)
    file = io.BytesIO(data)
    with zipfile.ZipFile(file, "a") as archive:
        archive.writestr(
            "word/document.xml", document_files.word_part(document_files.word_paragraphs("no"))
        )
    assert texts(read(put(tmp_path, f"a.{kind}", file.getvalue()))[0]) == ["hello world"]


@pytest.mark.parametrize("kind", ["docx", "odt", "epub", "pdf"])
def test_a_document_named_as_text_is_reported_by_its_format(tmp_path: Path, kind: str) -> None:
    path = put(tmp_path, "a.txt", MADE[kind])
    (problem,) = read(path)[1]
    called, endings = DOCUMENT_FORMATS[kind]
    assert problem.endswith(
        f"looks like {called}: use --format {kind}, or a name that ends in {endings[0]}"
    )
    assert texts(read(path, format=kind)[0]) == ["hello world"]


def test_a_text_about_a_format_is_a_text(tmp_path: Path) -> None:
    path = put(tmp_path, "a.txt", b"A file begins with %PDF- if it is one.")
    assert texts(read(path)[0]) == ["A file begins with %PDF- if it is one."]


def test_lines_of_a_name_that_says_nothing_are_lines(tmp_path: Path) -> None:
    path = put(tmp_path, "a.log", rb"{\rtf1 a}" + b"\nb\n")
    assert texts(read(path, lines=True)[0]) == [r"{\rtf1 a}", "b"]


@pytest.mark.parametrize("kind", NEEDS)
def test_without_the_package_one_sentence_says_what_to_install(
    tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(name: str) -> Any:
        raise ModuleNotFoundError(f"No module named {name!r}")

    monkeypatch.setattr("importlib.import_module", missing)
    package, called = NEEDS[kind]
    told = f"reading {called} needs the package {package}, which is not installed"
    path = put(tmp_path, f"a.{kind}", MADE[kind])
    clone = "or in a clone pip install -r requirements/documents.txt"
    assert read(path) == ([], [f" {told}; pip install 'neardup[documents]', {clone}"])
    with pytest.raises(ValueError, match=rf"a\.{kind}: {told}; pip install 'neardup\[documents\]'"):
        read_text(str(path))


@pytest.mark.parametrize("kind", sorted(set(MADE) - set(NEEDS)))
def test_word_opendocument_and_rtf_need_no_package(
    tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.import_module", lambda name: pytest.fail(name))
    assert texts(read(put(tmp_path, f"a.{kind}", MADE[kind]))[0]) == ["hello world"]


def test_nothing_is_loaded_before_such_a_file_comes(tmp_path: Path) -> None:
    path = put(tmp_path, "a.txt", b"hello world")
    code = (
        "import sys\nfrom neardup.files.reading.inputs import read_text\n"
        f"read_text({str(path)!r})\n"
        "documents = 'neardup.files.documents.'\n"
        "late = ('selectolax', 'pypdfium2', 'zipfile', 'xml', 'ctypes', documents + 'office',\n"
        "        documents + 'pdf', documents + 'html', documents + 'rtf')\n"
        "print([name for name in late if name in sys.modules])"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"


@EVERY
def test_a_cut_file_is_reported_with_its_name(tmp_path: Path, kind: str) -> None:
    if kind == "html":
        return  # a page that is cut is a page
    for size in (0, 1, 10, len(MADE[kind]) // 2, len(MADE[kind]) - 30):
        path = put(tmp_path, f"cut.{kind}", MADE[kind][:size])
        if size > 1 and kind == "pdf" and size > len(MADE[kind]) // 2:
            continue  # PDFium finds what is there
        batches, problems = read(path)
        assert batches == [], size
        assert len(problems) == 1, size
        assert any(word in problems[0] for word in ("damaged", "truncated", "is not RTF")), problems


@ZIPPED
def test_a_locked_zip(tmp_path: Path, kind: str) -> None:
    data = bytearray(MADE[kind])
    at = 0
    while (at := data.find(b"PK\x01\x02", at)) >= 0:
        data[at + 8] |= 1
        at += 4
    (problem,) = read(put(tmp_path, f"a.{kind}", bytes(data)))[1]
    assert problem == " is encrypted; save it without a password"


@pytest.mark.parametrize(
    ("inside", "told"),
    [
        ("EncryptedPackage", "is encrypted; save it without a password"),
        ("WordDocument", "is a Word 97–2003 document (.doc); save it as .docx"),
    ],
)
def test_word_documents_that_are_no_zip(tmp_path: Path, inside: str, told: str) -> None:
    data = zipped_xml.OLE + bytes(500) + inside.encode("utf-16-le")
    assert read(put(tmp_path, "a.docx", data))[1] == [f" {told}"]


def bomb(kind: str, size: int) -> bytes:
    """A document whose main part unpacks to `size` bytes of blanks."""
    name = {"docx": "word/document.xml", "odt": "content.xml", "epub": "META-INF/container.xml"}
    return document_files.zipped({name[kind]: b" " * size})


@ZIPPED
def test_a_bomb_that_says_what_it_is(tmp_path: Path, kind: str) -> None:
    path = put(tmp_path, f"a.{kind}", bomb(kind, 3 << 20))
    (problem,) = read(path, max_document=1 << 20)[1]
    assert problem.startswith(" unpacks to more than 1 MiB (")
    assert "alone has 3,145,728 bytes); if that is intended" in problem
    assert problem.endswith("raise --max-document")
    (problem,) = read(path, max_document=4 << 20)[1]
    assert "is damaged" in problem


@ZIPPED
def test_a_bomb_that_lies_about_its_size(tmp_path: Path, kind: str) -> None:
    data = bytearray(bomb(kind, 3 << 20))
    size = (3 << 20).to_bytes(4, "little")
    while (at := data.find(size)) >= 0:
        data[at : at + 4] = (100).to_bytes(4, "little")
    batches, problems = read(put(tmp_path, f"a.{kind}", bytes(data)), max_document=1 << 20)
    assert batches == []
    assert len(problems) == 1
    assert "is damaged" in problems[0] or "holds more than" in problems[0]


def test_what_comes_out_is_counted_whatever_the_list_says(monkeypatch: pytest.MonkeyPatch) -> None:
    parts = zipped_xml.ZipEntries(document_files.zipped({"a": b"x" * 1000}), 500)

    class Endless(io.BytesIO):
        def read(self, size: int | None = -1) -> bytes:
            assert size is not None
            return b"x" * size

    monkeypatch.setattr(zipfile.ZipFile, "open", lambda *_: Endless())
    monkeypatch.setattr(parts._names["a"], "file_size", 10)
    with pytest.raises(
        UnreadableDocumentError, match=r"unpacks to more than 500 bytes \(a is larger"
    ):
        parts.read("a")


def test_all_parts_count_together() -> None:
    parts = zipped_xml.ZipEntries(document_files.zipped({"a": b"x" * 600, "b": b"y" * 600}), 1000)
    assert len(parts.read("a")) == 600
    with pytest.raises(
        UnreadableDocumentError, match=r"unpacks to more than 1,000 bytes \(b alone has 600"
    ):
        parts.read("b")


def test_more_parts_than_any_document_has(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(zipped_xml, "MAX_ENTRIES", 3)
    zipped_xml.ZipEntries(document_files.zipped(dict.fromkeys("abc", "")), 1000)
    with pytest.raises(UnreadableDocumentError, match="a zip of more than 3 entries"):
        zipped_xml.ZipEntries(document_files.zipped(dict.fromkeys("abcd", "")), 1000)


LAUGHS = (
    '<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;">'
    '<!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;&b;">]><x>&c;</x>'
)
FILE = '<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]><x>&a;</x>'
PARAMETER = '<?xml version="1.0"?><!DOCTYPE x [<!ENTITY % a SYSTEM "file:///etc/passwd"> %a;]><x/>'
EXTERNAL = '<?xml version="1.0"?><!DOCTYPE x SYSTEM "file:///etc/passwd"><x/>'


@ZIPPED
@pytest.mark.parametrize("trick", [LAUGHS, FILE, PARAMETER])
def test_entities_are_refused(tmp_path: Path, kind: str, trick: str) -> None:
    name = {"docx": "word/document.xml", "odt": "content.xml", "epub": "META-INF/container.xml"}
    data = document_files.zipped({name[kind]: trick})
    (problem,) = read(put(tmp_path, f"a.{kind}", data))[1]
    assert problem == f" {name[kind]} declares the entity 'a'; entities are not expanded"


def test_a_declaration_elsewhere_is_not_fetched(tmp_path: Path) -> None:
    data = document_files.zipped({"word/document.xml": EXTERNAL})
    assert texts(read(put(tmp_path, "a.docx", data))[0]) == [""]


@pytest.mark.parametrize("kind", ["docx", "odt"])
def test_xml_as_deep_as_one_likes(tmp_path: Path, kind: str) -> None:
    depth = 200_000
    if kind == "docx":
        body = "<w:x>" * depth + document_files.word_paragraphs("deep") + "</w:x>" * depth
        data = document_files.docx(body)
    else:
        data = document_files.odt("<x>" * depth + "<text:p>deep</text:p>" + "</x>" * depth)
    assert texts(read(put(tmp_path, f"a.{kind}", data))[0]) == ["deep"]


@pytest.mark.parametrize("part", [b"<!--" + b"x" * (20 << 20), b"<x a='" + b"y" * (20 << 20)])
def test_a_token_that_never_ends(tmp_path: Path, part: bytes) -> None:
    data = document_files.zipped({"word/document.xml": part})
    (problem,) = read(put(tmp_path, "a.docx", data))[1]
    assert "is damaged (word/document.xml, line 1: " in problem


@EVERY
@pytest.mark.parametrize("over", [0, 1])
def test_files_of_just_the_limit(tmp_path: Path, kind: str, over: int) -> None:
    path = put(tmp_path, f"a.{kind}", MADE[kind])
    most = len(MADE[kind]) - over
    # What is unpacked is more than what is packed, so zips are refused for that before.
    if kind in ("docx", "odt", "epub") and not over:
        return
    batches, problems = read(path, max_document=most)
    if over:
        size = document.format_size(most)
        assert problems == [f" the file is longer than {size}; raise --max-document"]
    else:
        assert texts(batches) == ["hello world"]


@EVERY
def test_an_option_for_other_formats_is_refused(kind: str) -> None:
    with pytest.raises(ValueError, match="--delimiter is for CSV, TSV, and no input is one"):
        check_options([f"a.{kind}"], Reading(delimiter=";"))
    encoded = Reading(encoding="gbk")
    if kind == "html":
        check_options([f"a.{kind}"], encoded)
    else:
        with pytest.raises(ValueError, match=r"--encoding is for .*HTML.*, and no input is one"):
            check_options([f"a.{kind}"], encoded)


@pytest.mark.parametrize("kind", ["docx", "odt", "epub", "rtf", "pdf"])
def test_an_encoding_for_others_does_not_touch_them(tmp_path: Path, kind: str) -> None:
    path = put(tmp_path, f"a.{kind}", MADE[kind])
    for encoding in ("gb18030", "utf-16", "auto"):
        assert texts(read(path, encoding=encoding)[0]) == ["hello world"]


def test_all_are_kept_as_texts() -> None:
    assert {all_formats()[kind].keeps for kind in DOCUMENT_FORMATS} == {"texts"}


@EVERY
def test_a_pipe_among_documents_is_reported(tmp_path: Path, kind: str) -> None:
    path = tmp_path / f"a.{kind}"
    os.mkfifo(path)
    # Without a writer, to open it would wait for ever; this end makes it fail instead.
    end = os.open(path, os.O_RDWR | os.O_NONBLOCK)
    try:
        os.write(end, b"x")
        told = []
        thread = threading.Thread(target=lambda: told.append(read(path)), daemon=True)
        thread.start()
        thread.join(10)
    finally:
        os.close(end)
    assert [problems for _, problems in told] == [
        [" is a named pipe; save its output to a file first"]
    ]
