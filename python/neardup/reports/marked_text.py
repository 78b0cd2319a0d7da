"""Texts with marks, for templates.

`split_marked_text` cuts one text where marked spans begin or end: passages of a copy, quotations.
`SideBySide` puts two records beside each other with their differences marked.
"""

from __future__ import annotations

import sys
from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from heapq import heappop, heappush
from itertools import pairwise
from typing import NamedTuple

from neardup.copying.findings import Ignored
from neardup.reports.differences import Differences, DiffPart, Fold, Spans, WorkBudget, differences
from neardup.reports.formatting import Piece, block_pieces, cosine, line_pieces
from neardup.reports.page import Wording

# Most overlapping spans named at one place.
MAX_KEYS = 24
# Longer texts are cut into blocks, so that a browser lays out only the visible ones.
LONG_TEXT = 60_000
BLOCK_CHARACTERS = 8_000


class MarkedSpan(NamedTuple):
    """A marked span of a text.

    key      number of the passage or the source it belongs to
    rank     of overlapping spans the lowest gives the colour
    link     target of its number; `title` is its tooltip, `anchor` the id that others link to
    equal    share of its words that the other text has
    changed  spans of words in it that the other text does not have
    """

    start: int
    end: int
    key: int
    rank: int
    link: str = ""
    title: str = ""
    anchor: str = ""
    equal: float = 1.0
    changed: Spans = ()

    def equal_at(self, place: int) -> float:
        """Return the share of equal words at a place."""
        at = bisect_right(self.changed, (place, sys.maxsize)) - 1
        if at >= 0 and place < self.changed[at][1]:
            return 0.0
        return self.equal


@dataclass(frozen=True, slots=True)
class MarkedPart:
    """A part of a text with the same marks throughout.

    keys        of the spans it lies in, the one that gives the colour first
    begins      spans that begin here and show their number
    words, characters   how many count, for figures that the script computes again
    rule        the rule by which it does not count, or ""
    quoted      whether it is in a quotation or a list of references
    exact       whether the other text has it word for word
    """

    pieces: Sequence[Piece]
    keys: tuple[int, ...] = ()
    begins: tuple[MarkedSpan, ...] = ()
    words: float = 0.0
    characters: float = 0.0
    rule: str = ""
    quoted: bool = False
    exact: bool = True

    @property
    def counts(self) -> bool:
        return bool(self.keys) and not self.rule


class _Cut(NamedTuple):
    start: int
    end: int
    spans: tuple[MarkedSpan, ...]
    begins: tuple[MarkedSpan, ...]
    rule: str
    quoted: bool


def split_marked_text(
    text: str,
    spans: Iterable[MarkedSpan],
    ignored: Sequence[Ignored] = (),
    quoted: Sequence[Ignored] = (),
) -> list[list[MarkedPart]]:
    """Cut a text where marks begin or end; return blocks of parts.

    The line break between two blocks is left out. O(n log n) in characters and spans.
    """
    inside = [_inside(each, len(text)) for each in spans]
    cuts = _cuts(len(text), inside, _Rules(ignored), _Rules(quoted))
    measure = WordCounter(text)
    if len(text) < LONG_TEXT:
        return [[_part(text, cut, measure) for cut in cuts]]
    blocks: list[list[MarkedPart]] = [[]]
    size = 0
    for cut in cuts:
        for piece, ends in _lines(text, cut, size):
            if piece.start < piece.end or piece.begins:
                blocks[-1].append(_part(text, piece, measure))
            size += piece.end - piece.start
            if ends:
                blocks.append([])
                size = 0
    return blocks


def _inside(span: MarkedSpan, length: int) -> MarkedSpan:
    start = min(max(span.start, 0), length)
    return span._replace(start=start, end=min(max(span.end, start), length))


class _Rules:
    """Spans under a rule, looked up from left to right."""

    def __init__(self, spans: Sequence[Ignored]) -> None:
        found = (each for each in spans if each.start < each.end)
        self.spans = sorted(found, key=lambda each: each.start)
        self._next = 0
        self._on: Ignored | None = None

    def at(self, place: int) -> str:
        """Return the rule at a place; of several, the one that reaches farthest."""
        while self._next < len(self.spans) and self.spans[self._next].start <= place:
            new = self.spans[self._next]
            if self._on is None or new.end > self._on.end:
                self._on = new
            self._next += 1
        return self._on.rule if self._on is not None and self._on.end > place else ""


def _cuts(length: int, spans: list[MarkedSpan], ignored: _Rules, quoted: _Rules) -> Iterator[_Cut]:
    spans = sorted((each for each in spans if each.start < each.end), key=_order)
    places = {0, length}
    for each in spans:
        places.update((each.start, each.end))
        places.update(min(place, each.end) for span in each.changed for place in span)
    for rule in (*ignored.spans, *quoted.spans):
        places.update(min(max(place, 0), length) for place in (rule.start, rule.end))
    bounds = sorted(places)
    # (rank, index) of each active span, and the same by its end, to remove it.
    active: list[tuple[int, int]] = []
    ends: list[tuple[int, int, int]] = []
    at = 0
    for start, end in pairwise(bounds):
        while ends and ends[0][0] <= start:
            del active[bisect_left(active, heappop(ends)[1:])]
        begins = []
        while at < len(spans) and spans[at].start == start:
            begins.append(spans[at])
            insort(active, (spans[at].rank, at))
            heappush(ends, (spans[at].end, spans[at].rank, at))
            at += 1
        shown = tuple(spans[place] for _, place in active[:MAX_KEYS])
        begun = tuple(begins[:MAX_KEYS])
        yield _Cut(start, end, shown, begun, ignored.at(start), bool(quoted.at(start)))


def _order(span: MarkedSpan) -> tuple[int, int, int]:
    return span.start, span.rank, span.key


def _lines(text: str, cut: _Cut, size: int) -> Iterator[tuple[_Cut, bool]]:
    """Yield a cut, split at line breaks where a block is full, and whether a block ends there."""
    start = cut.start
    while True:
        wanted = max(start, start + BLOCK_CHARACTERS - size)
        at = text.find("\n", wanted, cut.end) if wanted < cut.end else -1
        if at < 0:
            yield cut._replace(start=start, begins=cut.begins if start == cut.start else ()), False
            return
        # The line break ends the block and is not shown.
        end = at - 1 if at > start and text[at - 1] == "\r" else at
        begins = cut.begins if start == cut.start else ()
        yield cut._replace(start=start, end=end, begins=begins), True
        start, size = at + 1, 0


def _part(text: str, cut: _Cut, measure: WordCounter) -> MarkedPart:
    pieces = block_pieces(text[cut.start : cut.end])
    if not cut.spans:
        return MarkedPart(pieces, rule=cut.rule, quoted=cut.quoted)
    # A word is equal if one of the overlapping spans has it.
    equal = max(each.equal_at(cut.start) for each in cut.spans)
    words, characters = measure.between(cut.start, cut.end)
    return MarkedPart(
        pieces,
        tuple(dict.fromkeys(each.key for each in cut.spans)),
        cut.begins,
        words * equal,
        characters * equal,
        cut.rule,
        cut.quoted,
        cut.spans[0].equal_at(cut.start) == 1.0,
    )


class WordCounter:
    """Counts words and their characters in spans of a text, as passages do."""

    def __init__(self, text: str) -> None:
        import numpy as np

        from neardup import _core

        self._starts, ends, _ = _core.units(replace_surrogates(text))
        self._characters = np.concatenate(([0], np.cumsum(ends - self._starts)))

    @property
    def total(self) -> int:
        """Number of words of the text."""
        return len(self._starts)

    def between(self, start: int, end: int) -> tuple[int, int]:
        """Return the number of words that begin between two places, and of their characters."""
        first, last = self._starts.searchsorted((start, end))
        return int(last - first), int(self._characters[last] - self._characters[first])


def replace_surrogates(text: str) -> str:
    """Return the text with "?" for lone surrogates, which the core refuses; lengths stay."""
    return text.encode(errors="replace").decode()


# ---- two records side by side ----

# A limit for callers that did not cut the text.
SHOWN_CHARACTERS = 20_000
# Of a longer equal part only both ends are shown.
SAME_CHARACTERS = 1200
ENDS_CHARACTERS = 300
# How far to look for a space to cut at.
WORD_CHARACTERS = 40
# Steps for all texts of a page, some five seconds; later pairs are marked coarsely.
PAGE_STEPS = 30_000_000


@dataclass(frozen=True)
class ShownRecord:
    """A record shown in the report.

    text        its beginning if it is long; `length` is that of the whole
    distance    to the record beside it; None if there is no fingerprint
    similarity  exact cosine with that record; None for the record others are compared with
    """

    id: str
    text: str
    length: int
    distance: int | None = None
    similarity: float | None = None
    is_representative: bool = False


@dataclass(frozen=True)
class SidePart:
    """A part of a text; `tag` is "del", "ins", "faint", "skip" or ""."""

    tag: str
    pieces: Sequence[Piece]


@dataclass(frozen=True)
class Side:
    """One of two texts."""

    id: Sequence[Piece]
    facts: Sequence[str]
    parts: Sequence[SidePart]
    notes: Sequence[str]


@dataclass(frozen=True)
class Sides:
    """Two texts, or a single one, and a note."""

    note: str
    sides: Sequence[Side]


class SideBySide:
    """Puts records side by side; all of a page share one work budget."""

    def __init__(self, words: Wording, fold: Fold | None) -> None:
        self._words = words
        self._fold = fold
        self._steps = WorkBudget(PAGE_STEPS)

    def alone(self, record: ShownRecord) -> Sides:
        member = _cut(record)
        parts = [SidePart("", block_pieces(member.text))] if member.text else []
        return Sides("", [self._side(member, parts)])

    def pair(self, left: ShownRecord, right: ShownRecord, tokens: Sequence[str] = ()) -> Sides:
        """Mark what differs.

        tokens  of only one text; where they stand is marked even if the recipe ignores it
        """
        first, member = _cut(left), _cut(right)
        if first.text == member.text:
            whole = _is_whole(first) and _is_whole(member)
            note = self._words("text.same" if whole else "text.same_beginning")
            return Sides(
                "", [self._side(first, self._whole(first.text)), self._side(member, [], note)]
            )
        found = differences(first.text, member.text, self._steps, fold=self._fold)
        diffs = [
            diff._replace(counts=diff.counts or _has_token(diff, tokens))
            for diff in _without_cut_ends(found.parts, first, member)
        ]
        parts_left = [part for each in diffs for part in self._marked(each, "del")]
        parts_right = [part for each in diffs for part in self._marked(each, "ins")]
        sides = [self._side(first, parts_left), self._side(member, parts_right)]
        return Sides(self._said(found), sides)

    def _said(self, found: Differences) -> str:
        if found.coarse:
            return self._words("text.coarse")
        if all(diff.same for diff in found.parts):
            return self._words("text.spacing_only")
        if not any(diff.counts and not diff.same for diff in found.parts):
            return self._words("text.uncounted_only")
        return ""

    def _marked(self, diff: DiffPart, tag: str) -> list[SidePart]:
        text = diff.left if tag == "del" else diff.right
        if diff.same:
            return self._whole(text)
        words = text.rstrip()
        marked = SidePart(tag if diff.counts else "faint", block_pieces(words))
        return [
            part for part in (marked, SidePart("", block_pieces(text[len(words) :]))) if part.pieces
        ]

    def _whole(self, text: str) -> list[SidePart]:
        """Return an equal part, its middle left out if it is long."""
        if len(text) <= SAME_CHARACTERS:
            return [SidePart("", block_pieces(text))] if text else []
        begin = _space(text, range(ENDS_CHARACTERS, ENDS_CHARACTERS + WORD_CHARACTERS))
        last = len(text) - ENDS_CHARACTERS
        end = _space(text, range(last, last + WORD_CHARACTERS))
        skipped = self._words("text.skipped", n=end - begin)
        return [
            SidePart("", block_pieces(text[:begin].rstrip())),
            SidePart("skip", [Piece(skipped, False)]),
            SidePart("", block_pieces(text[end:].lstrip())),
        ]

    def _side(self, member: ShownRecord, parts: Sequence[SidePart], note: str = "") -> Side:
        notes = [note] if note else []
        if parts and not _is_whole(member):
            notes.append(self._words("text.cut", shown=len(member.text), n=member.length))
        if not parts and not notes:
            notes = [self._words("text.empty")]
        return Side(line_pieces(member.id), self._facts(member), parts, notes)

    def _facts(self, member: ShownRecord) -> list[str]:
        words = self._words
        facts = [words("fact.representative")] if member.is_representative else []
        if member.similarity is not None:
            facts.append(words("fact.similarity", value=cosine(member.similarity)))
            if member.distance is None:
                facts.append(words("fact.no_fingerprint"))
            else:
                facts.append(words("fact.distance", n=member.distance))
        return [*facts, words("fact.length", n=member.length)]


def _has_token(diff: DiffPart, tokens: Sequence[str]) -> bool:
    """Return whether a change is in a token, as + in +5, or has one."""
    texts = [text for text in (diff.left.strip().casefold(), diff.right.strip().casefold()) if text]
    return any(text in token or token in text for text in texts for token in tokens)


def _cut(member: ShownRecord) -> ShownRecord:
    # The caller's length may be wrong; it is at least that of the text.
    length = max(member.length, len(member.text))
    return replace(member, text=member.text[:SHOWN_CHARACTERS], length=length)


def _is_whole(member: ShownRecord) -> bool:
    return len(member.text) == member.length


def _without_cut_ends(
    diffs: Sequence[DiffPart], first: ShownRecord, member: ShownRecord
) -> Sequence[DiffPart]:
    """Do not mark the end of one text that faces the cut-off part of the other."""
    if not diffs or diffs[-1].same:
        return diffs
    last = diffs[-1]
    beyond_left = not last.right.strip() and not _is_whole(member)
    beyond_right = not last.left.strip() and not _is_whole(first)
    if beyond_left or beyond_right:
        return [*diffs[:-1], last._replace(same=True)]
    return diffs


def _space(text: str, places: range) -> int:
    """Return the first space among these places, else the first place."""
    return next((at for at in places if text[at].isspace()), places[0])
