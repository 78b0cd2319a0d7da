"""Differences between two texts, word by word, in bounded work.

`differences` compares two whole texts; `changes` and `EqualWords` find the changed words within a
passage that two texts share. Punctuation and spaces can be ignored by a `Fold`.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from difflib import Match, SequenceMatcher
from itertools import accumulate, pairwise
from typing import NamedTuple

from neardup import _core
from neardup.text.comparison import Passage

# Steps for one pair of texts, about a tenth of a second.
PAIR_STEPS = 600_000
# Longer texts are compared by sentences first, then by words where sentences differ.
WHOLE_WORDS = 1500

_HAN_KANA = "\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf"
_HAN = "\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9d\U00020000-\U0003ffff"
_SOUTH_EAST = "\u0e00-\u0e4f\u0e80-\u0eff\u1000-\u109f\u1780-\u17ff"
# Vowel signs and accents, which \w does not match.
_MARKS = "\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u0900-\u0963\u0966-\u0dff"
_TOKEN = re.compile(
    f"[{_HAN_KANA}{_HAN}]"
    # A letter of Thai, Lao, Burmese or Khmer with the signs above and below it.
    f"|[{_SOUTH_EAST}](?:(?!\\w)[{_SOUTH_EAST}])*"
    f"|(?:(?![{_HAN_KANA}{_HAN}{_SOUTH_EAST}])[\\w{_MARKS}\u200c\u200d'’])+"
    # Any other symbol; an emoji with modifiers and joined emoji is one.
    "|[^\\w\\s][\ufe0f\U0001f3fb-\U0001f3ff]*"
    "(?:\u200d[^\\w\\s][\ufe0f\U0001f3fb-\U0001f3ff]*)*"
)
_SENTENCE_ENDS = frozenset(".!?。！？；;")
_SLIDING = _SENTENCE_ENDS | frozenset(",:，、：")


# Normalises a word as a recipe does: equal words become equal, ignored ones empty.
Fold = Callable[[str], str]


class DiffPart(NamedTuple):
    """A part of both texts, equal but for spaces, or different.

    counts  whether the recipe sees the difference; it may ignore case and punctuation
    """

    left: str
    right: str
    same: bool
    counts: bool = True


@dataclass(frozen=True)
class Differences:
    """The two texts in parts, from beginning to end."""

    parts: Sequence[DiffPart]
    coarse: bool
    """The budget was spent: more may be marked than differs."""


class WorkBudget:
    """A number of steps that several comparisons may spend."""

    def __init__(self, steps: int) -> None:
        self.left = steps
        self.refused = False

    def spend(self, steps: int) -> bool:
        """Spend steps; return False, and spend nothing, if too few are left."""
        if steps > self.left:
            self.refused = True
            return False
        self.left -= steps
        return True


def differences(
    left: str, right: str, steps: WorkBudget | None = None, *, fold: Fold | None = None
) -> Differences:
    """Compare two texts by words, or by characters in scripts without spaces.

    Spaces and line ends are ignored.

    steps  a budget shared by several comparisons [default: one for this pair]
    fold   normalises words [default: words are compared as written]
    """
    shared = steps or WorkBudget(PAIR_STEPS)
    budget = WorkBudget(min(PAIR_STEPS, shared.left))
    granted = budget.left
    a, b = _Words(left, fold), _Words(right, fold)
    runs = _slide_sentence_ends(a, b, list(_match_words(a, b, budget)))
    shared.left -= granted - budget.left
    return Differences(_merge_neighbours(list(_parts(a, b, runs))), budget.refused)


class _Words:
    """A text cut into words, each with the spaces after it.

    words  as written; keys: normalised, for comparing; counts: which are not ignored
    """

    def __init__(self, text: str, fold: Fold | None) -> None:
        self.text = text
        found = list(_TOKEN.finditer(text))
        self.words = [match.group() for match in found]
        self.starts = [match.start() for match in found]
        if text and not found:
            # Only spaces: one empty word.
            self.words, self.starts = [""], [0]
        folded = self.words if fold is None else [fold(word) for word in self.words]
        self.counts = [fold is None or bool(key) for key in folded]
        # Ignored words are compared as written: a comma does not equal a full stop.
        self.keys = [key or word for key, word in zip(folded, self.words, strict=True)]
        # Leading spaces belong to the first word.
        self.starts[:1] = [0]
        if text:
            self.starts.append(len(text))

    def span(self, begin: int, end: int) -> str:
        return self.text[self.starts[begin] : self.starts[end]]

    def counted(self, begin: int, end: int) -> tuple[int, int]:
        """Return the span without ignored words at its ends; (end, end) if all are ignored."""
        while begin < end and not self.counts[begin]:
            begin += 1
        while begin < end and not self.counts[end - 1]:
            end -= 1
        return begin, end

    def sentences(self) -> list[int]:
        """Return where sentences and lines begin, and where the last one ends."""
        cuts = [0]
        for at in range(len(self.keys)):
            if self.words[at] in _SENTENCE_ENDS or "\n" in self.span(at, at + 1):
                cuts.append(at + 1)
        if cuts[-1] < len(self.keys):
            cuts.append(len(self.keys))
        return cuts


class _Matcher(SequenceMatcher[Hashable]):
    """difflib's matcher with a budget: it finds nothing more once the steps are spent."""

    def __init__(self, a: Sequence[Hashable], b: Sequence[Hashable], budget: WorkBudget) -> None:
        super().__init__(None, a, b, autojunk=False)
        self._budget = budget
        # difflib visits all equal items of the other side: the cost of an item.
        equals = Counter(b)
        costs = (1 + equals[item] for item in a)
        self._costs = list(accumulate(costs, initial=0))

    def find_longest_match(
        self, alo: int = 0, ahi: int | None = None, blo: int = 0, bhi: int | None = None
    ) -> Match:
        end = len(self._costs) - 1 if ahi is None else ahi
        if not self._budget.spend(self._costs[end] - self._costs[alo]):
            return Match(alo, blo, 0)
        return super().find_longest_match(alo, ahi, blo, bhi)


def _match_words(a: _Words, b: _Words, budget: WorkBudget) -> Iterator[Match]:
    """Yield runs of equal words, in order."""
    if max(len(a.keys), len(b.keys)) <= WHOLE_WORDS:
        yield from equal_runs(a.keys, b.keys, budget)
        return
    cuts_a, cuts_b = a.sentences(), b.sentences()
    sentences_a = [tuple(a.keys[i:j]) for i, j in pairwise(cuts_a)]
    sentences_b = [tuple(b.keys[i:j]) for i, j in pairwise(cuts_b)]
    at_a = at_b = 0
    for run in [*equal_runs(sentences_a, sentences_b, budget), None]:
        begin_a = cuts_a[run.a] if run else len(a.keys)
        begin_b = cuts_b[run.b] if run else len(b.keys)
        for inner in equal_runs(a.keys[at_a:begin_a], b.keys[at_b:begin_b], budget):
            yield Match(inner.a + at_a, inner.b + at_b, inner.size)
        if run:
            at_a, at_b = cuts_a[run.a + run.size], cuts_b[run.b + run.size]
            yield Match(begin_a, begin_b, at_a - begin_a)


def equal_runs(a: Sequence[Hashable], b: Sequence[Hashable], budget: WorkBudget) -> Iterator[Match]:
    """Yield runs of equal items; common beginnings and ends cost next to nothing."""
    shorter = min(len(a), len(b))
    head = 0
    while head < shorter and a[head] == b[head]:
        head += 1
    tail = 0
    while tail < shorter - head and a[-1 - tail] == b[-1 - tail]:
        tail += 1
    end_a, end_b = len(a) - tail, len(b) - tail
    if head:
        yield Match(0, 0, head)
    if head < end_a and head < end_b:
        for run in _Matcher(a[head:end_a], b[head:end_b], budget).get_matching_blocks():
            if run.size:
                yield Match(run.a + head, run.b + head, run.size)
    if tail:
        yield Match(end_a, end_b, tail)


def _slide_sentence_ends(a: _Words, b: _Words, runs: Sequence[Match]) -> list[Match]:
    """Shift runs so that an added sentence is marked with its own full stop."""
    slid: list[Match] = []
    for run in runs:
        if slid:
            last = slid[-1]
            end_a, end_b = last.a + last.size, last.b + last.size
            added, left_out = end_a == run.a, end_b == run.b
            sign = b.keys[end_b] if added else a.keys[end_a]
            if added != left_out and sign == a.keys[run.a] and sign in _SLIDING:
                slid[-1] = last._replace(size=last.size + 1)
                run = Match(run.a + 1, run.b + 1, run.size - 1)
        if run.size:
            slid.append(run)
    return slid


def _parts(a: _Words, b: _Words, runs: Sequence[Match]) -> Iterator[DiffPart]:
    at_a = at_b = 0
    for run in [*runs, Match(len(a.keys), len(b.keys), 0)]:
        if run.a > at_a or run.b > at_b:
            yield from _changed(a, b, (at_a, run.a), (at_b, run.b))
        at_a, at_b = run.a + run.size, run.b + run.size
        yield from _alike(a, b, run)


def _changed(
    a: _Words, b: _Words, span_a: tuple[int, int], span_b: tuple[int, int]
) -> Iterator[DiffPart]:
    """Yield a change, the ignored words at its ends apart."""
    (begin_a, end_a), (begin_b, end_b) = span_a, span_b
    first_a, last_a = a.counted(begin_a, end_a)
    first_b, last_b = b.counted(begin_b, end_b)
    for from_a, to_a, from_b, to_b, counts in (
        (begin_a, first_a, begin_b, first_b, False),
        (first_a, last_a, first_b, last_b, True),
        (last_a, end_a, last_b, end_b, False),
    ):
        if to_a > from_a or to_b > from_b:
            yield DiffPart(a.span(from_a, to_a), b.span(from_b, to_b), same=False, counts=counts)


def _alike(a: _Words, b: _Words, run: Match) -> Iterator[DiffPart]:
    """Yield a run of equal words, cut where they are written differently."""
    begin = 0
    for at in range(1, run.size + 1):
        same = a.words[run.a + begin] == b.words[run.b + begin]
        if at < run.size and (a.words[run.a + at] == b.words[run.b + at]) == same:
            continue
        left, right = a.span(run.a + begin, run.a + at), b.span(run.b + begin, run.b + at)
        yield DiffPart(left, right, same, counts=same)
        begin = at


def _merge_neighbours(parts: Sequence[DiffPart]) -> list[DiffPart]:
    """Merge neighbours of a kind; a single equal character between changes joins them."""
    tidy: list[DiffPart] = []
    for at, part in enumerate(parts):
        lone = (
            len(part.left.strip()) <= 1
            and 0 < at < len(parts) - 1
            and _is_change(parts[at - 1])
            and _is_change(parts[at + 1])
        )
        if lone:
            part = part._replace(same=False, counts=True)
        if tidy and tidy[-1][2:] == part[2:]:
            last = tidy.pop()
            left, right = last.left + part.left, last.right + part.right
            part = part._replace(left=left, right=right)
        tidy.append(part)
    return tidy


def _is_change(part: DiffPart) -> bool:
    return part.counts and not part.same


# ---- changed words within a passage ----

# Steps for all passages of a page, half a second; later passages are marked as a whole.
PAGE_STEPS = 3_000_000

Spans = tuple[tuple[int, int], ...]


class Changes(NamedTuple):
    """Spans of changed words in the left text and in the right one.

    is_known  False if the budget was spent: the passage is marked as a whole
    """

    left: Spans = ()
    right: Spans = ()
    is_known: bool = True

    def on(self, side: int) -> Spans:
        return self.right if side else self.left


class EqualWords:
    """Spans of equal words in the passages of two texts, as copying finds them.

    rows  left start, left end, right start, right end
    """

    def __init__(self, rows: Sequence[tuple[int, int, int, int]]) -> None:
        self._rows = sorted(rows)

    def changes(self, passage: Passage, texts: tuple[str, str]) -> Changes:
        """Return the words of a passage between those spans."""
        first = bisect_left(self._rows, (passage.left_start, 0, 0, 0))
        last = bisect_left(self._rows, (passage.left_end, 0, 0, 0))
        inside = [
            row
            for row in self._rows[first:last]
            if row[1] <= passage.left_end
            and passage.right_start <= row[2] <= row[3] <= passage.right_end
        ]
        left = _gaps(texts[0], passage.left_start, passage.left_end, [row[:2] for row in inside])
        right = [row[2:] for row in inside]
        return Changes(left, _gaps(texts[1], passage.right_start, passage.right_end, sorted(right)))


def _gaps(text: str, start: int, end: int, equal: Sequence[tuple[int, int]]) -> Spans:
    """Return the spans of words between the equal spans."""
    found = []
    for begin, stop in [*equal, (end, end)]:
        gap = text[start:begin]
        if any(map(str.isalnum, gap)):
            first = start + len(gap) - len(gap.lstrip())
            found.append((first, first + len(gap.strip())))
        start = max(start, stop)
    return tuple(found)


def changes(passage: Passage, left: str, right: str, budget: WorkBudget) -> Changes:
    """Compare the two sides of a passage word by word."""
    if passage.exact:
        return Changes()
    here = left[passage.left_start : passage.left_end]
    there = right[passage.right_start : passage.right_end]
    if budget.left <= 0:
        return Changes(is_known=False)
    found = differences(here, there, budget, fold=_fold_word)
    if found.coarse:
        budget.left = 0
        return Changes(is_known=False)
    spans: tuple[list[tuple[int, int]], list[tuple[int, int]]] = ([], [])
    at = [passage.left_start, passage.right_start]
    for part in found.parts:
        for side, text in enumerate((part.left, part.right)):
            size = len(text.rstrip())
            if size and part.counts and not part.same:
                spans[side].append((at[side], at[side] + size))
            at[side] += len(text)
    return Changes(tuple(spans[0]), tuple(spans[1]))


def _fold_word(word: str) -> str:
    """Normalise a word as passages do; punctuation becomes empty."""
    if not any(map(str.isalnum, word)):
        return ""
    return _core.standard_form(word).replace("’", "'")
