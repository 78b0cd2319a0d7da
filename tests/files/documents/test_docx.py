"""Word documents: text in reading order, and nothing that is no text."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers import document_files
from helpers.document_files import word_paragraphs as paragraphs
from neardup.files.documents import office
from neardup.files.reading.formats import UnreadableDocumentError

MOST = 1 << 24


def seen(body: str, **parts: str) -> str:
    return office.docx_text(document_files.docx(body, **parts), MOST)


def cells(*texts: str) -> str:
    inner = "".join(f"<w:tc>{paragraphs(*text.split('|'))}</w:tc>" for text in texts)
    return f"<w:tr>{inner}</w:tr>"


def run(content: str) -> str:
    return f"<w:p><w:r>{content}</w:r></w:p>"


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (paragraphs("Heading", "One & two", "", "中文"), "Heading\n\nOne & two\n\n中文"),
        (
            paragraphs("a") + f"<w:tbl>{cells('b', 'c')}{cells('d')}</w:tbl>" + paragraphs("e"),
            "a\n\nb\tc\nd\n\ne",
        ),
        (f"<w:tbl>{cells('b|c', 'd')}</w:tbl>", "b\n\nc\n\nd"),
        (run("<w:t>a</w:t><w:br/><w:t>b</w:t><w:tab/><w:t>c</w:t>"), "a\nb c"),
        (run("<w:t>co</w:t><w:softHyphen/><w:t>op</w:t>"), "coop"),
        (run("<w:t>co</w:t><w:noBreakHyphen/><w:t>op</w:t>"), "co-op"),
        # Cut by the program in the middle of a word.
        ("<w:p><w:r><w:t>wo</w:t></w:r><w:r><w:t>rd</w:t></w:r></w:p>", "word"),
        ("<w:p><w:ins><w:r><w:t>new</w:t></w:r></w:ins></w:p>", "new"),
        ("<w:p><w:hyperlink><w:r><w:t>link</w:t></w:r></w:hyperlink></w:p>", "link"),
        ("", ""),
    ],
)
def test_text(body: str, text: str) -> None:
    assert seen(body) == text


@pytest.mark.parametrize(
    "unseen",
    [
        "<w:p><w:del><w:r><w:delText>no</w:delText></w:r></w:del></w:p>",
        "<w:p><w:moveFrom><w:r><w:t>no</w:t></w:r></w:moveFrom></w:p>",
        "<w:p><w:r><w:rPr><w:vanish/></w:rPr><w:t>no</w:t></w:r></w:p>",
        run("<w:instrText>PAGE no</w:instrText>"),
        '<mc:Fallback xmlns:mc="urn:mc"><w:p><w:r><w:t>no</w:t></w:r></w:p></mc:Fallback>',
        "<w:sectPr>no</w:sectPr>",
    ],
)
def test_what_is_not_seen(unseen: str) -> None:
    assert seen(paragraphs("before") + unseen + paragraphs("after")) == "before\n\nafter"


def test_text_that_is_marked_as_not_hidden() -> None:
    hidden = '<w:rPr><w:vanish w:val="{}"/></w:rPr><w:t>x</w:t>'
    assert seen(run(hidden.format("0"))) == "x"
    assert seen(run(hidden.format("1"))) == ""


def notes(kind: str, **texts: str) -> str:
    made = "".join(
        f'<w:{kind} w:id="{id_[1:]}">{paragraphs(*text.split("|"))}</w:{kind}>'
        for id_, text in texts.items()
    )
    separator = f'<w:{kind} w:type="separator" w:id="0">{paragraphs("no")}</w:{kind}>'
    return document_files.word_part(separator + made, f"{kind}s", "")


def test_footnotes_follow_their_paragraph_and_endnotes_come_last() -> None:
    def refer(text: str, kind: str, id_: int) -> str:
        return run(f'<w:t>{text}</w:t><w:{kind}Reference w:id="{id_}"/><w:t>.</w:t>')

    table = f"<w:tbl><w:tr><w:tc>{refer('cell', 'footnote', 3)}</w:tc></w:tr></w:tbl>"
    body = refer("a", "footnote", 1) + refer("b", "endnote", 1) + table + paragraphs("c")
    text = seen(
        body,
        footnotes=notes("footnote", n1="foot one|and more", n3="of the cell", n9="never"),
        endnotes=notes("endnote", n1="end one"),
    )
    assert text.split("\n\n") == [
        *("a.", "foot one", "and more", "b.", "cell.", "of the cell", "c", "end one")
    ]


def test_a_note_that_is_not_there() -> None:
    assert seen(run('<w:t>a</w:t><w:footnoteReference w:id="7"/>')) == "a"


def test_the_body_may_have_another_name() -> None:
    relations = (
        '<Relationships xmlns="urn:r"><Relationship Id="r1" Target="/word/document2.xml" '
        'Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument"'
        "/></Relationships>"
    )
    parts = {
        "_rels/.rels": relations,
        "word/document2.xml": document_files.word_part(paragraphs("here")),
    }
    assert office.docx_text(document_files.zipped(parts), MOST) == "here"


def test_the_strict_form() -> None:
    strict = document_files.word_part(paragraphs("a", "b")).replace(
        document_files.WORD, "http://purl.oclc.org/ooxml/wordprocessingml/main"
    )
    assert office.docx_text(document_files.zipped({"word/document.xml": strict}), MOST) == "a\n\nb"


def test_a_table_nested_as_deeply_as_one_likes() -> None:
    depth = 20_000
    opened = "<w:tbl><w:tr><w:tc>" * depth
    body = opened + paragraphs(*["x"] * 1000) + "</w:tc></w:tr></w:tbl>" * depth
    assert seen(body).split() == ["x"] * 1000


@given(st.lists(st.text("ab 中&<>", max_size=20), max_size=6))
@settings(max_examples=50)
def test_paragraphs_come_back(texts: list[str]) -> None:
    wanted = [" ".join(text.split()) for text in texts if text.strip()]
    assert seen(paragraphs(*texts)) == "\n\n".join(wanted)


@given(st.integers(0, 2000), st.binary(min_size=1, max_size=8))
@settings(max_examples=150)
def test_damage_anywhere_is_named_or_harmless(at: int, junk: bytes) -> None:
    data = document_files.docx(paragraphs("one two three", "four"))
    at %= len(data)
    with suppress(UnreadableDocumentError):
        office.docx_text(data[:at] + junk + data[at + len(junk) :], MOST).encode()


@pytest.mark.parametrize("kind", ["footnote", "endnote"])
def test_a_note_is_read_once(kind: str) -> None:
    inner = f'<w:{kind} w:id="1">{document_files.word_paragraphs("a note")}</w:{kind}>'
    notes = {f"{kind}s": document_files.word_part(inner, root=f"{kind}s", inner="")}
    refers = f'<w:p><w:r><w:t>x</w:t><w:{kind}Reference w:id="1"/></w:r></w:p>' * 3
    assert office.docx_text(document_files.docx(refers, **notes), 1 << 20).count("a note") == 1


def test_a_document_that_declares_attributes_is_refused() -> None:
    declared = '<!DOCTYPE d [<!ATTLIST x a CDATA "uuuu">]>'
    body = document_files.word_part(document_files.word_paragraphs("a")).replace(
        "<w:doc", f"{declared}<w:doc", 1
    )
    data = document_files.zipped({"word/document.xml": body})
    with pytest.raises(
        UnreadableDocumentError, match=r"declares attributes of the element 'x'; such documents"
    ):
        office.docx_text(data, 1 << 20)


@pytest.mark.parametrize("over", [0, 1])
def test_a_long_namespace_is_refused(over: int) -> None:
    address = "u" * (1024 + over)
    data = document_files.docx(f'<x:t xmlns:x="{address}"/>' + document_files.word_paragraphs("a"))
    if not over:
        assert office.docx_text(data, 1 << 20) == "a"
        return
    with pytest.raises(
        UnreadableDocumentError, match=r"has a namespace of 1,025 characters; the limit is 1,"
    ):
        office.docx_text(data, 1 << 20)
