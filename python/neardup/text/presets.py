"""Named recipes: the purpose of each, and the fields that differ from the default."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Preset:
    """A purpose in one line, and the values of some fields of `Recipe`."""

    purpose: str
    fields: dict[str, Any]


# Default weights of the views of an HTTP response. The views of an HTML page (status, headers,
# title, tags, text) add up to 100. Measured in docs/recipes.md.
HTTP_VIEWS = {
    "status": 20.0,
    "headers": 10.0,
    "title": 10.0,
    "tags": 57.0,
    "keys": 57.0,
    "text": 3.0,
    "body": 57.0,
}


def _http(purpose: str, **views: float) -> Preset:
    return Preset(purpose, {"tokens": "http", "weights": "shares", "views": views})


PRESETS: dict[str, Preset] = {
    "default": Preset("any text, any language: words, or characters and pairs, 128 bits", {}),
    "default-2": Preset(
        "the default of version 2, for collections that were made with it", {"version": 2}
    ),
    "simhash": Preset(
        "as the PyPI package simhash: character 4-grams, md5",
        {
            "normalize": "lower",
            "tokens": "chars",
            "ngram": 4,
            # Python's \w in full, since \w of the core's regular expressions matches more.
            "pattern": r"[\p{L}\p{N}_\u{4e00}-\u{9fcc}]+",
            "weights": "tf",
            "hash": "md5",
            "bits": 64,
            "tie": "zero",
            "votes": "half-float",
            "min_features": 1,
        },
    ),
    "weighted-tokens": Preset(
        "as python-hashes: words between spaces, Python's old string hash, ties to 1",
        {
            "normalize": "none",
            "tokens": "whitespace",
            "weights": "tf",
            "hash": "python",
            "bits": 64,
            "tie": "one",
            "min_features": 1,
        },
    ),
    "jieba-tfidf": Preset(
        "Chinese keywords: jieba's 20 best, weight int(20 · tf-idf), Python's old string hash",
        {
            "normalize": "none",
            "tokens": "jieba-keywords",
            "weights": "tfidf",
            "idf": "jieba",
            "top": 20,
            "scale": 20.0,
            "hash": "python",
            "bits": 64,
            "tie": "zero",
            "min_features": 1,
        },
    ),
    "characters": Preset(
        "for learning: single characters by frequency, first bytes of md5",
        {
            "normalize": "none",
            "tokens": "chars",
            "weights": "frequency",
            "hash": "md5-first",
            "bits": 64,
            "tie": "zero",
            "votes": "signed-float",
            "min_features": 1,
        },
    ),
    "lookup3": Preset(
        "weighted features with Jenkins' lookup3, as C++ SimHash libraries",
        {
            "normalize": "none",
            "tokens": "whitespace",
            "weights": "tf",
            "hash": "lookup3",
            "bits": 64,
            "tie": "zero",
            "votes": "signed-float",
            "min_features": 1,
        },
    ),
    "lookup3-yanyiwu": Preset(
        "as yanyiwu/simhash: jieba's 5 best keywords, lookup3 with its halves swapped",
        {
            "normalize": "none",
            "tokens": "jieba",
            "weights": "tfidf",
            "idf": "jieba",
            "top": 5,
            "hash": "lookup3-yanyiwu",
            "bits": 64,
            "tie": "zero",
            "votes": "signed-float",
            "min_features": 1,
        },
    ),
    "http": _http("HTTP responses: status, headers, title, tags, keys of JSON, text", **HTTP_VIEWS),
    "http-structure": _http(
        "HTTP responses by structure: status, tags with classes, keys of JSON",
        status=20.0,
        tags=80.0,
        keys=80.0,
        body=80.0,
    ),
    "http-text": _http(
        "HTTP responses by visible text: title and text",
        title=20.0,
        text=80.0,
    ),
    "http-headers": _http("HTTP responses by their status and headers", status=25.0, headers=75.0),
}
