"""The same responses written in every capture format, by the simplest possible code."""

import base64
import gzip
import http.client
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit
from xml.sax.saxutils import escape

import pyarrow as pa

from neardup.files.reading.batch import Batch, Reading, Unreadable
from neardup.files.reading.inputs import read_batches
from neardup.text.views import MASKS, VIEWS, Viewing

VIEWING = Viewing(VIEWS, MASKS)


def read(path: Path | str, **options: Any) -> tuple[list[Batch], list[str], list[str]]:
    problems: list[Unreadable] = []
    notes: list[str] = []
    reading = Reading(viewing=VIEWING, **options)
    batches = list(read_batches(str(path), reading, problems.append, note=notes.append))
    return batches, [str(each) for each in problems], notes


def told(path: Path | str, **options: Any) -> tuple[list[str], list[str], list[str]]:
    """Return the views, problems and notes of a file, without its name."""
    batches, problems, notes = read(path, **options)
    texts = [text for batch in batches for text in batch.texts.to_pylist()]
    return (
        texts,
        [each.replace(str(path), "", 1).lstrip(":").strip() for each in problems],
        [each.replace(f"{path}: ", "", 1) for each in notes],
    )


def head(status: int, headers: Iterable[tuple[str, str]]) -> bytes:
    """Return the status line and headers of a message."""
    reason = http.client.responses.get(status, "")
    lines = [f"HTTP/1.1 {status} {reason}", *(f"{name}: {value}" for name, value in headers)]
    return "\r\n".join(lines).encode() + b"\r\n\r\n"


class Answer(NamedTuple):
    """A response as sent by the server, and as decoded."""

    url: str
    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes
    ip: str = "192.0.2.7"
    text: str | None = None  # of the body, where it is text

    @property
    def head(self) -> bytes:
        return head(self.status, self.headers)

    @property
    def request(self) -> bytes:
        place = urlsplit(self.url)
        target = f"{place.path}?{place.query}" if place.query else place.path
        return f"GET {target} HTTP/1.1\r\nHost: {place.netloc}\r\n\r\n".encode()

    @property
    def message(self) -> bytes:
        return self.head + self.body


def answer(
    url: str,
    body: str,
    *,
    status: int = 200,
    kind: str = "text/html; charset=utf-8",
    headers: Sequence[tuple[str, str]] = (),
) -> Answer:
    data = body.encode()
    every = (
        ("Server", "nginx/1.18.0"),
        ("Content-Type", kind),
        *headers,
        ("Content-Length", str(len(data))),
    )
    return Answer(url, status, tuple(every), data, text=body)


def answers() -> list[Answer]:
    """Return responses of every sort: pages, JSON, an image, no body, other scripts."""
    return [
        answer("http://a.example/", "<title>One</title><body><p class='x'>Hello, world.</p>"),
        answer("http://a.example/2", "<title>你好</title><p>这是一个页面，服务器。</p>"),
        answer("http://b.example/api", '{"error": "not found here", "code": 4}', status=404,
               kind="application/json"),
        answer("http://b.example/e", "", status=301, headers=[("Location", "http://b.example/")]),
        answer("http://c.example/t", "plain text\nof two lines", kind="text/plain"),
        Answer("http://c.example/i.png", 200,
               (("Content-Type", "image/png"), ("Content-Length", "70")),
               b"\x89PNG\r\n\x1a\n" + bytes(range(256))[:62]),
    ]  # fmt: skip


def warc_record(
    block: bytes, url: str = "http://a.example/", *, kind: str = "response", **fields: str
) -> bytes:
    """Return a WARC record; `fields` are further headers, with _ for -."""
    named = {
        "WARC-Type": kind,
        "WARC-Target-URI": url,
        "WARC-Date": "2026-01-01T00:00:00Z",
        "WARC-Record-ID": "<urn:uuid:00000000-0000-0000-0000-000000000001>",
        "Content-Type": f"application/http; msgtype={kind}",
        "Content-Length": str(len(block)),
    } | {name.replace("_", "-"): value for name, value in fields.items()}
    head = "".join(f"{name}: {value}\r\n" for name, value in named.items() if value)
    return b"WARC/1.1\r\n" + head.encode() + b"\r\n" + block + b"\r\n\r\n"


def warc_records(found: Iterable[Answer]) -> Iterator[bytes]:
    fields = {"kind": "warcinfo", "Content_Type": "application/warc-fields"}
    yield warc_record(b"software: test\r\n", "", **fields)
    for each in found:
        yield warc_record(each.request, each.url, kind="request")
        yield warc_record(each.message, each.url, WARC_IP_Address=each.ip)


def zstd(data: bytes) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as stream:
        stream.write(data)
    return bytes(sink.getvalue())


def write_warc(folder: Path, found: Sequence[Answer]) -> Path:
    path = folder / "capture.warc"
    path.write_bytes(b"".join(warc_records(found)))
    return path


def write_warc_gz(folder: Path, found: Sequence[Answer]) -> Path:
    path = folder / "capture.warc.gz"
    path.write_bytes(b"".join(gzip.compress(each, mtime=0) for each in warc_records(found)))
    return path


def write_warc_zst(folder: Path, found: Sequence[Answer]) -> Path:
    path = folder / "capture.warc.zst"
    path.write_bytes(b"".join(map(zstd, warc_records(found))))
    return path


def har_entry(each: Answer) -> dict[str, object]:
    content: dict[str, object] = {
        "size": len(each.body),
        "mimeType": dict(each.headers).get("Content-Type", ""),
    }
    if each.body and each.text is not None:
        content["text"] = each.text
    elif each.body:
        content |= {"text": base64.b64encode(each.body).decode(), "encoding": "base64"}
    return {
        "request": {"method": "GET", "url": each.url, "headers": []},
        "response": {
            "status": each.status,
            "statusText": "OK",
            "headers": [{"name": name, "value": value} for name, value in each.headers],
            "content": content,
            "bodySize": len(each.body),
        },
        "serverIPAddress": each.ip,
    }


def write_har(folder: Path, found: Sequence[Answer]) -> Path:
    path = folder / "capture.har"
    log = {"version": "1.2", "creator": {"name": "test"}, "pages": [{"id": "p"}],
           "entries": [har_entry(each) for each in found], "comment": "x"}  # fmt: skip
    path.write_text(json.dumps({"log": log}, indent=1), encoding="utf-8")
    return path


def httpx_line(each: Answer, *, packed: bool = False) -> str:
    head = each.head.decode()
    record = {
        "timestamp": "2026-01-01T00:00:00Z",
        "url": each.url,
        "input": urlsplit(each.url).netloc,
        "status_code": each.status,
        "host_ip": each.ip,
        "content_length": len(each.body),
        "raw_header": base64.b64encode(each.head).decode() if packed else head,
        "body": base64.b64encode(each.body).decode() if packed else each.text,
    }
    return json.dumps(record)


def write_httpx(folder: Path, found: Sequence[Answer]) -> Path:
    path = folder / "capture.jsonl"
    # As httpx -irrb writes them: without it binary bodies are lost.
    lines = [httpx_line(each, packed=each.text is None) for each in found]
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


DTD = """<?xml version="1.1"?>
<!DOCTYPE items [
<!ELEMENT items (item*)>
<!ATTLIST items burpVersion CDATA "">
<!ATTLIST items exportTime CDATA "">
<!ELEMENT item (time, url, host, port, protocol, method, path, extension, request, status,
 responselength, mimetype, response, comment)>
<!ELEMENT host (#PCDATA)>
<!ATTLIST host ip CDATA "">
<!ELEMENT response (#PCDATA)>
<!ATTLIST response base64 (true|false) "false">
]>
"""


def burp_item(each: Answer, *, packed: bool = True) -> str:
    data = base64.b64encode(each.message).decode() if packed else each.message.decode()
    return (
        f"  <item>\n    <time>now</time>\n    <url><![CDATA[{each.url}]]></url>\n"
        f'    <host ip="{each.ip}">{urlsplit(each.url).netloc}</host>\n    <port>80</port>\n'
        f"    <path><![CDATA[{escape(urlsplit(each.url).path)}]]></path>\n"
        f'    <request base64="true"><![CDATA[R0VU]]></request>\n'
        f"    <status>{each.status}</status>\n"
        f'    <response base64="{str(packed).lower()}"><![CDATA[{data}]]></response>\n'
        "    <comment></comment>\n  </item>\n"
    )


def burp_xml(items: Sequence[str]) -> str:
    return f'{DTD}<items burpVersion="2026.1" exportTime="now">\n{"".join(items)}</items>\n'


def write_burp(folder: Path, found: Sequence[Answer]) -> Path:
    path = folder / "capture.xml"
    path.write_text(burp_xml([burp_item(each) for each in found]), encoding="utf-8")
    return path


def write_raw(folder: Path, found: Sequence[Answer]) -> Path:
    path = folder / "capture.txt"
    path.write_bytes(b"".join(each.request + each.message for each in found))
    return path


WRITERS: dict[str, Callable[[Path, Sequence[Answer]], Path]] = {
    "warc": write_warc,
    "warc.gz": write_warc_gz,
    "warc.zst": write_warc_zst,
    "har": write_har,
    "httpx": write_httpx,
    "burp": write_burp,
    "raw": write_raw,
}
