"""Labelled pairs for copying: a source beside copies of it, and beside honest texts.

Copies imitate what people do: paste, edit, reorder, mix, replace by synonyms. English: newsgroup
posts without quoted lines; an honest text is another post of the same group. Chinese: articles of
the People's Daily; an honest text is the other half of the article, on the same subject and by the
same author. Generated texts replace a missing corpus.
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
# Words, or characters of Chinese.
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

# A text: paragraphs of sentences.
Body = list[list[str]]


@dataclass(frozen=True)
class Case:
    """A source, an unrelated source, and honest texts on the subject of the first.

    fellow  one honest text
    host    several of them joined, to hide a copy in
    """

    language: str
    source: Body
    other: Body
    fellow: Body
    host: Body


@dataclass(frozen=True)
class Pair:
    """A source and a suspect: a copy of this kind, or an honest text."""

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
    """Return up to `count` cases; generated ones if `made_up` or if there is no corpus."""
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
        # A small subject cannot fill a long text; then other subjects do.
        others = subjects[(at + 1) % len(subjects)], subjects[(at + 2) % len(subjects)]
        host: Body = list(fellow)
        for body in (*more, *(body for each in others for body in each[1:])):
            if length(host, language) >= HOST[language]:
                break
            host = host + body
        made.append(Case(language, source, others[0][0], fellow, host))
    return made


def pairs(case: Case, rng: random.Random) -> list[Pair]:
    """Pair a source with each kind of copy and with the honest texts."""
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


def whole_pairs(case: Case, rng: random.Random) -> list[Pair]:
    """Pair a source with copies that differ in length or order."""
    source = written(case.source, case.language)
    return [
        Pair(kind, source, written(copy(case, rng), case.language)) for kind, copy in WHOLE.items()
    ]


def paste(case: Case, rng: random.Random) -> Body:
    """Paste one paragraph of the source into a long honest text."""
    long = [
        each for each in case.source if length([each], case.language) >= PARAGRAPH[case.language]
    ]
    paragraph = rng.choice(long) if long else _sentences(case.source)[:4]
    at = rng.randrange(len(case.host) + 1)
    return [*case.host[:at], paragraph, *case.host[at:]]


def light(case: Case, rng: random.Random) -> Body:
    """Replace, delete or insert one word in twelve."""
    return _each(case, lambda sentence: _edited(sentence, case, 1 / 12, 1, rng))


def heavy(case: Case, rng: random.Random) -> Body:
    """Delete a fifth of the sentences, rewrite a third of the words of the others in runs of up to
    four, and insert an honest sentence after one in four."""
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
    """Shuffle the sentences."""
    sentences = _sentences(case.source)
    rng.shuffle(sentences)
    return [sentences[at : at + 5] for at in range(0, len(sentences), 5)]


def synonyms(case: Case, rng: random.Random) -> Body:
    """Replace nine in ten of the words that have synonyms."""
    return _each(case, lambda sentence: replaced(sentence, case.language, 0.9, rng))


def mixed(case: Case, rng: random.Random) -> Body:
    """Alternate two or three sentences of the source, of another source and of an honest text."""
    stocks = [iter(_sentences(body)) for body in (case.source, case.other, case.fellow)]
    made: Body = []
    for turn in range(len(_sentences(case.source))):
        stock = stocks[turn % 3]
        made.append([each for _, each in zip(range(rng.choice((2, 3))), stock, strict=False)])
    return made


def sentence(case: Case, rng: random.Random) -> Body:
    """Paste one sentence of the source into a long honest text."""
    long = [each for each in _sentences(case.source) if len(_units(each, case.language)) >= 12]
    chosen = rng.choice(long or _sentences(case.source))
    at = rng.randrange(len(case.host))
    paragraph = list(case.host[at])
    paragraph.insert(rng.randrange(len(paragraph) + 1), chosen)
    return [*case.host[:at], paragraph, *case.host[at + 1 :]]


def rewritten(case: Case, rng: random.Random) -> Body:
    """Replace all synonyms, then replace, delete or insert every second word, one or two at a time,
    and shuffle the sentences. Runs of three original words are rare."""

    def change(text: str) -> str:
        return _edited(replaced(text, case.language, 1, rng), case, 1 / 2, 2, rng)

    return [[change(text) for text in paragraph] for paragraph in reordered(case, rng)]


def grown(case: Case, rng: random.Random, times: float) -> Body:
    """Insert so many times the length of the source into it, in one place."""
    source = _sentences(case.source)
    added: list[str] = []
    most = times * length(case.source, case.language)
    for sentence in _sentences(case.host):
        if length([added], case.language) >= most:
            break
        added.append(sentence)
    at = rng.randrange(len(source) + 1)
    return [source[:at], added, source[at:]]


def half(case: Case, rng: random.Random) -> Body:
    """Keep the first half of the sentences."""
    source = _sentences(case.source)
    return [source[: len(source) // 2]]


def shuffled(case: Case, rng: random.Random) -> Body:
    """Shuffle the words in windows of 20."""
    words = [unit for each in _sentences(case.source) for unit in _units(each + " ", case.language)]
    windows = [words[at : at + 20] for at in range(0, len(words), 20)]
    return [["".join(rng.sample(window, len(window))) for window in windows]]


KINDS: dict[str, Callable[[Case, random.Random], Body]] = {
    "paste": paste,
    "light": light,
    "heavy": heavy,
    "reordered": reordered,
    "synonyms": synonyms,
    "mixed": mixed,
}
# Too hard for coverage: they show its limits and are counted separately.
HARDER: dict[str, Callable[[Case, random.Random], Body]] = {
    "one sentence": sentence,
    "rewritten": rewritten,
}
# For verdicts only: measures tell them from honest texts with ease.
WHOLE: dict[str, Callable[[Case, random.Random], Body]] = {
    "a fifth inserted": lambda case, rng: grown(case, rng, 0.2),
    "as much inserted": lambda case, rng: grown(case, rng, 1),
    "first half": half,
    "words shuffled": shuffled,
}


def _sentences(body: Body) -> list[str]:
    return [sentence for paragraph in body for sentence in paragraph]


def _each(case: Case, change: Callable[[str], str]) -> Body:
    return [[change(sentence) for sentence in paragraph] for paragraph in case.source]


def _units(sentence: str, language: str) -> list[str]:
    """Split into words with the space after them; two Chinese characters count as a word."""
    return re.findall(r"\S+\s*" if language == "English" else r"[\u4e00-\u9fff]{1,2}|.", sentence)


def _edited(sentence: str, case: Case, share: float, longest: int, rng: random.Random) -> str:
    """Replace, delete or insert a share of a sentence, in runs of up to `longest` words."""
    units = _units(sentence, case.language)
    own = _units(rng.choice(rng.choice([each for each in case.fellow if each])), case.language)
    made: list[str] = []
    at = 0
    # The mean run has (1 + longest) / 2 words; runs start often enough to reach the share.
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
# Half-width marks, and the quotation marks of traditional Chinese.
HALF = str.maketrans("，。！？；：（）、", ",.!?;:(),")
CORNERS = str.maketrans("“”‘’", "「」『』")


def punctuated(text: str, language: str, rng: random.Random) -> str:
    """Change punctuation: typographic for typewriter marks; in Chinese, half-width or traditional
    for simplified ones."""
    if language == "Chinese":
        return text.translate(rng.choice((HALF, CORNERS))).replace("——", "--")
    opened = re.sub(r"(?<!\w)\"", "“", text.translate(STRAIGHT))
    dashed = opened.replace('"', "”").replace("'", "’").replace(" - ", " — ")
    return re.sub(r"(?<=\w),", " ,", dashed.replace("...", "…"))


def widened(text: str, language: str) -> str:
    """Convert letters, digits and marks to full width, or back."""
    wide = {code: code + 0xFEE0 for code in range(0x21, 0x7F)}
    if language == "Chinese" and re.search(r"[！-～]", text):
        return text.translate({full: half for half, full in wide.items()})
    return text.translate(wide)


def _english(data: Path | None) -> list[list[Body]]:
    """Return posts by subject: a source, a fellow, and more of the same group."""
    path = data / "newsgroups.jsonl.gz" if data else None
    if path is None or not path.exists():
        return []
    groups: dict[str, dict[str, Body]] = defaultdict(dict)
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            body = _post(row["text"])
            if SHORTEST["English"] <= length(body, "English") <= LONGEST["English"]:
                # A repeated post counts once: a copy is no honest text.
                groups[row["id"].split("/")[0]].setdefault(written(body, "English"), body)
    return [
        each for _, posts in sorted(groups.items()) for each in _sliced(list(posts.values()), 12)
    ]


def _sliced(bodies: Sequence[Body], size: int) -> Iterator[list[Body]]:
    for at in range(0, len(bodies) - size + 1, size):
        yield list(bodies[at : at + size])


def _post(text: str) -> Body:
    """Remove quoted lines and the signature."""
    text = SIGNATURE.split(text)[0]
    own = "\n".join("" if QUOTED.match(line) else line.strip() for line in text.split("\n"))
    return _body(own.split("\n\n"), "English")


def _body(paragraphs: Sequence[str], language: str) -> Body:
    split = SENTENCE[language].split
    made = [[each for each in split(" ".join(text.split())) if each] for text in paragraphs]
    return [paragraph for paragraph in made if paragraph]


def _chinese() -> list[list[Body]]:
    """Return articles in halves. Short lines are all that separates articles."""
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
    """Generate subjects, each with words of its own, common words and words with synonyms."""
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
