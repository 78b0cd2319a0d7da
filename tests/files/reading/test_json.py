"""Arrays of records and other JSON that is no JSON lines."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.batches import keys, pack, pairs, pieces, read, texts
from neardup import jobs
from neardup.files.reading import json as json_records
from neardup.files.reading.batch import Reading
from neardup.files.reading.inputs import format_of, read_batches
from neardup.files.reading.json import sniff
from neardup.files.reading.streams import ByteStream

RECORDS = [
    {"id": 1, "text": "one"},
    {"id": "二", "text": "三 \n four", "n": {"m": [1, {}]}},
    {"text": "", "n": 'a "]" }, {'},
]


@pytest.mark.parametrize("packing", ["", ".gz", ".zst"])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("ascii_only", [True, False])
def test_arrays(
    tmp_path: Path, packing: str, mark: bytes, indent: int | None, ascii_only: bool
) -> None:
    path = tmp_path / f"a.json{packing}"
    text = json.dumps(RECORDS, indent=indent, ensure_ascii=ascii_only)
    data = mark + text.encode() + b"\n"
    path.write_bytes(pack(data, packing))
    batches, problems = read(path)
    assert problems == []
    lines = [line for batch in batches for line in batch.lines.tolist()]
    ids = ["1", "二", f"{path}:3"]
    assert pairs(batches) == list(zip(ids, ["one", "三 \n four", ""], strict=True))
    assert [json.loads(piece) for piece in pieces(batches, data)] == RECORDS
    assert lines == [1, 2, 3]


@pytest.mark.parametrize(
    "text",
    [
        '{\n "id": 1,\n "text": "one"\n}\n',
        '{"id": 1, "text": "one"}',
        '[\n{"id": 1, "text": "one"}\n]',
        '\n\n[{"id": 1, "text": "one"}]\n\n',
        '[[], {"id": 1, "text": "one"}]'.replace("[], ", ""),
        '[] {"id": 1, "text": "one"} []',
        '[] {"id": 1, "text": "one"}',
        '\n\n\n[]\n{"id": 1,\n"text": "one"}',
    ],
)
def test_one_record_however_it_is_laid_out(tmp_path: Path, text: str) -> None:
    path = tmp_path / "a.json"
    path.write_text(text)
    batches, problems = read(path)
    assert (pairs(batches), problems) == ([("1", "one")], [])
    (piece,) = pieces(batches, text.encode())
    assert json.loads(piece) == {"id": 1, "text": "one"}


def test_records_go_by_their_number_and_problems_by_their_line(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text('[{"text": "a"}, {"text": "b"},\n\n3, {"text": "c"}] {"text": "d"}\n')
    batches, problems = read(path)
    assert pairs(batches) == [(f"{path}:{n}", t) for n, t in zip((1, 2, 4, 5), "abcd", strict=True)]
    assert batches[0].lines.tolist() == [1, 2, 4, 5]
    assert problems == ["3: expected an object, got a number"]


@pytest.mark.parametrize(
    ("data", "name"),
    [
        (b'{"text": "a"}\n{"text": "b"}\n', "jsonl"),
        (b'\xef\xbb\xbf{"text": "a"}\r\n', "jsonl"),
        (b'{"text": oops}\n{"text": "b"}\n', "jsonl"),
        (b'{"text": "a"}', "jsonl"),
        (b'{\n"text": "a"}', "json"),
        (b'[{"text": "a"},\n{"text": "b"}]', "json"),
        (b" [\n]", "json"),
        (b"", "json"),
        (b"[" * 100_000, "json"),
        (b'{"a":' * 100_000, "json"),
    ],
)
def test_json_lines_in_a_file_called_json(tmp_path: Path, data: bytes, name: str) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(data)
    assert sniff(data) == name
    assert format_of(str(path), Reading()).name == name
    assert format_of(str(path), Reading(format="json")).name == "json"


def test_records_of_an_array_on_one_line_are_distinguished(tmp_path: Path) -> None:
    source, removed = tmp_path / "in.json", tmp_path / "removed.jsonl"
    source.write_text(json.dumps([{"text": f"gulls and rain {word}"} for word in "abaa"]))
    jobs.dedup([str(source)], tmp_path / "out.json", jobs.Options(removed=removed, similarity=1.0))
    rows = [json.loads(row) for row in removed.read_text().splitlines()]
    assert [(row["id"], row["line"]) for row in rows] == [(f"{source}:3", 3), (f"{source}:4", 4)]
    assert {(row["dup_of"], row["dup_line"]) for row in rows} == {(f"{source}:1", 1)}


def test_records_without_an_id_are_named_by_their_number(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text('[{"id": 1, "text": "a"}, {"text": "b"}]')
    notes: list[str] = []
    list(read_batches(str(path), Reading(), print, note=notes.append))
    assert notes == [
        f"{path}: 1 of 2 records have no id in column 'id', first at record 2; their ids are "
        "file:record"
    ]


def test_json_lines_read_as_json(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"text": "a"}\n{"text": "b"}\n')
    assert texts(read(path, format="json")[0]) == ["a", "b"]


@pytest.mark.parametrize(
    ("data", "good", "reason"),
    [
        (b'[{"text": "a"}, 3, {"text": "b"}]', ["a", "b"], "1: expected an object, got a number"),
        (b'[{"text": "a"},\n["x"],\n{"b": 1}]', ["a"], "2: expected an object, got a list"),
        (
            b'[{"text": "a"},\n{"text": oops}]',
            ["a"],
            "2: not JSON (Expecting value at character 9)",
        ),
        (b'[{"text": "a"}\n{"text": "b"}]', ["a"], "2: not JSON (a comma or ] was expected, not"),
        (b'[{"text": "a"},\n{"text": "b"}', ["a", "b"], "2: not JSON (the array opened on"),
        (b'[{"text": "a"},\n{"text": "b', ["a"], "2: not JSON (Unterminated string starting"),
        (b"[" * 100_000, [], "1: not JSON (nested too deeply); the data after it cannot be read"),
        (
            b'[{"text": "a", "n": ' + b"9" * 5000 + b'}, {"text": "b"}]',
            ["b"],
            "1: holds a whole number of more than 4,300 digits",
        ),
        (b'[{"text": "a"},\n{"text": "\xce\xd2"}, {"text": "c"}]', ["a", "c"], "2: not UTF-8 ("),
        (b'[{"text": "a"}, {"text": "\\ud800"}]', ["a"], "1: column 'text' holds a lone surr"),
        (pack(b"[]", ".gz"), [], " is gzip; rename it to end in .gz"),
        (b"\0\1\2", [], "1: not JSON (Expecting value at character 0)"),
    ],
)
def test_bad_json(tmp_path: Path, data: bytes, good: list[str], reason: str) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(data)
    batches, problems = read(path)
    assert texts(batches) == good
    assert problems[0].startswith(reason)


def test_dotted_columns_keys_and_other_columns(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text('[{"doc": {"body": "b", "key": 7}, "n": 1}, {"doc": {"body": null}, "n": 2}]')
    batches, problems = read(
        path, text_columns=("doc.body",), key_column="n", others=True, format="json"
    )
    assert (texts(batches), keys(batches), problems) == (["b", ""], [1, 2], [])
    assert batches[0].others == [
        {"doc": {"body": "b", "key": 7}, "n": 1},
        {"doc": {"body": None}, "n": 2},
    ]


def test_a_record_beyond_the_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_records, "CHUNK_BYTES", 16)
    path = tmp_path / "a.json"
    path.write_text(json.dumps([{"text": "short"}, {"text": "x" * 500}]))
    batches, problems = read(path, max_document=100)
    assert texts(batches) == ["short"]
    assert problems == [
        "1: the record is longer than 100 bytes; raise --max-document; the data after it "
        "cannot be read"
    ]
    assert texts(read(path)[0]) == ["short", "x" * 500]


def test_a_large_array_is_not_held_in_memory(tmp_path: Path) -> None:
    class Endless(io.RawIOBase):
        """An array that goes on, and how far it was read."""

        given = 0

        def read(self, size: int = -1) -> bytes:
            data = (b"[" if not self.given else b"") + b'{"text": "x"},' * (size // 14)
            self.given += len(data)
            return data

    raw = Endless()
    values = iter(json_records.Values(ByteStream("a.json", raw)))
    for _ in range(100_000):
        next(values)
    assert raw.given < 14 * 100_000 + 4 * json_records.CHUNK_BYTES


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=8,
)


@given(
    st.lists(st.dictionaries(st.text(max_size=3), JSON, max_size=3), max_size=6),
    st.sampled_from([None, 1]),
    st.booleans(),
    st.booleans(),
    st.integers(1, 40),
)
def test_values_are_those_of_the_json_module(
    records: list[Any], indent: int | None, ascii_only: bool, in_array: bool, piece: int
) -> None:
    """However the file is cut into pieces."""

    def written(value: Any) -> str:
        return json.dumps(value, indent=indent, ensure_ascii=ascii_only)

    text = written(records) if in_array else " ".join(map(written, records))
    data = text.encode("utf-8", "surrogatepass")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_records, "CHUNK_BYTES", piece)
        found = list(json_records.Values(ByteStream("a.json", io.BytesIO(data))))
    if not any("\ud800" <= char <= "\udfff" for char in text):
        assert [value.value for value in found] == records
        assert [json.loads(data[value.start : value.end]) for value in found] == records
        assert [value.number for value in found] == list(range(1, len(records) + 1))
        assert [value.line for value in found] == [
            data[: value.start].count(b"\n") + 1 for value in found
        ]
