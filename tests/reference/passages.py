"""Naive aligner: every pair of positions, every way across a gap. Its folding knows the characters
that tests have.

Passages are lists of runs (start in a, start in b, length), in units.
"""

from __future__ import annotations

import html
import re
import unicodedata
from functools import cache

import uniseg.graphemecluster
import uniseg.wordbreak
import xxhash

from reference import fingerprint as reference

Run = tuple[int, int, int]
Chain = tuple[Run, ...]
# (text, is a character of a script without spaces)
Unit = tuple[str, bool]


# Optional marks of Hebrew and Arabic, and tatweel.
OPTIONAL = re.compile("[\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u064b-\u0652\u0640]")
SIMPLIFIED = dict(zip("這書籍記載漢語歷⻓", "这书籍记载汉语历长", strict=True))


def standard(text: str) -> str:
    """Return a text without references in the form `standard`."""
    folded = OPTIONAL.sub("", reference.normalize(text, "nfkc_casefold"))
    return "".join(SIMPLIFIED.get(char, str(unicodedata.decimal(char, char))) for char in folded)


def plain(text: str) -> list[tuple[str, int, int]]:
    """Return the characters of a text with their places: one for a complete reference, a digit or
    character for what is cut otherwise before it is folded."""
    found = []
    for match in re.finditer(r"&(?:\w+|#\d+|#[xX][\da-fA-F]+);|.", text, re.DOTALL):
        char = html.unescape(match[0])
        for one in char if len(char) > 1 else [char]:
            folded = standard(one)
            if len(folded) == 1 and _cut(folded) != _cut(one):
                one = folded
            found.append((one, match.start(), match.end()))
    return found


def _cut(char: str) -> tuple[object, ...]:
    return reference.group(char), uniseg.wordbreak.word_break(char), char.isalnum()


def units(text: str) -> list[tuple[int, int, Unit]]:
    """Return start, end and value of words, or of graphemes in scripts without spaces."""
    chars = plain(text)
    cut = _units("".join(char for char, *_ in chars))
    return [(chars[start][1], chars[end - 1][2], unit) for start, end, unit in cut if unit[0]]


def _units(text: str) -> list[tuple[int, int, Unit]]:
    found: list[tuple[int, int, Unit]] = []
    spaced = ""
    at = 0
    for cluster in uniseg.graphemecluster.grapheme_clusters(text):
        if reference.group(cluster[0]):
            found += _words(at - len(spaced), spaced)
            value = standard(cluster)
            found.append((at, at + len(cluster), (value, True)))
            spaced = ""
        else:
            spaced += cluster
        at += len(cluster)
    return found + _words(at - len(spaced), spaced)


def _words(start: int, piece: str) -> list[tuple[int, int, Unit]]:
    found = []
    for word in reference.spaced_words(piece):
        if reference.has_letter_or_digit(word):
            value = standard(word).replace("’", "'")
            found.append((start, start + len(word), (value, False)))
        start += len(word)
    return found


class Naive:
    """The aligner on two lists of units; `a` is walked through first if it is the shorter."""

    def __init__(
        self, a: list[Unit], b: list[Unit], *, min_words: int, min_chars: int, bridge: int
    ) -> None:
        self.texts = (a, b)
        self.weigh = {False: min_chars, True: min_words}
        self.enough = min_words * min_chars
        # Half of the minimum, rounded up.
        self.seed = (self.enough + 1) // 2
        # A fifth, rounded up.
        self.step = (self.enough + 4) // 5
        self.bridge = bridge
        self.covered: tuple[set[int], set[int]] = (set(), set())

    def weight(self, units: list[Unit]) -> int:
        return sum(self.weigh[unit[1]] for unit in units)

    def passages(self) -> list[Chain]:
        found = [self.tile(0)]
        found.append([tuple((y, x, n) for x, y, n in chain) for chain in self.tile(1)])
        return sorted(chain for chains in found for chain in chains)

    def tile(self, side: int) -> list[Chain]:
        """Return passages; the run that covers most uncovered units comes first."""
        here, there = self.texts[side], self.texts[1 - side]
        runs = [
            run
            for run in longest_runs(here, there)
            if self.weight(self.part(side, run)) >= self.seed
        ]
        passages = []
        while runs:
            rest = {run: self.rest(side, run) for run in runs}
            best = min(runs, key=lambda run: (-rest[run], run))
            runs.remove(best)
            if rest[best] == 0:
                break
            chain = self.chain(side, best)
            if sum(self.weight(self.part(side, run)) for run in chain) >= self.enough:
                passages.append(chain)
                for x, y, n in chain:
                    self.covered[side].update(range(x, x + n))
                    self.covered[1 - side].update(range(y, y + n))
        return passages

    def part(self, side: int, run: Run) -> list[Unit]:
        return self.texts[side][run[0] : run[0] + run[2]]

    def rest(self, side: int, run: Run) -> int:
        """Return the weight of a run without covered units at its ends."""
        free = [at for at in range(run[0], run[0] + run[2]) if at not in self.covered[side]]
        return self.weight(self.texts[side][free[0] : free[-1] + 1]) if free else 0

    def chain(self, side: int, run: Run) -> Chain:
        here, there = self.texts[side], self.texts[1 - side]
        x, y, n = run
        after = self.follow(
            side,
            here[x + n :],
            there[y + n :],
            lambda run: (run[0] + x + n, run[1] + y + n, run[2]),
        )
        mirrored = self.follow(
            side,
            here[:x][::-1],
            there[:y][::-1],
            lambda run: (x - run[0] - run[2], y - run[1] - run[2], run[2]),
        )
        return (*reversed(mirrored), run, *after)

    def follow(self, side, here, there, place) -> list[Run]:  # type: ignore[no-untyped-def]
        """Return the runs bridged from the start of both, gap by gap."""
        found: list[Run] = []
        x = y = 0
        while way := self.gap(here[x:], there[y:]):
            moved = [(run[0] + x, run[1] + y, run[2]) for run in way]
            first, _, length = place(moved[-1])
            if self.covered[side].issuperset(range(first, first + length)):
                break
            found += map(place, moved)
            x, y = moved[-1][0] + moved[-1][2], moved[-1][1] + moved[-1][2]
        return found

    def gap(self, here: list[Unit], there: list[Unit]) -> list[Run]:
        """Return the runs of the best way across a gap, the last as long as possible."""
        # As many characters as two words have, where the gap begins with one.
        most = [self.bridge * (2 if side and side[0][1] else 1) for side in (here, there)]
        ways = [(x, y) for x in range(most[0] + 1) for y in range(most[1] + 1)][1:]

        @cache
        def reach(x: int, y: int, taken: int) -> int:
            """One more than the equal units just before, if so many of each can be passed over and
            so many taken; else 0."""
            if x < 0 or y < 0 or taken < 0 or x + taken > len(here) or y + taken > len(there):
                return 0
            if x == y == 0:
                return int(taken == 0)
            before = reach(x, y, taken - 1)
            if before and here[x + taken - 1] == there[y + taken - 1]:
                return before + 1
            return int(reach(x - 1, y, taken) > 0 or reach(x, y - 1, taken) > 0)

        for x, y in sorted(ways, key=lambda way: (sum(way), abs(way[0] - way[1]), way[0])):
            for taken in range(min(len(here) - x, len(there) - y) + 1):
                length = reach(x, y, taken) - 1
                end = x + taken
                if length > 0 and self.weight(here[end - length : end]) >= self.step:
                    return longest_last(self.way_back(reach, x, y, taken), here, there)
        return []

    @staticmethod
    def way_back(reach, x: int, y: int, taken: int) -> list[Run]:  # type: ignore[no-untyped-def]
        runs: list[Run] = []
        while (x, y) != (0, 0):
            length = reach(x, y, taken) - 1
            if length:
                taken -= length
                runs.insert(0, (x + taken, y + taken, length))
            if reach(x - 1, y, taken):
                x -= 1
            else:
                y -= 1
        return runs


def longest_last(runs: list[Run], here: list[Unit], there: list[Unit]) -> list[Run]:
    x, y, n = runs[-1]
    while x + n < len(here) and y + n < len(there) and here[x + n] == there[y + n]:
        n += 1
    return [*runs[:-1], (x, y, n)]


def longest_runs(here: list[Unit], there: list[Unit]) -> list[Run]:
    """Return the maximal runs of `here` that occur in `there`, at their first occurrence."""

    def first(part: list[Unit]) -> int | None:
        places = range(len(there) - len(part) + 1)
        return next((at for at in places if there[at : at + len(part)] == part), None)

    found = []
    for start in range(len(here)):
        for end in range(start + 1, len(here) + 1):
            place = first(here[start:end])
            if place is None:
                break
            longer = start > 0 and first(here[start - 1 : end]) is not None
            if not longer and (end == len(here) or first(here[start : end + 1]) is None):
                found.append((start, place, end - start))
    return found


def key(unit: Unit) -> int:
    """Return the key by which the core orders texts of equal length, for symmetry."""
    return int(xxhash.xxh3_64_intdigest(unit[0].encode())) & ~1 | unit[1]


def shared(a: str, b: str, **settings: int) -> list[tuple[int, int, int, int, int, bool]]:
    """Return the passages of two texts with the fields of `nd.Passage`."""
    left, right = units(a), units(b)
    order = [[len(side), [key(unit) for *_, unit in side]] for side in (left, right)]
    turned = order[0] > order[1]
    if turned:
        left, right = right, left
    chains = Naive([x for *_, x in left], [x for *_, x in right], **settings).passages()
    found = []
    for chain in chains:
        (x, y, _), (p, q, n) = chain[0], chain[-1]
        here, there = (left[x][0], left[p + n - 1][1]), (right[y][0], right[q + n - 1][1])
        places = (*there, *here) if turned else (*here, *there)
        found.append((*places, sum(run[2] for run in chain), len(chain) == 1))
    return sorted(found)
