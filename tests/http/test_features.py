"""Features of responses: what counts, and what is the same kind of answer."""

from __future__ import annotations

import multiprocessing
from functools import partial
from itertools import combinations
from typing import Any

import pytest

import neardup as nd
from helpers.made_captures import made
from neardup.http import features
from neardup.http.messages import Response
from neardup.http.views import ViewBuilder
from neardup.text.features import Feature
from neardup.text.features import features as features_of

HTTP = nd.Recipe.preset("http")
HTML = (("Server", "nginx/1.18.0"), ("Content-Type", "text/html"))


def page(body: str, status: int = 200, headers: Any = HTML, url: str = "http://a.b/c") -> Response:
    return Response(url=url, status=status, headers=headers, body=body.encode())


def alike(left: Response, right: Response) -> float:
    return nd.similarity(features(left), features(right), HTTP)


def test_features_of_a_response() -> None:
    response = page("<title>Hello</title><p class=lead>A line at 2026-11-17.</p>")
    found = {feature.token: feature for feature in features(response)}
    assert isinstance(found["status=200"], Feature)
    assert {"header=server=nginx", "title: hello", "path=p.lead", "line"} <= set(found)
    text = ViewBuilder(HTTP.viewing()).build_masked(response).text
    assert features(response) == features_of(text, HTTP)
    assert nd.fingerprint(features(response), HTTP) == nd.fingerprint(text, HTTP)
    assert list(nd.fingerprints([features(response)], HTTP)) == [nd.fingerprint(text, HTTP)]


def test_the_recipe_decides() -> None:
    response = page("<title>Hello</title><p>A line</p>")
    tokens = {feature.token for feature in features(response, "http-headers")}
    assert all(token.startswith(("status=", "header=")) for token in tokens)
    dated = page("<p>Made on 2026-11-17 by hand</p>")
    unmasked = nd.Recipe.preset("http-text", masks=[])
    assert "2026" in {feature.token for feature in features(dated, unmasked)}
    assert "2026" not in {feature.token for feature in features(dated, "http-text")}


def test_what_is_no_response() -> None:
    with pytest.raises(TypeError, match=r"response is of type str; pass a Response, such as neard"):
        features("GET /")  # type: ignore[arg-type]
    with pytest.raises(
        ValueError, match="has tokens 'words' and is not for HTTP responses; use one of"
    ):
        features(page(""), "default")


def test_tokens_with_weights_over_processes() -> None:
    """Many lists of weighted tokens, a process each time they are asked for."""
    lists = [[("asdfasdf", 2), ("asdfa", 1), (f"t{at}", at)] for at in range(20)]
    recipe = nd.Recipe.preset("weighted-tokens", bits=128)
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        found = pool.map(partial(nd.fingerprint, recipe=recipe), lists)
    assert found == list(nd.fingerprints(lists, recipe))


# ------------------------------------------------------------------------- what is the same kind

SHORT = {
    "default page": page("<html><body><h1>It works!</h1></body></html>"),
    "greeting": page("<html><body><h1>Hello from the build server</h1></body></html>"),
    "empty page": page("<html><body></body></html>"),
    "empty": page(""),
    "plain": page("User-agent: *\nDisallow: /private\n", headers=(("Content-Type", "text/plain"),)),
    "plain too": page("pong", headers=(("Content-Type", "text/plain"),)),
    "JSON": page('{"status": "up"}', headers=(("Content-Type", "application/json"),)),
    "JSON too": page('{"items": [], "total": 0}', headers=(("Content-Type", "application/json"),)),
    "not found": page("<html><body><h1>It works!</h1></body></html>", 404),
}


@pytest.mark.parametrize(("left", "right"), list(combinations(SHORT, 2)))
def test_short_answers_are_distinguished(left: str, right: str) -> None:
    assert alike(SHORT[left], SHORT[right]) < 0.85


def test_versions_paths_and_the_way_there_do_not_matter() -> None:
    def error(version: str, path: str, *more: tuple[str, str]) -> Response:
        body = (
            "<html><head><title>404 Not Found</title></head><body><h1>Not Found</h1>"
            f"<p>The requested URL {path} was not found on this server.</p><hr>"
            f"<address>Apache/{version} Server at shop.example Port 443</address></body></html>"
        )
        headers = (("Server", f"Apache/{version}"), ("Content-Type", "text/html"), *more)
        return page(body, 404, headers, f"https://shop.example{path}")

    one = error("2.4.41", "/admin.php", ("Connection", "close"), ("Date", "now"))
    two = error("2.4.58", "/backup/old.zip", ("Transfer-Encoding", "chunked"), ("Age", "3"))
    assert alike(one, two) > 0.95


def test_kinds_of_made_captures_are_found() -> None:
    """Two kinds in one cluster are worse than one in two: few pairs of strangers are alike."""
    found = made(7, count=500)
    views = ViewBuilder(HTTP.viewing()).build([one.response for one in found])[0].to_pylist()
    near = far = strangers = 0
    for left, right in combinations(range(0, len(found), 3), 2):
        reached = HTTP.pipeline.similarity(views[left], views[right]) >= 0.85
        if found[left].kind != found[right].kind:
            strangers += reached
        elif reached:
            near += 1
        else:
            far += 1
    assert strangers <= 0.05 * near
    assert near >= 0.85 * (near + far)


def test_volatile_headers_count_by_name_except_those_of_proxies() -> None:
    more = (("Date", "Tue, 17 Nov 2026 06:00:00 GMT"), ("Age", "17"), ("ETag", '"a1"'))
    found = {feature.token for feature in features(page("<p>A line</p>", headers=HTML + more))}
    headers = {token for token in found if token.startswith("header=")}
    assert "header=etag" in headers
    assert not [token for token in headers if token.startswith(("header=date", "header=age"))]
    assert not [token for token in headers if token.startswith("header=etag=")]


@pytest.mark.parametrize(
    ("count", "one_title", "other_titles"),
    [(3, 0.61, 0.51), (8, 0.78, 0.68), (12, 0.85, 0.75), (20, 0.91, 0.81), (36, 0.95, 0.85)],
)
def test_small_templates_are_distinguished_by_their_text(
    count: int, one_title: float, other_titles: float
) -> None:
    """The figures of docs/http.md: four elements, and so many more; no word in common."""

    def small(word: str, title: str) -> Response:
        rows = (
            f"<p class=c{row}>" + " ".join(f"{word}{row}x{at}" for at in range(12)) + "</p>"
            for row in range(count)
        )
        head = f"<html><head><title>{title}</title></head>"
        return page(f"{head}<body>{''.join(rows)}</body></html>")

    assert alike(small("so", "T"), small("if", "T")) == pytest.approx(one_title, abs=0.02)
    some, others = small("so", "Walnut pudding"), small("if", "Cherry soup of Ulm")
    assert alike(some, others) == pytest.approx(other_titles, abs=0.02)
