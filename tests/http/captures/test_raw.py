"""Raw messages: one a file, many in one, with requests between them or without."""

import time
from pathlib import Path

import pytest

from helpers.capture_files import Answer, answer, answers, read, told, write_raw
from neardup import http
from neardup.files.reading.batch import Reading
from neardup.files.reading.inputs import expand
from neardup.http.bodies import TRUNCATED
from neardup.http.captures import raw
from neardup.http.captures.raw import WRONG_LENGTH

PAGE = answer("http://a.example/x", "<title>T</title><p>Grüße 你好</p>")


def written(folder: Path, data: bytes, name: str = "a.txt") -> Path:
    path = folder / name
    path.write_bytes(data)
    return path


def bodies(path: Path) -> list[bytes]:
    return [each.body for each in http.responses(path)]


def test_one_a_file_needs_no_length(tmp_path: Path) -> None:
    for body in (b"", b"x", b"line\r\n\r\nline\n", b"HTTP is a protocol\nGET it"):
        path = written(tmp_path, b"HTTP/1.1 200 OK\r\nA: b\r\n\r\n" + body)
        assert bodies(path) == [body]


@pytest.mark.parametrize("piece", [64, 1000, 1 << 17])
def test_many_in_one_are_distinguished(
    tmp_path: Path, piece: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(raw, "CHUNK_BYTES", piece)
    monkeypatch.setattr(raw, "LOOKAHEAD_BYTES", 16)
    path = write_raw(tmp_path, answers() * 20)
    assert bodies(path) == [each.body for each in answers()] * 20
    (batch,), _, _ = read(path)
    data = path.read_bytes()
    for start, end in batch.spans.tolist():
        assert data[start:end].startswith(b"HTTP/1.1 ")


def test_a_request_tells_the_url_and_is_no_response(tmp_path: Path) -> None:
    asked = b"POST /p?q=1 HTTP/1.1\r\nHost: h.example\r\nContent-Length: 5\r\n\r\nhello"
    path = written(tmp_path, asked + PAGE.message + PAGE.message)
    one, two = http.responses(path)
    assert (one.url, two.url) == ("http://h.example/p?q=1", "")
    assert one.body == two.body == PAGE.body


def test_the_url_that_httpx_writes_behind_is_taken(tmp_path: Path) -> None:
    asked = b"GET /x HTTP/1.1\r\nHost: a.example\r\n\r\n"
    for headers in ((), PAGE.headers):
        message = Answer("", 200, headers, PAGE.body).message
        path = written(tmp_path, asked + message + b"\n\n\nhttps://a.example/x")
        (found,) = http.responses(path)
        assert (found.url, found.body) == ("https://a.example/x", PAGE.body)


TRAILER = b"\n\n\nhttps://bank.example/"


@pytest.mark.parametrize("framing", ["length", "chunks", "none", "behind"])
@pytest.mark.parametrize("asked", [b"", b"GET /p HTTP/1.1\r\nHost: attacker.example\r\n\r\n"])
def test_a_page_does_not_choose_its_own_url(tmp_path: Path, framing: str, asked: bytes) -> None:
    page = b"<p>page</p>"
    body = page + TRAILER
    message = {
        "length": b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body),
        "chunks": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
        b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body),
        "none": b"HTTP/1.1 200 OK\r\n\r\n" + body,
        "behind": b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(page), body),
    }[framing]
    path = written(tmp_path, asked + message)
    (found,) = http.responses(path)
    if asked:
        assert found.url == "http://attacker.example/p"
    else:
        # Without a request and a length it cannot be told from what httpx writes.
        assert found.url == ("https://bank.example/" if framing in ("none", "behind") else "")
    if framing in ("length", "chunks"):
        assert found.body == body


def test_a_stored_response_keeps_what_its_length_says(tmp_path: Path) -> None:
    body = b"<p>page</p>" + TRAILER
    head = b"HTTP/1.1 %d x\r\nContent-Length: %d\r\n\r\n"
    inner = b"moved\nHTTP/1.1 200 OK\r\n\r\nfake"
    moved = b"HTTP/1.1 301 x\r\nLocation: /b\r\n\r\n"
    cases = [
        (head % (200, len(body)) + body, body),
        (head % (200, len(body) - len(TRAILER)) + body, b"<p>page</p>"),
        (head % (301, len(inner)) + inner, inner),
        (moved + moved + head % (200, 4) + b"last" + TRAILER, b"last"),
    ]
    line = '{"url": "http://a/", "status_code": 200, "stored_response_path": "s.txt"}\n'
    for data, expected in cases:
        written(tmp_path, data, "s.txt")
        (found,) = http.responses(written(tmp_path, line.encode(), "a.jsonl"))
        assert (found.url, found.body) == ("http://a/", expected)


def test_a_body_that_ends_the_file_holds_no_message(tmp_path: Path) -> None:
    body = b"log:\nHTTP/1.1 404 Not Found\r\nServer: fake\r\n\r\n"
    for end in (b"", b"\r\n"):
        message = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)
        assert bodies(written(tmp_path, message + end)) == [body]


@pytest.mark.parametrize(
    "lie", [b"Content-Length: 250000000\r\n\r\n", b"Transfer-Encoding: chunked\r\n\r\nEEEEEEE\r\n"]
)
def test_lengths_that_lie_take_linear_time(tmp_path: Path, lie: bytes) -> None:
    lying = b"HTTP/1.1 200 OK\r\n" + lie + b"x" * 1000 + b"\n"
    path = written(tmp_path, lying * 20_000)
    started = time.process_time()
    reports: list[object] = []
    assert sum(1 for _ in http.responses(path, report=reports.append)) == 20_000
    # A copy of all that is left for each message is a minute of work.
    assert time.process_time() - started < 20
    assert reports == []


def test_without_lengths_the_next_status_line_begins_a_message(tmp_path: Path) -> None:
    one = b"HTTP/1.1 200 OK\r\nA: b\r\n\r\nfirst body\n"
    path = written(tmp_path, one * 3)
    assert bodies(path) == [b"first body\n"] * 3


def test_chunks_tell_where_a_message_ends(tmp_path: Path) -> None:
    # What looks like a message is inside a chunk.
    inner = b"a\nHTTP/1.1 200 OK\r\n\r\nb"
    chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n"
    path = written(tmp_path, (chunked % (len(inner), inner)) * 2)
    assert bodies(path) == [inner] * 2


def test_answers_without_a_body(tmp_path: Path) -> None:
    none = b"HTTP/1.1 304 Not Modified\r\nContent-Length: 500\r\n\r\n"
    head = b"HEAD / HTTP/1.1\r\nHost: a\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n"
    path = written(tmp_path, none + head + PAGE.message)
    assert bodies(path) == [b"", b"", PAGE.body]


@pytest.mark.parametrize("length", [0, 3, 20, 5000, 10**12])
def test_a_length_that_lies_does_not_swallow_the_next(tmp_path: Path, length: int) -> None:
    bad = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\nbody of the first\n" % length
    path = written(tmp_path, bad + PAGE.message)
    texts, problems, notes = told(path)
    assert bodies(path) == [b"body of the first\n", PAGE.body]
    assert len(texts) == 2
    assert problems == []
    assert notes
    assert WRONG_LENGTH in notes[0] or TRUNCATED in notes[0]


def test_both_framings_are_reported(tmp_path: Path) -> None:
    bad = b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n"
    path = written(tmp_path, bad + b"5\r\nhello\r\n0\r\n\r\n" + PAGE.message)
    assert bodies(path) == [b"hello", PAGE.body]
    assert any("both Transfer-Encoding and Content-Length" in each for each in told(path)[2])


def test_junk_is_reported_and_passed(tmp_path: Path) -> None:
    message = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
    path = written(tmp_path, message + b"\r\n" + message)
    assert bodies(path) == [b"ok", b"ok"]
    path = written(tmp_path, b"junk " * 100_000 + b"\n" + message, "b.bin")
    texts, problems, _ = told(path, format="raw-http")
    assert len(texts) == 1
    assert problems == ["500,001 bytes are not an HTTP message, at byte 0"]


def test_a_head_that_is_too_long_costs_a_message(tmp_path: Path) -> None:
    bad = b"HTTP/1.1 200 OK\r\nA: " + b"x" * (1 << 20) + b"\r\n\r\nbody\n"
    path = written(tmp_path, PAGE.message + bad + PAGE.message)
    texts, problems, _ = told(path)
    assert len(texts) == 2
    assert problems == [f"2: the headers are longer than 256 KiB, at byte {len(PAGE.message):,}"]


def test_a_body_beyond_the_limit_costs_a_message(tmp_path: Path) -> None:
    bad = b"HTTP/1.1 200 OK\r\n\r\n" + b"x" * 300_000 + b"\n"
    path = written(tmp_path, PAGE.message + bad + PAGE.message)
    texts, (problem,), _ = told(path, max_document=100_000)
    assert len(texts) == 2
    assert problem.startswith("2: the body is longer than 100,000 bytes")


def test_a_folder_of_them_is_read_whatever_their_names(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    for name in ("a", "b.http", "sub/c.txt", "d.dat"):
        (tmp_path / name).write_bytes(PAGE.message)
    from helpers.capture_files import VIEWING

    files = expand([str(tmp_path)], Reading(viewing=VIEWING))
    assert len(files) == 4
    for file in files:
        texts, problems, _ = told(file)
        assert len(texts) == 1
        assert problems == []


def test_http2_as_tools_write_it(tmp_path: Path) -> None:
    path = written(tmp_path, b"HTTP/2 200 OK\r\nserver: x\r\n\r\nbody")
    (found,) = http.responses(path)
    assert (found.status, found.body) == (200, b"body")


def test_a_packed_file_with_another_name_is_reported(tmp_path: Path) -> None:
    path = written(tmp_path, b"\x1f\x8b\x08\x00")
    _, problems, _ = told(path, format="raw-http")
    assert problems == ["is gzip; rename it to end in .gz"]


@pytest.mark.parametrize(
    "asked",
    [
        b"GET / HTTP/1.1\r\nA: " + b"x" * (1 << 20) + b"\r\n\r\n",
        b"GET / HTTP/1.1\r\n" + b"A: b\r\n" * 5000 + b"\r\n",
        b"POST / HTTP/1.1\r\nContent-Length: 9999999\r\n\r\n" + b"x" * 300_000 + b"\r\n",
    ],
)
def test_a_hostile_request_does_not_cost_the_response(tmp_path: Path, asked: bytes) -> None:
    path = written(tmp_path, PAGE.message + asked + PAGE.message)
    texts, problems, _ = told(path, format="raw-http", max_document=100_000)
    assert len(texts) == 2
    assert len(problems) == 1
    assert problems[0].startswith("a request: ")
    assert f"at byte {len(PAGE.message):,}" in problems[0]
