"""Naive pairs and clusters: compare everything. Also codes to run them on."""

import random
from typing import Any

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

Row = tuple[int, int, int]


def naive_pairs(codes: list[int | None], radius: int) -> list[Row]:
    found = []
    for left, a in enumerate(codes):
        for right in range(left + 1, len(codes)):
            b = codes[right]
            if a is not None and b is not None and (a ^ b).bit_count() <= radius:
                found.append((left, right, (a ^ b).bit_count()))
    return found


def naive_first(codes: list[int | None], radius: int) -> list[Row]:
    """Return pairs as `naive_pairs`, but pair equal codes with the first of them only."""
    first: dict[int, int] = {}
    repeats = []
    for row, code in enumerate(codes):
        if code is not None and first.setdefault(code, row) != row:
            repeats.append((first[code], row, 0))
    unlike = [
        code if code is not None and first[code] == row else None for row, code in enumerate(codes)
    ]
    return sorted(repeats + naive_pairs(unlike, radius))


def naive_connected(codes: list[int | None], radius: int) -> list[int]:
    labels = list(range(len(codes)))
    for left, right, _ in naive_pairs(codes, radius):
        old, new = sorted((labels[left], labels[right]))[::-1]
        labels = [new if label == old else label for label in labels]
    return labels


def naive_star(codes: list[int | None], radius: int) -> list[int]:
    labels: list[int] = []
    for row, code in enumerate(codes):
        near = (
            to
            for to, other in enumerate(codes[:row])
            if labels[to] == to
            and code is not None
            and other is not None
            and (code ^ other).bit_count() <= radius
        )
        labels.append(next(near, row))
    return labels


def as_rows(codes: list[int | None], bits: int) -> tuple[NDArray[np.uint64], NDArray[np.bool_]]:
    width = (bits + 63) // 64 * 8
    data = b"".join((code or 0).to_bytes(width, "little") for code in codes)
    values = np.frombuffer(data, dtype="<u8").astype(np.uint64).reshape(len(codes), width // 8)
    return values, np.array([code is not None for code in codes], dtype=np.bool_)


@st.composite
def near_codes(draw: Any, most: int = 60) -> tuple[list[int | None], int]:
    """Draw codes with neighbours, repeats and missing values; and their width in bits."""
    bits = draw(st.sampled_from([8, 16, 40, 64, 72, 128, 200, 256, 512]))
    rng = random.Random(draw(st.integers(0, 2**32)))
    centres = [rng.getrandbits(bits) for _ in range(draw(st.integers(1, 8)))]
    constant = rng.getrandbits(bits) if draw(st.booleans()) else 0
    codes: list[int | None] = []
    for _ in range(draw(st.integers(0, most))):
        code = rng.choice(centres)
        for _ in range(rng.randrange(7)):
            code ^= 1 << rng.randrange(bits)
        codes.append(None if rng.random() < 0.1 else code | constant)
    return codes, bits
