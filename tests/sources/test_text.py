"""Plain text files as documents."""

import gzip
import io
from pathlib import Path

import pytest

from neardup import sources
from neardup.sources import Unreadable, document


def read(path: Path | str, *, lines: bool = False) -> tuple[list[tuple[str, str]], list[str]]:
    problems: list[Unreadable] = []
    found = sources.read([str(path)], report=problems.append, lines=lines)
    return [(each.id, each.text) for each in found], [str(problem) for problem in problems]


def test_a_file_is_a_document(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"\xef\xbb\xbfone\r\ntwo\0\n")
    assert read(path) == ([(str(path), "one\r\ntwo\0\n")], [])


def test_a_line_is_a_document(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"\xef\xbb\xbfone\r\n\ntwo\rthree\nlast")
    found, problems = read(path, lines=True)
    texts = ["one", "", "two\rthree", "last"]
    assert found == [(f"{path}:{n}", text) for n, text in enumerate(texts, 1)]
    assert problems == []


def test_an_empty_file(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"")
    assert read(path) == ([(str(path), "")], [])
    assert read(path, lines=True) == ([], [])


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    for lines, expected in [
        (False, [("stdin", "a\nb")]),
        (True, [("stdin:1", "a"), ("stdin:2", "b")]),
    ]:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"a\nb")))
        assert read("-", lines=lines) == (expected, [])


def test_not_utf8_is_reported_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "gbk.txt"
    path.write_bytes(b"ok\n" + "我".encode("gbk") + b"\nfine\n")
    hint = f"if it is GBK: iconv -f GB18030 -t UTF-8 {path}"
    assert read(path) == ([], [f"{path}:2: not UTF-8 (byte 0xce at offset 3); {hint}"])
    found, problems = read(path, lines=True)
    assert [text for _, text in found] == ["ok", "fine"]
    assert problems == [f"{path}:2: not UTF-8 (byte 0xce at offset 0); {hint}"]


@pytest.mark.parametrize(
    ("data", "hint"),
    [
        (b"\x89PNG\0\0", "looks like a binary file"),
        ("a".encode("utf-16"), "if it is UTF-16: iconv -f UTF-16 -t UTF-8 'a b.txt'"),
        (b"\xff", "if it is GBK: iconv -f GB18030 -t UTF-8 'a b.txt'"),
    ],
)
def test_not_utf8_has_a_way_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, data: bytes, hint: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a b.txt").write_bytes(data)
    for lines in (False, True):
        (problem,) = read("a b.txt", lines=lines)[1]
        assert problem == f"a b.txt:1: not UTF-8 (byte 0x{data[0]:02x} at offset 0); {hint}"


@pytest.mark.parametrize(
    ("name", "lines", "option"),
    [
        ("a.jsonl.gz", False, " --jsonl"),
        ("a.jsonl", False, " --jsonl"),
        ("a.txt.gz", False, ""),
        ("a.txt.gz", True, " --lines"),
    ],
)
def test_gzip_is_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, lines: bool, option: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path(name).write_bytes(gzip.compress(b'{"text": "alpha"}\n' * 9))
    command = f"zcat {name} | neardup fingerprint -{option}"
    assert read(name, lines=lines) == ([], [f"{name}: is gzip; pipe it: {command}"])


def test_gzip_on_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(gzip.compress(b"a"))))
    assert read("-")[1] == ["stdin: is gzip; pipe it: zcat | neardup fingerprint -"]


def test_too_long_is_reported_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(document, "MAX_BYTES", 10)
    path = tmp_path / "long.txt"
    path.write_bytes(b"short\n" + b"x" * 35 + b"\n0123456789\nend")
    assert read(path)[1] == [f"{path}: longer than 0 MiB; cut it, or read a document a line"]
    found, problems = read(path, lines=True)
    assert found == [(f"{path}:1", "short"), (f"{path}:3", "0123456789"), (f"{path}:4", "end")]
    assert problems == [f"{path}:2: the line is longer than 0 MiB"]


def test_a_name_that_is_not_utf8_is_escaped() -> None:
    assert sources.name_of("caf\udce9.txt") == r"caf\udce9.txt"


def test_what_cannot_be_opened_is_reported_and_reading_goes_on(tmp_path: Path) -> None:
    good = tmp_path / "good.txt"
    good.write_text("hello", "utf-8")
    problems: list[str] = []
    paths = [str(tmp_path), str(tmp_path / "none.txt"), str(good)]
    found = list(sources.read(paths, report=lambda problem: problems.append(str(problem))))
    assert [document.text for document in found] == ["hello"]
    assert problems[0] == f"{tmp_path}: a folder; pass the files in it"
    assert problems[1] == f"{tmp_path / 'none.txt'}: No such file or directory"


def test_text_of_one_file(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"hello")
    assert sources.text_of(str(path)) == "hello"
    path.write_bytes(b"\xff")
    with pytest.raises(ValueError, match=r"a\.txt:1: not UTF-8 \(byte 0xff at offset 0\)"):
        sources.text_of(str(path))


def test_batches_close_by_count_and_by_size() -> None:
    documents = [sources.Document(str(n), "x" * n) for n in range(6)]
    by_count = sources.batches(documents, most=4)
    assert [len(batch) for batch in by_count] == [4, 2]
    by_size = sources.batches(documents, characters=5)
    assert [[len(each.text) for each in batch] for batch in by_size] == [[0, 1, 2, 3], [4, 5]]
    assert list(sources.batches([])) == []
