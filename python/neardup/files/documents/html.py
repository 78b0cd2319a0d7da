"""The visible text of an HTML page."""

from __future__ import annotations

import re
from typing import Any

from neardup.files.documents.html_nesting import flattened
from neardup.files.documents.prose import NotReadError, Prose
from neardup.files.reading.extra import package

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


def text_of(markup: str, most: int) -> str:
    """What a reader sees of a page, without its title. Styles in other places than the element
    itself are not looked at."""
    lexbor = package("selectolax.lexbor", "HTML")
    prose = Prose(most)
    # The parser is kept: nodes are of its memory.
    try:
        parser = lexbor.LexborHTMLParser(flattened(markup))
    except lexbor.SelectolaxError as error:
        raise NotReadError(
            f"cannot be read as HTML ({str(error).rstrip('.')})", kind="cannot be read as HTML"
        ) from None
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
