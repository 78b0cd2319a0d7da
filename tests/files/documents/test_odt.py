"""OpenDocument texts."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers import document_files
from neardup.files.documents import office
from neardup.files.reading.formats import UnreadableDocumentError

MOST = 1 << 24


def seen(body: str) -> str:
    return office.odt_text(document_files.odt(body), MOST)


def p(*texts: str) -> str:
    return "".join(f"<text:p>{text}</text:p>" for text in texts)


def cell(text: str) -> str:
    return f"<table:table-cell>{p(text)}</table:table-cell>"


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("<text:h>Head</text:h>" + p("one", "two"), "Head\n\none\n\ntwo"),
        (p('a<text:s text:c="3"/>b<text:tab/>c<text:line-break/>d'), "a b c\nd"),
        (p("a<text:span>b</text:span>c"), "abc"),
        (
            f"<table:table><table:table-row>{cell('a')}{cell('b')}</table:table-row>"
            f"<table:table-row>{cell('c')}</table:table-row></table:table>{p('d')}",
            "a\tb\nc\n\nd",
        ),
        (f"<text:list><text:list-item>{p('x')}</text:list-item></text:list>", "x"),
        (
            p(
                "a<text:note><text:note-citation>1</text:note-citation><text:note-body>"
                + p("note")
                + "</text:note-body></text:note> b"
            )
            + p("c"),
            "a b\n\nnote\n\nc",
        ),
        ("", ""),
    ],
)
def test_text(body: str, text: str) -> None:
    assert seen(body) == text


@pytest.mark.parametrize(
    "unseen",
    [
        f"<text:tracked-changes>{p('no')}</text:tracked-changes>",
        p(f"<office:annotation>{p('no')}</office:annotation>"),
        "stray text between paragraphs",
        "<office:forms><text:p>no</text:p></office:forms>",
    ],
)
def test_what_is_not_seen(unseen: str) -> None:
    assert seen(p("before") + unseen + p("after")) == "before\n\nafter"


def test_an_encrypted_one_is_refused() -> None:
    manifest = (
        '<manifest><file-entry full-path="content.xml"><encryption-data/></file-entry></manifest>'
    )
    with pytest.raises(UnreadableDocumentError, match="is encrypted; save it without a password"):
        office.odt_text(document_files.odt(p("x"), manifest), MOST)


@given(st.integers(0, 2000), st.binary(min_size=1, max_size=8))
@settings(max_examples=150)
def test_damage_anywhere_is_named_or_harmless(at: int, junk: bytes) -> None:
    data = document_files.odt(p("one two three", "four"))
    at %= len(data)
    with suppress(UnreadableDocumentError):
        office.odt_text(data[:at] + junk + data[at + len(junk) :], MOST).encode()
