"""Findings: the results of a check for copying, and the counting of their figures.

Shares are shares of words; in scripts without spaces each character is a word.
`Finding.by_characters` has the same shares of characters, as Chinese checkers state them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

from neardup import _core
from neardup.copying.spans import Span, SpanCounter, WordSpans
from neardup.text.comparison import DEFAULT_MIN_CHARS, DEFAULT_MIN_WORDS, Passage, passage_options

# Why a span does not count.
Rule = Literal["template", "quotation", "references", "common", "own"]


@dataclass(frozen=True, slots=True)
class Ignored:
    """A span of the document that does not count, as character positions, and why."""

    start: int
    end: int
    rule: Rule


@dataclass(frozen=True, slots=True)
class Figures:
    """Shares of a document that its sources have too, from 0 to 1; 0 if none of its words counts.

    share     of all sources together; a word that several sources have counts once
    unquoted  the same without copied words in quotations and lists of references, divided by the
              same total
    largest   of the largest single source
    """

    share: float
    unquoted: float
    largest: float


@dataclass(frozen=True, slots=True)
class Source:
    """A document that shares passages with the checked one.

    share       share of the checked document that this source has
    own_share   share of the source that the checked document has
    words       number of words of the checked document that it has
    longest     words of the longest passage
    similarity  exact cosine of the two
    passages    left is the checked document, right the source; in the order of the left. Passages
                without a word that counts are left out
    equal       spans of equal words in them: left start, left end, right start, right end
    coarse      the deadline passed: passages may be missing or cut short
    place       its index in the findings, if documents are compared with each other; it tells
                documents with equal ids apart
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


EqualSpans = tuple[tuple[int, int, int, int], ...]


def covered_spans(passages: Sequence[Passage], equal: EqualSpans) -> list[Span]:
    """Return the spans of the checked document that a source has."""
    if equal:
        return [(start, end) for start, end, _, _ in equal]
    return [(passage.left_start, passage.left_end) for passage in passages]


class SourcePart(NamedTuple):
    """The part of a document that a source has: the number of words and characters that count, and
    the passages with at least one such word."""

    words: int
    characters: int
    passages: tuple[Passage, ...]
    longest: int


class FigureCounter:
    """Counts the figures of a document, source by source."""

    def __init__(
        self, words: WordSpans, ignored: Iterable[Ignored], quoted: Iterable[Ignored] = ()
    ) -> None:
        self._words = words
        self._counted = ~words.within((x.start, x.end) for x in ignored)
        self._quoted = tuple(quoted)
        self._counter = SpanCounter(words, self._counted)
        self._covered: dict[Span, None] = {}
        self._largest = (0, 0)
        self.words, self.characters = words.count(self._counted), words.characters(self._counted)

    def add(self, passages: tuple[Passage, ...], equal: EqualSpans) -> SourcePart | None:
        """Count a source and return its part; return None if no word of it counts."""
        spans = covered_spans(passages, equal)
        ranges = self._counter.word_ranges(spans)
        words = self._counter.words(ranges)
        if not words:
            return None
        characters = self._counter.characters(ranges)
        self._covered.update(dict.fromkeys(spans))
        self._largest = max(self._largest[0], words), max(self._largest[1], characters)
        kept = [x for x in passages if self._counter.has_word(ranges, (x.left_start, x.left_end))]
        longest = max((passage.words for passage in kept), default=0)
        # Many sources may share one tuple of passages: reuse it if no passage is dropped.
        same = len(kept) == len(passages)
        return SourcePart(words, characters, passages if same else tuple(kept), longest)

    def figures(self) -> tuple[Figures, Figures]:
        """Return the figures of all sources added, by words and by characters."""
        words = self._words
        covered = words.within(self._covered) & self._counted
        unquoted = covered & ~words.within((x.start, x.end) for x in self._quoted)
        by_words = (words.count(covered), words.count(unquoted), self._largest[0])
        by_characters = (words.characters(covered), words.characters(unquoted), self._largest[1])
        return (
            Figures(*(number / max(self.words, 1) for number in by_words)),
            Figures(*(number / max(self.characters, 1) for number in by_characters)),
        )


@dataclass(frozen=True)
class Finding:
    """A checked document, its figures and its sources, the largest first.

    words          number of words that count
    characters     number of their characters; spaces and punctuation do not count
    figures        by words
    by_characters  by characters
    ignored        spans that do not count, in order
    quoted         quotations and lists of references, whether they count or not
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
        """Whether the deadline passed, so that passages may be missing or cut short."""
        return any(source.coarse for source in self.sources)

    def without(self, ids: str | Iterable[str]) -> Finding:
        """Return the finding without these sources, with its figures counted again. Texts are not
        compared again, and `ignored` does not change."""
        removed = {ids} if isinstance(ids, str) else set(ids)
        sources = tuple(x for x in self.sources if x.id not in removed)
        return replace(self, sources=sources).counted()

    def counted(self) -> Finding:
        """Return the finding with its figures counted again from the spans of its sources. Drops
        sources without a word that counts, and sorts the others."""
        counter = FigureCounter(WordSpans(self.text), self.ignored, self.quoted)
        sources = []
        for source in self.sources:
            part = counter.add(source.passages, source.equal)
            if part is None:
                continue
            sources.append(
                replace(
                    source,
                    words=part.words,
                    share=part.words / counter.words,
                    passages=part.passages,
                    longest=part.longest,
                )
            )
        sources.sort(key=lambda source: -source.words)
        figures, by_characters = counter.figures()
        return replace(
            self,
            words=counter.words,
            characters=counter.characters,
            sources=tuple(sources),
            figures=figures,
            by_characters=by_characters,
        )

    def figures_zh(self) -> dict[str, float]:
        """Return the figures under the names of Chinese checkers, all by characters.

        重复率, 总文字复制比  all sources together
        去除引用复制比        the same without quotations and lists of references
        单篇最大复制比        by the largest single source
        """
        figures = self.by_characters
        return {
            "重复率": figures.share,
            "总文字复制比": figures.share,
            "去除引用复制比": figures.unquoted,
            "单篇最大复制比": figures.largest,
        }


@dataclass(frozen=True)
class Copying:
    """The result of a check.

    findings  a finding for each document, in the order they came
    among     whether the documents were compared with each other
    settings  the options of the check, by name
    itself    ids of documents that the corpus holds too, with the same id and the same text; those
              are not counted as sources
    """

    findings: tuple[Finding, ...]
    among: bool
    settings: dict[str, object]
    itself: tuple[str, ...] = ()

    @property
    def too_short(self) -> int:
        """The number of documents with too few words for a passage, in which none can be found."""
        limits = passage_options(
            self.settings.get("min_words", DEFAULT_MIN_WORDS),
            self.settings.get("min_chars", DEFAULT_MIN_CHARS),
            0,
            None,
        )
        # In mixed text, words and characters add up: compare the text with itself. A text with as
        # many words as the larger minimum always has a passage.
        enough = max(limits[:2])
        return sum(
            finding.words < enough
            and len(WordSpans(finding.text)) < enough
            and not _core.shared(finding.text, finding.text, limits)[0]
            for finding in self.findings
        )


# Settings that may contain names of documents; in anonymised results they are numbers of documents.
_NAMING_SETTINGS = ("exclude", "own", "inputs", "against")


class DocumentNumbers:
    """Numbers that identify documents and sources, because ids may repeat. The number of a finding
    is its position; other texts get the next numbers, in the order of the calls."""

    def __init__(self, copying: Copying) -> None:
        self._findings = len(copying.findings)
        self._numbers: dict[tuple[str, str], int] = {}
        # A text of the corpus is never a checked document, even with the same id.
        if copying.among:
            for at, finding in enumerate(copying.findings):
                self._numbers.setdefault((finding.id, finding.text), at)
        self._next = self._findings
        self._among = copying.among

    def of(self, source: Source) -> int:
        """Return the number of a source."""
        if self._among and source.place is not None and source.place < self._findings:
            return source.place
        key = (source.id, source.text)
        if key not in self._numbers:
            self._numbers[key] = self._next
            self._next += 1
        return self._numbers[key]


def anonymise(
    copying: Copying, *, document: str = "document {n}", source: str = "source {n}"
) -> Copying:
    """Return the result with numbers instead of ids: documents by position, other texts in order of
    occurrence. The texts are not changed.

    >>> none = Figures(0.0, 0.0, 0.0)
    >>> essay = Finding("li-hua.txt", "…", 1, 1, none, none, ())
    >>> anonymise(Copying((essay,), True, {})).findings[0].id
    'document 1'
    """
    numbers = DocumentNumbers(copying)
    names: dict[int, str] = {}
    first = {finding.id: n for n, finding in reversed(list(enumerate(copying.findings, 1)))}
    findings: list[Finding] = []
    for n, finding in enumerate(copying.findings, 1):
        sources = []
        for each in finding.sources:
            at = numbers.of(each)
            if at < len(copying.findings):
                name = document.format(n=at + 1)
            else:
                name = names.setdefault(at, source.format(n=len(names) + 1))
            sources.append(replace(each, id=name))
        findings.append(replace(finding, id=document.format(n=n), sources=tuple(sources)))
    settings = {
        name: len(value) if name in _NAMING_SETTINGS and isinstance(value, list | tuple) else value
        for name, value in copying.settings.items()
        if name not in _NAMING_SETTINGS or not isinstance(value, str)
    }
    itself = tuple(document.format(n=first[id_]) for id_ in copying.itself)
    return replace(copying, findings=tuple(findings), settings=settings, itself=itself)
