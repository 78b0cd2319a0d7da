"""Explanation of a fingerprint: tokens, weights, hashes and votes, as a table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from neardup._util.numbers import check_int
from neardup._util.strings import cell_width, cut_to_width
from neardup.text.features import Feature, TextLike, features, token_hash
from neardup.text.fingerprint import RecipeLike
from neardup.text.recipe import MAX_BITS, Recipe, as_recipe

# Up to this width a table with a column for each bit fits a screen.
FULL_TABLE_BITS = 16
MAX_TOKENS = 20
TOKEN_CELLS = 24
# Candidate numbers of bit columns in a line; the first that fits the terminal is used.
COLUMNS_PER_LINE = (FULL_TABLE_BITS, 8, 4, 2, 1)
GAP = "  "


@dataclass(frozen=True, slots=True)
class TokenVotes:
    """The votes of one token, most significant bit first."""

    token: str
    count: int
    weight: float
    hash: str
    votes: tuple[float, ...]


@dataclass(frozen=True)
class Explanation:
    """The votes that made a fingerprint. `print` shows them as a table.

    features   token, count and weight, in the order of the vote
    hashes     hash of each token
    columns    sum of the votes for each bit, bit 0 first
    value      the fingerprint, or None without a signal
    bits       width of the fingerprint
    recipe     the recipe that made it; one of other than whole bytes is the lowest `bits` bits of
               the recipe's fingerprint
    """

    features: tuple[Feature, ...]
    hashes: tuple[int, ...]
    columns: tuple[float, ...]
    value: int | None
    bits: int
    recipe: Recipe

    @property
    def bits_string(self) -> str:
        """The fingerprint in zeros and ones, most significant bit first; "" without a signal."""
        return "" if self.value is None else f"{self.value:0{self.bits}b}"

    @property
    def hex(self) -> str | None:
        """The fingerprint in hexadecimal digits of fixed width; None without a signal."""
        return None if self.value is None else f"{self.value:0{self._digits}x}"

    @property
    def _digits(self) -> int:
        """The hexadecimal digits of a hash."""
        return -(-self.bits // 4)

    def rows(self) -> list[TokenVotes]:
        """Return every token with its hash bits and its vote on each bit."""
        return [self._row(index) for index in range(len(self.features))]

    def _row(self, index: int) -> TokenVotes:
        feature = self.features[index]
        bits = f"{self.hashes[index]:0{self.bits}b}"
        votes = tuple(feature.weight if bit == "1" else -feature.weight for bit in bits)
        return TokenVotes(feature.token, feature.count, feature.weight, bits, votes)

    def to_dict(self) -> dict[str, Any]:
        """Return the explanation as plain values, for JSON."""
        return {
            "recipe": self.recipe.identity,
            "bits": self.bits,
            "fingerprint": self.hex,
            "signal": self.value is not None,
            "features": [
                {
                    "token": feature.token,
                    "count": feature.count,
                    "weight": feature.weight,
                    "hash": f"{code:0{self._digits}x}",
                }
                for feature, code in zip(self.features, self.hashes, strict=True)
            ],
            "columns": list(self.columns),
        }

    def __str__(self) -> str:
        import shutil

        width = shutil.get_terminal_size().columns
        shown = self._heaviest()
        if self.value is None:
            # Without a fingerprint the votes mean nothing, but the tokens may show why.
            return "\n\n".join(
                [self._result(), *([self._token_table(shown, width)] if shown else [])]
            )
        if self.bits > FULL_TABLE_BITS:
            parts = [self._token_table(shown, width), self._column_lines(width)]
        elif _text_width(full := self._full_table(shown)) <= width:
            parts = [full]
        else:
            parts = [self._token_table(shown, width), self._vote_tables(shown, width)]
        if len(shown) < len(self.features):
            parts[0] += (
                f"\n(showing {len(shown)} of {len(self.features)} tokens, heaviest first; "
                "the sums are over all of them)"
            )
        return "\n\n".join([*parts, self._rule(), self._result()])

    def _heaviest(self) -> list[int]:
        """Return the features to show: all in order, or the heaviest if there are too many."""
        indices = range(len(self.features))
        if len(indices) <= MAX_TOKENS:
            return list(indices)
        return sorted(indices, key=lambda index: -self.features[index].weight)[:MAX_TOKENS]

    def _full_table(self, shown: Sequence[int]) -> str:
        numbers = [str(bit) for bit in reversed(range(self.bits))]
        lines = [["token", "count", "weight", "hash", *numbers]]
        for row in map(self._row, shown):
            votes = [format_signed(vote) for vote in row.votes]
            lines.append(
                [printable(row.token), str(row.count), format_number(row.weight), row.hash, *votes]
            )
        lines.append(
            ["sum", "", "", "", *[format_signed(column) for column in reversed(self.columns)]]
        )
        lines.append(["bit", "", "", "", *self.bits_string])
        return _align(lines, left=(0, 3))

    def _token_table(self, shown: Sequence[int], width: int) -> str:
        """Return a table of tokens and hashes; a hash wider than the terminal is wrapped."""
        lines = [["token", "count", "weight"]]
        codes = ["hash"]
        for index in shown:
            feature = self.features[index]
            lines.append(
                [printable(feature.token), str(feature.count), format_number(feature.weight)]
            )
            code = self.hashes[index]
            full = self.bits <= FULL_TABLE_BITS
            codes.append(f"{code:0{self.bits}b}" if full else f"{code:0{self._digits}x}")
        room = width - _text_width(_align(lines, left=(0,))) - len(GAP)
        step = max(room // 8 * 8, 8)
        split = []
        for line, digits in zip(lines, codes, strict=True):
            split.append([*line, digits[:step]])
            split += [["", "", "", digits[at : at + step]] for at in range(step, len(digits), step)]
        return _align(split, left=(0, 3))

    def _vote_tables(self, shown: Sequence[int], width: int) -> str:
        """Return the votes of the full table, split into tables that fit the width."""
        rows = [self._row(index) for index in shown]
        columns = list(reversed(self.columns))

        def tables(step: int) -> str:
            parts = []
            for start in range(0, self.bits, step):
                part = slice(start, start + step)
                numbers = [str(bit) for bit in reversed(range(self.bits))][part]
                lines = [["token", *numbers]]
                lines += [
                    [printable(row.token), *map(format_signed, row.votes[part])] for row in rows
                ]
                lines.append(["sum", *map(format_signed, columns[part])])
                lines.append(["bit", *self.bits_string[part]])
                parts.append(_align(lines, left=(0,)))
            return "\n\n".join(parts)

        return _widest_that_fits(tables, width)

    def _column_lines(self, width: int) -> str:
        """Return the column sums, most significant bit first, at most sixteen in a line."""
        bits = self.bits_string

        def table(step: int) -> str:
            lines = []
            for high in range(self.bits, 0, -step):
                low = max(high - step, 0)
                sums = [format_signed(self.columns[bit]) for bit in reversed(range(low, high))]
                lines.append([f"{high - 1}…{low}", "sum", *sums])
                lines.append(["", "bit", *bits[self.bits - high : self.bits - low]])
            return _align(lines, left=(0, 1))

        title = "columns, most significant bit first"
        return f"{title}\n{_widest_that_fits(table, width)}"

    def _rule(self) -> str:
        tie = {
            "zero": "of 0 the bit 0",
            "one": "of 0 the bit 1",
            "mask": "of 0 the bit 1 in even columns and 0 in odd ones",
        }[self.recipe.tie]
        return (
            "A token adds its weight where its hash has a 1\n"
            "and takes it away where it has a 0.\n"
            "A sum above 0 gives the bit 1, below 0 the bit 0,\n"
            f"{tie}."
        )

    def _result(self) -> str:
        if self.value is not None:
            bits = f" = {self.bits_string}" if self.bits <= FULL_TABLE_BITS else ""
            return f"fingerprint ({self.bits} bits): {self.hex}{bits}"
        count = sum(feature.weight != 0 for feature in self.features)
        return (
            f"no signal, so no fingerprint: {count} {'feature' if count == 1 else 'features'} "
            f"with a weight,\nand the recipe asks for min_features={self.recipe.min_features}"
        )


def explain(
    text_or_features: TextLike, recipe: RecipeLike = None, *, bits: int | None = None
) -> Explanation:
    """Return the votes behind a fingerprint: tokens, weights, hashes, column sums and bits.

    Takes the arguments of `fingerprint`. It holds every token and hash in memory, so use it for
    short texts.

    bits  width of the fingerprint, from 1, so that it fits on paper [default: the recipe's]

    >>> explain([("teapot", 2), ("dumpling", 1)], bits=6).bits_string
    '011111'
    """
    recipe = as_recipe(recipe)
    if bits is None:
        bits = recipe.bits
    else:
        recipe = recipe_of_width(recipe, bits)
    weighted = features(text_or_features, recipe)
    mask = (1 << bits) - 1
    hashes = [token_hash(feature.token, recipe) for feature in weighted]
    length = (recipe.bits + 63) // 64 * 8
    voted, columns = recipe.pipeline.vote(
        [code.to_bytes(length, "little") for code in hashes],
        [feature.weight for feature in weighted],
    )
    signal = sum(feature.weight != 0 for feature in weighted) >= recipe.min_features
    return Explanation(
        features=tuple(weighted),
        hashes=tuple(code & mask for code in hashes),
        columns=tuple(columns[:bits]),
        value=int.from_bytes(voted, "little") & mask if signal else None,
        bits=bits,
        recipe=recipe,
    )


def recipe_of_width(recipe: Recipe, bits: int) -> Recipe:
    """Return the recipe whose fingerprints have the next whole bytes from `bits` on.

    Each column has its own vote, so the lowest columns are a narrower fingerprint.
    """
    return recipe.replace(bits=-(-check_int("bits", bits, 1, MAX_BITS) // 8) * 8)


def format_number(value: float) -> str:
    """Return a number with up to four decimals, exact for sixteenths: 1.6875, 3, 0.0123."""
    size = abs(value)
    if size >= 1e9:
        return f"{value:.6g}"
    if size >= 1e-3:
        return f"{value:.4f}".rstrip("0").rstrip(".")
    # With four decimals it would be rounded to zero.
    return f"{value:.3g}" if value else "0"


def format_signed(value: float) -> str:
    return f"+{format_number(value)}" if value > 0 else format_number(value)


def printable(token: str) -> str:
    """Format a token for a table cell: escape invisible characters, quote leading or trailing
    spaces, cut to TOKEN_CELLS."""
    text = escape_invisible(token)
    if text != text.strip() or not text:
        text = f"'{text}'"
    return cut_to_width(text, TOKEN_CELLS)


def escape_invisible(text: str) -> str:
    """Escape the invisible characters of a text."""
    return "".join(
        char if char.isprintable() else char.encode("unicode_escape").decode("ascii")
        for char in text
    )


def _text_width(text: str) -> int:
    return max(map(cell_width, text.split("\n")))


def _widest_that_fits(table: Callable[[int], str], width: int) -> str:
    """Return the table with as many columns in a line as fit the width."""
    return next(
        text for step in COLUMNS_PER_LINE if _text_width(text := table(step)) <= width or step == 1
    )


def _align(lines: Sequence[Sequence[str]], left: tuple[int, ...]) -> str:
    """Align cells in columns: to the left in the columns `left`, to the right in all others."""
    count = max(len(line) for line in lines)
    widths = [
        max(cell_width(line[column]) for line in lines if column < len(line))
        for column in range(count)
    ]

    def pad(cell: str, column: int) -> str:
        space = " " * (widths[column] - cell_width(cell))
        return cell + space if column in left else space + cell

    return "\n".join(
        GAP.join(pad(cell, column) for column, cell in enumerate(line)).rstrip() for line in lines
    )
