"""What a caller hands over as fingerprints → rows of words for the core."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from neardup._util.numbers import is_int
from neardup.text.fingerprint import Fingerprints

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

FROM_TEXTS = "make fingerprints of texts first: neardup.fingerprints(texts)"


@dataclass(frozen=True, eq=False)
class Codes:
    """Fingerprints as the core reads them.

    values  uint64, C-contiguous, one row a fingerprint, its words least significant first
    signal  which rows hold a fingerprint; None when all do
    recipe  identity of the recipe they were made with, where that is known
    one     whether the caller gave a single fingerprint and expects a single answer
    """

    values: NDArray[np.uint64]
    signal: NDArray[np.bool_] | None
    recipe: str | None
    one: bool

    def __len__(self) -> int:
        return len(self.values)


def as_codes(values: Any, bits: int | None = None) -> Codes:
    """Rows of an int, None, Fingerprints, an array of uint64, or an iterable of ints and None.

    bits  the width the fingerprints must have; without it the widest decides, in whole words
    """
    import numpy as np

    if isinstance(values, Fingerprints):
        if bits is not None and values.recipe.bits != bits:
            raise ValueError(
                f"the fingerprints have {values.recipe.bits} bits, {bits} are expected; "
                f"make them with a recipe of {bits} bits: recipe.replace(bits={bits})"
            )
        signal = None if values.signal.all() else np.ascontiguousarray(values.signal)
        return Codes(np.ascontiguousarray(values.values), signal, values.recipe.identity, one=False)
    if isinstance(values, np.ndarray) and values.dtype != np.object_:
        return Codes(_from_array(values, bits), None, None, one=False)
    one = values is None or is_int(values)
    if isinstance(values, str | bytes | bytearray):
        raise TypeError(f"fingerprints is one {type(values).__name__}; {FROM_TEXTS}")
    if isinstance(values, Mapping):
        raise TypeError(
            f"fingerprints is a {type(values).__name__}; "
            "pass its values: list(fingerprints.values())"
        )
    try:
        given = [values] if one else list(values)
    except TypeError:
        raise TypeError(
            f"fingerprints are of type {type(values).__name__}; pass an int, Fingerprints, "
            "a NumPy array of uint64, or ints in an iterable"
        ) from None
    return _from_ints(given, bits, one=one)


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


def _from_ints(given: list[Any], bits: int | None, *, one: bool) -> Codes:
    import numpy as np

    name = "the fingerprint" if one else "fingerprints[{}]"
    ints: list[int] = []
    for at, value in enumerate(given):
        if value is not None and not is_int(value):
            way_out = f"; {FROM_TEXTS}" if isinstance(value, str) else ""
            raise TypeError(
                f"{name.format(at)} is of type {type(value).__name__}; "
                f"it must be an int, or None{way_out}"
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
    missing = [value is None for value in given]
    signal = ~np.array(missing, dtype=np.bool_) if any(missing) else None
    return Codes(rows, signal, None, one)
