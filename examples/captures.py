"""Write crawl.warc: a small capture of 120 HTTP responses of 12 kinds.

    python examples/captures.py [FILE.warc]

Every run writes the same bytes. Names, numbers and texts are invented.
"""

from __future__ import annotations

import datetime
import html
import json
import sys
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

WORDS = """
amber anchor apple autumn basket bridge candle canyon cedar copper cotton ember fern glass harbour
hazel island ivory kettle lantern linen maple marble meadow mirror ocean olive orchard pepper pine
ribbon river saddle silver stone summer timber valley velvet walnut willow winter
""".split()  # noqa: SIM905
NOW = datetime.datetime(2026, 11, 17, 4, 0, tzinfo=datetime.UTC)
Response = tuple[int, list[tuple[str, str]], str]


class Draw:
    """Random values that differ between two responses of a kind."""

    def __init__(self, seed: str) -> None:
        self.random = Random(seed)
        self.time = NOW - datetime.timedelta(seconds=self.random.randrange(10**6))
        self.path = f"/{self.word()}/{self.word()}-{self.random.randint(100, 9999)}"
        self.host = f"{self.word()}{self.random.randint(1, 99)}.example.net"

    def word(self) -> str:
        return self.random.choice(WORDS)

    def words(self, least: int, most: int) -> str:
        return " ".join(self.word() for _ in range(self.random.randint(least, most)))

    def hex(self, length: int) -> str:
        return "".join(self.random.choices("0123456789abcdef", k=length))

    def uuid(self) -> str:
        return str(uuid.UUID(bytes=self.random.randbytes(16), version=4))

    def ip(self) -> str:
        return ".".join(str(self.random.randint(1, 254)) for _ in range(4))


def nginx(status: int, reason: str) -> Callable[[Draw], Response]:
    def response(draw: Draw) -> Response:
        server = f"nginx/{draw.random.choice(('1.18.0', '1.22.1', '1.25.3'))}"
        body = (
            f"<html><head><title>{status} {reason}</title></head><body><center>"
            f"<h1>{status} {reason}</h1></center><hr><center>{server}</center></body></html>"
        )
        return status, [("Server", server), ("Content-Type", "text/html")], body

    return response


def shop(title: str, main: str) -> str:
    menu = "".join(f'<li class="menu-item"><a href="/{x}">{x}</a></li>' for x in WORDS[:8])
    return (
        f'<!DOCTYPE html><html lang="en"><head><title>{title} | Oak Market</title></head><body>'
        f'<header class="top"><ul class="menu">{menu}</ul></header><main class="page">{main}</main>'
        '<footer class="foot"><p>Oak Market, timber and tools since 1987</p></footer></body></html>'
    )


def product(draw: Draw) -> Response:
    draw.host = "shop.example.com"
    name = draw.words(2, 4).title()
    reviews = "".join(
        f'<div class="review"><b class="stars">{draw.random.randint(1, 5)} of 5</b>'
        f'<p class="review-text">{draw.words(8, 20)}.</p></div>'
        for _ in range(draw.random.randint(2, 6))
    )
    main = (
        f'<h1 class="name">{name}</h1><div class="gallery">'
        f'<img class="shot" src="/{draw.hex(8)}.jpg"></div>'
        f'<span class="price">€ {draw.random.randint(3, 400)}.50</span><form class="buy">'
        f'<input type="hidden" name="csrf" value="{draw.hex(40)}"><button class="add">Add to basket'
        f'</button></form><div class="about"><h2>Description</h2><p>{draw.words(20, 60)}.</p></div>'
        f'<section class="reviews"><h2>Reviews</h2>{reviews}</section>'
    )
    headers = [
        ("Server", "Apache"),
        ("Content-Type", "text/html; charset=utf-8"),
        ("Set-Cookie", f"session={draw.hex(32)}; Path=/; HttpOnly"),
    ]
    return 200, headers, shop(name, main)


def soft_not_found(draw: Draw) -> Response:
    """Return a soft 404: a page that says "not found" with status 200."""
    draw.host = "shop.example.com"
    main = (
        '<div class="lost"><h1>Page not found</h1><p>Sorry, there is nothing at '
        f"{html.escape(draw.path)}.</p></div>"
    )
    headers = [
        ("Server", "Apache"),
        ("Content-Type", "text/html; charset=utf-8"),
        ("Set-Cookie", f"session={draw.hex(32)}; Path=/; HttpOnly"),
    ]
    return 200, headers, shop("Page not found", main)


def orders(draw: Draw) -> Response:
    draw.host = "api.example.com"
    rows = [
        {"id": draw.uuid(), "item": draw.words(1, 3), "total": draw.random.randint(1, 900)}
        for _ in range(draw.random.randint(1, 12))
    ]
    body = json.dumps({"orders": rows, "page": {"size": len(rows), "next": draw.hex(24)}})
    headers = [("Content-Type", "application/json"), ("X-Request-Id", draw.uuid())]
    return 200, headers, body


def expired(draw: Draw) -> Response:
    draw.host = "api.example.com"
    error = {"code": "token_expired", "message": "Sign in again, please", "trace": draw.hex(32)}
    headers = [("Content-Type", "application/json"), ("X-Request-Id", draw.uuid())]
    return 401, headers, json.dumps({"error": error})


def blocked(draw: Draw) -> Response:
    body = (
        "<!DOCTYPE html><html><head><title>Attention Required!</title></head><body>"
        '<div class="notice"><h1>Sorry, you have been blocked</h1><h2>You are unable to access '
        f"{draw.host}</h2><p>Ray ID: <strong>{draw.hex(16)}</strong></p><p>Your IP: {draw.ip()}</p>"
        "</div></body></html>"
    )
    headers = [
        ("Server", "cloudflare"),
        ("CF-RAY", f"{draw.hex(16)}-FRA"),
        ("Content-Type", "text/html; charset=UTF-8"),
    ]
    return 403, headers, body


def captcha(draw: Draw) -> Response:
    body = (
        '<!DOCTYPE html><html lang="zh"><head><meta charset="utf-8"><title>安全验证</title></head>'
        '<body><div class="panel"><h1>访问过于频繁</h1><p>请输入验证码后继续访问</p>'
        f'<img src="/captcha?t={int(draw.time.timestamp())}"><p>时间：{draw.time:%Y-%m-%d %H:%M:%S}'
        f"</p><p>编号：{draw.uuid()}</p></div></body></html>"
    )
    headers = [("Server", "Tengine"), ("Content-Type", "text/html; charset=utf-8")]
    return 200, headers, body


def login(draw: Draw) -> Response:
    body = (
        "<!DOCTYPE html><html><head><title>Gitbarn: Sign in</title></head><body>"
        f'<div class="box"><h1>Gitbarn</h1><form action="/login?next={draw.path}">'
        f'<input type="hidden" name="token" value="{draw.hex(64)}"><label>User</label><input>'
        '<label>Password</label><input type="password"><button class="go">Sign in</button>'
        "</form></div></body></html>"
    )
    headers = [
        ("Server", "nginx"),
        ("Content-Type", "text/html; charset=utf-8"),
        ("Set-Cookie", f"gitbarn={draw.hex(16)}; HttpOnly"),
    ]
    return 200, headers, body


def listing(draw: Draw) -> Response:
    names = sorted(f"{draw.word()}-{draw.random.randint(1, 9)}.zip" for _ in range(9))
    rows = "".join(
        f'<tr><td><a href="{name}">{name}</a></td><td>{draw.time:%Y-%m-%d %H:%M}</td>'
        f"<td>{draw.random.randint(1, 900)}K</td></tr>"
        for name in names
    )
    body = (
        f"<html><head><title>Index of {draw.path}</title></head><body><h1>Index of {draw.path}</h1>"
        "<table><tr><th>Name</th><th>Last modified</th><th>Size</th></tr>"
        f"{rows}</table></body></html>"
    )
    return 200, [("Server", "Apache/2.4.58"), ("Content-Type", "text/html;charset=UTF-8")], body


def redirect(draw: Draw) -> Response:
    return 301, [("Server", "awselb/2.0"), ("Location", f"https://{draw.host}:443{draw.path}")], ""


def console(draw: Draw) -> Response:
    """Return an exposed admin console: the response to find."""
    draw.host = "build7.example.net"
    jobs = "".join(f'<tr class="job"><td>{x}</td><td>failed</td></tr>' for x in WORDS[20:26])
    body = (
        "<html><head><title>Build console</title></head><body class='admin'><h1>Script console</h1>"
        "<p>Type in a script and run it on the server.</p><textarea></textarea>"
        f'<button>Run</button><table class="jobs">{jobs}</table></body></html>'
    )
    headers = [("Server", "Jetty(9.4.43)"), ("X-Console", "enabled"), ("Content-Type", "text/html")]
    return 200, headers, body


KINDS: tuple[tuple[Callable[[Draw], Response], int], ...] = (
    (nginx(404, "Not Found"), 31),
    (product, 24),
    (blocked, 15),
    (orders, 12),
    (nginx(403, "Forbidden"), 9),
    (login, 8),
    (redirect, 7),
    (soft_not_found, 5),
    (captcha, 4),
    (expired, 2),
    (listing, 2),
    (console, 1),
)


def records() -> Iterator[bytes]:
    responses = [(make, at) for make, count in KINDS for at in range(count)]
    Random(14).shuffle(responses)
    for number, (make, _) in enumerate(responses):
        draw = Draw(f"capture {number}")
        status, headers, body = make(draw)
        data = body.encode()
        headers = [("Date", f"{draw.time:%a, %d %b %Y %H:%M:%S} GMT"), *headers]
        lines = [f"HTTP/1.1 {status} -", *(f"{name}: {value}" for name, value in headers)]
        message = "\r\n".join([*lines, f"Content-Length: {len(data)}", "", ""]).encode() + data
        fields = (
            "WARC/1.1",
            "WARC-Type: response",
            f"WARC-Record-ID: <urn:uuid:{draw.uuid()}>",
            f"WARC-Date: {draw.time:%Y-%m-%dT%H:%M:%SZ}",
            f"WARC-Target-URI: http://{draw.host}{draw.path}",
            f"WARC-IP-Address: {draw.ip()}",
            "Content-Type: application/http;msgtype=response",
            f"Content-Length: {len(message)}",
        )
        yield "\r\n".join([*fields, "", ""]).encode() + message + b"\r\n\r\n"


def main() -> None:
    path = Path(sys.argv[1] if len(sys.argv) > 1 else "crawl.warc")
    path.write_bytes(b"".join(records()))
    print(f"{path.name}: {sum(count for _, count in KINDS)} responses of {len(KINDS)} kinds")


if __name__ == "__main__":
    main()
