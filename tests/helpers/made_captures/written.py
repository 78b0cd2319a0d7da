"""A page on its way from a server, and templates of such pages."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from .volatile import Volatile

Headers = list[tuple[str, str]]
Fill = Callable[[str], str]
_NAME = re.compile(r"\{(\w+)\}")


@dataclass
class Written:
    """What the server sends for a path; bytes that are no text are in Latin-1."""

    path: str
    status: int
    headers: Headers
    body: str


Maker = Callable[[Volatile, str, str], Written]
Words = Mapping[str, str]


def filler(volatile: Volatile, host: str, path: str, words: Words) -> Fill:
    """Return a function that replaces {names}; a name has one value in the whole response.

    Names are those of `words`, whose values may hold names themselves, and of volatile parts; of
    {hex8} the number is the length, of "a|b|c" in `words` one is drawn.
    """
    random, known = volatile.random, {"host": host, "path": html.escape(path)}
    draws: dict[str, Callable[[], str]] = {
        "url": lambda: html.escape(f"https://{host}{path}"),
        "ip": volatile.ip,
        "uuid": volatile.uuid,
        "token": volatile.token,
        "nonce": lambda: volatile.token(16),
        "url_token": volatile.url_token,
        "number": lambda: str(random.randrange(10**6, 10**9)),
        "age": lambda: str(random.randrange(4000)),
        "duration": volatile.duration,
        "seconds": volatile.seconds,
        "millis": volatile.millis,
        "clock": volatile.clock,
        "ctime": lambda: volatile.time.strftime("%a %b %d %H:%M:%S UTC %Y"),
        "day": lambda: volatile.day("zh"),
        "date": volatile.http_date,
        "later": lambda: volatile.http_date(1),
        "last_year": lambda: volatile.http_date(-400),
        "incident": lambda: f"{random.randrange(10**9)}-{random.randrange(10**17)}",
    }

    def value(found: re.Match[str]) -> str:
        name = found[1]
        if name not in known:
            if name in words:
                choices = words[name].split("|")
                known[name] = fill(random.choice(choices) if len(choices) > 1 else choices[0])
            elif name.startswith("hex"):
                known[name] = volatile.hex(int(name[3:]))
            else:
                known[name] = draws[name]()
        return known[name]

    def fill(text: str) -> str:
        return _NAME.sub(value, text)

    return fill


def headers_of(lines: Iterable[str], fill: Fill) -> Headers:
    """Return the headers of lines "Name: value"."""
    parts = (line.partition(": ") for line in lines)
    return [(name, fill(value)) for name, _, value in parts]


def template(status: int, body: str, *headers: str, **words: str) -> Maker:
    """Return a maker of responses from a body and headers with {names}."""

    def make(volatile: Volatile, host: str, path: str) -> Written:
        fill = filler(volatile, host, path, words)
        text = fill(body)
        return Written(path, status, headers_of(headers, fill), text)

    return make


UTF8 = '<meta charset="utf-8">'


def page(
    title: str,
    body: str,
    head: str = "",
    *,
    doctype: str = "<!DOCTYPE html>\n",
    language: str = "",
    before: str = "",
    attributes: str = "",
) -> str:
    """Return a page; `before` is what the head has before the title, `attributes` the body's."""
    lang = f' lang="{language}"' if language else ""
    return (
        f"{doctype}<html{lang}>\n<head>{before}<title>{title}</title>{head}</head>\n"
        f"<body{attributes}>{body}</body>\n</html>\n"
    )
