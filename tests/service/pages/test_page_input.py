"""Forms are parsed in bounded memory; cached texts have random names and limits."""

from __future__ import annotations

import asyncio
import threading
import tracemalloc
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.datastructures import Headers

from neardup.service.app import make_app
from neardup.service.pages.page_input import CachedText, PageError, TextCache, parse_form
from neardup.service.state import Service, demo_collection

CODED = Headers({"content-type": "application/x-www-form-urlencoded"})
TEXT = st.text(st.characters(exclude_categories=["Cs"]))


@given(st.lists(st.tuples(TEXT, TEXT), max_size=20))
def test_what_a_browser_encodes_is_read(pairs: list[tuple[str, str]]) -> None:
    assert parse_form(CODED, urlencode(pairs).encode()).multi_items() == pairs


@given(st.lists(st.sampled_from([b"%", b"%4", b"%41", b"%ff", b"+", b"a", b"=", b"&"])))
def test_whatever_comes_is_read_as_the_library_does(parts: list[bytes]) -> None:
    body = b"".join(parts)
    # Not more than are allowed.
    if body.count(b"&") < 32:
        expected = parse_qsl(body.decode(), keep_blank_values=True)
        assert parse_form(CODED, body).multi_items() == expected


@pytest.mark.parametrize("before", range(4))
def test_blocks_cut_nothing_apart(before: int) -> None:
    text = "x" * before + "中%é+ " * 30_000
    assert parse_form(CODED, urlencode({"text": text}).encode())["text"] == text


def test_too_many_fields_are_refused() -> None:
    with pytest.raises(ValueError, match="32 fields"):
        parse_form(CODED, b"a=b&" * 40)


@pytest.mark.parametrize("part", [b"%41", b"a%41", b"%e4%b8%ad"])
def test_a_large_form_takes_memory_in_proportion(part: bytes) -> None:
    body = b"text=" + part * (1_000_000 // len(part))
    tracemalloc.start()
    try:
        parse_form(CODED, body)
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert most < 12 * len(body)


def is_cached(cache: TextCache, name: str) -> bool:
    try:
        return len(cache.get(name, 1)) == 1
    except PageError:
        return False


def test_texts_are_cached_under_names_of_their_own() -> None:
    cache = TextCache()
    names = {cache.put(CachedText("a")), cache.put(CachedText("a"))}
    assert len(names) == 2
    assert [cache.get(name, 1) for name in names] == [(CachedText("a"),)] * 2
    pair = cache.put(CachedText("b"), CachedText("c"))
    assert cache.get(pair, 2) == (CachedText("b"), CachedText("c"))
    for name in (pair, "", "other"):
        with pytest.raises(PageError, match=r"problem\.gone"):
            cache.get(name, 1)


def test_the_least_recently_used_text_goes_first() -> None:
    cache = TextCache(max_entries=3)
    first, second, third = (cache.put(CachedText(text)) for text in "abc")
    assert is_cached(cache, first)
    fourth = cache.put(CachedText("d"))
    assert [is_cached(cache, name) for name in (first, second, third, fourth)] == [1, 0, 1, 1]


def test_cached_bytes_are_limited_but_the_newest_text_stays() -> None:
    cache = TextCache(max_bytes=10_000)
    names = [cache.put(CachedText("x" * 2_000)) for _ in range(5)]
    assert [is_cached(cache, name) for name in names] == [False] * 4 + [True]
    assert is_cached(cache, cache.put(CachedText("y" * 100_000)))
    assert not is_cached(cache, names[-1])


def test_threads_share_a_cache() -> None:
    cache = TextCache(max_entries=50)

    def work() -> None:
        for at in range(200):
            cache.get(cache.put(CachedText(str(at))), 1)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(cache._texts) == 50
    assert cache._bytes == sum(text.size for (text,) in cache._texts.values())


# Paths outside the API that read a body.
BODIES = ("/learn/edits.json", "/check", "/compare", "/check/add", "/collection/marks", "/sign-in")


@pytest.mark.parametrize("path", BODIES)
def test_a_client_that_leaves_is_no_error(
    path: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    kind = b"application/json" if "json" in path else b"application/x-www-form-urlencoded"
    head = [(b"host", b"localhost"), (b"content-type", kind), (b"content-length", b"50")]
    scope = {
        "type": "http",
        "method": "POST",
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "headers": head,
        "scheme": "http",
        "http_version": "1.1",
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 8765),
        "root_path": "",
    }
    messages = [{"type": "http.request", "body": b"{", "more_body": True}]

    async def receive() -> Any:
        return messages.pop() if messages else {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        pass

    with demo_collection(tmp_path) as collection:
        service = Service(collection)
        try:
            asyncio.run(make_app(service)(scope, receive, send))
        finally:
            service.close()
    assert [each for each in caplog.records if each.levelname == "ERROR"] == []
