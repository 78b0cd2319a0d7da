"""A checked document: its text with passages coloured by source, its figures, its sources."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from neardup.copying.findings import Figures, Finding, Source
from neardup.reports.comparison import (
    Figure,
    equal_share,
    number_passages,
    passage_changes,
    whole_of_share,
)
from neardup.reports.differences import PAGE_STEPS, WorkBudget
from neardup.reports.formatting import Piece, cosine, line_pieces, number
from neardup.reports.marked_text import MarkedPart, MarkedSpan, WordCounter, split_marked_text
from neardup.reports.page import Wording
from neardup.text.comparison import Passage

NAMES = ("share", "unquoted", "largest")
# Returns the link to a passage from the rank of its source and its number.
Link = Callable[[int, int, Passage], str]


@dataclass(frozen=True)
class SourceRow:
    """A source in the table of a document; `rank` gives its number and colour."""

    rank: int
    name: Sequence[Piece]
    document: str
    pair: str
    share: str
    own_share: str = ""
    words: str = ""
    longest: str = ""
    similarity: str = ""

    @classmethod
    def of(cls, rank: int, source: Source, document: str, pair: str, words: Wording) -> SourceRow:
        return cls(
            rank,
            line_pieces(source.id),
            document,
            pair,
            words.share(source.share),
            words.share(source.own_share),
            number(source.words),
            number(source.longest),
            cosine(source.similarity),
        )


@dataclass(frozen=True)
class DocumentView:
    """The view for the template; `figures` has a row for each of NAMES."""

    measures: Sequence[str]
    figures: Sequence[tuple[str, Sequence[Figure]]]
    counted: str
    sources: Sequence[SourceRow]
    blocks: Sequence[Sequence[MarkedPart]]
    notes: Sequence[str]


def document_view(
    finding: Finding,
    words: Wording,
    rows: Sequence[SourceRow],
    link: Link,
    *,
    most: int,
) -> DocumentView:
    """Return a document for the template.

    rows  sources with their own row and colour; all others share one
    most  characters shown of the text
    """
    rows = list(rows)
    if others := finding.sources[len(rows) :]:
        rows.append(
            SourceRow(
                len(rows) + 1, line_pieces(words("sources.others", n=len(others))), "", "", ""
            )
        )
    spans = list(_spans(finding, words, len(rows), link))
    blocks = split_marked_text(finding.text[:most], spans, finding.ignored, finding.quoted)
    notes = []
    if rules := sorted({each.rule for each in finding.ignored}):
        notes.append(
            words("ignored.title", rules=words.comma.join(words(f"rule.{rule}") for rule in rules))
        )
    if finding.quoted:
        notes.append(words("quoted.title"))
    if finding.coarse:
        notes.append(words("note.coarse"))
    if len(finding.text) > most:
        notes.append(words("text.long", n=len(finding.text), shown=most))
    if not finding.text:
        notes.append(words("text.empty"))
    # Chinese checkers count characters; others words.
    order = "cw" if words.language == "zh" else "wc"
    measures = {"w": words("copied.by_words"), "c": words("copied.by_characters")}
    return DocumentView(
        [measures[by] for by in order],
        list(_figures(finding, blocks, words, order)),
        words(
            "copied.of",
            words=words("words", n=finding.words),
            characters=words("fact.length", n=finding.characters),
        ),
        rows,
        blocks,
        notes,
    )


def _spans(finding: Finding, words: Wording, most: int, link: Link) -> Iterator[MarkedSpan]:
    measure = WordCounter(finding.text)
    budget = WorkBudget(PAGE_STEPS)
    for rank, source in enumerate(finding.sources, 1):
        shown = min(rank, most)
        found = number_passages(source.passages)
        texts = finding.text, source.text
        edits = passage_changes([passage for _, passage in found], texts, source.equal, budget)
        for (n, passage), edited in zip(found, edits, strict=True):
            size = measure.between(passage.left_start, passage.left_end)[0]
            target = link(rank, n, passage)
            jump = "jump.beside" if target else "jump.nowhere"
            yield MarkedSpan(
                passage.left_start,
                passage.left_end,
                key=shown,
                rank=shown,
                link=target,
                title=words(jump, n=shown, count=words("words", n=passage.words)),
                equal=equal_share(passage, edited, size),
                changed=edited.left,
            )


def _figures(
    finding: Finding, blocks: Sequence[Sequence[MarkedPart]], words: Wording, order: str
) -> Iterator[tuple[str, list[Figure]]]:
    parts = [part for block in blocks for part in block if part.counts]
    by_unit: dict[str, Figures] = {"w": finding.figures, "c": finding.by_characters}
    for name in NAMES:
        row = []
        for by in order:
            value: float = getattr(by_unit[by], name)
            total = whole_of_share(_weight(parts, name, by), value)
            row.append(Figure("", words.share(value), name, total, by))
        yield words(f"copied.{name}"), row


def _weight(parts: Sequence[MarkedPart], name: str, by: str) -> float:
    """Return the weight that the script will compute while all sources are shown."""

    def of(part: MarkedPart) -> float:
        return part.words if by == "w" else part.characters

    if name == "share":
        return sum(map(of, parts))
    if name == "unquoted":
        return sum(of(part) for part in parts if not part.quoted)
    single: dict[int, float] = {}
    for part in parts:
        for key in part.keys:
            single[key] = single.get(key, 0.0) + of(part)
    return max(single.values(), default=0.0)
