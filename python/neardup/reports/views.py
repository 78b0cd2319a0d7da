"""Two HTTP responses side by side, line by line: differences are marked, masked parts are chips."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from neardup.reports.differences import DiffPart, WorkBudget, differences, equal_runs
from neardup.reports.formatting import cosine, line_pieces
from neardup.reports.page import Wording

# The first word of a line of a view, in the order they are shown; other lines are text.
NAMES = ("within", "status", "header", "title", "tags", "keys", "text", "body")
# Lines shown of a view, and characters of a line.
MAX_LINES = 120
LINE_CHARACTERS = 2_000
# Characters of an address, a title or the name of a record.
NAME_CHARACTERS = 300
# Of a longer equal part only both ends are shown.
SAME_CHARACTERS = 500
ENDS_CHARACTERS = 160
WORD_CHARACTERS = 40
# Of more equal lines of text in a row, the first two and the last are shown.
SAME_LINES = 5
# Steps for all views of a page, a few seconds; later pairs are marked coarsely.
PAGE_STEPS = 10_000_000

_MASK = re.compile("\u2039([a-z][a-z0-9-]{0,30})\u203a")
# A masked part is one private-use character while views are compared, so that no mark splits it.
_FIRST_SIGN = 0x10F000
_SIGNS = re.compile("[\U0010f000-\U0010f0ff]")
_MOST_SIGNS = 0x100


@dataclass(frozen=True)
class ResponseView:
    """A response as it was compared.

    text        its view, or the beginning of it; `length` is that of the whole
    similarity  to the representative of its kind; None for the representative
    """

    id: str
    url: str
    text: str
    length: int = 0
    similarity: float | None = None


class ViewPiece(NamedTuple):
    """Characters of a line; `css` is "code" for escape codes, "chip" for a masked part, or ""."""

    text: str
    css: str = ""


class ViewPart(NamedTuple):
    """A part of a line; `tag` is "del", "ins", "skip" or ""."""

    tag: str
    bits: Sequence[ViewPiece]


class ViewRow(NamedTuple):
    """A line of both views, or of one; `right` is None if both are equal.

    name     the kind of line in the language of the page, or the name of a header; empty if it is
             that of the line before
    differs  whether the views differ in this line
    """

    name: Sequence[ViewPiece]
    left: Sequence[ViewPart]
    right: Sequence[ViewPart] | None
    differs: bool


@dataclass(frozen=True)
class SampleView:
    """The sample of a kind: heads of the columns, rows, and a note."""

    heads: Sequence[tuple[str, Sequence[ViewPiece], Sequence[ViewPiece]]]
    rows: Sequence[ViewRow]
    note: str = ""

    @property
    def characters(self) -> int:
        """Its size on the page."""
        sides = [row.left for row in self.rows] + [row.right or () for row in self.rows]
        return sum(len(bit.text) for side in sides for part in side for bit in part.bits)


class _Line(NamedTuple):
    name: str
    header: str
    value: str
    """Masked parts are private-use characters."""
    more: int
    """Number of characters cut off."""


class _Pair(NamedTuple):
    left: _Line | None
    right: _Line | None

    @property
    def is_same(self) -> bool:
        return self.left == self.right


class SampleViews:
    """Builds the samples of a page, which share one work budget."""

    def __init__(self, words: Wording) -> None:
        self._words = words
        self._steps = WorkBudget(PAGE_STEPS)

    def sample(self, first: ResponseView, other: ResponseView | None) -> SampleView:
        masks = _Masks(self._words)
        heads = [self._head(view) for view in (first, other) if view is not None]
        if other is None or first.text == other.text:
            left, more = _lines(first, masks)
            rows = self._rows([_Pair(each, each) for each in left], masks, more)
            note = "" if other is None else self._words("sample.same")
            return SampleView(heads, rows, note)
        left, more_left = _lines(first, masks)
        right, more_right = _lines(other, masks)
        pairs = _without_cut_ends(list(self._paired(left, right)), more_left, more_right)
        found = self._rows(self._folded(pairs), masks, max(more_left, more_right))
        note = "" if any(row.differs for row in found) else self._words("sample.beyond")
        return SampleView(heads, found, note)

    def _head(self, view: ResponseView) -> tuple[str, Sequence[ViewPiece], Sequence[ViewPiece]]:
        if view.similarity is None:
            role = self._words("fact.representative")
        else:
            role = self._words("sample.least", value=cosine(view.similarity))
        return role, _foreign(shorten(view.url)), _foreign(shorten(view.id))

    def _paired(self, left: Sequence[_Line], right: Sequence[_Line]) -> Iterator[_Pair]:
        """Yield pairs of corresponding lines, in the order of NAMES."""
        by_name: tuple[defaultdict[str, list[_Line]], ...] = (defaultdict(list), defaultdict(list))
        for lines, groups in zip((left, right), by_name, strict=True):
            for each in lines:
                groups[each.name].append(each)
        for name in NAMES:
            lines_left, lines_right = (groups[name] for groups in by_name)
            if name == "header":
                yield from _by_header(lines_left, lines_right)
            else:
                yield from self._in_order(lines_left, lines_right)

    def _in_order(self, left: Sequence[_Line], right: Sequence[_Line]) -> Iterator[_Pair]:
        at_left = at_right = 0
        for run in [*equal_runs(left, right, self._steps), None]:
            end_left = run.a if run else len(left)
            end_right = run.b if run else len(right)
            yield from _zipped(left[at_left:end_left], right[at_right:end_right])
            if run:
                same = left[run.a : run.a + run.size]
                yield from (_Pair(each, each) for each in same)
                at_left, at_right = run.a + run.size, run.b + run.size

    def _rows(self, pairs: Iterable[_Pair | int], masks: _Masks, more: int) -> list[ViewRow]:
        found: list[ViewRow] = []
        last = ""
        for each in pairs:
            if isinstance(each, int):
                found.append(self._skipped("sample.lines", each))
                continue
            given = each.left or each.right
            assert given is not None  # noqa: S101
            name = self._name(given) if given.name != last or given.header else []
            last = given.name
            found.append(self._row(name, each, masks))
        if more:
            found.append(self._skipped("sample.more", more))
        return found

    def _folded(self, pairs: Sequence[_Pair]) -> Iterator[_Pair | int]:
        """Replace many equal lines of text by their number."""
        same: list[_Pair] = []
        for pair in [*pairs, None]:
            if pair is not None and pair.is_same and pair.left and pair.left.name == "text":
                same.append(pair)
                continue
            if len(same) > SAME_LINES:
                yield from same[:2]
                yield len(same) - 3
                yield same[-1]
            else:
                yield from same
            same = []
            if pair is not None:
                yield pair

    def _name(self, each: _Line) -> list[ViewPiece]:
        if each.header:
            return [bit._replace(css=bit.css or "header") for bit in _foreign(each.header)]
        return [ViewPiece(self._words(f"view.{each.name}"))]

    def _skipped(self, phrase: str, count: int) -> ViewRow:
        return ViewRow(
            [], [ViewPart("skip", [ViewPiece(self._words(phrase, n=count))])], None, False
        )

    def _row(self, name: Sequence[ViewPiece], pair: _Pair, masks: _Masks) -> ViewRow:
        left, right = pair
        if left is not None and pair.is_same:
            whole = self._whole(left.value, masks) or self._nothing()
            return ViewRow(name, [*whole, *self._cut(left)], None, False)
        if left is None or right is None:
            both = [
                [] if each is None else [*(self._marked_whole(each, tag, masks)), *self._cut(each)]
                for tag, each in (("del", left), ("ins", right))
            ]
            return ViewRow(name, both[0], both[1], True)
        found = differences(left.value, right.value, self._steps)
        diffs = list(found.parts)
        if (left.more or right.more) and diffs and not diffs[-1].same:
            # One of the lines was cut: the rest may be equal.
            diffs[-1] = diffs[-1]._replace(same=True)
        return ViewRow(
            name,
            [*self._marked(diffs, "del", masks), *self._cut(left)],
            [*self._marked(diffs, "ins", masks), *self._cut(right)],
            True,
        )

    def _marked_whole(self, each: _Line, tag: str, masks: _Masks) -> list[ViewPart]:
        return (
            [_part(tag, each.value, masks)]
            if each.value
            else [ViewPart(tag, self._nothing()[0].bits)]
        )

    def _nothing(self) -> list[ViewPart]:
        """Return the note for headers of which the view has only the name."""
        return [ViewPart("skip", [ViewPiece(self._words("sample.name_only"))])]

    def _cut(self, each: _Line) -> list[ViewPart]:
        if not each.more:
            return []
        return [ViewPart("skip", [ViewPiece(self._words("sample.characters", n=each.more))])]

    def _marked(self, diffs: Iterable[DiffPart], tag: str, masks: _Masks) -> list[ViewPart]:
        parts = []
        for diff in diffs:
            text = diff.left if tag == "del" else diff.right
            if diff.same:
                parts += self._whole(text, masks)
                continue
            words = text.rstrip()
            if words:
                parts.append(_part(tag, words, masks))
            if words != text:
                parts.append(ViewPart("", [ViewPiece(" ")]))
        return parts

    def _whole(self, text: str, masks: _Masks) -> list[ViewPart]:
        """Return an equal part, its middle left out if it is long."""
        if len(text) <= SAME_CHARACTERS:
            return [_part("", text, masks)] if text else []
        begin = _space(text, ENDS_CHARACTERS)
        end = _space(text, len(text) - ENDS_CHARACTERS)
        skipped = self._words("text.skipped", n=end - begin)
        return [
            _part("", text[:begin].rstrip(), masks),
            ViewPart("skip", [ViewPiece(skipped)]),
            _part("", text[end:].lstrip(), masks),
        ]


class _Masks:
    """Replaces masked parts by single characters, and back."""

    def __init__(self, words: Wording) -> None:
        self._words = words
        self._names: list[str] = []

    def signed(self, text: str) -> str:
        # The response may contain such characters itself.
        return _MASK.sub(self._sign, _SIGNS.sub("\ufffd", text))

    def _sign(self, match: re.Match[str]) -> str:
        name = match.group(1)
        if name not in self._names:
            if len(self._names) == _MOST_SIGNS:
                return match.group()
            self._names.append(name)
        return chr(_FIRST_SIGN + self._names.index(name))

    def bits(self, text: str) -> list[ViewPiece]:
        found = []
        at = 0
        for match in _SIGNS.finditer(text):
            found += [*_foreign(text[at : match.start()])]
            name = self._names[ord(match.group()) - _FIRST_SIGN]
            found.append(ViewPiece(self._words.label("mask", name), "chip"))
            at = match.end()
        return [*found, *_foreign(text[at:])]


def _foreign(text: str) -> list[ViewPiece]:
    return [ViewPiece(piece.text, "code" if piece.is_code else "") for piece in line_pieces(text)]


def _part(tag: str, text: str, masks: _Masks) -> ViewPart:
    return ViewPart(tag, masks.bits(text))


def _lines(view: ResponseView, masks: _Masks) -> tuple[list[_Line], int]:
    """Return the first lines of a view in the order of NAMES, and the number of lines cut."""
    lines = [each for each in view.text.split("\n") if each]
    found = []
    for each in lines:
        name, _, value = each.partition(" ")
        header = ""
        if name not in NAMES:
            name, value = "text", each
        elif name == "header":
            header, _, value = value.partition(" ")
        cut = value
        if len(value) > LINE_CHARACTERS:
            cut = value[: _space(value, LINE_CHARACTERS - WORD_CHARACTERS)]
        found.append(
            _Line(name, header[:WORD_CHARACTERS], masks.signed(cut), len(value) - len(cut))
        )
    # Text is last but for the one-line body, so that no other line is cut for it.
    found.sort(key=lambda each: NAMES.index(each.name))
    if view.length > len(view.text) and found:
        found[-1] = found[-1]._replace(more=found[-1].more + view.length - len(view.text))
    return found[:MAX_LINES], max(len(found) - MAX_LINES, 0)


def _by_header(left: Sequence[_Line], right: Sequence[_Line]) -> Iterator[_Pair]:
    """Yield headers paired by name; those of the right view alone come last."""
    waiting: defaultdict[str, list[_Line]] = defaultdict(list)
    for each in right:
        waiting[each.header].append(each)
    for each in left:
        others = waiting[each.header]
        # Prefer an equal one, wherever it is; else the next.
        at = others.index(each) if each in others else 0
        yield _Pair(each, others.pop(at) if others else None)
    for each in right:
        others = waiting[each.header]
        if any(each is other for other in others):
            yield _Pair(None, each)


def shorten(name: str) -> str:
    return name if len(name) <= NAME_CHARACTERS else f"{name[: NAME_CHARACTERS - 1]}…"


def _zipped(left: Sequence[_Line], right: Sequence[_Line]) -> Iterator[_Pair]:
    for at in range(max(len(left), len(right))):
        yield _Pair(
            left[at] if at < len(left) else None,
            right[at] if at < len(right) else None,
        )


def _without_cut_ends(pairs: list[_Pair], more_left: int, more_right: int) -> list[_Pair]:
    """Drop lines at the end that face the cut-off part of the other view."""
    while pairs and (
        (more_left and pairs[-1].left is None) or (more_right and pairs[-1].right is None)
    ):
        pairs.pop()
    return pairs


def _space(text: str, place: int) -> int:
    """Return where to cut: at the next space if it is close, else at `place`."""
    places = range(place, min(place + WORD_CHARACTERS, len(text)))
    return next((at for at in places if text[at].isspace()), place)
