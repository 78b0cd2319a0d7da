"""A text with stretches marked, cut where a mark begins or ends, for the template to write down."""

from __future__ import annotations

import sys
from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from heapq import heappop, heappush
from itertools import pairwise
from typing import NamedTuple

from neardup.copying.findings import Ignored
from neardup.reports.differences import Differences, Fold, Spans, Stretch, WorkBudget, differences
from neardup.reports.formatting import Piece, block, cosine, line
from neardup.reports.page import Wording

# Of stretches that lie on one another so many are named; the others would only add to the page.
MOST_KEYS = 24
# Texts from here on are cut into blocks, of which a browser lays out only those it shows.
LONG_TEXT = 60_000
BLOCK = 8_000


class MarkedStretch(NamedTuple):
    """Some of a text, marked.

    key    what it belongs to: a passage, or a source
    rank   where several lie on one another, the lowest gives the colour
    link   where the number leads, and what is said of that; `anchor` is the name by which others
           lead here
    equal  the share of its words that the other text has
    changed   places of the words in it that the other text has not; all others are equal
    """

    start: int
    end: int
    key: int
    rank: int
    link: str = ""
    said: str = ""
    anchor: str = ""
    equal: float = 1.0
    changed: Spans = ()

    def equal_at(self, place: int) -> float:
        """How much of what lies there is equal; no change begins or ends within."""
        at = bisect_right(self.changed, (place, sys.maxsize)) - 1
        if at >= 0 and place < self.changed[at][1]:
            return 0.0
        return self.equal


@dataclass(frozen=True, slots=True)
class MarkedPart:
    """Some of a text without a change of marks in it.

    keys        what it belongs to, the one that gives the colour first
    begins      stretches that begin here, to be numbered
    words, characters   how many of them count, for figures that the page computes again
    rule        why it does not count, if it does not
    quoted      whether it is in a quotation or a list of references
    exact       whether the other text has it word for word
    """

    pieces: Sequence[Piece]
    keys: tuple[int, ...] = ()
    begins: tuple[MarkedStretch, ...] = ()
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
    stretches: tuple[MarkedStretch, ...]
    begins: tuple[MarkedStretch, ...]
    rule: str
    quoted: bool


def parts_of(
    text: str,
    stretches: Iterable[MarkedStretch],
    ignored: Sequence[Ignored] = (),
    quoted: Sequence[Ignored] = (),
) -> list[list[MarkedPart]]:
    """The parts of a text in blocks, of which all but the last ended with a line break.

    O(n log n) for n characters and stretches together.
    """
    inside = [_inside(each, len(text)) for each in stretches]
    cuts = _cuts(len(text), inside, _Rules(ignored), _Rules(quoted))
    measure = Measure(text)
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


def _inside(stretch: MarkedStretch, length: int) -> MarkedStretch:
    start = min(max(stretch.start, 0), length)
    return stretch._replace(start=start, end=min(max(stretch.end, start), length))


class _Rules:
    """Stretches under a rule, asked from left to right."""

    def __init__(self, stretches: Sequence[Ignored]) -> None:
        found = (each for each in stretches if each.start < each.end)
        self.stretches = sorted(found, key=lambda each: each.start)
        self._next = 0
        self._on: Ignored | None = None

    def at(self, place: int) -> str:
        """The rule at a place; of several the one that reaches farthest."""
        while self._next < len(self.stretches) and self.stretches[self._next].start <= place:
            new = self.stretches[self._next]
            if self._on is None or new.end > self._on.end:
                self._on = new
            self._next += 1
        return self._on.rule if self._on is not None and self._on.end > place else ""


def _cuts(
    length: int, stretches: list[MarkedStretch], ignored: _Rules, quoted: _Rules
) -> Iterator[_Cut]:
    stretches = sorted((each for each in stretches if each.start < each.end), key=_order)
    places = {0, length}
    for each in stretches:
        places.update((each.start, each.end))
        places.update(min(place, each.end) for span in each.changed for place in span)
    for rule in (*ignored.stretches, *quoted.stretches):
        places.update(min(max(place, 0), length) for place in (rule.start, rule.end))
    bounds = sorted(places)
    # Rank and place of each stretch that is on; and by its end, to take it off again.
    active: list[tuple[int, int]] = []
    ends: list[tuple[int, int, int]] = []
    at = 0
    for start, end in pairwise(bounds):
        while ends and ends[0][0] <= start:
            del active[bisect_left(active, heappop(ends)[1:])]
        begins = []
        while at < len(stretches) and stretches[at].start == start:
            begins.append(stretches[at])
            insort(active, (stretches[at].rank, at))
            heappush(ends, (stretches[at].end, stretches[at].rank, at))
            at += 1
        shown = tuple(stretches[place] for _, place in active[:MOST_KEYS])
        begun = tuple(begins[:MOST_KEYS])
        yield _Cut(start, end, shown, begun, ignored.at(start), bool(quoted.at(start)))


def _order(stretch: MarkedStretch) -> tuple[int, int, int]:
    return stretch.start, stretch.rank, stretch.key


def _lines(text: str, cut: _Cut, size: int) -> Iterator[tuple[_Cut, bool]]:
    """A cut, divided at line breaks wherever a block is full; whether a block ends there."""
    start = cut.start
    while True:
        wanted = max(start, start + BLOCK - size)
        at = text.find("\n", wanted, cut.end) if wanted < cut.end else -1
        if at < 0:
            yield cut._replace(start=start, begins=cut.begins if start == cut.start else ()), False
            return
        # The break is the end of the block, and not shown again.
        end = at - 1 if at > start and text[at - 1] == "\r" else at
        begins = cut.begins if start == cut.start else ()
        yield cut._replace(start=start, end=end, begins=begins), True
        start, size = at + 1, 0


def _part(text: str, cut: _Cut, measure: Measure) -> MarkedPart:
    pieces = block(text[cut.start : cut.end])
    if not cut.stretches:
        return MarkedPart(pieces, rule=cut.rule, quoted=cut.quoted)
    # What one of several has word for word is equal.
    equal = max(each.equal_at(cut.start) for each in cut.stretches)
    words, characters = measure.between(cut.start, cut.end)
    return MarkedPart(
        pieces,
        tuple(dict.fromkeys(each.key for each in cut.stretches)),
        cut.begins,
        words * equal,
        characters * equal,
        cut.rule,
        cut.quoted,
        cut.stretches[0].equal_at(cut.start) == 1.0,
    )


class Measure:
    """Counts words of a text, and the characters in them, as passages do: without punctuation."""

    def __init__(self, text: str) -> None:
        import numpy as np

        from neardup import _core

        self._starts, ends, _ = _core.units(whole(text))
        self._characters = np.concatenate(([0], np.cumsum(ends - self._starts)))

    def between(self, start: int, end: int) -> tuple[int, int]:
        """How many words begin there, and their characters."""
        first, last = self._starts.searchsorted((start, end))
        return int(last - first), int(self._characters[last] - self._characters[first])


def whole(text: str) -> str:
    """The text as the core takes it, as long as before: halves of characters are none to it."""
    return text.encode(errors="replace").decode()


# Two texts side by side, their differences marked, for the template to write down.

# Callers cut texts; this is for those that did not.
SHOWN_CHARACTERS = 20_000
# Of a longer stretch without differences only both ends are shown.
SAME_CHARACTERS = 1200
ENDS_CHARACTERS = 300
# So far a space is looked for, to cut there.
WORD_CHARACTERS = 40
# Some five seconds for all texts of a page; later pairs are marked coarsely.
PAGE_STEPS = 30_000_000


@dataclass(frozen=True)
class Shown:
    """A record shown in the report.

    text        its beginning, if the whole is long; `length`: characters of the whole
    distance    to what it is shown beside; None when there is no fingerprint
    similarity  exact cosine with it; None for what others are compared with
    """

    id: str
    text: str
    length: int
    distance: int | None = None
    similarity: float | None = None
    is_representative: bool = False


@dataclass(frozen=True)
class SidePart:
    """Some of a text: `tag` is "del", "ins", "faint", "skip", or nothing."""

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
    """Two texts, or one that is alone; and what there is to say of both."""

    note: str
    sides: Sequence[Side]


class SideBySide:
    """Puts records side by side; all of a page share the time it takes."""

    def __init__(self, words: Wording, fold: Fold | None) -> None:
        self._words = words
        self._fold = fold
        self._steps = WorkBudget(PAGE_STEPS)

    def alone(self, record: Shown) -> Sides:
        member = _cut(record)
        parts = [SidePart("", block(member.text))] if member.text else []
        return Sides("", [self._side(member, parts)])

    def pair(self, left: Shown, right: Shown) -> Sides:
        first, member = _cut(left), _cut(right)
        if first.text == member.text:
            whole = _is_whole(first) and _is_whole(member)
            said = self._words("text.same" if whole else "text.same_beginning")
            return Sides(
                "", [self._side(first, self._whole(first.text)), self._side(member, [], said)]
            )
        found = differences(first.text, member.text, self._steps, fold=self._fold)
        stretches = _without_cut_ends(found.stretches, first, member)
        parts_left = [part for each in stretches for part in self._marked(each, "del")]
        parts_right = [part for each in stretches for part in self._marked(each, "ins")]
        sides = [self._side(first, parts_left), self._side(member, parts_right)]
        return Sides(self._said(found), sides)

    def _said(self, found: Differences) -> str:
        if found.coarse:
            return self._words("text.coarse")
        if all(stretch.same for stretch in found.stretches):
            return self._words("text.spacing_only")
        if not any(stretch.counts and not stretch.same for stretch in found.stretches):
            return self._words("text.uncounted_only")
        return ""

    def _marked(self, stretch: Stretch, tag: str) -> list[SidePart]:
        text = stretch.left if tag == "del" else stretch.right
        if stretch.same:
            return self._whole(text)
        words = text.rstrip()
        marked = SidePart(tag if stretch.counts else "faint", block(words))
        return [part for part in (marked, SidePart("", block(text[len(words) :]))) if part.pieces]

    def _whole(self, text: str) -> list[SidePart]:
        """A stretch without differences, its middle left out if it is long."""
        if len(text) <= SAME_CHARACTERS:
            return [SidePart("", block(text))] if text else []
        begin = _space(text, range(ENDS_CHARACTERS, ENDS_CHARACTERS + WORD_CHARACTERS))
        last = len(text) - ENDS_CHARACTERS
        end = _space(text, range(last, last + WORD_CHARACTERS))
        skipped = self._words("text.skipped", n=end - begin)
        return [
            SidePart("", block(text[:begin].rstrip())),
            SidePart("skip", [Piece(skipped, False)]),
            SidePart("", block(text[end:].lstrip())),
        ]

    def _side(self, member: Shown, parts: Sequence[SidePart], note: str = "") -> Side:
        notes = [note] if note else []
        if parts and not _is_whole(member):
            notes.append(self._words("text.cut", shown=len(member.text), n=member.length))
        if not parts and not notes:
            notes = [self._words("text.empty")]
        return Side(line(member.id), self._facts(member), parts, notes)

    def _facts(self, member: Shown) -> list[str]:
        words = self._words
        facts = [words("fact.representative")] if member.is_representative else []
        if member.similarity is not None:
            facts.append(words("fact.similarity", value=cosine(member.similarity)))
            if member.distance is None:
                facts.append(words("fact.no_fingerprint"))
            else:
                facts.append(words("fact.distance", n=member.distance))
        return [*facts, words("fact.length", n=member.length)]


def _cut(member: Shown) -> Shown:
    # The length is the caller's word; what we hold in hand is at least as long.
    length = max(member.length, len(member.text))
    return replace(member, text=member.text[:SHOWN_CHARACTERS], length=length)


def _is_whole(member: Shown) -> bool:
    return len(member.text) == member.length


def _without_cut_ends(
    stretches: Sequence[Stretch], first: Shown, member: Shown
) -> Sequence[Stretch]:
    """What one text has left after the other was cut is no difference that we know of."""
    if not stretches or stretches[-1].same:
        return stretches
    last = stretches[-1]
    beyond_left = not last.right.strip() and not _is_whole(member)
    beyond_right = not last.left.strip() and not _is_whole(first)
    if beyond_left or beyond_right:
        return [*stretches[:-1], last._replace(same=True)]
    return stretches


def _space(text: str, places: range) -> int:
    """Where to cut without cutting a word: the first space there, or else the first place."""
    return next((at for at in places if text[at].isspace()), places[0])
