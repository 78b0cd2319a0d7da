"""The visible text of pages, and the encodings they declare."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser, LexborNode, SelectolaxError

from helpers import document_files
from helpers.batches import pairs, read, texts
from neardup.files.documents import html
from neardup.files.documents import html as html_nesting
from neardup.files.reading import encodings
from neardup.files.reading.batch import Reading, Unreadable
from neardup.files.reading.formats import UnreadableDocumentError
from neardup.files.reading.inputs import read_batches

MOST = 1 << 28


def seen(body: str) -> str:
    return html.html_text(document_files.html(body).decode(), MOST)


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("<h1>Head</h1><p>One\n two<b>bold</b></p>tail", "Head\n\nOne twobold\n\ntail"),
        ("a<br>b<br><br>c", "a\nb\n\nc"),
        ("<ul><li>x<li>y</ul><dl><dt>t<dd>d</dl>", "x\ny\n\nt\nd"),
        ("<table><tr><th>a<th>b</tr>\n<tr><td>c<td>d</table>e", "a\tb\nc\td\n\ne"),
        ("<table><tr><td>menu<td><p>one<p>two</table>", "menu\n\none\n\ntwo"),
        ("<pre>one\n  two\n\nthree</pre>", "one\ntwo\n\nthree"),
        ("co&shy;op &amp; caf&eacute;&nbsp;x &#x4e2d;", "coop & café x 中"),
        ("<ruby>漢<rp>(<rt>かん<rp>)</ruby>字", "漢字"),
        ("今天\n天气<!-- no -->好", "今天天气好"),
        ("<p>a</p><p> </p><p></p><p>b</p>", "a\n\nb"),
        ("<textarea>typed</textarea><button>Go</button>", "typed\n\nGo"),
        ("no markup at all", "no markup at all"),
        ("", ""),
    ],
)
def test_text(body: str, text: str) -> None:
    assert seen(body) == text


@pytest.mark.parametrize(
    "unseen",
    [
        "<script>var no</script>",
        "<style>no</style>",
        "<noscript>no</noscript>",
        "<template><p>no</p></template>",
        "<p hidden>no</p>",
        "<div hidden=until-found><p>no</p></div>",
        '<p style="color: red; DISPLAY : none">no</p>',
        '<p style="visibility:hidden">no</p>',
        "<dialog>no</dialog>",
        "<iframe>no</iframe>",
        "<video>no</video>",
        "<datalist><option>no</datalist>",
        '<input type="hidden" value="no">',
        "<title>no</title>",
    ],
)
def test_what_is_not_seen(unseen: str) -> None:
    assert seen(f"<p>before</p>{unseen}<p>after</p>") == "before\n\nafter"
    assert "a title" not in seen(unseen)


def test_what_looks_hidden_and_is_not() -> None:
    assert seen('<p style="display:nonesuch">a<dialog open>b</dialog>') == "a\n\nb"


@pytest.mark.parametrize("opened", ["<div>", "<ul><li>", "<table><tr><td>", "<b>", "<p><font>"])
@pytest.mark.parametrize("is_closed", [False, True])
def test_deep_nesting(opened: str, is_closed: bool) -> None:
    depth = 100_000
    ends = "".join(f"</{name}>" for name in reversed(re.findall(r"\w+", opened)))
    markup = f"<p>first</p>{opened * depth}deep{ends * depth if is_closed else ''}"
    begun = time.monotonic()
    text = html.html_text(markup, MOST)
    assert text.split() == ["first", "deep"]
    # Quadratic, it took a minute.
    assert time.monotonic() - begun < 20


@pytest.mark.parametrize(
    "part", ["<!--", "<script>", "<style>", "<div", "<a href='", "</div>", "&"]
)
def test_markup_that_never_ends(part: str) -> None:
    begun = time.monotonic()
    text = html.html_text("<p>first</p>" + part * 100_000, MOST)
    assert text.startswith("first")
    assert time.monotonic() - begun < 20


@pytest.mark.parametrize(
    "part",
    [
        "<div></x>",
        '<div title="</div>">',
        "<div a='</div>' b = \">\">",
        "<div><table></div></table>",
        "<div><!</div>",
        "<div></ </div>",
        "<div><?</div>",
        "<span><div></span>",
        "<form><div></form>",
        "<b><div></b>",
        "<svg><style><g></style></x>",
        "<noscript><div></noscript></x>",
        "<li><dd>",
        "<optgroup>",
    ],
)
def test_depth_is_not_hidden_by_tags_that_end_nothing(part: str) -> None:
    limit = 2 * html_nesting.DEPTH + html_nesting.FORMATS + 16
    markup = f"<p>first</p>{part * 4_000}<p>last"
    flat = LexborHTMLParser(html_nesting.flatten_markup(markup))
    assert depth_of(flat) < limit < depth_of(LexborHTMLParser(markup))
    assert "first" in html.html_text(markup, MOST)


def depth_of(parser: LexborHTMLParser) -> int:
    deepest, node = 0, parser.root
    path: list[LexborNode] = []
    while node is not None:
        path.append(node)
        deepest = max(deepest, len(path))
        after = node.first_child
        while after is None and path:
            after = path.pop().next
        node = after
    return deepest


@pytest.mark.parametrize("end", ["", "<p>", "</x>", "<table></b></table>", "<div></div>"])
def test_open_formatting_is_not_made_anew_without_end(end: str) -> None:
    opened = "".join(f"<b id={at}>{end}" for at in range(300))
    markup = f"<div>{opened}</div>" + "<p>word" * 300
    flat = LexborHTMLParser(html_nesting.flatten_markup(markup))
    assert len(flat.css("b")) <= 2 * html_nesting.FORMATS * 600
    assert len(LexborHTMLParser(markup).css("b")) > 80_000
    assert html.html_text(markup, MOST).split() == ["word"] * 300


def test_formatting_that_is_left_out_joins_what_it_was_in() -> None:
    markup = "<p>" + "<b>" * 40 + "wo<i>r</i>d" + "</b>" * 40 + " and <i>mo</i>re</p><p>last"
    assert html.html_text(markup, MOST) == "word and more\n\nlast"


def test_pages_of_ordinary_depth_stay_as_they_are() -> None:
    item = "<li><a href='>'>one</a> <b>two</b><svg><path d=x /><title>t</title></svg></li>"
    row = "<tr><td><div><p>a<p>b</div><td><font size=1>c</font></tr>"
    markup = f"<ul>{item * 2000}</ul><table>{row * 2000}</table><div><span></div>" * 2
    assert html_nesting.flatten_markup(markup) == markup


def test_what_the_parser_refuses_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(markup: str) -> None:
        raise SelectolaxError("Failed to parse HTML.")

    monkeypatch.setattr("selectolax.lexbor.LexborHTMLParser", refuse)
    with pytest.raises(
        UnreadableDocumentError, match=r"^cannot be read as HTML \(Failed to parse HTML\)$"
    ):
        html.html_text("<p>a", MOST)


def test_what_is_nested_too_deeply_keeps_its_text() -> None:
    depth = html_nesting.DEPTH + 100
    inner = "<!-- <div> --><script>'<div>'</script><p>one</p><p>two</p>"
    markup = "<div>" * depth + inner + "</div>" * depth + "<h1>last</h1>"
    text = html.html_text(markup, MOST)
    assert text == "one\n\ntwo\n\nlast"
    flat = html_nesting.flatten_markup(markup)
    assert flat.count("<div>") - 2 == flat.count("</div>") == html_nesting.DEPTH


@given(st.lists(st.sampled_from(["<b>", "</b>", "<i>", "</i>", "x", "<!--", "-->"]), max_size=40))
@settings(max_examples=200)
def test_what_is_not_deep_is_not_touched(parts: list[str]) -> None:
    markup = "".join(parts)
    padded = "<br>" * html_nesting.DEPTH + markup
    assert html_nesting.flatten_markup(padded) == padded
    assert html_nesting.flatten_markup(markup) == markup


def page(declared: str, text: str, encoding: str) -> bytes:
    return f"<html><head>{declared}</head><body><p>{text}</p></body>".encode(encoding)


CHINESE = "今天天气很好，我们去公园散步。"


@pytest.mark.parametrize(
    ("data", "text", "told"),
    [
        (page('<meta charset="gb2312">', CHINESE, "gb18030"), CHINESE, "gb18030"),
        (page("<meta charset=GBK >", CHINESE, "gb18030"), CHINESE, "gb18030"),
        (
            page(
                '<meta http-equiv="Content-Type" content="text/html; charset=big5">', "中文", "big5"
            ),
            "中文",
            "big5hkscs",
        ),
        (page('<meta charset="iso-8859-1">', "“café”", "cp1252"), "“café”", "cp1252"),
        (page('<meta charset="iso-2022-jp">', "日本語", "iso-2022-jp"), "日本語", "iso2022_jp"),
        # Declared, and converted since.
        (page('<meta charset="gb2312">', CHINESE, "utf-8"), CHINESE, ""),
        (page('<meta charset="utf-16">', CHINESE, "utf-8"), CHINESE, ""),
        (page('<meta charset="no-such">', CHINESE, "utf-8"), CHINESE, ""),
        (page("", CHINESE, "utf-8-sig"), CHINESE, ""),
        (page("", CHINESE, "utf-8"), CHINESE, ""),
    ],
)
def test_encodings(tmp_path: Path, data: bytes, text: str, told: str) -> None:
    path = tmp_path / "a.html"
    path.write_bytes(data)
    notes: list[str] = []
    problems: list[Unreadable] = []
    (batch,) = read_batches(str(path), Reading(), problems.append, note=notes.append)
    assert (batch.texts.to_pylist(), problems) == ([text], [])
    expected = [f"{path}: read as {told} (declared by the page)"] if told else []
    assert notes == expected
    assert encodings.decode_page(data).endswith(f"<p>{text}</p></body>")


def test_an_encoding_that_is_asked_for_wins(tmp_path: Path) -> None:
    path = tmp_path / "a.html"
    path.write_bytes(page('<meta charset="latin-1">', CHINESE, "gb18030"))
    assert texts(read(path, encoding="gb18030")[0]) == [CHINESE]
    path.write_bytes(page('<meta charset="latin-1">', CHINESE, "utf-16"))
    assert texts(read(path)[0]) == [CHINESE]


def test_bytes_that_are_no_text_are_reported(tmp_path: Path) -> None:
    path = tmp_path / "a.html"
    path.write_bytes(b"<p>" + bytes(range(128, 256)) * 3)
    (problem,) = read(path)[1]
    assert problem.startswith("1: not UTF-8 (byte 0x80 at offset 3)")
    path.write_bytes(b"<p>a\n\0b")
    (problem,) = read(path)[1]
    assert problem.startswith("2: holds a NUL byte; ")


@given(st.binary(max_size=300))
@settings(max_examples=200)
def test_junk_is_read_or_refused(data: bytes) -> None:
    text = html.html_text(encodings.decode_page(data), MOST)
    text.encode()


def test_a_page_is_a_document_called_by_its_name(tmp_path: Path) -> None:
    for name in ("a.html", "b.HTM", "c.xhtml"):
        path = tmp_path / name
        path.write_bytes(document_files.html("<p>hello</p>"))
        assert pairs(read(path)[0]) == [(str(path), "hello")]
