"""Heads of messages, as servers send them and as nobody should."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.http.messages import (
    MAX_HEAD_BYTES,
    MAX_HEADERS,
    MAX_NAME_CHARS,
    MessageError,
    parse_request_head,
    parse_response_head,
)


def test_a_head_is_status_reason_and_headers() -> None:
    data = b"HTTP/1.1 404 Not Found\r\nServer: nginx\r\nX:  a b \r\n\r\nbody"
    head = parse_response_head(data)
    assert (head.status, head.reason) == (404, "Not Found")
    assert head.headers == (("Server", "nginx"), ("X", "a b"))
    assert data[head.end :] == b"body"
    assert head.remarks == ()


@pytest.mark.parametrize(
    "data",
    [
        b"HTTP/1.0 200\r\nA: b\r\n\r\nx",
        b"HTTP/2 200\r\nA: b\r\n\r\nx",
        b"HTTP/1.1 200 \nA: b\n\nx",
        b"HTTP/1.1  200 OK\r\nA: b\r\n\nx",
        b"HTTP/1.1 200 OK\nA:b\n\r\nx",
    ],
)
def test_heads_are_read_leniently(data: bytes) -> None:
    head = parse_response_head(data)
    assert (head.status, head.headers, data[head.end :]) == (200, (("A", "b"),), b"x")


def test_a_head_without_headers_or_without_an_end() -> None:
    assert parse_response_head(b"HTTP/1.1 200 OK\r\n\r\nx").end == 19
    assert parse_response_head(b"HTTP/1.1 200 OK").headers == ()
    assert parse_response_head(b"HTTP/1.1 200 OK\r\nA: b").headers == (("A", "b"),)


def test_folded_and_nameless_lines_are_reported() -> None:
    head = parse_response_head(b"HTTP/1.1 200 OK\r\nA: b\r\n  c\r\nnonsense\r\n: d\r\nE: f\r\n\r\n")
    assert head.headers == (("A", "b c"), ("E", "f"))
    assert head.remarks == ("folded headers", "header lines without a name, which are ignored")
    for length, is_kept in ((MAX_NAME_CHARS, True), (MAX_NAME_CHARS + 1, False)):
        found = parse_response_head(b"HTTP/1.1 200 OK\r\n" + b"A" * length + b": b\r\n\r\n")
        assert bool(found.headers) == is_kept


def test_bytes_of_headers_become_text_without_nul() -> None:
    head = parse_response_head("HTTP/1.1 200 OK\r\nA: ü\0\r\n\r\n".encode())
    assert head.headers == (("A", "ü\ufffd"),)
    assert parse_response_head(b"HTTP/1.1 200 OK\r\nA: \xfc\r\n\r\n").headers == (("A", "ü"),)


@pytest.mark.parametrize(
    "data", [b"", b"hello", b"HTTP/1.1 OK\r\n", b"HTTP/1.1 20\r\n", b"\xff" * 9]
)
def test_what_is_no_response_says_how_it_begins(data: bytes) -> None:
    with pytest.raises(MessageError, match="not an HTTP response: it begins with "):
        parse_response_head(data)


def test_heads_without_end_are_refused_at_once() -> None:
    begun = time.monotonic()
    with pytest.raises(MessageError, match=f"longer than {MAX_HEAD_BYTES >> 10} KiB"):
        parse_response_head(b"HTTP/1.1 200 OK\r\nA: " + b"x" * (8 << 20))
    with pytest.raises(MessageError, match=f"more than {MAX_HEADERS:,} headers"):
        parse_response_head(b"HTTP/1.1 200 OK\r\n" + b"A: b\r\n" * 30000 + b"\r\n")
    with pytest.raises(MessageError, match=f"longer than {MAX_HEAD_BYTES >> 10} KiB"):
        parse_response_head(b"HTTP/1.1 200 OK\r\n" + b"A: b\r\n" * 100_000 + b"\r\n")
    assert time.monotonic() - begun < 5


def test_a_request_tells_its_url() -> None:
    def url(data: bytes) -> str:
        found = parse_request_head(data)
        assert found is not None
        return found.url

    assert url(b"GET /a?b HTTP/1.1\r\nHost: x.example\r\n\r\n") == "http://x.example/a?b"
    assert url(b"GET / HTTP/1.1\r\nHost: x.example:443\r\n\r\n") == "https://x.example/"
    assert url(b"GET / HTTP/1.1\r\nHost: x.example:8080\r\n\r\n") == "http://x.example:8080/"
    assert url(b"GET https://y/z HTTP/1.1\r\nHost: x\r\n\r\n") == "https://y/z"
    assert url(b"POST /a HTTP/1.0\r\n\r\n") == "/a"
    assert parse_request_head(b"HTTP/1.1 200 OK\r\n\r\n") is None
    assert parse_request_head(b"get / http/1.1\r\n\r\n") is None


@given(st.binary(max_size=400))
def test_any_headers_give_a_head(rest: bytes) -> None:
    head = parse_response_head(b"HTTP/1.1 200 OK\r\n" + rest)
    assert head.status == 200
    for name, value in head.headers:
        assert name
        assert "\n" not in name + value
        assert "\0" not in name + value
