"""HAR: entry by entry, however the file is laid out."""

import base64
import gzip
import json
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from helpers.capture_files import answer, answers, har_entry, told, write_har
from neardup import http
from neardup.files.reading import json as json_records

PAGE = answer("http://a.example/x", "<title>T</title><p>Grüße 你好</p>")


def written(folder: Path, *entries: Any, **more: Any) -> Path:
    path = folder / "a.har"
    path.write_text(json.dumps({"log": {"entries": list(entries)} | more}), encoding="utf-8")
    return path


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("piece", [1, 13, 1 << 18])
def test_entries_are_found_wherever_they_stand(
    tmp_path: Path, indent: int | None, piece: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(json_records, "CHUNK_BYTES", piece)
    entries = [har_entry(each) for each in answers()]
    deep = {"entries": [1, {"entries": [2]}], "log": {"entries": [3]}}
    log = {"a": deep, "entries": entries, "z": [deep], "version": "1.2"}
    path = tmp_path / "a.har"
    path.write_text(json.dumps({"x": deep, "log": log, "y": 1}, indent=indent), encoding="utf-8")
    assert [each.url for each in http.responses(path)] == [each.url for each in answers()]


@pytest.mark.parametrize("piece", [1, 1 << 18])
def test_a_number_of_too_many_digits_costs_an_entry(
    tmp_path: Path, piece: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(json_records, "CHUNK_BYTES", piece)
    entry = har_entry(PAGE)
    path = written(tmp_path, entry, entry | {"time": "@"}, entry, z="@")
    path.write_text(path.read_text().replace('"@"', "-" + "7" * 5000))
    texts, problems, _ = told(path)
    assert len(texts) == 2
    assert len(problems) == 1
    assert problems[0].startswith("2: holds a whole number of more than 4,300 digits, at byte ")


def test_a_body_packed_in_base64_is_unpacked(tmp_path: Path) -> None:
    entry: Any = har_entry(PAGE)
    entry["response"]["headers"].append({"name": "Content-Encoding", "value": "gzip"})
    entry["response"]["content"] |= {
        "text": base64.b64encode(gzip.compress(PAGE.body)).decode(), "encoding": "base64",
    }  # fmt: skip
    (found,) = http.responses(written(tmp_path, entry))
    assert found.body == PAGE.body


def test_text_is_text_whatever_the_headers_say(tmp_path: Path) -> None:
    entry: Any = har_entry(PAGE)
    entry["response"]["headers"] = [
        {"name": ":status", "value": "200"},
        {"name": "content-type", "value": "text/html; charset=gbk"},
        {"name": "content-encoding", "value": "br"},
    ]
    (found,) = http.responses(written(tmp_path, entry))
    assert found.text == PAGE.text
    assert [name for name, _ in found.headers] == ["content-type", "content-encoding"]


def test_the_kind_stands_in_for_a_missing_header(tmp_path: Path) -> None:
    entry: Any = har_entry(PAGE)
    entry["response"]["headers"] = []
    (found,) = http.responses(written(tmp_path, entry))
    assert found.header("content-type") == "text/html; charset=utf-8"


def test_entries_without_a_body_are_reported(tmp_path: Path) -> None:
    one: Any = har_entry(PAGE)
    del one["response"]["content"]["text"]
    two: Any = har_entry(PAGE)
    del two["response"]["content"], two["response"]["bodySize"]
    texts, problems, notes = told(written(tmp_path, one, two))
    assert len(texts) == 2
    assert problems == []
    assert notes == [
        "2 responses have no body in the capture; status, headers, type and length "
        "are compared (the first is number 1)"
    ]
    assert texts[0].endswith(f"\nbody text/html {len(PAGE.body).bit_length() - 1}")
    assert texts[1].endswith("\nbody text/html")


def test_an_empty_body_is_not_an_absent_one(tmp_path: Path) -> None:
    def whole(change: Any) -> tuple[bool, int]:
        entry: Any = har_entry(PAGE)
        response = entry["response"]
        del response["content"]["text"]
        response.pop("bodySize", None)
        change(entry, response, response["content"])
        (found,) = http.responses(written(tmp_path, entry))
        assert found.body == b""
        return found.is_whole, found.length

    size = len(PAGE.body)
    assert whole(lambda entry, response, content: None) == (False, size)
    assert whole(lambda entry, response, content: content.update(size=0)) == (True, 0)
    assert whole(lambda entry, response, content: content.update(size=-1)) == (False, 0)
    assert whole(lambda entry, response, content: response.update(status=304)) == (True, 0)
    assert whole(lambda entry, response, content: entry["request"].update(method="HEAD")) == (
        True,
        0,
    )

    def size_of_what_came(entry: Any, response: Any, content: Any) -> None:
        response["bodySize"] = 77
        del response["content"]

    assert whole(size_of_what_came) == (False, 77)


@pytest.mark.parametrize(
    ("entry", "reason"),
    [
        ({"request": {"url": "x"}, "response": {"status": 0, "headers": []}},
         "no response (the request was blocked or failed)"),
        ({"request": {}, "response": {"status": 0, "headers": [{"name": "A", "value": "b"}]}},
         "no response (the request was blocked or failed)"),
        ({"request": {"url": "x"}, "response": {"status": 0, "_error": "net::ERR"}},
         "no response (net::ERR)"),
        ({"request": {"url": "x"}}, "has no response"),
        ({"response": {}}, "has no request"),
        (7, "expected an object, got a number"),
        ({"request": {}, "response": {"status": "x"}}, "status is 'x', which is not a status"),
        ({"request": {}, "response": {"status": 200,
          "content": {"text": "a", "encoding": "base64"}}}, "the content is declared as base64"),
        ({"request": {}, "response": {"status": 200, "headers": [{}] * 3000}},
         "more than 2,000 headers"),
    ],
)  # fmt: skip
def test_an_entry_that_is_no_response_is_reported(tmp_path: Path, entry: Any, reason: str) -> None:
    path = written(tmp_path, har_entry(PAGE), entry, har_entry(PAGE))
    texts, (problem,), _ = told(path)
    assert len(texts) == 2
    assert problem.startswith(f"2: {reason}")
    at = int(problem.rpartition("at byte ")[2].replace(",", ""))
    assert json.JSONDecoder().raw_decode(path.read_text(encoding="utf-8")[at:])[0] == entry


@pytest.mark.parametrize("cut", [1, 2, 3, 40, 400])
def test_a_truncated_file_keeps_the_records_before_its_end(tmp_path: Path, cut: int) -> None:
    path = write_har(tmp_path, [PAGE] * 5)
    path.write_bytes(path.read_bytes()[:-cut])
    texts, (problem,), _ = told(path)
    assert len(texts) >= 4
    assert "not JSON" in problem or "truncated" in problem


@pytest.mark.parametrize(
    "text", ["[]", "{", '{"log"', '{"log": 1', '{"log": {"entries": [}', "{]", ""]
)
def test_what_is_no_har_is_reported(tmp_path: Path, text: str) -> None:
    path = tmp_path / "a.har"
    path.write_text(text, encoding="utf-8")
    texts, problems, _ = told(path)
    assert texts == []
    assert len(problems) == 1


def test_a_har_without_entries_is_empty(tmp_path: Path) -> None:
    assert told(written(tmp_path)) == ([], [], [])


def test_no_more_than_some_entries_are_in_memory(tmp_path: Path) -> None:
    large = answer("http://a/", "word " * 100_000)
    path = write_har(tmp_path, [large] * 60)
    tracemalloc.start()
    count = sum(1 for _ in http.responses(path))
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert count == 60
    assert most < path.stat().st_size / 3
