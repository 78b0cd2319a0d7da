"""What servers answer by themselves: errors, listings, default pages, redirects, nothing, files.

The same page of the same product is one kind, whatever its version, host and path.
"""

from __future__ import annotations

import html
from collections.abc import Callable
from random import Random

from .volatile import Volatile
from .words import LANGUAGES
from .written import Headers, Written

Maker = Callable[[Volatile, str, str], Written]
_REASONS = {
    301: "Moved Permanently",
    302: "Found",
    400: "Bad Request",
    401: "Unauthorized",
    403: "Forbidden",
    404: "Not Found",
    405: "Method Not Allowed",
    500: "Internal Server Error",
    502: "Bad Gateway",
    503: "Service Unavailable",
    504: "Gateway Time-out",
}
_NGINX = ("1.14.0 (Ubuntu)", "1.18.0", "1.20.2", "1.22.1", "1.24.0", "1.25.3")
_APACHE = ("2.4.6 (CentOS)", "2.4.29 (Ubuntu)", "2.4.41 (Ubuntu)", "2.4.57 (Debian)", "2.4.58")
_TOMCAT = ("8.5.93", "9.0.65", "9.0.80", "10.1.13")
_JETTY = ("9.4.43.v20210629", "9.4.51.v20230217", "10.0.15")
_OPENRESTY = ("1.15.8.3", "1.19.9.1", "1.21.4.1")
# What an administrator switches on, whatever the server.
_EXTRAS = (
    ("X-Frame-Options", "SAMEORIGIN"),
    ("X-Content-Type-Options", "nosniff"),
    ("Strict-Transport-Security", "max-age=31536000"),
)


def _answer(
    volatile: Volatile,
    path: str,
    status: int,
    server: str,
    body: str,
    *more: tuple[str, str],
    content: str = "text/html",
) -> Written:
    headers: Headers = [("Server", server)] if server else []
    headers += [("Date", volatile.http_date()), ("Content-Type", content), *more]
    if volatile.random.random() < 0.1:
        headers.append(volatile.random.choice(_EXTRAS))
    return Written(path, status, headers, body)


def _nginx(status: int, product: str = "nginx", versions: tuple[str, ...] = _NGINX) -> Maker:
    says = f"{status} {_REASONS[status]}"

    def make(volatile: Volatile, host: str, path: str) -> Written:
        # server_tokens off leaves the name alone.
        version = volatile.random.choice([*versions, ""])
        server = f"{product}/{version}" if version else product
        line = "\r\n"
        body = line.join(
            (
                "<html>",
                f"<head><title>{says}</title></head>",
                volatile.random.choice(("<body>", '<body bgcolor="white">')),
                f"<center><h1>{says}</h1></center>",
                f"<hr><center>{server}</center>",
                "</body>",
                "</html>",
                *["<!-- a padding to disable MSIE and Chrome friendly error page -->"]
                * (6 * volatile.random.randrange(2)),
                "",
            )
        )
        more = [("Connection", "keep-alive")] if volatile.random.random() < 0.5 else []
        if status in (301, 302):
            more.append(("Location", f"https://{host}{path}"))
        return _answer(volatile, path, status, server, body, *more)

    return make


def _apache(status: int, says: str) -> Maker:
    reason = _REASONS[status]

    def make(volatile: Volatile, host: str, path: str) -> Written:
        version = volatile.random.choice(_APACHE)
        server = f"Apache/{version}"
        body = (
            '<!DOCTYPE HTML PUBLIC "-//IETF//DTD HTML 2.0//EN">\n<html><head>\n'
            f"<title>{status} {reason}</title>\n</head><body>\n<h1>{reason}</h1>\n"
            f"<p>{says.format(path=html.escape(path))}</p>\n<hr>\n"
            f"<address>{server} Server at {host} Port {volatile.random.choice((80, 443))}</address>\n"
            "</body></html>\n"
        )
        return _answer(
            volatile, path, status, server, body, content="text/html; charset=iso-8859-1"
        )

    return make


def _iis(status: int, says: str, more: str) -> Maker:
    def make(volatile: Volatile, host: str, path: str) -> Written:
        server = f"Microsoft-IIS/{volatile.random.choice(('7.5', '8.5', '10.0'))}"
        body = (
            '<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN">\n<html><head>'
            f"<title>{status} - {says}</title>\n<style>body{{margin:0;font-size:.7em}}</style></head>"
            '<body>\n<div id="header"><h1>Server Error</h1></div>\n<div id="content">\n '
            f'<div class="content-container"><fieldset>\n  <h2>{status} - {says}</h2>\n'
            f"  <h3>{more}</h3>\n </fieldset></div>\n</div>\n</body></html>\n"
        )
        powered = [("X-Powered-By", "ASP.NET")] if volatile.random.random() < 0.7 else []
        return _answer(volatile, path, status, server, body, *powered)

    return make


def _tomcat(status: int, says: str) -> Maker:
    reason = _REASONS[status]

    def make(volatile: Volatile, host: str, path: str) -> Written:
        version = volatile.random.choice(_TOMCAT)
        body = (
            f'<!doctype html><html lang="en"><head><title>HTTP Status {status} – {reason}</title>'
            "<style>body {font-family:Tahoma}</style></head><body>"
            f'<h1>HTTP Status {status} – {reason}</h1><hr class="line" /><p><b>Type</b> Status Report'
            f"</p><p><b>Message</b> {html.escape(path)}</p><p><b>Description</b> {says}</p>"
            f'<hr class="line" /><h3>Apache Tomcat/{version}</h3></body></html>'
        )
        language = ("Content-Language", "en")
        return _answer(
            volatile, path, status, "", body, language, content="text/html;charset=utf-8"
        )

    return make


def _jetty(status: int) -> Maker:
    def make(volatile: Volatile, host: str, path: str) -> Written:
        version = volatile.random.choice(_JETTY)
        reason, where = _REASONS[status], html.escape(path)
        rows = (("URI:", where), ("STATUS:", status), ("MESSAGE:", reason), ("SERVLET:", "default"))
        table = "\n".join(f"<tr><th>{name}</th><td>{value}</td></tr>" for name, value in rows)
        body = (
            '<html>\n<head>\n<meta http-equiv="Content-Type" content="text/html;charset=utf-8"/>\n'
            f"<title>Error {status} {reason}</title>\n</head>\n<body><h2>HTTP ERROR {status} {reason}"
            f'</h2>\n<table>\n{table}\n</table>\n<hr><a href="https://eclipse.org/jetty">Powered by '
            f"Jetty:// {version}</a><hr/>\n</body>\n</html>\n"
        )
        cache = ("Cache-Control", "must-revalidate,no-cache,no-store")
        return _answer(
            volatile,
            path,
            status,
            f"Jetty({version})",
            body,
            cache,
            content="text/html;charset=iso-8859-1",
        )

    return make


def _caddy(volatile: Volatile, host: str, path: str) -> Written:
    return Written(path, 404, [("Server", "Caddy"), ("Date", volatile.http_date())], "")


def _express(volatile: Volatile, host: str, path: str) -> Written:
    body = (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>Error</title>\n'
        f"</head>\n<body>\n<pre>Cannot GET {html.escape(path)}</pre>\n</body>\n</html>\n"
    )
    headers = [
        ("X-Powered-By", "Express"),
        ("Content-Security-Policy", "default-src 'none'"),
        ("X-Content-Type-Options", "nosniff"),
        ("Content-Type", "text/html; charset=utf-8"),
        ("Date", volatile.http_date()),
    ]
    return Written(path, 404, headers, body)


def _django(volatile: Volatile, host: str, path: str) -> Written:
    body = (
        '\n<!doctype html>\n<html lang="en">\n<head>\n  <title>Not Found</title>\n</head>\n<body>\n'
        "  <h1>Not Found</h1><p>The requested resource was not found on this server.</p>\n"
        "</body>\n</html>\n"
    )
    more = (
        ("X-Frame-Options", "DENY"),
        ("Referrer-Policy", "same-origin"),
        ("Cross-Origin-Opener-Policy", "same-origin"),
    )
    server = volatile.random.choice(("gunicorn", "gunicorn/20.0.4", "gunicorn"))
    return _answer(volatile, path, 404, server, body, *more)


def _rails(volatile: Volatile, host: str, path: str) -> Written:
    body = (
        "<!DOCTYPE html>\n<html>\n<head>\n  <title>The page you were looking for doesn't exist (404)"
        "</title>\n  <style>.dialog{margin:4em auto}</style>\n</head>\n"
        '<body class="rails-default-error-page">\n  <div class="dialog">\n    <div>\n      <h1>The page'
        " you were looking for doesn't exist.</h1>\n      <p>You may have mistyped the address or the "
        "page may have moved.</p>\n    </div>\n    <p>If you are the application owner check the logs "
        "for more information.</p>\n  </div>\n</body>\n</html>\n"
    )
    more = (("X-Request-Id", volatile.uuid()), ("X-Runtime", volatile.duration() + "123"))
    return _answer(volatile, path, 404, "", body, *more, content="text/html; charset=UTF-8")


def _whitelabel(volatile: Volatile, host: str, path: str) -> Written:
    when = volatile.time.strftime("%a %b %d %H:%M:%S UTC %Y")
    body = (
        "<html><body><h1>Whitelabel Error Page</h1><p>This application has no explicit mapping for "
        f"/error, so you are seeing this as a fallback.</p><div id='created'>{when}</div>"
        "<div>There was an unexpected error (type=Not Found, status=404).</div></body></html>"
    )
    language = ("Content-Language", "en-US")
    return _answer(volatile, path, 404, "", body, language, content="text/html;charset=UTF-8")


def _traceback(volatile: Volatile, host: str, path: str) -> Written:
    random = volatile.random
    frames = "\n".join(
        f'<div class="frame"><h4>File <cite>"/srv/app/{LANGUAGES["en"].word(random)}.py"</cite>, line '
        f"<em>{random.randint(1, 900)}</em></h4><pre>{LANGUAGES['en'].name(random)}</pre></div>"
        for _ in range(random.randint(3, 9))
    )
    error = random.choice(("KeyError", "ValueError", "TypeError", "AttributeError"))
    body = (
        f"<!doctype html><html lang=en><head><title>{error} // Debugger</title></head><body>"
        f'<div class="debugger"><h1>{error}</h1><div class="detail"><p class="errormsg">{error}: '
        f'{LANGUAGES["en"].name(random)}</p></div><h2 class="traceback">Traceback <em>(most recent '
        f'call last)</em></h2>{frames}<div class="plain"><p>This is the Copy/Paste friendly version of '
        f'the traceback.</p></div></div><script>SECRET = "{volatile.hex(20)}"</script></body></html>'
    )
    version = random.choice(("2.2.3 Python/3.10.12", "2.3.7 Python/3.11.4"))
    return _answer(volatile, path, 500, f"Werkzeug/{version}", body)


def _lighttpd(status: int) -> Maker:
    def make(volatile: Volatile, host: str, path: str) -> Written:
        says = f"{status} {_REASONS[status]}"
        body = (
            '<?xml version="1.0" encoding="iso-8859-1"?>\n<html xmlns="http://www.w3.org/1999/xhtml" '
            f'lang="en">\n <head>\n  <title>{says}</title>\n </head>\n <body>\n  <h1>{says}</h1>\n'
            " </body>\n</html>\n"
        )
        version = volatile.random.choice(("1.4.53", "1.4.55", "1.4.69"))
        return _answer(volatile, path, status, f"lighttpd/{version}", body)

    return make


def _haproxy(volatile: Volatile, host: str, path: str) -> Written:
    body = (
        "<html><body><h1>503 Service Unavailable</h1>\nNo server is available to handle this "
        "request.\n</body></html>\n\n"
    )
    return Written(path, 503, [("Cache-Control", "no-cache"), ("Content-Type", "text/html")], body)


def _varnish(volatile: Volatile, host: str, path: str) -> Written:
    number = volatile.random.randrange(10**6, 10**9)
    body = (
        "<!DOCTYPE html>\n<html>\n  <head>\n    <title>503 Backend fetch failed</title>\n  </head>\n"
        "  <body>\n    <h1>Error 503 Backend fetch failed</h1>\n    <p>Backend fetch failed</p>\n"
        f"    <h3>Guru Meditation:</h3>\n    <p>XID: {number}</p>\n    <hr>\n    <p>Varnish cache "
        "server</p>\n  </body>\n</html>\n"
    )
    more = (("Retry-After", "5"), ("X-Varnish", str(number)), ("Age", "0"), ("Via", "1.1 varnish"))
    return _answer(volatile, path, 503, "Varnish", body, *more)


def _squid(volatile: Volatile, host: str, path: str) -> Written:
    address = f"http://{host}{path}"
    body = (
        "<html><head><title>ERROR: The requested URL could not be retrieved</title></head>\n"
        '<body><div id="titles"><h1>ERROR</h1><h2>The requested URL could not be retrieved</h2></div>'
        f'<div id="content"><p>The following error was encountered:</p><blockquote><p><b>Unable to '
        f"determine IP address from host name <q>{host}</q></b></p></blockquote><p>while trying to "
        f'retrieve the URL: <a href="{html.escape(address)}">{html.escape(address)}</a></p></div>'
        f'<div id="footer"><p>Generated {volatile.http_date()} by proxy{volatile.random.randint(1, 9)} '
        "(squid/4.10)</p></div></body></html>\n"
    )
    return _answer(volatile, path, 503, "squid/4.10", body, ("X-Squid-Error", "ERR_DNS_FAIL 0"))


def _welcome_nginx(volatile: Volatile, host: str, path: str) -> Written:
    body = (
        "<!DOCTYPE html>\n<html>\n<head>\n<title>Welcome to nginx!</title>\n</head>\n<body>\n"
        "<h1>Welcome to nginx!</h1>\n<p>If you see this page, the web server is installed and working. "
        "Further configuration is required.</p>\n<p>For documentation and support please refer to "
        '<a href="http://nginx.org/">nginx.org</a>.</p>\n<p><em>Thank you for using nginx.</em></p>\n'
        "</body>\n</html>\n"
    )
    server = f"nginx/{volatile.random.choice(_NGINX)}"
    more = (("Last-Modified", volatile.http_date(-400)), ("ETag", f'"{volatile.hex(8)}-264"'))
    return _answer(volatile, path, 200, server, body, *more, ("Accept-Ranges", "bytes"))


def _welcome_apache(volatile: Volatile, host: str, path: str) -> Written:
    items = "".join(
        f"<li><tt>{name}.conf</tt></li>" for name in ("apache2", "ports", "mods", "sites")
    )
    body = (
        "<!DOCTYPE html><html><head><title>Apache2 Default Page: It works</title></head><body>"
        '<div class="main_page"><div class="page_header"><span class="floating_element">Apache2 Default'
        ' Page</span></div><div class="content_section"><div class="section_header">It works!</div>'
        '<div class="content_section_text"><p>This is the default welcome page used to test the '
        "operation of the server after installation.</p><p>Replace this file before you continue to "
        f"operate your server.</p><ul>{items}</ul></div></div></div></body></html>"
    )
    server = f"Apache/{volatile.random.choice(_APACHE)}"
    more = (
        ("Last-Modified", volatile.http_date(-300)),
        ("ETag", f'"{volatile.hex(4)}-{volatile.hex(12)}"'),
    )
    return _answer(volatile, path, 200, server, body, *more, ("Accept-Ranges", "bytes"))


def _welcome_iis(volatile: Volatile, host: str, path: str) -> Written:
    body = (
        "<!DOCTYPE html><html><head><title>IIS Windows Server</title></head><body>"
        '<div id="container"><a href="#"><img src="iisstart.png" alt="IIS" width="960"></a></div>'
        "</body></html>"
    )
    more = (("Last-Modified", volatile.http_date(-900)), ("ETag", f'"{volatile.hex(13)}:0"'))
    return _answer(
        volatile, path, 200, "Microsoft-IIS/10.0", body, *more, ("Accept-Ranges", "bytes")
    )


def _names(random: Random) -> list[str]:
    count = random.randint(3, 30)
    ends = ("/", ".zip", ".txt", ".tar.gz", ".pdf", ".iso")
    return sorted(
        f"{random.choice(LANGUAGES['en'].words)}-{random.randint(1, 99)}{random.choice(ends)}"
        for _ in range(count)
    )


def _listing_apache(volatile: Volatile, host: str, path: str) -> Written:
    random = volatile.random
    rows = "\n".join(
        f'<tr><td valign="top"><img src="/icons/unknown.gif" alt="[   ]"></td><td><a href="{name}">'
        f'{name}</a></td><td align="right">{volatile.earlier():%Y-%m-%d %H:%M}  </td><td align="right">'
        f"{random.randint(1, 999)}{random.choice('KM')}</td><td>&nbsp;</td></tr>"
        for name in _names(random)
    )
    version = random.choice(_APACHE)
    body = (
        f"<!DOCTYPE HTML>\n<html>\n <head>\n  <title>Index of {path}</title>\n </head>\n <body>\n<h1>"
        f"Index of {path}</h1>\n  <table>\n   <tr><th>Name</th><th>Last modified</th><th>Size</th>"
        f"<th>Description</th></tr>\n{rows}\n</table>\n<address>Apache/{version} Server at {host} Port "
        "80</address>\n</body></html>\n"
    )
    return _answer(
        volatile, path, 200, f"Apache/{version}", body, content="text/html;charset=UTF-8"
    )


def _listing_nginx(volatile: Volatile, host: str, path: str) -> Written:
    rows = "".join(
        f'<a href="{name}">{name}</a>{volatile.earlier():%d-%b-%Y %H:%M}{volatile.random.randint(9, 10**7):20}\r\n'
        for name in _names(volatile.random)
    )
    body = (
        f"<html>\r\n<head><title>Index of {path}</title></head>\r\n<body>\r\n<h1>Index of {path}</h1>"
        f'<hr><pre><a href="../">../</a>\r\n{rows}</pre><hr></body>\r\n</html>\r\n'
    )
    return _answer(volatile, path, 200, f"nginx/{volatile.random.choice(_NGINX)}", body)


def _listing_python(volatile: Volatile, host: str, path: str) -> Written:
    rows = "\n".join(f'<li><a href="{name}">{name}</a></li>' for name in _names(volatile.random))
    body = (
        '<!DOCTYPE HTML>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>Directory listing '
        f"for {path}</title>\n</head>\n<body>\n<h1>Directory listing for {path}</h1>\n<hr>\n<ul>\n{rows}"
        "\n</ul>\n<hr>\n</body>\n</html>\n"
    )
    version = volatile.random.choice(("3.8.10", "3.10.12", "3.11.4"))
    return _answer(
        volatile,
        path,
        200,
        f"SimpleHTTP/0.6 Python/{version}",
        body,
        content="text/html; charset=utf-8",
    )


def _empty(status: int, *headers: str) -> Maker:
    """No body: the status and these headers are all there is."""

    def make(volatile: Volatile, host: str, path: str) -> Written:
        written: Headers = [("Date", volatile.http_date())]
        for line in headers:
            name, _, value = line.partition(": ")
            value = value.replace("{url}", f"https://{host}{path}").replace("{path}", path)
            value = value.replace("{id}", volatile.uuid()).replace("{hex}", volatile.hex(16))
            written.append((name, value.replace("{token}", volatile.url_token())))
        return Written(path, status, written, "")

    return make


def _file(content: str, start: bytes, server: str, *more: str) -> Maker:
    """Bytes that are no text, of some length."""

    def make(volatile: Volatile, host: str, path: str) -> Written:
        length = int(2 ** volatile.random.uniform(9, 13))
        body = start + volatile.random.randbytes(length)
        headers = [
            ("Server", server),
            ("Date", volatile.http_date()),
            ("Content-Type", content),
            ("Last-Modified", volatile.http_date(-50)),
            ("ETag", f'"{volatile.hex(16)}"'),
            *((name, value) for name, _, value in (line.partition(": ") for line in more)),
        ]
        return Written(path, 200, headers, body.decode("latin-1"))

    return make


_NOT_THERE = "The requested URL {path} was not found on this server."
_NOT_ALLOWED = "You don't have permission to access {path} on this server."
_FAILED = (
    "The server encountered an internal error or misconfiguration and was unable to complete your "
    "request."
)
_IIS_404 = (
    "The resource you are looking for might have been removed, had its name changed, or is gone."
)
_IIS_403 = "You do not have permission to view this directory or page using the credentials given."
_TOMCAT_404 = "The origin server did not find a current representation for the target resource."
_TOMCAT_500 = "The server encountered an unexpected condition that prevented it from fulfilling it."
# Of the binary ones the file holds Latin-1 of the bytes; `make` turns it back.
BINARY = ("image/", "application/pdf", "application/zip", "font/", "video/")

TUNING: dict[str, Maker] = {
    "nginx-404": _nginx(404),
    "nginx-403": _nginx(403),
    "nginx-502": _nginx(502),
    "nginx-301": _nginx(301),
    "apache-404": _apache(404, _NOT_THERE),
    "apache-403": _apache(403, _NOT_ALLOWED),
    "iis-404": _iis(404, "File or directory not found.", _IIS_404),
    "tomcat-404": _tomcat(404, _TOMCAT_404),
    "openresty-404": _nginx(404, "openresty", _OPENRESTY),
    "express-404": _express,
    "django-404": _django,
    "spring-whitelabel": _whitelabel,
    "werkzeug-traceback": _traceback,
    "haproxy-503": _haproxy,
    "welcome-nginx": _welcome_nginx,
    "welcome-apache": _welcome_apache,
    "listing-apache": _listing_apache,
    "listing-nginx": _listing_nginx,
    "caddy-404-empty": _caddy,
    "redirect-https": _empty(
        301, "Server: awselb/2.0", "Location: {url}", "Connection: keep-alive"
    ),
    "redirect-login": _empty(
        302,
        "Server: gunicorn",
        "Location: /accounts/login/?next={path}",
        "Vary: Cookie",
        "Set-Cookie: csrftoken={token}; Path=/; SameSite=Lax",
        "X-Frame-Options: DENY",
    ),
    "empty-204-cors": _empty(
        204,
        "Access-Control-Allow-Origin: *",
        "Access-Control-Allow-Methods: GET, POST, OPTIONS",
        "Access-Control-Max-Age: 86400",
    ),
    "empty-200-amz": _empty(
        200, "Server: AmazonS3", "x-amz-request-id: {hex}", "x-amz-id-2: {token}"
    ),
    "image-png": _file(
        "image/png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "AmazonS3", "Accept-Ranges: bytes"
    ),
    "file-pdf": _file(
        "application/pdf", b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n", "Apache", "Vary: Origin"
    ),
}
HELD_OUT: dict[str, Maker] = {
    "nginx-504": _nginx(504),
    "nginx-405": _nginx(405),
    "nginx-404": _nginx(404),
    "apache-500": _apache(500, _FAILED),
    "apache-401": _apache(401, "This server could not verify that you may access {path}."),
    "iis-403": _iis(403, "Forbidden: Access is denied.", _IIS_403),
    "tomcat-500": _tomcat(500, _TOMCAT_500),
    "jetty-404": _jetty(404),
    "openresty-502": _nginx(502, "openresty", _OPENRESTY),
    "rails-404": _rails,
    "lighttpd-404": _lighttpd(404),
    "lighttpd-403": _lighttpd(403),
    "varnish-503": _varnish,
    "squid-503": _squid,
    "welcome-iis": _welcome_iis,
    "listing-python": _listing_python,
    "redirect-lang": _empty(
        302,
        "Server: Apache",
        "Location: {path}/en/",
        "Vary: Accept-Language",
        "X-Drupal-Cache: MISS",
    ),
    "empty-403-edge": _empty(
        403, "Server: CloudFront", "X-Cache: Error from cloudfront", "X-Amz-Cf-Id: {token}"
    ),
    "empty-401-basic": _empty(401, 'WWW-Authenticate: Basic realm="router"', "Connection: close"),
    "image-jpeg": _file(
        "image/jpeg", b"\xff\xd8\xff\xe0\0\x10JFIF\0", "nginx", "Cache-Control: max-age=9"
    ),
    "font-woff2": _file("font/woff2", b"wOF2\0\1\0\0", "cloudflare", "CF-Cache-Status: HIT"),
}
