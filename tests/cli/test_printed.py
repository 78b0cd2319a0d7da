"""Outputs on standard output, and guards of tables."""

from __future__ import annotations

import csv
import gzip
import io
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from helpers.processes import shell
from neardup import cli, jobs
from neardup.files import writing

TEXT = "Harbour Street will be closed to all motor traffic from Monday until Friday"
LINES = [
    f'{{"id": "=a", "text": "{TEXT}"}}\n',
    '{"id": "b",  "text": "-----BEGIN a letter of gulls and rain"}\n',
    f'{{"text": "{TEXT}", "id": "-c"}}\n',
]


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "in.jsonl"
    path.write_text("".join(LINES))
    return path


def printed(capfdbinary: pytest.CaptureFixture[bytes], *arguments: object) -> bytes:
    """What a command prints; it leaves no file."""
    before = sorted(Path().iterdir())
    assert cli.run(list(map(str, arguments))) == 0
    found = capfdbinary.readouterr()
    assert sorted(Path().iterdir()) == before
    assert b"standard output" in found.err or b"documents" in found.err
    return found.out


def test_kept_records(source: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    kept = "".join(LINES[:2]).encode()
    assert printed(capfdbinary, "dedup", source, "-o", "-") == kept
    assert gzip.decompress(printed(capfdbinary, "dedup", source, "-o", "-.jsonl.gz")) == kept
    table = source.with_suffix(".parquet")
    pq.write_table(pa.table({"text": [TEXT, TEXT, "=x y"]}), table)
    found = printed(capfdbinary, "dedup", table, "-o", "-")
    assert pq.read_table(io.BytesIO(found)).to_pylist() == [{"text": TEXT}, {"text": "=x y"}]


def test_tables(source: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    row = json.loads(printed(capfdbinary, "pairs", source, "-o", "-"))
    assert (row["left"], row["right"]) == ("=a", "-c")
    assert printed(capfdbinary, "pairs", source, "-o", "-.tsv").startswith(b"left\tright\t")
    found = printed(capfdbinary, "cluster", source, "-o", "-").splitlines()
    assert [json.loads(line)["cluster"] for line in found] == [0, 1, 0]
    found = printed(capfdbinary, "fingerprint", source, "-o", "-").splitlines()
    assert [json.loads(line)["id"] for line in found] == ["=a", "b", "-c"]
    cli.run(["index", "create", "seen.neardup", "-q"])
    cli.run(["index", "add", "seen.neardup", str(source), "-q"])
    found = printed(capfdbinary, "index", "export", "seen.neardup", "-o", "-").splitlines()
    assert [json.loads(line)["id"] for line in found] == ["=a", "b", "-c"]
    checked = printed(capfdbinary, "index", "check", "seen.neardup", source, "-o", "-.csv")
    assert checked.startswith(b"query,id,distance,similarity,differs,lost\n")


def test_other_outputs_beside_it(source: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    assert cli.run(["dedup", str(source), "-o", "k.jsonl", "--removed", "-", "-q"]) == 0
    assert json.loads(capfdbinary.readouterr().out)["dup_line"] == 1
    assert cli.run(["dedup", str(source), "-o", "-", "--removed", "-.csv"]) == 2
    assert b"named for two outputs" in capfdbinary.readouterr().err


def test_a_failed_run_prints_nothing(source: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def write_two() -> None:
        with writing.open_rows(Path("-"), {"id": str}) as write:
            write({"id": "a"})
            write({"no": "b"})

    with pytest.raises(KeyError):
        write_two()
    assert capsys.readouterr().out == ""


def test_a_file_that_is_also_standard_output(source: Path) -> None:
    ran = shell(source.parent, "neardup dedup in.jsonl -o - >> in.jsonl")
    assert ran.returncode == 2
    assert b"in.jsonl: is also standard output; write to another file" in ran.stderr
    assert source.read_text() == "".join(LINES)


def cells(path: Path) -> set[str]:
    with path.open(newline="") as file:
        return {cell for row in csv.reader(file) for cell in row}


@pytest.mark.parametrize("guard", [True, False])
def test_guards_are_for_people(source: Path, guard: bool) -> None:
    removed, out = Path("removed.csv"), Path("pairs.csv")
    options = jobs.Options(guard=guard, removed=removed)
    jobs.dedup([str(source)], Path("kept.jsonl"), options)
    jobs.pairs([str(source)], out, options)
    for path in (removed, out):
        assert {"'=a", "'-c"} <= cells(path) if guard else {"=a", "-c"} <= cells(path)
    jobs.cluster([str(source)], Path("c.jsonl"), options)
    assert "'" not in Path("c.jsonl").read_text()
    flag = [] if guard else ["--no-guard"]
    cli.run(["index", "create", "seen.neardup", "-q"])
    cli.run(["index", "add", "seen.neardup", str(source), "-q"])
    cli.run(["index", "check", "seen.neardup", str(source), "-o", "m.csv", "-q", *flag])
    assert ("'=a" in cells(Path("m.csv"))) == guard
    assert ("=a" in cells(Path("m.csv"))) != guard


def test_kept_texts_are_never_guarded(source: Path) -> None:
    Path("a.txt").write_text("=1+1 is what the first text says")
    Path("b.txt").write_text("-----BEGIN a letter of gulls and rain")
    jobs.dedup(["a.txt", "b.txt"], Path("kept.csv"))
    assert {Path("a.txt").read_text(), Path("b.txt").read_text()} <= cells(Path("kept.csv"))
