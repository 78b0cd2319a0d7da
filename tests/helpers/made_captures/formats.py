"""Captures in files: WARC, HAR, httpx JSONL, Burp XML and raw HTTP messages, written by hand."""

from __future__ import annotations

import base64
import gzip
import html
import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from neardup.http.messages import Response

from .coding import encoded

if TYPE_CHECKING:
    from . import Made

_WHEN = "2026-11-17T04:00:00Z"
_TITLE = re.compile(r"<title>(.*?)</title>", re.DOTALL | re.IGNORECASE)


def _request(response: Response) -> bytes:
    parts = urlsplit(response.url)
    target = parts.path + (f"?{parts.query}" if parts.query else "")
    return f"GET {target} HTTP/1.1\r\nHost: {parts.netloc}\r\nAccept: */*\r\n\r\n".encode()


def head(response: Response) -> bytes:
    """The status line and the headers of its message."""
    try:
        reason = HTTPStatus(response.status).phrase
    except ValueError:
        reason = ""
    lines = [f"HTTP/1.1 {response.status} {reason}"]
    lines += [f"{name}: {value}" for name, value in response.headers]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


def _message(page: Made) -> bytes:
    return head(page.response) + encoded(page.response.body, page.coding)


def _record(kind: str, url: str, content: str, payload: bytes, number: int, ip: str = "") -> bytes:
    """A record of WARC 1.1 (ISO 28500:2017)."""
    lines = [
        "WARC/1.1",
        f"WARC-Type: {kind}",
        f"WARC-Record-ID: <urn:uuid:00000000-0000-4000-8000-{number:012x}>",
        f"WARC-Date: {_WHEN}",
        *([f"WARC-Target-URI: {url}"] if url else []),
        *([f"WARC-IP-Address: {ip}"] if ip else []),
        f"Content-Type: {content}",
        f"Content-Length: {len(payload)}",
    ]
    return ("\r\n".join(lines) + "\r\n\r\n").encode() + payload + b"\r\n\r\n"


def warc_records(pages: Iterable[Made]) -> Iterator[bytes]:
    yield _record("warcinfo", "", "application/warc-fields", b"software: made by hand\r\n", 0)
    for number, page in enumerate(pages, 1):
        kind, it = "application/http;msgtype=", page.response
        yield _record("request", it.url, f"{kind}request", _request(it), 2 * number)
        yield _record("response", it.url, f"{kind}response", _message(page), 2 * number + 1, it.ip)


def _warc(pages: Sequence[Made], path: Path) -> None:
    with path.open("wb") as file:
        file.writelines(warc_records(pages))


def _warc_gz(pages: Sequence[Made], path: Path) -> None:
    """A member of gzip for every record, as crawlers write it."""
    with path.open("wb") as file:
        file.writelines(gzip.compress(record, 4, mtime=0) for record in warc_records(pages))


def _pairs(response: Response) -> list[dict[str, str]]:
    return [{"name": name, "value": value} for name, value in response.headers]


def _har(pages: Sequence[Made], path: Path) -> None:
    """HAR 1.2. Browsers give text as text whatever its charset was, and the rest in base64."""
    entries = []
    for page in pages:
        it = page.response
        content: dict[str, Any] = {"size": len(it.body), "mimeType": it.header("content-type")}
        try:
            content["text"] = it.body.decode(it.charset)
        except UnicodeDecodeError:
            content |= {"text": base64.b64encode(it.body).decode(), "encoding": "base64"}
        entries.append(
            {
                "startedDateTime": _WHEN,
                "time": 12.5,
                "request": {
                    "method": "GET",
                    "url": it.url,
                    "httpVersion": "HTTP/1.1",
                    "headers": [{"name": "Host", "value": it.host}],
                    "queryString": [],
                    "cookies": [],
                    "headersSize": -1,
                    "bodySize": 0,
                },
                "response": {
                    "status": it.status,
                    "statusText": "",
                    "httpVersion": "HTTP/1.1",
                    "headers": _pairs(it),
                    "cookies": [],
                    "content": content,
                    "redirectURL": it.header("location"),
                    "headersSize": -1,
                    "bodySize": len(it.body),
                },
                "cache": {},
                "timings": {"send": 0, "wait": 12, "receive": 0.5},
                "serverIPAddress": it.ip,
            }
        )
    creator = {"name": "made by hand", "version": "1"}
    log = {"log": {"version": "1.2", "creator": creator, "pages": [], "entries": entries}}
    path.write_text(json.dumps(log, ensure_ascii=False), "utf-8")


def _httpx(pages: Sequence[Made], path: Path) -> None:
    """JSON lines of `httpx -json -irr`.

    Where the body is no text, the line names a file that holds the response, as with -sr: a string
    of JSON cannot hold any bytes.
    """
    stored = path.parent / "responses"
    with path.open("w", encoding="utf-8", newline="\n") as lines:
        for number, page in enumerate(pages, 1):
            it = page.response
            parts = urlsplit(it.url)
            line: dict[str, Any] = {
                "timestamp": _WHEN,
                "url": it.url,
                "input": parts.netloc,
                "host": parts.netloc,
                "host_ip": it.ip,
                "port": "443",
                "scheme": parts.scheme,
                "path": parts.path,
                "method": "GET",
                "status_code": it.status,
                "webserver": it.header("server"),
                "content_type": it.header("content-type").partition(";")[0],
                "content_length": len(it.body),
                "raw_header": head(it).decode(),
                "failed": False,
            }
            try:
                line["body"] = it.body.decode(it.charset)
                if found := _TITLE.search(line["body"]):
                    line["title"] = html.unescape(found[1]).strip()
            except UnicodeDecodeError:
                stored.mkdir(exist_ok=True)
                (stored / f"{number:06}.txt").write_bytes(_message(page))
                line["stored_response_path"] = f"responses/{number:06}.txt"
            lines.write(json.dumps(line, ensure_ascii=False) + "\n")


_DTD = """<!DOCTYPE items [
<!ELEMENT items (item*)>
<!ATTLIST items burpVersion CDATA "">
<!ATTLIST items exportTime CDATA "">
<!ELEMENT item (time, url, host, port, protocol, method, path, extension, request, status,
 responselength, mimetype, response, comment)>
<!ELEMENT time (#PCDATA)>
<!ELEMENT url (#PCDATA)>
<!ELEMENT host (#PCDATA)>
<!ATTLIST host ip CDATA "">
<!ELEMENT port (#PCDATA)>
<!ELEMENT protocol (#PCDATA)>
<!ELEMENT method (#PCDATA)>
<!ELEMENT path (#PCDATA)>
<!ELEMENT extension (#PCDATA)>
<!ELEMENT request (#PCDATA)>
<!ATTLIST request base64 (true|false) "false">
<!ELEMENT status (#PCDATA)>
<!ELEMENT responselength (#PCDATA)>
<!ELEMENT mimetype (#PCDATA)>
<!ELEMENT response (#PCDATA)>
<!ATTLIST response base64 (true|false) "false">
<!ELEMENT comment (#PCDATA)>
]>
"""


def _burp(pages: Sequence[Made], path: Path) -> None:
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.write('<?xml version="1.0"?>\n' + _DTD)
        file.write('<items burpVersion="2026.9" exportTime="Tue Nov 17 04:00:00 UTC 2026">\n')
        for page in pages:
            it, message = page.response, _message(page)
            parts = urlsplit(it.url)
            file.write(
                f"  <item>\n    <time>Tue Nov 17 04:00:00 UTC 2026</time>\n"
                f"    <url><![CDATA[{it.url}]]></url>\n"
                f'    <host ip="{it.ip}">{parts.netloc}</host>\n    <port>443</port>\n'
                f"    <protocol>https</protocol>\n    <method><![CDATA[GET]]></method>\n"
                f"    <path><![CDATA[{parts.path}]]></path>\n    <extension>null</extension>\n"
                f'    <request base64="true"><![CDATA[{base64.b64encode(_request(it)).decode()}]]>'
                f"</request>\n    <status>{it.status}</status>\n"
                f"    <responselength>{len(message)}</responselength>\n"
                f"    <mimetype>HTML</mimetype>\n"
                f'    <response base64="true"><![CDATA[{base64.b64encode(message).decode()}]]>'
                "</response>\n    <comment></comment>\n  </item>\n"
            )
        file.write("</items>\n")


def _raw(pages: Sequence[Made], path: Path) -> None:
    """One message after the other, each after its request, which tells the URL."""
    with path.open("wb") as file:
        file.writelines(_request(page.response) + _message(page) for page in pages)


def _raw_folder(pages: Sequence[Made], path: Path) -> None:
    path.mkdir()
    for number, page in enumerate(pages, 1):
        (path / f"{number:06}.http").write_bytes(_request(page.response) + _message(page))


FORMATS: dict[str, tuple[str, Callable[[Sequence[Made], Path], None]]] = {
    "warc": ("made.warc", _warc),
    "warc.gz": ("made.warc.gz", _warc_gz),
    "har": ("made.har", _har),
    "httpx": ("made.jsonl", _httpx),
    "burp": ("made.xml", _burp),
    "raw": ("made.http", _raw),
    "raw-folder": ("made-http", _raw_folder),
}


def write(pages: Sequence[Made], folder: Path, form: str) -> Path:
    """A capture in a format, in a folder; what to give to the command."""
    name, writer = FORMATS[form]
    path = folder / name
    writer(pages, path)
    return path
