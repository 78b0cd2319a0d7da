"""Views of generated responses, and pairs of them whose cosine is just above a threshold.

Each part of a view is a list of words, which the edits of `edges` change: one part alone, several
at once, or a part that only one of both has. A part of one word next to one of thousands is where a
sketch could go wrong.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence

import neardup as nd
from helpers import borderline_pairs

Parts = dict[str, list[str]]
VOCABULARY = [borderline_pairs.word(random.Random(seed), 2, 9) for seed in range(2000)]
HAN = [chr(0x4E00 + 7 * at) for at in range(2500)]
HEADERS = [
    *("server nginx", "server apache/2.4", "content-type text/html; charset=utf-8", "date", "etag"),
    *("x-powered-by php", "content-type application/json", "vary accept-encoding", "via", "age"),
    *("cache-control no-cache, no-store", "x-frame-options deny", "set-cookie sid=cookie"),
    *("strict-transport-security max-age=31536000", "connection close", "content-length"),
]
NAMES = [
    *("div", "div.row", "div.card", "p", "a", "a.link", "li", "ul.menu", "span", "span.price"),
    *("h1", "h2.title", "img", "table", "tr", "td", "form", "input", "section", "footer", "nav"),
]


def text_of(parts: Parts) -> str:
    """Return the view as text."""
    lines = [f"status {word}" for word in parts.get("status", [])]
    lines += [f"header {word}" for word in parts.get("headers", [])]
    for name in ("title", "tags", "keys"):
        if parts.get(name):
            lines.append(f"{name} {' '.join(parts[name])}")
    words = parts.get("text", [])
    lines += [f"text {' '.join(words[at : at + 9])}" for at in range(0, len(words), 9)]
    lines += [f"body {word}" for word in parts.get("body", [])]
    return "\n".join(lines)


def some(rng: random.Random, words: Sequence[str], low: int, high: int) -> list[str]:
    return [words[int(len(words) * rng.random() ** 2)] for _ in range(rng.randint(low, high))]


def elements(rng: random.Random, low: int, high: int) -> list[str]:
    """Return elements of varying depth."""
    found, depth = ["0html", "1head", "2title", "1body"], 2
    names = rng.sample(NAMES, rng.randint(3, len(NAMES)))
    for _ in range(rng.randint(low, high)):
        found.append(f"{depth}{rng.choice(names)}")
        depth = min(max(2, depth + rng.choice((-1, 0, 0, 1))), 12)
    return found


def head(rng: random.Random, most: int) -> Parts:
    status = rng.choice(("200", "301", "403", "404", "500"))
    return {"status": [status], "headers": rng.sample(HEADERS, rng.randint(1, most))}


def empty(rng: random.Random) -> Parts:
    return {**head(rng, len(HEADERS)), "body": ["empty"]}


def bare(rng: random.Random) -> Parts:
    """Return a view of a single feature."""
    return {**head(rng, 1), "title": some(rng, VOCABULARY, 1, 1), "body": ["image/png 14"]}


def error_page(rng: random.Random) -> Parts:
    title = some(rng, VOCABULARY, 1, 4)
    text = [*title, *some(rng, VOCABULARY, 0, 8)]
    return {**head(rng, 6), "title": title, "tags": elements(rng, 1, 5), "text": text}


def page(rng: random.Random) -> Parts:
    return {
        **head(rng, len(HEADERS)),
        "title": some(rng, VOCABULARY, 2, 9),
        "tags": elements(rng, 20, 150),
        "text": some(rng, VOCABULARY, 30, 250),
    }


def chinese_page(rng: random.Random) -> Parts:
    text = ["".join(some(rng, HAN, 3, 20)) for _ in range(rng.randint(4, 20))]
    return {**page(rng), "title": ["".join(some(rng, HAN, 2, 8))], "text": text}


def long_page(rng: random.Random) -> Parts:
    return {**page(rng), "tags": elements(rng, 300, 900), "text": some(rng, VOCABULARY, 800, 2000)}


def listing(rng: random.Random) -> Parts:
    """Return a page that repeats one card with few words."""
    card = [f"3{rng.choice(NAMES)}", *(f"4{name}" for name in some(rng, NAMES, 1, 5))]
    tags = ["0html", "1body", "2main", *(card * rng.randint(2, 60))]
    return {
        **head(rng, 8),
        "title": some(rng, VOCABULARY, 1, 4),
        "tags": tags,
        "text": some(rng, VOCABULARY, 3, 40) * rng.randint(1, 4),
    }


def json_answer(rng: random.Random) -> Parts:
    keys = [f"{'.'.join(some(rng, VOCABULARY, 1, 3))}:string" for _ in range(rng.randint(1, 30))]
    return {**head(rng, 8), "keys": keys, "text": some(rng, VOCABULARY, 0, 12)}


KINDS: dict[str, Callable[[random.Random], Parts]] = {
    "empty bodies": empty,
    "one feature a view": bare,
    "error pages": error_page,
    "pages": page,
    "Chinese pages": chinese_page,
    "long pages": long_page,
    "listings": listing,
    "JSON": json_answer,
}


def changed(parts: Parts, other: Parts, rng: random.Random) -> Parts:
    """Edit or drop some parts, or take them from another response."""
    made = {name: list(words) for name, words in parts.items()}
    for name in rng.sample(sorted(made), rng.randint(1, min(3, len(made)))):
        draw = rng.random()
        if draw < 0.1:
            del made[name]
        elif draw < 0.2 or len(made[name]) < 2:
            made[name] = list(other.get(name, []))
        else:
            edit = rng.choice(list(borderline_pairs.EDITS.values()))
            foreign = other.get(name) or made[name]
            made[name] = edit(made[name], [foreign], rng.random(), rng)
    return made


def pairs(
    draw: Callable[[random.Random], Parts],
    similarity: float,
    count: int,
    rng: random.Random,
    recipe: nd.Recipe,
) -> Iterator[tuple[str, str]]:
    """Yield up to `count` borderline pairs."""
    found, drawn = 0, 0
    while found < count and drawn < 40 * count:
        drawn += 1
        parts = draw(rng)
        left = text_of(parts)
        for _ in range(borderline_pairs.TRIES):
            right = text_of(changed(parts, draw(rng), rng))
            cosine = recipe.pipeline.similarity(left, right)
            signal = recipe.pipeline.fingerprint(right) is not None
            if signal and similarity <= cosine < min(similarity + borderline_pairs.EDGE, 1):
                found += 1
                yield left, right
                break
