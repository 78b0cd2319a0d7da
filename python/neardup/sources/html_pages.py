"""The visible text of an HTML page."""

from __future__ import annotations

import re
from typing import Any

from neardup.sources.extra import package
from neardup.sources.prose import Prose

# Nothing of these is seen, or it is a stand-in for what cannot be shown.
UNSEEN = {
    *("script", "style", "noscript", "template", "head", "title", "iframe", "object", "noframes"),
    *("noembed", "audio", "video", "canvas", "datalist", "rp", "rt", "rtc"),
}
BLOCKS = {
    *("address", "article", "aside", "blockquote", "body", "center", "details", "dialog", "div"),
    *("dl", "fieldset", "figcaption", "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5"),
    *("h6", "header", "hgroup", "hr", "main", "menu", "nav", "ol", "p", "pre", "section"),
    *("summary", "table", "ul", "caption", "legend", "search", "textarea", "select"),
}
LINES = {"li", "dt", "dd", "option", "optgroup"}
CELLS = {"td", "th"}
HIDING = re.compile(r"(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse))\b")

# Browsers stop nesting here too. Beyond it the time to parse would grow with the square of the
# depth.
DEPTH = 512
TAG = re.compile(r"<(?:(!--)|(/?)([a-zA-Z][^\s/>]*))")
# They have no end, or are ended by the next of their kind; or what is in them is no markup.
UNCOUNTED = {
    *("area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source"),
    *("track", "wbr", "p", "li", "dt", "dd", "tr", "td", "th", "tbody", "thead", "tfoot"),
    *("colgroup", "option", "optgroup", "html", "head", "body"),
}
RAW = {
    *("script", "style", "title", "textarea", "iframe", "xmp", "noembed", "noframes", "noscript"),
    "plaintext",
}


def text_of(markup: str, most: int) -> str:
    """What a reader sees of a page, without its title. Styles in other places than the element
    itself are not looked at."""
    lexbor = package("selectolax.lexbor", "HTML")
    prose = Prose(most)
    # The parser is kept: nodes are of its memory.
    parser = lexbor.LexborHTMLParser(flattened(markup))
    if parser.body is not None:
        _walk(parser.body, prose)
    return prose.text()


def _walk(root: Any, prose: Prose) -> None:
    """All nodes in order, without recursion: pages may be nested deeper than any stack."""
    path: list[tuple[Any, str]] = []
    node, verbatim = root, 0
    while True:
        inner = None
        tag = ""
        if node.is_text_node:
            _add(node.text_content or "", prose, is_verbatim=verbatim > 0)
        elif node.is_element_node:
            tag = node.tag or ""
            if not _is_hidden(node, tag):
                _begin(tag, prose)
                verbatim += tag in ("pre", "textarea")
                if (inner := node.first_child) is None:
                    verbatim -= tag in ("pre", "textarea")
                    _end(tag, prose)
        if inner is not None:
            path.append((node, tag))
            node = inner
            continue
        while (after := node.next if path else None) is None:
            if not path:
                return
            node, tag = path.pop()
            verbatim -= tag in ("pre", "textarea")
            _end(tag, prose)
        node = after


def _add(text: str, prose: Prose, *, is_verbatim: bool) -> None:
    if not is_verbatim:
        prose.add(text)
        return
    first, *rest = text.split("\n")
    prose.add(first)
    for line in rest:
        prose.break_line()
        prose.add(line)


def _begin(tag: str, prose: Prose) -> None:
    if tag in BLOCKS:
        prose.paragraph()
    elif tag in LINES:
        prose.line()
    elif tag == "br":
        prose.break_line()
    elif tag == "tr":
        prose.begin_row()


def _end(tag: str, prose: Prose) -> None:
    if tag in BLOCKS:
        prose.paragraph()
    elif tag in LINES:
        prose.line()
    elif tag in CELLS:
        prose.end_cell()
    elif tag == "tr":
        prose.end_row()


def _is_hidden(node: Any, tag: str) -> bool:
    if tag in UNSEEN:
        return True
    attributes = node.attributes
    if "hidden" in attributes or (tag == "dialog" and "open" not in attributes):
        return True
    style = attributes.get("style")
    return bool(style) and HIDING.search(style.lower()) is not None


def flattened(markup: str) -> str:
    """The same without tags that are nested deeper than `DEPTH`; what is in them stays."""
    if markup.count("<") <= DEPTH:
        return markup
    parts: list[str] = []
    at = done = depth = 0
    while (found := TAG.search(markup, at)) is not None:
        at = found.end()
        if found[1]:
            # Without an end all the rest is a comment.
            at = markup.find("-->", found.start() + 2) + 3
            if at < 3:
                break
            continue
        name = found[3].lower()
        if name in RAW:
            if not found[2] and (at := _end_of(name, markup, at)) < 0:
                break
            continue
        if name in UNCOUNTED:
            continue
        depth += -1 if found[2] else 1
        depth = max(depth, 0)
        if depth > DEPTH or (depth == DEPTH and found[2]):
            end = markup.find(">", at) + 1 or len(markup)
            parts += [markup[done : found.start()], " "]
            at = done = end
    return "".join([*parts, markup[done:]]) if parts else markup


def _end_of(name: str, markup: str, at: int) -> int:
    """Where the content of an element that holds no markup ends; -1 if nowhere."""
    found = re.compile(rf"</{name}\b", re.IGNORECASE).search(markup, at)
    return -1 if found is None else found.start()
