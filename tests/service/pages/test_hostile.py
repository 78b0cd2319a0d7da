"""No text of a stranger is interpreted, wherever it comes from."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import quote

import httpx
import pytest

from helpers.html_page import NASTY
from helpers.service_pages import NASTY_NAME, WORDS, check_harmless, hostile_collection
from neardup.service.background import serving

STORED = NASTY_NAME, f"{NASTY_NAME} 2", "a\r\nb\tc", "=HYPERLINK(1)", "%2e%2e%2f&id=x#y?z"


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    folder = tmp_path_factory.mktemp("hostile")
    with (
        hostile_collection(folder) as collection,
        serving(collection) as url,
        httpx.Client(base_url=url, follow_redirects=True) as found,
    ):
        yield found


@pytest.mark.parametrize("id_", STORED, ids=range(len(STORED)))
def test_names_and_texts_of_documents(client: httpx.Client, id_: str) -> None:
    page = client.get("/check", params={"id": id_})
    assert page.status_code == 200
    found = check_harmless(page.text)
    # All links to other documents lead there, whatever they are called.
    links = [link for link in found.values("href") if link.startswith("/pair?")]
    assert links
    for link in links:
        answer = client.get(link)
        assert answer.status_code == 200
        check_harmless(answer.text)


def test_the_page_of_the_collection(client: httpx.Client) -> None:
    for id_ in STORED[1:]:
        form = {"left": quoted(NASTY_NAME), "right": quoted(id_), "verdict": "same", "back": "/"}
        assert client.post("/collection/marks", data=form).status_code == 200
    for path in ("/collection", "/collection?threshold=0.99", "/collection?examples=40&lang=zh"):
        check_harmless(client.get(path).text)
    marks = client.get("/collection/marks.json").json()["marks"]
    assert {mark["left"] for mark in marks} | {mark["right"] for mark in marks} == set(STORED)
    table = client.get("/collection/marks.csv").text
    assert "'=HYPERLINK(1)" in table


def quoted(text: str) -> str:
    return quote(text, safe="")


@pytest.mark.parametrize(
    "path",
    [
        "/check?text={}",
        "/check?kept={}",
        "/check?id={}",
        "/check?text=a&similarity={}",
        "/check?text=one+two+three+four&off={}",
        "/check?id={}&added=1",
        "/compare?left={}&right={}",
        "/compare?kept={}",
        "/pair?text={}&source={}",
        "/pair?id={}&source={}",
        "/collection?threshold={}",
        "/collection?examples={}",
        "/collection?{}={}",
        "/check?lang={}&theme={}",
        "/sign-in?next={}",
        "/{}",
    ],
)
def test_what_the_address_says(client: httpx.Client, path: str) -> None:
    for bad in (NASTY, f"{WORDS} {NASTY}", "javascript:alert(1)", "//evil.example", "%00%ff%fe"):
        given = quoted(bad.encode(errors="replace").decode())
        answer = client.get(path.replace("{}", given))
        assert answer.status_code < 500
        if answer.headers["content-type"].startswith("text/html"):
            check_harmless(answer.text)


def test_forms(client: httpx.Client) -> None:
    for name in (NASTY_NAME, "../../etc/passwd", "C:\\x\\y.txt", '"; filename="b.txt', "\n" * 300):
        answer = client.post("/check", files={"file": (name, f"{WORDS} {NASTY_NAME}".encode())})
        assert answer.status_code < 500
        check_harmless(answer.text)
    for form in (
        {"left": NASTY_NAME, "right": "x", "verdict": NASTY_NAME},
        {"left": NASTY_NAME, "right": "x", "verdict": "same", "back": "//evil.example"},
        {"verdict": "none", "left": "a", "right": "b", "back": "javascript:alert(1)"},
        {"else": "1"},
    ):
        answer = client.post("/collection/marks", data=form, follow_redirects=False)
        assert answer.status_code in (303, 404, 422)
        if answer.status_code == 303:
            assert answer.headers["location"] == "/check"


def test_redirects_stay_on_the_site(client: httpx.Client) -> None:
    for bad in ("//evil.example", "https://evil.example", "/\\evil.example", "\\/evil", "/\n//e"):
        answer = client.post(
            "/collection/marks",
            data={"left": "a", "right": "b", "verdict": "none", "back": bad},
            follow_redirects=False,
        )
        assert answer.headers["location"] == "/check"
