"""In which encoding a body is."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup import http
from neardup.files.reading.batch import Reading, Unreadable
from neardup.files.reading.encodings import (
    _guess,
    body_charset,
    detect,
    page_charset,
    page_encoding,
)
from neardup.files.reading.inputs import read_batches

CHINESE = "您访问的页面不存在，请返回首页。服务器错误，权限不足。"
TRADITIONAL = "您訪問的頁面不存在，請返回首頁。伺服器發生錯誤，權限不足。"
JAPANESE = "お探しのページは見つかりませんでした。トップページへ戻ってください。"
KOREAN = "요청하신 페이지를 찾을 수 없습니다. 주소를 다시 확인하시기 바랍니다."
RUSSIAN = "Страница не найдена. Вернитесь на главную страницу сайта."
FRENCH = "La page demandée n’a pas été trouvée à cet endroit. Où êtes-vous ?"
POLISH = "Nie znaleziono strony"


@pytest.mark.parametrize(
    ("text", "encoding", "expected"),
    [
        (CHINESE, "gbk", "gb18030"),
        (CHINESE[:12], "gbk", "gb18030"),
        (TRADITIONAL, "big5", "big5hkscs"),
        (JAPANESE, "shift_jis", "cp932"),
        (JAPANESE, "euc_jp", "euc_jp"),
        (KOREAN, "euc_kr", "cp949"),
        (RUSSIAN, "cp1251", "cp1251"),
        (RUSSIAN, "koi8_r", "koi8-r"),
        (FRENCH, "cp1252", "cp1252"),
        ("Füße", "latin-1", "cp1252"),
    ],
)
@pytest.mark.parametrize("around", [("", ""), ("<html><body><p>", "</p></body></html>")])
def test_what_nothing_declares_is_guessed(
    text: str, encoding: str, expected: str, around: tuple[str, str]
) -> None:
    body = (around[0] + text + around[1]).encode(encoding)
    assert body_charset("text/html", body) == expected
    assert body.decode(expected) == around[0] + text + around[1]


@pytest.mark.parametrize("length", [3000, 4096, 4097, 8191, 100_000])
def test_a_guess_is_not_disturbed_by_where_the_sample_ends(length: int) -> None:
    for shift in range(2):
        body = b"x" * shift + (CHINESE * 5000).encode("gbk")[:length]
        assert _guess(body) == "gb18030"


def test_the_header_is_obeyed_then_the_page() -> None:
    body = RUSSIAN.encode("iso8859-5")
    assert body_charset("text/html; charset=ISO-8859-5", body) == "iso8859-5"
    assert body_charset('text/html; charset="iso-8859-5"', body) == "iso8859-5"
    page = b'<meta charset="iso-8859-5">' + body
    assert body_charset("text/html", page) == "iso8859-5"
    assert body_charset("text/html; charset=koi8-r", page) == "koi8-r"
    old = b'<META http-equiv=Content-Type content="text/html; charset=gb2312">'
    assert body_charset("text/html", old + CHINESE.encode("gbk")) == "gb18030"
    early = b" " * 4000 + b'<meta charset="iso-8859-5">' + body
    assert body_charset("text/html", early) == "iso8859-5"
    late = b" " * 4090 + b'<meta charset="iso-8859-5">' + body
    assert body_charset("text/html", late) != "iso8859-5"


def test_utf8_is_utf8_whatever_is_declared() -> None:
    assert body_charset("text/html; charset=gb2312", CHINESE.encode()) == "utf-8"
    assert body_charset("text/html; charset=gb2312", CHINESE.encode()[:-1]) == "utf-8"
    assert body_charset("text/html; charset=windows-1252", b"plain") == "utf-8"


def test_marks_come_first() -> None:
    assert body_charset("text/html; charset=gbk", CHINESE.encode("utf-8-sig")) == "utf-8"
    assert body_charset("", b"\xff\xfe" + CHINESE.encode("utf-16-le")) == "utf-16-le"
    assert body_charset("", b"\xfe\xff" + CHINESE.encode("utf-16-be")) == "utf-16-be"


def test_a_few_wrong_bytes_do_not_change_what_is_declared() -> None:
    body = (CHINESE * 20).encode() + b"\xff" + (CHINESE * 20).encode()
    assert body_charset("text/html; charset=utf-8", body) == "utf-8"
    # Servers that declare UTF-8 for everything.
    assert body_charset("text/html; charset=utf-8", (CHINESE * 5).encode("gbk")) == "gb18030"


def test_encodings_in_bytes_of_ascii_need_their_signs() -> None:
    body = JAPANESE.encode("iso2022_jp")
    assert body_charset("text/html; charset=iso-2022-jp", body) == "iso2022_jp"
    assert body_charset("text/html; charset=iso-2022-jp", b"plain") == "utf-8"


@pytest.mark.parametrize(
    "label", ["base64", "idna", "rot13", "nonsense", "unicode_escape", "", "\udcff"]
)
def test_names_that_are_no_encoding_of_text_are_not_taken(label: str) -> None:
    assert page_charset(label) is None


@given(st.binary(max_size=600), st.text(max_size=30))
def test_any_bytes_have_an_encoding_that_python_knows(body: bytes, label: str) -> None:
    name = body_charset(f"text/html; charset={label}", body)
    assert isinstance(body.decode(name, "replace"), str)


@pytest.mark.parametrize("declared", ["", '<meta charset="utf-8">'])
def test_a_page_is_read_alike_as_a_document_and_as_a_capture(tmp_path: Path, declared: str) -> None:
    page = f"<html><head>{declared}</head><body><p>{CHINESE}</p></body></html>".encode("gbk")
    document, capture = tmp_path / "a.html", tmp_path / "a.http"
    document.write_bytes(page)
    capture.write_bytes(
        b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n%b"
        % (len(page), page)
    )
    notes: list[str] = []
    problems: list[Unreadable] = []
    (batch,) = read_batches(str(document), Reading(), problems.append, note=notes.append)
    assert (batch.texts.to_pylist(), problems) == ([CHINESE], [])
    assert notes == [f"{document}: read as gb18030 (detected)"]
    (response,) = http.responses(capture)
    assert (response.charset, response.body.decode(response.charset)) == (
        "gb18030",
        page.decode("gbk"),
    )


def test_undeclared_bytes_that_no_language_has_stay_unreadable_as_a_document() -> None:
    junk = b"<p>" + bytes(range(128, 256)) * 3
    assert page_encoding(junk) == ("", "")
    assert body_charset("text/html", junk) == "cp1252"  # a capture cannot be read again


@pytest.mark.parametrize(
    "data", [b"\xe9\xc9\xe9\xc9 " * 20, (RUSSIAN * 2).encode("iso8859-5")], ids=["runs", "8859-5"]
)
def test_words_of_nothing_but_letters_beyond_ascii_are_not_western(data: bytes) -> None:
    assert detect(data) is None
