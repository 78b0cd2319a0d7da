"""Captures of HTTP responses for tests: a few kinds of page, as httpx writes them."""

import json
from pathlib import Path
from typing import Any

NGINX = """<html><head><title>{0}</title></head><body><center><h1>{0}</h1></center>
<hr><center>nginx/1.18.0</center></body></html>"""
SHOP = """<html><head><title>Shop</title><meta name="csrf" content="{token}"></head><body>
<div class="menu"><a href="/">Home</a><a href="/cart">Cart</a></div>
<div class="main"><h1>Garden chairs</h1><p>Solid oak, oiled by hand, and made to last for years.</p>
<p>Delivered within a week to every town in the country, free from a hundred on.</p></div>
<div class="foot"><p>Generated {date} in 0.0{n} seconds</p></div></body></html>"""
BLOG = """<html><head><title>Notes on bees</title></head><body><article class="post">
<h1>Notes on bees</h1><p>The hive wakes when the willow flowers, and not a day before.</p>
<p>We counted forty of them on one branch, each with its yellow trousers on.</p></article>
<aside><ul><li>About</li><li>Archive</li></ul></aside></body></html>"""


def line(
    url: str,
    body: str = "",
    *,
    status: int = 200,
    server: str = "nginx",
    kind: str = "text/html",
    **more: Any,
) -> dict[str, Any]:
    """Return a result of httpx -json -irr."""
    host = url.split("/")[2]
    return {
        "timestamp": "2026-11-17T04:25:49Z",
        "url": url,
        "input": host,
        "host": host,
        "host_ip": "192.0.2.7",
        "status_code": status,
        "webserver": server,
        "content_type": kind,
        "raw_header": f"HTTP/1.1 {status} X\r\nServer: {server}\r\nContent-Type: {kind}\r\n"
        "Date: Tue, 17 Nov 2026 04:25:49 GMT\r\n\r\n",
        "body": body,
        **more,
    }


def not_found(n: int) -> dict[str, Any]:
    return line(f"https://h{n % 3}.test/x{n}", NGINX.format("404 Not Found"), status=404)


def shop(n: int) -> dict[str, Any]:
    token, date = f"{n:032x}", f"2026-11-{n % 28 + 1:02} 10:{n % 60:02}:00"
    page = SHOP.format(token=token, date=date, n=n % 90 + 10)
    return line(f"https://shop.test/item/{n}", page, server="Apache")


def blog() -> dict[str, Any]:
    return line("https://bees.test/", BLOG, server="Caddy")


def api(n: int) -> dict[str, Any]:
    body = json.dumps({"error": {"code": 40000 + n, "message": "no such user here"}})
    return line(f"https://api.test/u/{n}", body, status=404, kind="application/json")


def empty(n: int) -> dict[str, Any]:
    return line(f"https://e{n}.test/", "", status=204, kind="")


def write(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_bytes(b"".join(json.dumps(row).encode() + b"\n" for row in rows))
    return path


def mixed() -> list[dict[str, Any]]:
    """Five kinds: six of nginx's not-found page, five of a shop, three of an API, two empty, and a
    page of its own."""
    rows = [not_found(n) for n in range(6)] + [shop(n) for n in range(5)]
    return rows + [api(n) for n in range(3)] + [empty(n) for n in range(2)] + [blog()]


KINDS = [6, 5, 3, 2, 1]
