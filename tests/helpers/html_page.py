"""Parse an HTML page and check that it is well-formed and harmless."""

from __future__ import annotations

import base64
import hashlib
import re
from html.parser import HTMLParser

VOID = {"meta", "input", "link"}
NASTY = "<script>alert(1)</script>\"'&<img src=x onerror=y>\u202e\u2066\x00\x1b\ud800javascript:z"
BIDI = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u061c"
_URL = re.compile(r"(?:https?:)?//[a-z0-9]", re.IGNORECASE)


class Page(HTMLParser):
    """Tags, attributes and text of a page whose elements are properly nested."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str, str | None]] = []
        self.data: list[tuple[str, str]] = []
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert len(dict(attrs)) == len(attrs), f"{tag} has an attribute twice"
        self.tags.append(tag)
        self.attributes += [(tag, name, value) for name, value in attrs]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(tag, name, value) for name, value in attrs]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.data.append((self.open[-1] if self.open else "", data))

    def text(self, *, of: str | None = None) -> str:
        """Return the visible text, or the text of elements of one tag."""
        hidden = ("style", "script", "title")
        return "".join(data for tag, data in self.data if (tag == of if of else tag not in hidden))

    def values(self, name: str) -> list[str]:
        return [value or "" for _, attribute, value in self.attributes if attribute == name]


def check_harmless(page: str, *, has_script: bool = True) -> Page:
    """Assert that a page is well-formed, loads nothing and runs only its own script, if any."""
    found = Page(page)
    assert found.tags.count("script") == has_script
    (policy,) = [x for x in found.values("content") if x.startswith("default-src")]
    if has_script:
        digest = hashlib.sha256(found.text(of="script").encode()).digest()
        assert f"script-src 'sha256-{base64.b64encode(digest).decode()}'" in policy
    else:
        assert "script-src" not in policy
    assert policy.startswith("default-src 'none'; style-src 'unsafe-inline';")
    assert not {"img", "link", "iframe", "object", "form", "base", "audio"} & set(found.tags)
    for _, name, value in found.attributes:
        assert not name.startswith("on")
        assert name not in ("src", "srcset", "srcdoc", "action")
        if name == "href":
            assert re.fullmatch(r"#\w*|[\w-]+\.html(#\w+)?", value or ""), value
    # The namespace of SVG looks like a URL but is never loaded.
    code = found.text(of="script").replace("http://www.w3.org/2000/svg", "")
    assert not _URL.search(code + found.text(of="style"))
    assert "@import" not in page
    assert "url(" not in found.text(of="style")
    assert not set(BIDI) & set(page)
    assert not {"\0", "\x1b"} & set(page)
    return found
