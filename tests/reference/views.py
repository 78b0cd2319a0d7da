"""Naive views: a tree by selectolax, masks by one regular expression after the other.

Slow, and right only for pages as they should be: elements closed, values in the usual forms.
"""

from __future__ import annotations

import html
import json
import re
from typing import Any
from urllib.parse import urlsplit

from selectolax.lexbor import LexborHTMLParser

VOLATILE = {"date", "etag", "age", "x-request-id", "cf-ray"}
CONNECTION = {"content-length", "connection"}
UNSEEN = {"script", "style", "template", "head", "iframe", "noframes", "noembed", "title"}
# No gap between these and the letters beside them.
CLOSE = {"b", "i", "em", "strong", "script", "style", "noscript", "head", "title", "meta"}
LINES = {
    *("address", "article", "aside", "blockquote", "body", "center", "details", "dialog", "dir"),
    *("div", "dl", "fieldset", "figcaption", "figure", "footer", "form", "h1", "h2", "h3", "h4"),
    *("h5", "h6", "header", "hgroup", "hr", "html", "main", "menu", "nav", "ol", "p", "pre"),
    *("section", "summary", "table", "ul", "caption", "legend", "textarea", "search"),
    *("li", "dt", "dd", "option", "optgroup", "br", "tr", "tbody", "thead", "tfoot"),
}

MONTH = "(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"
CLOCK = r"\d{1,2}:\d\d:\d\d(?: GMT|Z)?"
RULES = [
    ("uuid", re.compile(r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b", re.ASCII)),
    ("request-id", re.compile(r"(?<=Ray ID: )[0-9a-f]+", re.ASCII)),
    ("date", re.compile(rf"\b\d{{4}}-\d\d-\d\d(?:[T ]{CLOCK})?", re.ASCII)),
    ("date", re.compile(rf"\b(?:Tue, )?\d{{1,2}} {MONTH} \d{{4}}(?: {CLOCK})?", re.ASCII)),
    ("date", re.compile(rf"\d{{4}}年\d{{1,2}}月\d{{1,2}}日(?: {CLOCK})?", re.ASCII)),
    ("date", re.compile(rf"\b{CLOCK}", re.ASCII)),
    ("ip", re.compile(r"\b(?<!/)\d{1,3}(?:\.\d{1,3}){3}\b", re.ASCII)),
    ("duration", re.compile(r"\b\d+(?:\.\d+)? (?:ms|seconds)\b", re.ASCII)),
    ("timestamp", re.compile(r"\b1[4-9]\d{8}(?:\d{3})?\b", re.ASCII)),
    ("cache-buster", re.compile(r"(?<=\?v=)\w+", re.ASCII)),
    ("token", re.compile(r"\b(?=[a-f]*\d)[0-9a-f]{16,}\b", re.ASCII)),
]


def masked(text: str, url: str = "") -> str:
    parts = urlsplit(url)
    for form in (url, parts.netloc, parts.path):
        if len(form) > 1:
            alone = rf"(?<![\w./-]){re.escape(form)}(?![\w-]|[./]\w)"
            text = re.sub(alone, "‹echo›", text, flags=re.ASCII)
    for name, pattern in RULES:
        text = pattern.sub(f"‹{name}›", text)
    return text


def folded(text: str) -> str:
    return " ".join(re.sub(r"[\x00-\x1f\x7f-\x9f]", " ", text).split())


def page(body: str) -> tuple[str, str, list[str]]:
    """Return the title, tags and lines of text."""
    parser = LexborHTMLParser(body)
    tags: list[str] = []
    text: list[str] = []

    def walk(node: Any, depth: int, *, seen: bool, pre: bool) -> None:
        if node.is_text_node:
            if seen:
                content = node.text_content or ""
                text.append(content if pre else re.sub(r"\s", " ", content))
            return
        if not node.is_element_node:
            return
        tag = node.tag
        classes = sorted(set((node.attributes.get("class") or "").split()))
        tags.append(".".join([f"{min(depth, 64)}{tag}", *classes]))
        around = "\n" if tag in LINES else "" if tag in CLOSE else " "
        text.append(around)
        if seen and (alt := node.attributes.get("alt")) and tag == "img":
            text.append(f" {folded(alt)} ")
        if seen and tag == "input" and node.attributes.get("type") == "submit":
            text.append(f" {folded(node.attributes.get('value') or '')} ")
        if tag in ("script", "style"):
            return
        child = node.first_child
        while child is not None:
            walk(child, depth + 1, seen=seen and tag not in UNSEEN, pre=pre or tag == "pre")
            child = child.next
        text.append(around)

    walk(parser.root, 0, seen=True, pre=False)
    title = parser.css_first("title")
    lines = [folded(line) for line in "".join(text).split("\n")]
    name = folded(html.unescape(title.text())) if title is not None else ""
    return name, " ".join(tags), [line for line in lines if line]


def keys(value: Any) -> list[str]:
    found: set[str] = set()

    def walk(value: Any, path: str, place: str) -> None:
        kinds = {dict: "object", list: "array", str: "string", bool: "boolean", type(None): "null"}
        kind = kinds.get(type(value), "number")
        is_told = not value if kind in ("object", "array") and place == "root" else place != "root"
        if kind == "object" and place == "element":
            is_told = not value
        if is_told:
            found.add(f"{path}:{kind}")
        if isinstance(value, dict):
            for key, inner in value.items():
                walk(inner, f"{path}.{key}" if path else key, "key")
        elif isinstance(value, list):
            for inner in value:
                walk(inner, f"{path}[]", "element")

    walk(value, "", "root")
    return sorted(found, key=lambda path: path.encode())


def messages(value: Any) -> list[str]:
    if isinstance(value, str):
        is_message = len(value) <= 200 and " " in value.strip()
        return [folded(value)] if is_message else []
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [line for each in inner for line in messages(each)]


def view(url: str, status: int, headers: tuple[tuple[str, str], ...], body: str) -> str:
    lines = [f"status {status}"]
    named = set()
    for name, value in headers:
        name = name.lower()
        if name in CONNECTION:
            continue
        if name in VOLATILE:
            named.add(f"header {name}")
        elif name == "set-cookie":
            named.add(f"header {name} {value.split('=')[0]}")
        else:
            named.add(f"header {name} {masked(folded(value), url)}")
    lines += sorted(named, key=lambda line: line.encode())
    if body.startswith(("{", "[")):
        value = json.loads(body)
        lines.append(f"keys {' '.join(keys(value))}")
        lines += [f"text {masked(line, url)}" for line in messages(value)]
        return "\n".join(lines)
    title, tags, text = page(body)
    if title:
        lines.append(f"title {masked(title, url)}")
    lines.append(f"tags {tags}")
    lines += [f"text {masked(line, url)}" for line in text]
    return "\n".join(lines)
