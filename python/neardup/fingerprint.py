"""Texts → fingerprints, one or many, and the distance between them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias, overload

from neardup.features import TextLike, features, token_hash
from neardup.recipe import Recipe, as_recipe

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

RecipeLike: TypeAlias = Recipe | str | os.PathLike[str] | None
Progress: TypeAlias = Callable[[int, int], object]


@dataclass(frozen=True, eq=False)
class Fingerprints:
    """Fingerprints of many texts.

    values  uint64, one row a text, its words least significant first; zeros without a signal
    signal  bool: whether the text has a fingerprint
    recipe  how they were made; only fingerprints of one recipe can be compared
    """

    values: NDArray[np.uint64]
    signal: NDArray[np.bool_]
    recipe: Recipe

    def __len__(self) -> int:
        return len(self.signal)

    @overload
    def __getitem__(self, index: int) -> int | None: ...
    @overload
    def __getitem__(self, index: slice) -> Fingerprints: ...
    def __getitem__(self, index: int | slice) -> int | Fingerprints | None:
        if isinstance(index, slice):
            return Fingerprints(self.values[index], self.signal[index], self.recipe)
        if not self.signal[index]:
            return None
        return int.from_bytes(self.values[index].astype("<u8").tobytes(), "little")

    def __iter__(self) -> Iterator[int | None]:
        return (self[index] for index in range(len(self)))

    def __repr__(self) -> str:
        return f"Fingerprints({len(self)} texts, {self.recipe.bits} bits)"


def fingerprint(text: TextLike, recipe: RecipeLike = None) -> int | None:
    """The fingerprint of a text, or of features; None when there are too few of them.

    >>> import neardup as nd
    >>> nd.fingerprint("the cat sat on the mat", "weighted-tokens")
    3096188561283622398
    """
    recipe = as_recipe(recipe)
    if isinstance(text, str) and not callable(recipe.hash):
        value = recipe.pipeline.fingerprint(text)
        return None if value is None else int.from_bytes(value, "little")
    given = [feature for feature in features(text, recipe) if feature.weight > 0]
    if len(given) < recipe.min_features:
        return None
    width = (recipe.bits + 63) // 64 * 8
    hashes = [token_hash(feature.token, recipe).to_bytes(width, "little") for feature in given]
    bits, _ = recipe.pipeline.vote(hashes, [feature.weight for feature in given])
    return int.from_bytes(bits, "little")


def fingerprints(
    texts: Iterable[str | None] | Any,
    recipe: RecipeLike = None,
    *,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Fingerprints:
    """The fingerprints of many texts, on all cores unless `threads` says otherwise.

    texts     a list or any iterable of str, or a column of strings: Arrow (read in place), Polars,
              pandas. A missing text (None, null) has no signal.
    progress  called with (done, total) from time to time; what it raises stops the work
    """
    import numpy as np

    recipe = as_recipe(recipe)
    if threads is not None and (isinstance(threads, bool) or not isinstance(threads, int)):
        raise TypeError(f"threads is {threads!r}; it must be a whole number of at least 1, or None")
    if threads is not None and threads < 1:
        raise ValueError(f"threads is {threads}; it must be at least 1, or None for all cores")
    if isinstance(texts, str | bytes | bytearray):
        raise TypeError(
            f"texts is one {type(texts).__name__}; pass a list of str, or use fingerprint for one"
        )
    if callable(recipe.hash):
        return _in_python(_strings(texts), recipe, progress)
    chunks = _arrow_chunks(texts)
    if chunks is not None:
        values, signal = recipe.pipeline.fingerprints_arrow(chunks, threads, progress)
    else:
        values, signal = recipe.pipeline.fingerprints(_strings(texts), threads, progress)
    return Fingerprints(np.asarray(values), np.asarray(signal), recipe)


def _in_python(texts: list[Any], recipe: Recipe, progress: Progress | None) -> Fingerprints:
    """One text after the other, for a hash that only Python can call."""
    import numpy as np

    words = (recipe.bits + 63) // 64
    values = np.zeros((len(texts), words), dtype=np.uint64)
    signal = np.zeros(len(texts), dtype=np.bool_)
    for row, text in enumerate(texts):
        if not isinstance(text, str | None):
            raise TypeError(
                f"texts[{row}] is of type {type(text).__name__}; "
                "a text must be a str, or None for a missing one"
            )
        value = None if text is None else fingerprint(text, recipe)
        if value is not None:
            values[row] = np.frombuffer(value.to_bytes(words * 8, "little"), dtype="<u8")
            signal[row] = True
        if progress is not None and (row + 1) % 1000 == 0:
            progress(row + 1, len(texts))
    if progress is not None:
        progress(len(texts), len(texts))
    return Fingerprints(values, signal, recipe)


def _strings(texts: Any) -> list[Any]:
    try:
        return texts if isinstance(texts, list) else list(texts)
    except TypeError:
        raise TypeError(
            f"texts is of type {type(texts).__name__}; "
            "pass an iterable of str, or an Arrow, Polars or pandas column"
        ) from None


def _arrow_chunks(texts: Any) -> list[tuple[int, int, Any, Any, Any, bool]] | None:
    """The buffers of a column of strings, if `texts` is a column."""
    if type(texts).__module__.partition(".")[0] == "pandas":
        import pyarrow as pa

        texts = pa.array(texts, from_pandas=True)
    elif not (hasattr(texts, "__arrow_c_stream__") or hasattr(texts, "__arrow_c_array__")):
        return None
    import pyarrow as pa

    if isinstance(texts, pa.Array):
        column = pa.chunked_array([texts])
    elif isinstance(texts, pa.ChunkedArray):
        column = texts
    elif hasattr(texts, "__arrow_c_stream__"):
        column = pa.chunked_array(texts)
    else:
        column = pa.chunked_array([pa.array(texts)])
    kind = column.type
    if pa.types.is_null(kind):
        column = column.cast(pa.string())
    elif pa.types.is_dictionary(kind) or pa.types.is_string_view(kind):
        column = column.cast(pa.large_string())
    elif not (pa.types.is_string(kind) or pa.types.is_large_string(kind)):
        raise TypeError(
            f"texts is a column of {kind}; it must be a column of strings: pick one, or cast it"
        )
    return [
        (chunk.offset, len(chunk), *chunk.buffers(), pa.types.is_large_string(chunk.type))
        for chunk in column.chunks
        if len(chunk)
    ]


def distance(a: Any, b: Any) -> Any:
    """The number of bits in which fingerprints differ.

    Two ints give an int. Fingerprints, or arrays of uint64 whose rows are fingerprints, give an
    array, row by row; one row, or an int, is compared with all.

    >>> distance(0b1011101, 0b1001001)
    2
    """
    if isinstance(a, int) and isinstance(b, int):
        if a < 0 or b < 0:
            raise ValueError(f"a fingerprint is {min(a, b)}; it must not be negative")
        return (a ^ b).bit_count()
    if a is None or b is None:
        raise ValueError("a fingerprint is None: the text had no signal, so it has no distance")
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
            f"fingerprints of {left.shape[-1]} and {right.shape[-1]} words cannot be compared; "
            "both must have the same width"
        )
    return np.bitwise_count(left ^ right).sum(axis=-1, dtype=np.int64)


def _words(value: Any) -> int:
    if isinstance(value, Fingerprints):
        return int(value.values.shape[-1])
    if isinstance(value, int):
        return max(1, (value.bit_length() + 63) // 64)
    return int(value.shape[-1]) if getattr(value, "ndim", 0) == 2 else 1


def _rows(value: Any, words: int) -> NDArray[np.uint64]:
    import numpy as np

    if isinstance(value, Fingerprints):
        return value.values
    if isinstance(value, int):
        return np.frombuffer(value.to_bytes(words * 8, "little"), dtype="<u8").astype(np.uint64)
    if not (isinstance(value, np.ndarray) and value.dtype == np.uint64 and value.ndim in (1, 2)):
        raise TypeError(
            f"a fingerprint is {type(value).__name__}; "
            "pass ints, Fingerprints, or NumPy arrays of uint64 with one fingerprint a row"
        )
    # One dimension is a column of 64-bit fingerprints.
    return value[:, None] if value.ndim == 1 else value
