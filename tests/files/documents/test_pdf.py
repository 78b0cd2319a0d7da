"""PDF: lines to paragraphs, hyphens resolved, and files that hold no text."""

from __future__ import annotations

import os
import threading
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers import document_files
from neardup.files.documents import pdf
from neardup.files.reading.formats import UnreadableDocumentError

MOST = 1 << 24
HYPHEN = pdf.HYPHEN


def seen(*pages: bytes, most: int = MOST) -> str:
    return pdf.pdf_text(document_files.pdf(pages), most)


def test_lines_become_paragraphs() -> None:
    heading = document_files.lines_at([(72, 720, "A heading")], size=20)
    text = document_files.paragraphs_at(
        [
            ["The first paragraph goes on", "over lines and is bro-", "ken at its end."],
            ["The second", "is short."],
            ["今天天气很好，我们去公", "园散步。"],
        ]
    )
    assert seen(heading + b"\n" + text).split("\n\n") == [
        "A heading",
        "The first paragraph goes on over lines and is broken at its end.",
        "The second is short.",
        "今天天气很好，我们去公园散步。",
    ]


def test_paragraphs_without_a_gap() -> None:
    indented = document_files.lines_at(
        [
            (96, 700, "The first line of a paragraph is moved in,"),
            (72, 686, "the second is not, and the last ends here, far out."),
            (96, 672, "Another one begins like the first one did, and"),
            (72, 658, "ends."),
            (72, 644, "What ends early ends a paragraph, and this is the next."),
        ]
    )
    assert seen(indented).split("\n\n") == [
        "The first line of a paragraph is moved in, the second is not, and the last ends here, far "
        "out.",
        "Another one begins like the first one did, and ends.",
        "What ends early ends a paragraph, and this is the next.",
    ]


def test_a_paragraph_may_go_on_on_the_next_page() -> None:
    first = document_files.paragraphs_at([["It begins on a page and"]])
    assert seen(first, document_files.paragraphs_at([["ends on the next."], ["More."]])) == (
        "It begins on a page and ends on the next.\n\nMore."
    )
    assert seen(first, document_files.paragraphs_at([["Another."]])).count("\n\n") == 1


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"bro{HYPHEN}ken", "broken"),
        (f"Bro{HYPHEN}ken", "Broken"),
        (f"bro{HYPHEN} ken", "broken"),
        (f"ex{HYPHEN}panded", "expanded"),
        (f"well{HYPHEN}known", "well-known"),
        (f"log{HYPHEN}linear, and again log-linear", "log-linear, and again log-linear"),
        (f"Anglo{HYPHEN}Saxon", "Anglo-Saxon"),
        (f"NATO{HYPHEN}led", "NATO-led"),
        (f"1914{HYPHEN}18", "1914-18"),
        (f"e{HYPHEN}mail", "e-mail"),
        (f"x {HYPHEN} y", "x - y"),
        (f"über{HYPHEN}schrift", "überschrift"),
        (HYPHEN, "-"),
    ],
)
def test_hyphens(text: str, expected: str) -> None:
    assert pdf.join_hyphenated(text) == expected


IMAGE = b"""q 600 0 0 700 0 0 cm
BI /W 1 /H 1 /CS /G /BPC 8 ID \x80 EI Q"""


@pytest.mark.parametrize(
    ("pages", "reason"),
    [
        ([IMAGE], "has no text in its 1 page: they are pictures, such as scans"),
        ([b"", IMAGE, b""], "has no text in its 3 pages: they are pictures, such as scans"),
        ([b""], "has no text in its 1 page: they are empty, or drawn"),
        ([b"0 0 m 100 100 l S"] * 2, "has no text in its 2 pages: they are empty, or drawn"),
    ],
)
def test_a_file_without_text_says_so(pages: list[bytes], reason: str) -> None:
    with pytest.raises(UnreadableDocumentError) as raised:
        seen(*pages)
    assert str(raised.value) == reason
    assert raised.value.hint == "run OCR first, for example ocrmypdf"


def test_an_encrypted_file() -> None:
    lock = "/Encrypt << /Filter /Standard /V 1 /R 2 /P -4 /O <{}> /U <{}> >> /ID [<00><00>]"
    data = document_files.pdf([b""], trailer=lock.format("00" * 32, "11" * 32))
    with pytest.raises(UnreadableDocumentError, match="is encrypted; save it without a password"):
        pdf.pdf_text(data, MOST)


ONE = document_files.pdf([document_files.paragraphs_at([["hello world"]])])


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"%PDF-1.7\n",
        b"no PDF at all",
        document_files.pdf([]),
        ONE[: len(ONE) // 2],
        ONE.replace(b"/Kids [6 0 R]", b"/Kids [2 0 R]"),
        ONE.replace(b"/Kids [6 0 R]", b"/Kids [1 0 R]"),
    ],
)
def test_a_damaged_file(data: bytes) -> None:
    with pytest.raises(UnreadableDocumentError, match="is damaged"):
        pdf.pdf_text(data, MOST)


def test_a_file_that_claims_to_have_more_pages_than_it_has() -> None:
    claimed = ONE.replace(b"/Count 1", b"/Count 999999999")
    assert pdf.pdf_text(claimed, MOST) == "hello world"


def test_a_page_of_more_text_than_allowed_is_not_fetched() -> None:
    shown = b"".join(b"BT /F1 1 Tf 9 %d Td (some words) Tj ET\n" % at for at in range(1000))
    assert len(seen(shown)) > 5000
    with pytest.raises(UnreadableDocumentError, match="its text is longer than 4 KiB"):
        seen(shown, most=4096)
    with pytest.raises(UnreadableDocumentError, match="its text is longer than 16 KiB"):
        seen(shown, shown, most=16384)


def test_text_far_off_the_page_and_blanks_without_end() -> None:
    far = document_files.lines_at([(72, 1e9, "far"), (-1e9, 5, "away"), (72, 700, "here")])
    assert "here" in seen(far)
    assert seen(b" " * 50_000_000 + document_files.paragraphs_at([["here"]])) == "here"


@given(st.integers(0, len(ONE) - 1), st.binary(min_size=1, max_size=8))
@settings(max_examples=150)
def test_damage_anywhere_is_named_or_harmless(at: int, junk: bytes) -> None:
    with suppress(UnreadableDocumentError):
        pdf.pdf_text(ONE[:at] + junk + ONE[at + len(junk) :], MOST).encode()


def test_many_threads_take_turns() -> None:
    found: list[str] = []
    threads = [
        threading.Thread(target=lambda: found.append(pdf.pdf_text(ONE, MOST))) for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == ["hello world"] * 8


def test_a_forked_process_reads_too(tmp_path: Path) -> None:
    assert pdf.pdf_text(ONE, MOST)
    child = os.fork()
    if not child:
        os._exit(0 if pdf.pdf_text(ONE, MOST) == "hello world" else 1)
    assert os.waitpid(child, 0)[1] == 0
