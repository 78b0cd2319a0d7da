"""How files are read, as one types it: every option, on the commands that have it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from helpers.batches import pack, unpack
from neardup import jobs
from neardup.files.reading import streams
from neardup.files.reading.batch import Reading

FOX, DOG, HEN = "the quick brown fox jumps", "a lazy dog sleeps all day", "seven hens lay eggs"


def lines(path: Path) -> list[str]:
    return path.read_text("utf-8").splitlines()


def test_tsv_with_quotes_loses_nothing(run: Callable[..., Any], tmp_path: Path) -> None:
    source, out = tmp_path / "a.tsv", tmp_path / "o.tsv"
    rows = [f"{n}\tword{n} text{n} other{n}" for n in range(1000)]
    rows[2], rows[899] = '2\t"word2 text2 other2', '899\tword899 text899 other899"'
    data = "id\ttext\n" + "\n".join(rows) + "\n"
    source.write_text(data)
    ran = run("dedup", source, "-o", out)
    assert (ran.code, out.read_text()) == (0, data)
    assert "warning" not in ran.err
    ran = run("dedup", source, "-o", out, "--quoting", "all")
    assert ran.code == 0
    assert f"note: {source}:4: a record of 898 lines, read as it is; if quotes are" in ran.err
    assert out.read_text() == data  # the long record is kept as it is


@pytest.mark.parametrize("packing", ["", ".gz"])
def test_a_table_without_header(run: Callable[..., Any], tmp_path: Path, packing: str) -> None:
    source, out = tmp_path / f"a.csv{packing}", tmp_path / f"o.csv{packing}"
    other = tmp_path / f"b.csv{packing}"
    source.write_bytes(pack(f'x;{FOX}\r\ny;"{FOX}!"\r\nz;{DOG}'.encode(), packing))
    other.write_bytes(pack(f"v;{HEN}\n".encode(), packing))
    options = ("--delimiter", ";", "--no-header", "--text-column", "2", "--id-column", "1")
    ran = run("dedup", source, other, "-o", out, *options, "--removed", tmp_path / "r.jsonl")
    assert ran.code == 0
    assert unpack(out) == f"x;{FOX}\r\nz;{DOG}\nv;{HEN}\n".encode()
    assert json.loads((tmp_path / "r.jsonl").read_text())["id"] == "y"
    other.write_bytes(pack(b"only one column\n", packing))
    ran = run("dedup", source, other, "-o", out, *options)
    assert ran.code == 2
    assert "its columns ('1') differ from those of" in ran.err


@pytest.mark.parametrize("encoding", ["gb18030", "big5", "utf-16-le", "utf-16", "utf-8"])
@pytest.mark.parametrize("name", ["a.jsonl", "a.csv", "a.txt", "a.json"])
def test_kept_records_of_a_decoded_file_are_utf8(
    run: Callable[..., Any], tmp_path: Path, encoding: str, name: str
) -> None:
    texts = [
        "今天天氣很好，我們去公園散步",
        "今天天氣很好、我們去公園散步！",
        "完全不同的一句話在這裡",
    ]
    if name == "a.csv":
        records = ["id,text\n", *(f"{n},{text}\n" for n, text in enumerate(texts))]
    elif name == "a.txt":
        records = ["", *(f"{text}\n" for text in texts)]
    else:
        records = ["", *(json.dumps({"text": x}, ensure_ascii=False) + "\n" for x in texts)]
    source, out = tmp_path / name, tmp_path / f"o.{name.rpartition('.')[2]}"
    source.write_bytes("".join(records).encode(encoding))
    how = ["--lines"] if name == "a.txt" else []
    ran = run("dedup", source, "-o", out, "--encoding", encoding, *how)
    assert ran.code == 0
    kept = "".join([records[0], records[1], records[3]])
    assert out.read_text("utf-8") == kept
    told = "read as" in ran.err and "kept records are written as UTF-8" in ran.err
    assert told == (encoding != "utf-8")


@pytest.mark.parametrize("command", ["dedup", "pairs", "cluster", "fingerprint", "add", "check"])
def test_every_command_has_the_options(
    run: Callable[..., Any], tmp_path: Path, command: str
) -> None:
    source = tmp_path / "a.csv"
    source.write_bytes('1|"今天天气 很好\n2|alpha beta gamma\n'.encode("gb18030"))
    options = [
        *("--delimiter", "|", "--quoting", "none", "--no-header", "--encoding", "gb18030"),
        *("--text-column", "2", "--id-column", "1", "--max-bytes", "1G", "--max-document", "1M"),
    ]
    if command in ("add", "check"):
        store = tmp_path / "c.neardup"
        run("index", "create", store)
        ran = run("index", command, store, source, *options)
    else:
        out = tmp_path / ("o.csv" if command == "dedup" else "o.jsonl")
        ran = run(command, source, "-o", out, *options)
    assert ran.code == 0, ran.err
    counted = {"add": "added 2", "check": "documents 2", "fingerprint": "documents 2"}
    assert counted.get(command, "read 2") in ran.err
    for option, value in (("--delimiter", ";;"), ("--quoting", "some"), ("--max-bytes", "-1")):
        wrong = [*options, option, value]
        if command in ("add", "check"):
            ran = run("index", command, store, source, *wrong)
        else:
            ran = run(command, source, "-o", out, *wrong)
        assert ran.code == 2
        assert repr(value) in ran.err


def test_skipped_files_of_a_folder_are_reported(run: Callable[..., Any], tmp_path: Path) -> None:
    folder, out = tmp_path / "notes", tmp_path / "o.jsonl"
    folder.mkdir()
    for number, name in enumerate(["a.css", "b.css", "c.tex", "README", "d.txt"]):
        (folder / name).write_text(f"word{number} text{number}")
    ran = run("dedup", folder, "-o", out)
    assert len(lines(out)) == 1
    told = f"note: {folder}/: skipped 4 files: 2 .css, 1 .tex, 1 without ending; --format text"
    assert f"neardup: {told} reads them" in ran.err
    ran = run("dedup", folder, "-o", out, "--format", "text")
    assert (len(lines(out)), "skipped 4" in ran.err) == (5, False)
    summary = json.loads(run("dedup", folder, "-o", out, "--json", "-q").out)
    assert "skipped 4 files" in summary["notes"][0]


@pytest.mark.parametrize("out", ["o.json", "o.jsonl", "o.json.gz"])
def test_an_array_of_records(run: Callable[..., Any], tmp_path: Path, out: str) -> None:
    source = tmp_path / "a.json"
    text = f'[\n {{"id": 1,\n  "n": 1.50, "doc": {{"body": "{FOX}"}}}},\n '
    text += f'{{"id": 2, "doc": {{"body": "{FOX}"}}}},\n {{"id": 3, "doc": {{"body": "{DOG}"}}}}]'
    source.write_text(text)
    ran = run("dedup", source, "-o", tmp_path / out, "--text-column", "doc.body")
    assert ran.code == 0
    kept = [
        f'{{"id": 1, "n": 1.50, "doc": {{"body": "{FOX}"}}}}',
        f'{{"id": 3, "doc": {{"body": "{DOG}"}}}}',
    ]
    found = unpack(tmp_path / out).decode()
    if out == "o.jsonl":
        assert found == "".join(f"{record}\n" for record in kept)
    else:
        assert found == "[\n" + ",\n".join(kept) + "\n]\n"
    ran = run("dedup", source, "-o", tmp_path / "o.csv", "--text-column", "doc.body")
    assert "records are written as JSON lines or as an array; use .json or .jsonl" in ran.err


def test_an_array_of_nothing(run: Callable[..., Any], tmp_path: Path) -> None:
    source, out = tmp_path / "a.json", tmp_path / "o.json"
    source.write_text("[]\n")
    assert run("dedup", source, "-o", out).code == 0
    assert out.read_text() == "[]\n"


def test_json_lines_called_json(run: Callable[..., Any], tmp_path: Path) -> None:
    source = tmp_path / "a.json"
    data = f'{{"text": "{FOX}"}}\n{{"text":   "{DOG}"}}\n'
    source.write_text(data)
    for name in ("o.json", "o.jsonl"):
        assert run("dedup", source, "-o", tmp_path / name).code == 0
        assert (tmp_path / name).read_text() == data


KINDS = [
    *(pa.string(), pa.large_string(), pa.string_view()),
    *(pa.dictionary(pa.int8(), pa.string()), pa.dictionary(pa.int32(), pa.large_string())),
]


@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize("command", ["dedup", "pairs", "cluster", "add"])
def test_every_arrow_string_type(
    run: Callable[..., Any], tmp_path: Path, kind: pa.DataType, command: str
) -> None:
    source, out = tmp_path / "a.parquet", tmp_path / "o.parquet"
    texts, ids = [FOX, None, FOX.upper(), DOG], ["a", "b", "c", "d"]
    table = pa.table({"id": pa.array(ids, kind), "text": pa.array(texts, kind)})
    table = table.append_column("day", pa.array(["1", "2", "3", "4"], kind))
    pq.write_table(table, source)
    if command == "add":
        store = tmp_path / "c.neardup"
        run("index", "create", store)
        assert "added 4" in run("index", "add", store, source).err
        assert "near one in the collection 3" in run("index", "check", store, source).err
        return
    keep = ["--keep", "newest:day"] if command != "pairs" else []
    ran = run(command, source, "-o", out, *keep)
    assert (ran.code, "unreadable 0" in ran.err) == (0, True), ran.err
    found = pq.read_table(out)
    if command == "dedup":
        assert found.schema.equals(pq.read_schema(source))
        assert found.column("id").to_pylist() == ["b", "c", "d"]
        assert found.column("text").to_pylist() == [None, FOX.upper(), DOG]
    elif command == "pairs":
        assert found.select(["left", "right"]).to_pylist() == [{"left": "a", "right": "c"}]
    else:
        assert found.column("representative").to_pylist() == ["c", "b", "c", "d"]


@pytest.mark.parametrize("name", ["a.jsonl", "a.parquet", "a.csv", "a.json"])
def test_a_null_text_has_no_signal_and_is_kept(
    run: Callable[..., Any], tmp_path: Path, name: str
) -> None:
    source, out = tmp_path / name, tmp_path / f"o{name[1:]}"
    rows: list[dict[str, Any]] = [
        {"id": "1", "text": None},
        {"id": "2", "text": FOX},
        {"id": "3", "text": None},
    ]
    if name == "a.parquet":
        pq.write_table(pa.Table.from_pylist(rows), source)
    elif name == "a.csv":
        source.write_text("id,text\n" + "".join(f"{r['id']},{r['text'] or ''}\n" for r in rows))
    elif name == "a.json":
        source.write_text("[\n" + ",\n".join(map(json.dumps, rows)) + "\n]\n")
    else:
        source.write_text("".join(json.dumps(row) + "\n" for row in rows))
    found = json.loads(run("dedup", source, "-o", out, "--json").out)
    counts = [found[x] for x in ("read", "unreadable", "no_signal", "kept")]
    assert counts == [3, 0, 2, 3]
    if name != "a.parquet":
        assert out.read_bytes() == source.read_bytes()


def test_ids_are_said_to_be_repeated(run: Callable[..., Any], tmp_path: Path) -> None:
    source, out, removed = (tmp_path / x for x in ("a.jsonl", "o.jsonl", "r.jsonl"))
    rows = [("a", FOX), ("b", DOG), ("a", HEN), ("a", FOX)]
    source.write_text("".join(json.dumps({"id": x, "text": y}) + "\n" for x, y in rows))
    told = "neardup: note: 2 records have the id of an earlier record, first 'a'"
    ran = run("dedup", source, "-o", out, "--removed", removed)
    assert f"{told}; the column line of --removed distinguishes them\n" in ran.err
    assert f"{told}\n" in run("cluster", source, "-o", out).err
    assert run("cluster", source, "-o", out, "--quiet").err == ""


@pytest.mark.parametrize("packing", [".gz", ".zst"])
def test_packed_text_of_one_repeated_line_is_read(
    run: Callable[..., Any], tmp_path: Path, packing: str
) -> None:
    """Zstandard packs such a file to less than a thousandth, and it is no attack."""
    source, out = tmp_path / f"a.txt{packing}", tmp_path / "o.txt"
    data = (FOX + "\n").encode() * 300_000
    source.write_bytes(pack(data, packing))
    if packing == ".zst":
        assert len(data) > 1000 * source.stat().st_size
    ran = run("dedup", source, "-o", out, "--lines")
    assert (ran.code, out.read_text()) == (0, FOX + "\n")
    ran = run("dedup", source, "-o", out, "--lines", "--max-bytes", "1M")
    assert ran.code == 3
    assert ": the limit is 1 MiB; if that is intended, raise" in ran.err


@pytest.mark.parametrize("kind", ["jsonl", "csv", "txt", "json"])
def test_an_input_deleted_while_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    monkeypatch.setattr(streams, "BLOCK_BYTES", 1 << 10)
    source = tmp_path / f"a.{kind}"
    rows = [f'{{"text": "word{n} other{n}"}}' for n in range(500)]
    source.write_text({"csv": "text\n", "json": "[\n"}.get(kind, "") + ",\n".join(rows))
    if kind == "jsonl":
        source.write_text("\n".join(rows))

    class Deleting:
        def stage(self, name: str, total: int | None, unit: str) -> None:
            pass

        def advance(self, count: int) -> None:
            source.unlink(missing_ok=True)

    reading = Reading(lines=kind == "txt", quoting="none" if kind == "csv" else None)
    options = jobs.Options(progress=Deleting(), reading=reading)
    with pytest.raises(OSError, match=r"a\.|No such file") as raised:
        jobs.dedup([str(source)], tmp_path / f"o.{kind}", options)
    assert "NoneType" not in str(raised.value)
    assert list(tmp_path.iterdir()) == []


def test_metadata_nested_very_deep(run: Callable[..., Any], tmp_path: Path) -> None:
    source, store = tmp_path / "a.jsonl", tmp_path / "c.neardup"
    deep = "[" * 100_000 + "]" * 100_000
    source.write_text(
        f'{{"id": 1, "text": "a b", "m": {deep}}}\n'
        f'{{"id": 2, "text": "c d", "metadata": "{deep}"}}\n{{"id": 3, "text": "e f"}}\n'
    )
    run("index", "create", store)
    ran = run("index", "add", store, source)
    assert ran.code == 3
    assert f"{source}:1: nested too deeply\n" in ran.err
    assert "added 2" in ran.err
    assert "Error" not in ran.err


def test_options_from_a_device(run: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"text": "a b"}\n')
    ran = run("dedup", tmp_path / "a.jsonl", "-o", tmp_path / "o.jsonl", "--config", "/dev/zero")
    assert ran.code == 2
    assert "file '/dev/zero' is not a regular file but a pipe or device; save its" in ran.err
    link = tmp_path / "zero.toml"
    link.symlink_to("/dev/zero")
    ran = run("dedup", tmp_path / "a.jsonl", "-o", tmp_path / "o.jsonl", "--recipe", link)
    assert (ran.code, "is not a regular file" in ran.err) == (2, True)
