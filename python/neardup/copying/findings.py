"""What a check for copying finds: how much of each document is elsewhere too, and where.

Shares are of words; where a script has no spaces a character counts as a word. `Figures` has the
same by characters, which is what Chinese checkers state.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

from neardup import _core
from neardup.copying.cover import Tally, WordSpans
from neardup.text.passages import MIN_CHARS, MIN_WORDS, Passage, sharing

DEFAULTS = (MIN_WORDS, MIN_CHARS)

# Why a stretch does not count.
Rule = Literal["template", "quotation", "references", "common", "own"]


@dataclass(frozen=True, slots=True)
class Ignored:
    """A stretch of the document that does not count, as character positions, and why."""

    start: int
    end: int
    rule: Rule


@dataclass(frozen=True, slots=True)
class Figures:
    """Shares of a document that are in its sources as well, 0 to 1.

    share     all sources together; what several have counts once
    unquoted  the same without what is in quotations and lists of references. They are left out of
              what was copied, not of the whole: it is a share of the same words as `share`
    largest   by the largest single source

    Of a document of which nothing counts they are 0.
    """

    share: float
    unquoted: float
    largest: float


@dataclass(frozen=True, slots=True)
class Source:
    """A document that the checked one shares passages with.

    share       of the checked document, by this source alone
    own_share   of the source
    words       the words of the checked document that it has
    longest     words of the longest passage
    similarity  exact cosine of the two
    passages    left is the checked document, right the source; in the order of the left. Those of
                which nothing counts are left out
    equal       the stretches of equal words in them: left start, left end, right start, right end
    coarse      there was not enough time: passages may be missing or cut short
    place       of documents compared with each other: which of the findings it is. Ids may be there
                twice; this tells them apart
    """

    id: str
    text: str
    share: float
    own_share: float
    words: int
    longest: int
    similarity: float
    passages: tuple[Passage, ...]
    equal: tuple[tuple[int, int, int, int], ...] = ()
    coarse: bool = False
    place: int | None = None


Equal = tuple[tuple[int, int, int, int], ...]


def places_of(passages: Sequence[Passage], equal: Equal) -> list[tuple[int, int]]:
    """The stretches of the checked document that a source has."""
    if equal:
        return [(start, end) for start, end, _, _ in equal]
    return [(passage.left_start, passage.left_end) for passage in passages]


class DocumentPart(NamedTuple):
    """What a source has of a document, of what counts: words, characters, and the passages with
    such a word."""

    words: int
    characters: int
    passages: tuple[Passage, ...]
    longest: int


class Count:
    """Figures of a document from the stretches that its sources have."""

    def __init__(
        self, words: WordSpans, ignored: Iterable[Ignored], quoted: Iterable[Ignored] = ()
    ) -> None:
        counts = ~words.within((x.start, x.end) for x in ignored)
        self._all = words
        self._counts = counts
        self._quoted = tuple(quoted)
        self._tally = Tally(words, counts)
        self._anyone: dict[tuple[int, int], None] = {}
        self._largest = (0, 0)
        self.words, self.characters = words.count(counts), words.characters(counts)

    def part(self, passages: tuple[Passage, ...], equal: Equal) -> DocumentPart | None:
        """The part of a source, which is counted; None if nothing of it counts."""
        places = places_of(passages, equal)
        spans = self._tally.spans(places)
        words = self._tally.words(spans)
        if not words:
            return None
        characters = self._tally.characters(spans)
        self._anyone.update(dict.fromkeys(places))
        self._largest = max(self._largest[0], words), max(self._largest[1], characters)
        kept = [x for x in passages if self._tally.has(spans, x.left_start, x.left_end)]
        longest = max((passage.words for passage in kept), default=0)
        # The tuple that is there may be that of many sources.
        same = len(kept) == len(passages)
        return DocumentPart(words, characters, passages if same else tuple(kept), longest)

    def figures(self) -> tuple[Figures, Figures]:
        """By words and by characters, of all that were counted."""
        words = self._all
        anyone = words.within(self._anyone) & self._counts
        unquoted = anyone & ~words.within((x.start, x.end) for x in self._quoted)
        numbers = (words.count(anyone), words.count(unquoted), self._largest[0])
        in_characters = (
            words.characters(anyone),
            words.characters(unquoted),
            self._largest[1],
        )
        return (
            Figures(*(number / max(self.words, 1) for number in numbers)),
            Figures(*(number / max(self.characters, 1) for number in in_characters)),
        )


@dataclass(frozen=True)
class Finding:
    """A checked document, its figures and its sources, the largest first.

    words       how many words count
    characters  how many characters count: those of words, not spaces and punctuation
    figures     by words
    by_characters  by characters
    ignored     stretches that do not count, in order
    quoted      quotations and lists of references, whether they count or not
    """

    id: str
    text: str
    words: int
    characters: int
    figures: Figures
    by_characters: Figures
    sources: tuple[Source, ...]
    ignored: tuple[Ignored, ...] = ()
    quoted: tuple[Ignored, ...] = ()

    @property
    def coarse(self) -> bool:
        """Whether there was not enough time, so that passages may be missing or cut short."""
        return any(source.coarse for source in self.sources)

    def without(self, ids: str | Iterable[str]) -> Finding:
        """The same with these sources left out and the figures computed anew; nothing is compared
        again. What does not count stays the same."""
        left_out = {ids} if isinstance(ids, str) else set(ids)
        return replace(
            self, sources=tuple(x for x in self.sources if x.id not in left_out)
        ).counted()

    def counted(self) -> Finding:
        """The same with all figures computed from the stretches of its sources, those without a
        word that counts left out and the others in order."""
        count = Count(WordSpans(self.text), self.ignored, self.quoted)
        sources = []
        for source in self.sources:
            part = count.part(source.passages, source.equal)
            if part is None:
                continue
            sources.append(
                replace(
                    source,
                    words=part.words,
                    share=part.words / count.words,
                    passages=part.passages,
                    longest=part.longest,
                )
            )
        sources.sort(key=lambda source: -source.words)
        figures, by_characters = count.figures()
        return replace(
            self,
            words=count.words,
            characters=count.characters,
            sources=tuple(sources),
            figures=figures,
            by_characters=by_characters,
        )

    def figures_zh(self) -> dict[str, float]:
        """The figures as Chinese checkers name them, all by characters.

        重复率, 总文字复制比  all sources together
        去除引用复制比        the same without quotations and lists of references
        单篇最大复制比        by the largest single source
        """
        found = self.by_characters
        return {
            "重复率": found.share,
            "总文字复制比": found.share,
            "去除引用复制比": found.unquoted,
            "单篇最大复制比": found.largest,
        }


@dataclass(frozen=True)
class Copying:
    """What a check found.

    findings  a finding for each document, in the order they came
    among     whether the documents were compared with each other
    settings  what was asked for, by name
    itself    ids of documents for which something they were compared with was taken: its id and
              its text are theirs. It is no source of them
    """

    findings: tuple[Finding, ...]
    among: bool
    settings: dict[str, object]
    itself: tuple[str, ...] = ()

    @property
    def too_short(self) -> int:
        """How many documents have too few words for a passage: nothing can be found in them."""
        least = [self.settings.get(name) for name in ("min_words", "min_chars")]
        minimum = [x if isinstance(x, int) else y for x, y in zip(least, DEFAULTS, strict=True)]
        question = sharing(minimum[0], minimum[1], 0, None)
        # In mixed text words and characters go together, so a text is asked what it shares with
        # itself; one with as many words as either minimum has a passage in any case.
        return sum(
            finding.words < max(minimum)
            and len(WordSpans(finding.text)) < max(minimum)
            and not _core.shared(finding.text, finding.text, question)[0]
            for finding in self.findings
        )


# Documents of a check by their numbers, and by nothing else where nobody is to be named.

# Settings that may name people's documents: their number is told instead.
_NAMING = ("exclude", "own", "inputs", "against")


class DocumentNumbers:
    """Numbers for documents and sources, whatever they are called: findings have the number of
    their place, other texts those after them, in the order they are asked for.

    An id may be there twice, so that it does not say who is meant.
    """

    def __init__(self, found: Copying) -> None:
        self._findings = len(found.findings)
        self._places: dict[tuple[str, str], int] = {}
        # What is only compared with is another text, however it is called.
        if found.among:
            for at, finding in enumerate(found.findings):
                self._places.setdefault((finding.id, finding.text), at)
        self._next = self._findings
        self._among = found.among

    def of(self, source: Source) -> int:
        if self._among and source.place is not None and source.place < self._findings:
            return source.place
        key = (source.id, source.text)
        if key not in self._places:
            self._places[key] = self._next
            self._next += 1
        return self._places[key]


def anonymised(
    found: Copying, *, document: str = "document {n}", source: str = "source {n}"
) -> Copying:
    """The same findings; documents are called by their number in the order they came, other texts
    by theirs in the order they are met. Texts stay as they are.

    >>> from neardup.copying.findings import Figures
    >>> none = Figures(0.0, 0.0, 0.0)
    >>> essay = Finding("li-hua.txt", "…", 1, 1, none, none, ())
    >>> anonymised(Copying((essay,), True, {})).findings[0].id
    'document 1'
    """
    places = DocumentNumbers(found)
    names: dict[int, str] = {}
    numbers = {finding.id: n for n, finding in reversed(list(enumerate(found.findings, 1)))}
    itself = tuple(document.format(n=numbers[id_]) for id_ in found.itself)
    findings: list[Finding] = []
    for n, finding in enumerate(found.findings, 1):
        sources = []
        for each in finding.sources:
            at = places.of(each)
            if at < len(found.findings):
                name = document.format(n=at + 1)
            else:
                name = names.setdefault(at, source.format(n=len(names) + 1))
            sources.append(replace(each, id=name))
        findings.append(
            replace(finding, id=document.format(n=n), sources=tuple(sources)),
        )
    settings = {
        name: len(value) if name in _NAMING and isinstance(value, list | tuple) else value
        for name, value in found.settings.items()
        if name not in _NAMING or not isinstance(value, str)
    }
    return replace(found, findings=tuple(findings), settings=settings, itself=itself)
