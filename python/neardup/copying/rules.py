"""What does not count, applied to what documents have in common."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from neardup import _core
from neardup.copying.comparisons import Compared, Shape, documents_with
from neardup.copying.cover import Words
from neardup.copying.findings import Count, Finding, Ignored, Part, Source
from neardup.copying.quotations import quotations, references

if TYPE_CHECKING:
    from neardup.copying.documents import Given


class Rules(NamedTuple):
    """What does not count."""

    template: tuple[str, ...]
    ignore_quotations: bool
    ignore_references: bool
    common: int | None
    own: frozenset[str]
    exclude: frozenset[str]

    def is_own(self, document: Given, other: Given) -> bool:
        return other.id in self.own or (
            document.author is not None and document.author == other.author
        )

    def finding(
        self,
        document: Given,
        compared: Sequence[Compared],
        others: Sequence[Given],
        question: _core.Sharing,
        *,
        among: bool,
    ) -> Finding:
        """The document with all that was found, counted."""
        words = Words(document.text)
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
    count: Count, compared: Sequence[Compared], others: Sequence[Given], *, among: bool
) -> list[Source]:
    """Those of which a word counts, the largest first."""
    parts: dict[Shape, tuple[Part | None, float]] = {}
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
