"""neardup fingerprint."""

import csv
import errno
import gzip
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import neardup as nd
from helpers.batches import pack

START = "from neardup.cli import main; main()"
TEXTS = ["the quick brown fox jumps over the lazy dog", "今天天气很好我们去公园散步", "!"]


def code(text: str, recipe: nd.Recipe | str | None = None) -> str:
    value = nd.fingerprint(text, recipe)
    width = (nd.Recipe.preset(recipe) if isinstance(recipe, str) else recipe or nd.Recipe()).bits
    return "-" if value is None else f"{value:0{width // 4}x}"


@pytest.fixture
def sample(tmp_path: Path) -> Path:
    path = tmp_path / "sample.jsonl"
    lines = [json.dumps({"id": f"doc{n}", "text": text}) for n, text in enumerate(TEXTS)]
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def test_prints_id_and_hexadecimal_digits(run: Callable[..., Any], sample: Path) -> None:
    ran = run("fingerprint", sample)
    assert ran.code == 0
    assert ran.out == "".join(f"doc{n}\t{code(text)}\n" for n, text in enumerate(TEXTS))
    assert ran.out.endswith("doc2\t-\n")
    assert ran.err.startswith("neardup: documents 3, without signal 1, unreadable 0, seconds ")


def test_quiet_says_nothing_more(run: Callable[..., Any], sample: Path) -> None:
    assert run("fingerprint", sample, "--quiet").err == ""


def test_files_lines_and_standard_input(run: Callable[..., Any], tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("\n".join(TEXTS[:2]), encoding="utf-8")
    assert run("fingerprint", path).out == f"{path}\t{code(chr(10).join(TEXTS[:2]))}\n"
    by_line = "".join(f":{n}\t{code(text)}\n" for n, text in enumerate(TEXTS[:2], 1))
    assert run("fingerprint", path, "--lines").out.replace(str(path), "") == by_line
    ran = run("fingerprint", "--lines", "-", stdin=path.read_bytes())
    assert ran.out.replace("stdin", "") == by_line
    ran = run("fingerprint", "--jsonl", "-", stdin=b'{"id": 5, "text": "alpha beta"}')
    assert ran.out == f"5\t{code('alpha beta')}\n"


def test_json_lines(run: Callable[..., Any], sample: Path) -> None:
    rows = [json.loads(line) for line in run("fingerprint", sample, "--json").out.splitlines()]
    assert rows[0] == {"id": "doc0", "fingerprint": code(TEXTS[0]), "signal": True}
    assert rows[2] == {"id": "doc2", "fingerprint": None, "signal": False}


@pytest.mark.parametrize("bits", [8, 64, 256])
def test_recipe_and_bits(run: Callable[..., Any], sample: Path, bits: int) -> None:
    ran = run("fingerprint", sample, "--bits", bits)
    assert ran.out.splitlines()[0] == f"doc0\t{code(TEXTS[0], nd.Recipe(bits=bits))}"
    ran = run("fingerprint", sample, "--recipe", "simhash", "--threads", 1)
    assert ran.out.splitlines()[1] == f"doc1\t{code(TEXTS[1], 'simhash')}"


def test_a_recipe_file(run: Callable[..., Any], sample: Path, tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    recipe = nd.Recipe(bits=32, tokens="chars", ngram=3)
    recipe.save(path)
    ran = run("fingerprint", sample, "--recipe", path)
    assert ran.out.splitlines()[0] == f"doc0\t{code(TEXTS[0], recipe)}"


def test_other_columns(run: Callable[..., Any], tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"url": "http://a", "body": "alpha beta"}')
    ran = run("fingerprint", path, "--text-column", "body", "--id-column", "url")
    assert ran.out == f"http://a\t{code('alpha beta')}\n"


def test_unreadable_lines_are_reported_and_the_rest_goes_on(
    run: Callable[..., Any], tmp_path: Path
) -> None:
    path = tmp_path / "a.jsonl"
    bad = b"".join(b'{"column%d": 1}\n' % number for number in range(25))
    path.write_bytes(b'{"text": "alpha beta"}\n' + bad + b'{"text": "gamma delta"}\n')
    ran = run("fingerprint", path)
    assert ran.code == 3
    assert len(ran.out.splitlines()) == 2
    errors = ran.err.splitlines()
    assert errors[0] == f"neardup: {path}:2: no column 'text' (columns: 'column0')"
    assert errors[19].startswith(f"neardup: {path}:21: ")
    assert errors[20] == "neardup: 5 more unreadable, 25 in all"
    assert errors[21].startswith("neardup: documents 2, without signal 0, unreadable 25, ")


def test_problems_of_many_files_are_capped(run: Callable[..., Any], tmp_path: Path) -> None:
    for number in range(25):
        (tmp_path / f"{number:02}.jsonl").write_text("oops\n")
    lines = run("fingerprint", tmp_path, "-q").err.splitlines()
    assert sum("not JSON" in line for line in lines) == 20
    assert "neardup: 5 more unreadable, 25 in all" in lines


def test_equal_reasons_are_one_line(run: Callable[..., Any], tmp_path: Path) -> None:
    path, other = tmp_path / "mix.jsonl", tmp_path / "gbk.jsonl"
    path.write_text('{"id": 1, "title": "t", "text": "a b"}\n' * 300)
    other.write_bytes('{"text": "我们今天去公园散步"}\n'.encode("gbk") * 4 + b"oops\n{oops\n")
    ran = run("fingerprint", path, other, "--text-column", "body", "--id-column", "x", "-q")
    assert (ran.code, ran.out) == (1, "")
    assert ran.err.splitlines() == [
        f"neardup: {path}: no column 'body' (columns: 'id', 'title', 'text') in 300 records, "
        "first at line 1",
        f"neardup: {other}: not UTF-8 (byte 0xce at offset 10) in 4 records, first at line 1; "
        "looks like gb18030: use --encoding gb18030",
        f"neardup: {other}:5: not JSON (Expecting value at character 0)",
        f"neardup: {other}:6: not JSON (Expecting property name enclosed in double quotes "
        "at character 1)",
        "neardup: nothing could be read",
    ]


def test_nothing_read_leaves_the_old_output(run: Callable[..., Any], tmp_path: Path) -> None:
    out = tmp_path / "out.csv"
    out.write_text("old")
    ran = run("fingerprint", "--jsonl", "-", "-o", out, stdin=b"oops")
    assert (ran.code, out.read_text()) == (1, "old")
    assert list(tmp_path.iterdir()) == [out]


def test_an_empty_input_is_no_failure(run: Callable[..., Any]) -> None:
    assert run("fingerprint", "--jsonl", "-").code == 0


@pytest.mark.parametrize("name", ["same.jsonl", "symbolic.jsonl", "hard.jsonl"])
def test_an_input_is_never_the_output(
    run: Callable[..., Any], sample: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.chdir(sample.parent)
    sample.rename("same.jsonl")
    Path("symbolic.jsonl").symlink_to("same.jsonl")
    Path("hard.jsonl").hardlink_to("same.jsonl")
    before = Path("same.jsonl").read_bytes()
    ran = run("fingerprint", "same.jsonl", "-o", name)
    assert (ran.code, ran.out) == (2, "")
    assert f"{name}: is also an input and would be overwritten; name another file" in ran.err
    assert Path("same.jsonl").read_bytes() == before


def test_standard_input_is_never_the_output(sample: Path) -> None:
    before = sample.read_bytes()
    with sample.open("rb") as file:
        ran = subprocess.run(
            [sys.executable, "-c", START, "fingerprint", "--jsonl", "-", "-o", str(sample)],
            stdin=file,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
    assert ran.returncode == 2
    assert f"{sample}: is also an input and would be overwritten" in ran.stderr
    assert sample.read_bytes() == before


def test_an_output_behind_a_link(run: Callable[..., Any], sample: Path) -> None:
    (sample.parent / "deep").mkdir()
    link, target = sample.parent / "link.csv", sample.parent / "deep" / "target.csv"
    link.symlink_to(target)
    for _ in range(2):
        assert run("fingerprint", sample, "-o", link).code == 0
        assert link.is_symlink()
        assert len(target.read_text().splitlines()) == 4
    assert list(target.parent.iterdir()) == [target]


def test_an_output_that_cannot_be_written(
    run: Callable[..., Any], sample: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(sample.parent)
    Path("old.csv").write_text("old")
    Path("folder.csv").mkdir()
    Path("link.csv").symlink_to("nodir/x.csv")

    def message(name: str) -> str:
        ran = run("fingerprint", sample, "-o", name)
        assert (ran.code, ran.out) == (2, "")
        start, end = "neardup: Invalid value for --out: ", ". See 'neardup fingerprint --help'.\n"
        assert ran.err.startswith(start)
        assert ran.err.endswith(end)
        return str(ran.err[len(start) : -len(end)])

    assert message("nodir/x.csv") == "nodir/x.csv: the folder nodir does not exist"
    nodir = sample.parent / "nodir"
    assert message("link.csv") == f"link.csv: the folder {nodir} does not exist"
    assert message("folder.csv") == "folder.csv: is a folder; name a file in it"
    os.mkfifo("pipe.csv")
    assert message("pipe.csv") == "pipe.csv: not a regular file"
    # Tests may run as root, to whom everything is writable.
    monkeypatch.setattr("os.access", lambda path, mode: Path(path).is_dir())
    assert message("old.csv") == "old.csv: not writable"
    monkeypatch.setattr("os.access", lambda path, mode: False)
    assert message("new.csv") == "new.csv: the folder . is not writable"
    assert Path("old.csv").read_text() == "old"


def test_errors_of_writing_name_the_output(
    run: Callable[..., Any], sample: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", "/temporary")

    monkeypatch.setattr("os.fsync", full)
    out = sample.parent / "out.csv"
    ran = run("fingerprint", sample, "-o", out)
    assert (ran.code, ran.err) == (1, f"neardup: {out}: No space left on device\n")
    assert list(sample.parent.iterdir()) == [sample]


@pytest.mark.parametrize("packing", ["", ".gz", ".zst"])
@pytest.mark.parametrize("name", ["a.csv", "a.TSV", "a.json", "a.jsonl"])
def test_reads_what_its_siblings_read(
    run: Callable[..., Any], tmp_path: Path, name: str, packing: str
) -> None:
    rows = [{"id": f"doc{n}", "text": text} for n, text in enumerate(TEXTS)]
    cells = [[row["id"], row["text"]] for row in [{"id": "id", "text": "text"}, *rows]]
    data = {
        "a.csv": "".join(f"{','.join(row)}\n" for row in cells),
        "a.TSV": "".join("\t".join(row) + "\n" for row in cells),
        "a.json": json.dumps(rows, indent=2),
        "a.jsonl": "".join(json.dumps(row) + "\n" for row in rows),
    }[name]
    path = tmp_path / (name + packing)
    path.write_bytes(pack(data.encode(), packing))
    ran = run("fingerprint", path)
    expected = "".join(f"doc{n}\t{code(text)}\n" for n, text in enumerate(TEXTS))
    assert (ran.code, ran.out) == (0, expected)
    assert run("fingerprint", tmp_path).out == expected
    assert run("fingerprint", tmp_path / "a.*").out == expected
    assert run("fingerprint", path.as_uri()).out == expected


def test_parquet_of_every_string_type(run: Callable[..., Any], tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    for kind in (
        *(pa.string(), pa.large_string(), pa.string_view()),
        *(pa.dictionary(pa.int8(), pa.string()), pa.dictionary(pa.int32(), pa.large_string())),
    ):
        column = pa.array([*TEXTS, None], kind)
        pq.write_table(pa.table({"id": pa.array([1.0, 2.0, 3.0, 4.0]), "text": column}), path)
        ran = run("fingerprint", path)
        assert ran.code == 0
        assert ran.out == "".join(f"{n}\t{code(text)}\n" for n, text in enumerate([*TEXTS, ""], 1))


def test_options_of_reading(run: Callable[..., Any], tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes('1;"今天天气 很好\n2;alpha beta\n'.encode("gb18030"))
    options = ("--delimiter", ";", "--quoting", "none", "--no-header", "--encoding", "gb18030")
    ran = run("fingerprint", path, *options, "--text-column", 2, "--id-column", 1)
    assert ran.out == f"1\t{code('今天天气 很好')}\n2\t{code('alpha beta')}\n"
    assert f"{path}: read as gb18030; kept records are written as UTF-8" in ran.err
    ran = run("fingerprint", path, *options)
    assert ran.code == 1
    assert "so the columns are called 1 to 2; name the text column with --text-col" in ran.err
    ran = run("fingerprint", "--format", "csv", "--delimiter", "tab", "-", stdin=b"text\tn\na\t1\n")
    assert ran.out == f"stdin:2\t{code('a')}\n"


def test_json_lines_on_standard_input_are_noted(run: Callable[..., Any]) -> None:
    note = "neardup: note: standard input looks like JSON lines; use --format jsonl"
    data = b'{"text": "alpha beta"}\n{"text": "gamma delta"}\n'
    for options, noted in [
        (["-"], True),
        (["-", "--lines"], True),
        (["-", "--jsonl"], False),
        (["-", "--format", "jsonl"], False),
        (["-", "--quiet"], False),
    ]:
        ran = run("fingerprint", *options, stdin=data)
        assert ran.code == 0
        assert ran.err.splitlines().count(note) == noted
    for other in (b"{alpha beta}\n", b"[1]\n", b"", b"alpha\n" + data):
        assert note not in run("fingerprint", "-", stdin=other).err


def test_repeated_ids_are_noted(run: Callable[..., Any], tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text("".join(f'{{"id": "{name}", "text": "a b"}}\n' for name in "abcbacb"))
    ran = run("fingerprint", path)
    assert (ran.code, len(ran.out.splitlines())) == (0, 7)
    note = "neardup: documents with the id of an earlier one: 4, first 'b'"
    assert ran.err.splitlines()[0] == note
    assert run("fingerprint", path, "--quiet").err == ""


def test_ids_cannot_break_the_line(run: Callable[..., Any], tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps({"id": "a\tb\n\x1b[31m\u202e", "text": "alpha beta"}))
    assert run("fingerprint", path).out.split("\t")[0] == r"a\tb\n\x1b[31m\u202e"


@pytest.mark.parametrize(("suffix", "delimiter"), [(".csv", ","), (".tsv", "\t")])
def test_output_as_table(
    run: Callable[..., Any], tmp_path: Path, suffix: str, delimiter: str
) -> None:
    source, out = tmp_path / "a.jsonl", tmp_path / f"out{suffix}"
    source.write_text('{"id": "=1+1", "text": "alpha beta"}\n{"id": "b,\\"c", "text": ""}\n')
    ran = run("fingerprint", source, "-o", out)
    assert (ran.code, ran.out) == (0, "")
    with out.open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file, delimiter=delimiter))
    identity = nd.Recipe().identity
    assert rows == [
        ["id", "fingerprint", "signal", "recipe"],
        ["'=1+1", code("alpha beta"), "true", identity],
        ['b,"c', "", "false", identity],
    ]


def test_output_packed_and_as_parquet(run: Callable[..., Any], sample: Path) -> None:
    packed, table = sample.with_name("out.csv.gz"), sample.with_name("out.parquet")
    for out in (packed, table):
        assert run("fingerprint", sample, "-o", out).code == 0
    rows = list(csv.DictReader(gzip.decompress(packed.read_bytes()).decode().splitlines()))
    found = pq.read_table(table).to_pylist()
    assert [row["id"] for row in found] == [row["id"] for row in rows] == ["doc0", "doc1", "doc2"]
    assert [row["fingerprint"] for row in found] == [code(TEXTS[0]), code(TEXTS[1]), None]


def test_output_as_json_lines_with_a_summary(
    run: Callable[..., Any], sample: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out.jsonl"
    ran = run("fingerprint", sample, "-o", out, "--json")
    summary = json.loads(ran.out)
    assert summary["documents"] == 3
    assert summary["no_signal"] == 1
    assert summary["unreadable"] == 0
    rows = [json.loads(line) for line in out.read_text("utf-8").splitlines()]
    assert [row["id"] for row in rows] == ["doc0", "doc1", "doc2"]
    assert rows[1]["fingerprint"] == code(TEXTS[1])
    assert rows[1]["recipe"] == summary["recipe"] == nd.Recipe().identity


def test_a_failed_run_leaves_the_old_output(
    run: Callable[..., Any], sample: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out.jsonl"
    out.write_text("old")

    def fail(*_: object, **__: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr("json.dumps", fail)
    ran = run("fingerprint", sample, "-o", out)
    assert (ran.code, ran.err) == (1, "neardup: disk full\n")
    assert out.read_text() == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.jsonl", "sample.jsonl"]
