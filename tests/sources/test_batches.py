"""Files in batches: every format, plain and packed, and everything that can be wrong with them."""

import csv
import gzip
import io
import json
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from neardup import sources
from neardup.sources import Batch, Reading, Unreadable, blocks, document, stored

TEXTS = ["one two", "三 four\nfive", "", 'six, "seven"\t8', "last"]
IDS = ["a", "b,1", "c", "d", "é"]


def pack(data: bytes, how: str) -> bytes:
    if how == ".gz":
        return gzip.compress(data)
    if how == ".zst":
        sink = pa.BufferOutputStream()
        with pa.CompressedOutputStream(sink, "zstd") as stream:
            stream.write(data)
        return bytes(sink.getvalue())
    return data


def read(path: Path | str, **options: Any) -> tuple[list[Batch], list[str]]:
    problems: list[Unreadable] = []
    batches = list(sources.read_batches(str(path), Reading(**options), problems.append))
    for batch in batches:
        assert batch.ids.type == batch.texts.type == pa.large_string()
        assert batch.texts.null_count == batch.ids.null_count == 0
        assert len(batch.ids) == len(batch.texts) == len(batch.spans) == len(batch.lines) > 0
        assert batch.spans.dtype == batch.lines.dtype == np.int64
        assert batch.spans.shape == (len(batch.ids), 2)
    return batches, [str(problem).replace(f"{path}:", "", 1) for problem in problems]


def pairs(batches: list[Batch]) -> list[tuple[str, str]]:
    return [
        pair
        for batch in batches
        for pair in zip(batch.ids.to_pylist(), batch.texts.to_pylist(), strict=True)
    ]


def keys(batches: list[Batch]) -> list[Any]:
    return [key for batch in batches if batch.key is not None for key in batch.key.to_pylist()]


def texts(batches: list[Batch]) -> list[str]:
    return [text for _, text in pairs(batches)]


def pieces(batches: list[Batch], data: bytes) -> list[bytes]:
    return [data[start:end] for batch in batches for start, end in batch.spans.tolist()]


def jsonl_records(end: str = "\n") -> list[bytes]:
    rows = zip(IDS, TEXTS, strict=True)
    return [(json.dumps({"id": name, "text": text}) + end).encode() for name, text in rows]


def csv_records(delimiter: str, end: str = "\n") -> list[bytes]:
    records = []
    for name, text in zip(IDS, TEXTS, strict=True):
        sink = io.StringIO()
        csv.writer(sink, delimiter=delimiter, lineterminator=end).writerow([7, text, name])
        records.append(sink.getvalue().encode())
    return records


# No carriage return: alone and outside quotes it ends a row for some and not for others.
CELLS = st.text(st.sampled_from('ab,"\n\té三 '), max_size=5)
PIECES = (
    *(b"text", b"id", b",", b"\n", b'"', b"\r\n", b'{"text": "a"}\n', b'{"id": ', b"\0", b"\xff"),
    *(b"id,text\n", b"1,a\n", b'2,"\n"\n', b"\xef\xbb\xbf", b"\x1f\x8b", b"PAR1", b"\xce\xd2"),
)
PACKINGS = pytest.mark.parametrize("packing", ["", ".gz", ".zst"])
ENDS = pytest.mark.parametrize("end", ["\n", "\r\n"])


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


@pytest.mark.parametrize(
    "kind",
    [
        pa.string(),
        pa.large_string(),
        pa.string_view(),
        pa.dictionary(pa.int32(), pa.string()),
    ],
)
def test_parquet(tmp_path: Path, kind: pa.DataType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("neardup.sources.parquet.BATCH_ROWS", 3)
    path = tmp_path / "a.parquet"
    words = pa.array([*TEXTS[:2], None, *TEXTS[2:]])
    words = words.dictionary_encode() if pa.types.is_dictionary(kind) else words.cast(kind)
    table = pa.table({"n": list(range(6)), "text": words, "id": [5, 6, 7, None, -9, 10]})
    pq.write_table(table, path, row_group_size=4)
    batches, problems = read(path, key_column="n")
    assert problems == ["3: column 'text' is not a string but null"]
    assert pairs(batches) == list(zip(["5", "6", f"{path}:4", "-9", "10"], TEXTS, strict=True))
    assert [span for batch in batches for span in batch.spans.tolist()] == [
        [row, row + 1] for row in (0, 1, 3, 4, 5)
    ]
    assert [line for batch in batches for line in batch.lines.tolist()] == [1, 2, 4, 5, 6]
    assert keys(batches) == [0, 1, 3, 4, 5]
    assert read(path, id_column="id")[1][1] == (
        "4: column 'id' is neither a string nor an integer but null"
    )


def test_parquet_with_one_text_many_times(tmp_path: Path) -> None:
    """Such a text is stored once, so that the size of the file says nothing."""
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"text": ["x" * 20_000] * 3000}), path)
    batches, problems = read(path)
    assert (sum(len(batch.ids) for batch in batches), problems) == (3000, [])
    assert max(batch.texts.nbytes for batch in batches) < 20 << 20


def test_parquet_that_cannot_be_read(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"text": [[1]], "id": [1.5], "body": ["x"]}), path)
    assert read(path) == ([], [" column 'text' is not of strings but of list<element: int64>"])
    assert read(path, text_columns=("body",)) == (
        [],
        [" column 'id' is of neither strings nor integers but of double"],
    )
    assert read(path, text_columns=("t",)) == (
        [],
        [" no column 't' (there is 'text', 'id', 'body')"],
    )
    path.write_bytes(path.read_bytes()[:-20])
    assert read(path)[1][0].startswith(" not Parquet (")
    path.write_bytes(b"")
    assert read(path)[1][0].startswith(" not Parquet (")
    packed = tmp_path / "a.parquet.gz"
    packed.write_bytes(gzip.compress(b"x"))
    assert "Parquet inside gzip" in read(packed)[1][0]
    with pytest.raises(ValueError, match="cannot be read from a pipe"):
        read("-", format="parquet")


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
    assert texts(batches) == ["T\n\nB", "\n\nC"]
    assert len(problems) == 1
    assert problems[0].startswith("3: ")


def test_several_text_columns_of_a_table(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("b,t,id\nB,T,\nC,,\n")
    batches, problems = read(path, text_columns=("t", "x", "b"))
    assert (pairs(batches), problems) == ([(f"{path}:2", "T\n\nB"), (f"{path}:3", "\n\nC")], [])
    expected = ["1: none of the columns 'x', 'y' (there is 'b', 't', 'id')"]
    assert read(path, text_columns=("x", "y")) == ([], expected)


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
        (b'{"text": "\xce\xd2"}', "2: not UTF-8 (byte 0xce at offset 10); if it is GBK: iconv"),
        (b'{"text": "a\0"}', "2: not JSON (Invalid control character at character 11)"),
        (b"[1]", "2: not an object but a list"),
        (b'{"text": "\\ud800"}', "2: column 'text' holds a lone surrogate (U+D800"),
        (b'{"body": ""}', "2: no column 'text' (there is 'body')"),
    ],
)
def test_bad_json_lines(tmp_path: Path, line: bytes, reason: str) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"text": "before"}\n' + line + b'\n{"text": "after"}\n')
    batches, problems = read(path)
    assert texts(batches) == ["before", "after"]
    assert len(problems) == 1
    assert problems[0].startswith(reason)


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
    assert read(path) == ([], [" is gzip; let its name end in .gz"])


def test_long_lines_are_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(document, "MAX_BYTES", 10)
    path = tmp_path / "a.txt"
    data = b"short\n" + b"x" * 35 + b"\n0123456789\n" + b"y" * 11 + b"\nend"
    path.write_bytes(data)
    batches, problems = read(path, lines=True)
    assert texts(batches) == ["short", "0123456789", "end"]
    assert pieces(batches, data) == [b"short\n", b"0123456789\n", b"end"]
    assert [line for batch in batches for line in batch.lines.tolist()] == [1, 3, 5]
    assert problems == [f"{line}: the line is longer than 0 MiB" for line in (2, 4)]
    assert read(path)[1] == [" longer than 0 MiB; cut it, or read a document a line"]


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


@given(st.binary(max_size=60).map(lambda data: data.replace(b"x", b"\n")), st.integers(1, 20))
def test_blocks_are_the_lines(data: bytes, most: int) -> None:
    """Against the simplest way to cut a file into lines, for every size of block and limit."""
    data = b"." + data  # no marks
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(document, "MAX_BYTES", most)
        problems: list[Unreadable] = []
        file = stored.Stored("a.txt", io.BytesIO(data))
        found = {}
        for number, start, block in blocks.blocks(file, problems.append):
            assert data[start : start + len(block)] == block
            for at, line in enumerate(block.removesuffix(b"\n").split(b"\n"), number):
                found[at] = line
    lines = dict(enumerate(data.removesuffix(b"\n").split(b"\n"), 1))
    assert found == {number: line for number, line in lines.items() if len(line) <= most}
    assert [problem.line for problem in problems] == [
        number for number, line in lines.items() if len(line) > most
    ]


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


def lines_of(count: int) -> list[bytes]:
    rng = np.random.default_rng(1)
    return [b'{"text": "%s"}\n' % bytes(rng.integers(97, 123, 50).tolist()) for _ in range(count)]


@pytest.mark.parametrize("packing", [".gz", ".zst"])
def test_cut_short(tmp_path: Path, packing: str) -> None:
    path = tmp_path / f"a.jsonl{packing}"
    lines = lines_of(9000)
    whole = pack(b"".join(lines), packing)
    for cut in (len(whole) - 3, len(whole) * 2 // 3, len(whole) // 3, 5):
        path.write_bytes(whole[:cut])
        batches, problems = read(path)
        found = pieces(batches, b"".join(lines))
        assert found == lines[: len(found)]
        (problem,) = problems
        position = int(problem.split("cut short: ")[1].split(" bytes")[0].replace(",", ""))
        assert problem.startswith(f"{len(found) + 1}: the ")
        assert len(b"".join(found)) <= position < len(b"".join(found)) + 80
        if packing == ".gz":
            assert position == len(zlib.decompressobj(31).decompress(whole[:cut]))
        else:  # zstd gives whole blocks of 128 KiB only
            assert position > len(b"".join(lines)) * cut // len(whole) - (128 << 10)
    path.write_bytes(b"no packed data at all")
    assert read(path)[1][0].startswith("1: the ")
    path.write_bytes(whole + whole)
    assert len(pieces(read(path)[0], b"")) == 18_000


@pytest.mark.parametrize("packing", [".gz", ".zst"])
@pytest.mark.parametrize("name", ["a.txt", "a.jsonl", "a.csv"])
def test_bombs(tmp_path: Path, packing: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stored, "FREE_BYTES", 1 << 19)
    monkeypatch.setattr(stored, "MOST_RATIO", 100)
    path = tmp_path / f"{name}{packing}"
    path.write_bytes(pack(b"text\n" + b"\n" * (8 << 20), packing))
    batches, problems = read(path)
    assert batches == []
    assert "more than 100 for one" in problems[-1]
    path.write_bytes(pack(b"text\n" + b"\n" * (1 << 18), packing))
    assert not any("for one" in problem for problem in read(path)[1])


def test_a_parquet_bomb(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stored, "FREE_BYTES", 1 << 19)
    monkeypatch.setattr(stored, "MOST_RATIO", 100)
    path = tmp_path / "a.parquet"
    table = pa.table({"text": ["x" * (1 << 22)]})
    pq.write_table(table, path, compression="zstd", write_statistics=False)
    assert "more than 100 for one" in read(path)[1][0]


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    def give(data: bytes) -> None:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data)))

    give(b"a\nb")
    assert pairs(read("-")[0]) == [("stdin", "a\nb")]
    give(b"a\nb")
    assert pairs(read("-", lines=True)[0]) == [("stdin:1", "a"), ("stdin:2", "b")]
    give(b'{"text": "x"}')
    assert pairs(read("-", format="jsonl")[0]) == [("stdin:1", "x")]
    give(gzip.compress(b"a"))
    assert read("-") == ([], ["stdin: is gzip; pipe it through zcat"])
    give(b"a\nb")
    with sources.spooled_stdin():
        for _ in range(2):
            assert pairs(read("-")[0]) == [("stdin", "a\nb")]


def test_urls(tmp_path: Path) -> None:
    path = tmp_path / "a b.jsonl.gz"
    path.write_bytes(gzip.compress(b'{"text": "x"}\n'))
    url = path.as_uri()
    assert pairs(read(url)[0]) == [(f"{url}:1", "x")]
    pq.write_table(pa.table({"text": ["y"]}), tmp_path / "a.parquet")
    url = (tmp_path / "a.parquet").as_uri()
    assert pairs(read(url)[0]) == [(f"{url}:1", "y")]
    assert "o such file" in read("file:///nothing/there.txt")[1][0]


@pytest.mark.parametrize(("url", "package"), [("az://u:p@c/a.txt", "fsspec adlfs")])
def test_a_missing_driver_is_named(url: str, package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "fsspec", None)
    with pytest.raises(ValueError, match=rf"az://c/a\.txt: .*: pip install {package}$"):
        read(url)


def test_secrets_of_a_url_are_not_shown() -> None:
    assert sources.name_of("s3://key:secret@bucket/a") == "s3://bucket/a"
    assert sources.name_of("s3://bucket/a@b") == "s3://bucket/a@b"


def test_what_cannot_be_opened_is_reported(tmp_path: Path) -> None:
    assert read(tmp_path / "none.jsonl") == ([], [" No such file or directory"])
    assert read(tmp_path) == ([], [" a folder; pass the files in it"])


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz", "a.csv", "a.parquet", "a.txt"])
def test_progress_is_of_stored_bytes(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    if name == "a.parquet":
        pq.write_table(pa.table({"text": ["x y"] * 1000}), path, row_group_size=100)
    else:
        path.write_bytes(pack(b'{"text": "x"}\n' * 1000, path.suffix))
    told: list[int] = []
    problems: list[Unreadable] = []
    list(sources.read_batches(str(path), Reading(), problems.append, progress=told.append))
    if name == "a.parquet":  # all but the footer
        assert 0 < sum(told) < path.stat().st_size
    else:
        assert sum(told) == path.stat().st_size


def test_batches_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "BLOCK_BYTES", 100)
    monkeypatch.setattr("neardup.sources.separated.BATCH_BYTES", 100)
    row = '{"text": "%03d"}\n'
    (tmp_path / "a.jsonl").write_text("".join(row % n for n in range(50)))
    (tmp_path / "a.csv").write_text("text\n" + "".join(f"{n:03d}\n" for n in range(50)))
    for name in ("a.jsonl", "a.csv"):
        batches, problems = read(tmp_path / name)
        assert problems == []
        assert texts(batches) == [f"{n:03d}" for n in range(50)]
        assert len(batches) > 1
    assert [line for batch in batches for line in batch.lines.tolist()] == list(range(2, 52))


def test_wrong_settings() -> None:
    with pytest.raises(ValueError, match=r"format is 'xml'; use one of jsonl, csv"):
        Reading(format="xml")
    with pytest.raises(ValueError, match="text_columns is empty"):
        Reading(text_columns=())


def test_expand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in (
        *("in/b.jsonl", "in/a.CSV.gz", "in/deep/c.parquet", "in/deep/d.md.zst", "in/e.png"),
        *("in/.hidden.txt", "in/.git/f.txt", "in/g.parquet.gz", "empty/x.png", "odd[1].log"),
    ):
        Path(name).parent.mkdir(exist_ok=True, parents=True)
        Path(name).write_text("")
    known = ["in/a.CSV.gz", "in/b.jsonl", "in/deep/c.parquet", "in/deep/d.md.zst"]
    assert sources.expand(["in"]) == known
    assert sources.expand(["in/b.jsonl", "in"]) == ["in/b.jsonl", known[0], *known[2:]]
    assert sources.expand(["in/*.png", "in/**/*.md.zst"]) == ["in/e.png", known[3]]
    assert sources.expand(["in/*"]) == [*known, "in/e.png", "in/g.parquet.gz"]
    assert sources.expand(["-", "s3://bucket/*", "odd[1].log"]) == [
        "-",
        "s3://bucket/*",
        "odd[1].log",
    ]
    with pytest.raises(FileNotFoundError, match=r"none\.jsonl: no such file"):
        sources.expand(["none.jsonl"])
    with pytest.raises(ValueError, match=r"empty: no file to read in this folder; .* \.jsonl, "):
        sources.expand(["empty"])
    with pytest.raises(ValueError, match=r"\*\.csv: no file matches this pattern"):
        sources.expand(["*.csv"])
