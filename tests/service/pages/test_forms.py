"""Forms, from their bytes."""

from __future__ import annotations

import tracemalloc
from urllib.parse import parse_qsl, urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.datastructures import Headers

from neardup.service.pages.page_input import parsed

CODED = Headers({"content-type": "application/x-www-form-urlencoded"})
TEXT = st.text(st.characters(exclude_categories=["Cs"]))


@given(st.lists(st.tuples(TEXT, TEXT), max_size=20))
def test_what_a_browser_encodes_is_read(pairs: list[tuple[str, str]]) -> None:
    assert parsed(CODED, urlencode(pairs).encode()).multi_items() == pairs


@given(st.lists(st.sampled_from([b"%", b"%4", b"%41", b"%ff", b"+", b"a", b"=", b"&"])))
def test_whatever_comes_is_read_as_the_library_does(parts: list[bytes]) -> None:
    body = b"".join(parts)
    # Not more than are allowed.
    if body.count(b"&") < 32:
        expected = parse_qsl(body.decode(), keep_blank_values=True)
        assert parsed(CODED, body).multi_items() == expected


@pytest.mark.parametrize("before", range(4))
def test_blocks_cut_nothing_apart(before: int) -> None:
    text = "x" * before + "中%é+ " * 30_000
    assert parsed(CODED, urlencode({"text": text}).encode())["text"] == text


def test_too_many_fields_are_refused() -> None:
    with pytest.raises(ValueError, match="32 fields"):
        parsed(CODED, b"a=b&" * 40)


@pytest.mark.parametrize("part", [b"%41", b"a%41", b"%e4%b8%ad"])
def test_a_large_form_takes_memory_in_proportion(part: bytes) -> None:
    body = b"text=" + part * (1_000_000 // len(part))
    tracemalloc.start()
    try:
        parsed(CODED, body)
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert most < 12 * len(body)
