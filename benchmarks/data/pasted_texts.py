"""Paragraphs of a document, edited and pasted into another, and strangers on the same subject."""

from __future__ import annotations

import gzip
import json
import random
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import neardup as nd
from neardup import _core

# Characters of a document.
LENGTH = range(800, 8_001)
# Words, or characters of a script without spaces, of a paragraph.
PARAGRAPH = {False: range(30, 201), True: range(60, 401)}
# Below this similarity documents have different subjects; the most similar below the other are
# strangers on the same one.
OTHER_SUBJECT, STRANGERS = 0.3, 0.6


@dataclass(frozen=True)
class Pasted:
    """A source, and a document with one of its paragraphs, edited, in [start, end)."""

    source: str
    text: str
    start: int
    end: int


def documents(path: Path, half: int) -> list[str]:
    """Return the different texts of a .jsonl.gz file in one half of them, shuffled: 0 or 1."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        texts = dict.fromkeys(json.loads(line)["text"] for line in file)
    kept = [x for x in texts if zlib.crc32(x.encode()) % 2 == half and len(x) in LENGTH]
    random.Random(1).shuffle(kept)
    return kept


def pasted(texts: Sequence[str], share: float, count: int) -> list[Pasted]:
    """Return documents with a paragraph of another, of which this share of words was replaced,
    left out or added to."""
    rng = random.Random(share)
    vocabulary = [text[a:b] for text in texts[:40] for a, b, _ in units(text)]
    made: list[Pasted] = []
    for source in texts:
        host = next((x for x in rng.choices(texts, k=30) if _is_stranger(source, x)), None)
        paragraphs = [*filter(_is_paragraph, source.split("\n"))]
        if host is not None and paragraphs:
            copy = edited(rng.choice(paragraphs), share, vocabulary, rng)
            middle = host.find("\n", len(host) // 2) + 1 or len(host)
            text = f"{host[:middle]}\n{copy}\n{host[middle:]}"
            made.append(Pasted(source, text, middle + 1, middle + 1 + len(copy)))
        if len(made) == count:
            break
    return made


def strangers(texts: Sequence[str], count: int) -> Iterator[tuple[str, str]]:
    """Yield each text with the most similar one that copies no paragraph of it."""
    for text in texts[:count]:
        near = sorted(texts[:150], key=lambda other: -nd.similarity(text, other))
        others = (x for x in near if nd.similarity(text, x) < STRANGERS and not _copies(text, x))
        yield text, next(others)


def units(text: str) -> list[tuple[int, int, bool]]:
    """Return start, end and whether it is a character, of words or characters."""
    return [*zip(*(each.tolist() for each in _core.units(text)), strict=True)]


def edited(text: str, share: float, vocabulary: Sequence[str], rng: random.Random) -> str:
    parts, at = [], 0
    for start, end, is_character in units(text):
        word = text[start:end]
        if rng.random() < share:
            other = rng.choice(vocabulary)
            word = rng.choice([other, "", word + ("" if is_character else " ") + other])
        parts += [text[at:start], word]
        at = end
    return "".join([*parts, text[at:]])


def _is_paragraph(line: str) -> bool:
    characters = [is_character for *_, is_character in units(line)]
    share = sum(characters) / max(len(characters), 1)
    return not 0.1 < share < 0.9 and len(characters) in PARAGRAPH[share > 0.5]


def _is_stranger(text: str, other: str) -> bool:
    return nd.similarity(text, other) < OTHER_SUBJECT and not _copies(text, other)


def _copies(text: str, other: str) -> bool:
    """Return whether two texts share a verbatim passage of 20 words or 40 characters."""
    return bool(nd.shared(text, other, min_words=20, min_chars=40, bridge=0).passages)
