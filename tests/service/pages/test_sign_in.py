"""Signing in: who is asked to, what is kept, and what it is good for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import quote

import httpx
import pytest

from neardup.service import auth

READ, WRITE = "r" * 24, "w" * 24
HTML = {"Accept": "text/html,*/*;q=0.8"}
MARK = {"left": "recipe-lentil", "right": "recipe-lentil-blog", "verdict": "same"}


@pytest.fixture
def client(serve: Callable[..., str], tmp_path: Path) -> Iterator[httpx.Client]:
    tokens = tmp_path / "tokens"
    tokens.write_text(f"read {READ}\nwrite {WRITE}\n", encoding="utf-8")
    tokens.chmod(0o600)
    with httpx.Client(base_url=serve(token_file=tokens)) as found:
        yield found


def signed_in(client: httpx.Client, token: str, target: str = "/check") -> httpx.Response:
    return client.post("/sign-in", data={"token": token, "next": quote(target, safe="")})


def test_every_page_asks_for_a_token(client: httpx.Client) -> None:
    answer = client.get("/check?text=a+b&lang=zh", headers=HTML)
    assert answer.status_code == 303
    assert answer.headers["location"] == "/sign-in?next=%2Fcheck%3Ftext%3Da%2Bb%26lang%3Dzh"
    form = client.get(answer.headers["location"], headers=HTML)
    assert form.status_code == 200
    # Nothing of the collection is on it.
    assert "documents" not in form.text
    assert client.get("/static/base.css").status_code == 200
    assert client.get("/shared/style.css").status_code == 200


def test_data_and_posts_give_401(client: httpx.Client) -> None:
    for path in ("/check.json", "/collection.json", "/v1/stats", "/collection/marks.csv"):
        assert client.get(path).status_code == 401
    assert client.post("/check", data={"text": "a"}, headers=HTML).status_code == 401
    assert client.post("/collection/marks", data=MARK, headers=HTML).status_code == 401
    for path in ("/sign-in/", "/sign-in/x", "/sign-in.json", "/staticx", "//static/base.css"):
        assert client.get(path).status_code == 401


def test_a_token_is_kept_where_scripts_cannot_read_it(client: httpx.Client) -> None:
    answer = signed_in(client, READ, "/compare?left=a&right=b")
    assert answer.status_code == 303
    assert answer.headers["location"] == "/compare?left=a&right=b"
    cookie = answer.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert "secure" not in cookie
    assert client.get("/check", headers=HTML).status_code == 200
    assert client.get("/v1/stats").status_code == 200
    client.post("/sign-out")
    assert client.get("/check", headers=HTML).status_code == 303


def test_over_https_the_cookie_never_goes_over_http(client: httpx.Client) -> None:
    """Where a proxy has the certificate, it says so."""
    form = {"token": READ, "next": ""}
    for scheme, count in (("https", 1), ("http", 0)):
        answer = client.post("/sign-in", data=form, headers={"X-Forwarded-Proto": scheme})
        assert answer.headers["set-cookie"].count("; Secure") == count


def test_a_token_to_read_changes_nothing(client: httpx.Client) -> None:
    signed_in(client, READ)
    assert client.post("/check", data={"text": "a b c"}).status_code == 303
    assert client.post("/collection/marks", data=MARK).status_code == 403
    assert client.post("/check/add", data={"text": "a b", "new_id": "x"}).status_code == 403
    assert 'form class="mark"' not in client.get("/collection").text
    signed_in(client, WRITE)
    assert client.post("/collection/marks", data=MARK).status_code == 303
    assert client.post("/check/add", data={"text": "a b", "new_id": "x"}).status_code == 303


def test_a_cookie_is_no_use_to_other_sites(client: httpx.Client) -> None:
    signed_in(client, WRITE)
    for headers in ({"Origin": "https://evil.example"}, {"Sec-Fetch-Site": "same-site"}):
        assert client.post("/collection/marks", data=MARK, headers=headers).status_code == 403
        new = {"id": "x", "text": "y"}
        assert client.post("/v1/documents", json=new, headers=headers).status_code == 403


def test_wrong_tokens_are_refused_and_cannot_be_guessed(
    client: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(auth, "DELAY_SECONDS", 0.01)
    for wrong in ("", "x", READ[:-1], f"{READ}; path=/", "ü" * 20, "\r\nSet-Cookie: a=b"):
        answer = signed_in(client, wrong)
        assert answer.status_code == 401
        assert "set-cookie" not in answer.headers
    codes = [signed_in(client, f"guess {at}").status_code for at in range(30)]
    assert codes[-1] == 429
    # Whoever has one is let in all the same.
    assert signed_in(client, READ).status_code == 303


@pytest.mark.parametrize("token", ["abc/def+ghiJKLMNOP12345==", "\"quoted\";,%41\\{'here'}"])
def test_a_token_of_any_characters_is_kept(
    serve: Callable[..., str], tmp_path: Path, token: str
) -> None:
    tokens = tmp_path / "tokens"
    tokens.write_text(f"read {token}\n", encoding="utf-8")
    tokens.chmod(0o600)
    with httpx.Client(base_url=serve(token_file=tokens)) as client:
        assert signed_in(client, token).status_code == 303
        # As a browser sends it back: to the letter.
        kept = client.cookies["neardup-token"]
        client.cookies.clear()
        cookie = {"Cookie": f"neardup-token={kept}"}
        assert client.get("/v1/stats", headers=cookie).status_code == 200


def test_the_form_of_a_stranger_is_small(client: httpx.Client) -> None:
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    for body in (b"token=" + b"%41" * 3000, iter([b"token=", *[b"%41" * 100] * 30])):
        assert client.post("/sign-in", content=body, headers=form).status_code == 413
    assert client.post("/sign-in", content=b"token=" + b"A" * 8000, headers=form).status_code == 401


def test_head_requests(client: httpx.Client) -> None:
    assert client.head("/sign-in").status_code == 200


@pytest.mark.parametrize("target", ["//evil.example", "https://evil.example", "/\\evil", "", "x"])
def test_redirects_stay_on_the_site(client: httpx.Client, target: str) -> None:
    assert signed_in(client, READ, target).headers["location"] == "/check"


def test_without_tokens_there_is_nothing_to_sign_in_to(served: str) -> None:
    assert httpx.get(f"{served}/sign-in").headers["location"] == "/check"
