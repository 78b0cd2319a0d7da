"""CSV and TSV in batches."""

import csv
import gzip
import io
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from neardup.sources import blocks, document
from reading import keys, pack, pairs, pieces, read, texts

PACKINGS = pytest.mark.parametrize("packing", ["", ".gz", ".zst"])
ENDS = pytest.mark.parametrize("end", ["\n", "\r\n"])

TEXTS = ["one two", "三 four\nfive", "", 'six, "seven"\t8', "last"]


IDS = ["a", "b,1", "c", "d", "é"]


# No carriage return: alone and outside quotes it ends a row for some and not for others.
CELLS = st.text(st.sampled_from('ab,"\n\té三 '), max_size=5)


def csv_records(delimiter: str, end: str = "\n") -> list[bytes]:
    records = []
    for name, text in zip(IDS, TEXTS, strict=True):
        sink = io.StringIO()
        csv.writer(sink, delimiter=delimiter, lineterminator=end).writerow([7, text, name])
        records.append(sink.getvalue().encode())
    return records


@PACKINGS
@ENDS
@pytest.mark.parametrize(("suffix", "delimiter"), [("csv", ","), ("tsv", "\t")])
def test_separated(tmp_path: Path, packing: str, end: str, suffix: str, delimiter: str) -> None:
    path = tmp_path / f"a.{suffix}{packing}"
    records = csv_records(delimiter, end)
    records[-1] = records[-1].rstrip()
    header = delimiter.join(["n", "text", "id"]).encode() + end.encode()
    data = document.BOM + header + records[0] + end.encode() + b"".join(records[1:])
    path.write_bytes(pack(data, packing))
    batches, problems = read(path, key_column="n")
    assert problems == []
    assert pairs(batches) == list(zip(IDS, TEXTS, strict=True))
    assert pieces(batches, data) == records
    assert batches[0].lines.tolist() == [2, 4, 6, 7, 8]
    assert keys(batches) == ["7"] * 5
    assert keys(read(path, key_column="none")[0]) == [None] * 5
    assert keys(read(path, key_column="id")[0]) == IDS


def test_several_text_columns_of_a_table(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("b,t,id\nB,T,\nC,,\n")
    batches, problems = read(path, text_columns=("t", "x", "b"))
    assert (pairs(batches), problems) == ([(f"{path}:2", "T\n\nB"), (f"{path}:3", "\n\nC")], [])
    expected = ["1: none of the columns 'x', 'y' (there is 'b', 't', 'id')"]
    assert read(path, text_columns=("x", "y")) == ([], expected)


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        (b"x,\xce\xd2", "4: not UTF-8 (byte 0xce at offset 2); if it is GBK: iconv"),
        (b'"\n\xce\n",b', "4: not UTF-8 (byte 0xce at offset 2)"),
        (b"x,a\0b", "4: holds a NUL byte"),
        (b"x", "4: 1 fields where the header has 2"),
        (b"x,y,z", "4: 3 fields where the header has 2"),
        (b'"x"y,z', "4: not CSV ("),
        (b"x\ry,z", "4: not CSV ("),
    ],
)
def test_bad_rows(tmp_path: Path, row: bytes, reason: str) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(b'id,text\n1,"be\nfore"\n' + row + b'\n2,"af\nter"\n3,end')
    batches, problems = read(path)
    assert texts(batches) == ["be\nfore", "af\nter", "end"]
    assert len(problems) == 1
    assert problems[0].startswith(reason)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "1: empty; a line with the names of the columns is needed"),
        (b"\n\n", "1: empty; a line"),
        (
            "id,text\n1,x\n".encode("utf-16"),
            "1: not UTF-8 (byte 0xff at offset 0); if it is UTF-16",
        ),
        (b"id,body\n1,x\n2,y\n", "1: no column 'text' (there is 'id', 'body')"),
        (b"text,text\n1,x\n", "1: column 'text' is there 2 times"),
        (b'text\n"a\nb\nc\n', "2: not CSV (a quote is opened and never closed; 2 lines below it"),
        (gzip.compress(b"text\n"), " is gzip; let its name end in .gz"),
        (pack(b"text\n", ".zst"), " is zstd; let its name end in .zst"),
    ],
)
def test_tables_that_cannot_be_read(tmp_path: Path, data: bytes, reason: str) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(data)
    batches, problems = read(path)
    assert batches == []
    assert len(problems) == 1
    assert problems[0].startswith(reason)


def test_an_id_asked_for_by_name_has_to_be_there(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("url,text\nu,x\n,y\n")
    batches, problems = read(path, id_column="url")
    assert (pairs(batches), problems) == ([("u", "x")], ["3: column 'url' is empty"])
    assert read(path, id_column="id")[1] == ["1: no column 'id' (there is 'url', 'text')"]


def test_long_records_are_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(document, "MAX_BYTES", 20)
    path = tmp_path / "a.csv"
    data = b'id,text\n1,a\n2,"' + b"xxx\n" * 9 + b'"\n3,b\n4,"' + b"y" * 40 + b'"\n5,"\nc"\n'
    path.write_bytes(data)
    batches, problems = read(path)
    assert pairs(batches) == [("1", "a"), ("3", "b"), ("5", "\nc")]
    assert pieces(batches, data) == [b"1,a\n", b"3,b\n", b'5,"\nc"\n']
    assert problems == [
        "3: the record is longer than 0 MiB",
        "14: the line is longer than 0 MiB",
    ]
    path.write_bytes(b'id,text\n1,"\n' + b"y" * 40 + b'\nz"\n2,b\n')
    problems = read(path)[1]
    assert "2: a line of the record is left out" in problems
    assert "3: the line is longer than 0 MiB" in problems


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(
    rows=st.lists(st.tuples(CELLS, CELLS), max_size=8),
    end=st.sampled_from(["\n", "\r\n"]),
    size=st.integers(1, 30),
)
def test_tables_of_any_cells(
    tmp_path: Path, rows: list[tuple[str, str]], end: str, size: int
) -> None:
    """What the csv module writes is read back, wherever the blocks are cut."""
    sink = io.StringIO()
    writer = csv.writer(sink, lineterminator=end, quoting=csv.QUOTE_ALL)
    spans = []
    for row in [("text", "n"), *rows]:
        start = len(sink.getvalue().encode())
        writer.writerow(row)
        spans.append([start, len(sink.getvalue().encode())])
    path = tmp_path / "a.csv"
    path.write_bytes(sink.getvalue().encode())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, "BLOCK_BYTES", size)
        batches, problems = read(path, key_column="n")
    assert problems == []
    assert texts(batches) == [text for text, _ in rows]
    assert keys(batches) == [key or None for _, key in rows]
    assert [span for batch in batches for span in batch.spans.tolist()] == spans[1:]
