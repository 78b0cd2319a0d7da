"""Texts copied as people copy, and honest ones on the same subject: the truth is known.

English: posts of a newsgroup, without what they quote; an honest text is another post of the same
group. Chinese: articles of the People's Daily; an honest text is the other half of the article, on
the same subject and by the same hand. Where there are no such texts, made-up ones take their place.
"""

from __future__ import annotations

import gzip
import json
import random
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path

from data import corpora
from data.synonyms import TABLES, replaced

LANGUAGES = ("English", "Chinese")
# In words, or in characters of Chinese.
SHORTEST = {"English": 200, "Chinese": 400}
LONGEST = {"English": 1_500, "Chinese": 4_000}
PARAGRAPH = {"English": 40, "Chinese": 80}
HOST = {"English": 3_000, "Chinese": 6_000}
# Shorter lines are headings, by-lines and captions.
LINE = 60
QUOTED = re.compile(r"^\s*(?:[>|:}#=+%*]|[A-Za-z]{1,4}>|\S.{0,80}\b(?:writes|wrote|says):?\s*$)")
SIGNATURE = re.compile(r"\n-{2,}\s*\n|\n[-_=*~]{5,}")
SENTENCE = {
    "English": re.compile(r"(?<=[.!?])[\"')]*\s+"),
    "Chinese": re.compile(r"(?<=[。！？；])(?![”’」』])"),
}

# Paragraphs of sentences.
Body = list[list[str]]


@dataclass(frozen=True)
class Case:
    """A source, another source, and honest texts on the subject of the first: one, and a long
    one of several."""

    language: str
    source: Body
    other: Body
    fellow: Body
    host: Body


@dataclass(frozen=True)
class Pair:
    """A source and a text that was copied from it, in this way, or honestly written."""

    kind: str
    source: str
    suspect: str

    @property
    def is_copied(self) -> bool:
        return not self.kind.startswith("honest")


def written(body: Body, language: str) -> str:
    gap, between = ("\n\n", " ") if language == "English" else ("\n", "")
    return gap.join(between.join(paragraph) for paragraph in body if paragraph)


def length(body: Body, language: str) -> int:
    return sum(
        len(each.split()) if language == "English" else len(each) for each in _sentences(body)
    )


def cases(
    data: Path | None, language: str, count: int, *, made_up: bool = False, seed: int = 1
) -> list[Case]:
    """So many cases, if there are enough texts; made-up ones where there are none, or on demand."""
    rng = random.Random(seed)
    subjects: list[list[Body]] = []
    if not made_up:
        subjects = _english(data) if language == "English" else _chinese()
    subjects = subjects or _made_up(language, count)
    rng.shuffle(subjects)
    made: list[Case] = []
    for at, subject in enumerate(subjects):
        if len(made) == count:
            break
        source, fellow, *more = subject
        # The subject may be too small to fill a long text; then strangers do.
        others = subjects[(at + 1) % len(subjects)], subjects[(at + 2) % len(subjects)]
        host: Body = list(fellow)
        for body in (*more, *(body for each in others for body in each[1:])):
            if length(host, language) >= HOST[language]:
                break
            host = host + body
        made.append(Case(language, source, others[0][0], fellow, host))
    return made


def pairs(case: Case, rng: random.Random) -> list[Pair]:
    """A source beside each kind of copy of it, and beside the honest texts."""
    source = written(case.source, case.language)
    made = {
        "honest": case.fellow,
        "honest, long": case.host,
        **{kind: copy(case, rng) for kind, copy in KINDS.items()},
    }
    suspects = {kind: written(body, case.language) for kind, body in made.items()}
    suspects["punctuation"] = punctuated(source, case.language, rng)
    suspects["width"] = widened(source, case.language)
    for kind, copy in HARDER.items():
        suspects[kind] = written(copy(case, rng), case.language)
    return [Pair(kind, source, suspect) for kind, suspect in suspects.items()]


def paste(case: Case, rng: random.Random) -> Body:
    """One paragraph of the source somewhere in a long text of one's own."""
    long = [
        each for each in case.source if length([each], case.language) >= PARAGRAPH[case.language]
    ]
    paragraph = rng.choice(long) if long else _sentences(case.source)[:4]
    at = rng.randrange(len(case.host) + 1)
    return [*case.host[:at], paragraph, *case.host[at:]]


def light(case: Case, rng: random.Random) -> Body:
    """The whole source with a word in twelve replaced, left out or added."""
    return _each(case, lambda sentence: _edited(sentence, case, 1 / 12, 1, rng))


def heavy(case: Case, rng: random.Random) -> Body:
    """A fifth of the sentences left out, of the others a third of the words rewritten, in stretches
    of up to four; a sentence of one's own after every fourth."""
    own = _sentences(case.fellow)
    made: Body = []
    for paragraph in case.source:
        sentences: list[str] = []
        for sentence in paragraph:
            if rng.random() < 0.2:
                continue
            sentences.append(_edited(sentence, case, 1 / 3, 4, rng))
            if rng.random() < 0.25:
                sentences.append(rng.choice(own))
        made.append(sentences)
    return made


def reordered(case: Case, rng: random.Random) -> Body:
    """All sentences of the source, in another order."""
    sentences = _sentences(case.source)
    rng.shuffle(sentences)
    return [sentences[at : at + 5] for at in range(0, len(sentences), 5)]


def synonyms(case: Case, rng: random.Random) -> Body:
    """Nine in ten words of the table of synonyms replaced."""
    return _each(case, lambda sentence: replaced(sentence, case.language, 0.9, rng))


def mixed(case: Case, rng: random.Random) -> Body:
    """Two or three sentences of the source, then of another one, and so on; a third of one's own
    text between them."""
    stocks = [iter(_sentences(body)) for body in (case.source, case.other, case.fellow)]
    made: Body = []
    for turn in range(len(_sentences(case.source))):
        stock = stocks[turn % 3]
        made.append([each for _, each in zip(range(rng.choice((2, 3))), stock, strict=False)])
    return made


def sentence(case: Case, rng: random.Random) -> Body:
    """One sentence of the source somewhere in a long text of one's own."""
    long = [each for each in _sentences(case.source) if len(_units(each, case.language)) >= 12]
    chosen = rng.choice(long or _sentences(case.source))
    at = rng.randrange(len(case.host))
    paragraph = list(case.host[at])
    paragraph.insert(rng.randrange(len(paragraph) + 1), chosen)
    return [*case.host[:at], paragraph, *case.host[at + 1 :]]


def rewritten(case: Case, rng: random.Random) -> Body:
    """Synonyms for all there are, then every second word replaced, left out or added, one or two at
    a time; sentences in another order. Hardly three words stay together."""

    def change(text: str) -> str:
        return _edited(replaced(text, case.language, 1, rng), case, 1 / 2, 2, rng)

    return [[change(text) for text in paragraph] for paragraph in reordered(case, rng)]


KINDS: dict[str, Callable[[Case, random.Random], Body]] = {
    "paste": paste,
    "light": light,
    "heavy": heavy,
    "reordered": reordered,
    "synonyms": synonyms,
    "mixed": mixed,
}
# Beyond what can be asked of coverage; they show where it ends, and are counted apart.
HARDER: dict[str, Callable[[Case, random.Random], Body]] = {
    "one sentence": sentence,
    "rewritten": rewritten,
}


def _sentences(body: Body) -> list[str]:
    return [sentence for paragraph in body for sentence in paragraph]


def _each(case: Case, change: Callable[[str], str]) -> Body:
    return [[change(sentence) for sentence in paragraph] for paragraph in case.source]


def _units(sentence: str, language: str) -> list[str]:
    """Words with the space behind them; in Chinese two characters are about a word."""
    return re.findall(r"\S+\s*" if language == "English" else r"[\u4e00-\u9fff]{1,2}|.", sentence)


def _edited(sentence: str, case: Case, share: float, longest: int, rng: random.Random) -> str:
    """So much of a sentence replaced, left out or added, in stretches of up to `longest` words."""
    units = _units(sentence, case.language)
    own = _units(rng.choice(rng.choice([each for each in case.fellow if each])), case.language)
    made: list[str] = []
    at = 0
    # Stretches begin so often that the share comes out, of (1 + longest) / 2 words each.
    starts = share / ((1 + longest) / 2)
    often = starts / (1 - share + starts)
    while at < len(units):
        if rng.random() >= often:
            made.append(units[at])
            at += 1
            continue
        size = rng.randint(1, longest)
        action = rng.choice(("add", "leave out", "replace"))
        if action != "leave out":
            begin = rng.randrange(max(1, len(own) - size))
            made += own[begin : begin + size]
        if action != "add":
            at += size
    return "".join(made)


STRAIGHT = str.maketrans({"“": '"', "”": '"', "‘": "'", "’": "'", "—": "-", "–": "-", "…": "..."})
# What is set in the one place and in the other.
HALF = str.maketrans("，。！？；：（）、", ",.!?;:(),")
CORNERS = str.maketrans("“”‘’", "「」『』")


def punctuated(text: str, language: str, rng: random.Random) -> str:
    """Other marks: typographic ones for those of a typewriter; half-width or traditional ones for
    those of simplified Chinese."""
    if language == "Chinese":
        return text.translate(rng.choice((HALF, CORNERS))).replace("——", "--")
    opened = re.sub(r"(?<!\w)\"", "“", text.translate(STRAIGHT))
    dashed = opened.replace('"', "”").replace("'", "’").replace(" - ", " — ")
    return re.sub(r"(?<=\w),", " ,", dashed.replace("...", "…"))


def widened(text: str, language: str) -> str:
    """Letters, digits and marks full-width instead of half-width, or the other way round."""
    wide = {code: code + 0xFEE0 for code in range(0x21, 0x7F)}
    if language == "Chinese" and re.search(r"[！-～]", text):
        return text.translate({full: half for half, full in wide.items()})
    return text.translate(wide)


def _english(data: Path | None) -> list[list[Body]]:
    """Posts by subject: a source, a fellow, and more of the same group."""
    path = data / "newsgroups.jsonl.gz" if data else None
    if path is None or not path.exists():
        return []
    groups: dict[str, dict[str, Body]] = defaultdict(dict)
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            body = _post(row["text"])
            if SHORTEST["English"] <= length(body, "English") <= LONGEST["English"]:
                # What was posted twice counts once: a copy is no honest text.
                groups[row["id"].split("/")[0]].setdefault(written(body, "English"), body)
    return [
        each for _, posts in sorted(groups.items()) for each in _sliced(list(posts.values()), 12)
    ]


def _sliced(bodies: Sequence[Body], size: int) -> Iterator[list[Body]]:
    for at in range(0, len(bodies) - size + 1, size):
        yield list(bodies[at : at + size])


def _post(text: str) -> Body:
    """What the author wrote: no quoted lines, no signature."""
    text = SIGNATURE.split(text)[0]
    own = "\n".join("" if QUOTED.match(line) else line.strip() for line in text.split("\n"))
    return _body(own.split("\n\n"), "English")


def _body(paragraphs: Sequence[str], language: str) -> Body:
    split = SENTENCE[language].split
    made = [[each for each in split(" ".join(text.split())) if each] for text in paragraphs]
    return [paragraph for paragraph in made if paragraph]


def _chinese() -> list[list[Body]]:
    """Articles in halves. The newspaper has no marks between them but short lines."""
    path = corpora._peoples_daily()
    if path is None:
        return []
    articles: list[list[str]] = [[]]
    for line in corpora._tagged(path):
        if len(line) >= LINE:
            articles[-1].append(line)
        elif articles[-1]:
            articles.append([])
    made: list[list[Body]] = []
    for article in articles:
        half = len(article) // 2
        bodies = [_body(part, "Chinese") for part in (article[:half], article[half:])]
        if all(
            SHORTEST["Chinese"] <= length(body, "Chinese") <= LONGEST["Chinese"] for body in bodies
        ):
            made.append(bodies)
    return made


def _made_up(language: str, count: int) -> list[list[Body]]:
    """Subjects of made-up words, a part of them its own, among words that have synonyms."""
    rng = random.Random(4)
    spaced = language == "English"
    letters = "etaoinshrdlucm" if spaced else "".join(map(chr, range(0x5000, 0x5400)))
    sizes = (3, 5, 7) if spaced else (1, 2, 2)

    def words(number: int) -> list[str]:
        return ["".join(rng.choices(letters, k=rng.choice(sizes))) for _ in range(number)]

    common, known = words(3_000), list(TABLES[language])
    heights = list(accumulate(1 / (rank + 3) for rank in range(len(common))))

    def said_of(own: Sequence[str]) -> str:
        said = [
            rng.choice(known)
            if draw < 0.15
            else rng.choice(own)
            if draw < 0.4
            else rng.choices(common, cum_weights=heights)[0]
            for draw in (rng.random() for _ in range(rng.randint(8, 24)))
        ]
        at = rng.randrange(2, len(said) - 2)
        said[at] += "," if spaced else "，"
        said[-1] = f'"{said[-1]}"' if spaced else f"“{said[-1]}”"
        return " ".join(said).capitalize() + "." if spaced else "".join(said) + "。"

    def body(own: Sequence[str]) -> Body:
        return [[said_of(own) for _ in range(rng.randint(3, 6))] for _ in range(rng.randint(5, 9))]

    return [[body(own) for _ in range(4)] for own in (words(300) for _ in range(count + 2))]
