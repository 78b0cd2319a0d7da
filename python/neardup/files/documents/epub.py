"""The text of a book (.epub): its chapters, in the order of its spine."""

from __future__ import annotations

import posixpath
from typing import NamedTuple
from urllib.parse import unquote

from neardup.files.documents import html
from neardup.files.documents.prose import UnreadableDocumentError
from neardup.files.documents.zipped_xml import Parts, events, local
from neardup.files.reading import encodings

CONTAINER = "META-INF/container.xml"
ENCRYPTION = "META-INF/encryption.xml"
PAGES = {"application/xhtml+xml", "text/html", "application/xml", ""}


class _Item(NamedTuple):
    """A file of the book, as its list has it."""

    path: str
    kind: str
    properties: frozenset[str]


def text_of(data: bytes, most: int) -> str:
    """The visible text of all chapters; the table of contents is left out."""
    parts = Parts(data, most)
    package = _package(parts)
    chapters = _chapters(parts, package)
    locked = _locked(parts)
    texts: list[str] = []
    left = most
    for path in chapters:
        if path in locked:
            raise UnreadableDocumentError(f"is encrypted ({path})", kind="is encrypted")
        if path not in parts:
            raise UnreadableDocumentError(f"is damaged (it has no part {path})", kind="is damaged")
        text = html.text_of(encodings.decoded(parts.read(path)), left)
        left = max(left - len(text), 0)
        if text:
            texts.append(text)
    return "\n\n".join(texts)


def _package(parts: Parts) -> str:
    """The part that lists the others."""
    found: list[str] = []

    def begin(name: str, attributes: dict[str, str]) -> None:
        if local(name) == "rootfile" and "full-path" in attributes:
            found.append(attributes["full-path"])

    events(CONTAINER, parts.read(CONTAINER), begin, lambda name: None)
    if not found:
        raise UnreadableDocumentError(
            f"is damaged ({CONTAINER} names no package)", kind="is damaged"
        )
    return found[0]


def _chapters(parts: Parts, package: str) -> list[str]:
    folder = posixpath.dirname(package)
    items: dict[str, _Item] = {}
    spine: list[str] = []

    def begin(name: str, attributes: dict[str, str]) -> None:
        element = local(name)
        if element == "item":
            href = unquote(attributes.get("href", "").partition("#")[0])
            # A name inside the book and nothing else: it is only ever looked up there.
            path = posixpath.normpath(posixpath.join(folder, href))
            properties = frozenset(attributes.get("properties", "").split())
            kind = attributes.get("media-type", "").lower()
            items[attributes.get("id", "")] = _Item(path, kind, properties)
        elif element == "itemref":
            spine.append(attributes.get("idref", ""))

    events(package, parts.read(package), begin, lambda name: None)
    named = [items[id_] for id_ in dict.fromkeys(spine) if id_ in items]
    return [item.path for item in named if item.kind in PAGES and "nav" not in item.properties]


def _locked(parts: Parts) -> set[str]:
    """What only its owner's program can read. Fonts may be among it, which nobody misses."""
    found: set[str] = set()

    def begin(name: str, attributes: dict[str, str]) -> None:
        if local(name) == "CipherReference":
            found.add(posixpath.normpath(unquote(attributes.get("URI", ""))))

    if ENCRYPTION in parts:
        events(ENCRYPTION, parts.read(ENCRYPTION), begin, lambda name: None)
    return found
