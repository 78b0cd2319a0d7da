"""Fingerprints of one text or of many, and the distance between them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias, overload

from neardup._util.arrow import as_column, is_arrow, string_buffers
from neardup._util.numbers import check_threads, is_int
from neardup._util.strings import check_unicode
from neardup.text.features import TextLike, check_weight_sum, features, parse_features, token_hash
from neardup.text.recipe import Recipe, as_recipe

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


RecipeLike: TypeAlias = Recipe | str | os.PathLike[str] | None
Progress: TypeAlias = Callable[[int, int], object]

# Approximate size of the slices in which a column of string views is converted.
SLICE_BYTES = 8 << 20


@dataclass(frozen=True, eq=False)
class Fingerprints:
    """Fingerprints of many texts.

    values  uint64, a row for each text, least significant word first; zeros without a signal
    signal  bool: whether the text has a fingerprint
    recipe  the recipe that made them; fingerprints of different recipes cannot be compared
    """

    values: NDArray[np.uint64]
    signal: NDArray[np.bool_]
    recipe: Recipe

    def __len__(self) -> int:
        return len(self.signal)

    @overload
    def __getitem__(self, index: int) -> int | None: ...
    @overload
    def __getitem__(self, index: slice | NDArray[Any]) -> Fingerprints: ...
    def __getitem__(self, index: int | slice | NDArray[Any]) -> int | Fingerprints | None:
        if isinstance(index, slice) or getattr(index, "ndim", 0) == 1:
            return Fingerprints(self.values[index], self.signal[index], self.recipe)
        if not self.signal[index]:
            return None
        return int.from_bytes(self.values[index].astype("<u8").tobytes(), "little")

    def __iter__(self) -> Iterator[int | None]:
        return (self[index] for index in range(len(self)))

    def __repr__(self) -> str:
        return f"Fingerprints({len(self)} texts, {self.recipe.bits} bits)"


def fingerprint(text: TextLike, recipe: RecipeLike = None) -> int | None:
    """Return the fingerprint of a text, or of features; None if there are too few features.

    >>> import neardup as nd
    >>> nd.fingerprint("the cat sat on the mat", "weighted-tokens")
    18067315166123372031
    """
    recipe = as_recipe(recipe)
    if isinstance(text, str) and not callable(recipe.hash):
        value = recipe.pipeline.fingerprint(text)
        return None if value is None else int.from_bytes(value, "little")
    if not callable(recipe.hash) and recipe.scale is None:
        parsed = parse_features(text)
        check_weight_sum(parsed, recipe)
        tokens, weights = [f.token for f in parsed], [f.weight for f in parsed]
        value = recipe.pipeline.fingerprint_features(tokens, weights)
        return None if value is None else int.from_bytes(value, "little")
    weighted = [feature for feature in features(text, recipe) if feature.weight > 0]
    if len(weighted) < recipe.min_features:
        return None
    width = (recipe.bits + 63) // 64 * 8
    hashes = [token_hash(feature.token, recipe).to_bytes(width, "little") for feature in weighted]
    bits, _ = recipe.pipeline.vote(hashes, [feature.weight for feature in weighted])
    return int.from_bytes(bits, "little")


def fingerprints(
    texts: Iterable[TextLike | None] | Any,
    recipe: RecipeLike = None,
    *,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Fingerprints:
    """Return the fingerprints of many texts.

    texts     an iterable of str, or a column of strings: Arrow (read in place), Polars, pandas. A
              missing text (None, null) has no signal. Or an iterable of features, as for
              `fingerprint`: tokens, (token, weight) pairs or a dict for each text
    threads   cores to use [default: all]
    progress  called with (done, total) from time to time; an exception from it stops the work
    """
    import numpy as np

    recipe = as_recipe(recipe)
    check_threads(threads)
    column = as_column(texts)
    if is_arrow(column):
        if callable(recipe.hash):
            return _in_python(column.to_pylist(), recipe, progress)
    elif _is_features(next((text for text in column if text is not None), None)):
        return _in_python(column, recipe, progress, features=True)
    elif callable(recipe.hash):
        return _in_python(column, recipe, progress)
    if not is_arrow(column):
        values, signal = recipe.pipeline.fingerprints(column, threads, progress)
    elif str(column.type) == "string_view":
        return _in_slices(column, recipe, threads, progress)
    else:
        values, signal = recipe.pipeline.fingerprints_arrow(
            string_buffers(column), threads, progress
        )
    return Fingerprints(np.asarray(values), np.asarray(signal), recipe)


def _in_slices(
    column: Any, recipe: Recipe, threads: int | None, progress: Progress | None
) -> Fingerprints:
    """Convert the string views of Polars slice by slice, to avoid a copy of the whole column."""
    import numpy as np
    import pyarrow as pa

    values = np.zeros((len(column), (recipe.bits + 63) // 64), dtype=np.uint64)
    signal = np.zeros(len(column), dtype=np.bool_)
    rows = max(1, len(column) * SLICE_BYTES // max(1, column.nbytes))
    for start in range(0, len(column), rows):
        part = column.slice(start, rows).cast(pa.large_string())
        end = start + len(part)
        values[start:end], signal[start:end] = recipe.pipeline.fingerprints_arrow(
            string_buffers(part), threads, None
        )
        if progress is not None:
            progress(end, len(column))
    return Fingerprints(values, signal, recipe)


def _in_python(
    texts: list[Any], recipe: Recipe, progress: Progress | None, *, features: bool = False
) -> Fingerprints:
    """Compute fingerprints one by one: for features, or for a hash function in Python."""
    import numpy as np

    words = (recipe.bits + 63) // 64
    values = np.zeros((len(texts), words), dtype=np.uint64)
    signal = np.zeros(len(texts), dtype=np.bool_)
    for row, text in enumerate(texts):
        if text is not None and not (_is_features(text) if features else isinstance(text, str)):
            expected = (
                "where the first has features, all must: lists of tokens or of (token, weight) "
                "pairs, or dicts; None for a missing one"
                if features
                else "a text must be a str, or None for a missing one"
            )
            raise TypeError(f"texts[{row}] is of type {type(text).__name__}; {expected}")
        value = None if text is None else _fingerprint(text, row, recipe)
        if value is not None:
            values[row] = np.frombuffer(value.to_bytes(words * 8, "little"), dtype="<u8")
            signal[row] = True
        if progress is not None and (row + 1) % 1000 == 0:
            progress(row + 1, len(texts))
    if progress is not None and len(texts) % 1000:
        progress(len(texts), len(texts))
    return Fingerprints(values, signal, recipe)


def _is_features(value: Any) -> bool:
    """Return whether a value passed in place of a text is features."""
    return isinstance(value, list | tuple | Mapping)


def _fingerprint(text: TextLike, row: int, recipe: Recipe) -> int | None:
    if isinstance(text, str):
        return fingerprint(check_unicode(text, f"texts[{row}]"), recipe)
    try:
        return fingerprint(text, recipe)
    except (TypeError, ValueError) as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(f"texts[{row}]: {error}") from None


def distance(a: Any, b: Any) -> Any:
    """Return the number of bits in which fingerprints differ.

    Of two ints, return an int. Of `Fingerprints`, or arrays of uint64 with one fingerprint a row,
    return an array, row by row; a single row or an int is compared with all rows. An array of one
    dimension is one fingerprint if it has as many words as the other side's rows, else a column of
    64-bit fingerprints.

    >>> distance(0b1011101, 0b1001001)
    2
    """
    for value in (a, b):
        if value is None:
            raise ValueError("a fingerprint is None: the text had no signal, so it has no distance")
        if is_int(value) and value.__index__() < 0:
            raise ValueError(f"a fingerprint is {value}; it must not be negative")
        if isinstance(value, Fingerprints) and not value.signal.all():
            raise ValueError(
                f"fingerprints[{value.signal.argmin()}] is None: the text had no signal, so it has "
                "no distance; leave such texts out: fingerprints[fingerprints.signal]"
            )
    # NumPy integers become ints; True stays a bool, for which _rows raises.
    a, b = (value.__index__() if is_int(value) else value for value in (a, b))
    if type(a) is int and type(b) is int:
        return (a ^ b).bit_count()
    import numpy as np

    recipes = {x.recipe.identity for x in (a, b) if isinstance(x, Fingerprints)}
    if len(recipes) == 2:
        raise ValueError(
            f"fingerprints of different recipes cannot be compared: {' and '.join(recipes)}"
        )
    words = max(_words(a), _words(b))
    left, right = _rows(a, words), _rows(b, words)
    if left.shape[-1] != right.shape[-1]:
        raise ValueError(
            f"fingerprints of {64 * left.shape[-1]} and {64 * right.shape[-1]} bits cannot be "
            "compared; both must have the same width"
        )
    if left.ndim == right.ndim == 2 and 1 != len(left) != len(right) != 1:
        raise ValueError(
            f"{len(left)} and {len(right)} fingerprints cannot be compared row by row; "
            "pass equal numbers, or a single one to compare with all"
        )
    return np.bitwise_count(left ^ right).sum(axis=-1, dtype=np.int64)


def _words(value: Any) -> int:
    """Return the number of 64-bit words of a fingerprint; 1 if the array does not tell."""
    if isinstance(value, Fingerprints):
        return int(value.values.shape[-1])
    if type(value) is int:
        return max(1, (value.bit_length() + 63) // 64)
    return int(value.shape[-1]) if getattr(value, "ndim", 0) == 2 else 1


def _rows(value: Any, words: int) -> NDArray[np.uint64]:
    """Return fingerprints as an array whose last axis has the words."""
    import numpy as np

    if isinstance(value, Fingerprints):
        return value.values
    if type(value) is int:
        return np.frombuffer(value.to_bytes(words * 8, "little"), dtype="<u8").astype(np.uint64)
    if not (isinstance(value, np.ndarray) and value.dtype == np.uint64 and value.ndim in (1, 2)):
        raise TypeError(
            f"a fingerprint is {type(value).__name__}; "
            "pass ints, Fingerprints, or NumPy arrays of uint64 with one fingerprint a row"
        )
    if value.ndim == 1:
        return value[None, :] if len(value) == words > 1 else value[:, None]
    return value


FINGERPRINT_FIRST = "make fingerprints of texts first: neardup.fingerprints(texts)"


@dataclass(frozen=True, eq=False)
class Codes:
    """Fingerprints as arguments of the core.

    values     uint64, C-contiguous, a row for each fingerprint, least significant word first
    signal     which rows hold a fingerprint; None if all do
    recipe     identity of the recipe, if known
    is_single  whether the caller passed a single fingerprint and expects a single result
    """

    values: NDArray[np.uint64]
    signal: NDArray[np.bool_] | None
    recipe: str | None
    is_single: bool

    def __len__(self) -> int:
        return len(self.values)


def as_codes(values: Any, bits: int | None = None) -> Codes:
    """Convert an int, None, Fingerprints, an array of uint64, or an iterable of ints and None.

    bits  width the fingerprints must have [default: the widest, rounded up to words of 64 bits]
    """
    import numpy as np

    if isinstance(values, Fingerprints):
        if bits is not None and values.recipe.bits != bits:
            raise ValueError(
                f"the fingerprints have {values.recipe.bits} bits, {bits} are expected; "
                f"make them with a recipe of {bits} bits: recipe.replace(bits={bits})"
            )
        signal = None if values.signal.all() else np.ascontiguousarray(values.signal)
        return Codes(
            np.ascontiguousarray(values.values), signal, values.recipe.identity, is_single=False
        )
    if isinstance(values, np.ndarray) and values.dtype != np.object_:
        return Codes(_from_array(values, bits), None, None, is_single=False)
    is_single = values is None or is_int(values)
    if isinstance(values, str | bytes | bytearray):
        raise TypeError(f"fingerprints is one {type(values).__name__}; {FINGERPRINT_FIRST}")
    if isinstance(values, Mapping):
        raise TypeError(
            f"fingerprints is a {type(values).__name__}; "
            "pass its values: list(fingerprints.values())"
        )
    try:
        items = [values] if is_single else list(values)
    except TypeError:
        raise TypeError(
            f"fingerprints are of type {type(values).__name__}; pass an int, Fingerprints, "
            "a NumPy array of uint64, or ints in an iterable"
        ) from None
    return _from_ints(items, bits, is_single=is_single)


def _from_array(values: NDArray[Any], bits: int | None) -> NDArray[np.uint64]:
    import numpy as np

    if values.dtype != np.uint64 or values.ndim not in (1, 2):
        raise TypeError(
            f"fingerprints are an array of {values.dtype} with {values.ndim} dimensions; "
            "it must hold uint64, one fingerprint a row"
        )
    rows: NDArray[np.uint64] = values[:, None] if values.ndim == 1 else values
    words = rows.shape[1] if bits is None else (bits + 63) // 64
    if rows.shape[1] != words or not 1 <= words <= 8:
        limit = "1 to 8 are allowed" if bits is None else f"{bits} bits take {words}"
        raise ValueError(f"the fingerprints have {rows.shape[1]} words of 64 bits; {limit}")
    if bits is not None and bits % 64 and len(rows):
        over = rows[:, -1] >> np.uint64(bits % 64) != 0
        if over.any():
            at = int(over.argmax())
            raise ValueError(f"fingerprints[{at}] is wider than the {bits} bits expected")
    return np.ascontiguousarray(rows)


def _from_ints(items: list[Any], bits: int | None, *, is_single: bool) -> Codes:
    import numpy as np

    name = "the fingerprint" if is_single else "fingerprints[{}]"
    ints: list[int] = []
    for at, value in enumerate(items):
        if value is not None and not is_int(value):
            advice = f"; {FINGERPRINT_FIRST}" if isinstance(value, str) else ""
            raise TypeError(
                f"{name.format(at)} is of type {type(value).__name__}; "
                f"it must be an int, or None{advice}"
            )
        code = 0 if value is None else value.__index__()
        if code < 0 or code.bit_length() > (bits or 512):
            raise ValueError(
                f"{name.format(at)} is {code}; it must not be negative "
                f"nor wider than {bits or 512} bits"
            )
        ints.append(code)
    widest = bits or max((code.bit_length() for code in ints), default=64)
    words = max(1, (widest + 63) // 64)
    data = b"".join(code.to_bytes(words * 8, "little") for code in ints)
    rows = np.frombuffer(data, dtype="<u8").astype(np.uint64).reshape(len(ints), words)
    missing = [value is None for value in items]
    signal = ~np.array(missing, dtype=np.bool_) if any(missing) else None
    return Codes(rows, signal, None, is_single)
