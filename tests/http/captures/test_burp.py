"""XML of Burp, as a stream."""

import time
from pathlib import Path

import pytest

from helpers.capture_files import (
    DTD,
    Answer,
    answer,
    answers,
    burp_item,
    burp_xml,
    told,
    write_burp,
)
from neardup import http
from neardup.http.captures import burp

PAGE = answer("http://a.example/x", "<title>T</title><p>Grüße 你好 &amp; more</p>")


def written(folder: Path, text: str | bytes) -> Path:
    path = folder / "a.xml"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


@pytest.mark.parametrize("piece", [1, 7, 1000])
def test_items_are_found_however_the_file_is_cut(
    tmp_path: Path, piece: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(burp, "CHUNK_BYTES", piece)
    path = write_burp(tmp_path, answers())
    assert [each.body for each in http.responses(path)] == [each.body for each in answers()]


def test_responses_may_be_text(tmp_path: Path) -> None:
    path = written(tmp_path, burp_xml([burp_item(PAGE, packed=False)] * 2))
    one, two = http.responses(path)
    # XML makes one character of a line end.
    assert one.headers == PAGE.headers
    assert one.text == two.text == PAGE.text


def test_controls_in_text_do_not_stop_it(tmp_path: Path) -> None:
    bad = Answer("http://a/", 200, (("A", "b"),), b"a\x00\x01\x1f\xffb")
    item = burp_item(bad._replace(body=b"a@@@@b"), packed=False).encode()
    data = burp_xml([]).encode().replace(b"</items>", item.replace(b"@@@@", b"\0\1\x1f\xff"))
    path = written(tmp_path, data + b"</items>")
    (found,) = http.responses(path)
    assert found.text == "a???\ufffdb"


def test_an_item_without_a_response_is_reported(tmp_path: Path) -> None:
    item = "<item><url>http://a/</url><response></response></item>"
    texts, problems, _ = told(written(tmp_path, burp_xml([burp_item(PAGE), item, burp_item(PAGE)])))
    assert len(texts) == 2
    at = burp_xml([burp_item(PAGE), item]).encode().index(b"<item><url>http://a/<")
    assert problems == [f"2: the item has no response, at byte {at:,}"]


def test_what_is_no_message_is_reported(tmp_path: Path) -> None:
    bad = burp_item(PAGE).replace('base64="true"><![CDATA[SFRU', 'base64="true"><![CDATA[!!!')
    junk = "<item><url>http://a/</url><response base64='true'>QUJD</response></item>"
    texts, problems, _ = told(written(tmp_path, burp_xml([bad, junk, burp_item(PAGE)])))
    assert len(texts) == 1
    assert len(problems) == 2
    assert "2: not an HTTP response: it begins with 'ABC'" in problems[1]


def test_behind_damage_the_next_item_is_read(tmp_path: Path) -> None:
    for bad in (
        "<item><url>x</wrong></item>\n",
        "<item><url>a < b</url></item>",
        "<item><url>&x;</url>",
    ):
        items = [burp_item(PAGE), bad, burp_item(PAGE), burp_item(PAGE)]
        texts, problems, _ = told(written(tmp_path, burp_xml(items)))
        assert len(texts) == 3, bad
        assert problems
        assert "is damaged (" in problems[0]


@pytest.mark.parametrize("cut", [2, 9, 30, 300])
def test_a_truncated_file_keeps_the_records_before_its_end(tmp_path: Path, cut: int) -> None:
    data = burp_xml([burp_item(PAGE)] * 3).encode()
    texts, problems, _ = told(written(tmp_path, data[:-cut]))
    assert len(texts) >= 2
    assert len(problems) == 1


@pytest.mark.parametrize("piece", [1, 7, 100, 1 << 16])
@pytest.mark.parametrize("tag", ["<item>", "<item x='1'>"])
def test_an_item_that_is_never_closed_costs_itself(
    tmp_path: Path, piece: int, tag: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(burp, "CHUNK_BYTES", piece)
    good = burp_item(PAGE).replace("<item>", tag)
    path = written(tmp_path, burp_xml([good, good.replace("</item>", ""), *[good] * 40]))
    texts, problems, _ = told(path)
    assert len(texts) == 41
    at = path.read_bytes().index(tag.encode(), path.read_bytes().index(b"</item>"))
    assert problems == [f"2: is damaged (another item begins inside it), at byte {at:,}"]


def test_a_thousand_items_behind_one_that_is_never_closed_are_read(tmp_path: Path) -> None:
    good = burp_item(PAGE)
    cut = good.partition("</host>")[0]  # inside a field
    for bad in (good.replace("</item>", ""), cut, cut * 3):
        path = written(tmp_path, burp_xml([good, bad, *[good] * 1000]))
        texts, problems, _ = told(path)
        assert len(texts) == 1001
        assert len(problems) == bad.count("<item>")


@pytest.mark.parametrize("junk", ["<items>", "<a><b>", "</items>", "</items><items>"])
def test_items_are_found_at_any_depth(tmp_path: Path, junk: str) -> None:
    good = burp_item(PAGE)
    texts, problems, _ = told(written(tmp_path, burp_xml([good, junk, *[good] * 40])))
    assert len(texts) == 41
    assert problems
    assert all("is damaged" in each for each in problems)


def test_a_response_that_is_never_closed_costs_its_item(tmp_path: Path) -> None:
    good = burp_item(PAGE)
    bad = good.replace("</response>", "").replace("</item>", "")
    texts, problems, _ = told(written(tmp_path, burp_xml([good, bad, *[good] * 40])))
    assert len(texts) == 41
    assert len(problems) == 1
    assert problems[0].startswith("2: is damaged (another item begins inside it), at byte ")


def test_fields_in_no_item_are_reported(tmp_path: Path) -> None:
    good = burp_item(PAGE)
    bare = good.replace("<item>", "").replace("</item>", "")
    text = burp_xml([good, bare, *[good] * 40])
    texts, problems, _ = told(written(tmp_path, text))
    assert len(texts) == 41
    at = text.encode().index(b"<url>", text.encode().index(b"</item>"))
    assert problems == [f"is damaged ('url' outside of an item), at byte {at:,}"]


def test_what_is_nested_too_deeply_costs_its_item(tmp_path: Path) -> None:
    good = burp_item(PAGE)
    deep = good.replace("<comment></comment>", f"{'<a>' * 80}{'</a>' * 80}")
    texts, problems, _ = told(written(tmp_path, burp_xml([good, deep, *[good] * 40])))
    assert len(texts) == 41
    assert len(problems) == 1
    assert "elements nested deeper than 64" in problems[0]


def test_two_items_in_one_are_reported(tmp_path: Path) -> None:
    good = burp_item(PAGE)
    merged = good.replace("</item>", "") + good.replace("<item>", "")
    texts, problems, _ = told(written(tmp_path, burp_xml([good, merged, good])))
    assert len(texts) == 2
    assert len(problems) == 1
    assert problems[0].startswith("2: is damaged (it has 'response' twice), at byte ")


def test_items_that_are_never_closed_take_no_time(tmp_path: Path) -> None:
    path = written(tmp_path, burp_xml(["<item>" * 20_000, burp_item(PAGE)]))
    started = time.process_time()
    texts, problems, _ = told(path)
    assert time.process_time() - started < 10
    assert (len(texts), len(problems)) == (1, 20_000)


def test_a_page_of_items_is_a_page(tmp_path: Path) -> None:
    feed = answer("http://a/", "<rss><item>a</item> <item>b</item></rss>")
    path = written(tmp_path, burp_xml([burp_item(feed, packed=False), burp_item(feed)]))
    assert [each.body for each in http.responses(path)] == [feed.body] * 2


@pytest.mark.parametrize("field", ["url", "response"])
@pytest.mark.parametrize("packed", [True, False])
def test_a_section_without_an_end_is_reported(tmp_path: Path, field: str, packed: bool) -> None:
    good = burp_item(PAGE, packed=packed)
    # Only this field is in CDATA, so that the next one of its name ends it.
    text = good.replace("<path><![CDATA[/x]]></path>", "").replace("<![CDATA[R0VU]]>", "")
    if field == "url":
        first = text[: text.index("]]></url>")] + "</url></item>"
    else:
        text = text.replace(f"<![CDATA[{PAGE.url}]]>", PAGE.url)
        first = text.replace("]]></response>", "</response>")
    path = written(tmp_path, burp_xml([good, first, text, good]))
    texts, problems, _ = told(path)
    assert len(texts) == 2
    assert len(problems) == 1
    assert "2: is damaged (an unclosed CDATA section holds the start" in problems[0]


def test_defaults_of_attributes_are_limited(tmp_path: Path) -> None:
    one = f'<!ATTLIST a b CDATA "{"x" * 1100}">'
    many = "".join(f'<!ATTLIST a b{at} CDATA "">' for at in range(70))
    for declared in (one, many):
        text = burp_xml([burp_item(PAGE)]).replace("<!ELEMENT items", f"{declared}<!ELEMENT items")
        texts, problems, _ = told(written(tmp_path, text))
        assert texts == []
        (problem,) = problems
        assert "declares default values of attributes that are too long" in problem
        assert "the limit is 1,024 characters for all" in problem


def test_entities_are_refused_and_other_declarations_are_not(tmp_path: Path) -> None:
    assert "<!ATTLIST" in DTD
    assert "<!ELEMENT" in DTD
    laughs = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">\n' for n in range(1, 10))
    text = burp_xml([burp_item(PAGE)]).replace("]>", f'<!ENTITY l0 "ha">\n{laughs}]>', 1)
    texts, problems, _ = told(written(tmp_path, text))
    assert texts == []
    assert problems == ["declares the entity 'l0'; entities are not expanded"]


def test_files_are_not_fetched(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret", encoding="utf-8")
    text = burp_xml([burp_item(PAGE)]).replace(
        "]>", f'<!ENTITY s SYSTEM "file://{tmp_path}/secret">]>', 1
    )
    texts, problems, _ = told(written(tmp_path, text))
    assert texts == []
    assert problems == ["declares the entity 's'; entities are not expanded"]


def test_a_tag_that_never_ends_is_refused(tmp_path: Path) -> None:
    text = burp_xml([burp_item(PAGE)]).replace("</items>", "<item " + "x" * (3 << 20))
    texts, problems, _ = told(written(tmp_path, text))
    assert len(texts) == 1
    assert "does not end in 1 MiB" in problems[0]


def test_elements_in_elements_are_refused(tmp_path: Path) -> None:
    text = burp_xml(["<item>" + "<a>" * 100_000, burp_item(PAGE)])
    texts, problems, _ = told(written(tmp_path, text))
    assert "nested deeper than 64" in problems[0]
    assert len(texts) == 1


def test_an_item_longer_than_the_limit_is_reported(tmp_path: Path) -> None:
    large = answer("http://a/", "x" * 3_000_000)
    path = written(tmp_path, burp_xml([burp_item(PAGE), burp_item(large), burp_item(PAGE)]))
    texts, (problem,), _ = told(path, max_document=1_000_000)
    assert len(texts) == 2
    assert problem.startswith("2: the record is longer than 1,000,000 bytes; raise")


def test_the_url_may_be_put_together(tmp_path: Path) -> None:
    item = burp_item(PAGE).replace("<![CDATA[http://a.example/x]]>", "")
    (found,) = http.responses(written(tmp_path, burp_xml([item])))
    assert found.url == "http://a.example/x"
