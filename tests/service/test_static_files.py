"""Static files: caching, methods, and nothing but the listed files."""

from __future__ import annotations

import httpx


def test_a_file_is_revalidated_by_its_etag(served: str) -> None:
    url = f"{served}/static/check.js"
    first = httpx.get(url)
    tag = first.headers["etag"]
    assert (first.status_code, first.headers["cache-control"]) == (200, "no-cache")
    assert first.headers["content-type"] == "text/javascript; charset=utf-8"
    for known, status in ((tag, 304), (f'"other", W/{tag}', 304), ('"other"', 200)):
        again = httpx.get(url, headers={"If-None-Match": known})
        assert (again.status_code, again.headers["etag"]) == (status, tag)
        assert again.content == (b"" if status == 304 else first.content)


def test_other_methods_and_paths_are_refused(served: str) -> None:
    refused = httpx.post(f"{served}/static/check.js")
    assert (refused.status_code, refused.headers["allow"]) == (405, "GET, HEAD")
    for path in (
        "/static/nothing.js",
        "/static/",
        "/static/../sample.jsonl",
        "/shared/nothing.css",
    ):
        assert httpx.get(served + path).status_code == 404
    shared = httpx.get(f"{served}/shared/page.js")
    assert shared.headers["content-type"].startswith("text/javascript")
