"""Findings of a check for copying, built by hand for tests of reports and summaries."""

from __future__ import annotations

from neardup.copying.findings import Copying, Figures, Finding, Ignored, Rule, Source
from neardup.text.comparison import Passage

TEXT = "alpha beta gamma delta epsilon zeta eta theta iota kappa"


def passage(text: str, other: str, shared: str, *, exact: bool = True) -> Passage:
    """Return the passage of both texts with these words."""
    left, right = text.index(shared), other.index(shared)
    size = len(shared)
    return Passage(left, left + size, right, right + size, len(shared.split()), exact)


def source(id_: str, text: str, other: str, *shared: str) -> Source:
    found = tuple(passage(text, other, each) for each in shared)
    words = sum(each.words for each in found)
    return Source(
        id=id_,
        text=other,
        share=words / len(text.split()),
        own_share=words / len(other.split()),
        words=words,
        longest=max(each.words for each in found),
        similarity=0.5,
        passages=found,
    )


def finding(
    id_: str, text: str, *sources: Source, quoted: tuple[tuple[int, int, Rule], ...] = ()
) -> Finding:
    """Return a finding with figures counted naively, by words and by characters."""
    skipped = [range(start, end) for start, end, _ in quoted]
    places = _words(text)

    def share(of: tuple[Source, ...], *, every: bool = True) -> tuple[float, float]:
        hit = [
            (start, end)
            for start, end in places
            if any(x.left_start <= start < x.left_end for each in of for x in each.passages)
            and (every or not any(start in stretch for stretch in skipped))
        ]
        return len(hit) / len(places), sum(e - s for s, e in hit) / sum(e - s for s, e in places)

    whole, unquoted = share(sources), share(sources, every=False)
    single = [share((each,)) for each in sources] or [(0.0, 0.0)]
    figures = [
        Figures(whole[by], unquoted[by], max(found[by] for found in single)) for by in (0, 1)
    ]
    return Finding(
        id=id_,
        text=text,
        words=len(places),
        characters=sum(end - start for start, end in places),
        figures=figures[0],
        by_characters=figures[1],
        sources=sources,
        quoted=tuple(Ignored(*each) for each in quoted),
    )


def _words(text: str) -> list[tuple[int, int]]:
    found, at = [], 0
    for word in text.split():
        at = text.index(word, at)
        found.append((at, at + len(word)))
        at += len(word)
    return found


ONE = "alpha beta gamma delta and other words that nobody has"
TWO = "before it gamma delta epsilon zeta and nothing more at all"


def copying(*, among: bool = False, ids: tuple[str, ...] = ("essay", "honest")) -> Copying:
    """Return findings of an essay with two overlapping sources, and of one without any."""
    essay = finding(
        ids[0],
        TEXT,
        source("one", TEXT, ONE, "alpha beta gamma delta"),
        source("two", TEXT, TWO, "gamma delta epsilon zeta"),
        quoted=((0, 5, "quotation"),),
    )
    honest = finding(ids[1], "words of their own and no others")
    settings: dict[str, object] = {"min_words": 3, "common": None, "exclude": ()}
    return Copying((essay, honest), among, settings)
