"""Columns become metadata, and an export can be added back as it was."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import neardup as nd

TEXT = "the cat sat on the mat and looked at the moon over the harbour"
Run = Callable[..., Any]
FORMS = ["jsonl", "csv", "tsv", "parquet", "jsonl.gz", "csv.zst"]


@pytest.fixture
def made(tmp_path: Path, run: Run) -> Callable[..., nd.Collection]:
    """A collection of the documents of files."""

    def make(*arguments: object, name: str = "seen", code: int = 0) -> nd.Collection:
        path = tmp_path / f"{name}.neardup"
        assert run("index", "create", path).code == 0
        assert run("index", "add", path, *arguments).code == code
        return nd.Collection.open(path, read_only=True)

    return make


Made = Callable[..., nd.Collection]


def found(collection: nd.Collection) -> list[Any]:
    with collection:
        return list(collection.documents())


HOSTILE = [
    ("plain", TEXT, {}),
    (
        "=1+1",
        "=HYPERLINK(1) " + TEXT,
        {"site": "recipes", "n": 1, "x": 0.5, "ok": True, "no": None},
    ),
    ("'quoted", "'=1 " + TEXT, {"deep": {"a": [1, {"b": "é"}]}, "fingerprint": "mine"}),
    ("'", "''", {"metadata": {"metadata": 1}, "id": "other", "text": "another"}),
    ("-", "-", {"": "", "a\tb": "c\nd"}),
    ("@x", "\tbegins with a tab", {"=": "="}),
    ("", "an id that is empty", {"fingerprint": None, "metadata": "{}"}),
    ("lines", "one\ntwo\r\nthree\rfour\n\n", {"lines": "\r\n"}),
    ("carriage", "\rreturn", {}),
    ("quotes", 'say "yes", or ""\tno', {"quote": '"'}),
    ("猫 \u2028\u0085", "猫が座った \u2028 \ufeff 😀", {"猫": "😀"}),
    ("empty", "", {"n": 10**30}),
    (" spaces ", "  " + TEXT + "  ", {"s": " "}),
]


@pytest.mark.parametrize("form", FORMS)
def test_an_export_can_be_added_back_whole(tmp_path: Path, run: Run, made: Made, form: str) -> None:
    source, out = tmp_path / "seen.neardup", tmp_path / f"all.{form}"
    with nd.Collection.open(source) as collection:
        collection.add(HOSTILE)
    expected = found(nd.Collection.open(source, read_only=True))
    assert len(expected) == len(HOSTILE)
    for name in ("again", "once-more"):
        assert run("index", "export", source, "-o", out).code == 0
        assert found(made(out, name=name)) == expected
        source = tmp_path / f"{name}.neardup"


def test_an_export_can_be_added_back_by_python(tmp_path: Path) -> None:
    with nd.Collection.open(tmp_path / "a.neardup") as collection:
        collection.add(HOSTILE)
        expected = list(collection.documents())
        collection.export(tmp_path / "all.jsonl")
        collection.export(tmp_path / "all.parquet")
    lines = (tmp_path / "all.jsonl").read_bytes().split(b"\n")[:-1]
    for name, documents in {
        "b": [json.loads(line) for line in lines],
        "c": pq.read_table(tmp_path / "all.parquet"),
    }.items():
        with nd.Collection.open(tmp_path / f"{name}.neardup") as collection:
            collection.add(documents)
            assert list(collection.documents()) == expected


@pytest.mark.parametrize("form", ["jsonl", "csv", "parquet"])
def test_other_columns_are_metadata(tmp_path: Path, made: Made, form: str) -> None:
    rows = [
        {"url": "u1", "text": TEXT, "site": "recipes", "n": "1", "id": "i", "metadata": "none"},
        {"url": "u2", "text": "hello", "site": "", "n": "2", "id": "", "metadata": "{}"},
    ]
    path = tmp_path / f"in.{form}"
    if form == "jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    elif form == "csv":
        path.write_text("\n".join(map(",".join, [rows[0], *(row.values() for row in rows)])))
    else:
        pq.write_table(pa.Table.from_pylist(rows), path)
    kept = [
        (row["url"], row["text"], {x: row[x] for x in row if x not in ("url", "text")})
        for row in rows
    ]
    read = found(made(path, "--id-column", "url"))
    assert [document[:3] for document in read] == kept
    read = found(made(path, "--id-column", "url", "--no-metadata", name="bare"))
    assert [document[:3] for document in read] == [(x, y, {}) for x, y, _ in kept]


@pytest.mark.parametrize(
    ("columns", "kept"),
    [
        ({"metadata": {"a": 1}, "fingerprint": "0f"}, {"a": 1}),
        ({"metadata": {"a": 1}, "fingerprint": None, "more": 2}, {"more": 2, "a": 1}),
        ({"metadata": '{"a": 1}', "fingerprint": ""}, {"a": 1}),
        # Not of an export: no fingerprint, none of ours, or no object.
        ({"metadata": {"a": 1}}, {"metadata": {"a": 1}}),
        ({"fingerprint": "0f"}, {"fingerprint": "0f"}),
        ({"metadata": {"a": 1}, "fingerprint": "X1"}, {"metadata": {"a": 1}, "fingerprint": "X1"}),
        ({"metadata": [1], "fingerprint": "0f"}, {"metadata": [1], "fingerprint": "0f"}),
        ({"metadata": "[1]", "fingerprint": "0f"}, {"metadata": "[1]", "fingerprint": "0f"}),
        ({"metadata": "{", "fingerprint": "0f"}, {"metadata": "{", "fingerprint": "0f"}),
    ],
)
def test_what_counts_as_an_export(
    tmp_path: Path, made: Made, columns: dict[str, Any], kept: dict[str, Any]
) -> None:
    path = tmp_path / "in.jsonl"
    path.write_text(json.dumps({"id": "a", "text": TEXT, **columns}) + "\n")
    assert found(made(path))[0][2] == kept


def test_values_that_json_has_no_word_for(tmp_path: Path, made: Made) -> None:
    path = tmp_path / "in.jsonl"
    path.write_text(f'{{"id": "a", "text": "{TEXT}", "x": NaN, "y": [1e999, 1.5]}}\n')
    assert found(made(path))[0][2] == {"x": None, "y": [None, 1.5]}
    table = pa.table(
        {
            "id": ["a"],
            "text": [TEXT],
            "day": [datetime(2026, 1, 31, tzinfo=UTC)],
            "price": [Decimal("1.50")],
            "x": [float("nan")],
            "list": [[1, 2]],
        }
    )
    pq.write_table(table, tmp_path / "in.parquet")
    assert found(made(tmp_path / "in.parquet", name="b"))[0][2] == {
        "day": "2026-01-31T00:00:00+00:00",
        "price": "1.50",
        "x": None,
        "list": [1, 2],
    }


def test_the_error_for_invalid_metadata_names_the_way_out(tmp_path: Path, run: Run) -> None:
    path, source = tmp_path / "seen.neardup", tmp_path / "in.jsonl"
    deep = "[" * 99 + "]" * 99
    source.write_text(
        f'{{"id": "deep", "text": "{TEXT}", "x": {deep}}}\n'
        f'{{"id": "deeper", "text": "{TEXT}", "x": [{deep}]}}\n'
        f'{{"id": "half", "text": "{TEXT}", "x": "\\ud800"}}\n'
        f'{{"id": "good", "text": "{TEXT}", "x": 1}}\n'
    )
    run("index", "create", path)
    ran = run("index", "add", path, source)
    assert ran.code == 3
    assert (
        "in.jsonl:2: column 'x' is nested more than 100 deep; --no-metadata stores the id "
        "and the text only" in ran.err
    )
    assert "in.jsonl:3: column 'x' holds a lone surrogate (U+D800); --no-metadata" in ran.err
    with nd.Collection.open(path, read_only=True) as collection:
        assert list(collection) == ["deep", "good"]
    assert run("index", "add", path, source, "--no-metadata").code == 0
    pq.write_table(pa.table({"text": [TEXT], "image": [b"\0"]}), tmp_path / "in.parquet")
    ran = run("index", "add", path, tmp_path / "in.parquet")
    assert ran.code == 1
    assert "in.parquet:1: column 'image' holds bytes, which cannot be stored; --no-" in ran.err


def test_a_column_that_is_there_twice_is_no_metadata(tmp_path: Path, run: Run) -> None:
    path, source = tmp_path / "seen.neardup", tmp_path / "in.csv"
    source.write_text(f"text,n,n\n{TEXT},1,2\n")
    run("index", "create", path)
    ran = run("index", "add", path, source)
    assert (ran.code, "in.csv:1: column 'n' occurs 2 times" in ran.err) == (1, True)
    assert run("index", "add", path, source, "--no-metadata").code == 0


def test_the_schema_of_matches_is_declared(tmp_path: Path, run: Run) -> None:
    path, out = tmp_path / "seen.neardup", tmp_path / "matches.parquet"
    source = tmp_path / "in.txt"
    source.write_text(TEXT)
    run("index", "create", path)
    told = {"distance": "int64", "similarity": "double", "differs": "string", "lost": "int64"}
    expected = {"query": "string", "id": "string", **told}
    for rows in (0, 1):
        assert run("index", "check", path, source, "--radius", 3, "-o", out).code == 0
        schema = pq.read_schema(out)
        assert {field.name: str(field.type) for field in schema} == expected
        assert pq.read_metadata(out).num_rows == rows
        run("index", "add", path, source)
    duplicates = tmp_path / "duplicates.parquet"
    (tmp_path / "new.txt").write_text(TEXT)
    arguments = ("--unless-duplicate", "--radius", 3, "--duplicates", duplicates)
    run("index", "add", path, tmp_path / "new.txt", *arguments)
    kinds = {field.name: str(field.type) for field in pq.read_schema(duplicates)}
    assert kinds == {
        **dict.fromkeys(("id", "dup_of", "source"), "string"),
        **told,
    }
    empty = tmp_path / "empty.neardup"
    run("index", "create", empty)
    run("index", "export", empty, "-o", out)
    assert {str(kind) for kind in pq.read_schema(out).types} == {"string"}


@pytest.mark.parametrize("command", ["add", "check"])
def test_the_collection_named_behind_the_files(tmp_path: Path, run: Run, command: str) -> None:
    path, source = tmp_path / "seen.neardup", tmp_path / "in.jsonl"
    source.write_text("{}\n")
    run("index", "create", path)
    ran = run("index", command, source, path)
    assert ran.code == 2
    assert f"name the collection first: neardup index {command} {path} {source}" in ran.err


@pytest.mark.parametrize("count", [1, 3, 4, 5, 8, 9])
def test_documents_are_added_in_parts_of_just_so_many(
    tmp_path: Path, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    from neardup.cli import inputs
    from neardup.files.reading.batch import Reading, Unreadable

    problems: list[Unreadable] = []
    monkeypatch.setattr(inputs, "BATCH_SIZE", 4)
    path = tmp_path / "in.jsonl"
    path.write_text("".join(f'{{"id": {n}, "text": "a", "n": {n}}}\n' for n in range(count)))
    found = list(inputs.read_documents([str(path)], Reading(others=True), problems.append))
    assert [len(some.ids) for some in found] == [4] * (count // 4) + [count % 4] * (count % 4 > 0)
    assert [id_ for some in found for id_ in some.ids] == [str(n) for n in range(count)]
    metadata = [each for some in found for each in some.metadata or ()]
    assert metadata == [{"n": n} for n in range(count)]
    # The same id again begins another part, so that the later one is an update.
    path.write_text('{"id": 1, "text": "a"}\n{"id": 2, "text": "b"}\n{"id": 1, "text": "c"}\n')
    found = list(inputs.read_documents([str(path)], Reading(), problems.append))
    assert [some.ids for some in found] == [["1", "2"], ["1"]]
    assert problems == []
