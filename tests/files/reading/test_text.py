"""Plain text files as documents."""

import io
from pathlib import Path

import pytest

from helpers.batches import pairs, read
from neardup.files.reading import batch as document
from neardup.files.reading.batch import Document, group_documents
from neardup.files.reading.formats import name_of
from neardup.files.reading.inputs import read_text

UNKNOWN = "name its encoding with --encoding, such as gb18030 or latin-1"
LONGER = "今天天气很好，我们去公园散步。中文文本的编码检测需要一些字符。"


def test_a_file_is_a_document(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"\xef\xbb\xbfone\r\ntwo\n")
    batches, problems = read(path)
    assert (pairs(batches), problems) == ([(str(path), "one\r\ntwo\n")], [])


def test_an_empty_file(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"")
    assert pairs(read(path)[0]) == [(str(path), "")]
    assert read(path, lines=True) == ([], [])


@pytest.mark.parametrize(
    ("data", "hint"),
    [
        (b"\x89PNG\0\0", "looks like a binary file"),
        (b"\xff", UNKNOWN),
        ("今天天气很好，我们去公园".encode("gbk"), UNKNOWN),
        ("é".encode("latin-1") + b" and nothing else but plain English words", UNKNOWN),
        (LONGER.encode("gbk"), "looks like gb18030: use --encoding gb18030"),
        (
            "今天天氣很好，我們去公園散步。中文文本的編碼檢測需要一些字元。".encode("big5"),
            "looks like big5: use --encoding big5",
        ),
    ],
)
def test_not_utf8_has_a_way_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, data: bytes, hint: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a b.txt").write_bytes(data)
    for lines in (False, True):
        (problem,) = read("a b.txt", lines=lines)[1]
        assert problem == f"1: not UTF-8 (byte 0x{data[0]:02x} at offset 0); {hint}"


def test_too_long_is_reported_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(document, "MAX_BYTES", 10)
    path = tmp_path / "long.txt"
    path.write_bytes(b"short\n" + b"x" * 35 + b"\n0123456789\nend")
    assert read(path)[1] == [
        " longer than 10 bytes; split it, read one document per line (--lines), or raise "
        "--max-document"
    ]
    assert read(path, max_document=100)[1] == []
    batches, problems = read(path, lines=True)
    lines = [(1, "short"), (3, "0123456789"), (4, "end")]
    assert pairs(batches) == [(f"{path}:{number}", text) for number, text in lines]
    assert problems == ["2: the line is longer than 10 bytes; raise --max-document"]


def test_a_name_that_is_not_utf8_is_escaped() -> None:
    assert name_of("caf\udce9.txt") == r"caf\udce9.txt"


def test_text_of_one_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    path = Path("a b.txt")
    path.write_bytes(b"hello")
    assert read_text(str(path)) == "hello"
    path.write_bytes(b"\xff")
    with pytest.raises(
        ValueError, match=r"; make it UTF-8 with iconv -f ENCODING -t UTF-8 'a b\.txt'$"
    ):
        read_text(str(path))
    path.write_bytes(LONGER.encode("gbk"))
    with pytest.raises(
        ValueError,
        match=r"a b\.txt:1: not UTF-8 .*; looks like gb18030: "
        r"iconv -f gb18030 -t UTF-8 'a b\.txt'$",
    ):
        read_text(str(path))
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"\xce\xd2\xff")))
    with pytest.raises(ValueError, match=r"stdin:1: not UTF-8"):
        read_text("-")


def test_batches_close_by_count_and_by_size() -> None:
    documents = [Document(str(n), "x" * n) for n in range(6)]
    by_count = group_documents(documents, most=4)
    assert [len(batch) for batch in by_count] == [4, 2]
    by_size = group_documents(documents, characters=5)
    assert [[len(each.text) for each in batch] for batch in by_size] == [[0, 1, 2, 3], [4, 5]]
    assert list(group_documents([])) == []
