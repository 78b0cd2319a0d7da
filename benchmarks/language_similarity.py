"""Measure the cosine of unrelated texts and of edited copies, in any language at any length.

    python benchmarks/language_similarity.py FILE.jsonl.gz ... [--sizes 300 3000 30000]
        [--recipe default]

Each file holds the documents of one language: JSON lines, plain or gzipped, with a column `text`.
They are cut or joined into texts of each size. Prints two Markdown tables:

* strangers: mean / max cosine of texts without a document in common. Texts up to 30,000
  characters that share 8 % of their windows of twelve characters count as related and are left out.
* copies: the share of edited copies whose cosine reaches 0.85. `edit p`: p % of the words, or of
  the characters in scripts without spaces, deleted, replaced or inserted. `words 10`: the same by
  words everywhere; in scripts without spaces two characters of Han or Kana, or five letters, count
  as a word. `ad 25`, `drop 25`: foreign text inserted, or a piece removed.
"""

from __future__ import annotations

import argparse
import gzip
import itertools
import json
import random
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import neardup as nd
from data import corpora

VERDICT = 0.85
WINDOW = 12
RELATED = 0.08
# Longer texts consist of so many documents that they always share some wording.
LONGEST_RELATED = 30_000
# All pairs are compared, so there are fewer texts of the long sizes.
MOST = 150
MOST_CHARACTERS = 900_000
MOST_COPIED = 360_000
# Texts cut from one document.
CUTS = 3
WIDE = re.compile(r"\s*[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")
NARROW = re.compile(rf"\s*[{corpora.NO_SPACES}]")


@dataclass(frozen=True)
class Piece:
    """A text of the requested size and the documents it is made of."""

    text: str
    sources: frozenset[int]


def documents(path: Path) -> list[str]:
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", encoding="utf-8") as lines:
        return list(dict.fromkeys(json.loads(line)["text"] for line in lines))


def pieces(texts: Sequence[str], size: int, seed: int = 1) -> list[Piece]:
    """Return texts of `size` characters, cut from longer documents or joined from shorter ones."""
    most = max(4, min(MOST, MOST_CHARACTERS // size))
    order = random.Random(seed).sample(range(len(texts)), len(texts))
    made: list[Piece] = []
    glued, sources = "", set[int]()
    for at in order:
        text = texts[at]
        cuts = [text[start : start + size] for start in range(0, len(text) - size + 1, size)]
        if cuts:
            made += [Piece(cut, frozenset({at})) for cut in cuts[:CUTS]]
        else:
            glued, sources = f"{glued}{text}\n", sources | {at}
        if len(glued) >= size:
            made.append(Piece(glued[:size], frozenset(sources)))
            glued, sources = "", set()
        if len(made) >= most:
            break
    return made[:most]


def strangers(made: Sequence[Piece], recipe: nd.Recipe) -> list[float]:
    """Return the cosines of all pairs of unrelated texts."""
    windows = [_windows(piece.text) for piece in made]
    return [
        nd.similarity(made[left].text, made[right].text, recipe)
        for left, right in itertools.combinations(range(len(made)), 2)
        if not made[left].sources & made[right].sources
        and len(windows[left] & windows[right])
        <= RELATED * min(len(windows[left]), len(windows[right]))
    ]


def _windows(text: str) -> set[str]:
    if len(text) > LONGEST_RELATED:
        return set()
    return {text[at : at + WINDOW] for at in range(len(text) - WINDOW + 1)}


def by_words(texts: Sequence[str]) -> corpora.Edit:
    """Return an edit of a tenth of the words, by `_words`."""
    foreign = [words for text in texts[:500] if (words := list(_words(text)))]

    def edit(text: str, rng: random.Random) -> str:
        edited: list[str] = []
        for word in _words(text):
            action = rng.randrange(3) if rng.random() < 0.10 else None
            if action != 0 and action != 2:
                edited.append(word)
            if action in (1, 2):
                edited.append(rng.choice(rng.choice(foreign)))
        return "".join(edited)

    return edit


def _words(text: str) -> Iterator[str]:
    units = iter(corpora.UNIT.findall(text))
    for unit in units:
        length = 2 if WIDE.match(unit) else 5 if NARROW.match(unit) else 1
        yield unit + "".join(itertools.islice(units, length - 1))


def copies(texts: Sequence[str]) -> dict[str, Callable[[str, random.Random], str]]:
    kinds = corpora.copies(texts)
    return {
        **{kind: kinds[kind] for kind in ("edit 5", "edit 10")},
        "words 10": by_words(texts),
        **{kind: kinds[kind] for kind in ("ad 25", "drop 25")},
    }


def reached(
    made: Sequence[Piece],
    change: Callable[[str, random.Random], str],
    recipe: nd.Recipe,
) -> float:
    rng = random.Random(7)
    texts = [piece.text for piece in made]
    judged = texts[: max(1, MOST_COPIED // len(texts[0]))]
    found = [nd.similarity(text, change(text, rng), recipe) >= VERDICT for text in judged]
    return sum(found) / len(found)


def tables(paths: Sequence[Path], sizes: Sequence[int], recipe: nd.Recipe) -> Iterator[str]:
    """Yield the lines of both tables."""
    loaded = {path.name.split(".")[0]: documents(path) for path in paths}
    shown = [f"{size:,}" for size in sizes]
    yield f"| strangers, mean / max | {' | '.join(shown)} |"
    yield f"|{'---|' * (len(sizes) + 1)}"
    for name, texts in loaded.items():
        cells = []
        for size in sizes:
            found = strangers(pieces(texts, size), recipe)
            cells.append(f"{np.mean(found):.2f} / {max(found):.2f}" if found else "–")
        yield f"| {name} | {' | '.join(cells)} |"
    names = list(copies([""]))
    yield ""
    yield f"| copies that reach {VERDICT} | characters | {' | '.join(names)} |"
    yield f"|{'---|' * (len(names) + 2)}"
    for name, texts in loaded.items():
        for size in sizes:
            made = pieces(texts, size)
            if made:
                changes = copies(texts).values()
                shares = (f"{reached(made, change, recipe):.2f}" for change in changes)
                yield f"| {name} | {size:,} | {' | '.join(shares)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("files", type=Path, nargs="+", metavar="FILE")
    parser.add_argument("--sizes", type=int, nargs="+", default=[300, 3_000, 30_000])
    parser.add_argument("--recipe", default="default", help="a preset or a .toml file")
    options = parser.parse_args()
    if min(options.sizes) <= WINDOW:
        parser.error(
            f"--sizes {min(options.sizes)} is too small: a text needs more than {WINDOW} characters"
        )
    name = options.recipe
    recipe = nd.Recipe.load(name) if name.endswith(".toml") else nd.Recipe.preset(name)
    for line in tables(options.files, options.sizes, recipe):
        print(line, flush=True)


if __name__ == "__main__":
    main()
