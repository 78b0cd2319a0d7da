"""What servers answer by themselves: errors, listings, default pages, redirects, nothing, files.

The same page of the same product is one kind, whatever its version, host and path.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from http.client import responses
from random import Random

from .volatile import Volatile
from .words import LANGUAGES
from .written import UTF8, Headers, Maker, Words, Written, filler, headers_of, page, template

_EN = LANGUAGES["en"]
_REASONS = {**responses, 504: "Gateway Time-out"}
_NGINX_VERSIONS = "1.14.0 (Ubuntu)|1.18.0|1.20.2|1.22.1|1.24.0|1.25.3"
_APACHE_VERSIONS = "2.4.6 (CentOS)|2.4.29 (Ubuntu)|2.4.41 (Ubuntu)|2.4.57 (Debian)|2.4.58"
# What an administrator switches on, whatever the server.
_EXTRAS = (
    ("X-Frame-Options", "SAMEORIGIN"),
    ("X-Content-Type-Options", "nosniff"),
    ("Strict-Transport-Security", "max-age=31536000"),
)
# Of the binary ones the file holds Latin-1 of the bytes; `make` turns it back.
BINARY = ("image/", "application/pdf", "application/zip", "font/", "video/")


@dataclass(frozen=True)
class _Page:
    """A page of a product; `product(404, says="…")` is a maker of it.

    server    the header, or "" for none
    versions  what {version} is, divided by |
    some      a further header and the share of responses that have it
    drawn     draws further words, before all others
    """

    server: str
    body: str
    headers: tuple[str, ...] = ()
    content: str = "text/html"
    versions: str = ""
    some: tuple[str, float] | None = None
    drawn: Callable[[Volatile], Words] = lambda _: {}

    def __call__(self, status: int, **words: str) -> Maker:
        fixed = {"version": self.versions, "status": str(status), "reason": _REASONS[status]}

        def make(volatile: Volatile, host: str, path: str) -> Written:
            random = volatile.random
            fill = filler(volatile, host, path, fixed | words | dict(self.drawn(volatile)))
            body = fill(self.body)
            headers: Headers = [("Server", fill(self.server))] if self.server else []
            headers += [("Date", volatile.http_date()), ("Content-Type", self.content)]
            if self.some and random.random() < self.some[1]:
                headers += headers_of(self.some[:1], fill)
            headers += headers_of(self.headers, fill)
            if random.random() < 0.1:
                headers.append(random.choice(_EXTRAS))
            return Written(path, status, headers, body)

        return make


def _nginx_words(product: str, versions: str) -> Callable[[Volatile], Words]:
    def drawn(volatile: Volatile) -> Words:
        # server_tokens off leaves the name alone.
        version = volatile.random.choice([*versions.split("|"), ""])
        color = volatile.random.choice(("", ' bgcolor="white"'))
        padding = "<!-- a padding to disable MSIE and Chrome friendly error page -->\r\n"
        padding *= 6 * volatile.random.randrange(2)
        server = f"{product}/{version}" if version else product
        return {"server": server, "color": color, "padding": padding}

    return drawn


_NGINX = _Page(
    "{server}",
    page(
        "{status} {reason}",
        "\r\n<center><h1>{status} {reason}</h1></center>\r\n<hr><center>{server}</center>\r\n",
        doctype="",
        attributes="{color}",
    )
    + "\r\n{padding}",
    some=("Connection: keep-alive", 0.5),
    drawn=_nginx_words("nginx", _NGINX_VERSIONS),
)
_OPENRESTY = replace(_NGINX, drawn=_nginx_words("openresty", "1.15.8.3|1.19.9.1|1.21.4.1"))
_APACHE = _Page(
    "Apache/{version}",
    page(
        "{status} {reason}",
        "<h1>{reason}</h1>\n<p>{says}</p>\n<hr>\n"
        "<address>Apache/{version} Server at {host} Port {port}</address>\n",
        doctype='<!DOCTYPE HTML PUBLIC "-//IETF//DTD HTML 2.0//EN">\n',
    ),
    content="text/html; charset=iso-8859-1",
    versions=_APACHE_VERSIONS,
)
_IIS = _Page(
    "Microsoft-IIS/{version}",
    page(
        "{status} - {says}",
        '<div id="header"><h1>Server Error</h1></div>\n<div id="content">\n<div class="content-container">'
        "<fieldset>\n<h2>{status} - {says}</h2>\n<h3>{more}</h3>\n</fieldset></div>\n</div>\n",
        "<style>body{margin:0;font-size:.7em}</style>",
        doctype='<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN">\n',
    ),
    versions="7.5|8.5|10.0",
    some=("X-Powered-By: ASP.NET", 0.7),
)
_TOMCAT = _Page(
    "",
    page(
        "HTTP Status {status} – {reason}",
        '<h1>HTTP Status {status} – {reason}</h1><hr class="line" /><p><b>Type</b> Status Report</p><p><b>Message'
        '</b> {path}</p><p><b>Description</b> {says}</p><hr class="line" /><h3>Apache Tomcat/{version}</h3>',
        "<style>body {font-family:Tahoma}</style>",
        language="en",
    ),
    ("Content-Language: en",),
    "text/html;charset=utf-8",
    "8.5.93|9.0.65|9.0.80|10.1.13",
)
_JETTY = _Page(
    "Jetty({version})",
    page(
        "Error {status} {reason}",
        "<h2>HTTP ERROR {status} {reason}</h2>\n<table>\n<tr><th>URI:</th><td>{path}</td></tr>\n<tr><th>STATUS:</th>"
        "<td>{status}</td></tr>\n<tr><th>MESSAGE:</th><td>{reason}</td></tr>\n<tr><th>SERVLET:</th><td>default</td>"
        '</tr>\n</table>\n<hr><a href="https://eclipse.org/jetty">Powered by Jetty:// {version}</a><hr/>\n',
        before='<meta http-equiv="Content-Type" content="text/html;charset=utf-8"/>\n',
        doctype="",
    ),
    ("Cache-Control: must-revalidate,no-cache,no-store",),
    "text/html;charset=iso-8859-1",
    "9.4.43.v20210629|9.4.51.v20230217|10.0.15",
)
_LIGHTTPD = _Page(
    "lighttpd/{version}",
    page(
        "{status} {reason}",
        "<h1>{status} {reason}</h1>\n",
        doctype='<?xml version="1.0" encoding="iso-8859-1"?>\n',
        language='en" xmlns="http://www.w3.org/1999/xhtml',
    ),
    versions="1.4.53|1.4.55|1.4.69",
)
_DJANGO = _Page(
    "{server}",
    page(
        "Not Found",
        "<h1>Not Found</h1><p>The requested resource was not found on this server.</p>\n",
        language="en",
    ),
    (
        "X-Frame-Options: DENY",
        "Referrer-Policy: same-origin",
        "Cross-Origin-Opener-Policy: same-origin",
    ),
)
_RAILS = _Page(
    "",
    page(
        "The page you were looking for doesn't exist (404)",
        '<div class="dialog">\n<div>\n<h1>The page you were looking for doesn\'t exist.</h1>\n<p>You may have '
        "mistyped the address or the page may have moved.</p>\n</div>\n"
        "<p>If you are the application owner check the logs for more information.</p>\n</div>\n",
        "<style>.dialog{margin:4em auto}</style>",
        attributes=' class="rails-default-error-page"',
    ),
    ("X-Request-Id: {uuid}", "X-Runtime: {duration}123"),
    "text/html; charset=UTF-8",
)
_WHITELABEL = _Page(
    "",
    "<html><body><h1>Whitelabel Error Page</h1><p>This application has no explicit mapping for "
    "/error, so you are seeing this as a fallback.</p><div id='created'>{ctime}</div>"
    "<div>There was an unexpected error (type=Not Found, status=404).</div></body></html>",
    ("Content-Language: en-US",),
    "text/html;charset=UTF-8",
)


def _frames(volatile: Volatile) -> Words:
    random = volatile.random
    frames = "\n".join(
        f'<div class="frame"><h4>File <cite>"/srv/app/{_EN.word(random)}.py"</cite>, line '
        f"<em>{random.randint(1, 900)}</em></h4><pre>{_EN.name(random)}</pre></div>"
        for _ in range(random.randint(3, 9))
    )
    error = random.choice(("KeyError", "ValueError", "TypeError", "AttributeError"))
    return {"frames": frames, "error": error, "message": _EN.name(random)}


_TRACEBACK = _Page(
    "Werkzeug/{version}",
    page(
        "{error} // Debugger",
        '<div class="debugger"><h1>{error}</h1><div class="detail"><p class="errormsg">{error}: {message}</p></div>'
        '<h2 class="traceback">Traceback <em>(most recent call last)</em></h2>{frames}<div class="plain"><p>This is '
        'the Copy/Paste friendly version of the traceback.</p></div></div><script>SECRET = "{hex20}"</script>',
        language="en",
    ),
    versions="2.2.3 Python/3.10.12|2.3.7 Python/3.11.4",
    drawn=_frames,
)
_VARNISH = _Page(
    "Varnish",
    page(
        "503 Backend fetch failed",
        "<h1>Error 503 Backend fetch failed</h1>\n<p>Backend fetch failed</p>\n<h3>Guru Meditation:</h3>\n"
        "<p>XID: {number}</p>\n<hr>\n<p>Varnish cache server</p>\n",
    ),
    ("Retry-After: 5", "X-Varnish: {number}", "Age: 0", "Via: 1.1 varnish"),
)
_SQUID = _Page(
    "squid/4.10",
    page(
        "ERROR: The requested URL could not be retrieved",
        '<div id="titles"><h1>ERROR</h1><h2>The requested URL could not be retrieved</h2></div><div id="content"><p>The '
        "following error was encountered:</p><blockquote><p><b>Unable to determine IP address from host name <q>{host}"
        '</q></b></p></blockquote><p>while trying to retrieve the URL: <a href="http://{host}{path}">http://{host}{path}'
        '</a></p></div><div id="footer"><p>Generated {date} by proxy{version} (squid/4.10)</p></div>',
        doctype="",
    ),
    ("X-Squid-Error: ERR_DNS_FAIL 0",),
    versions="1|2|3|4|5|6|7|8|9",
)
_WELCOME_NGINX = _Page(
    "nginx/{version}",
    page(
        "Welcome to nginx!",
        "<h1>Welcome to nginx!</h1>\n<p>If you see this page, the web server is installed and working. Further "
        "configuration is required.</p>\n<p>For documentation and support please refer to "
        '<a href="http://nginx.org/">nginx.org</a>.</p>\n<p><em>Thank you for using nginx.</em></p>\n',
    ),
    ("Last-Modified: {last_year}", 'ETag: "{hex8}-264"', "Accept-Ranges: bytes"),
    versions=_NGINX_VERSIONS,
)
_WELCOME_APACHE = _Page(
    "Apache/{version}",
    page(
        "Apache2 Default Page: It works",
        '<div class="main_page"><div class="page_header"><span class="floating_element">Apache2 Default Page</span></div>'
        '<div class="content_section"><div class="section_header">It works!</div><div class="content_section_text"><p>This '
        "is the default welcome page used to test the operation of the server after installation.</p><p>Replace this file "
        "before you continue to operate your server.</p><ul><li><tt>apache2.conf</tt></li><li><tt>ports.conf</tt></li>"
        "<li><tt>mods.conf</tt></li><li><tt>sites.conf</tt></li></ul></div></div></div>",
    ),
    ("Last-Modified: {last_year}", 'ETag: "{hex4}-{hex12}"', "Accept-Ranges: bytes"),
    versions=_APACHE_VERSIONS,
)
_WELCOME_IIS = _Page(
    "Microsoft-IIS/10.0",
    page(
        "IIS Windows Server",
        '<div id="container"><a href="#"><img src="iisstart.png" alt="IIS" width="960"></a></div>',
    ),
    ("Last-Modified: {last_year}", 'ETag: "{hex13}:0"', "Accept-Ranges: bytes"),
)


def _rows(row: Callable[[Volatile, str], str]) -> Callable[[Volatile], Words]:
    """Return what draws {rows} of a listing, a row per name of a file."""

    def names(random: Random) -> list[str]:
        count = random.randint(3, 30)
        ends = ("/", ".zip", ".txt", ".tar.gz", ".pdf", ".iso")
        return sorted(
            f"{random.choice(_EN.words)}-{random.randint(1, 99)}{random.choice(ends)}"
            for _ in range(count)
        )

    return lambda volatile: {
        "rows": "".join(row(volatile, name) for name in names(volatile.random))
    }


_LISTING_APACHE = _Page(
    "Apache/{version}",
    page(
        "Index of {path}",
        "<h1>Index of {path}</h1>\n<table>\n<tr><th>Name</th><th>Last modified</th><th>Size</th><th>Description</th>"
        "</tr>\n{rows}</table>\n<address>Apache/{version} Server at {host} Port 80</address>\n",
    ),
    content="text/html;charset=UTF-8",
    versions=_APACHE_VERSIONS,
    drawn=_rows(
        lambda volatile, name: (
            '<tr><td valign="top"><img src="/icons/unknown.gif" alt="[   ]"></td><td>'
            f'<a href="{name}">{name}</a></td><td align="right">{volatile.earlier():%Y-%m-%d %H:%M}'
            f'  </td><td align="right">{volatile.random.randint(1, 999)}{volatile.random.choice("KM")}'
            "</td><td>&nbsp;</td></tr>\n"
        )
    ),
)
_LISTING_NGINX = _Page(
    "nginx/{version}",
    page(
        "Index of {path}",
        '<h1>Index of {path}</h1><hr><pre><a href="../">../</a>\r\n{rows}</pre><hr>',
        doctype="",
    ),
    versions=_NGINX_VERSIONS,
    drawn=_rows(
        lambda volatile, name: (
            f'<a href="{name}">{name}</a>{volatile.earlier():%d-%b-%Y %H:%M}'
            f"{volatile.random.randint(9, 10**7):20}\r\n"
        )
    ),
)
_LISTING_PYTHON = _Page(
    "SimpleHTTP/0.6 Python/{version}",
    page(
        "Directory listing for {path}",
        "<h1>Directory listing for {path}</h1>\n<hr>\n<ul>\n{rows}</ul>\n<hr>\n",
        before=UTF8,
        language="en",
    ),
    content="text/html; charset=utf-8",
    versions="3.8.10|3.10.12|3.11.4",
    drawn=_rows(lambda volatile, name: f'<li><a href="{name}">{name}</a></li>\n'),
)


def _empty(status: int, *headers: str) -> Maker:
    return template(status, "", "Date: {date}", *headers)


def _file(content: str, start: bytes, server: str, *more: str) -> Maker:
    """Return a maker of files of bytes that are no text, of some length."""
    lines = (f"Server: {server}", "Date: {date}", f"Content-Type: {content}",
             "Last-Modified: {last_year}", 'ETag: "{hex16}"', *more)  # fmt: skip

    def make(volatile: Volatile, host: str, path: str) -> Written:
        length = int(2 ** volatile.random.uniform(9, 13))
        body = (start + volatile.random.randbytes(length)).decode("latin-1")
        return Written(path, 200, headers_of(lines, filler(volatile, host, path, {})), body)

    return make


def _apache(status: int, says: str) -> Maker:
    return _APACHE(status, says=says, port="80|443")


TUNING: dict[str, Maker] = {
    **{f"nginx-{status}": _NGINX(status) for status in (404, 403, 502)},
    "nginx-301": replace(_NGINX, headers=("Location: {url}",))(301),
    "apache-404": _apache(404, "The requested URL {path} was not found on this server."),
    "apache-403": _apache(403, "You don't have permission to access {path} on this server."),
    "iis-404": _IIS(
        404,
        says="File or directory not found.",
        more="The resource you are looking for might have been removed, had its name changed, or is gone.",
    ),
    "tomcat-404": _TOMCAT(
        404, says="The origin server did not find a current representation for the target resource."
    ),
    "openresty-404": _OPENRESTY(404),
    "express-404": template(
        404,
        page("Error", "<pre>Cannot GET {path}</pre>\n", before=UTF8, language="en"),
        "X-Powered-By: Express",
        "Content-Security-Policy: default-src 'none'",
        "X-Content-Type-Options: nosniff",
        "Content-Type: text/html; charset=utf-8",
        "Date: {date}",
    ),
    "django-404": _DJANGO(404, server="gunicorn|gunicorn/20.0.4|gunicorn"),
    "spring-whitelabel": _WHITELABEL(404),
    "werkzeug-traceback": _TRACEBACK(500),
    "haproxy-503": template(
        503,
        "<html><body><h1>503 Service Unavailable</h1>\nNo server is available to handle this request.\n</body></html>\n\n",
        "Cache-Control: no-cache",
        "Content-Type: text/html",
    ),
    "welcome-nginx": _WELCOME_NGINX(200),
    "welcome-apache": _WELCOME_APACHE(200),
    "listing-apache": _LISTING_APACHE(200),
    "listing-nginx": _LISTING_NGINX(200),
    "caddy-404-empty": template(404, "", "Server: Caddy", "Date: {date}"),
    "redirect-https": _empty(
        301, "Server: awselb/2.0", "Location: {url}", "Connection: keep-alive"
    ),
    "redirect-login": _empty(
        302,
        "Server: gunicorn",
        "Location: /accounts/login/?next={path}",
        "Vary: Cookie",
        "Set-Cookie: csrftoken={url_token}; Path=/; SameSite=Lax",
        "X-Frame-Options: DENY",
    ),
    "empty-204-cors": _empty(
        204,
        "Access-Control-Allow-Origin: *",
        "Access-Control-Allow-Methods: GET, POST, OPTIONS",
        "Access-Control-Max-Age: 86400",
    ),
    "empty-200-amz": _empty(
        200, "Server: AmazonS3", "x-amz-request-id: {hex16}", "x-amz-id-2: {url_token}"
    ),
    "image-png": _file(
        "image/png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "AmazonS3", "Accept-Ranges: bytes"
    ),
    "file-pdf": _file(
        "application/pdf", b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n", "Apache", "Vary: Origin"
    ),
}
HELD_OUT: dict[str, Maker] = {
    **{f"nginx-{status}": _NGINX(status) for status in (504, 405, 404)},
    "apache-500": _apache(
        500,
        "The server encountered an internal error or misconfiguration and was unable to complete your request.",
    ),
    "apache-401": _apache(401, "This server could not verify that you may access {path}."),
    "iis-403": _IIS(
        403,
        says="Forbidden: Access is denied.",
        more="You do not have permission to view this directory or page using the credentials given.",
    ),
    "tomcat-500": _TOMCAT(
        500,
        says="The server encountered an unexpected condition that prevented it from fulfilling it.",
    ),
    "jetty-404": _JETTY(404),
    "openresty-502": _OPENRESTY(502),
    "rails-404": _RAILS(404),
    "lighttpd-404": _LIGHTTPD(404),
    "lighttpd-403": _LIGHTTPD(403),
    "varnish-503": _VARNISH(503),
    "squid-503": _SQUID(503),
    "welcome-iis": _WELCOME_IIS(200),
    "listing-python": _LISTING_PYTHON(200),
    "redirect-lang": _empty(
        302,
        "Server: Apache",
        "Location: {path}/en/",
        "Vary: Accept-Language",
        "X-Drupal-Cache: MISS",
    ),
    "empty-403-edge": _empty(
        403, "Server: CloudFront", "X-Cache: Error from cloudfront", "X-Amz-Cf-Id: {url_token}"
    ),
    "empty-401-basic": _empty(401, 'WWW-Authenticate: Basic realm="router"', "Connection: close"),
    "image-jpeg": _file(
        "image/jpeg", b"\xff\xd8\xff\xe0\0\x10JFIF\0", "nginx", "Cache-Control: max-age=9"
    ),
    "font-woff2": _file("font/woff2", b"wOF2\0\1\0\0", "cloudflare", "CF-Cache-Status: HIT"),
}
