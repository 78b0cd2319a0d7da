"""The comparison page: two texts side by side with the passages they share.

`pair_view` is also a part of the pages of a check and of the service.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from neardup.copying.findings import Ignored
from neardup.reports.differences import PAGE_STEPS, Changes, EqualWords, WorkBudget, changes
from neardup.reports.formatting import Piece, cosine, line_pieces, number
from neardup.reports.marked_text import (
    MarkedPart,
    MarkedSpan,
    WordCounter,
    replace_surrogates,
    split_marked_text,
)
from neardup.reports.page import PASSAGES_SCRIPT, Sentence, Wording, render_page
from neardup.text.comparison import (
    Comparison,
    Passage,
    Unit,
    own_tokens,
    tells_differences,
    unit_of,
)
from neardup.text.differences import Differences

SHOWN_CHARACTERS = 3_000_000
# Browsers become slow with more.
MAX_PASSAGES = 20_000
MAX_LISTED = 200
MAX_TOKENS = 20
EXCERPT_CHARACTERS = 120


@dataclass(frozen=True)
class ComparisonReport:
    """Two texts and what they share.

    coverage    share of the left text that is in the right, and the reverse
    similarity  exact cosine, if there is one
    distance, bits   of the fingerprints, if there are any
    verdict     what `neardup.compare` says, in sentences; none in a check
    differences what only one text has; None if that is not told
    ignored     spans of each side that do not count
    equal       spans of equal words in the passages, as `Source.equal`, if known
    coarse      whether the search for passages reached its time limit
    """

    names: tuple[str, str]
    texts: tuple[str, str]
    passages: Sequence[Passage]
    coverage: tuple[float, float]
    similarity: float | None = None
    distance: int | None = None
    bits: int | None = None
    verdict: Sequence[Sentence] = ()
    differences: Differences | None = None
    ignored: tuple[Sequence[Ignored], Sequence[Ignored]] = ((), ())
    equal: Sequence[tuple[int, int, int, int]] = ()
    coarse: bool = False


def comparison_report(
    names: tuple[str, str],
    texts: tuple[str, str],
    found: Comparison,
    ignored: tuple[Sequence[Ignored], Sequence[Ignored]] = ((), ()),
) -> ComparisonReport:
    """Return the report of a result of `neardup.compare`."""
    return ComparisonReport(
        names=names,
        texts=texts,
        passages=found.passages,
        coverage=(found.coverage_left, found.coverage_right),
        similarity=None if math.isnan(found.similarity) else found.similarity,
        distance=found.distance,
        bits=found.recipe.bits,
        verdict=list(_verdict(found)),
        differences=found.differences if tells_differences(found) else None,
        ignored=ignored,
        coarse=found.coarse,
    )


def _verdict(found: Comparison) -> Iterator[Sentence]:
    contains = [Sentence(f"verdict.contains.{found.container}")] if found.container else []
    by, value = (
        ("distance", found.radius) if found.threshold is None else ("similarity", found.threshold)
    )
    limit = {"value": value}
    if found.verdict == "identical":
        yield Sentence("verdict.identical")
    elif found.verdict == "near-duplicate":
        yield Sentence(f"verdict.near-duplicate.{by}", limit)
        yield from contains
        aspects = found.differences.aspects
        yield from (Sentence(f"verdict.differ.{each}") for each in aspects if each != "order")
        if not (aspects or found.differences.added or found.differences.lost):
            yield Sentence("verdict.differ.nothing")
    else:
        yield from contains or [Sentence(f"verdict.{found.verdict}")]
        yield Sentence(f"verdict.far.{by if found.distance is not None else 'signal'}", limit)
    if found.differences.order:
        yield Sentence("verdict.differ.order")


@dataclass(frozen=True)
class Figure:
    """A number at the top of a page; the script computes it again from `name`, `by` and `total`."""

    label: str
    value: str
    name: str = ""
    total: float = 0.0
    by: str = "w"


@dataclass(frozen=True)
class Column:
    """One of the two texts."""

    side: str
    name: Sequence[Piece]
    label: str
    facts: str
    blocks: Sequence[Sequence[MarkedPart]]
    notes: Sequence[str]


@dataclass(frozen=True)
class PassageRow:
    """A passage in the list."""

    number: int
    link: str
    words: str
    exact: bool
    excerpt: Sequence[Piece]


@dataclass(frozen=True)
class DifferenceRow:
    """Tokens of one kind that only the left text has, and those that only the right one has."""

    label: str
    sides: tuple[Sequence[Piece], Sequence[Piece]]


@dataclass(frozen=True)
class PairView:
    """The view for the template.

    unit     what lengths count
    shown    the passages that are shown, by their numbers
    grey     whether some text does not count
    """

    prefix: str
    verdict: str
    unit: Unit
    figures: Sequence[Figure]
    differences: Sequence[DifferenceRow]
    columns: Sequence[Column]
    rows: Sequence[PassageRow]
    rows_note: str
    notes: Sequence[str]
    shown: Mapping[int, Passage]
    grey: bool

    @property
    def lengths(self) -> list[int]:
        """Words of each passage by number, for the script; 0 if it is not shown."""
        last = max(self.shown, default=0)
        return [self.shown[n].words if n in self.shown else 0 for n in range(1, last + 1)]

    @property
    def shortest(self) -> int:
        return min((passage.words for passage in self.shown.values()), default=0)

    @property
    def longest(self) -> int:
        return max(self.lengths, default=0)


def pair_view(
    found: ComparisonReport, words: Wording, *, prefix: str = "", most: int = SHOWN_CHARACTERS
) -> PairView:
    """Return two texts and their passages for the template.

    prefix  for ids of elements, if a page has several views
    most    characters shown of each text
    """
    passages, notes = _shown(found, words, most)
    edits = passage_changes(
        [x for _, x in passages], found.texts, found.equal, WorkBudget(PAGE_STEPS)
    )
    unit = unit_of(*map(replace_surrogates, found.texts))
    columns = [
        _column(found, at, passages, edits, words, unit, prefix=prefix, most=most)
        for at in range(len(SIDES))
    ]
    if found.coarse:
        notes.append(words("note.coarse"))
    if not passages:
        notes.append(words("note.no_passages"))
    return PairView(
        prefix,
        words.sentence_gap.join(map(words.say, found.verdict)),
        unit,
        list(_figures(found, passages, columns, words, unit)),
        list(difference_rows(found.differences, words, unit)),
        columns,
        _rows(found, passages, prefix),
        words("list.rows", shown=MAX_LISTED, n=len(passages)) if len(passages) > MAX_LISTED else "",
        notes,
        dict(passages),
        any(part.rule for column in columns for block in column.blocks for part in block),
    )


SIDES = ("left", "right")


def render_comparison(found: ComparisonReport, language: str = "en") -> Iterator[str]:
    """Yield the page in pieces."""
    words = Wording(language)
    view = pair_view(found, words)
    return render_page(
        "compare.html",
        words,
        script_name=PASSAGES_SCRIPT,
        title=words("title.compare"),
        one_file=False,
        view=view,
    )


def _shown(
    found: ComparisonReport, words: Wording, most: int
) -> tuple[list[tuple[int, Passage]], list[str]]:
    """Return the passages to show with their numbers, and notes about those left out."""
    inside = [
        (n, passage)
        for n, passage in number_passages(found.passages)
        if passage.left_start < min(len(found.texts[0]), most)
        and passage.right_start < min(len(found.texts[1]), most)
    ]
    notes = []
    if len(inside) > MAX_PASSAGES:
        notes.append(words("note.most", shown=MAX_PASSAGES, n=len(inside)))
        inside = sorted(inside, key=lambda each: -each[1].words)[:MAX_PASSAGES]
    return sorted(inside, key=lambda each: each[0]), notes


def number_passages(passages: Sequence[Passage]) -> list[tuple[int, Passage]]:
    """Return passages numbered in the order of the left text."""
    order = sorted(passages, key=lambda passage: (passage.left_start, passage.right_start))
    return list(enumerate(order, 1))


def _column(
    found: ComparisonReport,
    at: int,
    passages: Sequence[tuple[int, Passage]],
    edits: Sequence[Changes],
    words: Wording,
    unit: Unit,
    *,
    prefix: str,
    most: int,
) -> Column:
    text = found.texts[at]
    measure = WordCounter(text)
    here, there = "lr"[at], "rl"[at]
    spans = []
    for (n, passage), edited in zip(passages, edits, strict=True):
        start, end = passage_span(passage, at)
        spans.append(
            MarkedSpan(
                start,
                end,
                key=n,
                # If passages overlap, the longest gives the colour and is hidden last.
                rank=-passage.words,
                link=f"#{prefix}{there}{n}",
                title=words("jump.to", n=n, count=words(f"length.{unit}", n=passage.words)),
                anchor=f"{prefix}{here}{n}",
                equal=equal_share(passage, edited, measure.between(start, end)[0]),
                changed=edited.on(at),
            )
        )
    notes = [] if text else [words("text.empty")]
    if len(text) > most:
        notes.append(words("text.cut", shown=most, n=len(text)))
    return Column(
        SIDES[at],
        line_pieces(found.names[at]),
        words(f"side.{SIDES[at]}"),
        words(f"length.{unit}", n=measure.total),
        split_marked_text(text[:most], spans, found.ignored[at]),
        notes,
    )


def passage_changes(
    passages: Sequence[Passage],
    texts: tuple[str, str],
    equal: Sequence[tuple[int, int, int, int]],
    budget: WorkBudget,
) -> list[Changes]:
    """Return the changed words of each passage; compare again if `equal` is not known."""
    if equal:
        known = EqualWords(equal)
        return [known.changes(passage, texts) for passage in passages]
    return [changes(passage, *texts, budget) for passage in passages]


def passage_span(passage: Passage, at: int) -> tuple[int, int]:
    """Return the span of a passage in the left text (0) or the right one (1)."""
    if at == 0:
        return passage.left_start, passage.left_end
    return passage.right_start, passage.right_end


def equal_share(passage: Passage, edited: Changes, words: int) -> float:
    """Return the share of equal words in a passage whose changed words are unknown, else 1."""
    if edited.is_known:
        return 1.0
    return min(passage.words / max(words, 1), 1.0)


def whole_of_share(weight: float, value: float) -> float:
    """Return the total of which `weight` is the share `value`, so that the script, which divides
    weights by it, begins with the same figure."""
    return weight / value if value > 0 else 0.0


def _figures(
    found: ComparisonReport,
    passages: Sequence[tuple[int, Passage]],
    columns: Sequence[Column],
    words: Wording,
    unit: Unit,
) -> Iterator[Figure]:
    none = words("figure.none")
    similarity = none if found.similarity is None else cosine(found.similarity)
    yield Figure(words("figure.similarity"), similarity)
    if found.bits is not None:
        apart = none
        if found.distance is not None:
            apart = words("figure.bits", n=found.distance, of=found.bits)
        yield Figure(words("figure.distance"), apart)
    for column, value in zip(columns, found.coverage, strict=True):
        weight = sum(part.words for block in column.blocks for part in block if part.counts)
        total = whole_of_share(weight, value)
        yield Figure(words(f"figure.{column.side}"), words.share(value), column.side, total)
    longest = max((passage.words for _, passage in passages), default=0)
    yield Figure(words("figure.longest"), words(f"length.{unit}", n=longest))
    yield Figure(words("figure.passages", n=len(passages)), number(len(passages)), "passages")


def difference_rows(
    found: Differences | None, words: Wording, unit: Unit
) -> Iterator[DifferenceRow]:
    """Return what only one text has: a row for each kind of token."""
    for name, (left, right) in {} if found is None else own_tokens(found).items():
        if left or right:
            label = words(f"differs.{unit if name == 'words' else name}")
            yield DifferenceRow(label, (_listed(left, words), _listed(right, words)))


def _listed(tokens: Sequence[str], words: Wording) -> Sequence[Piece]:
    shown = words.comma.join(tokens[:MAX_TOKENS])
    if len(tokens) > MAX_TOKENS:
        shown = words("differs.more", shown=shown, n=len(tokens))
    return line_pieces(shown)


def _rows(
    found: ComparisonReport, passages: Sequence[tuple[int, Passage]], prefix: str
) -> Sequence[PassageRow]:
    longest = sorted(passages, key=lambda each: -each[1].words)[:MAX_LISTED]
    return [
        PassageRow(
            n,
            f"#{prefix}l{n}",
            number(passage.words),
            passage.exact,
            line_pieces(_excerpt(found.texts[0][passage.left_start : passage.left_end])),
        )
        for n, passage in sorted(longest, key=lambda each: each[0])
    ]


def _excerpt(text: str) -> str:
    shown = " ".join(text[: 2 * EXCERPT_CHARACTERS].split())
    return (
        shown
        if len(shown) <= EXCERPT_CHARACTERS and len(text) <= 2 * EXCERPT_CHARACTERS
        else f"{shown[:EXCERPT_CHARACTERS]}…"
    )
