"""Bodies as they were sent → as they were meant."""

import gzip
import tracemalloc
import zlib
from collections.abc import Callable

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.http.bodies import (
    BAD_CHUNKS,
    BAD_COMPRESSION,
    BOTH_LENGTHS,
    MAX_CHUNKS,
    TRUNCATED,
    decode_body,
    parse_chunks,
)
from neardup.http.messages import MessageError

MOST = 1 << 20
TEXT = b"<!doctype html><title>A page</title>" + b"<p>Some text that packs well.</p>" * 50


def by_arrow(data: bytes, codec: str) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, codec) as stream:
        stream.write(data)
    return bytes(sink.getvalue())


def raw_deflate(data: bytes) -> bytes:
    packing = zlib.compressobj(wbits=-15)
    return packing.compress(data) + packing.flush()


PACK: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "x-gzip": gzip.compress,
    "deflate": zlib.compress,
    "deflate, raw": raw_deflate,
    "br": lambda data: by_arrow(data, "brotli"),
    "zstd": lambda data: by_arrow(data, "zstd"),
}


def chunked(data: bytes, size: int, end: bytes = b"\r\n") -> bytes:
    parts = [data[at : at + size] for at in range(0, len(data), size)]
    return b"".join(b"%x" % len(part) + end + part + end for part in parts) + b"0" + end + end


def headers(**fields: str) -> tuple[tuple[str, str], ...]:
    return tuple((name.replace("_", "-"), value) for name, value in fields.items())


@pytest.mark.parametrize("name", PACK)
@pytest.mark.parametrize("body", [TEXT, b"x", "你好，世界".encode(), bytes(range(256)) * 9])
def test_a_packed_body_is_unpacked(name: str, body: bytes) -> None:
    coding = name.partition(",")[0]
    found = decode_body(headers(Content_Encoding=coding), PACK[name](body), MOST)
    assert found.data == body
    assert found.remarks == ()


@pytest.mark.parametrize("name", ["gzip", "deflate", "br", "zstd"])
@pytest.mark.parametrize("body", [TEXT, b"{}", "日本語のページ".encode(), b"\xef\xbb\xbf<p>", b"0"])
def test_a_body_decompressed_by_the_capturing_tool_is_kept(name: str, body: bytes) -> None:
    found = decode_body(headers(Content_Encoding=name), body, MOST)
    assert (found.data, found.remarks) == (body, ())


# Nothing tells raw deflate that is cut from chance.
@pytest.mark.parametrize("name", sorted(set(PACK) - {"deflate, raw"}))
def test_a_packed_body_that_is_cut_gives_what_is_there(name: str) -> None:
    body = "".join(f"<p>{n * 7919} words of a page</p>" for n in range(20000)).encode()
    packed = PACK[name](body)
    found = decode_body(
        headers(Content_Encoding=name.partition(",")[0]), packed[: len(packed) // 2], MOST
    )
    assert found.remarks == (BAD_COMPRESSION,)
    assert body.startswith(found.data)
    assert len(found.data) > 1000


def test_codings_may_be_stacked_up_to_a_limit() -> None:
    found = decode_body(headers(Content_Encoding="gzip, br"), PACK["br"](gzip.compress(TEXT)), MOST)
    assert found.data == TEXT
    two = (("Content-Encoding", "deflate"), ("content-encoding", "gzip"))
    assert decode_body(two, gzip.compress(zlib.compress(TEXT)), MOST).data == TEXT
    four = gzip.compress(gzip.compress(gzip.compress(gzip.compress(TEXT))))
    assert decode_body(headers(Content_Encoding=",".join(["gzip"] * 4)), four, MOST).data == TEXT
    with pytest.raises(MessageError, match="5 nested content codings; the limit is 4"):
        decode_body(headers(Content_Encoding=",".join(["gzip"] * 5)), TEXT, MOST)


@pytest.mark.parametrize("coding", ["identity", "utf-8", "none", ", ,", "IDENTITY"])
def test_codings_that_are_none_change_nothing(coding: str) -> None:
    assert decode_body(headers(Content_Encoding=coding), TEXT, MOST).data == TEXT


def test_a_coding_that_is_not_read_is_reported() -> None:
    found = decode_body(headers(Content_Encoding="compress"), b"\x1f\x9d\x90", MOST)
    assert found.remarks == ("a body compressed with compress, which is not supported",)


def test_the_limit_is_of_all_gzip_members_together() -> None:
    given_headers, member = headers(Content_Encoding="gzip"), gzip.compress(bytes(1 << 19))
    assert len(decode_body(given_headers, member * 2, MOST).data) == MOST
    tracemalloc.start()
    try:
        with pytest.raises(MessageError, match="longer than 1 MiB"):
            decode_body(given_headers, member * 100, MOST)
        assert tracemalloc.get_traced_memory()[1] < 4 * MOST
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("name", ["gzip", "deflate", "deflate, raw", "br", "zstd"])
def test_a_bomb_is_stopped_at_the_limit(name: str) -> None:
    bomb = PACK[name](bytes(50 << 20))
    with pytest.raises(MessageError, match="longer than 1 MiB; raise"):
        decode_body(headers(Content_Encoding=name.partition(",")[0]), bomb, MOST)


def test_a_bomb_in_a_bomb_is_stopped() -> None:
    bomb = gzip.compress(gzip.compress(bytes(200 << 20), 1), 1)
    with pytest.raises(MessageError, match="longer than 1 MiB"):
        decode_body(headers(Content_Encoding="gzip, gzip"), bomb, MOST)


@given(st.binary(max_size=2000), st.integers(1, 300), st.sampled_from([b"\r\n", b"\n"]))
def test_chunks_are_joined(body: bytes, size: int, end: bytes) -> None:
    sent = chunked(body, size, end)
    found = parse_chunks(sent, MOST)
    assert (found.data, found.is_whole, found.end) == (body, True, len(sent))
    given_headers = headers(Transfer_Encoding="chunked")
    assert decode_body(given_headers, sent, MOST).data == body


def test_chunks_may_have_extensions_and_trailers() -> None:
    sent = b'3;a="b"\r\nabc\r\n0\r\nX-Sum: 1\r\n\r\nHTTP/1.1 200 OK\r\n'
    found = parse_chunks(sent, MOST)
    assert found.data == b"abc"
    assert sent[found.end :] == b"HTTP/1.1 200 OK\r\n"


def test_a_body_dechunked_by_the_capturing_tool_is_kept() -> None:
    given_headers = headers(Transfer_Encoding="chunked")
    for body in (TEXT, b"{}", b"deadbeef is a word", b"\r\n"):
        assert decode_body(given_headers, body, MOST).data == body


@pytest.mark.parametrize(
    "sent",
    [b"5\r\nhello\r\n5\r\nwor", b"5\r\nhello\r\nzz\r\nworld\r\n0\r\n\r\n", b"5\r\nhello\r\n"],
)
def test_wrong_chunks_keep_the_data_before_them(sent: bytes) -> None:
    found = decode_body(headers(Transfer_Encoding="chunked"), sent, MOST)
    assert found.data.startswith(b"hello")
    assert found.remarks == (BAD_CHUNKS,)


def test_chunks_that_never_end_are_stopped() -> None:
    with pytest.raises(MessageError, match=f"more than {MAX_CHUNKS:,} chunks"):
        parse_chunks(b"1\r\nx\r\n" * (MAX_CHUNKS + 1), 1 << 30)
    with pytest.raises(MessageError, match="longer than 100 bytes"):
        parse_chunks(b"10\r\n0123456789abcdef\r\n" * 100, 100)
    huge = parse_chunks(b"ffffffffffffffff\r\nabc", MOST)
    assert (huge.data, huge.is_whole) == (b"abc", False)


def test_both_framings_are_reported_and_chunks_are_obeyed() -> None:
    found = decode_body(
        headers(Transfer_Encoding="chunked", Content_Length="3"), chunked(TEXT, 100), MOST
    )
    assert (found.data, found.remarks) == (TEXT, (BOTH_LENGTHS,))


@pytest.mark.parametrize(
    ("length", "is_cut"),
    [("999999", True), ("5", False), ("-5", False), ("x", False), ("9" * 30, False)],
)
def test_a_length_that_lies_loses_nothing(length: str, is_cut: bool) -> None:
    found = decode_body(headers(Content_Length=length), TEXT, MOST)
    assert found.data == TEXT
    assert found.remarks == ((TRUNCATED,) if is_cut else ())
    assert decode_body(headers(Content_Length=length), TEXT, MOST, is_framed=False).remarks == ()


@given(st.sampled_from(["gzip", "deflate", "br", "zstd", "gzip, br"]), st.binary(max_size=300))
def test_any_bytes_give_a_body_or_an_error(coding: str, data: bytes) -> None:
    found = decode_body(headers(Content_Encoding=coding, Transfer_Encoding="chunked"), data, MOST)
    assert isinstance(found.data, bytes)
