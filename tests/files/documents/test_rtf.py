"""Rich text files."""

from __future__ import annotations

import time
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers import document_files
from neardup.files.documents import rtf
from neardup.files.reading.formats import UnreadableDocumentError

MOST = 1 << 24


def seen(body: str) -> str:
    return rtf.rtf_text(document_files.rtf(body), MOST)


def escaped(text: str, encoding: str) -> str:
    return "".join(f"\\'{byte:02x}" for byte in text.encode(encoding))


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (r"Title\par One {\b bold} two\par", "Title\n\nOne bold two"),
        (r"a\line b\tab c\~d\_e\-f", "a\nb c d-ef"),
        ("one\\\ntwo", "one\n\ntwo"),
        ("wo\r\nrd", "word"),
        (r"\{x\\y\}", r"{x\y}"),
        (r"caf\'e9 \u8364? \u8364\'80!", "café € €!"),
        (r"{\uc2\u20013\'d6\'d0}\u25991?", "中文"),
        (r"\uc0\u20013\u25991", "中文"),
        (r"\u-10179?\u-8704?", "😀"),
        (r"\ldblquote a\rdblquote\emdash b", "“a”—b"),
        (r"{\trowd\intbl a\cell b\cell\row}{\trowd\intbl c\cell\row}\pard d", "a\tb\nc\n\nd"),
        (r"\trowd\pard\intbl a\cell b\cell\trowd\row\pard d\par", "a\tb\n\nd"),
        (r"text{\footnote the note}. More\par next", "text. More\n\nthe note\n\nnext"),
        (r"{\field{\*\fldinst HYPERLINK no}{\fldrslt shown}}", "shown"),
        (r"{\shp{\*\shpinst{\sp{\sn no}{\sv no}}{\shptxt box\par}}}", "box"),
        (r"a{\object{\*\objdata 0102}{\result b}}", "ab"),
        ("", ""),
    ],
)
def test_text(body: str, text: str) -> None:
    assert seen(body) == text


@pytest.mark.parametrize(
    "unseen",
    [
        r"{\v no}",
        r"{\deleted no}",
        r"{\*\unknown no{\b no}}",
        r"{\info{\title no}}",
        r"{\header no\par}",
        r"{\stylesheet{\s0 no;}}",
        r"{\pict\wmetafile8 0102030405}",
        r"{\*\annotation no}",
        r"{\pict\bin5 }}}}}}",
        r"{\colortbl;\red0;}",
        r"{\listtext 1.\tab}",
    ],
)
def test_what_is_not_seen(unseen: str) -> None:
    assert seen(rf"be{unseen}fore\par {unseen}after") == "before\n\nafter"


def test_hidden_text_ends() -> None:
    assert seen(r"a{\v no\v0 b}{\v no\plain c}d") == "abcd"


@pytest.mark.parametrize(
    ("head", "encoding", "text"),
    [
        (r"\ansi\ansicpg936", "gbk", "今天天气很好"),
        (r"\ansi\ansicpg1252{\fonttbl{\f0\fcharset134 SimSun;}}\f0", "gbk", "今天天气很好"),
        (r"\ansi{\fonttbl{\f3\fcharset136 x;}{\f4\fcharset0 y;}}\f3", "big5", "今天天氣"),
        (r"\ansi\ansicpg1251", "cp1251", "Привет"),
        (r"\mac", "mac_roman", "café"),
        (r"\ansi\ansicpg99999", "cp1252", "café"),
        (r"\ansi\ansicpg932", "cp932", "日本語ソ"),
    ],
)
def test_encodings(head: str, encoding: str, text: str) -> None:
    assert rtf.rtf_text(document_files.rtf(escaped(text, encoding), head), MOST) == text
    # The second byte of a character may be written as the letter it is in ASCII.
    data = document_files.rtf("", head)[:-1] + text.encode(encoding) + b"}"
    if b"\\" not in text.encode(encoding):
        assert rtf.rtf_text(data, MOST) == text


def test_fonts_change_the_encoding_within_a_group() -> None:
    head = r"\ansi\ansicpg1252{\fonttbl{\f0\fcharset0 A;}{\f1\fcharset134 S;}}\f0"
    body = rf"\'e9{{\f1 {escaped('中', 'gbk')}}}\'e9\f1 {escaped('文', 'gbk')}"
    assert rtf.rtf_text(document_files.rtf(body, head), MOST) == "é中é文"


def test_what_is_no_rtf() -> None:
    with pytest.raises(UnreadableDocumentError, match=r"is not RTF: it does not begin with {\\rtf"):
        rtf.rtf_text(b"plain", MOST)
    with pytest.raises(UnreadableDocumentError, match="is truncated: groups are open at its end"):
        rtf.rtf_text(document_files.rtf("a{b")[:-1], MOST)
    assert rtf.rtf_text(document_files.rtf("a") + b"\0\0 junk {", MOST) == "a"


def test_groups_in_one_another_have_a_limit() -> None:
    most = rtf.MAX_GROUPS - 1  # the file itself is one
    assert seen("{" * most + "deep" + "}" * most) == "deep"
    begun = time.monotonic()
    for part in ("{", r"{\v", r"{\footnote a"):
        with pytest.raises(UnreadableDocumentError, match=r"^has more than 10,000 nested groups"):
            seen(part * 500_000)
    assert time.monotonic() - begun < 20


@given(st.text(st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\u00ad")))
@settings(max_examples=100)
def test_any_text_comes_back(text: str) -> None:
    units = text.encode("utf-16-le")
    numbers = [int.from_bytes(units[at : at + 2], "little") for at in range(0, len(units), 2)]
    body = "".join(f"\\u{number - 65536 if number > 32767 else number}?" for number in numbers)
    assert seen(body) == " ".join(text.split())


@given(
    st.lists(
        st.sampled_from(
            [
                "{",
                "}",
                "\\",
                "\\'",
                "\\u",
                "1",
                "a",
                " ",
                "\\*",
                "\\bin",
                "\\par",
                "\\cell",
                "\\row",
                "\\trowd",
                "\\footnote",
                "\\fonttbl",
                "\\f1",
            ]
        )
    )
)
@settings(max_examples=200)
def test_junk_is_read_or_refused(parts: list[str]) -> None:
    with suppress(UnreadableDocumentError):
        seen("".join(parts)).encode()
