"""Two texts side by side, their differences marked, for the template to write down."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from neardup.reports.catalogue import Wording
from neardup.reports.differences import Differences, Fold, Stretch, WorkBudget, differences
from neardup.reports.shell import Piece, block, cosine, line

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
