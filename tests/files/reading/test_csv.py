"""CSV and TSV in batches."""

import csv
import gzip
import io
from pathlib import Path
from typing import Any

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
    batches, problems = read(path, key_column="n", quoting="all")
    assert problems == []
    assert pairs(batches) == list(zip(IDS, TEXTS, strict=True))
    assert pieces(batches, data) == records
    assert batches[0].lines.tolist() == [2, 4, 6, 7, 8]
    assert keys(batches) == ["7"] * 5
    assert keys(read(path, key_column="none", quoting="all")[0]) == [None] * 5
    assert keys(read(path, key_column="id", quoting="all")[0]) == IDS


def test_several_text_columns_of_a_table(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("b,t,id\nB,T,\nC,,\n")
    batches, problems = read(path, text_columns=("t", "x", "b"))
    assert (pairs(batches), problems) == ([(f"{path}:2", "T\n\nB"), (f"{path}:3", "\n\nC")], [])
    expected = [
        "1: none of the columns 'x', 'y' (columns: 'b', 't', 'id'); if the first line is no "
        "header, use --no-header"
    ]
    assert read(path, text_columns=("x", "y")) == ([], expected)


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        (b"x,\xce\xd2", "4: not UTF-8 (byte 0xce at offset 2); name its encoding with --encoding"),
        (b'"\n\xce\n",b', "4: not UTF-8 (byte 0xce at offset 2)"),
        (b"x,a\0b", "4: holds a NUL byte"),
        (b"x", "4: 1 fields, but the header has 2"),
        (b"x,y,z", "4: 3 fields, but the header has 2"),
        (b'"x"y,z', "4: not CSV (text between a closing quote and the next ',')"),
        (b"x\ry,z", "4: not CSV (a carriage return inside a cell without quotes)"),
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
            "id,text\n1,x\n".encode("utf-16-le"),
            "1: holds a NUL byte; looks like utf-16-le: use --encoding utf-16-le",
        ),
        (b"id,text\r1,x\r2,y\r", " its lines end in CR alone, as on old Macs; convert them: tr "),
        (b"id,body\n1,x\n2,y\n", "1: no column 'text' (columns: 'id', 'body')"),
        (b"text,text\n1,x\n", "1: column 'text' occurs 2 times"),
        (b'text\n"a\nb\nc\n', "2: not CSV (a quote is opened and never closed; 2 lines below it"),
        (gzip.compress(b"text\n", mtime=0), " is gzip; rename it to end in .gz"),
        (pack(b"text\n", ".zst"), " is zstd; rename it to end in .zst"),
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
    assert (pairs(batches), problems) == ([("u", "x"), (f"{path}:3", "y")], [])
    problems = read(path, id_column="id")[1]
    assert problems[0].startswith("1: no column 'id' (columns: 'url', 'text'); if the first line")


def test_long_records_are_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(document, "MAX_BYTES", 20)
    path = tmp_path / "a.csv"
    data = b'id,text\n1,a\n2,"' + b"xxx\n" * 9 + b'"\n3,b\n4,"' + b"y" * 40 + b'"\n5,"\nc"\n'
    path.write_bytes(data)
    batches, problems = read(path)
    assert pairs(batches) == [("1", "a"), ("3", "b"), ("5", "\nc")]
    assert pieces(batches, data) == [b"1,a\n", b"3,b\n", b'5,"\nc"\n']
    assert problems == [
        "3: the record is longer than 20 bytes; raise --max-document",
        "14: the line is longer than 20 bytes; raise --max-document",
    ]
    path.write_bytes(b'id,text\n1,"\n' + b"y" * 40 + b'\nz"\n2,b\n')
    problems = read(path)[1]
    assert "2: a line of the record is left out" in problems
    assert "3: the line is longer than 20 bytes; raise --max-document" in problems


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
        patch.setattr(streams, "BLOCK_BYTES", size)
        batches, problems = read(path, key_column="n")
    assert problems == []
    assert texts(batches) == [text for text, _ in rows]
    assert keys(batches) == [key or None for _, key in rows]
    assert [span for batch in batches for span in batch.spans.tolist()] == spans[1:]


def noted(path: Path, **options: Any) -> tuple[list[tuple[str, str]], list[str]]:
    notes: list[str] = []
    problems: list[Unreadable] = []
    found = list(read_batches(str(path), Reading(**options), problems.append, note=notes.append))
    assert problems == []
    return pairs(found), notes


def test_quotes_are_plain_characters_in_tsv(tmp_path: Path) -> None:
    rows = [f"{n}\ttext {n}" for n in range(1, 1001)]
    rows[2], rows[899] = '3\t"text 3', '900\ttext 900"'
    path = tmp_path / "a.tsv"
    path.write_text("id\ttext\n" + "\n".join(rows) + "\n")
    found, notes = noted(path)
    assert (len(found), notes) == (1000, [])
    assert (found[2], found[899]) == (("3", '"text 3'), ("900", 'text 900"'))
    found, notes = noted(path, quoting="all")
    assert len(found) == 103
    assert notes == [
        f"{path}:4: a record of 898 lines, read as it is; if quotes are plain characters in this "
        "file, use --quoting none"
    ]


@pytest.mark.parametrize(("lines", "count"), [(299, 0), (300, 1)])
def test_records_of_very_many_lines_are_suspicious(tmp_path: Path, lines: int, count: int) -> None:
    path = tmp_path / "a.csv"
    path.write_text("text\n" + ('"a' + "\n" * lines + '"\n') * 3)
    found, notes = noted(path)
    assert len(found) == 3
    assert len(notes) == count
    if count:
        assert f"{path}:2: a record of 301 lines (and 2 more records like it), read" in notes[0]


@pytest.mark.parametrize("delimiter", [";", "|", "\t", "é", "三"])
@pytest.mark.parametrize("quoting", ["all", "none"])
def test_other_delimiters(tmp_path: Path, delimiter: str, quoting: str) -> None:
    path = tmp_path / "a.csv"
    data = delimiter.join(["id", "text"]) + "\n" + delimiter.join(["1", "a, b"]) + "\n"
    path.write_text(data, "utf-8")
    assert noted(path, delimiter=delimiter, quoting=quoting)[0] == [("1", "a, b")]
    if delimiter in ";|\t":
        path.write_text(delimiter.join(["id", "text"]) + "\n")
        assert read(path)[1][0].endswith(
            "; if cells are separated by another character, name it with --delimiter"
        )


def test_tables_without_a_header(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    data = b'\xef\xbb\xbfx,"one, \ntwo"\ny,three\n'
    path.write_bytes(data)
    batches, problems = read(path, header=False, text_columns=("2",), id_column="1", key_column="2")
    assert (pairs(batches), problems) == ([("x", "one, \ntwo"), ("y", "three")], [])
    assert pieces(batches, data) == [b'x,"one, \ntwo"\n', b"y,three\n"]
    assert batches[0].lines.tolist() == [1, 3]
    assert pairs(read(path, header=False, text_columns=("2",))[0])[1] == (f"{path}:3", "three")
    assert read(path, header=False)[1] == [
        "1: there is no header, so the columns are called 1 to 2; name the text column with "
        "--text-column"
    ]
    assert read(path, header=False, text_columns=("3",))[1] == [
        "1: no column '3' (columns: '1', '2')"
    ]
    path.write_text("one\ntwo\n\nthree,four\n")
    batches, problems = read(path, header=False)
    assert texts(batches) == ["one", "two"]
    assert problems == ["4: 2 fields, but the first row has 1"]
    path.write_text("")
    assert read(path, header=False)[1] == ["1: empty; a row is needed"]


def test_a_long_line_is_not_shown_as_a_column(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("x" * 3000 + ",b\n1,2\n")
    (problem,) = read(path)[1]
    assert f"(columns: '{'x' * 40}…', 'b'); if the first line is no header, use --no-" in problem


def test_old_line_ends_in_tsv(tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    path.write_bytes(b"id\ttext\r1\tx\r")
    assert read(path)[1][0].startswith(" its lines end in CR alone")


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=100)
@given(
    text=st.text(st.sampled_from('ab;"\n é'), max_size=40),
    quoted=st.booleans(),
    size=st.integers(1, 30),
)
def test_rows_are_those_of_the_csv_module(
    tmp_path: Path, text: str, quoted: bool, size: int
) -> None:
    """Any text at all, read by the simplest reader there is."""
    path = tmp_path / "a.csv"
    path.write_bytes(text.encode())
    how = {"strict": True} if quoted else {"quoting": csv.QUOTE_NONE}
    rows: list[list[str] | None] = []
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=";", **how)
    while True:
        try:
            rows.append(next(reader))
        except csv.Error:
            rows.append(None)
        except StopIteration:
            break
    rows = [row for row in rows if row is None or row]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(streams, "BLOCK_BYTES", size)
        found, problems = read(
            path,
            delimiter=";",
            quoting="all" if quoted else "none",
            header=False,
            text_columns=("1",),
        )
    if not rows or rows[0] is None:
        assert (texts(found), len(problems)) == ([], 1)
        return
    width = len(rows[0])
    assert texts(found) == [row[0] for row in rows if row is not None and len(row) == width]
    assert len(problems) == sum(row is None or len(row) != width for row in rows)
