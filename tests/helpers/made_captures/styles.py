"""How frameworks write pages: class names of parts, elements of the head, headers of responses.

A style is what a framework is known by. Names are of the kind such frameworks give, not copies of
anybody's page.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from .volatile import Volatile
from .written import Headers, filler, headers_of


def _number(*parts: str) -> int:
    return int.from_bytes(hashlib.blake2b(" ".join(parts).encode(), digest_size=6).digest())


def _base36(*parts: str, length: int = 6) -> str:
    number, digits = _number(*parts), ""
    while len(digits) < length:
        number, rest = divmod(number, 36)
        digits += "0123456789abcdefghijklmnopqrstuvwxyz"[rest]
    return digits


def _one_of_many(number: int, names: Sequence[str]) -> str:
    return names[number % len(names)]


def _one_of(site: str, part: str, *names: str) -> str:
    return _one_of_many(_number(site, part), names)


_BOOTSTRAP = dict(
    line.split(": ")
    for line in """
header: navbar navbar-expand-lg navbar-light bg-light
nav: navbar-nav mr-auto
nav-item: nav-item
link: nav-link
main: container mt-4
card: card h-100
title: card-title
grid: row
cell: col-md-4 mb-4
side: col-lg-3 sidebar
button: btn btn-primary
form: form-horizontal
input: form-control
table: table table-striped
footer: footer bg-dark text-white py-4
pager: pagination justify-content-center
crumbs: breadcrumb
meta: text-muted small
price: badge badge-success
comment: media mb-3
avatar: rounded-circle
tag: badge badge-secondary
banner: jumbotron
""".strip().splitlines()
)
_TAILWIND = """
flex grid block inline-flex items-center justify-between gap-2 gap-4 p-2 p-4 px-6 py-3 mt-2 mt-8
mb-4 mx-auto w-full max-w-7xl rounded-lg rounded shadow-sm border bg-white bg-gray-50 text-sm
text-lg text-gray-500 text-gray-900 font-medium font-bold leading-6 tracking-tight hover:underline
md:grid-cols-3 lg:px-8 sm:flex dark:bg-slate-800 space-y-4 overflow-hidden
"""
_SHORT = ("bm cl", "z", "y xg1", "tb", "pl bm", "fl_tb", "xs2")
# The class attribute of a part of a page of a site; "" for none.
_CLASSES: dict[str, Callable[[str, str], str]] = {
    "bootstrap": lambda s, p: _BOOTSTRAP.get(p, f"{p}-block"),
    "tailwind": lambda s, p: " ".join(
        _one_of_many(_number(s, p) >> 5 * at, _TAILWIND.split()) for at in range(5)
    ),
    "bem": lambda s, p: f"{s[:3]}-{p} {s[:3]}-{p}--{_one_of(s, p, 'wide', 'dark')}",
    "modules": lambda s, p: f"{p}_{p}__{_base36(s, p, length=5)}",
    "emotion": lambda s, p: f"css-{_base36(s, p)}",
    "styled": lambda s, p: f"sc-{_base36(s, p, '1', length=8)}-0 {s[:4]}-{p}",
    "blocks": lambda s, p: _one_of(s, p, f"wp-{p}", f"wp-block-{p} entry-{p}"),
    "regions": lambda s, p: (
        f"region region-{p} block-{s[:4]}" if len(p) > 4 else f"views-{p} field"
    ),
    "ant": lambda s, p: f"ant-{p} ant-{p}-{_one_of(s, p, 'default', 'bordered')}",
    "element": lambda s, p: f"el-{p} is-{_one_of(s, p, 'always', 'hover', 'hover')}-shadow",
    "short": lambda s, p: _one_of(s, p, *_SHORT),
    "skin": lambda s, p: f"mw-{p} vector-{p}",
    "material": lambda s, p: f"mat-{p} mat-elevation-z{_number(s, p) % 5}",
    "docs": lambda s, p: f"md-{p} md-{p}__inner",
    "plain": lambda s, p: "",
}
# The name of a style, the files its head names, and its headers. Styles of _TABLES lay out pages
# by tables.
_TABLES = ("short", "plain")
_STYLES = """
bootstrap /static/css/bootstrap.min.css?v={hex8} /static/js/app.js?ver={seconds}
Server: nginx/1.22.1
X-Powered-By: PHP/8.1.2
Set-Cookie: PHPSESSID={hex32}; path=/; HttpOnly
Cache-Control: no-store, no-cache, must-revalidate
Pragma: no-cache

tailwind /build/assets/app-{hex8}.css /build/assets/app-{hex8}.js
Server: nginx
Cache-Control: no-cache, private
Set-Cookie: XSRF-TOKEN={url_token}; expires={later}; Max-Age=7200; path=/; samesite=lax
Set-Cookie: {site}_session={url_token}; expires={later}; Max-Age=7200; path=/; httponly
X-Frame-Options: SAMEORIGIN

bem /assets/{site}.{hex8}.css /assets/vendor.{hex8}.js /assets/main.{hex8}.js
Server: Apache/2.4.57 (Debian)
Vary: Accept-Encoding
X-Content-Type-Options: nosniff
Last-Modified: {date}
ETag: "{hex16}"

modules /_next/static/css/{hex8}.css /_next/static/chunks/main-{hex8}.js
Server: Vercel
X-Powered-By: Next.js
X-Vercel-Cache: HIT
X-Vercel-Id: fra1::{url_token}
Strict-Transport-Security: max-age=63072000
ETag: W/"{hex16}"

emotion /static/js/runtime.{hex8}.js /static/js/main.{hex8}.chunk.js
Server: cloudflare
CF-RAY: {hex16}-FRA
CF-Cache-Status: DYNAMIC
Alt-Svc: h3=":443"; ma=86400
X-Request-Id: {uuid}
Content-Security-Policy: script-src 'self' 'nonce-{nonce}'

styled /client/{hex8}.js /client/vendors~{hex8}.js
Server: envoy
X-Envoy-Upstream-Service-Time: {age}
X-B3-TraceId: {hex32}
Vary: Accept-Encoding, Accept-Language
Cache-Control: private, max-age=0

blocks /wp-content/themes/{site}/style.css?ver=6.4.2 /wp-includes/js/a.js?ver={seconds}
Server: LiteSpeed
X-Powered-By: PHP/8.2.14
Link: <https://{site}.example/wp-json/>; rel="https://api.w.org/"
X-LiteSpeed-Cache: hit

regions /sites/default/files/css/css_{hex8}.css?delta=0 /core/misc/drupal.js?v={hex8}
Server: Apache
X-Generator: Drupal 10
X-Drupal-Cache: HIT
Content-Language: en
X-UA-Compatible: IE=edge
Expires: {date}

ant /umi.{hex8}.css /umi.{hex8}.js
Server: Tengine
Timing-Allow-Origin: *
EagleId: {hex32}
Via: cache12.l2cn1800[{age},0], kunlun5.cn3129[{age},1]
X-Swift-SaveTime: {date}

element /css/chunk-vendors.{hex8}.css /js/chunk-vendors.{hex8}.js /js/app.{hex8}.js
Server: openresty/1.21.4.1
X-Cache-Lookup: Cache Miss
X-NWS-LOG-UUID: {uuid}
Access-Control-Allow-Origin: *

short data/cache/style_1_common.css?{hex8} static/js/common.js?{hex8}
Server: Microsoft-IIS/8.5
X-Powered-By: ASP.NET
Set-Cookie: ASP.NET_SessionId={url_token}; path=/; HttpOnly
X-AspNet-Version: 4.0.30319

skin /w/load.php?lang=en&modules=site&version={hex8}
Server: mw1372.example
X-Cache: cp3060 hit/{age}
Age: {age}
Server-Timing: cache;desc="hit-front", host;desc="cp3060"
X-Client-IP: 203.0.113.9

material /styles.{hex8}.css /runtime.{hex8}.js /polyfills.{hex8}.js /main.{hex8}.js
Server: Google Frontend
X-Cloud-Trace-Context: {hex32};o=1
Cache-Control: public, max-age=600
Expires: {later}

docs /assets/stylesheets/main.{hex8}.min.css /assets/javascripts/bundle.{hex8}.min.js
Server: GitHub.com
X-GitHub-Request-Id: {hex16}
X-Served-By: cache-fra-eddf8230{age}-FRA
X-Timer: S{seconds}.{age},VS0,VE1
X-Fastly-Request-ID: {hex32}
Permissions-Policy: interest-cohort=()

plain /favicon.ico?{hex4}
Server: Apache/1.3.42 (Unix)
Last-Modified: {date}
ETag: "{hex16}"
"""
_ELEMENTS = {
    "js": '<script src="{}" defer></script>',
    "ico": '<link rel="shortcut icon" href="{}">',
}


@dataclass(frozen=True)
class Style:
    """A style by its name, the files and the header lines of its pages."""

    name: str
    files: tuple[str, ...]
    lines: tuple[str, ...]

    @property
    def tables(self) -> bool:
        return self.name in _TABLES

    def classes(self, site: str, part: str) -> str:
        return _CLASSES[self.name](site, part)

    def head(self, site: str, volatile: Volatile) -> str:
        """Return the elements that name files."""
        written = []
        for file in self.files:
            address = filler(volatile, "", "", {"site": site})(file)
            end = address.partition("?")[0].rpartition(".")[2]
            written.append(_ELEMENTS.get(end, '<link rel="stylesheet" href="{}">').format(address))
        return "".join(written)

    def headers(self, site: str, volatile: Volatile) -> Headers:
        found: Headers = []
        for line in self.lines:
            found += headers_of([line], filler(volatile, "", "", {"site": site}))
        return found


def _style(written: str) -> Style:
    first, *lines = written.strip().splitlines()
    name, *files = first.split()
    return Style(name, tuple(files), tuple(lines))


STYLES = {style.name: style for style in map(_style, _STYLES.split("\n\n"))}
