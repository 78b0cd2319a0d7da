"""Views: the text of named lines as which a response is compared, volatile parts masked.

A `ViewBuilder` builds views; the core has the rules. `features` returns the weighted features of a
response's view, `previews` its view, the parts masked in it, and its label.
"""

from __future__ import annotations

import codecs
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from neardup import _core
from neardup.http.columns import column_value
from neardup.http.messages import Response
from neardup.text.recipe import Recipe, as_recipe

if TYPE_CHECKING:
    from neardup.http.labels import Labels, Rule
    from neardup.text.features import Feature
    from neardup.text.views import Viewing

# The masking rules and what each masks. A view has the rule's name, in the singular and in ‹›, in
# place of a masked part.
MASK_DESCRIPTIONS: dict[str, str] = {
    "dates": "Dates, times of day and ages: 2026-11-17, Tue, 17 Nov 2026 04:25:49 GMT, "
    "2026年11月17日, 4:25 PM, 3 hours ago.",
    "timestamps": "Seconds, milliseconds or more since 1970, of the years 2014 to 2033.",
    "uuids": "UUIDs.",
    "tokens": "Random words: hexadecimal digits from 16 on, and mixtures of letters and "
    "digits from 20 on, such as CSRF tokens, nonces and session ids.",
    "request-ids": "Identifiers after Ray ID, Reference #, Request ID, 请求ID and the like.",
    "cookies": "Values and attributes of Set-Cookie; the name stays.",
    "cache-busters": "Parts of URLs that defeat caches: ?v=123, app.3f2a1b.js.",
    "ips": "IP addresses of versions 4 and 6.",
    "echo": "The request's own URL, host, path, last part of the path or values of the query, "
    "echoed as they are, percent-encoded, or escaped for HTML or JSON.",
    "durations": "How long something took, and how many queries: 0.032 seconds, 12 ms, 耗时 2 秒.",
    "headers": "Values of headers that differ from response to response: Date, ETag, Age, "
    "Via, X-Cache, CF-Ray and the like; the name stays. Hop-by-hop headers are removed.",
    "classes": "Generated parts of class names: css-1x2y3z, post-1234.",
}
# Bodies of these media types are compared by type and length only.
BINARY_TYPES = ("image/", "audio/", "video/", "font/")
# Bytes in which to look for a zero byte, which text has only in UTF-16 and UTF-32.
SNIFF_BYTES = 1024
# In a preview: distinct originals of each rule, and characters of each.
MAX_ORIGINALS = 3
MAX_ORIGINAL_CHARS = 60

# url, status, headers, body in UTF-8, group, final URL, title, length of a missing body
CoreResponse = tuple[str, int, tuple[tuple[str, str], ...], bytes, str | None, str, str, int | None]


class Mask(NamedTuple):
    """A masked part: the rule, the original, and the name of the line of the view."""

    rule: str
    original: str
    line: str


@dataclass(frozen=True, slots=True)
class MaskedView:
    """The view of one response, its unmasked title, and the masked parts."""

    text: str
    title: str
    masks: tuple[Mask, ...]


class ViewBuilder:
    """Builds views of responses, on all cores and without the GIL."""

    def __init__(self, viewing: Viewing, *, threads: int | None = None) -> None:
        self.viewing = viewing
        self._core = _core_views(viewing.views, viewing.masks)
        self._threads = threads

    def build(self, responses: Sequence[Response]) -> tuple[Any, list[str]]:
        """Return the views as an Arrow array of large strings, and the unmasked titles."""
        import numpy as np
        import pyarrow as pa

        data, ends, titles = self._core.make(
            [self._core_response(each) for each in responses], self._threads
        )
        offsets = np.concatenate([np.zeros(1, np.int64), ends])
        texts = pa.LargeStringArray.from_buffers(
            len(ends), pa.py_buffer(offsets), pa.py_buffer(data)
        )
        return texts, titles

    def build_masked(self, response: Response) -> MaskedView:
        """Return the view of one response together with the masked parts."""
        text, title, masks = self._core.masked(self._core_response(response))
        return MaskedView(text, title, tuple(Mask(*mask) for mask in masks))

    def _core_response(self, response: Response) -> CoreResponse:
        within = self.viewing.within
        return (
            response.url,
            response.status,
            response.headers,
            utf8_body(response),
            None if within is None else column_value(response, within),
            response.final_url,
            response.title,
            None if response.is_whole else max(response.length, 0),
        )


@cache
def _core_views(views: tuple[str, ...], masks: tuple[str, ...]) -> _core.Views:
    """Compile the rules once: this takes a tenth of a second, too long for each file."""
    return _core.Views(list(views), list(masks))


def utf8_body(response: Response) -> bytes:
    """Return the body in UTF-8; bytes that are not text are returned unchanged."""
    charset, body = response.charset, response.body
    try:
        name = codecs.lookup(charset).name
    except (LookupError, ValueError):
        return body
    if name in ("utf-8", "ascii", "utf-8-sig"):
        return body
    if response.header("content-type").lower().startswith(BINARY_TYPES):
        return body
    if b"\0" in body[:SNIFF_BYTES] and not name.startswith(("utf-16", "utf-32")):
        return body
    try:
        return body.decode(name, "replace").encode("utf-8", "replace")
    except (LookupError, ValueError):  # an encoding of bytes to bytes, such as hex
        return body


def features(response: Response, recipe: Recipe | str | os.PathLike[str] = "http") -> list[Feature]:
    """Return the features of a response by a recipe for HTTP: tokens, counts and weights.

    Pass them to `nd.fingerprint` or `nd.similarity`. The recipe sets which parts are masked.
    """
    from neardup.text.features import features as text_features

    if not isinstance(response, Response):
        raise TypeError(
            f"response is of type {type(response).__name__}; "
            "pass a Response, such as neardup.http.responses(path) gives"
        )
    recipe = as_recipe(recipe)
    (text,) = ViewBuilder(recipe.viewing()).build([response])[0].to_pylist()
    return text_features(text, recipe)


@dataclass(frozen=True, kw_only=True)
class MaskCount:
    """How often a rule masked something, and the first distinct originals, shortened."""

    rule: str
    count: int
    originals: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Preview:
    """The view of a response, for people to check masks and labels.

    id, number  the id of its document, and its number in the file
    view        the text that is compared, masked parts as ‹rule›
    masked      counts of the rules, the most frequent first
    label       the rule that labels it; None if no rule matches
    """

    id: str
    number: int
    url: str
    status: int
    title: str
    view: str
    masked: tuple[MaskCount, ...]
    label: Rule | None

    def as_dict(self) -> dict[str, Any]:
        """Return the preview as values of JSON."""
        return {
            "id": self.id,
            "number": self.number,
            "url": self.url,
            "status": self.status or None,
            "title": self.title,
            "label": self.label and self.label.label,
            "rule": self.label and self.label.name,
            "view": self.view.split("\n"),
            "masked": [{**asdict(each), "originals": list(each.originals)} for each in self.masked],
        }


def previews(
    responses: Iterable[tuple[str, int, Response]], viewing: Viewing, labels: Labels
) -> Iterator[Preview]:
    """Yield a preview for each (id, number in the file, response)."""
    from neardup.http.labels import rule_input

    builder = ViewBuilder(viewing)
    for id_, number, response in responses:
        view = builder.build_masked(response)
        rule = labels.label(
            rule_input(
                view.text,
                status=response.status,
                title=view.title,
                server=response.header("server"),
                content_type=response.header("content-type"),
            )
        )
        yield Preview(
            id=id_,
            number=number,
            url=response.url,
            status=response.status,
            title=view.title,
            view=view.text,
            masked=tuple(_count_masks(view.masks)),
            label=rule,
        )


def _count_masks(masks: Iterable[Mask]) -> Iterator[MaskCount]:
    counts: dict[str, int] = {}
    originals: dict[str, dict[str, None]] = {}
    for rule, original, _ in masks:
        counts[rule] = counts.get(rule, 0) + 1
        distinct = originals.setdefault(rule, {})
        if len(distinct) < MAX_ORIGINALS:
            distinct[_shorten(original)] = None
    for rule in sorted(counts, key=lambda name: (-counts[name], name)):
        yield MaskCount(rule=rule, count=counts[rule], originals=tuple(originals[rule]))


def _shorten(text: str) -> str:
    return text if len(text) <= MAX_ORIGINAL_CHARS else f"{text[: MAX_ORIGINAL_CHARS - 1]}…"
