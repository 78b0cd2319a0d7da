"""Kept records are those of the inputs, byte for byte."""

import errno
import io
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from helpers.batches import pack, unpack
from neardup.files import writing
from neardup.files.reading.batch import Reading, Unreadable
from neardup.files.reading.inputs import read_batches
from neardup.files.reading.locations import spooled_stdin


def keep(
    out: Path, inputs: Sequence[Path | str], chosen: Sequence[Sequence[int]], **options: Any
) -> None:
    """Read all, keep the documents with these numbers."""
    reading = Reading(**options)
    names = [str(name) for name in inputs]
    problems: list[Unreadable] = []
    with writing.open_kept(out, names, reading) as kept:
        for name, numbers in zip(names, chosen, strict=True):
            batches = list(read_batches(name, reading, problems.append))
            spans = np.concatenate([np.empty((0, 2), np.int64), *(each.spans for each in batches)])
            kept.copy(name, spans, np.isin(np.arange(len(spans)), numbers))


@pytest.mark.parametrize("source", ["a.jsonl", "a.jsonl.gz", "a.ndjson.zst"])
@pytest.mark.parametrize("target", ["o.jsonl", "o.ndjson.gz", "o.jsonl.zst"])
def test_json_lines(tmp_path: Path, source: str, target: str) -> None:
    data = b'{"text": "a"}\r\n\nbad\n{ "text":"b" }\n{"text": "c"}\n{"text": "\\u0064"}'
    first, out = tmp_path / source, tmp_path / target
    second = tmp_path / "b.jsonl"
    first.write_bytes(pack(data, Path(source).suffix))
    second.write_bytes(b'\xef\xbb\xbf{"text": "e"}\n')
    keep(out, [first, second], [[0, 2, 3], [0]])
    assert unpack(out) == b'{"text": "a"}\r\n{"text": "c"}\n{"text": "\\u0064"}\n{"text": "e"}\n'
    keep(out, [first, second], [[1, 3], []])
    assert unpack(out) == b'{ "text":"b" }\n{"text": "\\u0064"}'
    keep(out, [second, first], [[], []])
    assert unpack(out) == b""


@pytest.mark.parametrize("packing", ["", ".gz", ".zst"])
@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_tables(tmp_path: Path, packing: str, end: bytes) -> None:
    first, second = tmp_path / f"a.csv{packing}", tmp_path / "b.csv"
    out = tmp_path / f"o.csv{packing}"
    rows = [b'1,"x\ny"', b'2, "odd" ', b"3,z"]
    header = b"\xef\xbb\xbfid,text"
    first.write_bytes(pack(end.join([header, *rows]), first.suffix))
    second.write_bytes(b'"id","text"\n4,w\n')
    keep(out, [first, second], [[0, 2], [0]])
    assert unpack(out) == end.join([header, rows[0], rows[2]]) + b"\n4,w\n"
    keep(out, [first], [[]])
    assert unpack(out) == header + end
    for columns, named in ((b"id,body,text", "'id', 'body', 'text'"), (b"text,id", "'text', 'id'")):
        second.write_bytes(columns + b"\n")
        with pytest.raises(ValueError, match=rf"b\.csv: its columns \({named}\) differ"):
            keep(out, [first, second], [[], []])
    assert unpack(out) == header + end


def test_tables_without_rows(tmp_path: Path) -> None:
    first, second, out = tmp_path / "a.tsv", tmp_path / "b.tsv", tmp_path / "o.tsv"
    first.write_bytes(b"")
    second.write_bytes(b"text")
    keep(out, [first, second], [[], []])
    assert out.read_bytes() == b"text"
    first.write_bytes(b"text\na\n")
    keep(out, [second, first], [[], [0]])
    assert out.read_bytes() == b"text\na\n"


PACKINGS = st.sampled_from(["", ".gz", ".zst"])
LINES = st.lists(st.binary(max_size=9).map(lambda line: line.replace(b"\n", b"")), max_size=12)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(
    LINES, st.randoms(use_true_random=False), st.booleans(), st.sampled_from(["", ".gz", ".zst"])
)
def test_lines_are_byte_for_byte_the_chosen_ones(
    tmp_path: Path, lines: list[bytes], random: Any, ended: bool, packing: str
) -> None:
    """Against the list of lines itself; which of them are documents is for the reader to say."""
    records = [b"." + line + b"\n" for line in lines]
    if records and not ended:
        records[-1] = records[-1][:-1]
    path, out = tmp_path / f"a.txt{packing}", tmp_path / f"o.txt{random.choice(['', '.gz'])}"
    path.write_bytes(pack(b"".join(records), path.suffix))
    found: list[int] = []
    for batch in read_batches(str(path), Reading(lines=True), lambda problem: None):
        found += (batch.lines - 1).tolist()
    chosen = [at for at in range(len(found)) if random.random() < 0.6]
    with pytest.MonkeyPatch.context() as patch:
        for name in ("LONG_RUN", "COPY_BYTES", "MAX_BUFFERS"):
            patch.setattr(f"neardup.files.writing.new_file.{name}", random.choice([1, 8, 512]))
        patch.setattr(
            "neardup.files.writing.record_writer.CHUNK_BYTES", random.choice([1, 5, 1 << 20])
        )
        keep(out, [path], [chosen], lines=True)
    assert unpack(out) == b"".join(records[found[at]] for at in chosen)


@pytest.mark.parametrize("kernel", [True, False])
def test_long_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kernel: bool) -> None:
    if not kernel:

        def refuse(*_: object) -> int:
            raise OSError(errno.EXDEV, "Invalid cross-device link")

        monkeypatch.setattr("os.copy_file_range", refuse, raising=False)
    path, out = tmp_path / "a.txt", tmp_path / "o.txt"
    lines = [b"%06d %s\n" % (number, b"x" * 90) for number in range(60_000)]
    lines[-1] = lines[-1][:-1]
    path.write_bytes(b"".join(lines))
    other = tmp_path / "b.txt"
    other.write_bytes(b"end\n")
    chosen = [*range(20_000), 20_005, *range(30_000, 60_000)]
    keep(out, [path, other], [chosen, [0]], lines=True)
    assert out.read_bytes() == b"".join(lines[at] for at in chosen) + b"\nend\n"


@pytest.mark.parametrize("compression", ["none", "snappy", "zstd"])
def test_parquet(tmp_path: Path, compression: str) -> None:
    schema = pa.schema(
        [
            pa.field("text", pa.string(), metadata={"a": "b"}),
            ("tags", pa.list_(pa.int8())),
            ("kind", pa.dictionary(pa.int32(), pa.string())),
        ],
        metadata={"made": "by hand"},
    )
    rows: list[dict[str, Any]] = [
        {"text": f"t{n}", "tags": [n], "kind": "ab"[n % 2]} for n in range(10)
    ]
    rows[4]["text"] = None
    table = pa.Table.from_pylist(rows, schema=schema)
    first, second, out = (tmp_path / f"{name}.parquet" for name in "abo")
    pq.write_table(table, first, row_group_size=3, compression=compression)
    pq.write_table(table.slice(0, 2).replace_schema_metadata({}), second)
    keep(out, [first, second], [[0, 3, 4, 9], [1]])
    found = pq.read_table(out)
    assert found.schema.equals(pq.read_schema(first), check_metadata=True)
    assert found.schema.metadata == {b"made": b"by hand"}
    assert found.to_pylist() == [rows[at] for at in (0, 3, 4, 9, 1)]
    chunk = pq.ParquetFile(out).metadata.row_group(0).column(0)
    assert chunk.compression == {"none": "UNCOMPRESSED"}.get(compression, compression.upper())
    keep(out, [first], [[]])
    assert pq.read_table(out).num_rows == 0
    pq.write_table(table.drop_columns("tags"), second)
    with pytest.raises(ValueError, match=r"b\.parquet: its columns \(text: string, kind: "):
        keep(out, [first, second], [[], []])


@pytest.mark.parametrize("target", ["o.jsonl", "o.csv.gz", "o.tsv.zst", "o.parquet"])
def test_whole_texts(tmp_path: Path, target: str) -> None:
    paths = [tmp_path / "a.txt", tmp_path / "b.md.gz", tmp_path / "c.txt"]
    for number, path in enumerate(paths):
        path.write_bytes(pack(b"text\n%d" % number, path.suffix))
    out = tmp_path / target
    keep(out, paths, [[0], [0], []])
    reading = Reading(quoting="all")  # that is how tables are written, TSV as well
    found = []
    for batch in read_batches(str(out), reading, lambda problem: None):
        found += list(zip(batch.ids.to_pylist(), batch.texts.to_pylist(), strict=True))
    assert found == [(str(paths[0]), "text\n0"), (str(paths[1]), "text\n1")]


def test_standard_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = b'{"text": "a"}\n{"text": "b"}'
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data)))
    out = tmp_path / "o.jsonl"
    with pytest.raises(ValueError, match="stdin: cannot be read twice; save it to a file first"):
        keep(out, ["-"], [[1]], format="jsonl")
    with spooled_stdin():
        keep(out, ["-"], [[1]], format="jsonl")
    assert out.read_bytes() == b'{"text": "b"}'


def test_a_pipe_cannot_be_read_twice(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.jsonl"
    os.mkfifo(pipe)
    with pytest.raises(ValueError, match=r"pipe\.jsonl: cannot be read twice"):
        keep(tmp_path / "o.jsonl", [pipe], [[]])


def test_a_url(tmp_path: Path) -> None:
    path, out = tmp_path / "a.jsonl", tmp_path / "o.jsonl"
    path.write_bytes(b'{"text": "a"}\n{"text": "b"}')
    keep(out, [path.as_uri()], [[1]])
    assert out.read_bytes() == b'{"text": "b"}'


@pytest.mark.parametrize("suffix", ["jsonl", "csv", "parquet"])
def test_inputs_that_cannot_be_read_stop_nothing(tmp_path: Path, suffix: str) -> None:
    bad, none, good, out = (tmp_path / f"{name}.{suffix}" for name in ("a", "none", "c", "o"))
    bad.write_bytes(b"\xff\xfe\n")
    good.write_bytes(b"text\n1\n" if suffix == "csv" else b'{"text": "1"}\n')
    if suffix == "parquet":
        pq.write_table(pa.table({"text": ["1"]}), good)
    for _ in range(2):  # also where there is an older one
        keep(out, [bad, none, good], [[], [], [0]])
        if suffix == "parquet":
            assert pq.read_table(out) == pq.read_table(good)
        else:
            assert out.read_bytes() == good.read_bytes()
    if suffix == "parquet":
        with pytest.raises(OSError, match=r"a\.parquet: no readable Parquet file"):
            keep(out, [bad, none], [[], []])


@pytest.mark.parametrize(
    ("inputs", "out", "options", "message"),
    [
        (["a.jsonl"], "o.csv", {}, r"'o\.csv': the inputs are JSON lines, .*; use \.jsonl or \.nd"),
        (["a.csv"], "o.tsv", {}, r"the inputs are CSV, .*; use \.csv$"),
        (["a.parquet"], "o.jsonl", {}, r"the inputs are Parquet, .*; use \.parquet$"),
        (["a.txt"], "o.txt", {}, r"the inputs are whole texts, .*; use \.jsonl or \.csv or"),
        (["a.log"], "o.jsonl", {"lines": True}, r"lines of text, .*; use \.txt or \.md or \.log$"),
        (["a.jsonl", "a.csv"], "o.csv", {}, r"a\.jsonl is JSON lines, a\.csv is CSV; "),
        (["a.jsonl"], "a.jsonl", {}, r"a\.jsonl: is also an input and would be overwritten"),
        ([], "o.jsonl", {}, "no inputs; name at least one file"),
    ],
)
def test_refusals(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    inputs: list[str],
    out: str,
    options: dict[str, Any],
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in inputs:
        Path(name).touch()
    with (
        pytest.raises(ValueError, match=message),
        writing.open_kept(Path(out), inputs, Reading(**options)),
    ):
        pass
    assert sorted(os.listdir()) == sorted(inputs)


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz", "a.parquet", "a.txt"])
def test_a_file_that_has_changed(tmp_path: Path, name: str) -> None:
    path, out = tmp_path / name, tmp_path / "o.jsonl"
    if name == "a.parquet":
        out = tmp_path / "o.parquet"
        pq.write_table(pa.table({"text": ["a"] * 14}), path)  # row 14 would be the next
    else:
        path.write_bytes(pack(b'{"text": "a"}\n', path.suffix))
    spans = np.array([[0, 14], [14, 28]], np.int64)
    if name == "a.txt":
        path.write_bytes(b"\xff")
    out.write_text("old")
    with (
        pytest.raises(OSError, match=r"a\.(jsonl|jsonl\.gz|parquet|txt):.* run again$"),
        writing.open_kept(out, [str(path)], Reading()) as kept,
    ):
        kept.copy(str(path), spans, np.array([True, True]))
    assert out.read_text() == "old"
    assert sorted(tmp_path.iterdir()) == [path, out]


@pytest.mark.parametrize("name", ["o.jsonl", "o.jsonl.gz", "o.jsonl.zst"])
def test_a_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    path, out = tmp_path / "a.jsonl", tmp_path / name
    path.write_bytes(b'{"text": "a"}\n' * 10)
    out.write_text("old")

    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr("os.write", full)
        patch.setattr("os.copy_file_range", full, raising=False)
        patch.setattr("os.pwritev", full)
        patch.setattr("neardup.files.writing.new_file.LONG_RUN", 10)
        with pytest.raises(OSError, match="No space left on device") as caught:
            keep(out, [path], [range(10)])
    assert caught.value.filename == str(out)
    assert out.read_text() == "old"
    assert sorted(tmp_path.iterdir()) == [path, out]


@pytest.mark.parametrize("packing", ["", ".gz"])
@pytest.mark.parametrize("change", ["start", "end"])
def test_lines_that_lie_elsewhere_are_not_copied(tmp_path: Path, packing: str, change: str) -> None:
    source, out = tmp_path / f"in.jsonl{packing}", tmp_path / "out.jsonl"
    lines = [b'{"text": "%d"}\n' % n for n in range(300)]
    size = len(lines[0])
    source.write_bytes(pack(b"".join(lines[:10]), packing))
    spans = np.array([(at * size, (at + 1) * size) for at in range(10)])
    keep = np.arange(10) % 3 == 1
    # As long as before, but other lines, whose ends are elsewhere.
    moved = b"x" * (1 if change == "start" else size // 2)
    source.write_bytes(pack((moved + b"".join(lines))[: 10 * size], packing))
    with (
        pytest.raises(OSError, match=r"in\.jsonl.*: changed since it was read; nothing was writt"),
        writing.open_kept(out, [str(source)], Reading()) as kept,
    ):
        kept.copy(str(source), spans, keep)
    assert not out.exists()


def test_a_last_line_without_an_end_is_one(tmp_path: Path) -> None:
    for packing in ("", ".gz"):
        source, out = tmp_path / f"in.jsonl{packing}", tmp_path / "out.jsonl"
        source.write_bytes(pack(b'{"text": "a"}\n{"text": "b"}', packing))
        spans = np.array([(0, 14), (14, 27)])
        with writing.open_kept(out, [str(source)], Reading()) as kept:
            kept.copy(str(source), spans, np.array([False, True]))
        assert out.read_bytes() == b'{"text": "b"}'


def test_files_called_json_are_one_format(tmp_path: Path) -> None:
    """JSON lines, arrays, and those that hold nothing, in any order."""
    lines, array = tmp_path / "a.json", tmp_path / "b.json"
    empty, blank = tmp_path / "c.json", tmp_path / "d.json"
    data = b'\xef\xbb\xbf{"text": "a"}\r\n\n  {"text":  "b"} \n{"text": "c"}'
    lines.write_bytes(data)
    array.write_bytes(b'[{"text": "d"}, {\n"text": "e"}]')
    empty.touch()
    blank.write_bytes(b"\xef\xbb\xbf \n")
    out = tmp_path / "o.jsonl"
    # What is empty does not decide: these are lines, byte for byte.
    for name in ("o.jsonl", "o.json"):
        keep(tmp_path / name, [empty, lines, blank], [[], [0, 2], []])
        assert (tmp_path / name).read_bytes() == b'{"text": "a"}\r\n{"text": "c"}'
    keep(out, [lines, empty, array], [[0, 1, 2], [], [0, 1]])
    assert out.read_bytes().splitlines() == [
        b'{"text": "a"}',
        b'{"text":  "b"}',
        b'{"text": "c"}',
        b'{"text": "d"}',
        b'{ "text": "e"}',
    ]
    keep(tmp_path / "o.json", [array, lines], [[1], [2]])
    assert (tmp_path / "o.json").read_bytes() == b'[\n{ "text": "e"},\n{"text": "c"}\n]\n'
    keep(tmp_path / "o.json", [empty, blank], [[], []])
    assert (tmp_path / "o.json").read_bytes() == b"[]\n"
    other = tmp_path / "e.jsonl"
    other.write_bytes(b'{"text": "f"}\n')
    keep(out, [empty, other, lines], [[], [0], [0]])
    assert out.read_bytes() == b'{"text": "f"}\n{"text": "a"}\r\n'
    with pytest.raises(ValueError, match=r"e\.jsonl is JSON lines, .*b\.json is JSON; "):
        keep(out, [empty, other, array], [[], [0], [0]])


def test_rows_beyond_the_usual_limit_that_were_read_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("neardup.files.reading.streams.FREE_BYTES", 1 << 10)
    monkeypatch.setattr("neardup.files.reading.streams.MAX_RATIO", 1)
    path, out = tmp_path / "a.parquet", tmp_path / "o.parquet"
    table = pa.table({"text": ["a", "b"], "other": ["x" * 100_000, "y" * 100_000]})
    pq.write_table(table, path, compression="zstd")
    keep(out, [path], [[1]], max_bytes=1 << 20)
    assert pq.read_table(out) == table.slice(1)
