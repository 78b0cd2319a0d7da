"""JSON lines of httpx, with bodies wherever they may be."""

import base64
import csv
import itertools
import json
import os
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import neardup as nd
from helpers.capture_files import VIEWING, answer, answers, httpx_line, read, told, write_httpx
from neardup import http, jobs
from neardup.files.reading.batch import Reading
from neardup.files.writing.record_writer import open_kept
from neardup.http.captures import raw
from neardup.http.captures.raw import STATUS_LINE
from neardup.http.messages import Response

PAGE = answer("http://a.example/x", "<title>T</title><p>Grüße 你好</p>")


def written(folder: Path, *records: Any, name: str = "a.jsonl") -> Path:
    path = folder / name
    lines = [each if isinstance(each, str) else json.dumps(each) for each in records]
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def only(path: Path) -> Response:
    (found,) = http.responses(path)
    return found


def test_a_line_is_kept_byte_for_byte(tmp_path: Path) -> None:
    path = write_httpx(tmp_path, answers())
    data = path.read_bytes()
    (batch,), _, _ = read(path)
    lines = data.splitlines(keepends=True)
    assert [data[start:end] for start, end in batch.spans.tolist()] == lines


def test_a_last_line_without_an_end_and_blank_lines(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(f"\n{httpx_line(PAGE)}\n  \n{httpx_line(PAGE)}", encoding="utf-8")
    (batch,), problems, _ = read(path)
    assert batch.lines.tolist() == [2, 4]
    assert batch.ids.to_pylist() == [f"{path}:2", f"{path}:4"]
    assert batch.spans.tolist()[1][1] == path.stat().st_size
    assert problems == []


def test_base64_is_detected_by_the_headers(tmp_path: Path) -> None:
    path = written(tmp_path, httpx_line(PAGE, packed=True))
    assert only(path).body == PAGE.body
    assert only(path).headers == PAGE.headers


@pytest.mark.parametrize(("told", "status"), [(None, 200), (0, 200), (404, 404)])
def test_the_status_of_the_line_is_before_that_of_the_headers(
    tmp_path: Path, told: int | None, status: int
) -> None:
    record = json.loads(httpx_line(PAGE)) | {"status_code": told}
    if told is None:
        del record["status_code"]
    assert only(written(tmp_path, record)).status == status


def test_a_body_in_another_encoding_comes_through_base64(tmp_path: Path) -> None:
    body = "<p>您访问的页面不存在</p>".encode("gbk")
    record = {
        "url": "http://a/",
        "status_code": 200,
        "raw_header": base64.b64encode(b"HTTP/1.1 200 OK\r\nServer: x\r\n\r\n").decode(),
        "body": base64.b64encode(body).decode(),
    }
    assert only(written(tmp_path, record)).text == "<p>您访问的页面不存在</p>"


def test_an_object_of_headers_has_the_limit_that_lines_have(tmp_path: Path) -> None:
    base = {"url": "http://a/", "status_code": 200, "body": "x"}
    many = {f"x{at}": "y" for at in range(2000)}
    path = written(
        tmp_path, base | {"header": many}, base | {"header": {**many, "z": "y"}},
        base | {"header": {"x": ["y"] * 2001}},
    )  # fmt: skip
    texts, problems, _ = told(path)
    assert len(texts) == 1
    assert problems == ["2: more than 2,000 headers", "3: more than 2,000 headers"]


def test_a_stored_file_beyond_the_limit_is_not_read(tmp_path: Path) -> None:
    with (tmp_path / "holes.txt").open("wb") as file:
        file.truncate(3 << 30)
    line = {"url": "http://a/", "status_code": 200, "stored_response_path": "holes.txt"}
    started = time.monotonic()
    texts, problems, _ = told(written(tmp_path, *[line] * 200))
    assert time.monotonic() - started < 5
    assert texts == []
    assert len(problems) == 200
    assert "longer than 256 MiB" in problems[0]


def test_a_stored_body_is_not_searched_for_messages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked: list[int] = []

    class Counted:
        def match(self, data: bytes, at: int) -> object:
            looked.append(at)
            return STATUS_LINE.match(data, at)

    monkeypatch.setattr(raw, "STATUS_LINE", Counted())
    head = b"HTTP/1.1 200 OK\r\nContent-Type: image/png\r\n\r\n"
    (tmp_path / "a.png").write_bytes(head + b"\x89PNG\nHTTP/1.1 404 x" * 1000)
    line = {"url": "http://a/", "status_code": 200, "stored_response_path": "a.png"}
    texts, problems, _ = told(written(tmp_path, line))
    assert (len(texts), problems) == (1, [])
    assert looked == [0]


def test_headers_may_be_an_object_or_lines(tmp_path: Path) -> None:
    base = {"url": "http://a/", "status_code": 200, "body": "x"}
    header = {"content_type": "text/html", "x_powered_by": ["a", "b"], "server": "y"}
    found = only(written(tmp_path, base | {"header": header}))
    assert found.headers == (
        ("content-type", "text/html"),
        ("x-powered-by", "a"),
        ("x-powered-by", "b"),
        ("server", "y"),
    )
    found = only(written(tmp_path, base | {"header": "Server: y\r\nX: z"}))
    assert found.headers == (("Server", "y"), ("X", "z"))
    found = only(written(tmp_path, base | {"webserver": "nginx", "content_type": "text/plain"}))
    assert found.headers == (("Server", "nginx"), ("Content-Type", "text/plain"))


@pytest.mark.parametrize("place", ["relative", "absolute", "moved"])
def test_a_stored_response_is_read(tmp_path: Path, place: str) -> None:
    folder = tmp_path / "output" / "response" / "a.example"
    folder.mkdir(parents=True)
    stored = folder / "0a1b.txt"
    asked = b"GET /x HTTP/1.1\r\nHost: a.example\r\n\r\n"
    stored.write_bytes(asked + PAGE.message + b"\n\n\nhttp://a.example/x")
    named = {
        "relative": "output/response/a.example/0a1b.txt",
        "absolute": str(stored),
        "moved": "/gone/output/response/a.example/0a1b.txt",
    }[place]
    path = written(
        tmp_path,
        {"url": PAGE.url, "status_code": 200, "stored_response_path": named,
         "raw_header": PAGE.head.decode()},
    )  # fmt: skip
    found = only(path)
    assert found.body == PAGE.body
    assert found.headers == PAGE.headers


def test_of_a_stored_chain_the_last_answer_counts(tmp_path: Path) -> None:
    first = b"HTTP/1.1 301 Moved\r\nLocation: /x\r\n\r\n"
    (tmp_path / "r.txt").write_bytes(
        b"GET / HTTP/1.1\r\nHost: a\r\n\r\n\n" + first + PAGE.message + b"\n\n\nhttp://a/"
    )
    path = written(
        tmp_path, {"url": "http://a/", "status_code": 200, "stored_response_path": "r.txt"}
    )
    assert only(path).body == PAGE.body


def test_a_page_that_quotes_a_message_is_not_cut(tmp_path: Path) -> None:
    page = answer("http://a/", "<pre>\nHTTP/1.1 200 OK\nServer: x\n\nquoted</pre>")
    (tmp_path / "r.txt").write_bytes(page.message + b"\n\n\nhttp://a/")
    path = written(
        tmp_path, {"url": "http://a/", "status_code": 200, "stored_response_path": "r.txt"}
    )
    assert only(path).body == page.body


@pytest.mark.parametrize("kept", [1, 2, 3, 4])
def test_a_stored_response_is_found_beside_a_file_that_was_moved(tmp_path: Path, kept: int) -> None:
    stored = "/gone/out/response/a.example/r.txt"
    place = tmp_path.joinpath(*stored.split("/")[-kept:])
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(b"HTTP/1.1 200 OK\r\n\r\nbody")
    record = {"url": "http://a/", "status_code": 200, "stored_response_path": stored}
    assert only(written(tmp_path, record)).body == b"body"


def test_a_stored_response_that_is_no_regular_file_is_not_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    records = [
        {"url": "http://a/", "status_code": 200, "stored_response_path": name}
        for name in ("pipe", "folder", "/dev/zero", "gone", "nul\0", "/etc/../dev/stdin")
    ]
    texts, problems, notes = told(written(tmp_path, *records))
    assert len(texts) == len(records)
    assert problems == []
    assert notes == [
        "6 responses have a stored_response_path without a file; status, headers, title, "
        "type and length are compared (the first is number 1)"
    ]


def test_a_stored_response_has_the_limit_of_a_document(tmp_path: Path) -> None:
    (tmp_path / "r.txt").write_bytes(PAGE.message + b"x" * 5000)
    path = written(
        tmp_path, {"url": "http://a/", "status_code": 200, "stored_response_path": "r.txt"}
    )
    texts, problems, _ = told(path, max_document=2000)
    assert texts == []
    assert problems == [
        "1: stored_response_path: the file is longer than 2,000 bytes; raise --max-document"
    ]


def test_the_end_of_a_chain_may_hold_the_body(tmp_path: Path) -> None:
    chain = [
        {
            "request": "x",
            "response": "HTTP/1.1 302 Found\r\nLocation: /x\r\n\r\n",
            "status_code": 302,
        },
        {"request": "x", "response": PAGE.message.decode(), "status_code": 200},
    ]
    path = written(tmp_path, {"url": "http://a/", "status_code": 200, "chain": chain})
    assert only(path).body == PAGE.body
    chain[1]["response"] = base64.b64encode(PAGE.message).decode()
    path = written(tmp_path, {"url": "http://a/", "status_code": 200, "chain": chain})
    assert only(path).body == PAGE.body


def test_no_body_anywhere_is_said_once(tmp_path: Path) -> None:
    records = [{"url": f"http://a/{n}", "status_code": 200, "webserver": "x"} for n in range(5)]
    texts, problems, notes = told(written(tmp_path, *records))
    assert len(texts) == 5
    assert problems == []
    assert notes == [
        "5 responses have no body, since httpx ran without -irr and stored none; status, "
        "headers, title, type and length are compared (the first is number 1)"
    ]


def test_a_body_that_is_not_there_is_not_an_empty_one(tmp_path: Path) -> None:
    base = {"url": "http://a.example/", "status_code": 200, "content_type": "text/html"}
    cases: list[tuple[dict[str, Any], bool, int]] = [
        ({}, False, 0),
        ({"content_length": 5000}, False, 5000),
        ({"content_length": 0}, True, 0),
        ({"content_length": True}, False, 0),
        ({"content_length": 5000, "status_code": 304}, True, 0),
        ({"body": ""}, True, 0),
        ({"raw_header": "HTTP/1.1 200 OK\r\n\r\n", "content_length": 0}, True, 0),
        ({"raw_header": "HTTP/1.1 200 OK\r\n\r\n", "content_length": 9}, False, 9),
        ({"stored_response_path": "no such file", "content_length": 9}, False, 9),
        ({"body": "four", "content_length": 9}, True, 4),
    ]
    for more, is_whole, length in cases:
        found = only(written(tmp_path, base | more))
        assert (found.is_whole, found.length, len(found.body)) == (
            is_whole,
            length,
            length if is_whole else 0,
        ), more


def test_titles_tell_pages_apart_that_are_not_there(tmp_path: Path) -> None:
    records = [
        {
            "url": f"http://{n}.example/",
            "status_code": 200,
            "content_type": kind,
            "webserver": "nginx",
            "content_length": 5000 + n,
            "title": title,
        }
        for n, (title, kind) in enumerate(
            [("Jenkins", "text/html"), ("Grafana", "text/html"), ("Jenkins", "text/html"),
             ("", "text/html"), ("", "image/png"), ("", "image/png")]
        )
    ]  # fmt: skip
    path = written(tmp_path, *records)
    texts, _, _ = told(path)
    assert texts[0] == (
        "status 200\nheader content-type text/html\nheader server nginx\ntitle Jenkins"
    )
    for left, right in itertools.combinations(range(6), 2):
        alike = nd.similarity(texts[left], texts[right], "http")
        if (left, right) in ((0, 2), (4, 5)):
            assert alike == 1
        else:
            assert alike < 0.85, (left, right)
    kinds = tmp_path / "kinds.csv"
    reading = Reading(viewing=nd.Recipe.preset("http").viewing())
    jobs.cluster([str(path)], tmp_path / "out.csv", jobs.Options(reading=reading, kinds=kinds))
    rows = list(csv.DictReader(kinds.read_text(encoding="utf-8").splitlines()))
    assert [(row["size"], row["title"]) for row in rows] == [
        ("2", "Jenkins"), ("2", ""), ("1", "Grafana"), ("1", "")
    ]  # fmt: skip
    assert all(row["label"] != "empty" for row in rows)


def test_where_a_redirect_led_is_masked_in_the_body(tmp_path: Path) -> None:
    record = {
        "url": "http://a.example/x",
        "final_url": "https://www.b.example/login-7",
        "status_code": 200,
        "body": "Log in at www.b.example/login-7, not a.example",
    }
    path = written(tmp_path, record)
    found = only(path)
    assert (found.url, found.final_url) == (record["url"], record["final_url"])
    texts, _, _ = told(path)
    assert texts[0].endswith("text Log in at ‹echo›, not ‹echo›")


def test_what_else_is_said_is_kept_as_strings(tmp_path: Path) -> None:
    record = {"url": "http://a/", "status_code": 200, "body": "x", "title": "T", "words": 3,
              "tech": ["a", "b"], "cdn": True, "a": {"b": 1}, "host": "192.0.2.9"}  # fmt: skip
    found = only(written(tmp_path, record))
    assert found.ip == "192.0.2.9"
    assert found.extra["title"] == "T"
    assert found.extra["words"] == "3"
    assert found.extra["tech"] == "a,b"
    assert found.extra["cdn"] == "true"
    assert "a" not in found.extra


@pytest.mark.parametrize(
    ("record", "problem"),
    [
        ({"url": "http://a/", "failed": True, "error": "refused"}, "1: no response: refused"),
        ({"nothing": 1}, "1: not a result of httpx: it has neither url nor status_code"),
        ({"url": "x", "status_code": "200"}, "1: column 'status_code' is '200', which is no"),
        ({"url": "x", "status_code": 10**9}, "1: column 'status_code' is '1000000000', which"),
        ({"url": "x", "status_code": 200, "raw_header": "SFRUUC8xLjEgMjAwIE9LDQoNCg==",
          "body": "not base64!"}, "1: column 'body' is not base64, although the headers are"),
        ("[1]", "1: expected an object, got a list"),
        ("{bad", "1: not JSON (Expecting property name enclosed in double quotes at character 1)"),
        ("[" * 100_000, "1: nested too deeply"),
    ],
)  # fmt: skip
def test_a_line_that_is_no_response_is_reported(tmp_path: Path, record: Any, problem: str) -> None:
    path = written(tmp_path, record, httpx_line(PAGE))
    texts, problems, _ = told(path, format="httpx")
    assert len(texts) == 1
    assert len(problems) == 1
    assert problems[0].startswith(problem)


def test_bytes_that_are_not_utf8_cost_a_line(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    line = httpx_line(PAGE).encode()
    path.write_bytes(line + b"\n" + line.replace(b"timestamp", b"\xff\xfe") + b"\n" + line)
    texts, problems, _ = told(path)
    assert len(texts) == 2
    assert problems[0].startswith("2: not UTF-8 (byte 0xff at offset 2)")


def test_strings_that_are_no_text_do_not_stop_a_run(tmp_path: Path) -> None:
    record = json.loads(httpx_line(PAGE)) | {"url": "http://\ud800/", "title": "\udfff"}
    record["body"] += "\ud800"
    record["raw_header"] = record["raw_header"].replace("nginx", "\udead")
    texts, problems, _ = told(written(tmp_path, record))
    assert len(texts) == 1
    assert problems == []


def test_utf16_as_some_shells_write_it(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"\xff\xfe" + f"{httpx_line(PAGE)}\n".encode("utf-16-le"))
    texts, problems, notes = told(path)
    assert len(texts) == 1
    assert problems == []
    assert notes[0].startswith("read as utf-16-le")


def test_kept_lines_go_to_json_lines(tmp_path: Path) -> None:
    path = write_httpx(tmp_path, answers())
    (batch,), _, _ = read(path)
    out = tmp_path / "kept.jsonl"
    keep = np.arange(len(batch.ids)) % 2 == 0
    with open_kept(out, [str(path)], Reading(viewing=VIEWING)) as kept:
        kept.copy(str(path), batch.spans, keep)
    assert out.read_bytes().splitlines() == path.read_bytes().splitlines()[::2]
