"""Every page and its JSON page: what they say, in which language, and what they refuse."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from html import unescape
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest

from helpers.service_pages import check_harmless
from neardup.text.differences import differences

PAGES = (
    "/check",
    "/check?id=notice-harbour",
    "/compare",
    "/compare?left=one+two+three+four&right=one+two+three+five",
    "/pair?id=notice-harbour&source=notice-harbour-web",
    "/collection",
)


@pytest.fixture
def client(served: str) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=served, follow_redirects=True) as found:
        yield found


def text_of(client: httpx.Client, id_: str) -> str:
    found: str = client.get(f"/v1/documents/{id_}").json()["text"]
    return found


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("path", PAGES)
def test_a_page_is_whole_and_harmless(client: httpx.Client, path: str, language: str) -> None:
    answer = client.get(path, headers={"Accept-Language": language})
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    page = check_harmless(answer.text)
    assert page.values("lang")[0] == ("zh-CN" if language == "zh" else "en")
    # A heading, one main part, a way past the navigation, labels for all fields.
    assert page.tags.count("h1") == page.tags.count("main") == 1
    assert "#content" in page.values("href")
    labelled = set(page.values("for"))
    fields = {value for tag, name, value in page.attributes if (tag, name) == ("textarea", "id")}
    assert fields <= labelled


@pytest.mark.parametrize("path", PAGES)
def test_every_page_has_a_json_page(client: httpx.Client, path: str) -> None:
    page = client.get(path)
    parts = urlsplit(path)
    answer = client.get(f"{parts.path}.json?{parts.query}")
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/json"
    assert isinstance(answer.json(), dict)
    # The page itself says where it is.
    assert f'href="{parts.path}.json' in page.text


def test_the_first_page_is_check(client: httpx.Client) -> None:
    answer = client.get("/?lang=zh")
    assert answer.status_code == 200
    assert "这篇文本以前出现过吗" in answer.text
    assert 'href="/check.json"' in answer.text


def test_the_address_chooses_the_language_then_a_cookie_then_the_browser(
    client: httpx.Client,
) -> None:
    def heading(path: str, **headers: str) -> str:
        return client.get(path, headers=headers).text.split("<h1>")[1].split("</h1>")[0]

    assert heading("/check") == "Has this been seen before?"
    assert "出现过" in heading("/check", **{"Accept-Language": "zh-TW,zh;q=0.9,en;q=0.8"})
    assert "seen" in heading("/check", **{"Accept-Language": "fr;q=0.9,zh;q=0.1,en;q=0.5"})
    assert "seen" in heading("/check", **{"Accept-Language": "zh;q=0, xx;q=oops"})
    assert "出现过" in heading("/check?lang=zh", **{"Accept-Language": "en"})
    # It was remembered.
    assert "出现过" in heading("/check", **{"Accept-Language": "en"})
    assert "seen" in heading("/check?lang=en")
    assert "seen" in heading("/check?lang=klingon")


def test_colours_are_chosen_by_the_address_and_remembered(client: httpx.Client) -> None:
    assert 'data-theme="auto"' in client.get("/check").text
    assert 'data-theme="dark"' in client.get("/check?theme=dark").text
    assert 'data-theme="dark"' in client.get("/compare").text
    assert 'data-theme="auto"' in client.get("/compare?theme=auto").text


def test_a_short_text_is_in_the_address(client: httpx.Client) -> None:
    answer = client.post("/check", files={"text": (None, "one two three\r\nfour")})
    assert answer.status_code == 200
    assert parse_qs(answer.url.query.decode())["text"] == ["one two three\nfour"]
    assert answer.history[0].status_code == 303


def test_a_long_text_is_kept_under_a_name(client: httpx.Client) -> None:
    text = text_of(client, "notice-harbour") * 5
    answer = client.post("/check", files={"text": (None, text)})
    name = parse_qs(answer.url.query.decode())["kept"][0]
    assert len(name) == 16
    found = client.get(f"/check.json?kept={name}").json()
    assert found["characters"] == len(text)
    assert client.get("/check?kept=nobody-knows-it").status_code == 404


def test_a_check_finds_near_duplicates_and_copied_passages(client: httpx.Client) -> None:
    found = client.get("/check.json?id=notice-harbour").json()
    assert found["near"] >= 2
    nearest = found["nearest"][0]
    assert nearest["id"] != "notice-harbour"
    assert nearest["near"]
    assert nearest["similarity"] >= 0.85
    assert 0 < nearest["coverage"] <= 1
    copied = found["copied"]
    assert copied["share"] > 0.5
    assert [x["share"] for x in copied["sources"]] == sorted(
        (x["share"] for x in copied["sources"]), reverse=True
    )
    # Without its sources nothing is copied; with the largest left out, less.
    ids = [source["id"] for source in copied["sources"]]
    none = client.get("/check.json", params={"id": "notice-harbour", "off": ids}).json()
    assert none["copied"]["share"] == 0
    assert not any(source["counts"] for source in none["copied"]["sources"])
    some = client.get("/check.json", params={"id": "notice-harbour", "off": ids[:1]}).json()
    assert some["copied"]["largest"] <= copied["largest"]
    assert some["copied"]["share"] <= copied["share"]


@pytest.mark.parametrize(
    ("language", "aspects"), [("en", "numbers, negation"), ("zh", "数字、否定")]
)
def test_a_check_says_what_differs_and_insists_on_it(
    serve: Callable[..., str], language: str, aspects: str
) -> None:
    text = "Patients with this condition should take the tablets twice a day with much water"
    other = text.replace("should", "should not") + " for 5 days"
    with httpx.Client(base_url=serve(), follow_redirects=True) as client:
        client.post("/v1/documents", json=[{"id": f"not-{n}", "text": other} for n in range(11)])
        longer = f"{text} and eat breakfast together at home in the morning"
        client.post("/v1/documents", json={"id": "same", "text": longer})
        fields = [("text", (None, text)), ("similarity", (None, "0.7"))]
        plain = client.post("/check", files=fields)
        found = client.get(f"/check.json?{plain.url.query.decode()}").json()
        assert (found["near"], found["distinguish"]) == (12, [])
        told = {(x["near"], x["differs"], x["lost"]) for x in found["nearest"]}
        # The one that does not differ is behind those listed.
        assert told == {(True, "numbers,negation", 0)}
        ticked = [("distinguish", (None, name)) for name in ("negation", "numbers")]
        answer = client.post("/check", files=[*fields, *ticked])
        assert parse_qs(answer.url.query.decode())["distinguish"] == ["numbers,negation"]
        found = client.get(f"/check.json?{answer.url.query.decode()}").json()
        assert (found["near"], found["distinguish"]) == (1, ["numbers", "negation"])
        assert [x["id"] for x in found["nearest"] if x["near"]] == ["same"]
        assert len(found["nearest"]) == 10
        page = client.get(answer.url, headers={"Accept-Language": language})
        assert page.text.count(f"<td>{aspects}</td>") == 9
        assert page.text.count(aspects) == 10
        check_harmless(page.text)
        # Links to leave a source out keep the question.
        links = [x for x in check_harmless(page.text).values("href") if "&off=" in x]
        assert links
        assert all("distinguish=numbers" in link for link in links)
        assert client.get("/check?text=a+b&distinguish=tone").status_code == 422


def test_the_page_without_a_script_has_the_figures_of_its_json_page(client: httpx.Client) -> None:
    ids = [x["id"] for x in client.get("/check.json?id=recipe-lentil").json()["copied"]["sources"]]
    query = {"id": "recipe-lentil", "off": ids[:1]}
    share = client.get("/check.json", params=query).json()["copied"]["share"]
    page = client.get("/check", params=query).text
    said = page.split('data-figure="share" data-by="w"')[1].split(">")[1].split("<")[0]
    assert said == f"{100 * share:.1f} %"
    assert 'class="off"' in page
    # Without a script a link counts the source again, and another leaves out a second one.
    links = [unescape(link) for link in re.findall(r'<a class="plain" href="([^"]+)"', page)]
    assert [parse_qs(urlsplit(link).query).get("off", []) for link in links[:2]] == [
        [],
        sorted(ids[:2]),
    ]


def test_an_empty_or_broken_form_is_reported(client: httpx.Client) -> None:
    assert client.post("/check", files={"text": (None, " \n ")}).status_code == 422
    assert client.post("/compare", files={"left": (None, "")}).status_code == 422
    assert client.post("/check", content=b"{}").status_code == 415
    answer = client.post(
        "/check", content=b"--x\r\nnonsense", headers={"Content-Type": "multipart/form-data"}
    )
    assert answer.status_code == 400
    check_harmless(answer.text)
    assert client.get("/check?id=not-there").status_code == 404
    assert client.get("/pair?id=notice-harbour").status_code == 422
    assert client.get("/collection?threshold=much").status_code == 422
    assert client.get("/check?text=a&similarity=7").status_code == 422
    problem = client.get("/check.json?id=not-there")
    assert problem.headers["content-type"] == "application/problem+json"
    assert client.post("/check.json", files={"text": (None, "a")}).status_code == 405


@pytest.mark.parametrize("language", ["en", "zh"])
def test_errors_are_in_the_language_of_the_page(client: httpx.Client, language: str) -> None:
    answer = client.get("/check?id=not-there", headers={"Accept-Language": language})
    assert ("没有这篇文档" if language == "zh" else "no such document") in answer.text


def test_a_file_is_read(client: httpx.Client) -> None:
    text = text_of(client, "zh-notice-water")
    answer = client.post("/check", files={"file": ("公告.txt", text.encode("gb18030"))})
    assert answer.status_code == 200
    assert "gb18030" in answer.text.lower()
    assert "公告.txt" in answer.text
    assert "zh-notice-water" in answer.text
    assert client.post("/check", files={"file": ("a.zip", b"PK\x03\x04" * 9)}).status_code == 422
    wrong = client.post("/check", files={"file": ("a.pdf", b"%PDF-1.7 not really")})
    assert wrong.status_code == 422
    assert "a.pdf" in wrong.text
    # No folder of this machine is told.
    assert "neardup-" not in wrong.text


def test_a_file_takes_precedence_over_typed_text(client: httpx.Client) -> None:
    answer = client.post("/check", files={"text": (None, "typed"), "file": ("f.txt", b"brought")})
    assert "<h1><bdi" in answer.text
    assert "f.txt" in answer.text.split("<h1>")[1].split("</h1>")[0]


def test_two_texts_are_compared(client: httpx.Client) -> None:
    sides = {
        side: text_of(client, f"recipe-lentil{more}")
        for side, more in (("left", ""), ("right", "-blog"))
    }
    answer = client.post("/compare", files={side: (None, text) for side, text in sides.items()})
    assert answer.status_code == 200
    check_harmless(answer.text)
    found = client.get(f"/compare.json?{answer.url.query.decode()}").json()
    assert found["verdict"] == "near-duplicate"
    assert found["distance"] == len(found["differing_bits"])
    codes = [int(code, 16) for code in found["fingerprints"]]
    differing = f"{codes[0] ^ codes[1]:0{found['bits']}b}"
    assert [at for at, bit in enumerate(differing, 1) if bit == "1"] == found["differing_bits"]
    assert answer.text.count('class="bit"') + found["distance"] == found["bits"]
    assert answer.text.count('class="bit differs') == found["distance"]
    assert found["passages"]
    expected = differences(sides["left"], sides["right"])
    assert found["differences"]["numbers"] == [list(side) for side in expected.numbers]


def test_texts_without_a_fingerprint_have_no_strip(client: httpx.Client) -> None:
    answer = client.get("/compare?left=a&right=")
    assert 'class="bits"' not in answer.text
    for query in ("left=a&right=", "left=one+two+three&right=a", "left=a&right=one+two+three"):
        assert client.get(f"/compare.json?{query}").json()["differing_bits"] is None


def test_a_checked_text_can_be_added(serve: Callable[..., str]) -> None:
    with httpx.Client(base_url=serve(), follow_redirects=True) as client:
        text = "a text that nobody has seen before but that is going to be stored right now"
        form = {"text": text.replace(" ", "%20"), "new_id": "new=1 &?"}
        answer = client.post("/check/add", data=form)
        assert answer.status_code == 200
        assert "The text was added" in answer.text
        assert client.get("/v1/documents/new%3D1%20%26%3F").json()["text"] == text
        assert client.post("/check/add", data=form).status_code == 409
        assert client.post("/check/add", data={"text": "x", "new_id": ""}).status_code == 422
    with httpx.Client(base_url=serve(read_only=True), follow_redirects=True) as client:
        assert client.post("/check/add", data=form).status_code == 403
        assert "/check/add" not in client.get("/check?text=one+two+three").text
        assert client.post("/collection/marks", data={}).status_code == 403


def test_a_page_of_another_site_changes_nothing(client: httpx.Client) -> None:
    form = {"left": "recipe-lentil", "right": "recipe-lentil-blog", "verdict": "same"}
    for headers in (
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Origin": "null", "Sec-Fetch-Site": "cross-site"},
    ):
        assert client.post("/collection/marks", data=form, headers=headers).status_code == 403
        assert client.post("/check", data={"text": "a b"}, headers=headers).status_code == 403
    assert client.get("/collection.json").json()["marks"]["count"] == 0


def test_files_of_reports_are_served_and_no_other(client: httpx.Client) -> None:
    for name in ("style.css", "controls.css", "evidence.css", "page.js"):
        answer = client.get(f"/shared/{name}")
        assert answer.status_code == 200
        assert answer.text
    for name in ("page.html", "../shell.py", "..%2f..%2fpyproject.toml", "kinds.js"):
        assert client.get(f"/shared/{name}").status_code == 404


def test_json_pages_escape_nothing_and_are_not_sniffed(client: httpx.Client) -> None:
    answer = client.get("/check.json", params={"text": "<script>alert(1)</script> \u202e one two"})
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert json.loads(answer.text)["characters"] == 35


def test_a_missing_page_gives_404(client: httpx.Client) -> None:
    answer = client.get("/nowhere", headers={"Accept": "text/html", "Accept-Language": "zh"})
    assert answer.status_code == 404
    assert "没有这个页面" in answer.text
    check_harmless(answer.text)
    # Programs are told as by the API.
    assert client.get("/nowhere").headers["content-type"] == "application/problem+json"


def test_two_different_documents_can_be_marked(client: httpx.Client) -> None:
    for source, can in (("notice-harbour-web", True), ("notice-harbour", False)):
        page = client.get(f"/pair?id=notice-harbour&source={source}").text
        assert ('action="/collection/marks"' in page) == can


def test_members_of_a_cluster_are_shown_beside_its_representative(client: httpx.Client) -> None:
    first, second = client.get("/collection.json").json()["clusters"]["largest"][0]["members"][:2]
    group = client.get("/collection").text.split('<ol class="groups">')[1]
    links = re.findall('href="([^"]+)"', group)[:2]
    assert links == [f"/check?id={first}", f"/pair?id={first}&amp;source={second}"]
