"""Sites: a genre written in a style and a language, with pages of several types.

All pages of one type of one site are one kind, whatever they are about. The types of a site are
kinds of their own: they share its frame (head, navigation, footer) and its headers.
"""

from __future__ import annotations

import html
import json
from collections.abc import Sequence
from functools import cache
from random import Random
from urllib.parse import quote

from .coding import CODINGS, Coding
from .labels import LABELS
from .styles import STYLES
from .volatile import Volatile
from .words import LANGUAGES
from .written import Headers, Written


class Site:
    """A site; what does not change from page to page is drawn once, by its name."""

    def __init__(self, name: str, genre: str, style: str, language: str = "en") -> None:
        self.name, self.genre, self.style = name, genre, STYLES[style]
        self.language = LANGUAGES[language]
        self.host = f"www.{name}.example"
        fixed = Random(f"site {name}")
        self.fixed = fixed
        self.title = self.language.name(fixed, 1, 2)
        self.menu = [self.language.name(fixed, 1, 2) for _ in range(fixed.randint(4, 9))]
        self.about = self.language.sentence(fixed)
        self.closing = [self.language.name(fixed, 1, 3) for _ in range(fixed.randint(4, 14))]
        known = LABELS.get(language, {})
        # Where labels are not written above, they are words of the language.
        self.labels = {
            key: known.get(key) or self.language.name(fixed, 1, 3) for key in LABELS["en"]
        }
        self.wrapped = fixed.randint(0, 3)
        self.box = fixed.choice(("div", "section", "article"))
        self.list = fixed.choice((("ul", "li"), ("div", "div"), ("ol", "li")))
        self.heading = fixed.choice(("h2", "h3"))
        self.aside = fixed.choice((True, False))
        self.charset = "gbk" if language == "zh" and self.style.tables else "utf-8"
        self.coding: Coding = fixed.choice(CODINGS)

    @cache  # noqa: B019  # sites live as long as the module
    def _class(self, part: str) -> str:
        return self.style.classes(self.name, part)

    def e(self, tag: str, part: str, *children: str, **attributes: str) -> str:
        """An element; `part` chooses its class."""
        name = self._class(part) if part else ""
        if name:
            attributes = {"class": name, **attributes}
        written = "".join(f' {key.rstrip("_")}="{value}"' for key, value in attributes.items())
        if tag in ("img", "input", "br", "hr"):
            return f"<{tag}{written}>"
        return f"<{tag}{written}>{''.join(children)}</{tag}>\n"

    def items(self, part: str, texts: Sequence[str]) -> str:
        outer, inner = self.list
        return self.e(outer, part, *(self.e(inner, f"{part}-item", text) for text in texts))

    def link(self, text: str, address: str = "#") -> str:
        return self.e("a", "link", text, href=address)

    def written(
        self, volatile: Volatile, path: str, title: str, *main: str, status: int = 200
    ) -> Written:
        """A page with the frame of the site."""
        address = f"https://{self.host}{path}"
        head = (
            f'<meta charset="{self.charset}"><title>{title} - {self.title}</title>'
            f'<meta name="csrf-token" content="{volatile.token()}">'
            f'<link rel="canonical" href="{html.escape(address)}">'
            f'<meta property="og:url" content="{html.escape(address)}">'
            f"{self.style.head(self.name, volatile)}"
            f'<script nonce="{volatile.token(12)}">window.__t={volatile.millis()};'
            f"window.__page={json.dumps({'path': path, 'id': volatile.uuid()})}</script>"
        )
        menu = self.items("nav", [self.link(text, f"/{at}") for at, text in enumerate(self.menu)])
        account = self.link(self.labels["login"], f"/login?next={quote(path, safe='')}")
        find = self.e(
            "form",
            "form",
            self.e("input", "input", name="q", placeholder=self.labels["search"]),
            f'<input type="hidden" name="_token" value="{volatile.hex(40)}">',
            action="/search",
        )
        top = self.e("header", "header", self.e("a", "logo", self.title, href="/"), menu, find)
        content = self.e("main", "main", *main)
        for depth in range(self.wrapped):
            content = self.e("div", f"wrap{depth}", content)
        links = self.items("footer-links", [self.link(text) for text in self.closing])
        closing = self.e("footer", "footer", self.e("p", "about", self.about), links)
        stamp = f"<!-- {volatile.clock()} {volatile.duration()} s {volatile.hex(12)} -->"
        if self.style.tables:
            rows = (f"<tr><td colspan=2>{part}</td></tr>" for part in (top, account, content))
            body = f"<table width=100% cellpadding=0>{''.join(rows)}</table>{closing}"
        else:
            body = f"{top}{account}{content}{closing}"
        page = (
            f'<!DOCTYPE html>\n<html lang="{self.language.code}"><head>{head}</head>\n'
            f"<body>{body}{stamp}</body></html>\n"
        )
        headers: Headers = [
            ("Date", volatile.http_date()),
            ("Content-Type", f"text/html; charset={self.charset.upper()}"),
            *self.style.headers(self.name, volatile),
        ]
        return Written(path, status, headers, page)

    def inlined(self, volatile: Volatile, size: int) -> str:
        """Rules and data that large pages carry in their head: half of what they weigh."""
        random, words = volatile.random, LANGUAGES["en"].words
        rules = (
            f".{random.choice(words)}-{random.choice(words)}{{margin:0 {random.randint(0, 40)}px;"
            f"color:#{volatile.hex(6)};display:flex}}"
            for _ in range(18 * size)
        )
        state = [
            {"id": volatile.uuid(), "name": random.choice(words), "seen": random.random()}
            for _ in range(10 * size)
        ]
        data = json.dumps({"props": state, "build": volatile.hex(20)})
        return f"<style>{''.join(rules)}</style><script>window.__DATA__={data}</script>"

    def prose(self, volatile: Volatile, size: int, least: int = 4, most: int = 12) -> str:
        """An article: paragraphs, with now and then something else between."""
        random, parts = volatile.random, []
        for _ in range(random.randint(least, most) * size):
            chance = random.random()
            if chance < 0.12:
                parts.append(self.e(self.heading, "title", self.language.name(random)))
            elif chance < 0.18:
                texts = [self.language.sentence(random, 3, 8) for _ in range(random.randint(2, 5))]
                parts.append(self.e("ul", "", *(f"<li>{text}</li>" for text in texts)))
            elif chance < 0.24:
                source = f"/media/{volatile.hex(10)}.jpg"
                parts.append(self.e("figure", "figure", self.e("img", "image", src=source)))
            parts.append(self.e("p", "text", self.language.paragraph(random)))
        return "".join(parts)

    def cards(self, volatile: Volatile, count: int, *, price: bool = False) -> str:
        random, made = volatile.random, []
        for _ in range(count):
            name = self.language.name(random)
            about = self.language.sentence(random)
            image = self.e("img", "image", src=f"/i/{volatile.hex(8)}.webp", alt=name)
            inner = [image, self.e(self.heading, "title", self.link(name, f"/{volatile.hex(6)}"))]
            if price:
                inner.append(self.e("span", "price", f"{random.randint(3, 900)}.99"))
                inner.append(self.e("button", "button", self.labels["cart"]))
            else:
                inner.append(self.e("p", "text", about))
                inner.append(self.e("time", "meta", volatile.day(self.language.code)))
            made.append(self.e("div", "cell", self.e(self.box, "card", *inner)))
        return self.e("div", "grid", *made)

    def pager(self, volatile: Volatile) -> str:
        pages = [self.link(str(at)) for at in range(1, volatile.random.randint(4, 9))]
        return self.e("nav", "pager", *pages, self.link(self.labels["next"]))

    def table(self, volatile: Volatile, rows: int, columns: int) -> str:
        random = volatile.random
        head = "".join(f"<th>{text}</th>" for text in (self.menu + self.closing)[:columns])
        lines = (
            "<tr>"
            + "".join(f"<td>{self.language.name(random, 1, 2)}</td>" for _ in range(columns - 1))
            + f"<td>{random.randint(1, 9999)}</td></tr>"
            for _ in range(rows)
        )
        return self.e("table", "table", f"<thead><tr>{head}</tr></thead>", *lines)

    def fields(self, names: Sequence[str], button: str, volatile: Volatile) -> str:
        rows = [
            self.e("div", "field", f"<label>{name}</label>", self.e("input", "input", name="f"))
            for name in names
        ]
        hidden = f'<input type="hidden" name="csrf" value="{volatile.token()}">'
        return self.e("form", "form", hidden, *rows, self.e("button", "button", button))
