"""Text in other encodings than UTF-8: named, marked, detected, and wrong."""

from __future__ import annotations

import codecs
import io
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.batches import pack, pairs, pieces, read, texts
from neardup.files.reading import encodings, streams
from neardup.files.reading.batch import Reading, Unreadable
from neardup.files.reading.inputs import read_batches
from neardup.files.reading.streams import ByteStream

CHINESE = "今天天气很好，我们去公园散步。中文文本的编码检测需要一些字符才能可靠地工作。"
TAIWAN = "今天天氣很好，我們去公園散步。中文文本的編碼檢測需要一些字元才能可靠地工作。"
FRENCH = "Le garçon a mangé une crêpe à l'école près de la forêt; où est-il allé après ça? " * 4

CASES = [
    (CHINESE, "gb18030", "gb18030"),
    (TAIWAN, "big5", "big5"),
    (FRENCH, "latin-1", "cp1252"),
    (CHINESE, "utf-16-le", "utf-16-le"),
    (CHINESE + "\n一二三\n", "utf-16-be", "utf-16-be"),
    (FRENCH, "utf-16-le", "utf-16-le"),
    (FRENCH, "utf-16-be", "utf-16-be"),
]


def files(text: str) -> dict[str, str]:
    return {
        "a.txt": text,
        "a.jsonl": json.dumps({"id": "1", "text": text}, ensure_ascii=False) + "\n",
        "a.json": json.dumps([{"id": "1", "text": text}], ensure_ascii=False, indent=1),
        "a.csv": f'id,text\n1,"{text}"\n',
        "a.tsv": "id\ttext\n1\t" + text.replace("\n", " ") + "\n",
    }


@pytest.mark.parametrize(("text", "encoding", "found"), CASES)
@pytest.mark.parametrize("name", ["a.txt", "a.jsonl", "a.json", "a.csv", "a.tsv"])
@pytest.mark.parametrize("packing", ["", ".gz"])
def test_named_and_detected(
    tmp_path: Path, text: str, encoding: str, found: str, name: str, packing: str
) -> None:
    path = tmp_path / (name + packing)
    written = files(text)[name]
    path.write_bytes(pack(written.encode(encoding), packing))
    expected = [text.replace("\n", " ") if name == "a.tsv" else text]
    batches, problems = read(path, encoding=encoding)
    assert (texts(batches), problems) == (expected, [])
    # Spans are those of the file as UTF-8, which is how records are kept.
    (piece,) = pieces(batches, written.encode())
    assert expected[0].splitlines()[0] in piece.decode()
    assert not any(batch.in_place for batch in batches)
    # Nothing is guessed without being asked for, but the guess is told.
    batches, problems = read(path)
    assert texts(batches) == []
    assert problems[-1].endswith(f"looks like {found}: use --encoding {found}")
    notes: list[str] = []
    again = list(read_batches(str(path), Reading(encoding="auto"), print, note=notes.append))
    assert texts(again) == expected
    assert notes == [f"{path}: read as {found} (detected); kept records are written as UTF-8"]


@pytest.mark.parametrize(
    ("mark", "encoding"), [(mark, name) for mark, name in encodings.MARKS if name != "utf-8"]
)
@pytest.mark.parametrize("asked", [None, "auto", "gb18030", "utf-8"])
def test_a_mark_is_obeyed(tmp_path: Path, mark: bytes, encoding: str, asked: str | None) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(mark + "id,text\r\n1,三\r\n".encode(encoding))
    notes: list[str] = []
    problems: list[Unreadable] = []
    reading = Reading(encoding=asked)
    found = list(read_batches(str(path), reading, problems.append, note=notes.append))
    assert (pairs(found), problems) == ([("1", "三")], [])
    assert notes == [
        f"{path}: read as {encoding} (byte order mark); kept records are written as UTF-8"
    ]


@pytest.mark.parametrize("asked", [None, "auto", "gb18030", "utf-8", "UTF8", "utf-8-sig"])
def test_a_file_marked_as_utf8_is_read_as_it_is(tmp_path: Path, asked: str | None) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(codecs.BOM_UTF8 + '{"text": "三"}\n'.encode())
    batches, problems = read(path, encoding=asked)
    assert (texts(batches), problems) == (["三"], [])
    assert batches[0].in_place
    assert batches[0].spans.tolist() == [[3, 19]]


def test_wrong_bytes_are_of_their_line_only(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes("一\n二".encode("gb18030") + b"\xff\n" + "三\n".encode("gb18030"))
    batches, problems = read(path, lines=True, encoding="gb18030")
    assert texts(batches) == ["一", "三"]
    assert problems == [
        "2: not gb18030; if the file is in another encoding, name it with --encoding"
    ]
    path.write_bytes("一\n".encode("utf-16-le") + b"\x00\xd8" + "x\n三".encode("utf-16-le"))
    batches, problems = read(path, lines=True, encoding="utf-16")
    assert (texts(batches), len(problems)) == (["一", "三"], 1)


@pytest.mark.parametrize("encoding", ["gb18030", "big5", "utf-16-le", "utf-8"])
def test_half_a_character_at_the_end_is_reported(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes("一\n二".encode(encoding)[:-1])
    batches, problems = read(path, lines=True, encoding=encoding)
    assert texts(batches) == ["一"]
    assert [problem.partition(";")[0][:7] for problem in problems] == ["2: not "]


def test_auto_leaves_utf8_alone(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"text": "三"}\n' * 20_000, "utf-8")  # the sample ends within a character
    notes: list[str] = []
    found = list(read_batches(str(path), Reading(encoding="auto"), print, note=notes.append))
    assert (len(texts(found)), notes) == (20_000, [])
    assert found[0].in_place


@given(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=60),
    st.sampled_from(["gb18030", "utf-16-le", "utf-32-be"]),
    st.integers(1, 17),
    st.integers(1, 5),
)
def test_decoded_bytes_are_those_of_the_text(
    text: str, encoding: str, size: int, step: int
) -> None:
    """However the file and the reading of it are cut."""
    text = "." + text  # no mark
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("neardup.files.reading.streams.CHUNK_BYTES", step)
        file = ByteStream(
            "a.txt", io.BytesIO(text.encode(encoding)), None, Reading(encoding=encoding)
        )
        parts = []
        while data := file.read(size):
            parts.append(data)
        assert all(len(part) == size for part in parts[:-1])
    assert b"".join(parts) == text.encode()
    assert file.position == len(text.encode())


def test_lines_of_a_decoded_file_have_their_numbers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streams, "BLOCK_BYTES", 50)
    path = tmp_path / "a.txt"
    lines = [f"第{n}行" for n in range(200)]
    path.write_bytes("\n".join(lines).encode("big5"))
    batches, problems = read(path, lines=True, encoding="big5")
    assert (texts(batches), problems) == (lines, [])
    assert [line for batch in batches for line in batch.lines.tolist()] == list(range(1, 201))


@pytest.mark.parametrize(
    ("data", "found"),
    [
        (b"", "utf-8"),
        (b"plain", "utf-8"),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", None),
        (bytes(range(256)) * 8, None),
        (b"\0" * 100, None),
        (b"\xff", None),
        ("我们去公园散步".encode("gbk"), None),
        (b"{" + "é".encode("latin-1") + b"}" * 1000, None),
        (FRENCH[:80].encode("latin-1"), None),
        (CHINESE[:19].encode("gbk"), None),
        (CHINESE[:21].encode("gbk"), "gb18030"),
        ("hello".encode("utf-16-le"), "utf-16-le"),
        ("hello".encode("utf-16-be"), "utf-16-be"),
    ],
)
def test_detection_of_odd_things(data: bytes, found: str | None) -> None:
    assert encodings.detect(data) == found
