"""How frameworks write pages: class names of parts, elements of the head, headers of answers.

A style is what a framework is known by. `classes` gives the class attribute of a part of a page;
"" for none. Names are of the kind such frameworks give, not copies of anybody's page.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass

from .volatile import Volatile
from .written import Headers


@dataclass(frozen=True)
class Style:
    """name, classes(site, part), head(site, volatile), headers(site, volatile)."""

    name: str
    classes: Callable[[str, str], str]
    head: Callable[[str, Volatile], str]
    headers: Callable[[str, Volatile], Headers]
    tables: bool = False


def _number(*parts: str) -> int:
    return int.from_bytes(hashlib.blake2b(" ".join(parts).encode(), digest_size=6).digest())


def _base36(*parts: str, length: int = 6) -> str:
    number, digits = _number(*parts), ""
    while len(digits) < length:
        number, rest = divmod(number, 36)
        digits += "0123456789abcdefghijklmnopqrstuvwxyz"[rest]
    return digits


_BOOTSTRAP = {
    "header": "navbar navbar-expand-lg navbar-light bg-light",
    "nav": "navbar-nav mr-auto",
    "nav-item": "nav-item",
    "link": "nav-link",
    "main": "container mt-4",
    "card": "card h-100",
    "title": "card-title",
    "grid": "row",
    "cell": "col-md-4 mb-4",
    "side": "col-lg-3 sidebar",
    "button": "btn btn-primary",
    "form": "form-horizontal",
    "input": "form-control",
    "table": "table table-striped",
    "footer": "footer bg-dark text-white py-4",
    "pager": "pagination justify-content-center",
    "crumbs": "breadcrumb",
    "meta": "text-muted small",
    "price": "badge badge-success",
    "comment": "media mb-3",
    "avatar": "rounded-circle",
    "tag": "badge badge-secondary",
    "banner": "jumbotron",
}
_TAILWIND = """
flex grid block inline-flex items-center justify-between gap-2 gap-4 p-2 p-4 px-6 py-3 mt-2 mt-8
mb-4 mx-auto w-full max-w-7xl rounded-lg rounded shadow-sm border bg-white bg-gray-50 text-sm
text-lg text-gray-500 text-gray-900 font-medium font-bold leading-6 tracking-tight hover:underline
md:grid-cols-3 lg:px-8 sm:flex dark:bg-slate-800 space-y-4 overflow-hidden
"""


def _bootstrap(site: str, part: str) -> str:
    return _BOOTSTRAP.get(part, f"{part}-block")


def _tailwind(site: str, part: str) -> str:
    number = _number(site, part)
    names = _TAILWIND.split()
    return " ".join(names[(number >> 5 * at) % len(names)] for at in range(5))


def _bem(site: str, part: str) -> str:
    block = site[:3]
    return f"{block}-{part} {block}-{part}--{'dark' if _number(site, part) % 2 else 'wide'}"


def _modules(site: str, part: str) -> str:
    return f"{part}_{part}__{_base36(site, part, length=5)}"


def _emotion(site: str, part: str) -> str:
    return f"css-{_base36(site, part)}"


def _styled(site: str, part: str) -> str:
    return f"sc-{_base36(site, part, '1', length=8)}-0 {site[:4]}-{part}"


def _blocks(site: str, part: str) -> str:
    return f"wp-block-{part} entry-{part}" if _number(site, part) % 2 else f"wp-{part}"


def _regions(site: str, part: str) -> str:
    return f"region region-{part} block-{site[:4]}" if len(part) > 4 else f"views-{part} field"


def _ant(site: str, part: str) -> str:
    return f"ant-{part} ant-{part}-{'bordered' if _number(site, part) % 2 else 'default'}"


def _element(site: str, part: str) -> str:
    return f"el-{part} is-{'hover' if _number(site, part) % 3 else 'always'}-shadow"


def _short(site: str, part: str) -> str:
    return ("bm cl", "z", "y xg1", "tb", "pl bm", "fl_tb", "xs2")[_number(site, part) % 7]


def _skin(site: str, part: str) -> str:
    return f"mw-{part} vector-{part}"


def _material(site: str, part: str) -> str:
    return f"mat-{part} mat-elevation-z{_number(site, part) % 5}"


def _docs(site: str, part: str) -> str:
    return f"md-{part} md-{part}__inner"


def _none(site: str, part: str) -> str:
    return ""


def _links(*paths: str) -> Callable[[str, Volatile], str]:
    """A head that names these files; {v} is a number that changes with every delivery."""

    def head(site: str, volatile: Volatile) -> str:
        written = []
        for path in paths:
            name = path.format(v=volatile.hex(8), t=volatile.seconds(), site=site)
            if name.partition("?")[0].endswith(".js"):
                written.append(f'<script src="{name}" defer></script>')
            else:
                written.append(f'<link rel="stylesheet" href="{name}">')
        return "".join(written)

    return head


def _server(*lines: str) -> Callable[[str, Volatile], Headers]:
    """Headers written "Name: value"; {x} is a volatile part."""

    def headers(site: str, volatile: Volatile) -> Headers:
        made = []
        for line in lines:
            name, _, value = line.partition(": ")
            for part, text in (
                ("{hex}", volatile.hex(16)),
                ("{hex32}", volatile.hex(32)),
                ("{uuid}", volatile.uuid()),
                ("{nonce}", volatile.token(16)),
                ("{token}", volatile.url_token()),
                ("{age}", str(volatile.random.randrange(4000))),
                ("{ms}", volatile.duration()),
                ("{seconds}", volatile.seconds()),
                ("{date}", volatile.http_date()),
                ("{later}", volatile.http_date(1)),
                ("{site}", site),
            ):
                value = value.replace(part, text)
            made.append((name, value))
        return made

    return headers


_STYLES = (
    Style(
        "bootstrap",
        _bootstrap,
        _links("/static/css/bootstrap.min.css?v={v}", "/static/js/app.js?ver={t}"),
        _server(
            "Server: nginx/1.22.1",
            "X-Powered-By: PHP/8.1.2",
            "Set-Cookie: PHPSESSID={hex32}; path=/; HttpOnly",
            "Cache-Control: no-store, no-cache, must-revalidate",
            "Pragma: no-cache",
        ),
    ),
    Style(
        "tailwind",
        _tailwind,
        _links("/build/assets/app-{v}.css", "/build/assets/app-{v}.js"),
        _server(
            "Server: nginx",
            "Cache-Control: no-cache, private",
            "Set-Cookie: XSRF-TOKEN={token}; expires={later}; Max-Age=7200; path=/; samesite=lax",
            "Set-Cookie: {site}_session={token}; expires={later}; Max-Age=7200; path=/; httponly",
            "X-Frame-Options: SAMEORIGIN",
        ),
    ),
    Style(
        "bem",
        _bem,
        _links("/assets/{site}.{v}.css", "/assets/vendor.{v}.js", "/assets/main.{v}.js"),
        _server(
            "Server: Apache/2.4.57 (Debian)",
            "Vary: Accept-Encoding",
            "X-Content-Type-Options: nosniff",
            "Last-Modified: {date}",
            'ETag: "{hex}"',
        ),
    ),
    Style(
        "modules",
        _modules,
        _links("/_next/static/css/{v}.css", "/_next/static/chunks/main-{v}.js"),
        _server(
            "Server: Vercel",
            "X-Powered-By: Next.js",
            "X-Vercel-Cache: HIT",
            "X-Vercel-Id: fra1::{token}",
            "Strict-Transport-Security: max-age=63072000",
            'ETag: W/"{hex}"',
        ),
    ),
    Style(
        "emotion",
        _emotion,
        _links("/static/js/runtime.{v}.js", "/static/js/main.{v}.chunk.js"),
        _server(
            "Server: cloudflare",
            "CF-RAY: {hex}-FRA",
            "CF-Cache-Status: DYNAMIC",
            'Alt-Svc: h3=":443"; ma=86400',
            "X-Request-Id: {uuid}",
            "Content-Security-Policy: script-src 'self' 'nonce-{nonce}'",
        ),
    ),
    Style(
        "styled",
        _styled,
        _links("/client/{v}.js", "/client/vendors~{v}.js"),
        _server(
            "Server: envoy",
            "X-Envoy-Upstream-Service-Time: {age}",
            "X-B3-TraceId: {hex32}",
            "Vary: Accept-Encoding, Accept-Language",
            "Cache-Control: private, max-age=0",
        ),
    ),
    Style(
        "blocks",
        _blocks,
        _links("/wp-content/themes/{site}/style.css?ver=6.4.2", "/wp-includes/js/a.js?ver={t}"),
        _server(
            "Server: LiteSpeed",
            "X-Powered-By: PHP/8.2.14",
            'Link: <https://{site}.example/wp-json/>; rel="https://api.w.org/"',
            "X-LiteSpeed-Cache: hit",
        ),
    ),
    Style(
        "regions",
        _regions,
        _links("/sites/default/files/css/css_{v}.css?delta=0", "/core/misc/drupal.js?v={v}"),
        _server(
            "Server: Apache",
            "X-Generator: Drupal 10",
            "X-Drupal-Cache: HIT",
            "Content-Language: en",
            "X-UA-Compatible: IE=edge",
            "Expires: {date}",
        ),
    ),
    Style(
        "ant",
        _ant,
        _links("/umi.{v}.css", "/umi.{v}.js"),
        _server(
            "Server: Tengine",
            "Timing-Allow-Origin: *",
            "EagleId: {hex32}",
            "Via: cache12.l2cn1800[{age},0], kunlun5.cn3129[{age},1]",
            "X-Swift-SaveTime: {date}",
        ),
    ),
    Style(
        "element",
        _element,
        _links("/css/chunk-vendors.{v}.css", "/js/chunk-vendors.{v}.js", "/js/app.{v}.js"),
        _server(
            "Server: openresty/1.21.4.1",
            "X-Cache-Lookup: Cache Miss",
            "X-NWS-LOG-UUID: {uuid}",
            "Access-Control-Allow-Origin: *",
        ),
    ),
    Style(
        "short",
        _short,
        _links("data/cache/style_1_common.css?{v}", "static/js/common.js?{v}"),
        _server(
            "Server: Microsoft-IIS/8.5",
            "X-Powered-By: ASP.NET",
            "Set-Cookie: ASP.NET_SessionId={token}; path=/; HttpOnly",
            "X-AspNet-Version: 4.0.30319",
        ),
        tables=True,
    ),
    Style(
        "skin",
        _skin,
        _links("/w/load.php?lang=en&modules=site&version={v}"),
        _server(
            "Server: mw1372.example",
            "X-Cache: cp3060 hit/{age}",
            "Age: {age}",
            'Server-Timing: cache;desc="hit-front", host;desc="cp3060"',
            "X-Client-IP: 203.0.113.9",
        ),
    ),
    Style(
        "material",
        _material,
        _links("/styles.{v}.css", "/runtime.{v}.js", "/polyfills.{v}.js", "/main.{v}.js"),
        _server(
            "Server: Google Frontend",
            "X-Cloud-Trace-Context: {hex32};o=1",
            "Cache-Control: public, max-age=600",
            "Expires: {later}",
        ),
    ),
    Style(
        "docs",
        _docs,
        _links("/assets/stylesheets/main.{v}.min.css", "/assets/javascripts/bundle.{v}.min.js"),
        _server(
            "Server: GitHub.com",
            "X-GitHub-Request-Id: {hex}",
            "X-Served-By: cache-fra-eddf8230{age}-FRA",
            "X-Timer: S{seconds}.{age},VS0,VE1",
            "X-Fastly-Request-ID: {hex32}",
            "Permissions-Policy: interest-cohort=()",
        ),
    ),
    Style(
        "plain",
        _none,
        lambda site, volatile: f'<link rel="shortcut icon" href="/favicon.ico?{volatile.hex(4)}">',
        _server("Server: Apache/1.3.42 (Unix)", "Last-Modified: {date}", 'ETag: "{hex}"'),
        tables=True,
    ),
)
STYLES = {style.name: style for style in _STYLES}
