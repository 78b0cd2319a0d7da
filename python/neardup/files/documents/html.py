"""Visible text of an HTML page."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

from neardup.files.documents.prose import Prose
from neardup.files.reading.formats import UnreadableDocumentError, import_package

# Elements that are not shown, or only in place of others.
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


def html_text(markup: str, most: int) -> str:
    """Return the text a reader sees, without the title. Only styles of the element itself are
    obeyed."""
    lexbor = import_package("selectolax.lexbor", "HTML")
    prose = Prose(most)
    # Keep the parser alive: it owns the memory of the nodes.
    try:
        parser = lexbor.LexborHTMLParser(flatten_markup(markup))
    except lexbor.SelectolaxError as error:
        raise UnreadableDocumentError(
            f"cannot be read as HTML ({str(error).rstrip('.')})", kind="cannot be read as HTML"
        ) from None
    if parser.body is not None:
        _walk(parser.body, prose)
    return prose.text()


def _walk(root: Any, prose: Prose) -> None:
    """Yield all nodes in order, without recursion: pages may be nested deeper than any stack."""
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


# ---- limits for nested markup ----
#
# A few kilobytes can make a deep tree, which takes time quadratic in its depth. Unclosed formatting
# is repeated in every paragraph that follows, which makes a huge tree.

# Browsers limit the depth likewise.
DEPTH = 512
# Formatting elements open at once. No page needs more, and text does not show them.
FORMATS = 32

SPACE = r"[ \t\n\f\r]"
BEGIN = re.compile(r"<(?:(!--)|([!?]|/[^a-zA-Z>])|(/?)([a-zA-Z][^ \t\n\f\r/>]*))")
# The rest of a tag: ">" in a quoted value does not end it. No backtracking.
NAME = r"(?:=[^ \t\n\f\r/>=]*+|[^ \t\n\f\r/>=]++)"
VALUE = r"""(?>"[^"]*+"|'[^']*+'|(?!["'])[^ \t\n\f\r>]*+)"""
REST = re.compile(rf"(?>{SPACE}++|/|{NAME}(?:{SPACE}*+={SPACE}*+{VALUE}|(?!{SPACE}*+=)))*+>")
# Elements without an end tag, or ended by the next of their kind.
UNCOUNTED = {
    *("area", "base", "basefont", "bgsound", "br", "col", "embed", "frame", "hr", "image", "img"),
    *("input", "keygen", "link", "meta", "param", "source", "track", "wbr", "p", "tr", "td", "th"),
    *("tbody", "thead", "tfoot", "colgroup", "option", "html", "head", "body"),
}
# Their content is not markup, unless they are in SVG or MathML.
RAW = {"script", "style", "title", "textarea", "iframe", "xmp", "noembed", "noframes", "plaintext"}
FOREIGN = {"svg", "math"}
FORMATTING = {
    *("a", "b", "big", "code", "em", "font", "i", "nobr", "s", "small", "strike", "strong", "tt"),
    "u",
}
# An end tag inside them does not end an element outside.
WALLS = {
    *("table", "caption", "template", "select", "object", "applet", "marquee", "foreignobject"),
    *("desc", "title", "mi", "mo", "mn", "ms", "mtext", "annotation-xml"),
}
# Their end tags close all elements inside; those of others only if none of these is inside.
STRONG = {
    *("address", "article", "aside", "blockquote", "button", "center", "details", "dialog", "dir"),
    *("div", "dl", "fieldset", "figcaption", "figure", "footer", "header", "hgroup", "listing"),
    *("main", "menu", "nav", "ol", "pre", "search", "section", "summary", "ul", "h1", "h2", "h3"),
    *("h4", "h5", "h6", *WALLS, *FOREIGN, "li", "dd", "dt", "form"),
}
ITEMS = {"li": {"li"}, "dd": {"dd", "dt"}, "dt": {"dd", "dt"}}
PASSED = {"div", "address"}


def flatten_markup(markup: str) -> str:
    """Return the markup without tags nested deeper than `DEPTH` and without formatting beyond
    `FORMATS`; the content stays.
    """
    if markup.count("<") <= FORMATS:
        return markup
    parts: list[str] = []
    open_ = _OpenElements()
    endless: set[str] = set()
    at = done = 0
    while (found := BEGIN.search(markup, at)) is not None:
        at = found.end()
        if found[1]:
            # An unclosed comment extends to the end.
            at = markup.find("-->", found.start() + 2) + 3
            if at < 3:
                break
            continue
        if found[2]:
            if not (at := markup.find(">", found.start() + 2) + 1):
                break
            continue
        name, is_end = found[4].lower(), bool(found[3])
        if (rest := REST.match(markup, at)) is None:
            break  # an unclosed tag is dropped, and nothing follows it
        at = rest.end()
        if name in RAW and not open_.is_foreign:
            # Unclosed: go on as if it were markup; nothing of it is shown.
            if not is_end and name not in endless:
                if (end := _end_of(name, markup, at)) >= 0:
                    at = end
                else:
                    endless.add(name)
            continue
        if name in UNCOUNTED:
            continue
        if not (open_.ends(name) if is_end else open_.begins(name)):
            # Formatting may be inside a word.
            parts += [markup[done : found.start()], "" if name in FORMATTING else " "]
            done = at
    return "".join([*parts, markup[done:]]) if parts else markup


class _OpenElements:
    """The open elements, as a browser has them. In doubt they stay open."""

    def __init__(self) -> None:
        self._names: list[str] = []
        self._formats = 0
        # Dropped start tags by name, so that their end tags are dropped too.
        self._deep: Counter[str] = Counter()
        self._formatting: Counter[str] = Counter()

    @property
    def is_foreign(self) -> bool:
        return not FOREIGN.isdisjoint(self._names)

    def begins(self, name: str) -> bool:
        """Return whether to keep a start tag."""
        if name in FORMATTING:
            if self._formats >= FORMATS or len(self._names) >= DEPTH:
                self._formatting[name] += 1
                return False
            self._formats += 1
        elif name in ITEMS:
            self._next_item(ITEMS[name])
        if len(self._names) >= DEPTH:
            self._deep[name] += 1
            return False
        self._names.append(name)
        return True

    def ends(self, name: str) -> bool:
        """Return whether to keep an end tag."""
        left_out = self._formatting if name in FORMATTING else self._deep
        if left_out[name]:
            left_out[name] -= 1
            return False
        names = self._names
        if name not in names:
            return True
        stops = WALLS if name in STRONG or name in FORMATTING else STRONG
        for place in range(len(names) - 1, -1, -1):
            if names[place] == name:
                if name in FORMATTING:
                    # Elements inside stay open, and so does formatting that ended with a block.
                    del names[place]
                    self._formats -= 1
                elif name == "form":
                    del names[place]
                else:
                    self._cut(place)
                break
            if names[place] in stops:
                break
        return True

    def _next_item(self, kinds: set[str]) -> None:
        for place in range(len(self._names) - 1, -1, -1):
            name = self._names[place]
            if name in kinds:
                self._cut(place)
                return
            if name in STRONG and name not in PASSED:
                return

    def _cut(self, place: int) -> None:
        del self._names[place:]
        # Dropped elements were inside these, so they have ended too.
        self._deep.clear()


def _end_of(name: str, markup: str, at: int) -> int:
    """Return where the content of an element without markup ends; -1 if it is unclosed."""
    found = re.compile(rf"</{name}(?=[ \t\n\f\r/>])", re.IGNORECASE).search(markup, at)
    return -1 if found is None else found.start()
