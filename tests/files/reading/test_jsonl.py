"""JSON lines as documents, and every way a line can be wrong."""

from pathlib import Path

import pytest

from helpers.batches import keys, pairs, pieces
from helpers.batches import read as read_file
from neardup.files.reading.batch import Reading, Unreadable
from neardup.files.reading.inputs import read_batches


def read(
    path: Path, text_column: str = "text", id_column: str | None = None
) -> tuple[list[tuple[str, str]], list[str]]:
    batches, problems = read_file(path, text_columns=(text_column,), id_column=id_column)
    return pairs(batches), problems


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "a.jsonl"


def test_columns_and_ids(path: Path) -> None:
    path.write_text(
        '\ufeff{"id": "x", "text": "one"}\r\n\n{"text": "two", "n": [1]}\n'
        '{"id": 7, "text": ""}\n{"id": null, "text": "four"}',
        encoding="utf-8",
    )
    expected = [("x", "one"), (f"{path}:3", "two"), ("7", ""), (f"{path}:5", "four")]
    assert read(path) == (expected, [])


@pytest.mark.parametrize("end", [b"", b"\n"])
@pytest.mark.parametrize("key", [None, "n"])  # a key is found by the slower way
def test_spans_are_the_lines(
    path: Path, key: str | None, end: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("neardup.files.reading.streams.BLOCK_BYTES", 50)
    lines = [b'{"text": "%d", "n": 1}\n' % n for n in range(9)]
    data = b"".join(lines).removesuffix(b"\n") + end
    path.write_bytes(data)
    batches, _ = read_file(path, key_column=key)
    assert len(batches) > 1
    assert [place for batch in batches for place in batch.spans[:, 1]][-1] == len(data)
    assert pieces(batches, data) == data.splitlines(keepends=True)


def test_other_columns(path: Path) -> None:
    path.write_text('{"url": "u", "body": "b"}\n{"body": "c"}\n')
    assert read(path, text_column="body", id_column="url") == (
        [("u", "b")],
        ["2: no column 'url' (columns: 'body')"],
    )


@pytest.mark.parametrize("suffix", [".jsonl", ".ndjson", ".JSONL"])
def test_known_by_their_ending(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"a{suffix}"
    path.write_text('{"text": "t"}\n')
    assert read(path)[0] == [(f"{path}:1", "t")]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b'{"text": "\xce\xd2"}', "not UTF-8 (byte 0xce at offset 10)"),
        (b'{"text": ', "not JSON (Expecting value at character 9)"),
        (b'{"text": "abc', "not JSON (Unterminated string starting at character 9)"),
        (b'{"text": "a\tb"}', "not JSON (Invalid control character at character 11)"),
        (b"plain words", "not JSON (Expecting value at character 0)"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"text": ' + b"9" * 5000 + b"}", "holds a whole number of more than 4,300 digits"),
        (b'["text"]', "expected an object, got a list"),
        (b"null", "expected an object, got null"),
        (b'"text"', "expected an object, got a string"),
        (b"1.5", "expected an object, got a number"),
        (b"{}", "no column 'text' (columns: none)"),
        (b'{"body": "x", "url": "u"}', "no column 'text' (columns: 'body', 'url')"),
        (b'{"text": 3}', "column 'text' is a number, not a string"),
        (b'{"text": {"a": 1}}', "column 'text' is an object, not a string"),
        (b'{"text": "ab\\ud800"}', "column 'text' holds a lone surrogate (U+D800 at character 2)"),
        (b'{"id": "\\udfff", "text": ""}', "column 'id' holds a lone surrogate"),
    ],
)
def test_a_bad_line_is_reported_and_the_others_go_on(path: Path, line: bytes, reason: str) -> None:
    path.write_bytes(b'{"text": "before"}\n' + line + b'\n{"text": "after \\ud83d\\ude00"}\n')
    found, problems = read(path)
    assert [text for _, text in found] == ["before", "after 😀"]
    assert len(problems) == 1
    assert problems[0].startswith(f"2: {reason}")


def test_places_inside_a_line_do_not_make_another_kind(path: Path) -> None:
    path.write_bytes(b'{"text": "a\n{"text" :"ab\n\xce\n {\xd2\n')
    problems: list[Unreadable] = []
    assert list(read_batches(str(path), Reading(), problems.append)) == []
    kinds = [problem.kind for problem in problems]
    assert kinds == ["not JSON (Unterminated string starting)"] * 2 + ["not UTF-8"] * 2


def test_many_columns_are_not_all_listed(path: Path) -> None:
    path.write_text('{"a":1,"b":1,"c":1,"d":1,"e":1,"f":1,"g":1,"h":1,"i":1,"j":1}')
    assert read(path)[1][0].endswith("'g', 'h', 2 more)")


def test_a_null_text_is_a_text_without_anything(path: Path) -> None:
    path.write_text('{"id": 1, "text": null}\n{"id": 2, "text": "two"}\n')
    assert read(path) == ([("1", ""), ("2", "two")], [])


@pytest.mark.parametrize(
    ("value", "id_"),
    [
        ("7", "7"),
        ("-7", "-7"),
        ("7.0", "7"),
        ("1.5", "1.5"),
        ("1e300", "1e+300"),
        ("true", "true"),
        ("false", "false"),
        ('""', ""),
        ("123456789012345678901234567890", "123456789012345678901234567890"),
        ("null", None),
        ("NaN", None),
        ("1e999", None),
    ],
)
def test_any_scalar_is_an_id(path: Path, value: str, id_: str | None) -> None:
    path.write_text(f'{{"id": {value}, "text": "t"}}\n')
    expected = [(f"{path}:1" if id_ is None else id_, "t")]
    assert read(path) == (expected, [])
    assert read(path, id_column="id") == (expected, [])


def test_what_is_no_id_is_said_once(path: Path) -> None:
    path.write_text('{"id": 1, "text": "a"}\n{"id": [2], "text": "b"}\n{"id": {}, "text": "c"}\n')
    notes: list[str] = []
    found = list(read_batches(str(path), Reading(), print, note=notes.append))
    assert [id_ for batch in found for id_ in batch.ids.to_pylist()] == [
        "1",
        f"{path}:2",
        f"{path}:3",
    ]
    assert notes == [
        f"{path}: column 'id' holds a list in 2 records, first at line 2; their ids are file:line"
    ]


@pytest.mark.parametrize("text", ['{"text": "b"}', '{"id": null, "text": "b"}'])
def test_missing_ids_are_said_once_where_others_have_one(path: Path, text: str) -> None:
    path.write_text(f'{{"id": 1, "text": "a"}}\n{text}\n')
    notes: list[str] = []
    list(read_batches(str(path), Reading(), print, note=notes.append))
    assert notes == [
        f"{path}: 1 of 2 records have no id in column 'id', first at line 2; their ids are "
        "file:line"
    ]
    path.write_text(f"{text}\n{text}\n")
    list(read_batches(str(path), Reading(), print, note=notes.append))
    assert len(notes) == 1


@pytest.mark.parametrize(
    ("record", "column", "text"),
    [
        ('{"doc": {"body": "in"}}', "doc.body", "in"),
        ('{"doc": {"body": "in"}, "doc.body": "own"}', "doc.body", "own"),
        ('{"a": {"b": {"c": "in"}}}', "a.b.c", "in"),
        ('{"a": {"b.c": "half"}}', "a.b.c", "half"),
        ('{"a.b": {"c": "half"}}', "a.b.c", "half"),
        ('{"a": 1, "a.b": {"c": "half"}}', "a.b.c", "half"),
        ('{"doc": {"body": null}}', "doc.body", ""),
    ],
)
def test_dotted_columns(path: Path, record: str, column: str, text: str) -> None:
    path.write_text(record)
    assert read(path, text_column=column) == ([(f"{path}:1", text)], [])


def test_dotted_columns_that_are_not_there(path: Path) -> None:
    path.write_text('{"doc": "body"}\n{"doc": {"other": 1}}\n')
    assert read(path, text_column="doc.body")[1] == [
        f"{line}: no column 'doc.body' (columns: 'doc')" for line in (1, 2)
    ]


def test_dotted_ids_and_keys(path: Path) -> None:
    path.write_text('{"meta": {"key": "k", "date": 3}, "text": "t"}')
    batches, problems = read_file(path, id_column="meta.key", key_column="meta.date")
    assert (pairs(batches), keys(batches), problems) == ([("k", "t")], [3], [])
