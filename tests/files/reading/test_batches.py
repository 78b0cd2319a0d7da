"""Files in batches: JSON lines and text, and what holds for every format."""

import gzip
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from helpers.batches import keys, pack, pairs, pieces, read, texts
from neardup.files.reading import batch as document
from neardup.files.reading import streams
from neardup.files.reading.batch import Reading, Unreadable
from neardup.files.reading.inputs import read_batches

PACKINGS = pytest.mark.parametrize("packing", ["", ".gz", ".zst"])
ENDS = pytest.mark.parametrize("end", ["\n", "\r\n"])

TEXTS = ["one two", "三 four\nfive", "", 'six, "seven"\t8', "last"]


IDS = ["a", "b,1", "c", "d", "é"]


def jsonl_records(end: str = "\n") -> list[bytes]:
    rows = zip(IDS, TEXTS, strict=True)
    return [(json.dumps({"id": name, "text": text}) + end).encode() for name, text in rows]


PIECES = (
    *(b"text", b"id", b",", b"\n", b'"', b"\r\n", b'{"text": "a"}\n', b'{"id": ', b"\0", b"\xff"),
    *(b"id,text\n", b"1,a\n", b'2,"\n"\n', b"\xef\xbb\xbf", b"\x1f\x8b", b"PAR1", b"\xce\xd2"),
)


@PACKINGS
@ENDS
@pytest.mark.parametrize("mark", [b"", document.BOM])
def test_json_lines(tmp_path: Path, packing: str, end: str, mark: bytes) -> None:
    path = tmp_path / f"a.jsonl{packing}"
    records = jsonl_records(end)
    records[-1] = records[-1].rstrip()
    data = mark + records[0] + b"\n \n" + b"".join(records[1:])
    path.write_bytes(pack(data, packing))
    batches, problems = read(path)
    assert problems == []
    assert pairs(batches) == list(zip(IDS, TEXTS, strict=True))
    assert pieces(batches, data) == records
    assert [line for batch in batches for line in batch.lines.tolist()] == [1, 4, 5, 6, 7]
    assert batches[0].key is None


@PACKINGS
def test_text_files_and_lines(tmp_path: Path, packing: str) -> None:
    path = tmp_path / f"a.txt{packing}"
    data = b"\xef\xbb\xbfone\r\n\ntwo\rthree\nlast"
    path.write_bytes(pack(data, packing))
    batches, problems = read(path)
    assert (pairs(batches), problems) == ([(str(path), "one\r\n\ntwo\rthree\nlast")], [])
    assert pieces(batches, data) == [data]
    batches, problems = read(path, lines=True)
    lines = ["one", "", "two\rthree", "last"]
    expected = [(f"{path}:{number}", line) for number, line in enumerate(lines, 1)]
    assert (pairs(batches), problems) == (expected, [])
    assert pieces(batches, data) == [b"one\r\n", b"\n", b"two\rthree\n", b"last"]


def write_jsonl(path: Path, rows: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def write_parquet(path: Path, rows: list[dict[str, Any]]) -> None:
    names = list(dict.fromkeys(name for row in rows for name in row))
    table = pa.table(
        {name: pa.array([row.get(name) for row in rows], pa.string()) for name in names}
    )
    pq.write_table(table, path)


@pytest.mark.parametrize("write", [write_jsonl, write_parquet])
def test_several_text_columns(tmp_path: Path, write: Callable[..., None]) -> None:
    path = tmp_path / ("a.jsonl" if write is write_jsonl else "a.parquet")
    write(path, [{"t": "T", "b": "B"}, {"t": None, "b": "C"}, {"t": None, "b": None}])
    batches, problems = read(path, text_columns=("t", "x", "b"))
    assert (texts(batches), problems) == (["T\n\nB", "\n\nC", "\n\n"], [])


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([1, 2, None], [1, 2, None]),
        ([1, 2.5, None], [1.0, 2.5, None]),
        ([1 << 70, 1, None], [float(1 << 70), 1.0, None]),
        (["a", 1, None], ["a", "1", None]),
        ([[1], True, None], [None, None, None]),
        ([[1], 3, "\ud800"], [None, "3", "?"]),
    ],
)
def test_keys_of_json_lines(tmp_path: Path, values: list[Any], expected: list[Any]) -> None:
    path = tmp_path / "a.jsonl"
    write_jsonl(path, [{"text": "", "k": value} for value in values])
    batches, problems = read(path, key_column="k")
    assert (keys(batches), problems) == (expected, [])


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (
            b'{"text": "\xce\xd2"}',
            "2: not UTF-8 (byte 0xce at offset 10); name its encoding with --encoding",
        ),
        (b'{"text": "a\0"}', "2: not JSON (Invalid control character at character 11)"),
        (b"[1]", "2: expected an object, got a list"),
        (b'{"text": "\\ud800"}', "2: column 'text' holds a lone surrogate (U+D800"),
        (b'{"body": ""}', "2: no column 'text' (columns: 'body')"),
    ],
)
def test_bad_json_lines(tmp_path: Path, line: bytes, reason: str) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"text": "before"}\n' + line + b'\n{"text": "after"}\n')
    batches, problems = read(path)
    assert texts(batches) == ["before", "after"]
    assert len(problems) == 1
    assert problems[0].startswith(reason)


def test_bad_text_files(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"ok\n\xce\xd2\nno\0\nfine\n")
    batches, problems = read(path, lines=True)
    assert texts(batches) == ["ok", "fine"]
    assert [problem.split(";")[0] for problem in problems] == [
        "2: not UTF-8 (byte 0xce at offset 0)",
        "3: holds a NUL byte",
    ]
    assert read(path)[1][0].startswith("2: not UTF-8 (byte 0xce at offset 3)")
    path.write_bytes("ab\ncd".encode("utf-16-le"))
    assert read(path)[1][0].startswith("1: holds a NUL byte; looks like")
    path.write_bytes(gzip.compress(b"a"))
    assert read(path) == ([], [" is gzip; rename it to end in .gz"])


def test_long_lines_are_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(document, "MAX_BYTES", 10)
    path = tmp_path / "a.txt"
    data = b"short\n" + b"x" * 35 + b"\n0123456789\n" + b"y" * 11 + b"\nend"
    path.write_bytes(data)
    batches, problems = read(path, lines=True)
    assert texts(batches) == ["short", "0123456789", "end"]
    assert pieces(batches, data) == [b"short\n", b"0123456789\n", b"end"]
    assert [line for batch in batches for line in batch.lines.tolist()] == [1, 3, 5]
    assert problems == [
        f"{line}: the line is longer than 10 bytes; raise --max-document" for line in (2, 4)
    ]
    assert read(path)[1][0].startswith(" longer than 10 bytes; split it")


@given(st.binary(max_size=60).map(lambda data: data.replace(b"x", b"\n")), st.integers(1, 20))
def test_blocks_are_the_lines(data: bytes, most: int) -> None:
    """Against the simplest way to cut a file into lines, for every size of block and limit."""
    data = b"." + data  # no marks
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(document, "MAX_BYTES", most)
        problems: list[Unreadable] = []
        file = streams.ByteStream("a.txt", io.BytesIO(data))
        found = {}
        for number, start, block in streams.blocks(file, problems.append):
            assert data[start : start + len(block)] == block
            for at, line in enumerate(block.removesuffix(b"\n").split(b"\n"), number):
                found[at] = line
    lines = dict(enumerate(data.removesuffix(b"\n").split(b"\n"), 1))
    assert found == {number: line for number, line in lines.items() if len(line) <= most}
    assert [problem.line for problem in problems] == [
        number for number, line in lines.items() if len(line) > most
    ]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=300)
@given(
    data=st.lists(st.sampled_from(PIECES) | st.binary(max_size=3), max_size=20).map(b"".join),
    name=st.sampled_from(["a.jsonl", "a.csv", "a.txt", "a.parquet", "a.csv.gz", "a.jsonl.zst"]),
    lines=st.booleans(),
    most=st.integers(5, 100),
)
def test_junk_is_reported_never_raised(
    tmp_path: Path, data: bytes, name: str, lines: bool, most: int
) -> None:
    path = tmp_path / name
    path.write_bytes(pack(data, path.suffix))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(document, "MAX_BYTES", most)
        batches, _ = read(path, lines=lines, key_column="n")
    spans = [place for batch in batches for span in batch.spans.tolist() for place in span]
    assert spans == sorted(spans)
    assert all(0 <= place <= len(data) for place in spans)
    path.write_bytes(data)  # not packed at all, whatever its name says
    read(path, lines=lines)


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz", "a.csv", "a.parquet", "a.txt"])
def test_progress_is_of_stored_bytes(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("neardup.files.reading.parquet.BATCH_ROWS", 100)
    path = tmp_path / name
    if name == "a.parquet":
        pq.write_table(pa.table({"text": ["x y"] * 1000}), path, row_group_size=100)
    else:
        path.write_bytes(pack(b'{"text": "x"}\n' * 1000, path.suffix))
    told: list[int] = []
    problems: list[Unreadable] = []
    list(read_batches(str(path), Reading(), problems.append, progress=told.append))
    if name == "a.parquet":  # all but the footer
        groups = [pq.read_metadata(path).row_group(n) for n in range(10)]
        assert sum(told) == sum(group.column(0).total_compressed_size for group in groups)
        assert len(told) > 1
    else:
        assert sum(told) == path.stat().st_size


def test_batches_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "BLOCK_BYTES", 100)
    monkeypatch.setattr("neardup.files.reading.csv.BATCH_BYTES", 100)
    row = '{"text": "%03d"}\n'
    (tmp_path / "a.jsonl").write_text("".join(row % n for n in range(50)))
    (tmp_path / "a.csv").write_text("text\n" + "".join(f"{n:03d}\n" for n in range(50)))
    for name in ("a.jsonl", "a.csv"):
        batches, problems = read(tmp_path / name)
        assert problems == []
        assert texts(batches) == [f"{n:03d}" for n in range(50)]
        assert len(batches) > 1
    assert [line for batch in batches for line in batch.lines.tolist()] == list(range(2, 52))


@pytest.mark.parametrize("failing", range(1, 7))
@pytest.mark.parametrize("name", ["a.jsonl", "a.csv"])
def test_records_before_a_disk_error_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing: int, name: str
) -> None:
    monkeypatch.setattr(streams, "BLOCK_BYTES", 170)
    row = '{"text": "%03d"}\n' if name == "a.jsonl" else "%03d\n"
    head = "" if name == "a.jsonl" else "text\n"
    (tmp_path / name).write_text(head + "".join(row % n for n in range(500)))
    whole, reads = streams.ByteStream.read, 0

    def broken(self: streams.ByteStream, size: int) -> bytes:
        nonlocal reads
        reads += 1
        if reads == failing:
            raise OSError(5, "Input/output error")
        return whole(self, size)

    monkeypatch.setattr(streams.ByteStream, "read", broken)
    batches, problems = read(tmp_path / name)
    # A line that is not whole is lost, the others are not.
    most = (failing - 1) * 170 // len(row % 0)
    assert most - 2 <= len(texts(batches)) <= most or failing == 1
    assert "Input/output error" in problems[-1]


def test_wrong_settings() -> None:
    with pytest.raises(
        ValueError, match=r"format is 'xml'; use one of jsonl, json, csv, tsv, parquet, text, html"
    ):
        Reading(format="xml")
    for value in (";;", "", '"', "\n"):
        with pytest.raises(ValueError, match=r"delimiter is .*; it must be one character"):
            Reading(delimiter=value)
    with pytest.raises(ValueError, match=r"quoting is 'some'; use \"all\" or \"none\""):
        Reading(quoting="some")
    with pytest.raises(ValueError, match="max_bytes is 0; it must be a whole number of bytes"):
        Reading(max_bytes=0)
    with pytest.raises(ValueError, match="max_document is 2,147,483,648; it must be at most"):
        Reading(max_document=2 << 30)
    for value in (
        "latin-9000",
        "base64",
        "rot13",
        "utf-7",
        "UTF_7",
        "unicode_escape",
        "raw-unicode-escape",
        "",
    ):
        with pytest.raises(ValueError, match=f"encoding is '{value}', which is unknown"):
            Reading(encoding=value)
    with pytest.raises(ValueError, match="text_columns is empty"):
        Reading(text_columns=())
    with pytest.raises(ValueError, match="text_columns has 'a' twice"):
        Reading(text_columns=("a", "b", "a"))
