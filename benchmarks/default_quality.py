"""Measure what the default recipe finds and keeps apart, by language, length and kind of text.

    python benchmarks/default_quality.py FOLDER [--recipe default --recipe mine.toml]
        [--only copies reports] [--languages zh ja] [--half choose] [--sizes 300 3000]
        [--examples 3]

FOLDER holds languages/CODE.jsonl.gz and records/KIND.jsonl.gz: JSON lines with a column `text`.
Texts are halved by a hash: tune a recipe on `--half choose`, and report the other half. Prints a
Markdown table for each section; of several recipes each cell has the values with arrows between.

* strangers: mean / max cosine of texts without a document in common. Texts up to 30,000
  characters that share 8 % of their windows of twelve characters count as related and are left out.
* copies: the share of edited copies whose cosine reaches 0.85. `edit p`: p % of the words, or of
  the characters in scripts without spaces, deleted, replaced or inserted. `words 10`: the same by
  words everywhere; in scripts without spaces two characters of Han or Kana, or five letters, count
  as a word. `ad 25`, `drop 25`: foreign text inserted, or a piece removed. Texts that an edit left
  as they were do not count.
* long: strangers and copies of 100,000 characters and more; `order` says whether every copy is
  above every stranger.
* reports: texts kept of 500 made from one form with other fields (data/reports.py), and the cosine
  of two notices that differ in the hour.
* spellings: the share of texts written otherwise (data/spellings.py) that reach 0.85, and the mean
  cosine of strangers when both are written so.
* records: what `dedup` removes. A removal is doubtful if the two share less than 60 % of the
  different words of the longer one. Then the share of lightly edited records that reach 0.85.
* mixed: mean / max cosine of pages of 70 words in one language that share only a sentence in
  another.
"""

from __future__ import annotations

import argparse
import gzip
import itertools
import json
import random
import re
import string
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import neardup as nd
from data import corpora, reports, spellings

VERDICT = 0.85
WINDOW = 12
RELATED = 0.08
# Longer texts consist of so many documents that they always share some wording.
LONGEST_RELATED = 30_000
SIZES = (100, 300, 3_000, 30_000, 100_000, 300_000, 1_000_000)
# Texts of a cell. All pairs are compared, so there are fewer of the long sizes.
MOST = 80
MOST_CHARACTERS = 600_000
MOST_COPIED = 240_000
FEWEST_LONG = 3
MOST_LONG = 6
# Texts cut from one document.
CUTS = 3
WIDE = re.compile(rf"\s*[{spellings.WIDE}]")
NARROW = re.compile(rf"\s*[{corpora.NO_SPACES}]")
FORMED = 500
SPELLED = 300
MOST_RECORDS = 20_000
MOST_EDITED = 300
SHARED = 0.6
MARKS = string.punctuation + "、。，；：！？（）「」《》“”„«»…–—।"
PAGE_WORDS = 70
PAGES = 40
# What a site tells everyone it turns away.
DENIED = {
    "en": "Access to this page has been denied.",
    "zh": "您的访问请求已被拒绝，如有疑问请与网站管理员联系，谢谢您的理解与配合。",
    "ja": "アクセスが拒否されました。サイトの管理者までお問い合わせください。",
    "th": "คุณไม่มีสิทธิ์เข้าถึงหน้าเว็บนี้",
    "ru": "Доступ к этой странице запрещён.",
}


@dataclass(frozen=True)
class Task:
    """What to measure: recipes, and the texts of a folder."""

    folder: Path
    recipes: dict[str, nd.Recipe]
    languages: Sequence[str]
    half: str
    sizes: Sequence[int]
    examples: int

    def texts(self) -> Iterator[tuple[str, list[str]]]:
        """Yield the name and the documents of each language asked for."""
        for path in sorted(self.folder.glob("languages/*.jsonl.gz")):
            name = path.name.split(".")[0]
            if not self.languages or {name, language(name)} & {*self.languages}:
                yield name, self.documents(path)

    def documents(self, path: Path) -> list[str]:
        """Return the different texts of a file that are in the half asked for."""
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            texts = dict.fromkeys(json.loads(line)["text"] for line in lines)
        wanted = {"choose": {0}, "report": {1}, "all": {0, 1}}[self.half]
        return [text for text in texts if zlib.crc32(text.encode()) % 2 in wanted]

    def cosines(self, pairs: Sequence[tuple[str, str]]) -> list[list[float]]:
        """Return the cosines of the pairs by each recipe."""
        return [
            [nd.similarity(*pair, recipe) for pair in pairs] for recipe in self.recipes.values()
        ]

    def reached(self, pairs: Sequence[tuple[str, str]]) -> str:
        """Return the share of pairs that reach VERDICT, by each recipe."""
        return cell(f"{np.mean(np.array(found) >= VERDICT):.2f}" for found in self.cosines(pairs))

    def kept(self, texts: Sequence[str]) -> str:
        """Return the number of texts that dedup keeps, by each recipe."""
        return cell(
            str(len(nd.dedup(texts, recipe=recipe).kept)) for recipe in self.recipes.values()
        )


@dataclass(frozen=True)
class Piece:
    """A text of the requested size and the documents it is made of."""

    text: str
    sources: frozenset[int]


def language(name: str) -> str:
    """Return the language of a file: zh-2 has more Chinese texts."""
    return re.sub(r"-\d+$", "", name)


def cell(values: Iterable[str]) -> str:
    return " → ".join(values) or "–"


def row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def head(title: str, *cells: str) -> str:
    return f"\n{row(title, *cells)}\n|{'---|' * (len(cells) + 1)}"


def spread(found: Sequence[Sequence[float]]) -> str:
    """Return mean / max of each recipe's cosines."""
    return cell(f"{np.mean(values):.2f} / {max(values):.2f}" for values in found if values)


def pieces(texts: Sequence[str], size: int, most: int, seed: int = 1) -> list[Piece]:
    """Return texts of `size` characters, cut from longer documents or joined from shorter ones."""
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


def several(texts: Sequence[str], size: int) -> list[Piece]:
    return pieces(texts, size, max(4, min(MOST, MOST_CHARACTERS // size)))


def unrelated(made: Sequence[Piece]) -> list[tuple[str, str]]:
    """Return all pairs of unrelated texts."""
    windows = [_windows(piece.text) for piece in made]
    return [
        (made[left].text, made[right].text)
        for left, right in itertools.combinations(range(len(made)), 2)
        if not made[left].sources & made[right].sources
        and len(windows[left] & windows[right])
        <= RELATED * min(len(windows[left]), len(windows[right]))
    ]


def _windows(text: str) -> set[str]:
    if len(text) > LONGEST_RELATED:
        return set()
    return {text[at : at + WINDOW] for at in range(len(text) - WINDOW + 1)}


def words(text: str) -> list[str]:
    """Return words; two characters of Han or Kana, or five letters without spaces, are one."""
    units = iter(corpora.UNIT.findall(text))
    return [
        unit + "".join(itertools.islice(units, (2 if WIDE.match(unit) else 5) - 1))
        if NARROW.match(unit)
        else unit
        for unit in units
    ]


def by_words(texts: Sequence[str]) -> corpora.Edit:
    """Return an edit of a tenth of the words."""
    foreign = [found for text in texts[:500] if (found := words(text))]

    def edit(text: str, rng: random.Random) -> str:
        edited: list[str] = []
        for word in words(text):
            action = rng.randrange(3) if rng.random() < 0.10 else None
            if action is None or action == 1:
                edited.append(word)
            if action in (1, 2):
                edited.append(rng.choice(rng.choice(foreign)))
        return "".join(edited)

    return edit


def edits(texts: Sequence[str]) -> dict[str, corpora.Edit]:
    kinds = corpora.copies(texts)
    return {
        **{kind: kinds[kind] for kind in ("edit 5", "edit 10")},
        "words 10": by_words(texts),
        **{kind: kinds[kind] for kind in ("ad 25", "drop 25")},
    }


def changed(
    texts: Sequence[str], change: Callable[[str, random.Random], str]
) -> list[tuple[str, str]]:
    """Return the texts that a change alters, each with its copy."""
    rng = random.Random(7)
    pairs = [(text, change(text, rng)) for text in texts]
    return [pair for pair in pairs if pair[0] != pair[1]]


def strangers_section(task: Task) -> Iterator[str]:
    sizes = [size for size in task.sizes if size <= LONGEST_RELATED]
    yield head("strangers, mean / max", *(f"{size:,}" for size in sizes))
    for name, texts in task.texts():
        pairs = (unrelated(several(texts, size)) for size in sizes)
        yield row(name, *(spread(task.cosines(of_size)) for of_size in pairs))


def copies_section(task: Task) -> Iterator[str]:
    yield head(f"copies that reach {VERDICT}", "characters", *edits([""]))
    for name, texts in task.texts():
        changes = edits(texts).values()
        for size in (size for size in task.sizes if size <= LONGEST_RELATED):
            made = several(texts, size)[: MOST_COPIED // size]
            if made:
                judged = [piece.text for piece in made]
                shares = (task.reached(changed(judged, change)) for change in changes)
                yield row(name, f"{size:,}", *shares)


def long_section(task: Task) -> Iterator[str]:
    yield head("long", "characters", "strangers, mean / max", "edit 10", "words 10", "order")
    for name, texts in task.texts():
        changes = edits(texts)
        for size in (size for size in task.sizes if size > LONGEST_RELATED):
            most = max(FEWEST_LONG, min(MOST_LONG, MOST_CHARACTERS // size))
            made = pieces(texts, size, most)
            apart = unrelated(made)
            if len(made) < FEWEST_LONG or not apart:
                continue
            far = task.cosines(apart)
            near = [
                task.cosines(changed([piece.text for piece in made], changes[kind]))
                for kind in ("edit 10", "words 10")
            ]
            order = (
                "yes" if min(*by_character, *by_word) > max(others) else "no"
                for others, by_character, by_word in zip(far, *near, strict=True)
            )
            means = (cell(f"{np.mean(values):.2f}" for values in found) for found in near)
            yield row(name, f"{size:,}", spread(far), *means, cell(order))


def reports_section(task: Task) -> Iterator[str]:
    yield head("reports", f"weather, kept of {FORMED}", f"orders, kept of {FORMED}", "another hour")
    for name, forms in reports.FORMS.items():
        if task.languages and name not in task.languages:
            continue
        notices = (reports.notice(forms, 14), reports.notice(forms, 16))
        yield row(
            name,
            task.kept(reports.reports(forms, FORMED)),
            task.kept(reports.orders(forms, FORMED)) if forms.order else "–",
            cell(f"{found[0]:.3f}" for found in task.cosines([notices])),
        )


def spellings_section(task: Task) -> Iterator[str]:
    known = spellings.spellings()
    if not any(spelling.name == spellings.TRADITIONAL for spelling in known):
        yield "\nTraditional characters are left out: OpenCC is not installed."
    yield head("spellings", "language", "texts", f"reach {VERDICT}", "strangers", "written so")
    for name, texts in task.texts():
        made = several(texts, SPELLED)
        apart = unrelated(made[: MOST // 2])
        plain = None
        for spelling in known:
            if language(name) not in spelling.languages.split():
                continue
            pairs = changed([piece.text for piece in made], spelling.change)
            plain = plain or means(task.cosines(apart))
            rng = random.Random(7)
            both = [(spelling.change(a, rng), spelling.change(b, rng)) for a, b in apart]
            share = task.reached(pairs) if pairs else "–"
            yield row(spelling.name, name, str(len(pairs)), share, plain, means(task.cosines(both)))


def means(found: Sequence[Sequence[float]]) -> str:
    return cell(f"{np.mean(values):.2f}" for values in found if values)


def wording(text: str) -> set[str]:
    """Return the different words of a text, or pairs of characters where there are no spaces."""
    units = [unit.strip().strip(MARKS).casefold() for unit in corpora.UNIT.findall(text)]
    found = {unit for unit in units if unit and not NARROW.match(unit)}
    pairs = itertools.pairwise(units)
    return found | {a + b for a, b in pairs if NARROW.match(a) and NARROW.match(b)}


def is_doubtful(left: str, right: str) -> bool:
    a, b = wording(left), wording(right)
    return len(a & b) < SHARED * max(len(a), len(b))


def light_edits(texts: Sequence[str]) -> dict[str, corpora.Edit]:
    """Return edits that leave nearly all of a record. Foreign words come from `texts`."""
    foreign = [found for text in texts[:500] if (found := words(text))]

    def one_word(text: str, edit: Callable[[str], str], rng: random.Random) -> str:
        found = words(text)
        at = rng.randrange(len(found))
        word = found[at].lstrip()
        found[at] = found[at].removesuffix(word) + edit(word)
        return "".join(found)

    def typo(word: str, rng: random.Random) -> str:
        at = rng.randrange(max(1, len(word) - 1))
        return word[:at] + word[at + 1 : at + 2] + word[at : at + 1] + word[at + 2 :]

    def advert(text: str, rng: random.Random) -> str:
        run = rng.choice(foreign)[: max(1, round(len(words(text)) / 10))]
        return f"{text}\n{''.join(run)}"

    return {
        "a word replaced": lambda text, rng: one_word(
            text, lambda _: rng.choice(rng.choice(foreign)).lstrip(), rng
        ),
        "a typo": lambda text, rng: one_word(text, lambda word: typo(word, rng), rng),
        "ad 10": advert,
    }


def records_section(task: Task) -> Iterator[str]:
    yield head("records", "number", "removed", "doubtful", *light_edits([""]))
    shown: list[str] = []
    for path in sorted(task.folder.glob("records/*.jsonl.gz")):
        kind = path.name.split(".")[0]
        texts = task.documents(path)
        random.Random(1).shuffle(texts)
        texts = [text for text in texts if words(text)][:MOST_RECORDS]
        removed, doubtful = [], []
        for name, recipe in task.recipes.items():
            rows = nd.dedup(texts, VERDICT, recipe=recipe).removed.to_pylist()
            pairs = [(texts[found["row"]], texts[found["dup_of"]]) for found in rows]
            doubted = [pair for pair in pairs if is_doubtful(*pair)]
            removed.append(str(len(pairs)))
            doubtful.append(str(len(doubted)))
            shown += [
                f"\n{kind}, {name}:\n- {left}\n- {right}"
                for left, right in doubted[: task.examples]
            ]
        changes = light_edits(texts).values()
        shares = (task.reached(changed(texts[:MOST_EDITED], change)) for change in changes)
        yield row(kind, f"{len(texts):,}", cell(removed), cell(doubtful), *shares)
    yield from shown


def mixed_section(task: Task) -> Iterator[str]:
    yield head("mixed", "English pages", "with its sentence", "its pages", "with an English one")
    english = pages(task, "en")
    for name in DENIED:
        if name == "en" or (task.languages and name not in task.languages):
            continue
        own = pages(task, name)
        cells = [(english, ""), (english, DENIED[name]), (own, ""), (own, DENIED["en"])]
        pairs = (
            [(f"{a}\n{sentence}", f"{b}\n{sentence}") for a, b in unrelated(of_kind)]
            for of_kind, sentence in cells
        )
        yield row(name, *(spread(task.cosines(of_cell)) for of_cell in pairs))


def pages(task: Task, name: str) -> list[Piece]:
    """Return the beginnings of documents, PAGE_WORDS words each."""
    path = task.folder / f"languages/{name}.jsonl.gz"
    texts = task.documents(path) if path.exists() else []
    begun = (words(text)[:PAGE_WORDS] for text in texts)
    long_enough = (found for found in begun if len(found) == PAGE_WORDS)
    return [
        Piece("".join(found), frozenset({at}))
        for at, found in enumerate(itertools.islice(long_enough, PAGES))
    ]


SECTIONS: dict[str, Callable[[Task], Iterator[str]]] = {
    "strangers": strangers_section,
    "copies": copies_section,
    "long": long_section,
    "reports": reports_section,
    "spellings": spellings_section,
    "records": records_section,
    "mixed": mixed_section,
}


def recipe(name: str) -> nd.Recipe:
    return nd.Recipe.load(name) if name.endswith(".toml") else nd.Recipe.preset(name)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--recipe", action="append", help="a preset or a .toml file")
    parser.add_argument("--only", nargs="+", choices=SECTIONS, default=[*SECTIONS])
    parser.add_argument("--languages", nargs="+", default=[], metavar="CODE")
    parser.add_argument("--half", choices=("choose", "report", "all"), default="report")
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, metavar="CHARACTERS")
    parser.add_argument("--examples", type=int, default=0, help="doubtful removals to show")
    options = parser.parse_args()
    if min(options.sizes) <= WINDOW:
        parser.error(
            f"--sizes {min(options.sizes)} is too small: a text needs more than {WINDOW} characters"
        )
    task = Task(
        options.folder,
        {name: recipe(name) for name in options.recipe or ["default"]},
        options.languages,
        options.half,
        options.sizes,
        options.examples,
    )
    for section in options.only:
        for line in SECTIONS[section](task):
            print(line, flush=True)


if __name__ == "__main__":
    main()
