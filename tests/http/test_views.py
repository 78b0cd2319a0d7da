"""Views of responses: against the plain way of making them, and of bytes nobody meant to read."""

from __future__ import annotations

import html
import itertools
import json
import re
import time
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import neardup as nd
from neardup import Recipe, _core
from neardup.http.columns import column_value
from neardup.http.messages import Response
from neardup.http.views import ViewBuilder, utf8_body
from neardup.text.views import MASKS, VIEWS, Viewing
from reference.views import view as plain_view

ALL = ViewBuilder(Viewing(VIEWS, MASKS))
URL = "https://www.example.com/shop/item-12"
HTML = (("Content-Type", "text/html; charset=utf-8"),)

WORDS = st.sampled_from(
    [
        *("Hello", "world", "naïve", "您好", "世界。", "&", "<", "nginx/1.18.0", "$19.99", "404"),
        *("2026-11-17", "2026-11-17 04:25:49", "17 Nov 2026", "Tue, 17 Nov 2026 04:25:49 GMT"),
        *("2026年11月17日", "04:25:49", "203.0.113.7", "12 ms", "0.25 seconds", "1700000000"),
        *("1700000000123", "550e8400-e29b-41d4-a716-446655440000", "3f2a1b4c5d6e7f8091a2"),
        *("Ray ID: 8a7b6c5d", "/x.js?v=12", URL, "/shop/item-12", "www.example.com"),
        *("\u00a0", "\u3000", "“quoted”", "é", "Copyright 2026", "it's"),
    ]
)
# Apart from their neighbours: what a mask does at the seam of two values is told by tables.
TEXTS = st.lists(WORDS, max_size=6).map(lambda words: f" {' '.join(words)} ")
CLASSES = st.lists(st.sampled_from(["main", "col-md-6", "a", "b_c", "导航", "btn"]), max_size=3)


def element(name: str, classes: list[str], children: list[str]) -> str:
    attribute = f' class="{" ".join(classes)}"' if classes else ""
    return f"<{name}{attribute}>{''.join(children)}</{name}>"


LEAVES = st.one_of(
    TEXTS.map(html.escape),
    TEXTS.map(lambda text: f'<img alt="{html.escape(text)}">'),
    TEXTS.map(lambda text: f"<input type='submit' value='{html.escape(text)}'/>"),
    TEXTS.map(lambda text: f"<p>{html.escape(text, quote=False)}</p>"),
    st.just("<br>"),
    st.just("<!-- <p>not</p> -->"),
    st.just("<script>if (a<b) { '</p>' }</script>"),
    st.just("<style>p > a { }</style>"),
    st.just("<svg><path d='M0'/><circle></circle></svg>"),
)
# Elements that may hold any other of these.
NAMES = st.sampled_from(
    ["div", "section", "article", "main", "span", "em", "ul", "custom-thing", "noscript", "nav"]
)


def nested(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    def cells(rows: list[list[str]]) -> str:
        lines = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
        return f"<table><tbody>{lines}</tbody></table>"

    return st.one_of(
        st.builds(element, NAMES, CLASSES, st.lists(inner, max_size=4)),
        st.lists(st.lists(inner, max_size=2), max_size=2).map(cells),
        st.lists(inner, max_size=3).map(
            lambda items: f"<ul>{''.join(f'<li>{item}' for item in items)}</ul>"
        ),
        TEXTS.map(lambda text: f"<pre>x\n{html.escape(text)}\ny</pre>"),
    )


PAGES = st.builds(
    lambda title, parts: (
        "<!DOCTYPE html><html><head><meta charset=utf-8>"
        f"<title>{html.escape(title)}</title></head><body>{''.join(parts)}</body></html>"
    ),
    TEXTS,
    st.lists(st.recursive(LEAVES, nested, max_leaves=12), max_size=5),
)
HEADERS = st.lists(
    st.sampled_from(
        [
            ("Server", "nginx/1.18.0"),
            ("Date", "Tue, 17 Nov 2026 04:25:49 GMT"),
            ("Set-Cookie", "sid=abc; Path=/"),
            ("Location", f"{URL}?v=12"),
            ("X-Powered-By", "PHP/8.1"),
            ("ETag", '"1"'),
            ("Content-Length", "12"),
        ]
    ),
    max_size=4,
).map(tuple)
JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-(2**60), 2**60), st.floats(-1e9, 1e9), TEXTS),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.sampled_from(["id", "name", "data", "名", "a_b"]), inner, max_size=4),
    ),
    max_leaves=12,
).filter(lambda value: isinstance(value, dict | list))


def text_of(body: bytes, headers: tuple[tuple[str, str], ...] = HTML, url: str = URL) -> str:
    return ALL.build_masked(Response(url=url, status=200, headers=headers, body=body)).text


@given(body=PAGES, headers=HEADERS)
def test_a_page_is_as_the_plain_way_has_it(body: str, headers: Any) -> None:
    headers = (*HTML, *headers)
    assert text_of(body.encode(), headers) == plain_view(URL, 200, headers, body)


@given(value=JSON)
def test_json_is_as_the_plain_way_has_it(value: Any) -> None:
    body = json.dumps(value, ensure_ascii=False)
    headers = (("Content-Type", "application/json"),)
    # Strings of Chinese are messages without a space, which the plain way does not know.
    if "您好" not in body and "世界" not in body and "年" not in body:
        assert text_of(body.encode(), headers) == plain_view(URL, 200, headers, body)


@given(
    body=st.binary(max_size=300),
    url=st.text(max_size=30),
    name=st.text(max_size=8),
    value=st.text(),
)
def test_any_bytes_give_lines_of_known_names(body: bytes, url: str, name: str, value: str) -> None:
    text = text_of(body, (*HTML, (name, value)), url)
    for line in text.split("\n"):
        assert len(line.splitlines()) == 1
        assert line.split(" ")[0] in {"status", "header", "title", "tags", "keys", "text", "body"}
    assert len(text.encode()) <= 24 * (len(body) + len(value.encode())) + 400


@pytest.mark.parametrize(
    "piece",
    [
        *("<div>", "<", "<!--", "<a ", '<a b="', "</", "<p><table>", "<script></", "&#", "2026-"),
        *("1:", "[]", '{"a":1}\n', "www.example.com "),
    ],
)
def test_time_grows_with_the_length_alone(piece: str) -> None:
    def seconds(count: int) -> float:
        body = (piece * count).encode()
        start = time.process_time()
        text_of(body)
        return time.process_time() - start

    seconds(1000)
    assert seconds(160_000) < 40 * (seconds(20_000) + 0.005)


def test_many_are_made_at_once_in_their_order() -> None:
    responses = [
        Response(url=URL, status=200 + at, headers=HTML, body=f"<title>T{at}</title><p>x".encode())
        for at in range(300)
    ]
    texts, titles = ALL.build(responses)
    assert texts.type == pa.large_string()
    texts.validate(full=True)
    assert titles == [f"T{at}" for at in range(300)]
    assert texts.to_pylist() == [ALL.build_masked(each).text for each in responses]
    assert ALL.build([])[0].to_pylist() == []


def test_one_thread_makes_the_same() -> None:
    responses = [Response(body=f"<p>{at}".encode(), headers=HTML) for at in range(50)]
    one = ViewBuilder(ALL.viewing, threads=1)
    assert one.build(responses)[0].equals(ALL.build(responses)[0])


def test_the_title_is_known_whatever_views_are_made() -> None:
    views = ViewBuilder(Viewing(("status",), ()))
    response = Response(status=404, headers=HTML, body=b"<head><title> A &amp;\nB </title></head>")
    texts, titles = views.build([response])
    assert (texts.to_pylist(), titles) == (["status 404"], ["A & B"])


@pytest.mark.parametrize(
    ("within", "group"),
    [
        ("host", "www.example.com"),
        ("ip", "203.0.113.7"),
        ("status", "200"),
        ("server", "nginx"),
        ("cdn_name", "some cdn"),
        ("no_such", ""),
        (None, None),
    ],
)
def test_a_group_is_the_first_line(within: str | None, group: str | None) -> None:
    response = Response(
        url=URL,
        status=200,
        ip="203.0.113.7",
        headers=(("Server", "nginx"),),
        extra={"cdn_name": "some cdn"},
    )
    assert within is None or column_value(response, within) == group
    text = ViewBuilder(Viewing(("status",), (), within)).build_masked(response).text
    *first, last = text.split("\n")
    assert last == "status 200"
    assert len(first) == (group is not None)
    assert all(re.fullmatch("within [0-9a-f]{32}", line) for line in first)


@pytest.mark.parametrize("within", ["env", "url"])
def test_groups_are_apart_whatever_a_recipe_makes_of_their_names(within: str) -> None:
    names = [
        "Prod",
        "prod",
        "ｐｒｏｄ",
        "pr\u00adod",
        "prod ",
        "é",
        "e\u0301",
        "",
        "[prod] ",
        "a] b",
    ]
    recipe = Recipe.preset("http")
    page = b"<title>Some page</title><p>With some words"
    responses = [Response(url=name, body=page, extra={"env": name}) for name in names]
    texts = ViewBuilder(recipe.viewing(within)).build(responses)[0].to_pylist()
    for left, right in itertools.combinations(texts, 2):
        assert nd.similarity(left, right, recipe) == 0
    again = ViewBuilder(recipe.viewing(within)).build(responses)[0].to_pylist()
    assert again == texts


def test_a_missing_body_is_described_by_its_type_and_title() -> None:
    absent = Response(
        url=URL, headers=HTML, is_whole=False, length=5000, title=f"Shop\n at {URL}, 2026-11-17"
    )
    made = ALL.build_masked(absent)
    assert made.text.endswith("\ntitle Shop at ‹echo›, ‹date›")
    assert made.title == f"Shop at {URL}, 2026-11-17"
    assert ALL.build([absent])[1] == [made.title]
    bodies = ViewBuilder(Viewing(("body",), ()))
    assert bodies.build_masked(absent).text == "body text/html 12"
    assert ALL.build_masked(Response(is_whole=False)).text == "body unknown"
    assert ALL.build_masked(Response(is_whole=False, length=-1)).text == "body unknown"
    assert ALL.build_masked(Response(title="told")).text == "body empty"


def test_where_the_answer_came_from_is_masked_too() -> None:
    response = Response(url=URL, final_url="https://login.example.org/sign-in-9", body=(
        b"At login.example.org, for www.example.com: https://login.example.org/sign-in-9"
    ))  # fmt: skip
    assert ALL.build_masked(response).text == "text At ‹echo›, for ‹echo›: ‹echo›"


def test_the_name_of_a_line_is_never_masked() -> None:
    url = "https://www.example.com/?status=text%0Astatus"
    assert text_of(b"status 404", (("Content-Type", "text/plain"),), url).endswith(
        "text status 404"
    )


@pytest.mark.parametrize("value", ["\\ud83d", "a b\\ude00"])
def test_json_that_python_writes_is_json(value: str) -> None:
    body = f'{{"a":"{value}","b":1e999,"c":{"9" * 400}}}'.encode()
    assert "keys a:string b:number c:number" in text_of(body)


def test_bodies_in_other_encodings_are_read_by_their_charset() -> None:
    page = "<title>您好</title><p>世界"
    for charset in ("gbk", "GB18030", "big5", "utf-16", "utf-32"):
        response = Response(headers=HTML, body=page.encode(charset), charset=charset)
        assert ALL.build_masked(response).text.endswith("title 您好\ntags 0title 0p\ntext 世界")
    picture = Response(
        headers=(("Content-Type", "image/png"),), body=b"\x89PNG\r\n\x1a\n\0\0", charset="latin-1"
    )
    assert ALL.build_masked(picture).text.endswith("body image/png 3")
    for charset in ("no such", "hex", "utf-8", "\0"):
        assert utf8_body(Response(body=b"zz", charset=charset)) == b"zz"


@pytest.mark.parametrize(
    ("content_type", "body", "charset", "found"),
    [
        ("Image/PNG", b"\xe9", "latin-1", b"\xe9"),
        ("text/html", b"\xe9", "latin-1", b"\xc3\xa9"),
        ("text/html; was=image/png", b"\xe9", "latin-1", b"\xc3\xa9"),
        ("", b"\xe9\0", "latin-1", b"\xe9\0"),
        ("", bytes(1023) + b"\xe9", "utf-16-le", bytes(511) + b"\xee\xa4\x80"),
        ("", b"\xe9".ljust(1023) + b"\0", "latin-1", b"\xe9".ljust(1023) + b"\0"),
        ("", b"\xe9".ljust(1024) + b"\0", "latin-1", "é".ljust(1024).encode() + b"\0"),
    ],
)
def test_bytes_that_are_no_text_are_not_decoded(
    content_type: str, body: bytes, charset: str, found: bytes
) -> None:
    response = Response(headers=(("Content-Type", content_type),), body=body, charset=charset)
    assert utf8_body(response) == found


def test_headers_that_are_no_unicode_do_no_harm() -> None:
    response = Response(url="http://a.example/\udce9", headers=(("X-\udce9", "\udcff"),), body=b"x")
    assert "header x-" in ALL.build_masked(response).text


def test_wrong_types_are_refused() -> None:
    core = _core.Views(["text"], [])
    for response in [
        ("u", 200, (), "text", None, "", "", None),
        ("u", "200", (), b"", None, "", "", None),
        (1, 200, (), b"", None, "", "", None),
        ("u", 200, (), b"", None, None, "", None),
        ("u", 200, (), b"", None, "", "", "1"),
    ]:
        with pytest.raises(TypeError):
            core.masked(response)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="threads is 0; it must be from 1 to 1024"):
        core.make([], 0)
