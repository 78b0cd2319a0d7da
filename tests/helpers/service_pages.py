"""Check that pages of the service are harmless, and build a collection of hostile documents."""

from __future__ import annotations

import re
from pathlib import Path

from helpers.html_page import BIDI, NASTY, Page
from neardup.collection import Collection

# NASTY without the lone surrogate, which cannot be stored.
NASTY_NAME = NASTY.replace("\ud800", "")
WORDS = (
    "the harbour office opens at nine and closes at noon on every day of the week but sunday when "
    "nobody works there and the gulls have the pier to themselves until the evening ferry comes"
)


def check_harmless(html: str) -> Page:
    """Assert that a page is well-formed, loads only from the service, has no inline script."""
    found = Page(html)
    assert "\x1b" not in html
    assert "\0" not in html
    assert not set(BIDI) & set(html)
    assert len(found.values("id")) == len(set(found.values("id")))
    assert found.text(of="script").strip() == ""
    assert not {"iframe", "object", "embed", "base", "img", "style"} & set(found.tags)
    for tag, name, value in found.attributes:
        assert not name.startswith("on"), (tag, name)
        assert name not in ("style", "srcset", "srcdoc", "formaction"), (tag, name)
        if name in ("href", "action", "src"):
            assert re.match(r"(/(?![/\\])|#|\?)", value or ""), (tag, name, value)
    for tag, name, value in found.attributes:
        if tag == "script" and name == "src":
            assert re.match(r"/(static|shared)/[\w./-]+\.js", value or "")
    return found


def hostile_collection(folder: Path) -> Collection:
    """Return a collection of ids, texts and metadata that attempt injection."""
    found = Collection.open(folder / "hostile.neardup", runs=True)
    documents = [
        (NASTY_NAME, f"{WORDS} {NASTY_NAME} {WORDS[::-1]}", {"title": NASTY_NAME}),
        (
            f"{NASTY_NAME} 2",
            f"{WORDS} {NASTY_NAME} {WORDS[::-1]} and more",
            {"url": "javascript:z"},
        ),
        ("'; DROP TABLE documents; --", f"{WORDS} one two three", {}),
        ("../../etc/passwd", f"once more: {WORDS}", {}),
        ("=HYPERLINK(1)", f"{WORDS}\r\nwith a line", {}),
        ("a\r\nb\tc", f"{WORDS}\nand another line", {}),
        ("%2e%2e%2f&id=x#y?z", f"{WORDS} percent", {}),
    ]
    found.add(documents)
    return found
