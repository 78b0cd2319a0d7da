"""Where a text quotes others, and where it lists them."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from neardup import _core
from neardup.copying.comparisons import DocumentComparison, Shape, documents_with
from neardup.copying.cover import WordSpans
from neardup.copying.findings import Count, DocumentPart, Finding, Ignored, Source

if TYPE_CHECKING:
    from neardup.copying.documents import CheckedDocument


# Pairs of marks that are written differently at both ends. Titles (《》) are no quotations.
PAIRS = {"“": "”", "„": "“”", "「": "」", "『": "』", "«": "»", "﹁": "﹂", "﹃": "﹄"}
CLOSING = "".join(PAIRS.values())
# A mark that is the same at both ends opens before a word and closes behind one.
STRAIGHT = re.compile(r'(?<!\w)["＂](?=\S)[^"＂]*(?<=\S)["＂](?!\w)')
# A quotation does not go on after an empty line: a mark that was forgotten would turn all of the
# text inside out.
PARAGRAPH = re.compile(r"\n[^\S\n]*\n")
BLOCK = re.compile(r"^[^\S\n]*>.*$", re.MULTILINE)

# Bounded, as is every repeat below: a line of a million spaces is no heading.
SPACE = r"[^\S\n]{0,20}"
NUMBER = rf"(?:\(?[0-9ivxIVX一二三四五六七八九十]{{1,5}}[.)、．）]?{SPACE})?"
REFERENCES = re.compile(
    rf"^{SPACE}[#*【\[［（(]{{0,8}}{SPACE}{NUMBER}"
    r"(?:references?(?:[^\S\n]cited)?|reference[^\S\n]list|list[^\S\n]of[^\S\n]references"
    r"|bibliography|works[^\S\n]cited|literature(?:[^\S\n]cited)?|literatur(?:verzeichnis)?"
    r"|références|bibliographie|referencias|bibliografía|参考文献|參考文獻|参考资料|參考資料"
    r"|引用文献|主要参考文献)"
    rf"{SPACE}[】\]］）):：*]{{0,8}}{SPACE}$",
    re.MULTILINE | re.IGNORECASE,
)
# What may come after a list of references.
HEADING = re.compile(
    rf"^{SPACE}(?:#{{1,6}}[^\S\n]|[*【\[［]{{0,8}}{SPACE}{NUMBER}"
    r"(?:appendix|appendices|acknowledge?ments?|about[^\S\n]the[^\S\n]authors?|supplementary"
    r"|anhang|annexes?|附\s?录|附\s?錄|致\s?谢|致\s?謝|谢\s?辞|后\s?记|後\s?記"
    r"|作者简介|作者簡介|攻读).{0,60}$)",
    re.MULTILINE | re.IGNORECASE,
)

Stretch = tuple[int, int]


def quotations(text: str) -> list[Stretch]:
    """Stretches in quotation marks, and lines that begin with > as mails quote; in order.

    >>> [text[a:b] for text in ['He said: "It is late." 「是的。」'] for a, b in quotations(text)]
    ['"It is late."', '「是的。」']
    """
    found = [match.span() for match in BLOCK.finditer(text)]
    start = 0
    for gap in [*PARAGRAPH.finditer(text), None]:
        end = len(text) if gap is None else gap.start()
        found += [match.span() for match in STRAIGHT.finditer(text, start, end)]
        found += _paired(text, start, end)
        start = end
    return merged(found)


def _paired(text: str, start: int, end: int) -> list[Stretch]:
    """Stretches between an opening mark and the one that closes it; those within are part of it."""
    found = []
    at, closing = start, ""
    opened = start
    for match in re.finditer(f"[{''.join(PAIRS)}{CLOSING}]", text[start:end]):
        mark, at = match.group(), start + match.start()
        if closing:
            if mark in closing:
                found.append((opened, at + 1))
                closing = ""
        elif mark in PAIRS:
            opened, closing = at, PAIRS[mark]
    return found


def references(text: str) -> list[Stretch]:
    """Lists of references: from their heading to the next heading that is known, or to the end."""
    found: list[Stretch] = []
    headings = [match.start() for match in HEADING.finditer(text)]
    for match in REFERENCES.finditer(text):
        if not found or match.start() >= found[-1][1]:
            after = bisect_left(headings, match.end())
            found.append((match.start(), headings[after] if after < len(headings) else len(text)))
    return found


def merged(stretches: list[Stretch]) -> list[Stretch]:
    """The same stretches in order, those that overlap or touch as one."""
    found: list[Stretch] = []
    for start, end in sorted(stretches):
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(found[-1][1], end))
        else:
            found.append((start, end))
    return found


# What does not count, applied to what documents have in common.


class Rules(NamedTuple):
    """What does not count."""

    template: tuple[str, ...]
    ignore_quotations: bool
    ignore_references: bool
    common: int | None
    own: frozenset[str]
    exclude: frozenset[str]

    def is_own(self, document: CheckedDocument, other: CheckedDocument) -> bool:
        return other.id in self.own or (
            document.author is not None and document.author == other.author
        )

    def finding(
        self,
        document: CheckedDocument,
        compared: Sequence[DocumentComparison],
        others: Sequence[CheckedDocument],
        question: _core.Sharing,
        *,
        among: bool,
    ) -> Finding:
        """The document with all that was found, counted."""
        words = WordSpans(document.text)
        ignored: list[Ignored] = []
        for text in self.template:
            same = _core.shared(document.text, text, question)[1]
            stretches = words.stretches(words.within((x[1], x[2]) for x in same))
            ignored += [Ignored(start, end, "template") for start, end in stretches]
        quoted = [Ignored(start, end, "quotation") for start, end in quotations(document.text)]
        listed = [Ignored(start, end, "references") for start, end in references(document.text)]
        if self.ignore_quotations:
            ignored += quoted
        if self.ignore_references:
            ignored += listed
        strangers, own = compared, []
        if self.own or document.author is not None:
            own = [x for x in compared if self.is_own(document, others[x.at])]
            strangers = [x for x in compared if not self.is_own(document, others[x.at])]
        if own:
            mask = words.within(place for shape in {x.shape for x in own} for place in shape.places)
            ignored += [Ignored(start, end, "own") for start, end in words.stretches(mask)]
        if self.common is not None:
            stretches = words.stretches(documents_with(words, compared) > self.common)
            ignored += [Ignored(start, end, "common") for start, end in stretches]
        quoted += listed
        count = Count(words, ignored, quoted)
        sources = _sources(count, strangers, others, among=among)
        figures, by_characters = count.figures()
        return Finding(
            id=document.id,
            text=document.text,
            words=count.words,
            characters=count.characters,
            figures=figures,
            by_characters=by_characters,
            sources=tuple(sources),
            ignored=tuple(sorted(ignored, key=lambda x: (x.start, x.end, x.rule))),
            quoted=tuple(sorted(quoted, key=lambda x: (x.start, x.end, x.rule))),
        )


def _sources(
    count: Count,
    compared: Sequence[DocumentComparison],
    others: Sequence[CheckedDocument],
    *,
    among: bool,
) -> list[Source]:
    """Those of which a word counts, the largest first."""
    parts: dict[Shape, tuple[DocumentPart | None, float]] = {}
    found = []
    for at, shape, own_share, coarse, similarity in compared:
        if shape not in parts:
            counted = count.part(shape.passages, shape.equal)
            parts[shape] = counted, counted.words / count.words if counted else 0.0
        part, share = parts[shape]
        if part is None:
            continue
        other = others[at]
        found.append(
            Source(
                id=other.id,
                text=other.text,
                share=share,
                own_share=own_share,
                words=part.words,
                longest=part.longest,
                similarity=similarity,
                passages=part.passages,
                equal=shape.equal,
                coarse=coarse,
                place=at if among else None,
            )
        )
    found.sort(key=lambda source: -source.words)
    return found
