"""Rules: the text of a document that does not count.

Regular expressions find quotations and lists of references; comparisons find templates, the
author's own texts and text that many documents have. `Rules.finding` applies all rules to a checked
document, `without_templates` applies templates to a comparison of two texts.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from neardup import _core
from neardup.copying.comparisons import DocumentComparison, Overlap, documents_per_word
from neardup.copying.findings import FigureCounter, Finding, Ignored, Source, SourcePart
from neardup.copying.spans import Span, WordSpans, merge_spans
from neardup.text.comparison import (
    DEFAULT_BRIDGE,
    DEFAULT_DEADLINE,
    DEFAULT_MIN_CHARS,
    DEFAULT_MIN_WORDS,
    judge,
    passage_options,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from neardup.copying.documents import CheckedDocument
    from neardup.copying.spans import Mask
    from neardup.text.comparison import Comparison
    from neardup.text.recipe import Recipe

# Opening quotation marks and their closing marks. Marks of titles (《》) are not quotations.
CLOSING_MARKS = {"“": "”", "„": "“”", "「": "」", "『": "』", "«": "»", "﹁": "﹂", "﹃": "﹄"}
MARK = re.compile(f"[{''.join(CLOSING_MARKS)}{''.join(CLOSING_MARKS.values())}]")
# A straight mark opens a quotation before a word and closes it after one.
STRAIGHT_QUOTATION = re.compile(r'(?<!\w)["＂](?=\S)[^"＂]*(?<=\S)["＂](?!\w)')
QUOTED_LINE = re.compile(r"^[^\S\n]*>.*$", re.MULTILINE)
# Quotations end at an empty line: after a missing mark, the rest would be quoted where it is not.
EMPTY_LINE = re.compile(r"\n[^\S\n]*\n")

# Repeats are bounded so that a line of a million spaces takes linear time.
SPACE = r"[^\S\n]{0,20}"
NUMBER = rf"(?:\(?[0-9ivxIVX一二三四五六七八九十]{{1,5}}[.)、．）]?{SPACE})?"
REFERENCES_HEADING = re.compile(
    rf"^{SPACE}[#*【\[［（(]{{0,8}}{SPACE}{NUMBER}"
    r"(?:references?(?:[^\S\n]cited)?|reference[^\S\n]list|list[^\S\n]of[^\S\n]references"
    r"|bibliography|works[^\S\n]cited|literature(?:[^\S\n]cited)?|literatur(?:verzeichnis)?"
    r"|références|bibliographie|referencias|bibliografía|参考文献|參考文獻|参考资料|參考資料"
    r"|引用文献|主要参考文献)"
    rf"{SPACE}[】\]］）):：*]{{0,8}}{SPACE}$",
    re.MULTILINE | re.IGNORECASE,
)
# Headings that end a list of references.
NEXT_HEADING = re.compile(
    rf"^{SPACE}(?:#{{1,6}}[^\S\n]|[*【\[［]{{0,8}}{SPACE}{NUMBER}"
    r"(?:appendix|appendices|acknowledge?ments?|about[^\S\n]the[^\S\n]authors?|supplementary"
    r"|anhang|annexes?|附\s?录|附\s?錄|致\s?谢|致\s?謝|谢\s?辞|后\s?记|後\s?記"
    r"|作者简介|作者簡介|攻读).{0,60}$)",
    re.MULTILINE | re.IGNORECASE,
)


def find_quotations(text: str) -> list[Span]:
    """Return spans in quotation marks, and lines that begin with > as in mails; in order.

    >>> text = 'He said: "It is late." 「是的。」'
    >>> [text[start:end] for start, end in find_quotations(text)]
    ['"It is late."', '「是的。」']
    """
    spans = [match.span() for match in QUOTED_LINE.finditer(text)]
    start = 0
    for gap in [*EMPTY_LINE.finditer(text), None]:
        end = len(text) if gap is None else gap.start()
        spans += [match.span() for match in STRAIGHT_QUOTATION.finditer(text, start, end)]
        spans += _paired_quotations(text, start, end)
        start = end
    return merge_spans(spans)


def _paired_quotations(text: str, start: int, end: int) -> list[Span]:
    """Return spans from an opening mark to its closing mark; inner quotations are part of it."""
    spans = []
    opened, closing = start, ""
    for match in MARK.finditer(text, start, end):
        mark = match.group()
        if closing:
            if mark in closing:
                spans.append((opened, match.end()))
                closing = ""
        elif mark in CLOSING_MARKS:
            opened, closing = match.start(), CLOSING_MARKS[mark]
    return spans


def find_references(text: str) -> list[Span]:
    """Return lists of references: from their heading to the next known heading, or to the end."""
    spans: list[Span] = []
    headings = [match.start() for match in NEXT_HEADING.finditer(text)]
    for match in REFERENCES_HEADING.finditer(text):
        if not spans or match.start() >= spans[-1][1]:
            after = bisect_left(headings, match.end())
            spans.append((match.start(), headings[after] if after < len(headings) else len(text)))
    return spans


class Rules(NamedTuple):
    """The validated options of a check, made by `check.check_rules`.

    limits  what counts as a passage: min_words, min_chars, bridge, deadline
    recipe  for the similarity of a document and a source
    """

    template: tuple[str, ...]
    ignore_quotations: bool
    ignore_references: bool
    common: int | None
    own: frozenset[str]
    exclude: frozenset[str]
    limits: _core.PassageOptions
    recipe: Recipe

    def is_own(self, document: CheckedDocument, other: CheckedDocument) -> bool:
        """Return whether both are by the same author."""
        return other.id in self.own or (
            document.author is not None and document.author == other.author
        )

    def finding(
        self,
        document: CheckedDocument,
        comparisons: Sequence[DocumentComparison],
        others: Sequence[CheckedDocument],
        *,
        among: bool,
    ) -> Finding:
        """Return the finding of a document from its comparisons with `others`."""
        words = WordSpans(document.text)
        ignored = [
            Ignored(start, end, "template")
            for text in self.template
            for start, end in words.spans(
                _shared_with_template(words, document.text, text, self.limits)
            )
        ]
        quotations = [
            Ignored(start, end, "quotation") for start, end in find_quotations(document.text)
        ]
        references = [
            Ignored(start, end, "references") for start, end in find_references(document.text)
        ]
        if self.ignore_quotations:
            ignored += quotations
        if self.ignore_references:
            ignored += references
        foreign, own = comparisons, []
        if self.own or document.author is not None:
            own = [x for x in comparisons if self.is_own(document, others[x.other])]
            foreign = [x for x in comparisons if not self.is_own(document, others[x.other])]
        if own:
            mask = words.within(
                span for overlap in {x.overlap for x in own} for span in overlap.spans
            )
            ignored += [Ignored(start, end, "own") for start, end in words.spans(mask)]
        if self.common is not None:
            mask = documents_per_word(words, comparisons) > self.common
            ignored += [Ignored(start, end, "common") for start, end in words.spans(mask)]
        quoted = quotations + references
        counter = FigureCounter(words, ignored, quoted)
        sources = _sources(counter, foreign, others, among=among)
        figures, by_characters = counter.figures()
        return Finding(
            id=document.id,
            text=document.text,
            words=counter.words,
            characters=counter.characters,
            figures=figures,
            by_characters=by_characters,
            sources=tuple(sources),
            ignored=tuple(sorted(ignored, key=lambda x: (x.start, x.end, x.rule))),
            quoted=tuple(sorted(quoted, key=lambda x: (x.start, x.end, x.rule))),
        )


def _shared_with_template(
    words: WordSpans, text: str, template: str, limits: _core.PassageOptions
) -> Mask:
    """Return for each word whether the text shares it with the template."""
    return words.within((row[1], row[2]) for row in _core.shared(text, template, limits)[1])


def _sources(
    counter: FigureCounter,
    comparisons: Sequence[DocumentComparison],
    others: Sequence[CheckedDocument],
    *,
    among: bool,
) -> list[Source]:
    """Return the sources with a word that counts, the largest first."""
    parts: dict[Overlap, tuple[SourcePart | None, float]] = {}
    sources = []
    for at, overlap, own_share, coarse, similarity in comparisons:
        if overlap not in parts:
            part = counter.add(overlap.passages, overlap.equal)
            parts[overlap] = part, part.words / counter.words if part else 0.0
        part, share = parts[overlap]
        if part is None:
            continue
        other = others[at]
        sources.append(
            Source(
                id=other.id,
                text=other.text,
                share=share,
                own_share=own_share,
                words=part.words,
                longest=part.longest,
                similarity=similarity,
                passages=part.passages,
                equal=overlap.equal,
                coarse=coarse,
                place=at if among else None,
            )
        )
    sources.sort(key=lambda source: -source.words)
    return sources


@dataclass(frozen=True)
class WithoutTemplates:
    """A comparison of two texts in which templates do not count.

    comparison   without passages that lie in a template on one side; coverage, longest passage
                 and verdict are those without them. Similarity, distance and containment do not
                 change
    left, right  spans that do not count
    """

    comparison: Comparison
    left: tuple[Ignored, ...]
    right: tuple[Ignored, ...]


def without_templates(
    comparison: Comparison,
    a: str,
    b: str,
    templates: Sequence[str],
    *,
    min_words: int = DEFAULT_MIN_WORDS,
    min_chars: int = DEFAULT_MIN_CHARS,
    bridge: int = DEFAULT_BRIDGE,
    deadline: float | None = DEFAULT_DEADLINE,
) -> WithoutTemplates:
    """Return a result of `neardup.compare`, with the same options, in which templates do not count.

    >>> from neardup import compare
    >>> form, own = "Name and class of the pupil who hands this in: ", "we went to the sea by train"
    >>> texts = form + "Li. " + own, form + "Wang. It rained all day"
    >>> round(compare(*texts).coverage_left, 2)
    0.56
    >>> without_templates(compare(*texts), *texts, [form]).comparison.coverage_left
    0.0
    """
    limits = passage_options(min_words, min_chars, bridge, deadline)
    equal = _core.shared(a, b, limits)[1]
    sides = []
    for text, at in ((a, 1), (b, 3)):
        words = WordSpans(text)
        ignored = words.within(())
        for template in templates:
            ignored |= _shared_with_template(words, text, template, limits)
        sides.append((words, ignored, words.within((row[at], row[at + 1]) for row in equal)))
    counts = [words.starts[~ignored] for words, ignored, _ in sides]
    passages = tuple(
        passage
        for passage in comparison.passages
        if _any_between(counts[0], passage.left_start, passage.left_end)
        and _any_between(counts[1], passage.right_start, passage.right_end)
    )
    left, right = (
        words.count(covered & ~ignored) / max(words.count(~ignored), 1)
        for words, ignored, covered in sides
    )
    spans = [
        tuple(Ignored(start, end, "template") for start, end in words.spans(ignored))
        for words, ignored, _ in sides
    ]
    reduced = replace(
        comparison,
        passages=passages,
        coverage_left=left,
        coverage_right=right,
        longest=max((passage.words for passage in passages), default=0),
        words_left=len(counts[0]),
        words_right=len(counts[1]),
    )
    return WithoutTemplates(judge(reduced, equal=a == b), *spans)


def _any_between(starts: NDArray[np.int64], begin: int, end: int) -> bool:
    first, last = starts.searchsorted((begin, end))
    return bool(last > first)
